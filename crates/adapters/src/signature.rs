//! Standard Webhooks signatures: the receiver can verify that a call is ours, recent and unaltered.
//! We verify incoming calls the same way.

use std::fmt;

use almanack_core::signature::Verifier;
use base64::{Engine, engine::general_purpose::STANDARD};
use hmac::{Hmac, Mac};
use jiff::Timestamp;
use sha2::Sha256;

/// How secrets are written, so that they are recognised and not mistaken for something else.
const SECRET_PREFIX: &str = "whsec_";
/// Shorter keys could be guessed, longer ones gain nothing.
const SECRET_BYTES: std::ops::RangeInclusive<usize> = 24..=64;

/// Why a secret was refused. Never shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a webhook secret is `whsec_` followed by the base64 of 24 to 64 random bytes")]
pub struct BadSecret;

/// A key to sign calls with, and to check them by.
#[derive(Clone)]
pub struct SigningKey(Hmac<Sha256>);

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SigningKey(***)")
    }
}

impl SigningKey {
    /// Reads `whsec_…`.
    pub fn parse(secret: &str) -> Result<Self, BadSecret> {
        let encoded = secret.trim().strip_prefix(SECRET_PREFIX).ok_or(BadSecret)?;
        let key = STANDARD.decode(encoded).map_err(|_| BadSecret)?;
        if !SECRET_BYTES.contains(&key.len()) {
            return Err(BadSecret);
        }
        Hmac::new_from_slice(&key).map(Self).map_err(|_| BadSecret)
    }

    /// The value of `webhook-signature` for a call with this id, time and body.
    pub fn sign(&self, id: &str, at: Timestamp, body: &[u8]) -> String {
        let mac = self.mac(id, at, body);
        format!("v1,{}", STANDARD.encode(mac.finalize().into_bytes()))
    }

    fn mac(&self, id: &str, at: Timestamp, body: &[u8]) -> Hmac<Sha256> {
        let mut mac = self.0.clone();
        mac.update(id.as_bytes());
        mac.update(b".");
        mac.update(at.as_second().to_string().as_bytes());
        mac.update(b".");
        mac.update(body);
        mac
    }
}

impl Verifier for SigningKey {
    fn verifies(&self, id: &str, at: Timestamp, body: &[u8], signature: &str) -> bool {
        let Ok(given) = STANDARD.decode(signature) else {
            return false;
        };
        // Compares in constant time.
        self.mac(id, at, body).verify_slice(&given).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_as_the_standard_says() {
        // Checked against an independent computation with Python's hmac module.
        let key = SigningKey::parse("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").unwrap();
        let at = Timestamp::from_second(1_614_265_330).unwrap();
        let signature = key.sign(
            "msg_p5jXN8AQM9LWM0D4loKWxJek",
            at,
            br#"{"test": 2432232314}"#,
        );
        assert_eq!(signature, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    }

    #[test]
    fn verifies_what_it_signed_and_nothing_else() {
        let key = SigningKey::parse("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").unwrap();
        let at = Timestamp::from_second(1_614_265_330).unwrap();
        let later = Timestamp::from_second(1_614_265_331).unwrap();
        let signed = key.sign("a", at, b"{}");
        let signature = signed.strip_prefix("v1,").unwrap();
        assert!(key.verifies("a", at, b"{}", signature));
        for (id, at, body, signature) in [
            ("b", at, &b"{}"[..], signature),
            ("a", later, b"{}", signature),
            ("a", at, b"{} ", signature),
            ("a", at, b"{}", &signature[..20]),
            ("a", at, b"{}", ""),
            ("a", at, b"{}", "not base64!"),
        ] {
            assert!(!key.verifies(id, at, body, signature), "{id} {signature}");
        }
    }

    #[test]
    fn a_bad_secret_is_refused_and_never_shown() {
        for bad in ["", "plain", "whsec_", "whsec_c2hvcnQ=", "whsec_!!"] {
            let refused = SigningKey::parse(bad).unwrap_err().to_string();
            assert!(bad.len() < 8 || !refused.contains(bad), "{refused}");
        }
        let key = SigningKey::parse("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").unwrap();
        assert_eq!(format!("{key:?}"), "SigningKey(***)");
    }
}
