//! How long a source is left alone after a failed check (SS-05).
//!
//! What failed is told by type: a status code, not a word in a message, decides. Only custom
//! sources report failures as text of their own; [`Failure::of_message`] reads that as a last
//! resort, by whole words, because "generate" contains "rate" and a URL may contain 403.

use jiff::SignedDuration;

/// The first ordinary wait; it doubles with every further failure.
const FIRST: SignedDuration = SignedDuration::from_mins(15);
/// No ordinary wait is longer.
const LONGEST: SignedDuration = SignedDuration::from_hours(24);
/// When the host limits its callers and does not say for how long.
const RATE_LIMITED: SignedDuration = SignedDuration::from_hours(6);
/// When the host refuses us.
const FORBIDDEN: SignedDuration = SignedDuration::from_hours(12);
/// When a person has to renew access; waiting longer does not help, asking more often annoys.
const UNAUTHORISED: SignedDuration = SignedDuration::from_hours(1);
/// A longer `Retry-After` is not believed: servers have been seen asking for a year.
const RETRY_AFTER_MAX: SignedDuration = SignedDuration::from_hours(7 * 24);

/// Why a check failed, as far as waiting is concerned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failure {
    /// 429, or an equivalent, with what `Retry-After` said.
    RateLimited {
        /// How long the host asked us to wait.
        retry_after: Option<SignedDuration>,
    },
    /// 401: access has expired, and only a person can renew it.
    Unauthorised,
    /// 403.
    Forbidden,
    /// Everything else, with what a 503's `Retry-After` said.
    Other {
        /// How long the host asked us to wait.
        retry_after: Option<SignedDuration>,
    },
}

/// What to do after a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wait {
    /// How long the source is backed off; zero for [`Failure::Unauthorised`].
    pub backoff: SignedDuration,
    /// When it is due again, counted from the failure; never less than `backoff`.
    pub due: SignedDuration,
    /// Whether waiting alone cannot help.
    pub needs_person: bool,
}

impl Failure {
    /// What an HTTP status means.
    pub fn of_status(status: u16, retry_after: Option<SignedDuration>) -> Self {
        match status {
            429 => Self::RateLimited { retry_after },
            401 => Self::Unauthorised,
            403 => Self::Forbidden,
            _ => Self::Other { retry_after },
        }
    }

    /// What a custom source's own message seems to mean.
    pub fn of_message(message: &str) -> Self {
        let lower = message.to_lowercase();
        let words: Vec<&str> = lower
            .split(|c: char| !c.is_alphanumeric())
            .filter(|word| !word.is_empty())
            .collect();
        let says = |phrase: &[&str]| words.windows(phrase.len()).any(|found| found == phrase);
        // Chinese is written without spaces, and these words are in no longer word.
        let limited = [
            &["rate", "limit"][..],
            &["rate", "limited"],
            &["too", "many", "requests"],
        ];
        let expired = [
            &["token", "expired"][..],
            &["session", "expired"],
            &["login", "expired"],
            &["unauthorized"],
            &["unauthorised"],
        ];
        if lower.contains("频繁") || limited.iter().any(|phrase| says(phrase)) {
            Self::RateLimited { retry_after: None }
        } else if lower.contains("过期") || expired.iter().any(|phrase| says(phrase)) {
            Self::Unauthorised
        } else if says(&["forbidden"]) {
            Self::Forbidden
        } else {
            Self::Other { retry_after: None }
        }
    }
}

/// The wait after `failures` failures in a row, this one included.
pub fn next_wait(failure: Failure, failures: u32) -> Wait {
    let asked = |wait: Option<SignedDuration>| {
        wait.map(|wait| wait.clamp(SignedDuration::ZERO, RETRY_AFTER_MAX))
    };
    let (backoff, due) = match failure {
        Failure::Unauthorised => (SignedDuration::ZERO, UNAUTHORISED),
        Failure::RateLimited { retry_after } => both(asked(retry_after).unwrap_or(RATE_LIMITED)),
        Failure::Forbidden => both(FORBIDDEN),
        Failure::Other { retry_after } => {
            let doubled = doubled(failures);
            both(asked(retry_after).map_or(doubled, |asked| asked.max(doubled)))
        }
    };
    Wait {
        backoff,
        due,
        needs_person: failure == Failure::Unauthorised,
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
    const OTHER: Failure = Failure::Other { retry_after: None };

    #[test]
    fn ss_05_ordinary_failures_wait_a_quarter_of_an_hour_doubling_to_a_day() {
        for (failures, minutes) in [
            (0, 15), // nobody asks, but nobody is harmed either
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
            let wait = next_wait(OTHER, failures);
            assert_eq!(wait.backoff, MINUTE * minutes, "{failures} failures");
            assert_eq!(wait.due, wait.backoff);
            assert!(!wait.needs_person);
        }
    }

    #[test]
    fn ss_05_what_the_host_says_decides() {
        let hours = SignedDuration::from_hours;
        let limited = |retry_after| next_wait(Failure::RateLimited { retry_after }, 3).backoff;
        assert_eq!(limited(None), hours(6));
        assert_eq!(limited(Some(MINUTE)), MINUTE, "it said how long");
        assert_eq!(limited(Some(hours(9_000))), hours(168), "not a year");
        assert_eq!(
            limited(Some(-MINUTE)),
            SignedDuration::ZERO,
            "a date that has passed"
        );
        assert_eq!(next_wait(Failure::Forbidden, 1).backoff, hours(12));
        let expired = next_wait(Failure::Unauthorised, 5);
        assert_eq!((expired.backoff, expired.due), (hours(0), hours(1)));
        assert!(expired.needs_person);
        let busy = Failure::Other {
            retry_after: Some(hours(2)),
        };
        assert_eq!(next_wait(busy, 1).backoff, hours(2), "503 with Retry-After");
        assert_eq!(
            next_wait(busy, 6).backoff,
            hours(8),
            "which does not shorten"
        );
    }

    #[test]
    fn ss_05_text_is_read_by_words_and_only_as_a_last_resort() {
        let limited = Failure::RateLimited { retry_after: None };
        for (message, expected) in [
            ("rate limit exceeded", limited),
            ("Too many requests!", limited),
            ("请求过于频繁", limited),
            ("token expired", Failure::Unauthorised),
            ("登录已过期", Failure::Unauthorised),
            ("403 Forbidden", Failure::Forbidden),
            ("cannot generate a separate corporate page", OTHER),
            ("https://example.org/429/401/403 did not answer", OTHER),
            ("certificate has expired", OTHER),
            ("the frame rate is low", OTHER),
            ("", OTHER),
        ] {
            assert_eq!(Failure::of_message(message), expected, "{message}");
        }
        assert_eq!(
            Failure::of_status(429, Some(MINUTE)),
            Failure::RateLimited {
                retry_after: Some(MINUTE)
            }
        );
        assert_eq!(Failure::of_status(401, None), Failure::Unauthorised);
        assert_eq!(Failure::of_status(403, None), Failure::Forbidden);
        assert_eq!(Failure::of_status(500, None), OTHER);
    }

    proptest! {
        /// Property 7 of the founding design.
        #[test]
        fn ss_11_backoff_is_what_the_failure_says(failures in 1_u32..2_000, status in 100_u16..600) {
            let wait = next_wait(Failure::of_status(status, None), failures);
            let expected = match status {
                429 => SignedDuration::from_hours(6),
                401 => SignedDuration::ZERO,
                403 => SignedDuration::from_hours(12),
                _ if failures >= 8 => SignedDuration::from_hours(24),
                _ => MINUTE * 15 * (1 << (failures - 1)),
            };
            prop_assert_eq!(wait.backoff, expected);
            prop_assert!(wait.due >= wait.backoff && wait.due > SignedDuration::ZERO);
            prop_assert!(next_wait(Failure::of_status(status, None), failures + 1).backoff >= wait.backoff);
        }
    }
}
