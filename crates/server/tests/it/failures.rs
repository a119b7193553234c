//! The database goes away or fills up: the caller learns what to do, and nothing is half done.

use std::sync::Arc;

use almanack_core::{store::TokenStore, token::Scope};
use almanack_engine::editions::EditionSet;
use almanack_server::{Tick, access::Access};
use almanack_store::sqlite::SqliteStore;
use axum::http::Method;
use rusqlite::Connection;

use crate::{
    access::made,
    harness::{ARTICLE, World, at, with},
};

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

/// The store of lists and pages does not answer at all; changes are not affected.
#[tokio::test]
async fn sf_01_changes_and_tokens_need_nothing_that_lists_are_read_with() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("pages.db");
    let pages = Connection::open(&file).unwrap();
    pages.busy_timeout(std::time::Duration::ZERO).unwrap();
    let pages = Arc::new(SqliteStore::inline(pages).unwrap());
    let other = Connection::open(&file).unwrap();
    other.execute_batch("begin exclusive").unwrap();
    let store = SqliteStore::in_memory().unwrap();
    let (token, shown) = made("editor", Scope::Operate);
    store.save_token(&token).await.unwrap();
    let nothing = |_: &_, _: &_| (Tick::default(), EditionSet::default());
    let reading =
        |store, access| World::reading(store, pages.clone(), access, true, Vec::new(), nothing);
    let open = reading(SqliteStore::in_memory().unwrap(), Access::Open);
    assert_eq!(open.put(ARTICLE, &at(30)).await.status, 201);
    let world = reading(store, Access::Tokens);
    let ask = async |method, path: &str, body: &str| {
        let bearer = format!("Bearer {shown}");
        let headers = [
            ("content-type", "application/json"),
            ("authorization", &bearer),
        ];
        world.send(with(method, path, body, &headers)).await
    };
    let retry = format!("{ARTICLE}/retry");
    let nightly = r#"{"expression":"@daily","target":{"type":"task","kind":"ARTICLE_PUBLISH","subject":"paper:{date}"}}"#;
    let source = r#"{"address":"https://example.com/feed.xml"}"#;
    for (method, path, body, status) in [
        (Method::PUT, ARTICLE, at(30).as_str(), 201),
        (Method::PUT, ARTICLE, &at(31), 200),
        (Method::POST, &retry, "", 200),
        (Method::DELETE, ARTICLE, "", 200),
        (Method::PUT, "/api/v1/schedules/nightly", nightly, 201),
        (Method::POST, "/api/v1/schedules/nightly/pause", "{}", 200),
        (Method::DELETE, "/api/v1/schedules/nightly", "", 200),
        (Method::POST, "/api/v1/sources", source, 201),
        (Method::GET, "/readyz", "", 200),
        (Method::GET, "/api/v1/tasks", "", 503),
    ] {
        let answer = ask(method.clone(), path, body).await;
        assert_eq!(answer.status, status, "{method} {path}: {}", answer.body);
    }
}

#[tokio::test]
async fn a_full_database_refuses_changes_and_still_shows_what_it_has() {
    let ours = Connection::open_in_memory().unwrap();
    ours.pragma_update(None, "max_page_count", 140).unwrap();
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
