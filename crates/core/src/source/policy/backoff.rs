//! How long a source is left alone after a failed check (SS-05).
//!
//! A failure is classified by its class, which comes from a status code or from what the network
//! did, never from a word in a message: "generate" contains "rate", and an address may contain 403.

use jiff::SignedDuration;

use crate::source::check::FailureClass;

/// The first ordinary wait; it doubles with every further failure.
const FIRST: SignedDuration = SignedDuration::from_mins(15);
/// No ordinary wait is longer.
const LONGEST: SignedDuration = SignedDuration::from_hours(24);
/// When the host limits its callers and does not say for how long.
const RATE_LIMITED: SignedDuration = SignedDuration::from_hours(6);
/// When the host refuses us.
const FORBIDDEN: SignedDuration = SignedDuration::from_hours(12);
/// When the host says that it is gone for good, until that is believed.
const GONE: SignedDuration = SignedDuration::from_hours(24);
/// When a person has to renew access; waiting longer does not help, asking more often annoys.
const UNAUTHORISED: SignedDuration = SignedDuration::from_hours(1);
/// A longer `Retry-After` is not believed: servers have been seen to request a year.
const RETRY_AFTER_MAX: SignedDuration = SignedDuration::from_hours(7 * 24);

/// What to do after a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wait {
    /// How long the source is backed off; zero for [`FailureClass::Unauthorised`].
    pub backoff: SignedDuration,
    /// When it is due again, counted from the failure; never less than `backoff`.
    pub due: SignedDuration,
    /// Whether waiting alone cannot help.
    pub needs_person: bool,
}

/// The wait after `failures` failures in a row, this one included. A host that requests less than
/// the first wait gets the first wait: it is in trouble, and a source is not worth more of it.
pub fn next_wait(class: FailureClass, retry_after: Option<SignedDuration>, failures: u32) -> Wait {
    let asked = retry_after.map(|wait| wait.clamp(FIRST, RETRY_AFTER_MAX));
    let (backoff, due) = match class {
        FailureClass::Unauthorised => (SignedDuration::ZERO, UNAUTHORISED),
        FailureClass::RateLimited => both(asked.unwrap_or(RATE_LIMITED)),
        FailureClass::Forbidden => both(FORBIDDEN),
        FailureClass::Gone => both(GONE),
        _ => {
            let doubled = doubled(failures);
            both(asked.map_or(doubled, |asked| asked.max(doubled)))
        }
    };
    Wait {
        backoff,
        due,
        needs_person: class == FailureClass::Unauthorised,
    }
}

fn both(wait: SignedDuration) -> (SignedDuration, SignedDuration) {
    (wait, wait)
}

fn doubled(failures: u32) -> SignedDuration {
    let times = 2_i32.saturating_pow(failures.saturating_sub(1));
    FIRST.saturating_mul(times).min(LONGEST)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const MINUTE: SignedDuration = SignedDuration::from_mins(1);
    const OTHER: FailureClass = FailureClass::Server;

    #[test]
    fn ss_05_ordinary_failures_wait_a_quarter_of_an_hour_doubling_to_a_day() {
        for (failures, minutes) in [
            (0, 15), // not used, and harmless
            (1, 15),
            (2, 30),
            (3, 60),
            (4, 120),
            (5, 240),
            (6, 480),
            (7, 960),
            (8, 1440),
            (9, 1440),
            (u32::MAX, 1440),
        ] {
            let wait = next_wait(OTHER, None, failures);
            assert_eq!(wait.backoff, MINUTE * minutes, "{failures} failures");
            assert_eq!(wait.due, wait.backoff);
            assert!(!wait.needs_person);
        }
    }

    #[test]
    fn ss_05_what_the_host_says_decides() {
        let hours = SignedDuration::from_hours;
        let limited = |asked| next_wait(FailureClass::RateLimited, asked, 3).backoff;
        assert_eq!(limited(None), hours(6));
        assert_eq!(limited(Some(MINUTE * 40)), MINUTE * 40, "it said how long");
        assert_eq!(limited(Some(hours(9_000))), hours(168), "not a year");
        for soon in [MINUTE, SignedDuration::ZERO, -MINUTE] {
            assert_eq!(limited(Some(soon)), FIRST, "it is in trouble all the same");
        }
        assert_eq!(
            next_wait(FailureClass::Forbidden, None, 1).backoff,
            hours(12)
        );
        assert_eq!(next_wait(FailureClass::Gone, None, 1).backoff, hours(24));
        let expired = next_wait(FailureClass::Unauthorised, None, 5);
        assert_eq!((expired.backoff, expired.due), (hours(0), hours(1)));
        assert!(expired.needs_person);
        let busy = |failures| next_wait(OTHER, Some(hours(2)), failures).backoff;
        assert_eq!(busy(1), hours(2), "it said how long");
        assert_eq!(busy(6), hours(8), "which does not shorten");
    }

    proptest! {
        /// Property 7 of the founding design.
        #[test]
        fn ss_11_backoff_is_what_the_failure_says(
            failures in 1_u32..2_000,
            class in proptest::sample::select(FailureClass::ALL.to_vec()),
        ) {
            let wait = next_wait(class, None, failures);
            let expected = match class {
                FailureClass::RateLimited => SignedDuration::from_hours(6),
                FailureClass::Unauthorised => SignedDuration::ZERO,
                FailureClass::Forbidden => SignedDuration::from_hours(12),
                FailureClass::Gone => SignedDuration::from_hours(24),
                _ if failures >= 8 => SignedDuration::from_hours(24),
                _ => MINUTE * 15 * (1 << (failures - 1)),
            };
            prop_assert_eq!(wait.backoff, expected);
            prop_assert!(wait.due >= wait.backoff && wait.due > SignedDuration::ZERO);
            prop_assert!(next_wait(class, None, failures + 1).backoff >= wait.backoff);
        }

        #[test]
        fn ss_05_nothing_is_asked_again_at_once(
            failures in any::<u32>(),
            asked in proptest::option::of(any::<i64>()),
            class in proptest::sample::select(FailureClass::ALL.to_vec()),
        ) {
            let wait = next_wait(class, asked.map(SignedDuration::from_secs), failures);
            prop_assert!(wait.due >= FIRST && wait.due <= RETRY_AFTER_MAX);
        }
    }
}
