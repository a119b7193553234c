//! Readers of one sort of caller keep no other waiting, and stop when no caller waits for them
//! (SF-01).

use std::sync::Arc;

use almanack_core::store::{
    Error, Kinds, NodeStore, OverviewStore, ScheduleStore, SourceStore, Store, TaskStore,
    TokenStore,
};
use almanack_testkit::{
    fixture::{PUBLISH, START, identity},
    postgres::{Schema, number},
};
use futures_util::{future::BoxFuture, poll};
use tokio::task::JoinHandle;

use crate::postgres::*;

struct Stage {
    work: PostgresStore,
    changes: PostgresStore,
    pages: Arc<PostgresStore>,
    schema: Schema,
}

impl Stage {
    async fn set() -> Self {
        let schema = Schema::create().await;
        let work = PostgresStore::connect(schema.url()).await.unwrap();
        Self {
            changes: work.for_changes(),
            pages: Arc::new(work.for_pages()),
            work,
            schema,
        }
    }

    /// A page that takes for ever, known by the store's channel.
    fn endless(&self) -> BoxFuture<'static, Result<()>> {
        let pages = Arc::clone(&self.pages);
        let text = format!("select pg_sleep(600) /* {} */", self.work.0.channel);
        Box::pin(async move { pages.0.rows("endless", &text, &[]).await.map(|_| ()) })
    }

    /// How many of them the server works on.
    async fn under_way(&self) -> i64 {
        let text = format!(
            "select count(*) from pg_stat_activity where state = 'active' \
             and pid <> pg_backend_pid() and query like '%/* {} */%'",
            self.work.0.channel
        );
        number(self.schema.url(), &text).await
    }

    /// Which processes of the server work on them.
    async fn servers(&self) -> Vec<i32> {
        let text = "select pid from pg_stat_activity where state = 'active' \
             and pid <> pg_backend_pid() and query like '%/* ' || $1 || ' */%'";
        let rows = self
            .work
            .0
            .rows("look", text, &[&self.work.0.channel])
            .await;
        rows.unwrap().iter().map(|row| row.get(0)).collect()
    }

    /// How many of these processes are still there.
    async fn connected(&self, servers: &[i32]) -> i64 {
        let text = "select count(*) from pg_stat_activity where pid = any ($1)";
        let rows = self.work.0.rows("look", text, &[&servers]).await;
        rows.unwrap()[0].get(0)
    }

    /// As many of them as there are connections, all under way.
    async fn occupy(&self) -> Vec<JoinHandle<Result<()>>> {
        let readers = (0..PAGE_CONNECTIONS).map(|_| tokio::spawn(self.endless()));
        let readers = readers.collect();
        while usize::try_from(self.under_way().await).unwrap() < PAGE_CONNECTIONS {}
        readers
    }
}

#[tokio::test]
async fn sf_01_pages_keep_neither_work_nor_changes_waiting() {
    let stage = Stage::set().await;
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

/// Each connection would be lost until the statement's time is up, and a caller that waits for one
/// gives up before that.
#[tokio::test]
async fn sf_01_an_abandoned_page_is_stopped() {
    let stage = Stage::set().await;
    let readers = stage.occupy().await;
    let servers = stage.servers().await;
    assert_eq!(servers.len(), PAGE_CONNECTIONS);
    for reader in readers {
        reader.abort();
    }
    stage.pages.count_statuses(10, Kinds::All).await.unwrap();
    // Only what was cancelled is closed; what ran out of time would still be connected.
    while stage.connected(&servers).await > 0 {}
    // What was cancelled does not stop what comes after it.
    for _ in 0..20 {
        stage.pages.count_statuses(10, Kinds::All).await.unwrap();
    }
}

#[tokio::test]
async fn sf_01_a_full_room_sends_away_and_begins_nothing_that_was_abandoned() {
    let stage = Stage::set().await;
    let readers = stage.occupy().await;
    let servers = stage.servers().await;
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
    stage.pages.count_statuses(10, Kinds::All).await.unwrap();
    // What was under way is cancelled one after the other; only then is anything left that was
    // begun since.
    while stage.connected(&servers).await > 0 {}
    assert_eq!(stage.under_way().await, 0, "nothing was begun");
}

/// Pages have less time than work, and work has what it had.
#[tokio::test]
async fn sf_01_a_statement_for_a_page_has_less_time() {
    let stage = Stage::set().await;
    let text = "select setting from pg_settings where name = 'statement_timeout'";
    let setting = |rows: Vec<tokio_postgres::Row>| rows[0].get::<_, String>(0);
    let pages = stage.pages.0.rows("look", text, &[]).await.unwrap();
    assert_eq!(setting(pages), READ_WITHIN.as_millis().to_string());
    let work = stage.work.0.rows("look", text, &[]).await.unwrap();
    assert_eq!(setting(work), "30000");
}
