//! RS-10 over NATS, on a server of Debian's.

mod secured;
mod stage;

use std::time::Duration;

use almanack_bus::nats::{ACK_WITHIN, Connection, NatsEventPublisher, Settings};
use almanack_core::{
    event::outgoing::{CloudEvent, EventPublisher as _, Mode},
    finish::Outcome,
    percent,
    reschedule::Rule,
};
use almanack_testkit::fixture::{PUBLISH, at};
use async_nats::jetstream::{self, consumer::PullConsumer, stream};
use futures_util::StreamExt as _;
use jiff::SignedDuration;

use self::stage::{DURABLE, Member, Stage, header};
use crate::{
    fixture::{Behaviour, Fixture, data, event, put, reading, refused, until},
    heard::Heard,
};

const WARNED: &str = "cannot read events; retrying";
const READ_AGAIN: &str = "reading events again";

/// As long as the server waits for a sign of life here.
const SOON: Duration = Duration::from_secs(2);
/// The same, where the server sends none.
const AT_ONCE: Duration = Duration::from_millis(600);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rs_10_events_over_nats_take_effect_in_any_order_and_are_acknowledged() {
    let (stage, fixture) = (Stage::new("EFFECT").await, Fixture::new());
    for revision in [2, 5, 3, 5, 1] {
        stage.write(&put("article:1", revision), &[]).await;
    }
    let attributes = [
        ("ce-specversion", "1.0"),
        ("ce-id", "e-2"),
        ("ce-source", "%2Farticles"),
        ("ce-type", "almanack.task.put.v1"),
        ("ce-subject", "article:2"),
        ("content-type", "application/json"),
    ];
    stage.write(&data(4).to_string(), &attributes).await;
    let member = stage.join(fixture.ports());
    fixture.has("article:2", 4).await;
    fixture.has("article:1", 5).await;
    let task = fixture.task("article:2").await.unwrap();
    assert_eq!(
        (task.execute_at, task.origin.as_str()),
        (at(240), "event:/articles")
    );
    stage.all_acknowledged().await;
    member.leave().await;
    let late = fixture
        .connector
        .rules()
        .into_iter()
        .filter(|rule| *rule == Rule::IgnoredStale);
    assert_eq!(late.count(), 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rs_10_a_poison_message_over_nats_becomes_a_dead_letter() {
    let (stage, fixture) = (Stage::new("POISON").await, Fixture::new());
    stage.write("{\"no\": \"event\"", &[("x", "y")]).await;
    let unknown = put("article:1", 9).replace(PUBLISH, "UNKNOWN");
    stage.write(&unknown, &[]).await;
    stage.write(&put("article:1", 1), &[]).await;
    let member = stage.join(fixture.ports());
    fixture.has("article:1", 1).await;
    let letters = stage.read("POISON-dead-letter", 2).await;
    let broken = letters
        .iter()
        .find(|letter| header(letter, "x") == "y")
        .unwrap();
    assert_eq!(&broken.payload[..], b"{\"no\": \"event\"");
    assert!(
        header(broken, "almanack-reason").contains("early"),
        "{}",
        header(broken, "almanack-reason")
    );
    assert_eq!(header(broken, "almanack-place"), "POISON@1");
    stage.all_acknowledged().await;
    member.leave().await;
}

/// What the API refuses is refused here, and lies among the dead letters with its reason.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sf_04_rs_11_what_may_not_be_asked_for_is_a_dead_letter_of_nats_and_changes_nothing() {
    let (stage, fixture) = (Stage::new("REFUSED").await, Fixture::new());
    let refused = refused();
    for message in &refused {
        let headers = message.headers("ce-");
        let headers: Vec<_> = headers.iter().map(|it| (it.0.as_str(), it.1)).collect();
        stage.write(&message.body, &headers).await;
    }
    stage.write(&put("article:good", 1), &[]).await;
    let member = stage.join(fixture.ports());
    fixture.has("article:good", 1).await;
    let letters = stage.read("REFUSED-dead-letter", refused.len()).await;
    for message in &refused {
        let mut letters = letters.iter();
        let letter = letters.find(|letter| letter.payload == message.body);
        let reason = percent::decode(&header(letter.unwrap(), "almanack-reason")).unwrap();
        assert!(
            reason.contains(message.reason),
            "{}: {reason}",
            message.body
        );
    }
    stage.all_acknowledged().await;
    member.leave().await;
    assert_eq!(fixture.subjects().await, ["article:good"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rs_10_a_poison_message_over_nats_that_is_too_large_is_cut() {
    let (stage, fixture) = (Stage::new("LARGE").await, Fixture::new());
    let narrow = stream::Config {
        name: "LARGE-dead-letter".to_owned(),
        subjects: vec!["dead-letter.LARGE".to_owned()],
        max_message_size: 100_000,
        ..stream::Config::default()
    };
    stage.context.create_stream(narrow).await.unwrap();
    stage.write(&"x".repeat(200_000), &[]).await;
    // As large as the server allows: with its reason it is larger.
    let most = stage.context.client().max_payload();
    stage.write(&"y".repeat(most), &[]).await;
    stage.write(&put("article:1", 1), &[]).await;
    let member = stage.join(fixture.ports());
    fixture.has("article:1", 1).await;
    let letters = stage.read("LARGE-dead-letter", 2).await;
    for (first, bytes) in [(b'x', 200_000), (b'y', most)] {
        let letter = letters.iter().find(|letter| letter.payload[0] == first);
        let letter = letter.unwrap();
        assert_eq!(letter.payload.len(), 64 << 10);
        assert_eq!(header(letter, "almanack-cut"), bytes.to_string());
    }
    stage.all_acknowledged().await;
    member.leave().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_consumer_that_is_there_follows_its_configuration() {
    let (stage, fixture) = (Stage::new("FOLLOWS").await, Fixture::new());
    let stream = stage.context.get_stream("FOLLOWS").await.unwrap();
    let earlier = |subject: &str| jetstream::consumer::pull::Config {
        durable_name: Some(DURABLE.to_owned()),
        filter_subject: subject.to_owned(),
        ack_wait: Duration::from_secs(3),
        description: Some("an operator's note".to_owned()),
        ..jetstream::consumer::pull::Config::default()
    };
    let found = async || {
        let consumer: PullConsumer = stream.get_consumer(DURABLE).await.unwrap();
        consumer.cached_info().config.clone()
    };
    stream.create_consumer(earlier("FOLLOWS.>")).await.unwrap();
    stage.write(&put("article:1", 1), &[]).await;
    let member = stage.join(fixture.ports());
    fixture.has("article:1", 1).await;
    member.leave().await;
    let config = found().await;
    assert_eq!(config.ack_wait, ACK_WITHIN);
    assert_eq!(config.description.as_deref(), Some("an operator's note"));
    // Of another subject it has passed over messages that would never come: that is refused, and
    // nothing is changed.
    stream.delete_consumer(DURABLE).await.unwrap();
    stream
        .create_consumer(earlier("FOLLOWS.asia"))
        .await
        .unwrap();
    let waited = fixture.waited();
    let member = stage.join(fixture.ports());
    until("it complains and waits", async || fixture.waited() > waited).await;
    member.leave().await;
    let config = found().await;
    assert_eq!(config.filter_subject, "FOLLOWS.asia");
    assert_eq!(config.ack_wait, Duration::from_secs(3));
}

#[tokio::test]
async fn a_consumer_that_does_not_allow_the_request_is_reported_once() {
    let (stage, fixture) = (Stage::new("NARROW").await, Fixture::new());
    let heard = Heard::listen();
    let stream = stage.context.get_stream("NARROW").await.unwrap();
    let narrow = jetstream::consumer::pull::Config {
        durable_name: Some(DURABLE.to_owned()),
        filter_subject: "NARROW.>".to_owned(),
        max_batch: 10,
        ..jetstream::consumer::pull::Config::default()
    };
    stream.create_consumer(narrow).await.unwrap();
    let member = stage.join(fixture.ports());
    until("it tries on", async || fixture.waited() >= 8).await;
    member.leave().await;
    let lines = heard.all();
    assert_eq!(heard.count(WARNED), 1, "{lines}");
    assert!(lines.contains("Exceeded MaxRequestBatch of 10"), "{lines}");
    assert_eq!(heard.count(READ_AGAIN), 0, "it is not: {lines}");
    let longest = fixture.waits().into_iter().max().unwrap();
    assert!(longest > SignedDuration::from_secs(2), "they grow");
}

#[tokio::test]
async fn a_server_that_has_nothing_to_deliver_serves_us() {
    let (stage, fixture) = (Stage::new("QUIET").await, Fixture::new());
    let heard = Heard::listen();
    stage.context.delete_stream("QUIET").await.unwrap();
    let settings = Settings {
        ack_within: AT_ONCE,
        ..stage.settings()
    };
    let member = Member::of(settings, fixture.ports());
    until("it finds no stream", async || heard.count(WARNED) == 1).await;
    let stage = Stage::new("QUIET").await;
    until("it is well", async || heard.count(READ_AGAIN) == 1).await;
    // It receives heartbeats for longer than it would wait without one.
    until("it receives heartbeats", async || {
        heard.count("received idle heartbeat") >= 8
    })
    .await;
    stage.write(&put("article:1", 1), &[]).await;
    fixture.has("article:1", 1).await;
    member.leave().await;
    assert_eq!(heard.count(WARNED), 1, "{}", heard.all());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rs_10_while_the_store_is_away_nats_keeps_its_messages() {
    let (stage, fixture) = (Stage::new("AWAY").await, Fixture::new());
    fixture.connector.set(Behaviour::Closed);
    stage.write(&put("article:1", 1), &[]).await;
    let member = stage.join(fixture.ports());
    until("it asked again and again", async || {
        fixture.connector.calls() >= 5
    })
    .await;
    assert_eq!(stage.open().await, (1, 0), "delivered and not acknowledged");
    assert!(fixture.is_connected(), "the bus is not what is away");
    // When stopped, it hands the message back, and another node has it at once.
    member.leave().await;
    let other = fixture.beside();
    let member = stage.join(fixture.ports_at(&other));
    fixture.has("article:1", 1).await;
    stage.all_acknowledged().await;
    member.leave().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rs_10_a_death_between_effect_and_acknowledgement_is_harmless() {
    let (stage, fixture) = (Stage::new("DEATH").await, Fixture::new());
    fixture.connector.set(Behaviour::Dies);
    stage.write(&put("article:1", 3), &[]).await;
    let settings = Settings {
        ack_within: SOON,
        ..stage.settings()
    };
    let member = Member::of(settings.clone(), fixture.ports());
    fixture.has("article:1", 3).await;
    member.running.abort();
    assert_eq!(
        stage.open().await,
        (1, 0),
        "the effect is there, the acknowledgement is not"
    );
    let after = fixture.beside();
    let member = Member::of(settings, fixture.ports_at(&after));
    until("it came again", async || after.calls() >= 1).await;
    assert_eq!(after.rules(), [Rule::Unchanged]);
    stage.all_acknowledged().await;
    member.leave().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_worked_on_for_long_is_not_delivered_again() {
    let (stage, fixture) = (Stage::new("LONG").await, Fixture::new());
    fixture.connector.set(Behaviour::Dies);
    stage.write(&put("article:1", 1), &[]).await;
    let settings = Settings {
        ack_within: SOON,
        ..stage.settings()
    };
    let member = Member::of(settings, fixture.ports());
    fixture.has("article:1", 1).await;
    // A silent client gets it again, and so would the node.
    let silent = jetstream::consumer::pull::Config {
        ack_wait: SOON,
        ..jetstream::consumer::pull::Config::default()
    };
    let stream = stage.context.get_stream("LONG").await.unwrap();
    let silent = stream.create_consumer(silent).await.unwrap();
    let mut messages = silent.messages().await.unwrap();
    for delivered in 1..=2 {
        let message = messages.next().await.unwrap().unwrap();
        assert_eq!(message.info().unwrap().delivered, delivered);
    }
    let info = stage.info().await;
    assert_eq!((info.num_ack_pending, info.num_redelivered), (1, 0));
    // No wait is as long as it says; that the server hears of it in time follows from what was
    // asked for.
    let waits = fixture.waits();
    assert!(!waits.is_empty());
    for wait in waits {
        assert!(wait <= (SOON / 3).try_into().unwrap(), "{wait}");
    }
    member.running.abort();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_does_not_answer_does_not_keep_a_node_from_stopping() {
    let fixture = Fixture::new();
    let settings = Settings {
        connection: Connection {
            servers: vec!["nats://127.0.0.1:9".to_owned()],
            ..Connection::default()
        },
        stream: "NOWHERE".to_owned(),
        subject: ">".to_owned(),
        durable: DURABLE.to_owned(),
        dead_letter: "dead-letter.NOWHERE".to_owned(),
        ack_within: ACK_WITHIN,
        reading: reading(),
    };
    let member = Member::of(settings, fixture.ports());
    member.leave().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_event_delivered_twice_over_nats_is_kept_once() {
    let stage = Stage::new("OUTWARD").await;
    let publisher = NatsEventPublisher::new(stage.connection(), "OUTWARD.events", Mode::Structured);
    for _ in 0..2 {
        let outcome = publisher.publish(&event()).await;
        assert!(matches!(outcome, Outcome::Done { .. }), "{outcome:?}");
    }
    let binary = NatsEventPublisher::new(stage.connection(), "OUTWARD.events", Mode::Binary);
    let mut other = event();
    other.id = "task-8-done".to_owned();
    assert!(matches!(binary.publish(&other).await, Outcome::Done { .. }));
    let messages = stage.read("OUTWARD", 2).await;
    let whole: CloudEvent = serde_json::from_slice(&messages[0].payload).unwrap();
    assert_eq!(whole.id, "task-7-done");
    assert_eq!(
        header(&messages[1], "ce-id"),
        "task-8-done",
        "the second of the first was not kept"
    );
    let unkept =
        NatsEventPublisher::new(stage.connection(), "no.stream.keeps.this", Mode::Structured);
    let outcome = unkept.publish(&event()).await;
    assert!(matches!(outcome, Outcome::Retry { .. }), "{outcome:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_event_that_is_too_large_for_nats_is_given_up() {
    let stage = Stage::new("LARGE-EVENT").await;
    let small = stream::Config {
        name: stage.stream.clone(),
        subjects: vec![format!("{}.>", stage.stream)],
        max_message_size: 10_000,
        ..stream::Config::default()
    };
    stage.context.update_stream(small).await.unwrap();
    let subject = "LARGE-EVENT.events";
    let publisher = NatsEventPublisher::new(stage.connection(), subject, Mode::Binary);
    // More than its stream takes, and more than the server takes at all.
    for bytes in [20_000, 2_000_000] {
        let mut large = event();
        let data = serde_json::json!("x".repeat(bytes)).to_string();
        large.data = serde_json::value::RawValue::from_string(data).unwrap();
        match publisher.publish(&large).await {
            Outcome::GiveUp { error } => {
                assert!(error.contains(subject), "{error}");
                assert!(error.contains(&(bytes + 2).to_string()), "{error}");
            }
            other => panic!("{other:?}"),
        }
    }
    let outcome = publisher.publish(&event()).await;
    assert!(matches!(outcome, Outcome::Done { .. }), "{outcome:?}");
}
