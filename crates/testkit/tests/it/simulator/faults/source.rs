//! Sources on that way. What checks and people change meets what every other call meets; lists and numbers, which
//! only people and checkers ask for, arrive untouched.

use almanack_core::{
    source::{Source, SourceId, SourceType, entry::Entry},
    store::{
        Added, EntryFilter, EntryRetention, Fleet, Page, PrunedEntries, Result, SourceFilter,
        SourceNumbers, SourceStore, SourceWrite, Written,
    },
};
use async_trait::async_trait;
use jiff::Timestamp;

use super::FaultyStore;

#[async_trait]
impl SourceStore for FaultyStore {
    async fn add_sources(&self, sources: Vec<Source>) -> Result<Vec<Added>> {
        self.call("add_sources", move |store| {
            Box::pin(async move { store.add_sources(sources).await })
        })
        .await
    }
    async fn load_sources(&self, ids: &[SourceId]) -> Result<Vec<Option<Source>>> {
        let ids = ids.to_vec();
        self.call("load_sources", move |store| {
            Box::pin(async move { store.load_sources(&ids).await })
        })
        .await
    }
    async fn load_source_at(&self, address: &str) -> Result<Option<Source>> {
        let address = address.to_owned();
        self.call("load_source_at", move |store| {
            Box::pin(async move { store.load_source_at(&address).await })
        })
        .await
    }
    async fn list_sources(&self, filter: &SourceFilter) -> Result<Page<Source, SourceId>> {
        self.below.list_sources(filter).await
    }
    async fn load_due_sources(
        &self,
        source_type: Option<SourceType>,
        now: Timestamp,
        limit: usize,
    ) -> Result<Vec<Source>> {
        self.call("load_due_sources", move |store| {
            Box::pin(async move { store.load_due_sources(source_type, now, limit).await })
        })
        .await
    }
    async fn load_stray_sources(&self, overdue: Timestamp, limit: usize) -> Result<Vec<SourceId>> {
        self.call("load_stray_sources", move |store| {
            Box::pin(async move { store.load_stray_sources(overdue, limit).await })
        })
        .await
    }
    async fn write_sources(&self, writes: Vec<SourceWrite>) -> Result<Vec<Written>> {
        self.call("write_sources", move |store| {
            Box::pin(async move { store.write_sources(writes).await })
        })
        .await
    }
    async fn remove_source(&self, id: SourceId) -> Result<bool> {
        self.call("remove_source", move |store| {
            Box::pin(async move { store.remove_source(id).await })
        })
        .await
    }
    async fn known_keys(&self, id: SourceId, keys: &[String]) -> Result<Vec<String>> {
        let keys = keys.to_vec();
        self.call("known_keys", move |store| {
            Box::pin(async move { store.known_keys(id, &keys).await })
        })
        .await
    }
    async fn list_entries(&self, filter: &EntryFilter) -> Result<Page<Entry, i64>> {
        self.below.list_entries(filter).await
    }
    async fn count_sources(
        &self,
        source_type: Option<SourceType>,
        now: Timestamp,
    ) -> Result<SourceNumbers> {
        self.below.count_sources(source_type, now).await
    }
    async fn load_fleet(&self) -> Result<Option<Fleet>> {
        self.call("load_fleet", move |store| {
            Box::pin(async move { store.load_fleet().await })
        })
        .await
    }
    async fn count_checks(&self, checks: u64) -> Result<()> {
        self.call("count_checks", move |store| {
            Box::pin(async move { store.count_checks(checks).await })
        })
        .await
    }
    async fn set_price(&self, seen: Option<i64>, price: f64, now: Timestamp) -> Result<bool> {
        self.call("set_price", move |store| {
            Box::pin(async move { store.set_price(seen, price, now).await })
        })
        .await
    }
    async fn prune_entries(
        &self,
        retention: EntryRetention,
        after: SourceId,
        limit: usize,
    ) -> Result<PrunedEntries> {
        self.call("prune_entries", move |store| {
            Box::pin(async move { store.prune_entries(retention, after, limit).await })
        })
        .await
    }
}
