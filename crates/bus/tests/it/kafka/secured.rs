//! Encrypted, and by name and password: the same mock cluster behind a front that speaks TLS and
//! SASL.

use std::{cell::RefCell, time::Duration};

use almanack_bus::{
    Tls,
    kafka::{self, Connection, KafkaEventPublisher},
};
use almanack_core::{
    event::outgoing::{EventPublisher as _, Mode},
    finish::Outcome,
    secret::Secret,
};
use almanack_testkit::{
    authority::{Authority, Clients},
    kafka::{Front, Login, Mechanism},
};
use rdkafka::Message as _;

use super::cluster::{Cluster, DEAD, Member};
use crate::{
    fixture::{Fixture, event, put, reading, until},
    heard::Heard,
};

const USERNAME: &str = "almanack";
const PASSWORD: &str = "correct-horse";
const WRONG: &str = "hunter2-is-wrong";
/// A client that is refused comes again, ever more slowly. One that spins comes thousands of times.
const CAME_MAX: usize = 80;

/// The client has up to two texts for one trouble, and says each whenever it fails.
const CLIENT_LINES_MAX: usize = 2;

/// A cluster that is reachable only through its front.
struct Fortress {
    cluster: Cluster,
    front: Front,
    authority: Authority,
    mechanism: Mechanism,
}

fn login(mechanism: Mechanism, password: &str) -> Login {
    Login {
        mechanism,
        username: USERNAME.to_owned(),
        password: password.to_owned(),
    }
}

impl Fortress {
    async fn new(mechanism: Mechanism, clients: Clients) -> Self {
        let (cluster, authority) = (Cluster::new(), Authority::new());
        let broker = cluster.mock().bootstrap_servers();
        let login = login(mechanism, PASSWORD);
        let front = Front::open(&broker, &authority, clients, login).await;
        Self {
            cluster,
            front,
            authority,
            mechanism,
        }
    }

    /// A connection with all the right settings.
    fn connection(&self) -> Connection {
        let mechanism = match self.mechanism {
            Mechanism::Plain => kafka::Mechanism::Plain,
            Mechanism::ScramSha256 => kafka::Mechanism::ScramSha256,
            Mechanism::ScramSha512 => kafka::Mechanism::ScramSha512,
        };
        Connection {
            brokers: vec![self.front.by_name()],
            tls: Some(Tls {
                ca: Some(self.authority.certificate()),
                identity: None,
            }),
            sasl: Some(kafka::Sasl {
                mechanism,
                username: USERNAME.to_owned(),
                password: Secret::new(PASSWORD),
            }),
            // What is never confirmed need not be waited for that long here.
            confirm_within: Duration::from_secs(2),
        }
    }

    fn with_password(&self, password: &str) -> Connection {
        let mut connection = self.connection();
        if let Some(sasl) = &mut connection.sasl {
            sasl.password = Secret::new(password);
        }
        connection
    }
}

/// Reads, writes dead letters, commits and publishes through the front.
async fn everything_works(fortress: &Fortress, connection: Connection) {
    let fixture = Fixture::new();
    let cluster = &fortress.cluster;
    cluster.write("1", "nonsense", &[]).await;
    cluster.write("1", &put("article:1", 1), &[]).await;
    let member = Member::reading(connection.clone(), fixture.ports(), reading());
    fixture.has("article:1", 1).await;
    let letters = cluster.dead_letters(1).await;
    assert_eq!(letters[0].payload(), Some(&b"nonsense"[..]));
    let publisher = KafkaEventPublisher::new(&connection, DEAD, Mode::Structured).unwrap();
    let outcome = publisher.publish(&event()).await;
    assert!(matches!(outcome, Outcome::Done { .. }), "{outcome:?}");
    member.leave().await;
    assert_eq!(cluster.committed().await, 2);
    assert!(
        fortress.front.admitted() >= 3,
        "each of the three signed in"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn events_pass_by_tls_and_plain() {
    let fortress = Fortress::new(Mechanism::Plain, Clients::Any).await;
    everything_works(&fortress, fortress.connection()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn events_pass_by_tls_and_scram() {
    let fortress = Fortress::new(Mechanism::ScramSha256, Clients::Any).await;
    everything_works(&fortress, fortress.connection()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn events_pass_by_a_certificate_of_the_node() {
    let fortress = Fortress::new(Mechanism::ScramSha512, Clients::Vouched).await;
    let identity = fortress.authority.vouch("node");
    let mut connection = fortress.connection();
    if let Some(tls) = &mut connection.tls {
        tls.identity = Some((identity.certificate, identity.key));
    }
    everything_works(&fortress, connection).await;
}

/// A reader and a publisher that are refused say so once, in these words, and go on trying,
/// unhurried.
async fn refused(fortress: &Fortress, connection: Connection, words: &[&str]) {
    let (fixture, heard) = (Fixture::new(), Heard::listen());
    let member = Member::reading(connection.clone(), fixture.ports(), reading());
    let warned = "cannot read events; retrying";
    until("it complains", async || heard.count(warned) >= 1).await;
    let publisher = KafkaEventPublisher::new(&connection, DEAD, Mode::Structured).unwrap();
    // A handshake that failed may be called a broken connection first, and only then by its name.
    let error = RefCell::new(String::new());
    until("both say why", async || {
        *error.borrow_mut() = match publisher.publish(&event()).await {
            Outcome::Retry { error, .. } => error,
            other => panic!("{other:?}"),
        };
        let (error, lines) = (error.borrow(), heard.all());
        words
            .iter()
            .all(|it| error.contains(it) && lines.contains(it))
    })
    .await;
    member.leave().await;
    let (error, lines) = (error.into_inner(), heard.all());
    heard.assert_each_once(warned, 2);
    let repeated = heard.count("WARN librdkafka");
    assert!(repeated <= CLIENT_LINES_MAX, "{repeated} times: {lines}");
    for secret in [PASSWORD, WRONG] {
        assert!(!error.contains(secret) && !lines.contains(secret));
    }
    assert_eq!(fortress.front.admitted(), 0);
    let came = fortress.front.came();
    assert!((2..CAME_MAX).contains(&came), "it came {came} times");
}

#[tokio::test]
async fn a_wrong_password_is_reported_and_not_shown() {
    for mechanism in [Mechanism::Plain, Mechanism::ScramSha256] {
        let fortress = Fortress::new(mechanism, Clients::Any).await;
        let words = ["a broker refuses the login", "username and password"];
        refused(&fortress, fortress.with_password(WRONG), &words).await;
    }
}

const NOT_TRUSTED: [&str; 3] = ["no encrypted connection", "tls_ca", "brokers has the names"];

#[tokio::test]
async fn a_broker_that_no_authority_vouches_for_does_not_get_the_password() {
    let other = Authority::new();
    // By another authority, and by those that the machine trusts.
    for ca in [Some(other.certificate()), None] {
        let fortress = Fortress::new(Mechanism::Plain, Clients::Any).await;
        let mut connection = fortress.connection();
        connection.tls = Some(Tls { ca, identity: None });
        refused(&fortress, connection, &NOT_TRUSTED).await;
    }
}

#[tokio::test]
async fn a_broker_by_another_name_does_not_get_the_password() {
    let fortress = Fortress::new(Mechanism::Plain, Clients::Any).await;
    let mut connection = fortress.connection();
    connection.brokers = vec![fortress.front.by_number()];
    refused(&fortress, connection, &NOT_TRUSTED).await;
}

#[tokio::test]
async fn a_missing_client_certificate_names_the_keys_to_set() {
    let fortress = Fortress::new(Mechanism::Plain, Clients::Vouched).await;
    let words = ["tls_certificate and tls_key"];
    refused(&fortress, fortress.connection(), &words).await;
}

#[tokio::test]
async fn a_missing_encryption_names_the_key_to_set() {
    let fortress = Fortress::new(Mechanism::ScramSha256, Clients::Any).await;
    let mut connection = fortress.connection();
    connection.tls = None;
    refused(&fortress, connection, &["not as expected", "tls"]).await;
}

#[tokio::test]
async fn a_password_that_becomes_right_is_found_out_without_a_restart() {
    let fortress = Fortress::new(Mechanism::ScramSha256, Clients::Any).await;
    let (fixture, heard) = (Fixture::new(), Heard::listen());
    let cluster = &fortress.cluster;
    cluster.write("1", &put("article:1", 1), &[]).await;
    let connection = fortress.with_password(WRONG);
    let member = Member::reading(connection.clone(), fixture.ports(), reading());
    let publisher = KafkaEventPublisher::new(&connection, DEAD, Mode::Structured).unwrap();
    let outcome = publisher.publish(&event()).await;
    assert!(matches!(outcome, Outcome::Retry { .. }), "{outcome:?}");
    assert_eq!(cluster.committed().await, 0);
    fortress.front.set_login(login(fortress.mechanism, WRONG));
    fixture.has("article:1", 1).await;
    until("the event is delivered", async || {
        matches!(publisher.publish(&event()).await, Outcome::Done { .. })
    })
    .await;
    member.leave().await;
    assert_eq!(cluster.committed().await, 1);
    assert_eq!(heard.count("reading events again"), 1);
}
