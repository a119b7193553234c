//! Statements about paused kinds and about buckets of starts.
//!
//! Claims read both tables themselves ([`crate::claim`]): they are small, and what they say must
//! hold for a claim that begins right after it was written.

use almanack_core::{
    pace::Starts,
    plan::Pause,
    store::{PaceStore, PausedKind, Result, StartRequest},
    task::Kind,
};
use async_trait::async_trait;
use jiff::Timestamp;

use crate::{
    database::{Database, SqlStore},
    row::{Listing, Row, listing, values},
};

pub(crate) const LOAD_PAUSES: &str = "select kind, since_us, until_us, note, paused_by \
     from kind_pause where until_us is null or until_us > $1 order by kind";
/// SQLite's claim asks for nothing else of them.
pub(crate) const PAUSES_SQLITE: &str =
    "select kind, until_us from kind_pause where until_us is null or until_us > ?1";
pub(crate) const PAUSE: &str = "insert into kind_pause (kind, since_us, until_us, note, paused_by) \
     values ($1, $2, $3, $4, $5) on conflict (kind) do update set since_us = excluded.since_us, \
     until_us = excluded.until_us, note = excluded.note, paused_by = excluded.paused_by";
/// One that has ended by itself is not resumed; the next pause of its kind overwrites it.
pub(crate) const RESUME: &str =
    "delete from kind_pause where kind = $1 and (until_us is null or until_us > $2)";

pub(crate) const LOAD_BUCKET_SQLITE: &str = "select full_at_us from pace_bucket where name = ?1";
pub(crate) const SAVE_BUCKET_SQLITE: &str = "insert into pace_bucket \
     (name, full_at_us, booked_until_us) values (?1, ?2, 0) \
     on conflict (name) do update set full_at_us = excluded.full_at_us";
/// PostgreSQL's claim locks the buckets of its kinds, so they must be there.
pub(crate) const ADD_BUCKETS_POSTGRES: &str = "insert into pace_bucket \
     (name, full_at_us, booked_until_us) select name, 0, 0 from unnest($1::text[]) name \
     order by name on conflict (name) do nothing";

pub(crate) const LOAD_KEY_SQLITE: &str =
    "select full_at_us, booked_until_us from pace_bucket where name = ?1";
pub(crate) const SAVE_KEY_SQLITE: &str = "insert into pace_bucket \
     (name, full_at_us, booked_until_us) values (?1, ?2, ?3) on conflict (name) do update \
     set full_at_us = excluded.full_at_us, booked_until_us = excluded.booked_until_us";
/// PostgreSQL: [`almanack_core::pace::Rate::settle`] in one statement, on buckets that are there.
/// Parameters: names, wanted, gaps, bursts; now; the horizon.
pub(crate) const TAKE_STARTS_POSTGRES: &str = concat!(
    "with bucket as materialized ( \
         select name, full_at_us, booked_until_us from pace_bucket where name = any ($1::text[]) \
         order by name for update), \
     room as materialized ( \
         select r.name, r.wanted, r.gap_us, r.burst, f.full_at_us, b.booked_until_us, \
             least(r.wanted, ",
    crate::claim::postgres::paced_room!("$5"),
    ") as granted from unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[]) \
             r(name, wanted, gap_us, burst) \
         join bucket b on b.name = r.name, lateral (select ",
    crate::claim::postgres::believed!("$5"),
    " as full_at_us) f), \
     used as materialized ( \
         select room.*, greatest(room.full_at_us, $5) + room.gap_us * room.granted as after_us \
         from room), \
     booked as materialized ( \
         select used.*, greatest(used.after_us - used.gap_us * (used.burst - 1), \
             least(used.booked_until_us, $6), $5) as next_at_us from used), \
     saved as ( \
         update pace_bucket b set full_at_us = booked.after_us, booked_until_us = case \
             when booked.wanted > booked.granted then least( \
                 booked.next_at_us + booked.gap_us * (booked.wanted - booked.granted), \
                 greatest($6, booked.next_at_us)) \
             else b.booked_until_us end \
         from booked where b.name = booked.name) \
     select name, granted, next_at_us from booked"
);
/// Reads the whole table, every few minutes: it has the keys of the last minutes.
pub(crate) const PRUNE_BUCKETS_SQLITE: &str =
    "delete from pace_bucket where full_at_us <= $1 and booked_until_us <= $1";
/// In the order in which claims lock them, and none that is in use right now.
pub(crate) const PRUNE_BUCKETS_POSTGRES: &str = "delete from pace_bucket where name in ( \
     select name from pace_bucket where full_at_us <= $1 and booked_until_us <= $1 \
     order by name for update skip locked)";

const PAUSED: Listing<PausedKind> = listing("kind_pause", paused);

fn paused(row: &Row<'_>) -> Result<PausedKind> {
    Ok(PausedKind {
        kind: row.get(0)?,
        pause: Pause {
            since: row.get(1)?,
            until: row.get(2)?,
            note: row.get(3)?,
            by: row.get(4)?,
        },
    })
}

#[async_trait]
impl<D: Database> PaceStore for SqlStore<D> {
    async fn load_paused_kinds(&self, now: Timestamp) -> Result<Vec<PausedKind>> {
        self.listed("load paused kinds", LOAD_PAUSES, values![now], PAUSED)
            .await
    }

    async fn pause_kind(&self, paused: &PausedKind) -> Result<()> {
        let pause = &paused.pause;
        let values = values![
            paused.kind.as_str(),
            pause.since,
            pause.until,
            pause.note.as_deref(),
            pause.by.as_str(),
        ];
        self.execute("pause kind", PAUSE, values).await?;
        // A pause may have been shortened: nodes that sleep until its end look again.
        self.0.hint(Some(pause.since)).await;
        Ok(())
    }

    async fn take_starts(&self, asks: &[StartRequest], now: Timestamp) -> Result<Vec<Starts>> {
        self.0.take_starts(asks, now).await
    }

    async fn prune_buckets(&self, now: Timestamp) -> Result<usize> {
        let text = D::text(PRUNE_BUCKETS_SQLITE, PRUNE_BUCKETS_POSTGRES);
        self.execute("prune buckets", text, values![now]).await
    }

    async fn resume_kind(&self, kind: &Kind, now: Timestamp) -> Result<bool> {
        let values = values![kind.as_str(), now];
        let held = self.execute("resume kind", RESUME, values).await?;
        self.0.hint(Some(now)).await;
        Ok(held > 0)
    }
}
