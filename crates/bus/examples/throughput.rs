//! How fast events are taken, on librdkafka's mock cluster in this process (ADR 0020): by the bare
//! client, by our consumer before an intake that does nothing, and by our consumer before the real
//! intake on SQLite. One run, so that the three can be compared.
//!
//! `cargo run --release -p almanack-bus --features kafka --example throughput`

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a measurement by hand: it prints, reads the machine's clock, and may fail"
)]

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use almanack_bus::{
    Ports,
    kafka::{CONFIRM_WITHIN, Connection, Consumer, SILENCE, Settings},
};
use almanack_core::{
    event::incoming::{
        envelope::{Format, Others, Reading},
        intake::{Answer, ChangeRequest, Intake},
    },
    reschedule::{DecisionId, Receipt, Rule},
    task::{Revision, TaskId},
    time::Sleeper,
};
use almanack_engine::{
    intake::Events,
    reschedule::{Kinds, Rescheduler},
};
use almanack_store::sqlite::{Durability, SqliteStore};
use almanack_testkit::{clock::ManualClock, entropy::SeededEntropy, fixture::START};
use async_trait::async_trait;
use jiff::Timestamp;
use rdkafka::{
    ClientConfig,
    consumer::{Consumer as _, StreamConsumer},
    mocking::MockCluster,
    producer::{FutureProducer, FutureRecord, Producer as _},
    util::Timeout,
};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

const MESSAGES: usize = 50_000;
const TOPIC: &str = "articles";

/// Counts messages, and records when the first and the last came.
struct Meter {
    intake: Option<Events>,
    taken: AtomicUsize,
    through: Notify,
    began: std::sync::OnceLock<Instant>,
}

#[async_trait]
impl Intake for Meter {
    async fn take(&self, requests: Vec<ChangeRequest>) -> Vec<Answer> {
        self.began.get_or_init(Instant::now);
        let many = requests.len();
        let answers = match &self.intake {
            Some(events) => events.take(requests).await,
            None => vec![Answer::Taken(receipt()); many],
        };
        if self.taken.fetch_add(many, Ordering::SeqCst) + many >= MESSAGES {
            self.through.notify_one();
        }
        answers
    }
}

fn receipt() -> Receipt {
    Receipt {
        decision: DecisionId {
            task_id: TaskId(1),
            number: 0,
        },
        rule: Rule::Created,
        task_id: TaskId(1),
        cancelled_task_id: None,
        old_execute_at: None,
        execute_at: START,
        revision: Revision(1),
    }
}

struct AtOnce;

#[async_trait]
impl Sleeper for AtOnce {
    async fn until(&self, _: Timestamp) {
        tokio::task::yield_now().await;
    }
}

#[tokio::main]
async fn main() {
    let cluster = MockCluster::new(1).unwrap();
    cluster.create_topic(TOPIC, 4, 1).unwrap();
    let servers = cluster.bootstrap_servers();
    fill(&servers);
    let bare = bare(&servers).await;
    print_rate("the bare client", bare, bare);
    let idle = ours(&servers, "idle", None).await;
    print_rate("our consumer, an intake that does nothing", idle, bare);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("almanack.db");
    let store = Arc::new(SqliteStore::open(&file, Durability::Full).unwrap());
    let kinds = Kinds {
        accept_any: true,
        ..Kinds::default()
    };
    let rescheduler = Rescheduler::new(store, Arc::new(ManualClock::at(START)), kinds);
    let events = Events(Arc::new(rescheduler));
    let real = ours(&servers, "real", Some(events)).await;
    print_rate("our consumer, SQLite with full durability", real, bare);
}

fn print_rate(what: &str, took: Duration, bare: Duration) {
    #[expect(clippy::cast_precision_loss, reason = "a rate for people")]
    let rate = MESSAGES as f64 / took.as_secs_f64();
    let ratio = took.as_secs_f64() / bare.as_secs_f64();
    println!("{what}: {rate:.0} messages/s, {ratio:.1} times as long as the bare client");
}

fn fill(servers: &str) {
    let mut config = ClientConfig::new();
    config.set("bootstrap.servers", servers);
    let producer: FutureProducer = config.create().unwrap();
    for number in 0..MESSAGES {
        let subject = format!("article:{number}");
        let body = serde_json::json!({
            "specversion": "1.0", "id": number.to_string(), "source": "/articles",
            "type": "almanack.task.put.v1", "subject": subject,
            "data": {"kind": "ARTICLE_PUBLISH", "execute_at": "2030-01-05T08:00:00Z", "revision": 1},
        });
        let body = body.to_string();
        let record = FutureRecord::to(TOPIC).key(&subject).payload(&body);
        let sent = producer.send_result(record);
        drop(sent.map_err(|(error, _)| error).unwrap());
        if number % 1000 == 0 {
            producer.flush(Timeout::Never).unwrap();
        }
    }
    producer.flush(Timeout::Never).unwrap();
}

async fn bare(servers: &str) -> Duration {
    let mut config = ClientConfig::new();
    config.set("bootstrap.servers", servers);
    config.set("group.id", "bare");
    config.set("auto.offset.reset", "earliest");
    let consumer: StreamConsumer = config.create().unwrap();
    consumer.subscribe(&[TOPIC]).unwrap();
    consumer.recv().await.unwrap();
    let began = Instant::now();
    for _ in 1..MESSAGES {
        consumer.recv().await.unwrap();
    }
    began.elapsed()
}

async fn ours(servers: &str, group: &str, intake: Option<Events>) -> Duration {
    let meter = Arc::new(Meter {
        intake,
        taken: AtomicUsize::new(0),
        through: Notify::new(),
        began: std::sync::OnceLock::new(),
    });
    let ports = Ports {
        intake: meter.clone(),
        links: Arc::new(almanack_engine::health::Health::default()),
        clock: Arc::new(ManualClock::at(START)),
        sleeper: Arc::new(AtOnce),
        entropy: Arc::new(SeededEntropy::new(1)),
    };
    let settings = Settings {
        connection: Connection {
            brokers: vec![servers.to_owned()],
            tls: None,
            sasl: None,
            confirm_within: CONFIRM_WITHIN,
        },
        topic: TOPIC.to_owned(),
        group: group.to_owned(),
        dead_letter: "dead".to_owned(),
        silence: SILENCE,
        reading: Reading {
            format: Format::CloudEvents,
            others: Others::Refuse,
            payload_bytes: 1000,
        },
    };
    let stop = CancellationToken::new();
    let running = tokio::spawn(Consumer::new(settings, ports).run(stop.clone()));
    meter.through.notified().await;
    let took = meter.began.get().unwrap().elapsed();
    stop.cancel();
    running.await.unwrap();
    took
}
