//! A publisher with a hub, a node that is subscribed to it, and a hub that does not always do its
//! work (SS-23).

use almanack_lab::hub::{self, Behaviour, Handle, Parcel};
use almanack_testkit::postgres::Schema;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::live::{ask, json_of, lines_of};
use crate::{
    harness::Home,
    process::{Process, eventually, free_address},
};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ss_23_a_hub_pushes_to_a_node_on_sqlite() {
    run("sqlite:almanack.db").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ss_23_a_hub_pushes_to_a_node_on_postgres() {
    let schema = Schema::create().await;
    run(schema.url()).await;
}

async fn start_hub() -> (Handle, CancellationToken) {
    let stop = CancellationToken::new();
    let config = hub::Config::new(free_address());
    let running = hub::start(config, stop.clone()).await.unwrap();
    (running.handle, stop)
}

/// A home whose node has a public address: its own, on loopback.
fn home(database: &str, address: std::net::SocketAddr) -> Home {
    Home::with(&format!(
        "[database]\nurl = \"{database}\"\n[server]\npublic_url = \"http://{address}/\"\n\
         [sources]\nallow = [\"127.0.0.0/8\"]\nhost_pace = \"1000/1s\"\nping = true\n"
    ))
}

async fn run(database: &str) {
    let (hub, stop) = start_hub().await;
    let address = free_address();
    let home = home(database, address);
    let mut node = Process::node(&home, address, &[]).ready().await;
    let topic = hub.topic_url("blog");
    hub.publish("blog", "first");
    // The first request is lost: the hub never verifies it, and the node dies.
    hub.behave(Behaviour::Mute);
    let added = json_of(&home, &["source", "add", &topic, "--no-discover"]);
    assert_eq!(added["source_id"], 1, "{added}");
    state_is(&home, "requested").await;
    node.kill().await;
    hub.behave(Behaviour::Fair);
    let node = Process::node(&home, address, &[]).ready().await;
    check(&home);
    state_is(&home, "subscribed").await;
    let lease = hub.verified("blog").unwrap();
    assert_eq!(lease.lease_seconds, 864_000);
    a_pushed_entry_is_there_at_once(&home, &hub).await;
    nothing_comes_of_a_forged_push(&home, &hub).await;
    a_denial_is_shown(&home, &hub).await;
    a_ping_has_it_checked(&home, &hub, &node).await;
    let notes = node.notes();
    let token = lease.callback.rsplit('/').next().unwrap();
    assert!(!notes.contains(token), "a callback's address in the log");
    stop.cancel();
}

/// Checks the source, and waits for it.
fn check(home: &Home) -> Value {
    json_of(home, &["source", "check", "1", "--wait"])
}

async fn state_is(home: &Home, expected: &str) {
    eventually(expected, async || {
        let source = json_of(home, &["source", "show", "1"]);
        (source["hub"]["state"] == expected).then_some(())
    })
    .await;
}

fn titles(home: &Home) -> Vec<String> {
    let entries = lines_of(home, &["source", "entries", "1", "--all"]);
    let titles = entries.iter().map(|it| it["title"].as_str().unwrap());
    titles.map(str::to_owned).collect()
}

async fn a_pushed_entry_is_there_at_once(home: &Home, hub: &Handle) {
    let before = json_of(home, &["source", "show", "1"]);
    hub.publish("blog", "second");
    let answers = hub.push("blog", Parcel::Newest).await.unwrap();
    assert_eq!(answers, [202]);
    assert_eq!(titles(home), ["second", "first"], "once it is answered");
    let after = json_of(home, &["source", "show", "1"]);
    assert_eq!(after["check_count"], before["check_count"], "no check");
    assert_eq!(after["hub"]["relied_on"], true, "{after}");
    check(home);
    assert_eq!(titles(home).len(), 2, "and a check finds it known");
    let why = ask(home, &["source", "why", "1"]).expect_data();
    assert!(
        why.contains("pushes new entries; checks are only for safety."),
        "{why}"
    );
    let shown = ask(home, &["source", "show", "1"]).expect_data();
    assert!(shown.contains("subscribed, lease until"), "{shown}");
}

async fn nothing_comes_of_a_forged_push(home: &Home, hub: &Handle) {
    hub.publish("blog", "third");
    for parcel in [Parcel::Forged, Parcel::Unsigned] {
        assert_eq!(hub.push("blog", parcel).await.unwrap(), [202], "as ever");
    }
    assert_eq!(titles(home).len(), 2);
    check(home);
    assert_eq!(titles(home).len(), 3);
}

async fn a_denial_is_shown(home: &Home, hub: &Handle) {
    let callback = hub.verified("blog").unwrap().callback;
    let topic = hub.topic_url("blog");
    let client = crate::api::client();
    let denied = [
        ("hub.mode", "denied"),
        ("hub.topic", topic.as_str()),
        ("hub.reason", "no longer"),
    ];
    let answer = client.get(&callback).query(&denied).send().await.unwrap();
    assert_eq!(answer.status(), 200);
    state_is(home, "refused").await;
    let why = json_of(home, &["source", "why", "1"]);
    let push = why["push"].as_str().unwrap();
    assert!(push.contains("refuses to push: no longer."), "{push}");
}

async fn a_ping_has_it_checked(home: &Home, hub: &Handle, node: &Process) {
    let before = json_of(home, &["source", "show", "1"]);
    let pinged = node
        .api()
        .insist(
            reqwest::Method::POST,
            "/api/v1/sources/1/ping",
            Some(&json!({})),
        )
        .await;
    assert_eq!(pinged.status, 202);
    assert!(pinged.json["next_due_at"].is_string(), "{}", pinged.json);
    let call = |site: &str| {
        format!(
            "<?xml version=\"1.0\"?><methodCall><methodName>weblogUpdates.ping</methodName><params>\
             <param><value>A weblog</value></param><param><value>{site}</value></param></params></methodCall>"
        )
    };
    let url = format!("http://{}/ping", node.address);
    let mut answers = Vec::new();
    for site in [hub.topic_url("blog"), "http://unknown.example/".to_owned()] {
        let request = crate::api::client().post(&url).body(call(&site));
        let answer = request.send().await.unwrap();
        assert_eq!(answer.status(), 200);
        answers.push(answer.text().await.unwrap());
    }
    assert_eq!(
        answers[0], answers[1],
        "nobody learns which sources there are"
    );
    let after = json_of(home, &["source", "show", "1"]);
    assert!(
        after["next_due_at"].as_str() < before["next_due_at"].as_str(),
        "{after}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ss_23_without_a_public_address_why_says_so() {
    let (hub, stop) = start_hub().await;
    let home = super::live::home("sqlite:almanack.db");
    let _node = Process::node(&home, free_address(), &[]).ready().await;
    hub.publish("blog", "first");
    let topic = hub.topic_url("blog");
    json_of(&home, &["source", "add", &topic, "--no-discover"]);
    state_is(&home, "named").await;
    let why = ask(&home, &["source", "why", "1"]).expect_data();
    assert!(why.contains("set `server.public_url`"), "{why}");
    assert_eq!(hub.count_where(|call| *call == hub::Call::Subscribe), 0);
    stop.cancel();
}
