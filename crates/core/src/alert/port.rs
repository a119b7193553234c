//! The ports to the channels that reach people.

use async_trait::async_trait;
use serde::Serialize;

use super::{Alert, Key, News};
use crate::edition::review::Review;

/// One notification to send.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    /// About what; its `taken_by` names the channels that have it already.
    pub alert: Alert,
    pub news: News,
    /// The only channels it goes to, where its schedule names some.
    pub channels: Option<Vec<String>>,
    /// The wait that a person can end by a link, where it is about one.
    pub review: Option<Review>,
}

/// The result of sending some notices over one channel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = ChannelAnswer))]
pub struct Answer {
    /// The channel's name in the configuration.
    pub channel: String,
    /// Which alerts it was notified of, in one message.
    #[serde(skip)]
    pub keys: Vec<Key>,
    /// Whether it took them.
    #[serde(flatten)]
    pub outcome: Outcome,
}

/// Whether a channel took a message.
#[derive(Debug, Clone, PartialEq, Eq, strum::IntoStaticStr, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = ChannelOutcome))]
#[serde(tag = "outcome", content = "answer", rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Outcome {
    /// It did, with this answer.
    Taken(String),
    /// It did not and will not: a wrong token, an address that is gone. Trying again does not help.
    Refused(String),
    /// It did not, or that is unknown; it may later.
    Failed(String),
}

impl Outcome {
    /// The name used in metrics.
    pub fn as_str(&self) -> &'static str {
        self.into()
    }

    /// Whether the channel need not be asked again.
    pub fn is_final(&self) -> bool {
        !matches!(self, Self::Failed(_))
    }

    /// The channel's answer.
    pub fn detail(&self) -> &str {
        match self {
            Self::Taken(said) | Self::Refused(said) | Self::Failed(said) => said,
        }
    }
}

/// Reaches people, by as many channels as there are.
#[async_trait]
pub trait Notifier: Send + Sync {
    /// Sends every channel those of the notices that it wants and has not accepted, in as few
    /// messages as it can. Returns an answer for each channel that was asked; a notice that no
    /// channel wants is in no answer. Bounded in time. A node that dies here may have sent: another
    /// sends again, under the same [`Alert::message_key`].
    async fn notify(&self, notices: &[Notice]) -> Vec<Answer>;

    /// The names of its channels.
    fn channels(&self) -> Vec<String> {
        Vec::new()
    }

    /// Sends a test message to one channel or to all, whatever alerts they ask for. None answers
    /// where none is configured, or none of that name.
    async fn test(&self, _only: Option<&str>) -> Vec<Answer> {
        Vec::new()
    }
}

/// The outside service that listens for a node's heartbeat, and calls for help when it stops.
#[async_trait]
pub trait HeartbeatMonitor: Send + Sync {
    /// Sends one heartbeat, in bounded time; an error says in a few words why it was not received,
    /// and names no address.
    async fn beat(&self) -> Result<(), String>;
}
