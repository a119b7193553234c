//! Dead letters of NATS: another subject, kept by a stream, with the message as it was and why it is there.

use almanack_core::{event::incoming::Incoming, percent};
use async_nats::{
    HeaderMap, HeaderName, HeaderValue,
    jetstream::{self, stream},
};
use async_trait::async_trait;

use crate::batch::{DeadLetters, REASON};

/// Where a message stood, so that it can be found and compared.
const PLACE: &str = "almanack-place";

/// Publishes dead letters to a subject.
pub(crate) struct Letters {
    pub(crate) context: jetstream::Context,
    pub(crate) subject: String,
}

impl Letters {
    /// Makes sure that some stream keeps the subject: a message that nobody keeps would never be confirmed.
    pub(crate) async fn prepare(&self, stream: &str) -> Result<(), String> {
        if self
            .context
            .stream_by_subject(self.subject.as_str())
            .await
            .is_ok()
        {
            return Ok(());
        }
        let config = stream::Config {
            name: format!("{stream}-dead-letter"),
            subjects: vec![self.subject.clone()],
            ..stream::Config::default()
        };
        let made = self.context.get_or_create_stream(config).await;
        made.map(drop).map_err(|error| error.to_string())
    }
}

#[async_trait]
impl DeadLetters for Letters {
    async fn bury(&self, message: &Incoming, reason: &str) -> Result<(), String> {
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
        for (name, value) in own.chain(added) {
            let (Ok(name), Ok(value)) = (name.parse::<HeaderName>(), value.parse::<HeaderValue>())
            else {
                continue;
            };
            headers.append(name, value);
        }
        let body = message.body.clone().into();
        let failed = |why: String| format!("publish to `{}`: {why}", self.subject);
        let sent = self
            .context
            .publish_with_headers(self.subject.clone(), headers, body);
        let confirmed = sent.await.map_err(|error| failed(error.to_string()))?;
        let confirmed = confirmed.await;
        confirmed
            .map(drop)
            .map_err(|error| failed(error.to_string()))
    }
}
