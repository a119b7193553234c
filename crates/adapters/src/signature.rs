//! Standard Webhooks signatures: the receiver can verify that a call is ours, recent and unaltered.
//! We verify incoming calls the same way.
//!
//! A secret is rotated without a gap: both the new and the old one are set, calls carry a signature
//! by each, and either is accepted.

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
/// The new one and the old one.
const SECRETS_MAX: usize = 2;

/// Why a secret was refused. Never shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "a webhook secret is `whsec_` followed by the base64 of 24 to 64 random bytes; during a \
     rotation, two of them separated by a blank"
)]
pub struct BadSecret;

/// A key to sign calls with, and to check them by; during a rotation, two.
#[derive(Clone)]
pub struct SigningKey {
    newest: Hmac<Sha256>,
    /// The one that it replaces.
    older: Option<Box<Hmac<Sha256>>>,
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SigningKey(***)")
    }
}

impl SigningKey {
    /// Reads `whsec_…`, or two of them, the newer one first.
    pub fn parse(secrets: &str) -> Result<Self, BadSecret> {
        let mut parts = secrets.split_whitespace();
        let newest = parse_one(parts.next().unwrap_or_default())?;
        let older: Vec<_> = parts.map(parse_one).collect::<Result<_, _>>()?;
        if older.len() >= SECRETS_MAX {
            return Err(BadSecret);
        }
        Ok(Self {
            newest,
            older: older.into_iter().next().map(Box::new),
        })
    }

    /// The value of `webhook-signature` for a call with this id, time and body: a signature by each
    /// secret, so that the receiver may know either.
    pub fn sign(&self, id: &str, at: Timestamp, body: &[u8]) -> String {
        let newest = self.sign_by_newest(id, at, body);
        match &self.older {
            Some(older) => format!("{newest} {}", signature(older, id, at, body)),
            None => newest,
        }
    }

    /// One signature, for what we verify ourselves.
    pub fn sign_by_newest(&self, id: &str, at: Timestamp, body: &[u8]) -> String {
        signature(&self.newest, id, at, body)
    }
}

fn parse_one(secret: &str) -> Result<Hmac<Sha256>, BadSecret> {
    let encoded = secret.strip_prefix(SECRET_PREFIX).ok_or(BadSecret)?;
    let key = STANDARD.decode(encoded).map_err(|_| BadSecret)?;
    if !SECRET_BYTES.contains(&key.len()) {
        return Err(BadSecret);
    }
    Hmac::new_from_slice(&key).map_err(|_| BadSecret)
}

fn signature(key: &Hmac<Sha256>, id: &str, at: Timestamp, body: &[u8]) -> String {
    let mac = mac(key, id, at, body).finalize();
    format!("v1,{}", STANDARD.encode(mac.into_bytes()))
}

fn mac(key: &Hmac<Sha256>, id: &str, at: Timestamp, body: &[u8]) -> Hmac<Sha256> {
    let mut mac = key.clone();
    mac.update(id.as_bytes());
    mac.update(b".");
    mac.update(at.as_second().to_string().as_bytes());
    mac.update(b".");
    mac.update(body);
    mac
}

impl Verifier for SigningKey {
    fn verifies(&self, id: &str, at: Timestamp, body: &[u8], signature: &str) -> bool {
        let Ok(given) = STANDARD.decode(signature) else {
            return false;
        };
        // Compares in constant time.
        let fits = |key| mac(key, id, at, body).verify_slice(&given).is_ok();
        std::iter::once(&self.newest)
            .chain(self.older.as_deref())
            .any(fits)
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

    /// Either side may rotate first: some signature fits whatever the other knows.
    #[test]
    fn two_secrets_sign_and_verify_side_by_side() {
        let (new, old) = (
            "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
            "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD",
        );
        let at = Timestamp::from_second(1_614_265_330).unwrap();
        let both = SigningKey::parse(&format!("{new} {old}")).unwrap();
        let [new, old] = [new, old].map(|it| SigningKey::parse(it).unwrap());
        let signed = both.sign("a", at, b"{}");
        let expected = [new.sign("a", at, b"{}"), old.sign("a", at, b"{}")];
        assert_eq!(signed, expected.join(" "));
        assert_eq!(both.sign_by_newest("a", at, b"{}"), expected[0]);
        for one in &expected {
            let one = one.strip_prefix("v1,").unwrap();
            assert!(both.verifies("a", at, b"{}", one), "{one}");
        }
        let by_old = expected[1].strip_prefix("v1,").unwrap();
        assert!(!new.verifies("a", at, b"{}", by_old), "the old one is over");
        let seal = almanack_core::signature::Seal::read("a", "1614265330", &signed).unwrap();
        assert!(seal.check(&old, b"{}", at).is_ok(), "a receiver that lags");
        assert!(seal.check(&new, b"{}", at).is_ok());
    }

    #[test]
    fn a_bad_secret_is_refused_and_never_shown() {
        let one = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
        let (three, half) = (format!("{one} {one} {one}"), format!("{one} plain"));
        for bad in [
            "",
            "plain",
            "whsec_",
            "whsec_c2hvcnQ=",
            "whsec_!!",
            &three,
            &half,
        ] {
            let refused = SigningKey::parse(bad).unwrap_err().to_string();
            assert!(bad.len() < 8 || !refused.contains(bad), "{refused}");
        }
        let key = SigningKey::parse("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").unwrap();
        assert_eq!(format!("{key:?}"), "SigningKey(***)");
    }
}
