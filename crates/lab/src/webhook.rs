//! Verifies that a call comes from Almanack: Standard Webhooks signatures.
//!
//! The sender signs `id.timestamp.body` with a shared secret. We check the exact bytes that
//! arrived, before anything is parsed, in constant time, and refuse a timestamp far from our own
//! clock so that a recorded call cannot be played back tomorrow. While a secret is being replaced
//! the sender may send several signatures, separated by spaces; one valid signature is enough.

use std::fmt;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use hmac::{Hmac, Mac};
use jiff::Timestamp;
use sha2::Sha256;

/// How far the sender's clock may be from ours, either way.
pub const TOLERANCE_SECONDS: u64 = 5 * 60;

/// Why a call is not trusted, or a secret is invalid. Never contains the expected value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The secret is not `whsec_` and base64.
    #[error("webhook secret must be `whsec_` followed by base64")]
    Secret,
    /// A header is missing or unreadable.
    #[error("header `{0}` is missing or unreadable")]
    Header(&'static str),
    /// Too old, or from the future.
    #[error("header `webhook-timestamp` is more than 5 minutes off")]
    Timestamp,
    #[error("no signature in `webhook-signature` fits")]
    Signature,
}

/// The sender's headers.
#[derive(Debug, Clone, Copy)]
pub struct Signed<'a> {
    /// `webhook-id`.
    pub id: &'a str,
    /// `webhook-timestamp`, seconds since 1970.
    pub timestamp: i64,
    /// `webhook-signature`.
    pub signatures: &'a str,
}

/// A shared secret, ready to sign and to verify.
#[derive(Clone)]
pub struct Secret(Hmac<Sha256>);

impl Secret {
    /// Reads `whsec_…`.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let encoded = text.strip_prefix("whsec_").ok_or(Error::Secret)?;
        let key = STANDARD.decode(encoded).map_err(|_| Error::Secret)?;
        if key.is_empty() {
            return Err(Error::Secret);
        }
        Hmac::new_from_slice(&key)
            .map(Self)
            .map_err(|_| Error::Secret)
    }

    /// Signs as the sender does; for tests and for senders of the simulated world.
    pub fn sign(&self, id: &str, timestamp: i64, body: &[u8]) -> String {
        let code = self.code(id, timestamp, body).finalize().into_bytes();
        format!("v1,{}", STANDARD.encode(code))
    }

    /// Verifies the call.
    pub fn verify(&self, signed: Signed<'_>, body: &[u8], now: Timestamp) -> Result<(), Error> {
        if now.as_second().abs_diff(signed.timestamp) > TOLERANCE_SECONDS {
            return Err(Error::Timestamp);
        }
        let code = self.code(signed.id, signed.timestamp, body);
        let fits = |candidate: &str| {
            let encoded = candidate.strip_prefix("v1,");
            let given = encoded.and_then(|encoded| STANDARD.decode(encoded).ok());
            given.is_some_and(|given| code.clone().verify_slice(&given).is_ok())
        };
        if signed.signatures.split_ascii_whitespace().any(fits) {
            Ok(())
        } else {
            Err(Error::Signature)
        }
    }

    fn code(&self, id: &str, timestamp: i64, body: &[u8]) -> Hmac<Sha256> {
        let mut code = self.0.clone();
        code.update(format!("{id}.{timestamp}.").as_bytes());
        code.update(body);
        code
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

#[cfg(test)]
mod tests;
