//! Expiry: from when on a task is not to be tried any more.
//!
//! A requester sets an instant, or how long after `execute_at`: "not if more than an hour late". A
//! row keeps both, the instant in force and what it was computed from, so that the second kind
//! moves with every change of the time while the first stays.
//!
//! INVARIANT: no attempt starts at or after that instant, by the shared clock (WK-06). A claim
//! hands out what has expired like everything else, and whoever would start it asks
//! [`Expiry::is_over`] right before, because a claim's answer may be slow; it is then ended with
//! [`Outcome::Expired`](crate::finish::Outcome::Expired) instead. A task that waits never waits for
//! longer than to its expiry ([`Expiry::bound`]).

use jiff::{SignedDuration, Timestamp};
use serde::Serialize;

use super::Invalid;
use crate::time::LATEST;

/// Longest time from `execute_at` to the expiry: ten years.
pub const EXPIRES_AFTER_S_MAX: u32 = 315_360_000;

/// What a requester says about a task's expiry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expires {
    /// Not at all.
    Never,
    /// At an instant, whatever becomes of its time.
    At(Timestamp),
    /// So many seconds after its time, and moves with it.
    After(u32),
}

impl Expires {
    /// Reads the two fields, of which at most one is set. Zero seconds mean never.
    pub fn parse(at: Option<Timestamp>, after_s: Option<i64>) -> Result<Option<Self>, Invalid> {
        match (at, after_s) {
            (None, None) => Ok(None),
            (Some(at), None) => Ok(Some(Self::At(at))),
            (None, Some(0)) => Ok(Some(Self::Never)),
            (None, Some(seconds)) => {
                let after_s = u32::try_from(seconds).ok();
                let after_s = after_s.filter(|seconds| *seconds <= EXPIRES_AFTER_S_MAX);
                let after_s = after_s.ok_or(Invalid::ExpiresAfter(seconds))?;
                Ok(Some(Self::After(after_s)))
            }
            (Some(_), Some(_)) => Err(Invalid::ExpiresTwice),
        }
    }

    /// Whether a task with this expiry was requested so.
    pub(crate) fn is(self, expiry: Expiry) -> bool {
        match self {
            Self::Never => expiry == Expiry::NEVER,
            Self::At(at) => (expiry.at, expiry.after_s) == (Some(at), None),
            Self::After(seconds) => expiry.after_s == Some(seconds),
        }
    }
}

/// A task's expiry, as its row keeps it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Expiry {
    /// When the task expires: no attempt starts from then on.
    #[serde(rename = "expires_at", skip_serializing_if = "Option::is_none")]
    pub at: Option<Timestamp>,
    /// The seconds from `execute_at` to the expiry, if it moves with it.
    #[serde(rename = "expires_after_s", skip_serializing_if = "Option::is_none")]
    pub after_s: Option<u32>,
}

impl Expiry {
    /// Of a task that does not expire.
    pub const NEVER: Self = Self {
        at: None,
        after_s: None,
    };

    /// Of a task with this time.
    pub fn of(expires: Expires, execute_at: Timestamp) -> Self {
        match expires {
            Expires::Never => Self::NEVER,
            Expires::At(at) => Self {
                at: Some(at),
                after_s: None,
            },
            Expires::After(seconds) => Self {
                // A time so far ahead means that it is not known yet.
                at: execute_at
                    .checked_add(SignedDuration::from_secs(seconds.into()))
                    .ok()
                    .filter(|at| *at <= LATEST),
                after_s: Some(seconds),
            },
        }
    }

    /// The same after its task got another time.
    #[must_use]
    pub fn moved_to(self, execute_at: Timestamp) -> Self {
        match self.after_s {
            Some(seconds) => Self::of(Expires::After(seconds), execute_at),
            None => self,
        }
    }

    /// Whether the task has expired at `now`: it must not be started any more.
    pub fn is_over(self, now: Timestamp) -> bool {
        self.at.is_some_and(|at| at <= now)
    }

    /// The time to look at a task that is to be tried at `try_at`: no later than its expiry, or it
    /// would wait for an attempt that never starts.
    pub fn bound(self, try_at: Timestamp) -> Timestamp {
        self.at.map_or(try_at, |at| at.min(try_at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{NOW, at};

    #[test]
    fn wk_06_an_expiry_is_an_instant_or_moves_with_the_time() {
        let hour = Expiry::of(Expires::After(3_600), NOW);
        assert_eq!(hour.at, Some(at(3_600)));
        assert_eq!(hour.moved_to(at(60)).at, Some(at(3_660)));
        let fixed = Expiry::of(Expires::At(at(60)), NOW);
        assert_eq!(fixed.moved_to(at(600)), fixed);
        assert_eq!(Expiry::NEVER.moved_to(at(600)), Expiry::NEVER);
        let unknown = Expiry::of(Expires::After(1), LATEST);
        assert_eq!(unknown.at, None, "a time that is not known yet");
        assert_eq!(unknown.moved_to(NOW).at, Some(at(1)));
    }

    #[test]
    fn wk_06_it_is_over_at_its_instant_and_not_before() {
        let expiry = Expiry::of(Expires::At(at(60)), NOW);
        for (now, over) in [(at(59), false), (at(60), true), (at(61), true)] {
            assert_eq!(expiry.is_over(now), over, "{now}");
        }
        assert!(!Expiry::NEVER.is_over(LATEST));
        assert_eq!(expiry.bound(at(30)), at(30));
        assert_eq!(expiry.bound(at(90)), at(60));
        assert_eq!(Expiry::NEVER.bound(at(90)), at(90));
    }

    #[test]
    fn wk_06_one_of_the_two_fields_is_read() {
        for (at_given, after_s, expected) in [
            (None, None, Ok(None)),
            (Some(NOW), None, Ok(Some(Expires::At(NOW)))),
            (None, Some(0), Ok(Some(Expires::Never))),
            (None, Some(1), Ok(Some(Expires::After(1)))),
            (None, Some(-1), Err(Invalid::ExpiresAfter(-1))),
            (
                None,
                Some(315_360_001),
                Err(Invalid::ExpiresAfter(315_360_001)),
            ),
            (Some(NOW), Some(1), Err(Invalid::ExpiresTwice)),
        ] {
            assert_eq!(Expires::parse(at_given, after_s), expected, "{after_s:?}");
        }
    }
}
