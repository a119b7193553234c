//! What keeps a node from starting, and who may ask it things.

use std::net::TcpListener;

use almanack_testkit::postgres::Schema;
use reqwest::Method;
use serde_json::json;

use crate::{
    api::{NOW, task},
    harness::Home,
    process::{Process, free_address},
};

const NAMED: [&str; 2] = ["--node-name", "news-1"];

#[tokio::test]
async fn two_nodes_on_one_sqlite_file() {
    // One file has one node, whatever it is called.
    let home = Home::new();
    let mut first = Process::node(&home, free_address(), &NAMED).ready().await;
    let mut second = Process::node(&home, free_address(), &["--node-name", "news-2"]);
    assert_eq!(second.exit_code().await, Some(1));
    let reported = second.notes();
    let process = format!("start node: process {} already runs a node on", first.id());
    assert!(reported.contains(&process), "{reported}");
    assert!(
        reported.contains("hint: a SQLite file is for one node"),
        "{reported}"
    );
    let listed = home.run(&["task", "list"]);
    assert_eq!(listed.code, 0, "commands work beside it: {listed}");

    first.kill().await;
    let third = Process::node(&home, free_address(), &NAMED).ready().await;
    let reported = third.notes();
    assert!(
        reported.contains("a node of this name was seen a moment ago"),
        "{reported}"
    );
}

#[tokio::test]
async fn two_nodes_of_one_name_on_postgres() {
    let schema = Schema::create().await;
    two_of_one_name(schema.url()).await;
}

/// While the first lives the second is refused; once it was killed, the name is free after at most
/// one heartbeat.
async fn two_of_one_name(database: &str) {
    let home = Home::new();
    let further = [&NAMED[..], &["--database", database]].concat();
    let mut first = Process::node(&home, free_address(), &further).ready().await;

    let mut second = Process::node(&home, free_address(), &further);
    assert_eq!(second.exit_code().await, Some(1));
    let reported = second.notes();
    assert!(
        reported.contains("start node: another node named `news-1` is alive"),
        "{reported}"
    );
    assert!(
        reported.contains("hint: set node.name to another name, or leave it out"),
        "{reported}"
    );

    first.kill().await;
    let third = Process::node(&home, free_address(), &further).ready().await;
    let reported = third.notes();
    assert!(
        reported.contains("a node of this name was seen a moment ago"),
        "{reported}"
    );
}

#[tokio::test]
async fn a_node_that_stopped_in_order_leaves_its_name_at_once() {
    let home = Home::new();
    let mut first = Process::node(&home, free_address(), &NAMED).ready().await;
    first.terminate();
    assert_eq!(first.exit_code().await, Some(0));
    let second = Process::node(&home, free_address(), &NAMED).ready().await;
    let reported = second.notes();
    assert!(!reported.contains("seen a moment ago"), "{reported}");
}

#[tokio::test]
async fn a_port_that_is_taken() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap();
    let home = Home::new();
    let mut node = Process::node(&home, address, &[]);
    assert_eq!(node.exit_code().await, Some(1));
    let reported = node.notes();
    assert!(
        reported.contains(&format!(
            "error: listen on {address}: Address already in use"
        )),
        "{reported}"
    );
    assert!(
        reported.contains("hint: another process may use it"),
        "{reported}"
    );
}

#[tokio::test]
async fn a_public_address_needs_a_token_and_then_requires_it() {
    let home = Home::new();
    let address = free_address();
    let everywhere = format!("0.0.0.0:{}", address.port());
    let further = ["--listen", everywhere.as_str()];
    let arguments = [&["serve"][..], &further].concat();
    let mut refused = Process::start(&home, address, home.command(&arguments));
    assert_eq!(refused.exit_code().await, Some(2));
    let reported = refused.notes();
    assert!(
        reported.contains("is reachable from other machines, and no token or user protects it"),
        "{reported}"
    );
    assert!(
        reported.contains("hint: run `almanack token create"),
        "{reported}"
    );

    let make = |scope| {
        home.run(&["token", "create", scope, "--scope", scope])
            .expect_data()
    };
    let (read, operate) = (make("read"), make("operate"));
    let node = Process::start(&home, address, home.command(&arguments))
        .ready()
        .await;
    let path = task("K", "s");
    let body = json!({ "execute_at": NOW, "callback": { "url": "https://articles.example/" } });
    for (token, method, problem) in [
        (None, Method::GET, (401, "unauthenticated")),
        (Some("alm_wrong"), Method::GET, (401, "unauthenticated")),
        (Some(read.trim()), Method::PUT, (403, "scope_too_small")),
    ] {
        let api = token.map_or(node.api(), |token| node.api().with_token(token));
        let answer = api.ask(method, &path, Some(&body)).await.unwrap();
        assert_eq!(answer.problem(), problem, "{token:?} {answer:?}");
    }
    let api = node.api().with_token(operate.trim());
    assert_eq!(api.put(&path, &body).await.status, 201);
    let api = node.api().with_token(read.trim());
    assert_eq!(api.get(&path).await.status, 200);
}

#[tokio::test]
async fn a_user_with_a_password_protects_a_node_like_a_token() {
    let home = Home::new();
    let create = ["user", "create", "ada", "--password-stdin"];
    home.run_with_input(&create, "correct horse battery\n")
        .expect_data();
    let address = free_address();
    let everywhere = format!("0.0.0.0:{}", address.port());
    let arguments = ["serve", "--listen", everywhere.as_str()];
    let node = Process::start(&home, address, home.command(&arguments))
        .ready()
        .await;
    let path = task("K", "s");
    let answer = node.api().ask(Method::GET, &path, None).await.unwrap();
    assert_eq!(answer.problem(), (401, "unauthenticated"));
}

/// The last token is revoked, the last user removed: a node that starts then still asks who it is
/// talking to.
#[tokio::test]
async fn sf_03_a_node_that_was_guarded_starts_guarded() {
    let by_token: &[&[&str]] = &[
        &["token", "create", "ci", "--scope", "operate"],
        &["token", "revoke", "ci"],
    ];
    let by_user: &[&[&str]] = &[
        &["user", "create", "ada", "--password-stdin"],
        &["user", "remove", "ada"],
    ];
    for commands in [by_token, by_user] {
        let home = Home::new();
        for command in commands {
            home.run_with_input(command, "correct horse battery\n")
                .expect_data();
        }
        let node = Process::node(&home, free_address(), &[]).ready().await;
        let reported = node.notes();
        assert!(
            reported.contains("so every request is refused"),
            "{reported}"
        );
        let body = json!({ "execute_at": NOW, "callback": { "url": "http://127.0.0.1:1025/" } });
        let (api, path) = (node.api(), task("K", "s"));
        let answer = api.ask(Method::PUT, &path, Some(&body)).await.unwrap();
        assert_eq!(answer.problem(), (401, "unauthenticated"));
    }
}
