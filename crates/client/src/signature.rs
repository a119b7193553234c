//! Callbacks: what a call says, and whether it is Almanack's, unaltered and just now.
//!
//! The rule is `core::signature` (Standard Webhooks); here is the arithmetic with the secret.

use std::fmt;

use almanack_core::{
    signature::{Refused, Seal, Verifier},
    task::{Identity, Payload, Revision, TaskId, Term},
};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use hmac::{Hmac, Mac as _};
use jiff::Timestamp;
use serde::Deserialize;
use sha2::Sha256;

const SECRET_PREFIX: &str = "whsec_";
/// Shorter keys could be guessed, longer ones gain nothing.
const SECRET_BYTES: std::ops::RangeInclusive<usize> = 24..=64;

/// Why a call is not accepted. Never shows the secret, and nothing that helps to forge a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Forged {
    #[error("a webhook secret is `whsec_` followed by the base64 of 24 to 64 random bytes")]
    Secret,
    #[error("the header {0} is missing")]
    Header(&'static str),
    #[error(transparent)]
    Refused(#[from] Refused),
}

/// The secret that callbacks are signed with: `whsec_…`.
#[derive(Clone)]
pub struct WebhookKey(Hmac<Sha256>);

impl fmt::Debug for WebhookKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WebhookKey(***)")
    }
}

impl WebhookKey {
    /// Reads `whsec_…`.
    pub fn parse(secret: &str) -> Result<Self, Forged> {
        let encoded = secret.trim().strip_prefix(SECRET_PREFIX);
        let key = encoded.and_then(|encoded| STANDARD.decode(encoded).ok());
        let key = key.filter(|key| SECRET_BYTES.contains(&key.len()));
        let key = key.ok_or(Forged::Secret)?;
        Hmac::new_from_slice(&key)
            .map(Self)
            .map_err(|_| Forged::Secret)
    }

    /// Whether a call is genuine and of about now. `header` looks up a header by its name, `body`
    /// is every byte as it came.
    pub fn verify<'h>(
        &self,
        header: impl Fn(&'static str) -> Option<&'h str>,
        body: &[u8],
    ) -> Result<(), Forged> {
        self.verify_at(header, body, now())
    }

    /// The same at another time, for tests.
    pub fn verify_at<'h>(
        &self,
        header: impl Fn(&'static str) -> Option<&'h str>,
        body: &[u8],
        now: Timestamp,
    ) -> Result<(), Forged> {
        let need = |name| header(name).ok_or(Forged::Header(name));
        let seal = Seal::read(
            need("webhook-id")?,
            need("webhook-timestamp")?,
            need("webhook-signature")?,
        )?;
        Ok(seal.check(self, body, now)?)
    }

    fn mac(&self, id: &str, at: Timestamp, body: &[u8]) -> Hmac<Sha256> {
        let mut mac = self.0.clone();
        mac.update(format!("{id}.{}.", at.as_second()).as_bytes());
        mac.update(body);
        mac
    }
}

impl Verifier for WebhookKey {
    fn verifies(&self, id: &str, at: Timestamp, body: &[u8], signature: &str) -> bool {
        let given = STANDARD.decode(signature);
        // Compares in constant time.
        given.is_ok_and(|given| self.mac(id, at, body).verify_slice(&given).is_ok())
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "runs in programs that have no `Clock` port"
)]
fn now() -> Timestamp {
    Timestamp::now()
}

/// The body of a callback.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Call {
    pub task_id: TaskId,
    #[serde(flatten)]
    pub identity: Identity,
    /// Which attempt this is, from 1.
    pub attempt: u32,
    /// A smaller one than you have seen comes from a node that was thought dead.
    pub term: Term,
    pub revision: Revision,
    pub execute_at: Timestamp,
    pub payload: Payload,
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    const BODY: &[u8] = br#"{"test": 2432232314}"#;
    const ID: &str = "msg_p5jXN8AQM9LWM0D4loKWxJek";

    fn check(id: &str, signature: &str, body: &[u8], now: i64) -> Result<(), Forged> {
        let header = |name| match name {
            "webhook-id" => Some(id),
            "webhook-timestamp" => Some("1614265330"),
            _ => Some(signature).filter(|signature| !signature.is_empty()),
        };
        let now = Timestamp::from_second(now).unwrap();
        WebhookKey::parse(SECRET)?.verify_at(header, body, now)
    }

    #[test]
    fn wk_08_a_callback_is_verified_as_the_standard_says() {
        // The standard's own example.
        let right = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=";
        let two = format!("v1,AAAA {right}");
        for (id, signature, body, now, expected) in [
            (ID, right, BODY, 1_614_265_330, Ok(())),
            (ID, &two, BODY, 1_614_265_330, Ok(())),
            ("x", right, BODY, 1_614_265_330, Err(Refused::Signature)),
            (ID, right, b"{}", 1_614_265_330, Err(Refused::Signature)),
            (ID, "v1,AAAA", BODY, 1_614_265_330, Err(Refused::Signature)),
            (ID, right, BODY, 1_614_265_631, Err(Refused::Stale)),
        ] {
            let expected = expected.map_err(Forged::Refused);
            assert_eq!(check(id, signature, body, now), expected, "{signature}");
        }
        let missing = Err(Forged::Header("webhook-signature"));
        assert_eq!(check(ID, "", BODY, 1_614_265_330), missing);
    }

    #[test]
    fn a_secret_is_never_shown() {
        let key = WebhookKey::parse(SECRET).unwrap();
        assert_eq!(format!("{key:?}"), "WebhookKey(***)");
        for bad in ["", "plain", "whsec_c2hvcnQ=", "whsec_!!"] {
            assert_eq!(WebhookKey::parse(bad).err(), Some(Forged::Secret));
        }
    }
}
