//! Sources on SQLite: looking them up; `write.rs` beside it writes them.

mod write;

use almanack_core::{
    source::{Attention, Source, SourceId, SourceType, entry::Entry, policy::cadence::Cadence},
    store::{
        Added, EntryFilter, EntryRetention, Fleet, Page, PrunedEntries, Result, SourceFilter,
        SourceNumbers, SourceStore, SourceWrite, Written,
    },
};
use async_trait::async_trait;
use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, Params, params};

use crate::{
    entry,
    nudge::earliest_told,
    row::{self, examined, many, micros, most, one_more, readable},
    source::{self, numbers},
    sqlite::{SqliteStore, edition::listed, records::examined_to, thread::Outcome},
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

    async fn list_sources(&self, filter: &SourceFilter) -> Result<Page<Source, SourceId>> {
        let filter = filter.clone();
        self.read("list sources", move |connection| {
            let (list, to) = source::list(&filter);
            let after = filter.after.map_or(0, |id| id.0);
            let to = examined_to(connection, to, [after, examined(filter.among)])?;
            let parameters = params![
                filter.source_type.map(SourceType::as_str),
                filter.state,
                filter.cadence.map(Cadence::as_str),
                filter.attention.map(Attention::as_str),
                source::failure(&filter),
                source::containing(&filter),
                after,
                to.unwrap_or(i64::MAX),
                one_more(filter.limit),
            ];
            let found = listed(connection, list, parameters, |row| {
                Some((SourceId(row.get(0).ok()?), row::shown_source(row)))
            })?;
            let page = Page::cut(found, filter.limit, to.map(SourceId), |(id, _)| *id);
            Ok(page.filter_map(|(_, source)| source))
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

    async fn list_entries(&self, filter: &EntryFilter) -> Result<Page<Entry, i64>> {
        let filter = filter.clone();
        self.read("list entries", move |connection| {
            let (before, since) = (entry::before(&filter), entry::seen_from(&filter));
            let limit = one_more(filter.limit);
            let Some((from, stops)) = entries_from(connection, &filter)? else {
                return Ok(Page::empty());
            };
            let found = match filter.source {
                Some(SourceId(id)) => {
                    let parameters = [id, before, from, since, limit];
                    entries(connection, entry::LIST_OF, parameters)
                }
                None => entries(connection, entry::LIST, [before, from, since, limit]),
            }?;
            let page = Page::cut(found, filter.limit, stops, |(id, _)| *id);
            Ok(page.filter_map(|(_, entry)| entry))
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

/// Where a page of entries ends, and whether it stops there before its time; `None` where nothing was seen since.
fn entries_from(
    connection: &Connection,
    filter: &EntryFilter,
) -> Outcome<Option<(i64, Option<i64>)>> {
    if filter.seen_from.is_none() {
        return Ok(Some((0, None)));
    }
    let (before, among) = (entry::before(filter), examined(filter.among));
    if let Some(SourceId(id)) = filter.source {
        let stops = examined_to(connection, entry::EXAMINED_TO_OF, [id, before, among])?;
        return Ok(Some(entry::bounds(None, stops)));
    }
    let since = [entry::seen_from(filter), among.saturating_add(1)];
    let first = examined_to(connection, entry::FIRST_SINCE, since)?;
    let Some(first) = first else { return Ok(None) };
    let stops = examined_to(connection, entry::EXAMINED_TO, [before, among])?;
    Ok(Some(entry::bounds(Some(first), stops)))
}

/// Entries by their numbers, as far as they can be read.
fn entries(
    connection: &Connection,
    text: &str,
    parameters: impl Params,
) -> Outcome<Vec<(i64, Option<Entry>)>> {
    listed(connection, text, parameters, |row| {
        Some((row.get(0).ok()?, readable("entry", row::entry(row))))
    })
}

/// The first number a statement answers, if it answers.
fn number(connection: &Connection, text: &str, parameters: impl Params) -> Outcome<Option<i64>> {
    let mut statement = connection.prepare_cached(text)?;
    let found = statement.query_row(parameters, |row| row.get(0));
    Ok(found.optional()?)
}
