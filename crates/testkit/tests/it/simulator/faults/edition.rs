//! Editions on that way: every call that ticks make meets what every other call meets.

use almanack_core::{
    edition::{Account, Edition, account::Change, document::Document},
    store::{EditionFilter, EditionLine, EditionStore, EditionWritten, PrunedStories, Result},
};
use async_trait::async_trait;
use jiff::{Timestamp, civil::Date};

use super::FaultyStore;

#[async_trait]
impl EditionStore for FaultyStore {
    async fn open_edition(&self, date: Date, now: Timestamp) -> Result<(Edition, bool)> {
        self.call("open_edition", move |store| {
            Box::pin(async move { store.open_edition(date, now).await })
        })
        .await
    }
    async fn load_account(&self, date: Date) -> Result<Option<Account>> {
        self.call("load_account", move |store| {
            Box::pin(async move { store.load_account(date).await })
        })
        .await
    }
    async fn list_editions(&self, filter: &EditionFilter) -> Result<Vec<EditionLine>> {
        let filter = filter.clone();
        self.call("list_editions", move |store| {
            Box::pin(async move { store.list_editions(&filter).await })
        })
        .await
    }
    async fn write_edition(&self, change: Change) -> Result<EditionWritten> {
        self.call("write_edition", move |store| {
            Box::pin(async move { store.write_edition(change).await })
        })
        .await
    }
    async fn load_document(&self, date: Date, revision: Option<u32>) -> Result<Option<Document>> {
        self.call("load_document", move |store| {
            Box::pin(async move { store.load_document(date, revision).await })
        })
        .await
    }
    async fn load_untold(&self, before: Date, limit: usize) -> Result<Vec<Date>> {
        self.call("load_untold", move |store| {
            Box::pin(async move { store.load_untold(before, limit).await })
        })
        .await
    }
    async fn prune_stories(&self, before: Date, limit: usize) -> Result<PrunedStories> {
        self.call("prune_stories", move |store| {
            Box::pin(async move { store.prune_stories(before, limit).await })
        })
        .await
    }
}
