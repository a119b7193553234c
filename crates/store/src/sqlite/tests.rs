//! Readers of one sort of caller keep no other waiting, and stop when no caller waits for them
//! (SF-01).

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use almanack_core::store::{
    Error, Kinds, NodeStore, OverviewStore, ScheduleStore, SourceStore, Store, TaskStore,
    TokenStore,
};
use almanack_testkit::fixture::{PUBLISH, START, identity};
use futures_util::{future::BoxFuture, poll};
use tempfile::TempDir;
use tokio::task::JoinHandle;

use super::*;

const ENDLESS: &str = "with recursive n(i) as (select 1 union all select i + 1 from n) \
     select count(*) from n";

struct Stage {
    work: SqliteStore,
    changes: SqliteStore,
    pages: Arc<SqliteStore>,
    /// Endless reads that have begun.
    begun: Arc<AtomicUsize>,
    _directory: TempDir,
}

impl Stage {
    fn set() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("almanack.db");
        let work = SqliteStore::open(&path, Durability::Normal).unwrap();
        Self {
            changes: work.for_changes(),
            pages: Arc::new(work.for_pages()),
            work,
            begun: Arc::default(),
            _directory: directory,
        }
    }

    /// A page that takes for ever.
    fn endless(&self) -> BoxFuture<'static, Result<()>> {
        let (pages, begun) = (Arc::clone(&self.pages), Arc::clone(&self.begun));
        Box::pin(async move {
            let read = pages.0.on_reader("endless", move |connection| {
                begun.fetch_add(1, Ordering::SeqCst);
                Ok(connection.query_row(ENDLESS, [], |_| Ok(()))?)
            });
            read.await
        })
    }

    /// As many of them as there are readers, all under way.
    async fn occupy(&self) -> Vec<JoinHandle<Result<()>>> {
        let readers = (0..PAGE_READERS).map(|_| tokio::spawn(self.endless()));
        let readers = readers.collect();
        while self.begun.load(Ordering::SeqCst) < PAGE_READERS {
            tokio::task::yield_now().await;
        }
        readers
    }
}

#[tokio::test]
async fn sf_01_pages_keep_neither_work_nor_changes_waiting() {
    let stage = Stage::set();
    let readers = stage.occupy().await;
    stage.work.load_due_schedules(START, 10).await.unwrap();
    stage.work.load_expired(START, 10).await.unwrap();
    stage.work.load_nodes().await.unwrap();
    stage.work.load_depths(START).await.unwrap();
    stage.work.load_due_sources(None, START, 10).await.unwrap();
    stage.changes.load_token("").await.unwrap();
    stage
        .changes
        .load_current(&[identity("article:1", PUBLISH)])
        .await
        .unwrap();
    stage.changes.load_once("").await.unwrap();
    stage.changes.apply(Vec::new()).await.unwrap();
    for reader in readers {
        assert!(!reader.is_finished(), "all this while, pages were read");
        reader.abort();
    }
}

/// Each reader would be lost for good, or until its time is up; then this would not be answered.
#[tokio::test]
async fn sf_01_an_abandoned_page_is_stopped() {
    let stage = Stage::set();
    for reader in stage.occupy().await {
        reader.abort();
    }
    stage.pages.count_statuses(10, Kinds::All).await.unwrap();
}

#[tokio::test]
async fn sf_01_a_full_room_sends_away_and_begins_nothing_that_was_abandoned() {
    let stage = Stage::set();
    let readers = stage.occupy().await;
    let mut waiting = Vec::new();
    let busy = loop {
        let mut page = stage.endless();
        match poll!(&mut page) {
            std::task::Poll::Pending => waiting.push(page),
            std::task::Poll::Ready(answer) => break answer,
        }
    };
    assert!(matches!(busy, Err(Error::Busy)), "{busy:?}");
    assert!(waiting.len() > 50, "there is room for some");
    stage.changes.ping().await.unwrap();
    drop(waiting);
    for reader in readers {
        reader.abort();
    }
    // Answered after whatever was asked before it.
    stage.pages.ping().await.unwrap();
    assert_eq!(stage.begun.load(Ordering::SeqCst), PAGE_READERS);
}
