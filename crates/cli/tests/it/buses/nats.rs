//! NATS: a server of the test's own that asks for TLS and a password.

use almanack_testkit::{
    authority::{Authority, Clients},
    nats::{self, Access, new_stream},
};
use async_nats::jetstream::{
    self,
    consumer::{PullConsumer, pull},
};
use futures_util::StreamExt as _;
use serde_json::Value;

use super::life::{Bus, KIND, REPORTED, live_by};
use crate::{
    harness::Home,
    process::{Process, eventually},
};

const STREAM: &str = "CLI-LIFE";
const DURABLE: &str = "almanack";
const PASSWORD: &str = "correct-horse";

struct Server {
    server: nats::Server,
    authority: Authority,
}

fn access(password: &str) -> Access {
    Access::Password {
        username: "almanack".to_owned(),
        password: password.to_owned(),
    }
}

impl Server {
    /// It knows another password yet.
    async fn new() -> Self {
        let (authority, another) = (Authority::new(), access("another"));
        let server = nats::Server::start(&authority, "localhost", Clients::Any, &another);
        new_stream(server.connect(&another).await, STREAM).await;
        Self { server, authority }
    }

    async fn fixture(&self) -> jetstream::Context {
        jetstream::new(self.server.connect(&access(PASSWORD)).await)
    }

    /// What a stream has under a subject, without taking it away.
    async fn read(&self, stream: &str, subject: &str) -> Vec<jetstream::Message> {
        let stream = self.fixture().await.get_stream(stream).await.unwrap();
        let config = pull::Config {
            filter_subject: subject.to_owned(),
            ..pull::Config::default()
        };
        let consumer = stream.create_consumer(config).await.unwrap();
        // What is there, without waiting for more.
        let batch = consumer.fetch().max_messages(100);
        let mut messages = batch.messages().await.unwrap();
        let mut read = Vec::new();
        while let Some(message) = messages.next().await {
            read.push(message.unwrap());
        }
        read
    }
}

impl Bus for Server {
    fn configuration(&self) -> String {
        let authority = self.authority.certificate();
        format!(
            "[events.nats]
servers = [\"{}\"]
tls = true
tls_ca = \"{}\"
username = \"almanack\"
password = \"env:NATS_PASSWORD\"
stream = \"{STREAM}\"
subject = \"{STREAM}.changed\"
[[subscription]]
name = \"delivered\"
nats_subject = \"{STREAM}.{REPORTED}\"
kinds = [\"{KIND}\"]
",
            self.server.url(),
            authority.display()
        )
    }

    /// A node that is refused says what to do, once, and lives on; as soon as the password is
    /// right, it reads.
    async fn begin(&self, node: &Process) {
        let came = self.server.came();
        let reported = "the server refuses the login: check credentials, token, or username and password in [events.nats]";
        // On a busy machine the server may hang up before it has refused; the next try comes.
        let notes = eventually("the node is refused and tries on", async || {
            let notes = node.notes();
            let tries_on = self.server.came() > came + 2 && notes.contains(reported);
            tries_on.then_some(notes)
        })
        .await;
        assert_eq!(notes.matches(reported).count(), 1, "{notes}");
        assert!(
            !notes.contains(PASSWORD) && !notes.contains("async_nats"),
            "{notes}"
        );
        self.server.set_access(&access(PASSWORD));
    }

    async fn write(&self, body: &str) {
        let subject = format!("{STREAM}.changed");
        let fixture = self.fixture().await;
        let sent = fixture.publish(subject, body.to_owned().into()).await;
        sent.unwrap().await.unwrap();
    }

    /// By what is not behind it: deliveries do not count, a message may be delivered again.
    async fn forgotten(&self) -> u64 {
        let written = self.read(STREAM, &format!("{STREAM}.changed")).await.len();
        let stream = self.fixture().await.get_stream(STREAM).await.unwrap();
        let consumer: PullConsumer = stream.get_consumer(DURABLE).await.unwrap();
        let info = consumer.get_info().await.unwrap();
        let unacknowledged = u64::try_from(info.num_ack_pending).unwrap();
        u64::try_from(written).unwrap() - info.num_pending - unacknowledged
    }

    /// The server would deliver what the dead node had after a quarter of a minute. A consumer that
    /// is made anew gets all of it at once, and everything else again.
    async fn pass_on(&self) {
        let stream = self.fixture().await.get_stream(STREAM).await.unwrap();
        stream.delete_consumer(DURABLE).await.unwrap();
    }

    async fn dead_letter(&self) -> (String, String) {
        let letters = self.read("CLI-LIFE-dead-letter", "").await;
        assert_eq!(letters.len(), 1);
        let headers = letters[0].headers.as_ref().unwrap();
        let reason = headers.get("almanack-reason").unwrap().to_string();
        let body = String::from_utf8_lossy(&letters[0].payload).into_owned();
        (reason, body)
    }

    async fn reported(&self) -> Vec<Value> {
        let reported = self.read(STREAM, &format!("{STREAM}.{REPORTED}")).await;
        let reported = reported.iter().map(|message| &message.payload);
        reported
            .map(|body| serde_json::from_slice(body).unwrap())
            .collect()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rs_10_a_killed_node_takes_every_event_from_nats_once() {
    let server = Server::new().await;
    let home = Home::with(&server.configuration()).set("NATS_PASSWORD", PASSWORD);
    live_by(&server, home).await;
}
