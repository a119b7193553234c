//! Statements about sources.
//!
//! A source's row is written by a writer that saw it as it is (`version`), and its address is a
//! name that only one may have. A look that finds nothing new changes neither address nor type,
//! state, cadence or attention, and then writes no index but those of the due time: SQLite touches
//! every index whose column a statement names, so such a write has a separate statement that does
//! not name them.

pub(crate) mod numbers;

use almanack_core::{
    source::{Source, SourceId, SourceType, entry::Entry},
    store::{
        Added, EntryFilter, EntryQuestion, EntryRetention, FOUND_MAX, Fleet, KnownEntry, Page,
        PrunedEntries, Result, SourceFilter, SourceNumbers, SourceStore, SourceWrite, UnreadEntry,
        Written,
    },
};
use async_trait::async_trait;
use jiff::Timestamp;

use crate::{
    database::{
        Access::{Moment, Read, Transaction},
        Database, SqlStore,
    },
    entry::{self, search},
    row::{self, listing, many, most, values},
    session::{Session, asked},
};

/// What [`crate::row::source`] reads.
macro_rules! columns {
    () => {
        "s.source_id, s.version, s.name, s.address, s.reading, s.category, s.policy, \
         s.cadence_by_hand, s.state, s.state_since_us, s.state_note, s.attention, \
         s.frequency_type, s.cadence, s.avg_publish_hour, s.std_publish_hour, s.due_at_us, \
         s.last_check_at_us, s.last_article_at_us, s.fail_count, s.backoff_until_us, \
         s.last_error, s.last_error_class, s.check_count, s.hit_count, s.etag, s.last_modified, \
         s.hints, s.moving_to, s.moving_times, s.shown, s.pruned_before_us, s.recent, s.learned, \
         s.reason, s.created_at_us, s.updated_at_us, s.options, s.prints, s.publisher"
    };
}
/// How many those are.
pub(crate) const COLUMNS: usize = 40;

pub(crate) mod list;

/// What every look may change, in the order of [`crate::row::SourceColumns`].
macro_rules! written {
    () => {
        "name, reading, category, policy, cadence_by_hand, state_since_us, state_note, \
         frequency_type, avg_publish_hour, std_publish_hour, due_at_us, last_check_at_us, \
         last_article_at_us, fail_count, backoff_until_us, last_error, last_error_class, \
         check_count, hit_count, etag, last_modified, hints, moving_to, moving_times, shown, \
         pruned_before_us, recent, learned, reason, updated_at_us, prints, publisher"
    };
}
/// What people and pages find sources by; comes after the others.
macro_rules! keyed {
    () => {
        "address, source_type, state, cadence, attention, options"
    };
}
/// A value for each of [`written!`].
macro_rules! numbered {
    () => {
        "?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, \
         ?, ?, ?, ?"
    };
}

pub(crate) const INSERT_SQLITE: &str = concat!(
    "insert into source (",
    written!(),
    ", ",
    keyed!(),
    ", created_at_us, version) values (",
    numbered!(),
    ", ?, ?, ?, ?, ?, ?, ?, 1) on conflict (address) do nothing"
);
pub(crate) const INSERT_POSTGRES: &str = concat!(
    "insert into source (version, ",
    written!(),
    ", ",
    keyed!(),
    ", created_at_us) select 1, u.* from unnest( \
     $1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::bigint[], $7::text[], \
     $8::text[], $9::double precision[], $10::double precision[], $11::bigint[], \
     $12::bigint[], $13::bigint[], $14::integer[], $15::bigint[], \
     $16::text[], $17::text[], $18::bigint[], $19::bigint[], $20::text[], $21::text[], \
     $22::text[], $23::text[], $24::integer[], $25::bytea[], $26::bigint[], $27::bytea[], \
     $28::bytea[], $29::text[], $30::bigint[], $31::bytea[], $32::text[], $33::text[], \
     $34::text[], $35::text[], $36::text[], $37::text[], $38::text[], $39::bigint[]) u \
     on conflict (address) do nothing returning address, source_id"
);
/// One writer adds sources at a time: two that add the same ones in another order would wait for
/// each other.
pub(crate) const ADD_ALONE_POSTGRES: &str =
    "select pg_advisory_xact_lock(hashtext('almanack source ' || current_schema()))";

/// A quiet write, if the row is still the version that was seen and is found by what it was.
pub(crate) const UPDATE_QUIETLY_SQLITE: &str = concat!(
    "update source set version = version + 1, (",
    written!(),
    ") = (",
    numbered!(),
    ") where address = ? and source_type = ? and state = ? and cadence is ? and attention is ? \
     and options = ? and source_id = ? and version = ?"
);
/// Any write; its new address must be free.
pub(crate) const UPDATE_SQLITE: &str = concat!(
    "update source set version = version + 1, (",
    written!(),
    ", ",
    keyed!(),
    ") = (",
    numbered!(),
    ", ?, ?, ?, ?, ?, ?) where source_id = ? and version = ?"
);

/// Many writes. Which rows it takes, and whether it moves them, is said by what follows.
macro_rules! update_postgres {
    () => {
        "update source s set version = s.version + 1, \
         name = u.name, reading = u.reading, category = u.category, policy = u.policy, \
         cadence_by_hand = u.cadence_by_hand, state_since_us = u.state_since_us, state_note \
         = u.state_note, frequency_type = u.frequency_type, avg_publish_hour = \
         u.avg_publish_hour, std_publish_hour = u.std_publish_hour, due_at_us = u.due_at_us, \
         last_check_at_us = u.last_check_at_us, last_article_at_us = u.last_article_at_us, \
         fail_count = u.fail_count, \
         backoff_until_us = u.backoff_until_us, last_error = u.last_error, last_error_class \
         = u.last_error_class, check_count = u.check_count, hit_count = u.hit_count, etag = \
         u.etag, last_modified = u.last_modified, hints = u.hints, moving_to = u.moving_to, \
         moving_times = u.moving_times, shown = u.shown, pruned_before_us = \
         u.pruned_before_us, recent = u.recent, learned = u.learned, reason = u.reason, \
         updated_at_us = u.updated_at_us, options = u.options, prints = u.prints, \
         publisher = u.publisher, source_type = u.source_type, state = u.state, \
         cadence = u.cadence, attention = u.attention, \
         address = u.address from unnest( \
         $1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::bigint[], \
         $7::text[], $8::text[], $9::double precision[], $10::double precision[], \
         $11::bigint[], $12::bigint[], $13::bigint[], $14::integer[], \
         $15::bigint[], $16::text[], $17::text[], $18::bigint[], $19::bigint[], $20::text[], \
         $21::text[], $22::text[], $23::text[], $24::integer[], $25::bytea[], $26::bigint[], \
         $27::bytea[], $28::bytea[], $29::text[], $30::bigint[], $31::bytea[], $32::text[], \
         $33::text[], $34::text[], $35::text[], $36::text[], $37::text[], $38::text[], \
         $39::bigint[], $40::bigint[]) \
         u(name, reading, category, policy, cadence_by_hand, state_since_us, state_note, \
         frequency_type, avg_publish_hour, std_publish_hour, due_at_us, \
         last_check_at_us, last_article_at_us, fail_count, backoff_until_us, last_error, \
         last_error_class, check_count, hit_count, etag, last_modified, hints, moving_to, \
         moving_times, shown, pruned_before_us, recent, learned, reason, updated_at_us, \
         prints, publisher, address, source_type, state, cadence, attention, options, \
         source_id, seen) \
         where s.source_id = any (array[u.source_id]) and s.version = u.seen"
    };
}
/// Those that stay where they are: an address that is taken cannot spoil the others' statement.
pub(crate) const UPDATE_POSTGRES: &str = concat!(
    update_postgres!(),
    " and s.address = u.address returning s.source_id"
);
pub(crate) const MOVE_POSTGRES: &str = concat!(update_postgres!(), " returning s.source_id");

/// The version of a row, and where it is looked at.
pub(crate) const SEEN_SQLITE: &str = "select version from source where source_id = ?1";
pub(crate) const SEEN_POSTGRES: &str =
    "select source_id, version, address from source where source_id = any ($1::bigint[])";
/// Who is looked at here.
pub(crate) const AT: &str = "select source_id from source where address = $1";
pub(crate) const AT_POSTGRES: &str =
    "select address, source_id from source where address = any ($1::text[])";

pub(crate) const LOAD_SQLITE: &str = concat!(
    "select ",
    columns!(),
    " from source s where s.source_id = ?1"
);
/// Many; the position in the list comes last. The `limit` keeps the planner from turning the join
/// around.
pub(crate) const LOAD_POSTGRES: &str = concat!(
    "select ",
    columns!(),
    ", u.position from unnest($1::bigint[]) with ordinality u(source_id, position) \
     cross join lateral (select * from source x where x.source_id = u.source_id limit 1) s"
);
pub(crate) const LOAD_AT: &str =
    concat!("select ", columns!(), " from source s where s.address = $1");

/// Those that the configuration file defines. Inside a text of the JSON the quotes would be escaped,
/// so the pattern fits nothing but the key.
pub(crate) const LOAD_OF_FILE: &str = concat!(
    "select ",
    columns!(),
    " from source s where s.source_id > $1 and s.options like '%\"from_file\":true%' \
     order by s.source_id limit $2"
);
/// Who is at an address, or has it as its site. The databases differ in how they read JSON; the
/// index on the site holds only sources that have one.
pub(crate) const FIND_SQLITE: &str = "select source_id from source where address = ?1 \
     union select source_id from source where json_extract(options, '$.site') is not null \
     and json_extract(options, '$.site') = ?1 order by source_id limit ?2";
pub(crate) const FIND_POSTGRES: &str = "select source_id from source where address = $1 \
     union select source_id from source where (options::json ->> 'site') is not null \
     and (options::json ->> 'site') = $1 order by source_id limit $2";

/// What is due, longest first, of any type or of one.
pub(crate) const LOAD_DUE: &str = concat!(
    "select ",
    columns!(),
    " from source s where s.due_at_us <= $1 order by s.due_at_us, s.source_id limit $2"
);
pub(crate) const LOAD_DUE_OF: &str = concat!(
    "select ",
    columns!(),
    " from source s where s.source_type = $1 and s.due_at_us <= $2 \
     order by s.due_at_us, s.source_id limit $3"
);

/// Sources that are overdue and that no task will look at: one that lives runs or waits. The name
/// of the task is that of [`almanack_core::source::SourceId::identity`].
pub(crate) const LOAD_STRAYS: &str = "select s.source_id from source s where s.due_at_us < $1 \
     and not exists (select 1 from task t where t.subject = 'source:' || s.source_id \
         and t.kind = 'SOURCE_CHECK' and t.is_current \
         and (t.due_at_us is not null or t.status = 'RUNNING')) \
     order by s.due_at_us, s.source_id limit $2";

pub(crate) const REMOVE: &str = "delete from source where source_id = $1";

/// The fleet's one row.
pub(crate) const LOAD_FLEET: &str =
    "select price, counted_from_us, checks, version from source_fleet";
pub(crate) const COUNT_CHECKS: &str = "update source_fleet set checks = checks + $1";
pub(crate) const FIRST_PRICE: &str = "insert into source_fleet \
     (fleet_id, version, checks, price, counted_from_us) values (1, 1, 0, $1, $2) \
     on conflict (fleet_id) do nothing";
pub(crate) const NEXT_PRICE: &str = "update source_fleet set version = version + 1, checks = 0, \
     price = $1, counted_from_us = $2 where version = $3";

/// Sources to be looked through for old entries: a walk, not a search.
pub(crate) const NEXT_ROWS: &str =
    "select source_id, version, shown from source where source_id > $1 order by source_id limit $2";
/// Notes until when entries were deleted. A look meanwhile must decide again: what was known is
/// not any more.
pub(crate) const NOTE_PRUNED_SQLITE: &str = "update source set version = version + 1, \
     pruned_before_us = \
     max(coalesce(pruned_before_us, ?3), coalesce(?3, pruned_before_us)) \
     where source_id = ?1 and version = ?2";
pub(crate) const NOTE_PRUNED_POSTGRES: &str = "update source s set version = s.version + 1, \
     pruned_before_us = greatest(s.pruned_before_us, u.pruned_before_us) \
     from unnest($1::bigint[], $2::bigint[], $3::bigint[]) u(source_id, seen, pruned_before_us) \
     where s.source_id = any (array[u.source_id]) and s.version = u.seen returning s.source_id";

#[async_trait]
impl<D: Database> SourceStore for SqlStore<D> {
    async fn add_sources(&self, sources: Vec<Source>) -> Result<Vec<Added>> {
        self.0.add_sources(sources).await
    }

    async fn load_sources(&self, ids: &[SourceId]) -> Result<Vec<Option<Source>>> {
        self.0.load_sources(ids).await
    }

    async fn load_source_at(&self, address: &str) -> Result<Option<Source>> {
        let name = "load source by address";
        self.one(name, LOAD_AT, values![address], row::source).await
    }

    async fn load_file_sources(&self, after: SourceId, limit: usize) -> Result<Vec<Source>> {
        let values = values![after.0, most(limit)];
        let listed = listing("source", row::source);
        let name = "load sources of the file";
        self.listed(name, LOAD_OF_FILE, values, listed).await
    }

    async fn find_sources(&self, address: &str) -> Result<Vec<SourceId>> {
        let address = address.to_owned();
        self.ask(Read, "find sources", address, asked!(find)).await
    }

    async fn list_sources(&self, filter: &SourceFilter) -> Result<Page<Source, SourceId>> {
        self.ask(Read, "list sources", filter.clone(), asked!(list::page))
            .await
    }

    async fn load_due_sources(
        &self,
        source_type: Option<SourceType>,
        now: Timestamp,
        limit: usize,
    ) -> Result<Vec<Source>> {
        let (text, values) = match source_type {
            None => (LOAD_DUE, values![now, most(limit)]),
            Some(only) => (LOAD_DUE_OF, values![only.as_str(), now, most(limit)]),
        };
        let listed = listing("source", row::source);
        self.listed("load due sources", text, values, listed).await
    }

    async fn load_stray_sources(&self, overdue: Timestamp, limit: usize) -> Result<Vec<SourceId>> {
        let values = values![overdue, most(limit)];
        let strays = listing("source", |row| row.get(0));
        self.listed("load stray sources", LOAD_STRAYS, values, strays)
            .await
    }

    async fn write_sources(&self, writes: Vec<SourceWrite>) -> Result<Vec<Written>> {
        self.0.write_sources(writes).await
    }

    /// The row goes first: a look that is being written finds it locked, and then gone.
    async fn remove_source(&self, id: SourceId) -> Result<bool> {
        let removed = self.ask(Transaction, "remove source", id, |session, id| {
            Box::pin(async move {
                let removed = session.execute(REMOVE, &[id.0.into()]).await?;
                session.execute(entry::REMOVE_ALL, &[id.0.into()]).await?;
                Ok(removed == 1)
            })
        });
        removed.await
    }

    async fn known_entries(&self, id: SourceId, asked: &EntryQuestion) -> Result<Vec<KnownEntry>> {
        self.0.known_entries(id, asked).await
    }

    async fn list_entries(&self, filter: &EntryFilter) -> Result<Page<Entry, i64>> {
        // A search is several statements, of which the first is about the others.
        let access = filter.search.as_ref().map_or(Read, |_| Moment);
        self.ask(access, "list entries", filter.clone(), asked!(entry::page))
            .await
    }

    async fn load_entry(&self, id: i64) -> Result<Option<Entry>> {
        self.ask(Read, "load entry", id, |session, id| {
            Box::pin(search::load(session, *id))
        })
        .await
    }

    async fn load_unread_entries(
        &self,
        id: SourceId,
        seen_from: Timestamp,
        limit: usize,
    ) -> Result<Vec<UnreadEntry>> {
        let asked = (id, seen_from, limit);
        self.ask(Read, "find unread entries", asked, asked!(search::unread))
            .await
    }

    async fn save_full_text(&self, id: i64, content: Option<String>, now: Timestamp) -> Result<()> {
        let text = (id, content, now);
        self.ask(
            Transaction,
            "save full text",
            text,
            asked!(search::save_text),
        )
        .await
    }

    async fn index_entries(&self, limit: usize) -> Result<usize> {
        self.ask(Transaction, "index entries", limit, |session, limit| {
            Box::pin(search::index(session, *limit))
        })
        .await
    }

    async fn count_sources(
        &self,
        source_type: Option<SourceType>,
        now: Timestamp,
    ) -> Result<SourceNumbers> {
        let values = values![now, source_type.map(SourceType::as_str)];
        self.ask(Read, "count sources", values, asked!(numbers::count))
            .await
    }

    async fn load_fleet(&self) -> Result<Option<Fleet>> {
        let listed = listing("source_fleet", row::fleet);
        let fleet = self.listed("load fleet", LOAD_FLEET, values![], listed);
        Ok(fleet.await?.pop())
    }

    async fn count_checks(&self, checks: u64) -> Result<()> {
        self.execute("count checks", COUNT_CHECKS, values![many(checks)])
            .await
            .map(drop)
    }

    async fn set_price(&self, seen: Option<i64>, price: f64, now: Timestamp) -> Result<bool> {
        let (text, values) = match seen {
            None => (FIRST_PRICE, values![price, now]),
            Some(version) => (NEXT_PRICE, values![price, now, version]),
        };
        Ok(self.execute("set price", text, values).await? == 1)
    }

    async fn prune_entries(
        &self,
        retention: EntryRetention,
        after: SourceId,
        limit: usize,
    ) -> Result<PrunedEntries> {
        self.0.prune_entries(retention, after, limit).await
    }
}

async fn find(session: &dyn Session, address: &String) -> Result<Vec<SourceId>> {
    let text = session.text(FIND_SQLITE, FIND_POSTGRES);
    let values = values![address, most(FOUND_MAX)];
    session.rows(text, &values, |row| row.get(0)).await
}
