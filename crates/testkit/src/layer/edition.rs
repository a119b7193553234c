//! Editions under a layer.

use almanack_core::{
    edition::{Account, Edition, account::Change, document::Document},
    store::{EditionFilter, EditionLine, EditionStore, EditionWritten, PrunedStories, Result},
};
use async_trait::async_trait;
use jiff::{Timestamp, civil::Date};

use super::{Layer, Layered};

#[async_trait]
impl<L: Layer> EditionStore for Layered<L> {
    async fn open_edition(&self, date: Date, now: Timestamp) -> Result<(Edition, bool)> {
        self.layer.edition_asked().await;
        self.below.open_edition(date, now).await
    }
    async fn load_account(&self, date: Date) -> Result<Option<Account>> {
        self.layer.edition_asked().await;
        self.below.load_account(date).await
    }
    async fn list_editions(&self, filter: &EditionFilter) -> Result<Vec<EditionLine>> {
        self.layer.edition_asked().await;
        self.below.list_editions(filter).await
    }
    async fn write_edition(&self, change: Change) -> Result<EditionWritten> {
        self.layer.edition_asked().await;
        self.layer.write_edition(&*self.below, change).await
    }
    async fn load_document(&self, date: Date, revision: Option<u32>) -> Result<Option<Document>> {
        self.layer.edition_asked().await;
        self.below.load_document(date, revision).await
    }
    async fn load_untold(&self, before: Date, limit: usize) -> Result<Vec<Date>> {
        self.layer.edition_asked().await;
        self.below.load_untold(before, limit).await
    }
    async fn prune_stories(&self, before: Date, limit: usize) -> Result<PrunedStories> {
        self.layer.edition_asked().await;
        self.below.prune_stories(before, limit).await
    }
}
