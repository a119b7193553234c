//! Channels over HTTP: a signed webhook, ntfy, and what understands Slack's incoming webhooks.

use almanack_core::{
    alert::Severity,
    edition::port::{Failure, FailureClass, Sent},
    text::shorten,
};
use serde_json::{Value, json};

use super::{Channels, Message};
use crate::{
    bearer::Bearer,
    call::Seal,
    http::{Limits, Request},
    publish::{unsent, webhook::result_of},
    signature::SigningKey,
};

/// How much of a response is read: its content does not matter.
const ANSWER_BYTES_MAX: usize = 64 * 1024;
/// Most characters of a message; ntfy makes a file of longer ones, Slack cuts them.
const TEXT_CHARS_MAX: usize = 3_000;

impl Channels {
    pub(super) async fn post(
        &self,
        url: &str,
        key: Option<&SigningKey>,
        message: &Message,
    ) -> Sent {
        let seal = Seal::of(&message.id, self.clock.now(), key);
        let body = message.body.to_string().into_bytes();
        self.ask(seal.post(url, self.reporting.timeout, body)).await
    }

    /// As JSON: ntfy's headers cannot hold every script.
    pub(super) async fn notify(
        &self,
        url: &str,
        token: Option<&Bearer>,
        message: &Message,
    ) -> Sent {
        let Some((server, topic)) = url.trim_end_matches('/').rsplit_once('/') else {
            return Sent::Failed(Failure::new(
                FailureClass::Refused,
                "the address names no topic",
            ));
        };
        let (priority, tag) = match message.severity {
            Some(Severity::Critical) => (5, "rotating_light"),
            Some(Severity::Warning) => (4, "warning"),
            None => (3, "white_check_mark"),
        };
        let body = json!({
            "topic": topic,
            "title": message.title,
            "message": shorten(&message.text, TEXT_CHARS_MAX),
            "priority": priority,
            "tags": [tag],
        });
        let request = self.json(server, &body);
        self.ask(Bearer::sign(token, request)).await
    }

    pub(super) async fn slack(&self, url: &str, message: &Message) -> Sent {
        let text = escaped(&shorten(&message.text, TEXT_CHARS_MAX));
        self.ask(self.json(url, &json!({ "text": text }))).await
    }

    fn json(&self, url: &str, body: &Value) -> Request {
        let limits = Limits::within(self.reporting.timeout, ANSWER_BYTES_MAX);
        Request::post_json(url, body.to_string().into_bytes()).limits(limits)
    }

    async fn ask(&self, request: Request) -> Sent {
        match self.client.open(request).await {
            Ok(answer) => match result_of(&answer.head, self.clock.now()) {
                Sent::Confirmed { receipt: None } => Sent::Confirmed {
                    receipt: Some(format!("HTTP {}", answer.head.status)),
                },
                other => other,
            },
            Err(error) => unsent(&error),
        }
    }
}

/// Text from outside must not become links or mentions of everybody.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_in_a_message_is_escaped_for_slack() {
        assert_eq!(
            escaped("<!channel> & <http://x|y>"),
            "&lt;!channel&gt; &amp; &lt;http://x|y&gt;"
        );
        assert_eq!(
            shorten(&"日".repeat(3_001), TEXT_CHARS_MAX).chars().count(),
            3_001,
            "3,000 and …"
        );
    }
}
