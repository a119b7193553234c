//! A separate stream for each test, and nodes that read it.

use std::time::Duration;

use almanack_bus::{
    Ports,
    nats::{ACK_WITHIN, Connection, Consumer, Settings},
};
use almanack_testkit::nats::{new_stream, server_url};
use async_nats::{
    Client, HeaderMap,
    jetstream::{
        self,
        consumer::{self, PullConsumer},
    },
};
use futures_util::StreamExt as _;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::fixture::{reading, until};

pub(super) const DURABLE: &str = "almanack";

/// This test's own stream.
pub(super) struct Stage {
    pub(super) context: jetstream::Context,
    pub(super) stream: String,
    connection: Connection,
}

impl Stage {
    /// On the server that the test command starts, which every test may use.
    pub(super) async fn new(name: &str) -> Self {
        let client = async_nats::connect(server_url()).await.unwrap();
        let connection = Connection {
            servers: vec![server_url()],
            ..Connection::default()
        };
        Self::at(client, name, connection).await
    }

    /// Where this client is; nodes come by that connection.
    pub(super) async fn at(client: Client, name: &str, connection: Connection) -> Self {
        Self {
            context: new_stream(client, name).await,
            stream: name.to_owned(),
            connection,
        }
    }

    pub(super) async fn write(&self, body: &str, headers: &[(&str, &str)]) {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.insert(*name, *value);
        }
        let subject = format!("{}.eu", self.stream);
        let sent = self
            .context
            .publish_with_headers(subject, map, body.to_owned().into());
        sent.await.unwrap().await.unwrap();
    }

    pub(super) fn connection(&self) -> Connection {
        self.connection.clone()
    }

    pub(super) fn settings(&self) -> Settings {
        Settings {
            connection: self.connection(),
            stream: self.stream.clone(),
            subject: format!("{}.>", self.stream),
            durable: DURABLE.to_owned(),
            dead_letter: format!("dead-letter.{}", self.stream),
            ack_within: ACK_WITHIN,
            reading: reading(),
        }
    }

    pub(super) fn join(&self, ports: Ports) -> Member {
        Member::of(self.settings(), ports)
    }

    /// How many messages were delivered and not acknowledged, and how many are still to be
    /// delivered.
    pub(super) async fn open(&self) -> (usize, u64) {
        let info = self.info().await;
        (info.num_ack_pending, info.num_pending)
    }

    /// What the server knows about the nodes' consumer.
    pub(super) async fn info(&self) -> consumer::Info {
        let stream = self.context.get_stream(&self.stream).await.unwrap();
        let consumer: PullConsumer = stream.get_consumer(DURABLE).await.unwrap();
        consumer.get_info().await.unwrap()
    }

    pub(super) async fn all_acknowledged(&self) {
        until("all is acknowledged", async || self.open().await == (0, 0)).await;
    }

    /// The first messages that another stream has.
    pub(super) async fn read(&self, stream: &str, many: usize) -> Vec<jetstream::Message> {
        until("the stream is there", async || {
            self.context.get_stream(stream).await.is_ok()
        })
        .await;
        let stream = self.context.get_stream(stream).await.unwrap();
        let config = jetstream::consumer::pull::Config::default();
        let consumer = stream.create_consumer(config).await.unwrap();
        let mut messages = consumer.messages().await.unwrap();
        let mut read = Vec::new();
        while read.len() < many {
            let next = tokio::time::timeout(Duration::from_secs(30), messages.next()).await;
            read.push(next.expect("a message comes").unwrap().unwrap());
        }
        read
    }
}

pub(super) struct Member {
    pub(super) running: JoinHandle<()>,
    stop: CancellationToken,
}

impl Member {
    pub(super) fn of(settings: Settings, ports: Ports) -> Self {
        let stop = CancellationToken::new();
        let consumer = Consumer::new(settings, ports);
        Self {
            running: tokio::spawn(consumer.run(stop.clone())),
            stop,
        }
    }

    pub(super) async fn leave(self) {
        self.stop.cancel();
        self.running.await.unwrap();
    }
}

pub(super) fn header(message: &jetstream::Message, name: &str) -> String {
    let headers = message.headers.as_ref().expect("it has headers");
    headers
        .get(name)
        .map(ToString::to_string)
        .unwrap_or_default()
}
