//! The standing request for messages, and why it ends.
//!
//! A server that has nothing to deliver says so every now and then. A silent one does not serve us,
//! and gives no reason: it drops a request that it does not allow.

use std::{error::Error as _, time::Duration};

use async_nats::jetstream::{
    self,
    consumer::{
        PullConsumer,
        pull::{self, MessagesError, MessagesErrorKind},
    },
};
use futures_util::{FutureExt as _, StreamExt as _};

use super::{connection::Link, trouble::LOST};
use crate::batch::MESSAGES_MAX;

/// What comes of waiting for a message.
pub(super) enum Next {
    Message(Box<jetstream::Message>),
    /// The server has none for us at the moment, and serves us.
    Nothing,
    /// The client looks for its server; what it knows of the reason.
    Down(String),
}

/// A request that is renewed for as long as it is looked at.
pub(super) struct Pull {
    messages: pull::Stream,
    link: Link,
    consumer: PullConsumer,
    /// `STREAM.DURABLE`, as the server's own subjects name it.
    name: String,
    /// How long a server that serves us cannot be silent.
    within: Duration,
}

impl Pull {
    /// Asks. A server that is silent for `within` does not serve us.
    pub(super) async fn begin(
        consumer: &PullConsumer,
        link: &Link,
        within: Duration,
    ) -> Result<Self, String> {
        let info = consumer.cached_info();
        let messages = consumer.stream().max_messages_per_batch(MESSAGES_MAX);
        // The client misses a sign of life after twice this.
        let messages = messages.heartbeat(within / 3).messages().await;
        Ok(Self {
            messages: messages.map_err(|error| link.describe(error.to_string()))?,
            link: link.clone(),
            consumer: consumer.clone(),
            name: format!("{}.{}", info.stream_name, info.name),
            within,
        })
    }

    /// What comes next; or why the server does not serve us.
    pub(super) async fn next(&mut self) -> Result<Next, String> {
        // Not by the port: the client's own timer, which must end first, knows the machine's time
        // alone.
        let next = tokio::time::timeout(self.within, self.messages.next()).await;
        match next {
            Ok(Some(Ok(message))) => Ok(Next::Message(Box::new(message))),
            Ok(Some(Err(error))) => self.check_error(&error).map(|()| self.down()),
            Ok(None) => Err(self
                .link
                .describe("the server ended the request".to_owned())),
            Err(_) if self.link.is_down() => Ok(self.down()),
            Err(_) => Ok(Next::Nothing),
        }
    }

    /// How many messages wait for us and others of our name, those that are worked on included.
    pub(super) async fn waiting(&self) -> Option<i64> {
        if self.link.is_down() {
            return None;
        }
        let info = self.consumer.get_info().await.ok()?;
        let unacknowledged = u64::try_from(info.num_ack_pending).ok()?;
        i64::try_from(info.num_pending.saturating_add(unacknowledged)).ok()
    }

    fn down(&self) -> Next {
        Next::Down(self.link.describe(LOST.to_owned()))
    }

    /// A message that has been delivered to us and is not looked at yet.
    pub(super) fn next_at_once(&mut self) -> Option<jetstream::Message> {
        self.messages.next().now_or_never()??.ok()
    }

    pub(super) fn all_at_once(&mut self) -> Vec<jetstream::Message> {
        std::iter::from_fn(|| self.next_at_once()).collect()
    }

    /// Whether it can go on; otherwise why not. Without a connection every server is silent: the
    /// client reconnects and asks again.
    fn check_error(&self, error: &MessagesError) -> Result<(), String> {
        let is_silent = error.kind() == MessagesErrorKind::MissingHeartbeat;
        if is_silent && self.link.is_down() {
            return Ok(());
        }
        Err(self.link.describe(error_text(error, &self.name)))
    }
}

fn error_text(error: &MessagesError, name: &str) -> String {
    match (error.kind(), error.source()) {
        (MessagesErrorKind::MissingHeartbeat, _) => format!(
            "the server is silent: check that the user may publish to $JS.API.CONSUMER.MSG.NEXT.{name} and subscribe to _INBOX.>"
        ),
        (MessagesErrorKind::RequestLimitExceeded, Some(limit)) => format!(
            "the consumer does not allow a node's request for {MESSAGES_MAX} messages at once ({limit}): allow it, or choose another `durable`"
        ),
        _ => error.to_string(),
    }
}
