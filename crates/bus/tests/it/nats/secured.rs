//! Encrypted, and by token, password, credentials and certificate: a private server that asks for
//! them.

use almanack_bus::{
    Tls,
    nats::{Connection, Login, NatsEventPublisher, Settings},
};
use almanack_core::{
    event::outgoing::{EventPublisher as _, Mode},
    finish::Outcome,
    secret::Secret,
};
use almanack_testkit::{
    authority::{Authority, Clients},
    nats::{Access, Operator, Server, server_url},
};
use futures_util::future::join_all;
use metrics_exporter_prometheus::PrometheusBuilder;

use super::{
    AT_ONCE, READ_AGAIN, WARNED,
    stage::{Member, Stage},
};
use crate::{
    fixture::{Fixture, event, put, until},
    heard::Heard,
};

const STREAM: &str = "SECURED";
const PASSWORD: &str = "correct-horse";
const WRONG: &str = "hunter2-is-wrong";
/// The name in the server's certificate where a connection is to fail: a name is looked up, and
/// where that answers with two numbers the client reports only the second.
const NUMBER: &str = "127.0.0.1";

const NOT_RECOGNISED: [&str; 2] = [
    "the server refuses the login",
    "check credentials, token, or username and password in [events.nats]",
];
const NOT_TRUSTED: [&str; 3] = ["no encrypted connection", "tls_ca", "servers has the names"];
const REASON: &str = "(invalid peer certificate";

fn password(password: &str) -> Access {
    Access::Password {
        username: "almanack".to_owned(),
        password: password.to_owned(),
    }
}

fn token(token: &str) -> Access {
    Access::Token(token.to_owned())
}

fn login(access: &Access) -> Login {
    match access {
        Access::Token(token) => Login::Token(Secret::new(token)),
        Access::Password { username, password }
        | Access::Confined {
            username, password, ..
        } => Login::Password {
            username: username.clone(),
            password: Secret::new(password),
        },
        Access::Credentials { text, .. } => Login::Credentials(Secret::new(text)),
    }
}

/// A server that requires a login.
struct Fortress {
    server: Server,
    authority: Authority,
    access: Access,
}

impl Fortress {
    fn new(name: &str, clients: Clients, access: Access) -> Self {
        let authority = Authority::new();
        Self {
            server: Server::start(&authority, name, clients, &access),
            authority,
            access,
        }
    }

    /// A connection with all the right settings.
    fn connection(&self) -> Connection {
        Connection {
            servers: vec![self.server.url()],
            tls: Some(Tls {
                ca: Some(self.authority.certificate()),
                identity: None,
            }),
            login: login(&self.access),
        }
    }

    fn with_login(&self, access: &Access) -> Connection {
        Connection {
            login: login(access),
            ..self.connection()
        }
    }

    /// Its stream; nodes come by that connection.
    async fn stage(&self, connection: Connection) -> Stage {
        let client = self.server.connect(&self.access).await;
        Stage::at(client, STREAM, connection).await
    }
}

/// So many came, not more. The server's log may be behind.
async fn came(fortress: &Fortress, many: usize, who: &str) {
    until(who, async || fortress.server.came() >= many).await;
    assert_eq!(fortress.server.came(), many, "{who}");
}

fn publisher(connection: &Connection) -> NatsEventPublisher {
    let subject = format!("dead-letter.{STREAM}");
    NatsEventPublisher::new(connection.clone(), &subject, Mode::Structured)
}

/// Reads, writes dead letters, acknowledges and publishes.
async fn everything_works(fortress: &Fortress, connection: Connection) {
    let (fixture, stage) = (Fixture::new(), fortress.stage(connection).await);
    stage.write("nonsense", &[]).await;
    stage.write(&put("article:1", 1), &[]).await;
    let member = stage.join(fixture.ports());
    fixture.has("article:1", 1).await;
    stage.all_acknowledged().await;
    let outcome = publisher(&stage.connection()).publish(&event()).await;
    assert!(matches!(outcome, Outcome::Done { .. }), "{outcome:?}");
    member.leave().await;
    let letters = stage.read("SECURED-dead-letter", 2).await;
    assert_eq!(&letters[0].payload[..], b"nonsense");
    came(fortress, 3, "ours, the reader's, the publisher's").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn events_pass_by_tls_and_each_login() {
    for access in [
        token(PASSWORD),
        password(PASSWORD),
        Operator::new().access(),
    ] {
        let fortress = Fortress::new("localhost", Clients::Any, access);
        everything_works(&fortress, fortress.connection()).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn events_pass_by_a_certificate_of_the_node() {
    let fortress = Fortress::new("localhost", Clients::Vouched, password(PASSWORD));
    let identity = fortress.authority.vouch("node");
    let mut connection = fortress.connection();
    if let Some(tls) = &mut connection.tls {
        tls.identity = Some((identity.certificate, identity.key));
    }
    everything_works(&fortress, connection).await;
}

/// A reader and a publisher that are refused say so once, in these words, and try again only after
/// a wait.
async fn refused(fortress: &Fortress, connection: Connection, words: &[&str]) {
    let stage = fortress.stage(connection).await;
    let (fixture, heard) = (Fixture::new(), Heard::listen());
    let before = fortress.server.came();
    let member = stage.join(fixture.ports());
    until("it tries on", async || fixture.waited() >= 5).await;
    let error = match publisher(&stage.connection()).publish(&event()).await {
        Outcome::Retry { error, .. } => error,
        other => panic!("{other:?}"),
    };
    member.leave().await;
    let lines = heard.all();
    for word in words {
        assert!(error.contains(word), "{word} is not in: {error}");
        assert!(lines.contains(word), "{word} is not in: {lines}");
    }
    // A handshake may fail as such or as a connection that breaks.
    heard.assert_each_once(WARNED, 3);
    for secret in [PASSWORD, WRONG, "BEGIN USER NKEY"] {
        assert!(!error.contains(secret) && !lines.contains(secret));
    }
    // One for each wait, one before the first, one that was broken off at the end, one of the
    // publisher.
    let came = fortress.server.came() - before;
    let waited = fixture.waited();
    assert!(came <= waited + 3, "{came} times in {waited} waits");
}

#[tokio::test]
async fn a_wrong_login_is_reported_and_not_shown() {
    for (right, wrong) in [
        (password(PASSWORD), password(WRONG)),
        (token(PASSWORD), token(WRONG)),
        (Operator::new().access(), Operator::new().access()),
    ] {
        let fortress = Fortress::new(NUMBER, Clients::Any, right);
        refused(&fortress, fortress.with_login(&wrong), &NOT_RECOGNISED).await;
    }
}

#[tokio::test]
async fn a_server_that_no_authority_vouches_for_does_not_get_the_password() {
    let fortress = Fortress::new(NUMBER, Clients::Any, password(PASSWORD));
    let other = Authority::new();
    // By another authority, and by those that the machine trusts.
    for (ca, words) in [
        (Some(other.certificate()), &NOT_TRUSTED[..]),
        // A machine may have none at all.
        (None, &NOT_TRUSTED[..2]),
    ] {
        let mut connection = fortress.connection();
        connection.tls = Some(Tls { ca, identity: None });
        refused(&fortress, connection, words).await;
    }
}

#[tokio::test]
async fn a_server_by_another_name_does_not_get_the_password() {
    let fortress = Fortress::new("localhost", Clients::Any, password(PASSWORD));
    let mut connection = fortress.connection();
    connection.servers = vec![fortress.server.url_by(NUMBER)];
    refused(&fortress, connection, &NOT_TRUSTED).await;
}

#[tokio::test]
async fn a_missing_client_certificate_names_the_keys_to_set() {
    let fortress = Fortress::new(NUMBER, Clients::Vouched, password(PASSWORD));
    let words = ["tls_certificate and tls_key"];
    refused(&fortress, fortress.connection(), &words).await;
}

#[tokio::test]
async fn a_missing_encryption_names_the_key_to_set() {
    let fortress = Fortress::new(NUMBER, Clients::Any, password(PASSWORD));
    let mut connection = fortress.connection();
    connection.tls = None;
    refused(
        &fortress,
        connection,
        &["[events.nats], check tls, that tls_ca"],
    )
    .await;
}

#[tokio::test]
async fn a_server_that_does_not_encrypt_does_not_get_the_password() {
    let fortress = Fortress::new(NUMBER, Clients::Any, password(PASSWORD));
    let mut connection = fortress.connection();
    connection.servers = vec![server_url()];
    refused(&fortress, connection, &["[events.nats], check tls"]).await;
}

#[tokio::test]
async fn events_that_come_at_once_are_refused_at_once() {
    let fortress = Fortress::new(NUMBER, Clients::Any, password(PASSWORD));
    let publisher = publisher(&fortress.with_login(&password(WRONG)));
    let event = event();
    for round in 1..=2 {
        let outcome = join_all((0..10).map(|_| publisher.publish(&event))).await;
        for outcome in outcome {
            assert!(matches!(outcome, Outcome::Retry { .. }), "{outcome:?}");
        }
        came(&fortress, round, "one try for all").await;
    }
}

#[tokio::test]
async fn a_file_that_is_not_there_is_reported_by_its_key() {
    let fortress = Fortress::new(NUMBER, Clients::Any, password(PASSWORD));
    let mut connection = fortress.connection();
    let ca = Some("/nowhere/authority.pem".into());
    connection.tls = Some(Tls { ca, identity: None });
    let words = ["the files of tls_ca", "No such file"];
    refused(&fortress, connection, &words).await;
}

#[tokio::test]
async fn a_password_that_becomes_right_is_found_out_without_a_restart() {
    let fortress = Fortress::new(NUMBER, Clients::Any, password(PASSWORD));
    let stage = fortress.stage(fortress.with_login(&password(WRONG))).await;
    let (fixture, heard) = (Fixture::new(), Heard::listen());
    stage.write(&put("article:1", 1), &[]).await;
    let member = stage.join(fixture.ports());
    let publisher = publisher(&stage.connection());
    until("it is refused", async || heard.count(WARNED) >= 1).await;
    let outcome = publisher.publish(&event()).await;
    assert!(matches!(outcome, Outcome::Retry { .. }), "{outcome:?}");
    fortress.server.set_access(&password(WRONG));
    fixture.has("article:1", 1).await;
    until("the event is delivered", async || {
        matches!(publisher.publish(&event()).await, Outcome::Done { .. })
    })
    .await;
    assert_eq!(heard.count(READ_AGAIN), 1);
    member.leave().await;
}

#[tokio::test]
async fn a_password_that_becomes_wrong_is_reported_and_waited_for() {
    let fortress = Fortress::new(NUMBER, Clients::Any, password(PASSWORD));
    let stage = fortress.stage(fortress.connection()).await;
    let (fixture, heard) = (Fixture::new(), Heard::listen());
    stage.write(&put("article:1", 1), &[]).await;
    let member = stage.join(fixture.ports());
    let publisher = publisher(&stage.connection());
    fixture.has("article:1", 1).await;
    let outcome = publisher.publish(&event()).await;
    assert!(matches!(outcome, Outcome::Done { .. }), "{outcome:?}");
    fortress.server.set_access(&password(WRONG));
    let refused = NOT_RECOGNISED[0];
    until("both are put out", async || heard.count(refused) >= 2).await;
    match publisher.publish(&event()).await {
        Outcome::Retry { error, .. } => assert!(error.contains(refused), "{error}"),
        other => panic!("{other:?}"),
    }
    let came = fortress.server.came();
    until("they try on", async || fortress.server.came() > came + 9).await;
    assert_eq!(heard.count(refused), 2, "each once: {}", heard.all());
    fortress.server.set_access(&password(PASSWORD));
    stage.write(&put("article:1", 2), &[]).await;
    fixture.has("article:1", 2).await;
    until("the event is delivered", async || {
        matches!(publisher.publish(&event()).await, Outcome::Done { .. })
    })
    .await;
    member.leave().await;
    assert!(!heard.all().contains(PASSWORD));
}

#[tokio::test]
async fn a_server_that_is_no_longer_trusted_is_reported_with_the_reason() {
    let fortress = Fortress::new(NUMBER, Clients::Any, password(PASSWORD));
    let folder = tempfile::tempdir().unwrap();
    let ca = folder.path().join("ca.pem");
    let trust = |authority: &Authority| std::fs::copy(authority.certificate(), &ca).unwrap();
    trust(&fortress.authority);
    let mut connection = fortress.connection();
    connection.tls = Some(Tls {
        ca: Some(ca.clone()),
        identity: None,
    });
    let stage = fortress.stage(connection).await;
    let (fixture, heard) = (Fixture::new(), Heard::listen());
    stage.write(&put("article:1", 1), &[]).await;
    let member = stage.join(fixture.ports());
    let publisher = publisher(&stage.connection());
    fixture.has("article:1", 1).await;
    let outcome = publisher.publish(&event()).await;
    assert!(matches!(outcome, Outcome::Done { .. }), "{outcome:?}");
    trust(&Authority::new());
    // Disconnects the clients.
    fortress.server.set_access(&password(WRONG));
    until("both say so", async || heard.count(NOT_TRUSTED[2]) >= 2).await;
    match publisher.publish(&event()).await {
        Outcome::Retry { error, .. } => {
            assert!(error.contains("servers has the names"), "{error}");
            assert!(error.contains(REASON), "{error}");
        }
        other => panic!("{other:?}"),
    }
    let lines = heard.all();
    let mut found = lines.lines().filter(|line| line.contains(NOT_TRUSTED[2]));
    assert!(found.all(|line| line.contains(REASON)), "{lines}");
    trust(&fortress.authority);
    fortress.server.set_access(&password(PASSWORD));
    stage.write(&put("article:1", 2), &[]).await;
    fixture.has("article:1", 2).await;
    member.leave().await;
    assert_eq!(heard.count(NOT_TRUSTED[2]), 2, "each once");
}

#[tokio::test]
async fn a_user_who_may_not_request_messages_gets_a_hint() {
    let confined = |not_to: &str| Access::Confined {
        username: "almanack".to_owned(),
        password: PASSWORD.to_owned(),
        not_to: not_to.to_owned(),
    };
    let access = confined("$JS.API.CONSUMER.MSG.NEXT.>");
    let fortress = Fortress::new(NUMBER, Clients::Any, access);
    let stage = fortress.stage(fortress.connection()).await;
    let (fixture, heard) = (Fixture::new(), Heard::listen());
    stage.write(&put("article:1", 1), &[]).await;
    let settings = Settings {
        ack_within: AT_ONCE,
        ..stage.settings()
    };
    let member = Member::of(settings, fixture.ports());
    until("it tries on", async || fixture.waited() >= 3).await;
    let lines = heard.all();
    assert_eq!(heard.count(WARNED), 1, "{lines}");
    assert_eq!(heard.count(READ_AGAIN), 0, "{lines}");
    let hint = "may publish to $JS.API.CONSUMER.MSG.NEXT.SECURED.almanack";
    assert!(lines.contains(hint), "{lines}");
    fortress.server.set_access(&confined("no.other.subject"));
    fixture.has("article:1", 1).await;
    member.leave().await;
    assert_eq!(heard.count(READ_AGAIN), 1);
}

#[tokio::test]
async fn a_node_that_is_put_out_while_it_complains_says_so_once() {
    let fortress = Fortress::new(NUMBER, Clients::Any, password(PASSWORD));
    let stage = fortress.stage(fortress.connection()).await;
    stage.context.delete_stream(STREAM).await.unwrap();
    let (fixture, heard) = (Fixture::new(), Heard::listen());
    let member = stage.join(fixture.ports());
    until("it finds no stream", async || heard.count(WARNED) >= 1).await;
    fortress.server.set_access(&password(WRONG));
    let refused = NOT_RECOGNISED[0];
    until("it is put out", async || heard.count(refused) >= 1).await;
    let waited = fixture.waited();
    until("it tries on", async || fixture.waited() >= waited + 5).await;
    member.leave().await;
    assert_eq!(heard.count(refused), 1, "{}", heard.all());
}

/// Nothing comes while a server is away, and that must not look like silence.
#[tokio::test]
async fn a_lost_server_is_noted_and_its_old_lag_is_not_shown() {
    let recorder = PrometheusBuilder::new().build_recorder();
    let (metrics, _counting) = (
        recorder.handle(),
        metrics::set_default_local_recorder(&recorder),
    );
    let shows = |line: &str| metrics.render().lines().any(|it| it == line);
    let lag = |value: &str| {
        format!(
            r#"almanack_events_lag{{bus="nats",topic="{STREAM}",partition="almanack"}} {value}"#
        )
    };
    let fortress = Fortress::new(NUMBER, Clients::Any, password(PASSWORD));
    let stage = fortress.stage(fortress.connection()).await;
    let fixture = Fixture::new();
    stage.write(&put("article:1", 1), &[]).await;
    let settings = Settings {
        ack_within: AT_ONCE,
        ..stage.settings()
    };
    let member = Member::of(settings, fixture.ports());
    fixture.has("article:1", 1).await;
    until("it is connected", async || fixture.is_connected()).await;
    assert!(shows(r#"almanack_bus_connected{bus="nats"} 1"#));
    until("nothing waits", async || shows(&lag("0"))).await;
    fortress.server.set_access(&password(WRONG));
    until("it is not", async || !fixture.is_connected()).await;
    assert!(shows(r#"almanack_bus_connected{bus="nats"} 0"#));
    assert!(shows(&lag("NaN")), "{}", metrics.render());
    fortress.server.set_access(&password(PASSWORD));
    until("it is again", async || fixture.is_connected()).await;
    until("nothing waits", async || shows(&lag("0"))).await;
    member.leave().await;
}
