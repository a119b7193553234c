//! Kafka: librdkafka's mock cluster in the test's own process, behind a front that asks for TLS and
//! a password.

use std::time::Duration;

use almanack_bus::kafka::rdkafka::{
    ClientConfig, Message as _, Offset, TopicPartitionList,
    consumer::{BaseConsumer, Consumer as _},
    message::{Headers as _, OwnedMessage},
    mocking::MockCluster,
    producer::{DefaultProducerContext, FutureProducer, FutureRecord},
    util::Timeout,
};
use almanack_testkit::{
    authority::{Authority, Clients},
    kafka::{Front, Login, Mechanism},
};
use serde_json::Value;

use super::life::{Bus, KIND, REPORTED, live_by};
use crate::{
    harness::Home,
    process::{Process, eventually},
};

const TOPIC: &str = "articles";
const DEAD: &str = "articles.dead-letter";
const GROUP: &str = "almanack";
const PASSWORD: &str = "correct-horse";
/// The longest answer of a cluster in the same process.
const ANSWER_WITHIN: Duration = Duration::from_secs(20);

struct Cluster {
    mock: MockCluster<'static, DefaultProducerContext>,
    authority: Authority,
    front: Front,
}

fn login(password: &str) -> Login {
    Login {
        mechanism: Mechanism::ScramSha512,
        username: "almanack".to_owned(),
        password: password.to_owned(),
    }
}

impl Cluster {
    /// The front knows another password yet.
    async fn new() -> Self {
        let mock = MockCluster::new(1).unwrap();
        for topic in [TOPIC, DEAD, REPORTED] {
            mock.create_topic(topic, 1, 1).unwrap();
        }
        let (authority, broker) = (Authority::new(), mock.bootstrap_servers());
        let front = Front::open(&broker, &authority, Clients::Any, login("another")).await;
        Self {
            mock,
            authority,
            front,
        }
    }

    /// Our own way to the cluster, past the front.
    fn client(&self, group: &str) -> ClientConfig {
        let mut config = ClientConfig::new();
        config.set("bootstrap.servers", self.mock.bootstrap_servers());
        config.set("group.id", group);
        config
    }

    /// All messages of a topic.
    async fn read(&self, topic: &str) -> Vec<OwnedMessage> {
        let (config, topic) = (self.client("reader"), topic.to_owned());
        let reading = tokio::task::spawn_blocking(move || {
            let consumer: BaseConsumer = config.create().unwrap();
            let (_, end) = consumer.fetch_watermarks(&topic, 0, ANSWER_WITHIN).unwrap();
            let mut list = TopicPartitionList::new();
            let begin = list.add_partition_offset(&topic, 0, Offset::Beginning);
            begin.unwrap();
            consumer.assign(&list).unwrap();
            let next = |_| {
                let message = consumer.poll(ANSWER_WITHIN).expect("it is there");
                message.unwrap().detach()
            };
            (0..end).map(next).collect()
        });
        reading.await.unwrap()
    }
}

impl Bus for Cluster {
    fn configuration(&self) -> String {
        let authority = self.authority.certificate();
        format!(
            "[events.kafka]
brokers = [\"{}\"]
topic = \"{TOPIC}\"
tls = true
tls_ca = \"{}\"
sasl = \"scram-sha-512\"
username = \"almanack\"
password = \"env:KAFKA_PASSWORD\"
[[subscription]]
name = \"delivered\"
kafka_topic = \"{REPORTED}\"
kinds = [\"{KIND}\"]
",
            self.front.by_name(),
            authority.display()
        )
    }

    /// A node that is refused says what to do and lives on; as soon as the password is right, it
    /// reads.
    async fn begin(&self, node: &Process) {
        eventually("the node says that it is refused", async || {
            let reported = "a broker refuses the login: check sasl, username and password";
            node.notes().contains(reported).then_some(())
        })
        .await;
        assert!(!node.notes().contains(PASSWORD), "{}", node.notes());
        self.front.set_login(login(PASSWORD));
    }

    async fn write(&self, body: &str) {
        let producer: FutureProducer = self.client("writer").create().unwrap();
        let record = FutureRecord::to(TOPIC).key("1").payload(body);
        producer.send(record, Timeout::Never).await.unwrap();
    }

    async fn forgotten(&self) -> u64 {
        let config = self.client(GROUP);
        let asked = tokio::task::spawn_blocking(move || {
            let consumer: BaseConsumer = config.create().unwrap();
            let mut list = TopicPartitionList::new();
            list.add_partition(TOPIC, 0);
            let committed = consumer.committed_offsets(list, ANSWER_WITHIN).unwrap();
            match committed.elements()[0].offset() {
                Offset::Offset(offset) => u64::try_from(offset).unwrap(),
                _ => 0,
            }
        });
        asked.await.unwrap()
    }

    async fn dead_letter(&self) -> (String, String) {
        let letters = self.read(DEAD).await;
        assert_eq!(letters.len(), 1);
        let mut headers = letters[0].headers().unwrap().iter();
        let reason = headers.find(|it| it.key == "almanack-reason").unwrap();
        let text = |bytes: Option<&[u8]>| String::from_utf8_lossy(bytes.unwrap()).into_owned();
        (text(reason.value), text(letters[0].payload()))
    }

    async fn reported(&self) -> Vec<Value> {
        let reported = self.read(REPORTED).await;
        let reported = reported.iter().map(|message| message.payload().unwrap());
        reported
            .map(|body| serde_json::from_slice(body).unwrap())
            .collect()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rs_10_a_killed_node_takes_every_event_from_kafka_once() {
    let cluster = Cluster::new().await;
    let home = Home::with(&cluster.configuration()).set("KAFKA_PASSWORD", PASSWORD);
    live_by(&cluster, home).await;
}
