//! Statements about the limits that all nodes share.
//!
//! What they decide is [`almanack_core::host_pace::shared::settle`]. SQLite has one writer and
//! calls it; PostgreSQL decides in one statement. Locking the row, deciding in the node and writing
//! would be simpler to read, but a node that is halted in between would keep every other one out of
//! the limit.

use almanack_core::store::{PermitGrant, PermitRequest, PermitStore, Result, Visitor};
use async_trait::async_trait;
use jiff::Timestamp;

use crate::{
    database::{Database, SqlStore},
    row::values,
};

pub(crate) const LOAD_SQLITE: &str =
    "select free_at_us, held_until_us, asked_at_us, visitors from shared_limit where name = $1";

pub(crate) const SAVE_SQLITE: &str = "insert into shared_limit \
     (name, free_at_us, held_until_us, asked_at_us, at_once, gap_us, visitors) \
     values ($1, $2, $3, $4, $5, $6, $7) on conflict (name) do update set \
     free_at_us = excluded.free_at_us, held_until_us = excluded.held_until_us, \
     asked_at_us = excluded.asked_at_us, at_once = excluded.at_once, gap_us = excluded.gap_us, \
     visitors = excluded.visitors";

/// Parameters: limits, permits, wanted, at once, gaps, holds; then the visitor's now, name and
/// lease. A new limit is written as if the visitor were alone in it (`granted`), and what a row
/// that exists already makes of the ask reads it from there (`alone`): `on conflict` sees nothing
/// else of it. Rows are locked in the order of their names, so two nodes never wait for each other.
pub(crate) const ENTER_POSTGRES: &str = "\
    insert into shared_limit (name, free_at_us, held_until_us, asked_at_us, at_once, gap_us, visitors) \
    select ask.name, case when new.granted > 0 and gap_us > 0 then $7 + gap_us else 0 end, \
        hold_us, $7, at_once, gap_us, \
        jsonb_build_object($8::text, jsonb_build_array(permits + new.granted, $9::bigint, new.granted))::text \
    from unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[]) \
            as ask(name, permits, wanted, at_once, gap_us, hold_us), \
        lateral (select case when hold_us > $7::bigint then 0 else greatest(0, least( \
            case when gap_us > 0 then least(wanted, 1) else wanted end, at_once - permits)) end \
            as granted) new \
    order by ask.name \
    on conflict (name) do update set (free_at_us, held_until_us, asked_at_us, at_once, gap_us, visitors) = ( \
        select case when it.granted > 0 and excluded.gap_us > 0 then $7 + excluded.gap_us else shared_limit.free_at_us end, \
            greatest(shared_limit.held_until_us, excluded.held_until_us), \
            greatest(shared_limit.asked_at_us, excluded.asked_at_us), excluded.at_once, excluded.gap_us, \
            (others.visitors || jsonb_build_object($8::text, case when last.stale \
                then jsonb_build_array(last.stay -> 0, last.stay -> 1, 0) \
                else jsonb_build_array(alone.permits + it.granted, $9::bigint, it.granted) end))::text \
        from (select coalesce(sum((value ->> 0)::bigint), 0) as permits, \
                coalesce(jsonb_object_agg(key, value), '{}') as visitors \
            from jsonb_each(shared_limit.visitors::jsonb) \
            where key <> $8::text and (value ->> 1)::bigint > $7::bigint) others, \
            lateral (select (mine ->> 0)::bigint - (mine ->> 2)::bigint as permits, \
                (mine ->> 2)::bigint as granted \
                from (select excluded.visitors::jsonb -> $8::text as mine) said) alone, \
            lateral (select stay, coalesce((stay ->> 1)::bigint > $9::bigint, false) as stale \
                from (select shared_limit.visitors::jsonb -> $8::text as stay) known) last, \
            lateral (select case \
                when last.stale or greatest(shared_limit.free_at_us, shared_limit.held_until_us, excluded.held_until_us) > $7::bigint then 0 \
                else greatest(0, least(alone.granted, excluded.at_once - alone.permits - others.permits)) \
                end as granted) it) \
    returning name, (visitors::jsonb -> $8::text ->> 2)::bigint, \
        greatest(free_at_us, held_until_us)";

/// Who holds permits of some limits.
pub(crate) const LOAD_VISITORS: &str =
    "select name, visitors from shared_limit where name = any ($1::text[])";
/// Empties a limit that cannot be read, and grants no permit for a while.
pub(crate) const EMPTY: &str = "update shared_limit set visitors = '{}', free_at_us = 0, held_until_us = $1, \
     asked_at_us = 0 where name = $2 and visitors = $3";

/// Reads the whole table, every few minutes: it holds the hosts of an hour, and an index on a time
/// that every entry changes would cost more, every time.
pub(crate) const PRUNE: &str =
    "delete from shared_limit where asked_at_us < $1 and free_at_us <= $2 and held_until_us <= $2";

#[async_trait]
impl<D: Database> PermitStore for SqlStore<D> {
    async fn request_permits(
        &self,
        visitor: &Visitor,
        asks: &[PermitRequest],
    ) -> Result<Vec<PermitGrant>> {
        self.0.request_permits(visitor, asks).await
    }

    async fn prune_permits(&self, before: Timestamp, now: Timestamp) -> Result<usize> {
        self.execute("prune limits", PRUNE, values![before, now])
            .await
    }
}
