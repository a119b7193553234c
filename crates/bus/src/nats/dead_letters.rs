//! Dead letters of NATS: another subject, kept by a stream, with the unchanged message and why it
//! is there.

use almanack_core::{event::incoming::envelope::Incoming, percent};
use async_nats::{HeaderMap, HeaderName, HeaderValue, jetstream::stream};
use async_trait::async_trait;

use super::connection::Link;
use crate::batch::{CUT, DeadLetters, PLACE, REASON, Refusal};

/// Publishes dead letters to a subject.
pub(crate) struct DeadLetterQueue {
    pub(crate) link: Link,
    pub(crate) subject: String,
}

impl DeadLetterQueue {
    /// Makes sure that some stream keeps the subject: a message that no stream keeps would never be
    /// confirmed.
    pub(crate) async fn prepare(&self, stream: &str) -> Result<(), String> {
        let context = self.link.context()?;
        let kept = context.stream_by_subject(self.subject.as_str()).await;
        if kept.is_ok() {
            return Ok(());
        }
        let config = stream::Config {
            name: format!("{stream}-dead-letter"),
            subjects: vec![self.subject.clone()],
            ..stream::Config::default()
        };
        let made = context.get_or_create_stream(config).await;
        made.map(drop).map_err(|error| error.to_string())
    }
}

#[async_trait]
impl DeadLetters for DeadLetterQueue {
    async fn bury(
        &self,
        message: &Incoming,
        reason: &str,
        cut: Option<usize>,
    ) -> Result<(), Refusal> {
        let mut headers = HeaderMap::new();
        let own = message.headers.iter();
        let own = own.map(|(name, value)| (name.as_str(), String::from_utf8_lossy(value)));
        let reason = percent::encode(reason);
        let added = [
            (REASON, reason.as_str().into()),
            (PLACE, message.place.as_str().into()),
            ("almanack-stream", message.channel.as_str().into()),
        ];
        // A copy must not be taken for the original by the server's memory of message ids.
        let own = own.filter(|(name, _)| !name.eq_ignore_ascii_case("Nats-Msg-Id"));
        let cut = cut.map(|bytes| (CUT, bytes.to_string().into()));
        for (name, value) in own.chain(added).chain(cut) {
            let (Ok(name), Ok(value)) = (name.parse::<HeaderName>(), value.parse::<HeaderValue>())
            else {
                continue;
            };
            headers.append(name, value);
        }
        let body = message.body.clone();
        let sent = self.link.publish(&self.subject, headers, body).await;
        sent.map(drop)
    }
}
