//! Credentials of a source and the courtesy report, from end to end with a real node.

use std::{
    net::SocketAddr,
    path::Path,
    sync::{Arc, Mutex},
};

use almanack_testkit::postgres::{self, Schema};
use axum::{Router, extract::Request, http::StatusCode, response::IntoResponse};

use super::live::{ask, json_of};
use crate::{
    harness::Home,
    process::{Process, eventually, free_address},
};

const SECRET: &str = "hunter2-is-nowhere-to-be-seen";
const FEED: &str = "<rss version='2.0'><channel><title>News</title><item><guid>1</guid>\
                    <title>One</title></item></channel></rss>";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ss_26_a_secret_is_sent_and_found_nowhere_and_counts_survive_on_sqlite() {
    run("sqlite:almanack.db").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ss_26_a_secret_is_sent_and_found_nowhere_and_counts_survive_on_postgres() {
    let schema = Schema::create().await;
    run(schema.url()).await;
}

/// Every `Authorization` that a feed's server has seen.
type Seen = Arc<Mutex<Vec<String>>>;

/// A feed that wants the secret, and then is unchanged.
async fn feed() -> (SocketAddr, Seen) {
    let seen = Seen::default();
    let ear = Arc::clone(&seen);
    let app = Router::new().fallback(move |request: Request| {
        let headers = request.headers();
        let shown = headers.get("authorization").and_then(|it| it.to_str().ok());
        let shown = shown.unwrap_or_default().to_owned();
        let is_allowed = shown == format!("Bearer {SECRET}");
        let is_known = headers.contains_key("if-none-match");
        ear.lock().unwrap().push(shown);
        async move {
            match (is_allowed, is_known) {
                (false, _) => StatusCode::UNAUTHORIZED.into_response(),
                (true, true) => StatusCode::NOT_MODIFIED.into_response(),
                (true, false) => ([("etag", "\"1\"")], FEED).into_response(),
            }
        }
    });
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, app).await });
    (address, seen)
}

async fn run(database: &str) {
    let (address, seen) = feed().await;
    let home = Home::with(&format!(
        "[database]\nurl = \"{database}\"\n[log]\nlevel = \"trace\"\n[sources]\n\
         allow = [\"127.0.0.0/8\"]\nhost_pace = \"1000/1s\"\n\
         secrets = [\"env:SOURCE_TOKEN@127.0.0.1\"]\n"
    ))
    .set("SOURCE_TOKEN", SECRET)
    .set("OTHER_TOKEN", SECRET);
    let feed = format!("http://{address}/feed");
    ask(&home, &["source", "add", &feed, "--no-discover"]).expect_data();
    ask(
        &home,
        &["source", "add", &format!("{feed}2"), "--no-discover"],
    )
    .expect_data();
    for (source, reference) in [(1, "env:SOURCE_TOKEN"), (2, "env:OTHER_TOKEN")] {
        let options = format!(r#"{{"fetch":{{"bearer":"{reference}"}}}}"#);
        set_options(&home, database, source, &options).await;
    }
    let mut node = Process::node(&home, free_address(), &[]).ready().await;
    let checked = ask(&home, &["source", "check", "1", "--wait"]).expect_data();
    assert!(!checked.contains(SECRET), "{checked}");
    ask(&home, &["source", "check", "1", "--wait"]).expect_data();
    let refused = eventually("the other source fails", async || {
        let source = json_of(&home, &["source", "show", "2"]);
        source["last_error"].as_str().map(str::to_owned)
    })
    .await;
    assert!(refused.contains("`env:OTHER_TOKEN`") && refused.contains("sources.secrets"));
    let heard = seen.lock().unwrap().clone();
    assert!(
        heard.len() >= 2 && heard.iter().all(|it| it.contains(SECRET)),
        "{heard:?}"
    );
    no_page_shows_it(&node).await;
    node.terminate();
    assert_eq!(node.exit_code().await, Some(0));
    assert!(!node.notes().contains(SECRET), "the log");
    nothing_holds_it(home.path());
    no_table_holds_it(database).await;
    the_counts_are_there(&home);
}

async fn no_page_shows_it(node: &Process) {
    let pages = [
        "/api/v1/sources",
        "/api/v1/sources/1",
        "/api/v1/sources/2",
        "/api/v1/sources/1/why",
        "/api/v1/tasks/SOURCE_CHECK/source:1/history",
        "/metrics",
        "/ui/sources",
        "/ui/sources/1",
        "/ui/sources/2",
        "/ui/sources/courtesy",
        "/ui/settings",
        "/about-requests",
    ];
    for path in pages {
        let answer = node.api().get(path).await;
        assert_eq!(answer.status, 200, "{path}");
        assert!(!answer.json.to_string().contains(SECRET), "{path}");
    }
}

async fn no_table_holds_it(database: &str) {
    if database.starts_with("postgres") {
        for table in ["source", "entry", "task", "attempt", "source_host"] {
            let found = format!("select count(*) from {table} it where it::text like '%{SECRET}%'");
            assert_eq!(postgres::number(database, &found).await, 0, "{table}");
        }
    }
}

/// After the node has stopped.
fn the_counts_are_there(home: &Home) {
    let report = json_of(home, &["source", "courtesy", "--host", "127.0.0.1"]);
    let total = &report["total"];
    assert!(total["requests"].as_u64() >= Some(2), "{report}");
    assert!(total["unchanged"].as_u64() >= Some(1), "{report}");
    assert!(
        total["bytes"].as_u64() >= Some(FEED.len() as u64),
        "{report}"
    );
    let shown = ask(home, &["source", "courtesy", "--days", "1"]).expect_data();
    assert!(shown.contains("127.0.0.1"), "{shown}");
}

/// As another part of the product lets people set them.
async fn set_options(home: &Home, database: &str, source: i64, options: &str) {
    if let Some(file) = database.strip_prefix("sqlite:") {
        let connection = rusqlite::Connection::open(home.path().join(file)).unwrap();
        let set = "update source set options = ?1 where source_id = ?2";
        assert_eq!(connection.execute(set, (options, source)).unwrap(), 1);
        return;
    }
    let set = format!("update source set options = '{options}' where source_id = {source}");
    postgres::run(database, &set).await;
}

/// Searches every file of the node's folder, its database and its log among them.
fn nothing_holds_it(folder: &Path) {
    for file in std::fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        if path.is_dir() {
            nothing_holds_it(&path);
            continue;
        }
        let bytes = std::fs::read(&path).unwrap();
        let found = bytes
            .windows(SECRET.len())
            .any(|it| it == SECRET.as_bytes());
        assert!(!found, "{}", path.display());
    }
}
