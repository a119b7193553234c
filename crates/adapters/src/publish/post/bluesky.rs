//! Bluesky: a session, then a record under a key of our own.
//!
//! A record's key is made of the instant at which its document was rendered, so a repetition writes
//! the same record, and a look finds it.

use std::sync::Arc;

use almanack_core::{
    budget::Budget,
    edition::port::{Message, Presence, Sent},
};
use jiff::Timestamp;
use reqwest::header::AUTHORIZATION;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::{ANSWER_BYTES_MAX, PostPublisher, Service, main_language, text_at, unusable};
use crate::{
    http::{Limits, Request},
    publish::{unanswered, webhook::result_of},
};

const COLLECTION: &str = "app.bsky.feed.post";
/// The digits of a record's key.
const DIGITS: &[u8; 32] = b"234567abcdefghijklmnopqrstuvwxyz";

struct Session {
    did: String,
    token: String,
}

impl PostPublisher {
    fn bluesky(&self, method: &str) -> String {
        let Service::Bluesky { server, .. } = &self.settings.service else {
            return String::new();
        };
        format!("{}/xrpc/{method}", server.trim_end_matches('/'))
    }

    pub(super) async fn send_to_bluesky(
        &self,
        message: &Message<'_>,
        budget: &Arc<Budget>,
    ) -> Sent {
        let session = match self.open_session(budget).await {
            Ok(session) => session,
            Err(failed) => return failed,
        };
        let body = json!({
            "repo": session.did,
            "collection": COLLECTION,
            "rkey": record_key(message),
            "record": record(message),
        });
        let address = self.bluesky("com.atproto.repo.createRecord");
        let request = self
            .json(&address, &body, budget)
            .header(AUTHORIZATION, &format!("Bearer {}", session.token));
        self.ask(request, |answer| text_at(answer, "uri")).await
    }

    /// Nothing was posted yet, whatever goes wrong here.
    async fn open_session(&self, budget: &Arc<Budget>) -> Result<Session, Sent> {
        let Service::Bluesky {
            handle, password, ..
        } = &self.settings.service
        else {
            return Err(Sent::Failed(unusable("not configured")));
        };
        let body = json!({ "identifier": handle, "password": password.expose() });
        let address = self.bluesky("com.atproto.server.createSession");
        let request = self.json(&address, &body, budget);
        let response = self.client.send(request).await;
        let response = response.map_err(|error| Sent::Failed(unanswered(&error)))?;
        match result_of(&response.head, self.clock.now()) {
            Sent::Confirmed { .. } => {}
            Sent::Failed(failure) | Sent::Unknown(failure) => return Err(Sent::Failed(failure)),
        }
        let answer: Value = serde_json::from_slice(&response.body).unwrap_or_default();
        let session = text_at(&answer, "did").zip(text_at(&answer, "accessJwt"));
        let unreadable = || Sent::Failed(unusable("the session's answer cannot be read"));
        let (did, token) = session.ok_or_else(unreadable)?;
        Ok(Session { did, token })
    }

    pub(super) async fn look_at_bluesky(
        &self,
        message: &Message<'_>,
        budget: &Arc<Budget>,
    ) -> Presence {
        let Service::Bluesky { handle, .. } = &self.settings.service else {
            return Presence::CannotVerify;
        };
        let address = self.bluesky("com.atproto.repo.getRecord");
        let key = record_key(message);
        let address = format!("{address}?repo={handle}&collection={COLLECTION}&rkey={key}");
        let limits = Limits::within(self.settings.timeout, ANSWER_BYTES_MAX);
        let request = Request::get(address).limits(limits);
        let response = self.client.send(request.paid_by(Arc::clone(budget))).await;
        let response = match response {
            Ok(response) => response,
            Err(error) => return Presence::Failed(unanswered(&error)),
        };
        let answer: Value = serde_json::from_slice(&response.body).unwrap_or_default();
        match response.head.status {
            200..=299 => Presence::There {
                receipt: text_at(&answer, "uri"),
            },
            400 | 404 if answer["error"] == "RecordNotFound" => Presence::NotThere,
            status => Presence::Failed(unusable(&format!("HTTP {status}"))),
        }
    }
}

/// The key of a record: an instant and ten bits more, as the protocol writes them.
fn record_key(message: &Message<'_>) -> String {
    let micros = message.document.made_at.as_microsecond().unsigned_abs();
    let digest = Sha256::digest(&message.key);
    let clock = u64::from(u16::from_be_bytes([digest[0], digest[1]])) & 0x3ff;
    let number = (micros & ((1 << 53) - 1)) << 10 | clock;
    let digit = |place: u32| {
        let digit = usize::try_from(number >> (5 * place) & 31).unwrap_or_default();
        char::from(DIGITS[digit])
    };
    (0..13).rev().map(digit).collect()
}

fn record(message: &Message<'_>) -> Value {
    let at: Timestamp = message.document.made_at;
    let language = main_language(&message.document.inputs.language);
    let mut record = json!({
        "$type": COLLECTION,
        "text": message.body,
        "createdAt": at.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
        "langs": [language],
    });
    // Without this, the link would be plain text.
    if let Some(start) = message.body.rfind("\n\nhttp").map(|at| at + 2) {
        record["facets"] = json!([{
            "index": { "byteStart": start, "byteEnd": message.body.len() },
            "features": [{
                "$type": "app.bsky.richtext.facet#link",
                "uri": &message.body[start..],
            }],
        }]);
    }
    record
}
