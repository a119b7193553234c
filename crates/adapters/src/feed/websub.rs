//! WebSub from the subscriber's side: requests to hubs, and what hubs push (SS-23).
//!
//! Requests go through the checker's client, so that a hub that a document names is guarded and
//! paced like the document's own address. The callback's address and the secret of a subscription
//! are derived from its random token, which the source's row keeps, and from the operator's key,
//! which no row keeps: who reads the database alone can then forge no push.

use std::{fmt::Write as _, sync::Arc};

use almanack_core::{
    secret::Secret,
    source::{
        SourceId,
        check::{Ask, Document, Failure},
        hub::{Hub, HubAnswer, Hubs, LEASE, Pushed, Reach},
    },
    time::Entropy,
};
use async_trait::async_trait;
use hmac::{Hmac, Mac};
use jiff::Timestamp;
use reqwest::{Method, header::CONTENT_TYPE};
use sha1::Digest as _;
use sha2::{Sha256, Sha384, Sha512};
use subtle::ConstantTimeEq;
use url::{Url, form_urlencoded};

use super::{checker::FeedChecker, text};
use crate::http::{Error, Request, Response};

/// Longest answer of a hub that is shown to people, in bytes.
const DETAIL_BYTES_MAX: usize = 200;
/// Characters of a callback's address that only hub and node know: 128 bits.
const CALLBACK_CHARACTERS: usize = 32;
/// The block of SHA-1.
const SHA1_BLOCK_BYTES: usize = 64;

/// Where this node can be reached, and how its secrets are made.
pub struct Home {
    /// The node's public address.
    pub public_url: Option<Url>,
    /// Whether hubs are asked at all.
    pub is_on: bool,
    /// What secrets are derived from, besides their token.
    pub key: Option<Secret>,
}

/// Subscribes to hubs over HTTP.
pub struct WebSub {
    checker: FeedChecker,
    home: Home,
    name: String,
    entropy: Arc<dyn Entropy>,
}

impl WebSub {
    /// Asks hubs as `checker` asks sources.
    pub fn new(checker: FeedChecker, home: Home, entropy: Arc<dyn Entropy>) -> Self {
        let mut made = Self {
            checker,
            home,
            name: String::new(),
            entropy,
        };
        let address = made.home.public_url.as_ref().map_or("", Url::as_str);
        made.derive("home", address)[..16].clone_into(&mut made.name);
        made
    }

    /// A text that only this deployment can derive.
    fn derive(&self, purpose: &str, token: &str) -> String {
        let key = self.home.key.as_ref().map_or("", Secret::expose);
        let text = format!("almanack websub {purpose} {token}");
        hex(&mac::<Hmac<Sha256>>(key.as_bytes(), text.as_bytes()))
    }

    fn callback_token(&self, hub: &Hub) -> String {
        let mut token = self.derive("callback", &hub.token);
        token.truncate(CALLBACK_CHARACTERS);
        token
    }

    fn secret(&self, hub: &Hub) -> String {
        self.derive("secret", &hub.token)
    }

    fn request(&self, id: SourceId, hub: &Hub) -> Option<Request> {
        let home = self.home.public_url.as_ref()?.as_str();
        let token = self.callback_token(hub);
        let callback = format!("{}/websub/{id}/{token}", home.trim_end_matches('/'));
        let form = form_urlencoded::Serializer::new(String::new())
            .append_pair("hub.mode", "subscribe")
            .append_pair("hub.topic", &hub.topic)
            .append_pair("hub.callback", &callback)
            .append_pair("hub.secret", &self.secret(hub))
            .append_pair("hub.lease_seconds", &LEASE.as_secs().to_string())
            .finish();
        let mut request = Request::new(Method::POST, hub.hub.clone())
            .header(CONTENT_TYPE, "application/x-www-form-urlencoded");
        request.body = Some(form.into_bytes());
        Some(request)
    }
}

#[async_trait]
impl Hubs for WebSub {
    fn reach(&self) -> Reach {
        match (self.home.is_on, &self.home.public_url) {
            (false, _) => Reach::Off,
            (true, None) => Reach::NoAddress,
            (true, Some(_)) => Reach::Open,
        }
    }

    fn home(&self) -> &str {
        &self.name
    }

    fn token(&self) -> String {
        let bits = [(); 4].map(|()| self.entropy.next_u64());
        bits.iter().fold(String::new(), |mut token, bits| {
            let _ = write!(token, "{bits:016x}");
            token
        })
    }

    async fn subscribe(&self, id: SourceId, hub: &Hub, now: Timestamp) -> HubAnswer {
        let Some(request) = self.request(id, hub) else {
            return HubAnswer::NotNow("this node has no public address".to_owned());
        };
        match self.checker.post(request, now).await {
            Ok(response) => answer(&response),
            Err(error @ Error::Refused { .. }) => HubAnswer::Refused(error.to_string()),
            Err(error) => HubAnswer::NotNow(error.to_string()),
        }
    }

    fn admits(&self, hub: &Hub, token: &str) -> bool {
        let own = self.callback_token(hub);
        own.as_bytes().ct_eq(token.as_bytes()).into()
    }

    fn verifies(&self, hub: &Hub, signature: &str, body: &[u8]) -> bool {
        let Some((method, given)) = signature.trim().split_once('=') else {
            return false;
        };
        let secret = self.secret(hub);
        let key = secret.as_bytes();
        let own = match method.to_ascii_lowercase().as_str() {
            "sha1" => mac_sha1(key, body),
            "sha256" => mac::<Hmac<Sha256>>(key, body),
            "sha384" => mac::<Hmac<Sha384>>(key, body),
            "sha512" => mac::<Hmac<Sha512>>(key, body),
            _ => return false,
        };
        let given = given.to_ascii_lowercase();
        hex(&own).as_bytes().ct_eq(given.as_bytes()).into()
    }

    async fn read(&self, ask: &Ask, pushed: Pushed, now: Timestamp) -> Result<Document, Failure> {
        self.checker.read_pushed(ask, pushed, now).await
    }
}

/// A hub says in a sentence why it refuses, and may say anything else as well.
fn answer(response: &Response) -> HubAnswer {
    let status = response.head.status;
    let said = String::from_utf8_lossy(&response.body);
    let said = text::short_line(&said, DETAIL_BYTES_MAX);
    let detail = match said.as_str() {
        "" => format!("HTTP {status}"),
        said => format!("{said} (HTTP {status})"),
    };
    match status {
        200..=299 => HubAnswer::Accepted,
        400..=499 if status != 429 && status != 408 => HubAnswer::Refused(detail),
        _ => HubAnswer::NotNow(detail),
    }
}

fn mac<M: Mac + hmac::digest::KeyInit>(key: &[u8], body: &[u8]) -> Vec<u8> {
    // A key of any length will do.
    <M as Mac>::new_from_slice(key).map_or_else(
        |_| Vec::new(),
        |mut mac| {
            mac.update(body);
            mac.finalize().into_bytes().to_vec()
        },
    )
}

/// HMAC with SHA-1, which most hubs still sign with. Written out, because our SHA-1 and our HMAC
/// are of two generations of one library.
fn mac_sha1(key: &[u8], body: &[u8]) -> Vec<u8> {
    let mut block = [0; SHA1_BLOCK_BYTES];
    let hashed = sha1::Sha1::digest(key);
    let key = if key.len() > SHA1_BLOCK_BYTES {
        &hashed[..]
    } else {
        key
    };
    block[..key.len()].copy_from_slice(key);
    let inner = sha1::Sha1::new()
        .chain_update(block.map(|byte| byte ^ 0x36))
        .chain_update(body)
        .finalize();
    let outer = sha1::Sha1::new()
        .chain_update(block.map(|byte| byte ^ 0x5c))
        .chain_update(inner)
        .finalize();
    outer.to_vec()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests;
