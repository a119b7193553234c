//! The database goes away or fills up: the caller learns what to do, and nothing is half done.

use almanack_server::access::Access;
use almanack_store::sqlite::SqliteStore;
use rusqlite::Connection;

use crate::harness::{ARTICLE, World, at};

const OPEN: Access = Access::Open;

#[tokio::test]
async fn a_database_that_does_not_answer_is_503_and_work_goes_on_afterwards() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("almanack.db");
    let ours = Connection::open(&file).unwrap();
    ours.busy_timeout(std::time::Duration::ZERO).unwrap();
    let world = World::with(SqliteStore::inline(ours).unwrap(), OPEN);
    world.put(ARTICLE, &at(0)).await;

    let other = Connection::open(&file).unwrap();
    other.execute_batch("begin exclusive").unwrap();
    let answer = world.put(ARTICLE, &at(30)).await;
    assert_eq!(
        (answer.status, answer.code().as_str()),
        (503, "database_unavailable")
    );
    assert_eq!(answer.header("retry-after"), Some("1"));
    assert!(
        !answer.body.contains("locked"),
        "the cause belongs in the log: {}",
        answer.body
    );
    assert_eq!(
        world.get("/healthz").await.status,
        200,
        "the process itself is fine"
    );
    assert_eq!(
        world.get("/metrics").await.status,
        200,
        "what was counted is shown all the same"
    );

    other.execute_batch("rollback").unwrap();
    assert_eq!(
        world.get(ARTICLE).await.json()["execute_at"],
        "2026-01-05T09:00:00Z"
    );
    assert_eq!(world.put(ARTICLE, &at(30)).await.status, 200);
}

#[tokio::test]
async fn a_full_database_refuses_changes_and_still_shows_what_it_has() {
    let ours = Connection::open_in_memory().unwrap();
    ours.pragma_update(None, "max_page_count", 100).unwrap();
    let world = World::with(SqliteStore::inline(ours).unwrap(), OPEN);
    let payload = "x".repeat(1000);
    let body = format!(r#"{{"execute_at":"2026-01-05T09:00:00Z","payload":"{payload}"}}"#);
    let mut taken = 0;
    let refused = loop {
        let path = format!("/api/v1/tasks/ARTICLE_PUBLISH/article:{taken}");
        let answer = world.put(&path, &body).await;
        if answer.status != 201 {
            break answer;
        }
        taken += 1;
        assert!(taken < 1000, "it fills up at some point");
    };
    assert_eq!(
        (refused.status, refused.code().as_str()),
        (503, "database_unwritable")
    );
    assert_eq!(
        world.rows().await.len(),
        taken,
        "nothing of the refused change was stored"
    );
}
