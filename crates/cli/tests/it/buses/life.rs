//! RS-10 in a real node: events come in over a bus, the node is killed while one of them has not
//! taken effect yet, and another takes over.
//!
//! Whatever comes twice has its effect once, nothing is forgotten before it has taken effect, what
//! makes no sense is set aside and stops nothing, and subscribers receive every end.

use std::collections::BTreeSet;

use rusqlite::Connection;
use serde_json::{Value, json};

use crate::{
    api::NOW,
    business::Business,
    harness::Home,
    process::{DEADLINE, Process, eventually, free_address},
};

pub(super) const KIND: &str = "ARTICLE_PUBLISH";
/// The topic that events are delivered to.
pub(super) const REPORTED: &str = "delivered";
const POISON: &str = "{\"no\": \"event\"";

/// A bus, seen from outside.
pub(super) trait Bus {
    /// Its part of the configuration, with a subscription.
    fn configuration(&self) -> String;

    /// The node is there, and nothing was read yet.
    async fn begin(&self, _: &Process) {}

    /// Writes a message for the node to read.
    async fn write(&self, body: &str);

    /// How many messages the node will not be given again.
    async fn forgotten(&self) -> u64;

    /// The node is dead; what the bus would do about that much later is done now.
    async fn pass_on(&self) {}

    /// The first dead letter: its reason and its body.
    async fn dead_letter(&self) -> (String, String);

    /// The events delivered so far.
    async fn reported(&self) -> Vec<Value>;
}

/// A node from its first event to its last, killed in between.
pub(super) async fn live_by(bus: &impl Bus, home: Home) {
    let business = Business::start().await;
    let mut node = Process::node(&home, free_address(), &[]).ready().await;
    bus.begin(&node).await;
    publish(bus, &business, "article:1").await;
    node.api().until_status(KIND, "article:1", "SUCCESS").await;
    until_forgotten(bus, 1).await;

    let held = hold(&home);
    publish(bus, &business, "article:2").await;
    eventually("the node has the event and cannot keep it", async || {
        let waits = node.notes().contains("the store does not take events");
        waits.then_some(())
    })
    .await;
    node.kill().await;
    assert_eq!(bus.forgotten().await, 1, "not before it has taken effect");
    drop(held);
    assert_eq!(tasks_of(&home, "article:2"), 0);

    bus.pass_on().await;
    let node = Process::node(&home, free_address(), &[]).ready().await;
    node.api().until_status(KIND, "article:2", "SUCCESS").await;
    bus.write(POISON).await;
    publish(bus, &business, "article:3").await;
    node.api().until_status(KIND, "article:3", "SUCCESS").await;
    until_forgotten(bus, 4).await;

    let (reason, body) = bus.dead_letter().await;
    assert_eq!(body, POISON);
    assert!(reason.contains("early"), "{reason}");
    check_reported(bus).await;
    for subject in ["article:1", "article:2", "article:3"] {
        assert_eq!(business.calls(subject), 1, "{subject}");
        assert_eq!(tasks_of(&home, subject), 1, "{subject}");
    }
    // The last event reaches its subscriber before its task is over.
    eventually("nothing is left to do", async || {
        let left = node.api().live_tasks().await;
        left.is_empty().then_some(())
    })
    .await;
}

/// An event about an article that is to be published at once.
async fn publish(bus: &impl Bus, business: &Business, subject: &str) {
    let event = json!({
        "specversion": "1.0", "id": subject, "source": "/articles", "type": "almanack.task.put.v1", "subject": subject,
        "data": { "kind": KIND, "execute_at": NOW, "revision": 1, "callback_url": business.done_url() },
    });
    bus.write(&event.to_string()).await;
}

async fn until_forgotten(bus: &impl Bus, many: u64) {
    eventually("what took effect is behind the node", async || {
        (bus.forgotten().await == many).then_some(())
    })
    .await;
}

/// Keeps all others from writing until it is dropped. Waits for a moment between the node's writes.
fn hold(home: &Home) -> Connection {
    let database = Connection::open(home.path().join("almanack.db")).unwrap();
    database.busy_timeout(DEADLINE).unwrap();
    database.execute_batch("begin immediate").unwrap();
    database
}

fn tasks_of(home: &Home, subject: &str) -> i64 {
    let database = Connection::open(home.path().join("almanack.db")).unwrap();
    let count = "select count(*) from task where subject = ?1 and kind = ?2";
    let counted = database.query_row(count, [subject, KIND], |row| row.get(0));
    counted.unwrap()
}

/// All three ends, each with its own id, however often it was delivered.
async fn check_reported(bus: &impl Bus) {
    let expected = ["article:1", "article:2", "article:3"].map(str::to_owned);
    let expected = BTreeSet::from(expected);
    let reported = eventually("every end is delivered", async || {
        let reported = bus.reported().await;
        let subjects = reported
            .iter()
            .map(|event| event["subject"].as_str().unwrap());
        let subjects: BTreeSet<String> = subjects.map(str::to_owned).collect();
        (subjects == expected).then_some(reported)
    })
    .await;
    let ids: BTreeSet<&str> = reported
        .iter()
        .map(|it| it["id"].as_str().unwrap())
        .collect();
    assert_eq!(ids.len(), expected.len(), "{reported:?}");
    for event in &reported {
        assert_eq!(event["type"], "almanack.task.finished.v1");
        assert_eq!(event["data"]["status"], "SUCCESS");
    }
}
