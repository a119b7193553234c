//! Sources on PostgreSQL: looked up together; beside it `write.rs` writes them and `prune.rs`
//! forgets entries.

mod prune;
mod write;

use std::collections::BTreeMap;

use almanack_core::{
    source::{Source, SourceId},
    store::{
        Added, EntryQuestion, EntryRetention, KNOWN_PER_LINK_MAX, KnownEntry, PrunedEntries,
        Result, SourceWrite, Written,
    },
};
use async_trait::async_trait;
use deadpool_postgres::Pool;
use tokio_postgres::types::ToSql;

use super::{
    Postgres,
    batcher::BatchedWork,
    client,
    session::{in_order, query},
};
use crate::{
    database::Sources,
    entry,
    row::{self, most},
    source,
};

pub(super) use write::WriteSources;

/// Finds sources by number; those asked for at the same time share a round trip.
pub(super) struct LoadSources {
    pub(super) pool: Pool,
}

#[async_trait]
impl BatchedWork for LoadSources {
    type Item = SourceId;
    type Answer = Option<Source>;
    const ONLY_READS: bool = true;

    async fn run(&self, ids: &[SourceId]) -> Result<Vec<Option<Source>>> {
        let numbers: Vec<i64> = ids.iter().map(|id| id.0).collect();
        let client = client(&self.pool).await?;
        let rows = query(&client, "load sources", source::LOAD_POSTGRES, &[&numbers]).await?;
        in_order(&rows, source::COLUMNS, ids.len(), row::source)
    }
}

impl Sources for Postgres {
    async fn add_sources(&self, sources: Vec<Source>) -> Result<Vec<Added>> {
        let mut client = self.client().await?;
        write::add(&mut client, &sources).await
    }

    async fn load_sources(&self, ids: &[SourceId]) -> Result<Vec<Option<Source>>> {
        let _seat = self.seat()?;
        self.sources.pass(ids.to_vec()).await
    }

    async fn write_sources(&self, writes: Vec<SourceWrite>) -> Result<Vec<Written>> {
        self.source_writes.pass(writes).await
    }

    async fn known_entries(&self, id: SourceId, asked: &EntryQuestion) -> Result<Vec<KnownEntry>> {
        let limit = most(KNOWN_PER_LINK_MAX);
        let parameters: [&(dyn ToSql + Sync); 4] = [&id.0, &asked.keys, &asked.links, &limit];
        let rows = self
            .rows("find known entries", entry::KNOWN_POSTGRES, &parameters)
            .await?;
        let mut known = BTreeMap::new();
        for row in &rows {
            let found = row::known_entry(&row.into())?;
            known.insert(found.row, found);
        }
        Ok(known.into_values().collect())
    }

    async fn prune_entries(
        &self,
        retention: EntryRetention,
        after: SourceId,
        limit: usize,
    ) -> Result<PrunedEntries> {
        prune::prune(self, retention, after, limit).await
    }
}
