//! A stopping node: no new claims, running attempts end or are handed back, exit 0.

use std::{io::Write as _, net::TcpStream};

use almanack_testkit::postgres::Schema;

use crate::{
    business::Business,
    harness::Home,
    process::{Process, eventually, free_address},
};

const KIND: &str = "ARTICLE_PUBLISH";

#[tokio::test]
async fn an_attempt_under_way_ends_before_the_node_does_and_nothing_new_begins() {
    let (home, business) = (Home::new(), Business::start().await);
    let mut node = Process::node(&home, free_address(), &["--set", "node.slots=1"])
        .ready()
        .await;
    let api = node.api();
    api.put_due(KIND, "running", &business.held_url()).await;
    business.until_called("running", 1).await;
    api.put_due(KIND, "waiting", &business.done_url()).await;

    node.terminate();
    node.until_refused().await;
    business.release();
    assert_eq!(node.exit_code().await, Some(0), "{}", node.notes());
    assert_eq!(business.calls("waiting"), 0, "no new claims");

    let node = Process::node(&home, free_address(), &[]).ready().await;
    let api = node.api();
    assert_eq!(api.outcomes(KIND, "running").await, ["done"]);
    api.until_status(KIND, "waiting", "SUCCESS").await;
    assert_eq!(business.calls("running"), 1, "it ended where it began");
}

/// Who balances load hears that the node leaves while it still answers.
#[tokio::test]
async fn readiness_fails_before_the_address_is_given_up() {
    let home = Home::new();
    let delay = ["--set", "server.shutdown_delay=2s"];
    let mut node = Process::node(&home, free_address(), &delay).ready().await;
    let api = node.api();
    node.terminate();
    eventually("it says that it leaves", async || {
        let ready = api.get("/readyz").await;
        (ready.status == 503).then(|| assert_eq!(ready.problem(), (503, "shutting_down")))
    })
    .await;
    assert_eq!(api.get("/healthz").await.status, 200, "it still answers");
    let listen = format!("server.listen={}", node.address);
    let asked = home.run(&["health", "--ready", "--set", &listen]);
    assert_eq!(asked.code, 4, "{asked}");
    assert!(asked.notes.contains("it is stopping"), "{asked}");
    node.until_refused().await;
    assert_eq!(node.exit_code().await, Some(0), "{}", node.notes());
}

#[tokio::test]
async fn what_outlives_the_drain_is_handed_back_on_sqlite() {
    handed_back("sqlite:almanack.db").await;
}

#[tokio::test]
async fn what_outlives_the_drain_is_handed_back_on_postgres() {
    let schema = Schema::create().await;
    handed_back(schema.url()).await;
}

/// The second node takes it, and the task has lost no attempt by it. A SQLite file is for one node,
/// so there the second comes when the first has left.
async fn handed_back(database: &str) {
    let (home, business) = (Home::new(), Business::start().await);
    let further = ["--database", database, "--set", "node.drain=1s"];
    let mut first = Process::node(&home, free_address(), &further).ready().await;
    first
        .api()
        .put_due(KIND, "long", &business.held_url())
        .await;
    business.until_called("long", 1).await;
    let start = || Process::node(&home, free_address(), &further).ready();
    let beside = if database.starts_with("sqlite:") {
        None
    } else {
        Some(start().await)
    };

    first.terminate();
    assert_eq!(first.exit_code().await, Some(0), "{}", first.notes());
    let second = match beside {
        Some(second) => second,
        None => start().await,
    };
    business.until_called("long", 2).await;
    business.release();
    let task = second.api().until_status(KIND, "long", "SUCCESS").await;
    assert_eq!(task["attempt"], 1, "handing back cost an attempt: {task}");
    let attempts = second.api().attempts(KIND, "long").await;
    let reported: Vec<_> = attempts
        .iter()
        .map(|it| (&it["outcome"], &it["attempt"]))
        .collect();
    assert_eq!(
        format!("{reported:?}"),
        r#"[(String("handed_back"), Number(1)), (String("done"), Number(1))]"#
    );
    assert!(
        !second.notes().contains("already exists, skipping"),
        "what every start but the first would say is not worth a line"
    );
}

#[tokio::test]
async fn a_client_that_never_finishes_its_request_does_not_keep_the_node_alive() {
    let home = Home::new();
    let mut node = Process::node(&home, free_address(), &["--set", "node.drain=1s"])
        .ready()
        .await;
    let _silent = TcpStream::connect(node.address).unwrap();
    let mut halfway = TcpStream::connect(node.address).unwrap();
    halfway
        .write_all(b"PUT /api/v1/tasks/K/s HTTP/1.1\r\nHost: 127.0.0.1\r\n")
        .unwrap();
    let mut without_body = TcpStream::connect(node.address).unwrap();
    without_body
        .write_all(
            b"PUT /api/v1/tasks/K/s HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 9\r\n\r\n{",
        )
        .unwrap();
    // They are in by the time a later request has been answered.
    node.api().get("/readyz").await;
    node.terminate();
    assert_eq!(node.exit_code().await, Some(0), "{}", node.notes());
}
