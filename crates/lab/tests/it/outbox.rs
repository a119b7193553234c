//! No change of time is lost between the service's database and Almanack.

use std::collections::BTreeMap;

use almanack_core::{event, reschedule::Request};
use almanack_lab::article::activity::Activity;
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::support::{Almanack, Reply, World};

const NOWHERE: &str = "http://127.0.0.1:9";

fn ids(events: &[Value]) -> Vec<&str> {
    events
        .iter()
        .map(|event| event["id"].as_str().unwrap())
        .collect()
}

#[tokio::test]
async fn rs_12_a_change_and_its_events_are_stored_together_or_not_at_all() {
    let world = World::start(NOWHERE).await;
    let id = world.write().await;
    let before = world.article(id).await;
    let database = rusqlite::Connection::open(&world.database).unwrap();
    let full = "create trigger full before insert on outbox begin select raise(abort, 'full'); end";
    database.execute_batch(full).unwrap();

    let new = json!({ "title": "Lost?", "publish_at": world.clock.after(60) });
    let (status, refused) = world.post("/articles", &new).await;
    assert_eq!(
        (status, refused["code"].as_str()),
        (503, Some("unavailable"))
    );
    let (status, _) = world.move_to(id, world.clock.after(60)).await;
    assert_eq!(status, 503);
    let (status, _) = world
        .post(&format!("/articles/{id}/withdraw"), &json!(null))
        .await;
    assert_eq!(status, 503);
    let (status, _) = world.call("audit", id, 1).await;
    assert_eq!(status, 503);
    assert_eq!(
        world.get("/articles").await,
        json!({ "articles": [before] })
    );

    database.execute_batch("drop trigger full").unwrap();
    let (status, moved) = world.move_to(id, world.clock.after(60)).await;
    assert_eq!((status, moved["revision"].as_i64()), (200, Some(2)));
    assert_eq!(world.get("/outbox").await["waiting"], 3);
}

#[tokio::test]
async fn rs_12_events_wait_for_an_almanack_that_is_down_and_arrive_in_order() {
    let mut world = World::start(NOWHERE).await;
    let id = world.write().await;
    world
        .until(|activity| matches!(activity, Activity::AlmanackAway { .. }))
        .await;
    world.move_to(id, world.clock.after(60)).await;

    let almanack =
        Almanack::start([Reply::Status(503), Reply::Status(429), Reply::Status(401)]).await;
    let mut world = world.restart(&almanack.url).await;
    let settled = world
        .until(|it| matches!(it, Activity::EventsSettled { .. }))
        .await;
    assert_eq!(
        settled,
        Activity::EventsSettled {
            sent: 3,
            rejected: 0
        }
    );
    let events = almanack.events(12).await;
    let written = [
        "article:1/ARTICLE_AUDIT/1",
        "article:1/ARTICLE_PUBLISH/1",
        "article:1/ARTICLE_PUBLISH/2",
    ];
    assert_eq!(ids(&events), written.repeat(4));
    assert_eq!(
        world.get("/outbox").await,
        json!({ "waiting": 0, "sent": 3, "rejected": [] })
    );
}

#[tokio::test]
async fn rs_12_an_event_whose_answer_got_lost_is_sent_again_unchanged() {
    let almanack = Almanack::start([Reply::Status(504)]).await;
    let mut world = World::start(&almanack.url).await;
    world.write().await;
    world
        .until(|it| matches!(it, Activity::EventsSettled { .. }))
        .await;
    let events = almanack.events(4).await;
    assert_eq!(events[..2], events[2..]);
}

#[tokio::test]
async fn rs_12_repeated_and_reordered_events_leave_the_newest_request() {
    let almanack = Almanack::start([]).await;
    let world = World::start(&almanack.url).await;
    let id = world.write_audited().await;
    for seconds in [60, 7200, 30, 900] {
        world.move_to(id, world.clock.after(seconds)).await;
    }
    let mut events = almanack.events(7).await;
    let revisions: Vec<i64> = events
        .iter()
        .filter(|event| event["data"]["kind"] == "ARTICLE_PUBLISH")
        .map(|event| event["data"]["revision"].as_i64().unwrap())
        .collect();
    assert_eq!(
        revisions,
        [1, 2, 3, 4, 5, 6],
        "every change has a distinct number"
    );

    let wanted = Some(world.clock.after(900));
    events.extend(events.clone());
    assert_eq!(newest_request(&events), wanted);
    events.reverse();
    assert_eq!(newest_request(&events), wanted);
    events.rotate_left(3);
    assert_eq!(newest_request(&events), wanted);
}

/// Almanack's state of the publication after these events, by its rule that an older revision never
/// overrides a newer one.
fn newest_request(events: &[Value]) -> Option<Timestamp> {
    let mut known: BTreeMap<String, (i64, Option<Timestamp>)> = BTreeMap::new();
    for sent in events {
        let read = event::incoming::parse(&sent.to_string(), 1024).unwrap();
        let (revision, at) = match &read.request {
            Request::Put(put) => (put.revision, Some(put.execute_at)),
            Request::Cancel(cancel) => (cancel.revision, None),
        };
        let revision = revision.unwrap().0;
        let entry = known
            .entry(read.request.identity().to_string())
            .or_insert((0, None));
        if revision > entry.0 {
            *entry = (revision, at);
        }
    }
    known["(article:1, ARTICLE_PUBLISH)"].1
}

#[tokio::test]
async fn rs_12_a_poisonous_event_is_set_aside_and_blocks_no_other() {
    let almanack = Almanack::start([]).await;
    almanack.refuse("article:1/ARTICLE_PUBLISH");
    let world = World::start(NOWHERE).await;
    for _ in 0..3 {
        world.write().await;
    }
    let mut world = world.restart(&almanack.url).await;
    let settled = world
        .until(|it| matches!(it, Activity::EventsSettled { .. }))
        .await;
    assert_eq!(
        settled,
        Activity::EventsSettled {
            sent: 5,
            rejected: 1
        }
    );
    let outbox = world.get("/outbox").await;
    assert_eq!(
        (outbox["waiting"].as_i64(), outbox["sent"].as_i64()),
        (Some(0), Some(5))
    );
    assert_eq!(
        outbox["rejected"][0]["event_id"],
        "article:1/ARTICLE_PUBLISH/1"
    );
    let reason = outbox["rejected"][0]["reason"].as_str().unwrap();
    assert!(reason.contains("this event is poison"), "{reason}");

    // Once the reason is fixed, the event is retried.
    almanack.accept_everything();
    let (_, answer) = world.post("/outbox/retry", &json!(null)).await;
    assert_eq!(answer, json!({ "retried": 1 }));
    let settled = world
        .until(|it| matches!(it, Activity::EventsSettled { .. }))
        .await;
    assert_eq!(
        settled,
        Activity::EventsSettled {
            sent: 1,
            rejected: 0
        }
    );
}

#[tokio::test]
async fn rs_12_one_event_refused_inside_a_batch_is_set_aside_alone() {
    let mixed = json!({ "receipts": [{ "error": "unknown kind" }, { "rule": "created" }] });
    let almanack = Almanack::start([Reply::Body(mixed)]).await;
    let mut world = World::start(&almanack.url).await;
    world.write().await;
    let settled = world
        .until(|it| matches!(it, Activity::EventsSettled { .. }))
        .await;
    assert_eq!(
        settled,
        Activity::EventsSettled {
            sent: 1,
            rejected: 1
        }
    );
}

#[tokio::test]
async fn rs_12_the_relay_is_woken_by_each_change_and_survives_a_restart() {
    let almanack = Almanack::start([]).await;
    let world = World::start(&almanack.url).await;
    for count in 1..=5 {
        world.write().await;
        assert_eq!(almanack.events(count * 2).await.len(), count * 2);
    }
    let world = world.restart(&almanack.url).await;
    world.write().await;
    let events = almanack.events(12).await;
    assert_eq!(events[11]["subject"], "article:6");
    world.stop().await;
}
