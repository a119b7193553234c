//! NATS: the server that the test command starts.

use async_nats::jetstream::{
    self,
    consumer::{PullConsumer, pull},
    stream,
};
use futures_util::StreamExt as _;
use serde_json::Value;

use super::life::{Bus, KIND, TOLD, live_by};
use crate::harness::Home;

const STREAM: &str = "CLI-LIFE";
const DURABLE: &str = "almanack";

struct Server {
    context: jetstream::Context,
    url: String,
}

fn server_url() -> String {
    #[expect(
        clippy::disallowed_methods,
        reason = "the test command says where it started the server"
    )]
    std::env::var("ALMANACK_TEST_NATS_URL").expect(
        "ALMANACK_TEST_NATS_URL is not set: run `dev/check`, or `export ALMANACK_TEST_NATS_URL=$(dev/nats start)` once",
    )
}

impl Server {
    async fn new() -> Self {
        let url = server_url();
        let context = jetstream::new(async_nats::connect(&url).await.unwrap());
        for left_behind in [STREAM, "CLI-LIFE-dead-letter"] {
            let _ = context.delete_stream(left_behind).await;
        }
        let config = stream::Config {
            name: STREAM.to_owned(),
            subjects: vec![format!("{STREAM}.>")],
            ..stream::Config::default()
        };
        context.create_stream(config).await.unwrap();
        Self { context, url }
    }

    /// What a stream has under a subject, without taking it away.
    async fn read(&self, stream: &str, subject: &str) -> Vec<jetstream::Message> {
        let stream = self.context.get_stream(stream).await.unwrap();
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
        format!(
            "[events.nats]
servers = [\"{}\"]
stream = \"{STREAM}\"
subject = \"{STREAM}.changed\"
[[subscription]]
name = \"told\"
nats_subject = \"{STREAM}.{TOLD}\"
kinds = [\"{KIND}\"]
",
            self.url
        )
    }

    async fn write(&self, body: &str) {
        let subject = format!("{STREAM}.changed");
        let sent = self.context.publish(subject, body.to_owned().into()).await;
        sent.unwrap().await.unwrap();
    }

    async fn forgotten(&self) -> u64 {
        let stream = self.context.get_stream(STREAM).await.unwrap();
        let consumer: PullConsumer = stream.get_consumer(DURABLE).await.unwrap();
        let info = consumer.get_info().await.unwrap();
        info.delivered.consumer_sequence - u64::try_from(info.num_ack_pending).unwrap()
    }

    /// The server would deliver what the dead node had after a minute. A consumer that is made anew gets all of it at once, and everything
    /// else again.
    async fn pass_on(&self) {
        let stream = self.context.get_stream(STREAM).await.unwrap();
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

    async fn told(&self) -> Vec<Value> {
        let told = self.read(STREAM, &format!("{STREAM}.{TOLD}")).await;
        let told = told.iter().map(|message| &message.payload);
        told.map(|body| serde_json::from_slice(body).unwrap())
            .collect()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rs_10_a_killed_node_takes_every_event_from_nats_once() {
    let server = Server::new().await;
    let home = Home::with(&server.configuration());
    live_by(&server, home).await;
}
