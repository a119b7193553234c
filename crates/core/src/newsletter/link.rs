//! Signed links: what their holder may do to a subscriber, without signing in.
//!
//! A link names its purpose, the subscriber and a time; a signature covers all three, so none can
//! be exchanged. A link to confirm is valid for a week; one to unsubscribe for ever, because mail is
//! kept for years.

use jiff::{SignedDuration, Timestamp};

use super::SubscriberId;
use crate::{
    follow::{to_standard, to_url},
    signature::Verifier,
};

/// How long a link to confirm is valid.
pub const CONFIRM_WITHIN: SignedDuration = SignedDuration::from_hours(24 * 7);
/// Longest link that is looked at.
const BYTES_MAX: usize = 200;

names! {
    /// What a link is for.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Purpose {
        Confirm = "confirm",
        Unsubscribe = "unsubscribe",
    }
}

/// Knows the secret that links are signed with.
pub trait LinkSigner: Verifier {
    /// The signature of this id, time and body, as in `webhook-signature`.
    fn sign(&self, id: &str, at: Timestamp, body: &[u8]) -> String;
}

/// The part of a link that carries its authority.
pub fn write(
    signer: &dyn LinkSigner,
    purpose: Purpose,
    id: SubscriberId,
    now: Timestamp,
) -> String {
    let seconds = now.as_second();
    let at = Timestamp::from_second(seconds).unwrap_or(now);
    let signature = signer.sign(&signed_id(purpose), at, id.to_string().as_bytes());
    format!("{id}.{seconds}.{}", to_url(&signature))
}

/// Whose link it is; `None` if it was not signed for this purpose, or is too old.
pub fn read(
    verifier: &dyn Verifier,
    purpose: Purpose,
    text: &str,
    now: Timestamp,
) -> Option<SubscriberId> {
    if text.len() > BYTES_MAX {
        return None;
    }
    let (id, rest) = text.split_once('.')?;
    let (seconds, signature) = rest.split_once('.')?;
    let at = Timestamp::from_second(seconds.parse().ok()?).ok()?;
    let signature = to_standard(signature);
    let genuine = verifier.verifies(&signed_id(purpose), at, id.as_bytes(), &signature);
    let fresh = purpose == Purpose::Unsubscribe || now.duration_since(at) <= CONFIRM_WITHIN;
    (genuine && fresh).then_some(())?;
    id.parse().ok().map(SubscriberId)
}

fn signed_id(purpose: Purpose) -> String {
    format!("almanack-newsletter-{purpose}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::at;

    /// The right signature of anything is what it covers, without characters of base64's end.
    struct Plain;

    impl Verifier for Plain {
        fn verifies(&self, id: &str, at: Timestamp, body: &[u8], signature: &str) -> bool {
            to_standard(&to_url(&self.sign(id, at, body))) == signature
        }
    }

    impl LinkSigner for Plain {
        fn sign(&self, id: &str, at: Timestamp, body: &[u8]) -> String {
            let body = String::from_utf8_lossy(body);
            format!("v1,{id}x{}x{body}", at.as_second())
        }
    }

    #[test]
    fn ed_43_a_link_does_what_it_was_signed_for_and_nothing_else() {
        use Purpose::{Confirm, Unsubscribe};
        let id = SubscriberId(42);
        let confirm = write(&Plain, Confirm, id, at(0));
        let unsubscribe = write(&Plain, Unsubscribe, id, at(0));
        let week = 7 * 86_400;
        let read = |purpose, text: &str, now| read(&Plain, purpose, text, now);
        assert_eq!(read(Confirm, &confirm, at(week)), Some(id));
        assert_eq!(read(Confirm, &confirm, at(week + 1)), None, "too old");
        assert_eq!(read(Unsubscribe, &unsubscribe, at(900 * week)), Some(id));
        assert_eq!(read(Confirm, &unsubscribe, at(1)), None);
        assert_eq!(read(Unsubscribe, &confirm, at(1)), None);
        let other = unsubscribe.replacen("42", "43", 1);
        assert_eq!(read(Unsubscribe, &other, at(1)), None, "another subscriber");
        for text in ["", "42", "42.1", "42.x.y", &"4".repeat(300)] {
            assert_eq!(read(Unsubscribe, text, at(1)), None, "{text}");
        }
    }
}
