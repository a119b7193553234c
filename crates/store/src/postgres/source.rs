//! Sources on PostgreSQL: looking them up; beside it `write.rs` writes them and `prune.rs` forgets entries.

mod prune;
mod write;

use almanack_core::{
    source::{Attention, Source, SourceId, SourceType, entry::Entry, policy::cadence::Cadence},
    store::{
        Added, EntryFilter, EntryRetention, Fleet, Page, PrunedEntries, Result, SourceFilter,
        SourceNumbers, SourceStore, SourceWrite, Written,
    },
};
use async_trait::async_trait;
use deadpool_postgres::Pool;
use jiff::Timestamp;
use tokio_postgres::types::ToSql;

use super::{PostgresStore, client, explain, gate::Errand};
use crate::{
    entry,
    row::{self, examined, many, micros, most, one_more, readable},
    source::{self, numbers},
};

pub(super) use write::WriteSources;

/// Finds sources by number; those asked for at the same time share a round trip.
pub(super) struct LoadSources {
    pub(super) pool: Pool,
}

#[async_trait]
impl Errand for LoadSources {
    type Item = SourceId;
    type Answer = Option<Source>;
    const ONLY_READS: bool = true;

    async fn run(&self, ids: &[SourceId]) -> Result<Vec<Option<Source>>> {
        let failed = |error| explain("load sources", error);
        let numbers: Vec<i64> = ids.iter().map(|id| id.0).collect();
        let client = client(&self.pool).await?;
        let statement = client
            .prepare_cached(source::LOAD_POSTGRES)
            .await
            .map_err(failed)?;
        let rows = client
            .query(&statement, &[&numbers])
            .await
            .map_err(failed)?;
        let mut found: Vec<Option<Source>> = ids.iter().map(|_| None).collect();
        for row in rows {
            let position = usize::try_from(row.get::<_, i64>(source::COLUMNS)).unwrap_or(0);
            if let Some(place) = found.get_mut(position.wrapping_sub(1)) {
                *place = Some(row::source(&row)?);
            }
        }
        Ok(found)
    }
}

const LIST_ENTRIES: &str = "list entries";

#[async_trait]
impl SourceStore for PostgresStore {
    async fn add_sources(&self, sources: Vec<Source>) -> Result<Vec<Added>> {
        let mut client = self.client().await?;
        write::add(&mut client, &sources).await
    }

    async fn load_sources(&self, ids: &[SourceId]) -> Result<Vec<Option<Source>>> {
        let _place = self.place()?;
        self.sources.pass(ids.to_vec()).await
    }

    async fn load_source_at(&self, address: &str) -> Result<Option<Source>> {
        let rows = self
            .rows("load source by address", source::LOAD_AT, &[&address])
            .await?;
        rows.first().map(row::source).transpose()
    }

    async fn list_sources(&self, filter: &SourceFilter) -> Result<Page<Source, SourceId>> {
        let (name, (list, to)) = ("list sources", source::list(filter));
        let after = filter.after.map_or(0, |id| id.0);
        let parameters: [&(dyn ToSql + Sync); 2] = [&after, &examined(filter.among)];
        let to = self.examined_to(name, to, &parameters).await?;
        let parameters: [&(dyn ToSql + Sync); 9] = [
            &filter.source_type.map(SourceType::as_str),
            &filter.state,
            &filter.cadence.map(Cadence::as_str),
            &filter.attention.map(Attention::as_str),
            &source::failure(filter),
            &source::containing(filter),
            &after,
            &to.unwrap_or(i64::MAX),
            &one_more(filter.limit),
        ];
        let rows = self.rows(name, list, &parameters).await?;
        let found = rows
            .iter()
            .map(|row| (SourceId(row.get(0)), row::shown_source(row)));
        let page = Page::cut(
            found.collect(),
            filter.limit,
            to.map(SourceId),
            |(id, _)| *id,
        );
        Ok(page.filter_map(|(_, source)| source))
    }

    async fn load_due_sources(
        &self,
        source_type: Option<SourceType>,
        now: Timestamp,
        limit: usize,
    ) -> Result<Vec<Source>> {
        let (name, now, limit) = ("load due sources", micros(now), most(limit));
        let rows = match source_type {
            None => self.rows(name, source::LOAD_DUE, &[&now, &limit]).await?,
            Some(only) => {
                let parameters: [&(dyn ToSql + Sync); 3] = [&only.as_str(), &now, &limit];
                self.rows(name, source::LOAD_DUE_OF, &parameters).await?
            }
        };
        let sources = rows.iter().map(row::source);
        Ok(sources
            .filter_map(|source| readable("source", source))
            .collect())
    }

    async fn load_stray_sources(&self, overdue: Timestamp, limit: usize) -> Result<Vec<SourceId>> {
        let parameters: [&(dyn ToSql + Sync); 2] = [&micros(overdue), &most(limit)];
        let rows = self
            .rows("load stray sources", source::LOAD_STRAYS, &parameters)
            .await?;
        Ok(rows.iter().map(|row| SourceId(row.get(0))).collect())
    }

    async fn write_sources(&self, writes: Vec<SourceWrite>) -> Result<Vec<Written>> {
        self.source_writes.pass(writes).await
    }

    async fn remove_source(&self, id: SourceId) -> Result<bool> {
        let mut client = self.client().await?;
        write::remove(&mut client, id).await
    }

    async fn known_keys(&self, id: SourceId, keys: &[String]) -> Result<Vec<String>> {
        let parameters: [&(dyn ToSql + Sync); 2] = [&id.0, &keys];
        let rows = self
            .rows("find known entries", entry::KNOWN_POSTGRES, &parameters)
            .await?;
        let known: Vec<&str> = rows.iter().map(|row| row.get(0)).collect();
        let asked = keys.iter().filter(|key| known.contains(&key.as_str()));
        Ok(asked.cloned().collect())
    }

    async fn list_entries(&self, filter: &EntryFilter) -> Result<Page<Entry, i64>> {
        let (before, since) = (entry::before(filter), entry::seen_from(filter));
        let limit = one_more(filter.limit);
        let Some((from, stops)) = self.entries_from(filter).await? else {
            return Ok(Page::empty());
        };
        let rows = if let Some(SourceId(id)) = filter.source {
            let parameters: [&(dyn ToSql + Sync); 5] = [&id, &before, &from, &since, &limit];
            self.rows(LIST_ENTRIES, entry::LIST_OF, &parameters).await?
        } else {
            let parameters: [&(dyn ToSql + Sync); 4] = [&before, &from, &since, &limit];
            self.rows(LIST_ENTRIES, entry::LIST, &parameters).await?
        };
        let found = rows
            .iter()
            .map(|row| (row.get(0), readable("entry", row::entry(row))));
        let page = Page::cut(found.collect(), filter.limit, stops, |(id, _)| *id);
        Ok(page.filter_map(|(_, entry)| entry))
    }

    async fn count_sources(
        &self,
        source_type: Option<SourceType>,
        now: Timestamp,
    ) -> Result<SourceNumbers> {
        let source_type = source_type.map(SourceType::as_str);
        let parameters: [&(dyn ToSql + Sync); 2] = [&micros(now), &source_type];
        let rows = self
            .rows("count sources", numbers::COUNT, &parameters)
            .await?;
        let mut sum = numbers::Sum::default();
        for row in &rows {
            // What is not known by name is counted under none.
            let _ = readable("source", sum.add(row));
        }
        Ok(sum.numbers())
    }

    async fn load_fleet(&self) -> Result<Option<Fleet>> {
        let rows = self.rows("load fleet", source::LOAD_FLEET, &[]).await?;
        let fleet = rows.first().map(row::fleet);
        Ok(fleet.and_then(|fleet| readable("source_fleet", fleet)))
    }

    async fn count_checks(&self, checks: u64) -> Result<()> {
        self.execute("count checks", source::COUNT_CHECKS, &[&many(checks)])
            .await
            .map(|_| ())
    }

    async fn set_price(&self, seen: Option<i64>, price: f64, now: Timestamp) -> Result<bool> {
        let (name, now) = ("set price", micros(now));
        let set = match seen {
            None => {
                self.execute(name, source::FIRST_PRICE, &[&price, &now])
                    .await?
            }
            Some(version) => {
                let parameters: [&(dyn ToSql + Sync); 3] = [&price, &now, &version];
                self.execute(name, source::NEXT_PRICE, &parameters).await?
            }
        };
        Ok(set == 1)
    }

    async fn prune_entries(
        &self,
        retention: EntryRetention,
        after: SourceId,
        limit: usize,
    ) -> Result<PrunedEntries> {
        self.forget_entries(retention, after, limit).await
    }
}

impl PostgresStore {
    /// Where a page of entries ends, and whether it stops there before its time; `None` where nothing was seen since.
    async fn entries_from(&self, filter: &EntryFilter) -> Result<Option<(i64, Option<i64>)>> {
        let name = LIST_ENTRIES;
        if filter.seen_from.is_none() {
            return Ok(Some((0, None)));
        }
        let (before, among) = (entry::before(filter), examined(filter.among));
        if let Some(SourceId(id)) = filter.source {
            let parameters: [&(dyn ToSql + Sync); 3] = [&id, &before, &among];
            let stops = self.examined_to(name, entry::EXAMINED_TO_OF, &parameters);
            return Ok(Some(entry::bounds(None, stops.await?)));
        }
        let (since, most) = (entry::seen_from(filter), among.saturating_add(1));
        let parameters: [&(dyn ToSql + Sync); 2] = [&since, &most];
        let first = self.examined_to(name, entry::FIRST_SINCE, &parameters);
        let Some(first) = first.await? else {
            return Ok(None);
        };
        let parameters: [&(dyn ToSql + Sync); 2] = [&before, &among];
        let stops = self.examined_to(name, entry::EXAMINED_TO, &parameters);
        Ok(Some(entry::bounds(Some(first), stops.await?)))
    }
}
