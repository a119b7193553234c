//! Links by which a person without a sign-in decides about one waiting edition (ED-42).
//!
//! A link names an edition, its revision, the wait it was made for and when it expires; a signature
//! covers all of that. Whoever has the link may decide, once: a decision, a correction or another
//! wait voids it, because each of them changes what it names. What a link looks at it never
//! changes: previews of links open them.

use jiff::{SignedDuration, Timestamp};

use super::{Edition, EditionId};
use crate::{follow::to_standard, signature::Verifier};

/// How long a link is good where the hold has no end of its own.
const VALID_FOR: SignedDuration = SignedDuration::from_hours(7 * 24);

/// One wait of one revision, for which a link is made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Review {
    pub id: EditionId,
    pub revision: u32,
    /// Since when it waits, in microseconds.
    pub since_us: i64,
    /// When the link expires; whole seconds.
    pub expires_at: Timestamp,
}

impl Review {
    /// The review of an edition that waits; none of any other.
    pub fn of(edition: &Edition) -> Option<Self> {
        let hold = edition.waiting()?;
        let week = hold.since.saturating_add(VALID_FOR).ok()?;
        let expires_at = hold.until.unwrap_or(week);
        Some(Self {
            id: edition.id,
            revision: edition.revision,
            since_us: hold.since.as_microsecond(),
            expires_at: Timestamp::from_second(expires_at.as_second()).ok()?,
        })
    }

    /// What is signed, beside the time at which it expires: an id that no call has.
    pub fn signed_id(&self) -> String {
        let Self {
            id,
            revision,
            since_us,
            ..
        } = self;
        format!("almanack-review-{id}-{revision}-{since_us}")
    }

    /// Whether `signature` was made for exactly this.
    pub fn is_signed(&self, verifier: &dyn Verifier, signature: &str) -> bool {
        let signature = to_standard(signature);
        verifier.verifies(&self.signed_id(), self.expires_at, b"", &signature)
    }

    /// Whether the link is too old.
    pub fn has_expired(&self, now: Timestamp) -> bool {
        now >= self.expires_at
    }

    /// The wait it is about.
    pub fn since(&self) -> Option<Timestamp> {
        Timestamp::from_microsecond(self.since_us).ok()
    }
}
