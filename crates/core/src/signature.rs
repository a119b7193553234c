//! Signed calls, as in Standard Webhooks: whether a call comes from a sender who knows the secret,
//! unaltered and just now.
//!
//! What the three headers mean is decided here; the arithmetic with the secret is a port
//! ([`Verifier`]). A signature covers the id, the time and the bytes of the body, so none of them
//! can be exchanged. Replay protection is left to the caller, who remembers ids: after
//! [`TOLERANCE`] on either side of its time a call is refused anyway, so twice that long is long
//! enough.

use crate::{
    lang::{Lang, Say},
    say,
};
use jiff::{SignedDuration, Timestamp};

/// How far a call's time may be from ours.
pub const TOLERANCE: SignedDuration = SignedDuration::from_mins(5);
/// Longest id of a call, in bytes.
pub const ID_BYTES_MAX: usize = 200;
/// Signatures looked at: a caller that changes its secret sends two.
const SIGNATURES_MAX: usize = 8;
const SCHEME: &str = "v1,";

/// Knows the secret.
pub trait Verifier: Send + Sync {
    /// Whether `signature` (base64) is the one of this id, time and body. Takes as long for a wrong
    /// one as for a right one.
    fn verifies(&self, id: &str, at: Timestamp, body: &[u8], signature: &str) -> bool;
}

/// What a call says about itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seal<'a> {
    id: &'a str,
    at: Timestamp,
    signatures: &'a str,
}

/// Why a signed call is refused. Says nothing that helps to forge one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.say(Lang::English))]
pub enum Refused {
    /// No id, or none that can be remembered.
    Id,
    /// No number of seconds.
    Timestamp,
    /// Too old, or too far ahead.
    Stale,
    /// None of its signatures is one.
    Signature,
}

impl Say for Refused {
    fn say(&self, lang: Lang) -> String {
        match self {
            Self::Id => say!(lang;
                "webhook-id must be 1 to {ID_BYTES_MAX} visible ASCII characters",
                "webhook-id 须为 1 到 {ID_BYTES_MAX} 个可见的 ASCII 字符"),
            Self::Timestamp => say!(lang;
                "webhook-timestamp must be the seconds since 1970, in digits",
                "webhook-timestamp 须为自 1970 年起的秒数，用数字书写"),
            Self::Stale => say!(lang;
                "webhook-timestamp is more than five minutes away from this node's time",
                "webhook-timestamp 与本节点的时间相差超过五分钟"),
            Self::Signature => say!(lang;
                "webhook-signature does not fit; it covers the id, the timestamp and the exact body",
                "webhook-signature 不符；它覆盖 id、时间戳和完整的请求体"),
        }
    }
}

impl<'a> Seal<'a> {
    /// Reads the values of `webhook-id`, `webhook-timestamp` and `webhook-signature`.
    pub fn read(id: &'a str, timestamp: &str, signatures: &'a str) -> Result<Self, Refused> {
        let fits = (1..=ID_BYTES_MAX).contains(&id.len());
        if !fits || !id.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(Refused::Id);
        }
        // `+1` and `01` are numbers too, but not the text that was signed.
        let seconds = timestamp.parse::<i64>().ok();
        let seconds = seconds.filter(|seconds| seconds.to_string() == timestamp);
        let at = seconds.and_then(|seconds| Timestamp::from_second(seconds).ok());
        let at = at.ok_or(Refused::Timestamp)?;
        Ok(Self { id, at, signatures })
    }

    /// What the call calls itself.
    pub fn id(&self) -> &'a str {
        self.id
    }

    /// Whether the call is genuine and of about `now`.
    pub fn check(
        &self,
        verifier: &dyn Verifier,
        body: &[u8],
        now: Timestamp,
    ) -> Result<(), Refused> {
        if now.duration_since(self.at).abs() > TOLERANCE {
            return Err(Refused::Stale);
        }
        let ours = self.signatures.split(' ').take(SIGNATURES_MAX);
        let genuine = ours
            .filter_map(|signature| signature.strip_prefix(SCHEME))
            .any(|signature| verifier.verifies(self.id, self.at, body, signature));
        if genuine {
            Ok(())
        } else {
            Err(Refused::Signature)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT: i64 = 1_767_600_000;

    /// The right signature of anything is `id/seconds/body`.
    struct Plain;

    impl Verifier for Plain {
        fn verifies(&self, id: &str, at: Timestamp, body: &[u8], signature: &str) -> bool {
            let body = String::from_utf8_lossy(body);
            signature == format!("{id}/{}/{body}", at.as_second())
        }
    }

    fn check(timestamp: &str, signatures: &str, now: i64) -> Result<(), Refused> {
        let now = Timestamp::from_second(now).unwrap();
        Seal::read("a", timestamp, signatures)?.check(&Plain, b"{}", now)
    }

    #[test]
    fn one_right_signature_among_several_is_enough() {
        let at = AT.to_string();
        let right = format!("v1,a/{AT}/{{}}");
        for signatures in [
            right.clone(),
            format!("v1,wrong {right}"),
            format!("v1a,other {right} v1,wrong"),
        ] {
            assert_eq!(check(&at, &signatures, AT), Ok(()), "{signatures}");
        }
        let many = format!("{}{right}", "v1,x ".repeat(SIGNATURES_MAX));
        for signatures in ["", "v1,", "v1,wrong", &right[3..], &many] {
            let refused = check(&at, signatures, AT);
            assert_eq!(refused, Err(Refused::Signature), "{signatures}");
        }
    }

    #[test]
    fn a_call_is_refused_when_its_time_is_far_away_on_either_side() {
        let (at, right) = (AT.to_string(), format!("v1,a/{AT}/{{}}"));
        for (now, expected) in [
            (AT + 300, Ok(())),
            (AT - 300, Ok(())),
            (AT + 301, Err(Refused::Stale)),
            (AT - 301, Err(Refused::Stale)),
        ] {
            assert_eq!(check(&at, &right, now), expected, "{now}");
        }
    }

    #[test]
    fn an_odd_id_or_time_is_refused() {
        for time in ["", "now", "+1767600000", "01767600000", "1e9", "1.5", " 1"] {
            assert_eq!(check(time, "v1,x", AT), Err(Refused::Timestamp), "{time}");
        }
        let long = "x".repeat(ID_BYTES_MAX + 1);
        for id in ["", "a b", "a\n", "é", &long] {
            assert_eq!(Seal::read(id, "1", "v1,x"), Err(Refused::Id), "{id}");
        }
    }
}
