//! Sources on SQLite: looking them up; `write.rs` beside it writes them.

mod write;

use almanack_core::{
    source::{Attention, Source, SourceId, SourceType, entry::Entry, policy::cadence::Cadence},
    store::{
        Added, EntryFilter, EntryRetention, Fleet, PrunedEntries, Result, SourceFilter,
        SourceNumbers, SourceStore, SourceWrite, Written,
    },
};
use async_trait::async_trait;
use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, Params, params};

use crate::{
    entry,
    nudge::earliest_told,
    row::{self, many, micros, most, readable},
    source::{self, numbers},
    sqlite::{SqliteStore, edition::listed, thread::Outcome},
};

#[async_trait]
impl SourceStore for SqliteStore {
    async fn add_sources(&self, sources: Vec<Source>) -> Result<Vec<Added>> {
        self.write("add sources", move |connection| {
            let added = sources.iter().map(|new| write::add(connection, new));
            added.collect()
        })
        .await
    }

    async fn load_sources(&self, ids: &[SourceId]) -> Result<Vec<Option<Source>>> {
        let ids = ids.to_vec();
        self.read("load sources", move |connection| {
            let load = |id: &SourceId| Ok(load(connection, source::LOAD_SQLITE, [id.0])?.pop());
            ids.iter().map(load).collect()
        })
        .await
    }

    async fn load_source_at(&self, address: &str) -> Result<Option<Source>> {
        let address = address.to_owned();
        self.read("load source by address", move |connection| {
            Ok(load(connection, source::LOAD_AT, [&address])?.pop())
        })
        .await
    }

    async fn list_sources(&self, filter: &SourceFilter) -> Result<Vec<Source>> {
        let filter = filter.clone();
        self.read("list sources", move |connection| {
            let parameters = params![
                filter.source_type.map(SourceType::as_str),
                filter.state,
                filter.cadence.map(Cadence::as_str),
                filter.attention.map(Attention::as_str),
                source::failure(&filter),
                source::containing(&filter),
                filter.after.map_or(0, |id| id.0),
                most(filter.limit),
            ];
            listed(connection, source::list(&filter), parameters, |row| {
                row::shown_source(row)
            })
        })
        .await
    }

    async fn load_due_sources(
        &self,
        source_type: Option<SourceType>,
        now: Timestamp,
        limit: usize,
    ) -> Result<Vec<Source>> {
        let (now, limit) = (micros(now), most(limit));
        self.read("load due sources", move |connection| match source_type {
            None => due(connection, source::LOAD_DUE, [now, limit]),
            Some(only) => due(
                connection,
                source::LOAD_DUE_OF,
                params![only.as_str(), now, limit],
            ),
        })
        .await
    }

    async fn load_stray_sources(&self, overdue: Timestamp, limit: usize) -> Result<Vec<SourceId>> {
        self.read("load stray sources", move |connection| {
            let mut statement = connection.prepare_cached(source::LOAD_STRAYS)?;
            let strays = statement.query_map([micros(overdue), most(limit)], |row| {
                row.get(0).map(SourceId)
            })?;
            Ok(strays.collect::<rusqlite::Result<_>>()?)
        })
        .await
    }

    async fn write_sources(&self, writes: Vec<SourceWrite>) -> Result<Vec<Written>> {
        let told_at = writes.iter().filter_map(|w| earliest_told(&w.tells)).min();
        let written = self
            .write("write sources", move |connection| {
                let written = writes.iter().map(|write| write::write(connection, write));
                written.collect()
            })
            .await?;
        self.nudge_told(told_at);
        Ok(written)
    }

    async fn remove_source(&self, id: SourceId) -> Result<bool> {
        self.write("remove source", move |connection| {
            let removed = connection.prepare_cached(source::REMOVE)?.execute([id.0])?;
            connection
                .prepare_cached(entry::REMOVE_ALL)?
                .execute([id.0])?;
            Ok(removed == 1)
        })
        .await
    }

    async fn known_keys(&self, id: SourceId, keys: &[String]) -> Result<Vec<String>> {
        let keys = keys.to_vec();
        self.read("find known entries", move |connection| {
            let mut statement = connection.prepare_cached(entry::IS_KNOWN_SQLITE)?;
            let mut known = Vec::new();
            for key in &keys {
                if statement.query_row(params![id.0, key], |row| row.get(0))? {
                    known.push(key.clone());
                }
            }
            Ok(known)
        })
        .await
    }

    async fn list_entries(&self, filter: &EntryFilter) -> Result<Vec<Entry>> {
        let filter = filter.clone();
        self.read("list entries", move |connection| {
            let (before, limit) = (entry::before(&filter), most(filter.limit));
            let seen_from = entry::seen_from(&filter);
            let of = filter.source.map(|id| id.0);
            match (of, filter.seen_from) {
                (Some(id), _) => {
                    entries(connection, entry::LIST_OF, [id, seen_from, before, limit])
                }
                (None, Some(_)) => {
                    entries(connection, entry::LIST_SINCE, [seen_from, before, limit])
                }
                (None, None) => entries(connection, entry::LIST, [before, limit]),
            }
        })
        .await
    }

    async fn count_sources(
        &self,
        source_type: Option<SourceType>,
        now: Timestamp,
    ) -> Result<SourceNumbers> {
        let source_type = source_type.map(SourceType::as_str);
        self.read("count sources", move |connection| {
            let mut statement = connection.prepare_cached(numbers::COUNT)?;
            let mut rows = statement.query(params![micros(now), source_type])?;
            let mut sum = numbers::Sum::default();
            while let Some(row) = rows.next()? {
                // What is not known by name is counted under none.
                let _ = readable("source", sum.add(row));
            }
            Ok(sum.numbers())
        })
        .await
    }

    async fn load_fleet(&self) -> Result<Option<Fleet>> {
        self.read("load fleet", |connection| {
            let mut statement = connection.prepare_cached(source::LOAD_FLEET)?;
            let mut rows = statement.query([])?;
            let fleet = rows.next()?.map(row::fleet);
            Ok(fleet.and_then(|fleet| readable("source_fleet", fleet)))
        })
        .await
    }

    async fn count_checks(&self, checks: u64) -> Result<()> {
        self.write("count checks", move |connection| {
            connection
                .prepare_cached(source::COUNT_CHECKS)?
                .execute([many(checks)])?;
            Ok(())
        })
        .await
    }

    async fn set_price(&self, seen: Option<i64>, price: f64, now: Timestamp) -> Result<bool> {
        self.write("set price", move |connection| {
            let set = match seen {
                None => connection
                    .prepare_cached(source::FIRST_PRICE)?
                    .execute(params![price, micros(now)])?,
                Some(version) => connection
                    .prepare_cached(source::NEXT_PRICE)?
                    .execute(params![price, micros(now), version])?,
            };
            Ok(set == 1)
        })
        .await
    }

    async fn prune_entries(
        &self,
        retention: EntryRetention,
        after: SourceId,
        limit: usize,
    ) -> Result<PrunedEntries> {
        self.write("prune entries", move |connection| {
            write::prune(connection, retention, after, limit)
        })
        .await
    }
}

fn load(connection: &Connection, text: &str, parameters: impl Params) -> Outcome<Vec<Source>> {
    let mut statement = connection.prepare_cached(text)?;
    let mut rows = statement.query(parameters)?;
    let mut sources = Vec::new();
    while let Some(row) = rows.next()? {
        sources.push(row::source(row)?);
    }
    Ok(sources)
}

fn due(connection: &Connection, text: &str, parameters: impl Params) -> Outcome<Vec<Source>> {
    listed(connection, text, parameters, |row| {
        readable("source", row::source(row))
    })
}

fn entries(connection: &Connection, text: &str, parameters: impl Params) -> Outcome<Vec<Entry>> {
    let mut statement = connection.prepare_cached(text)?;
    let mut rows = statement.query(parameters)?;
    let mut entries = Vec::new();
    while let Some(row) = rows.next()? {
        entries.extend(readable("entry", row::entry(row)));
    }
    Ok(entries)
}

/// The first number a statement answers, if it answers.
fn number(connection: &Connection, text: &str, parameters: impl Params) -> Outcome<Option<i64>> {
    let mut statement = connection.prepare_cached(text)?;
    let found = statement.query_row(parameters, |row| row.get(0));
    Ok(found.optional()?)
}
