//! Sources on SQLite; `write.rs` beside it writes them.

mod write;

use std::collections::BTreeMap;

use almanack_core::{
    source::{Source, SourceId},
    store::{
        Added, EntryQuestion, EntryRetention, KNOWN_PER_LINK_MAX, KnownEntry, PrunedEntries,
        Result, SourceWrite, Written,
    },
};
use rusqlite::{Connection, OptionalExtension, Params, Rows, params};

use crate::{
    database::{Database as _, Sources},
    entry,
    nudge::earliest_reported,
    row::{self, most},
    source,
    sqlite::{Sqlite, thread::Outcome},
};

impl Sources for Sqlite {
    async fn add_sources(&self, sources: Vec<Source>) -> Result<Vec<Added>> {
        self.on_writer("add sources", move |connection| {
            let added = sources.iter().map(|new| write::add(connection, new));
            added.collect()
        })
        .await
    }

    async fn load_sources(&self, ids: &[SourceId]) -> Result<Vec<Option<Source>>> {
        let ids = ids.to_vec();
        self.on_reader("load sources", move |connection| {
            let mut statement = connection.prepare_cached(source::LOAD_SQLITE)?;
            let load = |id: &SourceId| -> Outcome<Option<Source>> {
                let mut rows = statement.query([id.0])?;
                let found = rows.next()?.map(|row| row::source(&row.into()));
                Ok(found.transpose()?)
            };
            ids.iter().map(load).collect()
        })
        .await
    }

    async fn write_sources(&self, writes: Vec<SourceWrite>) -> Result<Vec<Written>> {
        let reported_at = writes
            .iter()
            .filter_map(|w| earliest_reported(&w.event_tasks))
            .min();
        let written = self
            .on_writer("write sources", move |connection| {
                let written = writes.iter().map(|write| write::write(connection, write));
                written.collect()
            })
            .await?;
        self.hint(reported_at).await;
        Ok(written)
    }

    async fn known_entries(&self, id: SourceId, asked: &EntryQuestion) -> Result<Vec<KnownEntry>> {
        let asked = asked.clone();
        self.on_reader("find known entries", move |connection| {
            let mut known = BTreeMap::new();
            let mut by_key = connection.prepare_cached(entry::KNOWN_BY_KEY_SQLITE)?;
            for key in &asked.keys {
                add_known(&mut known, by_key.query(params![id.0, key])?)?;
            }
            let mut by_link = connection.prepare_cached(entry::KNOWN_BY_LINK_SQLITE)?;
            let limit = most(KNOWN_PER_LINK_MAX);
            for link in &asked.links {
                add_known(&mut known, by_link.query(params![id.0, link, limit])?)?;
            }
            Ok(known.into_values().collect())
        })
        .await
    }

    async fn prune_entries(
        &self,
        retention: EntryRetention,
        after: SourceId,
        limit: usize,
    ) -> Result<PrunedEntries> {
        self.on_writer("prune entries", move |connection| {
            write::prune(connection, retention, after, limit)
        })
        .await
    }
}

fn add_known(known: &mut BTreeMap<i64, KnownEntry>, mut rows: Rows<'_>) -> Outcome<()> {
    while let Some(row) = rows.next()? {
        let found = row::known_entry(&row.into())?;
        known.insert(found.row, found);
    }
    Ok(())
}

/// The first number a statement answers, if it answers.
fn number(connection: &Connection, text: &str, parameters: impl Params) -> Outcome<Option<i64>> {
    let mut statement = connection.prepare_cached(text)?;
    let found = statement.query_row(parameters, |row| row.get(0));
    Ok(found.optional()?)
}
