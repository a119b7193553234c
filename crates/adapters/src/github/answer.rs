//! What GitHub's answers say: status, message, limits.
//!
//! | answer | means |
//! | --- | --- |
//! | 403 or 429 with `retry-after` | wait that long |
//! | 403 or 429 with `x-ratelimit-remaining: 0` | wait until `x-ratelimit-reset` |
//! | 429, or 403 that speaks of a secondary rate limit | wait a minute, as GitHub asks |
//! | 408, 5xx | trouble that may pass |
//! | everything else | refused |

use jiff::{SignedDuration, Timestamp, fmt::rfc2822};
use reqwest::header;
use serde::Deserialize;

use super::error::Error;
use crate::{http::Head, redact::redact};

/// How long to wait where GitHub limits without saying for how long: what its documentation asks.
const LIMITED_WAIT: SignedDuration = SignedDuration::from_secs(60);
/// How much may still be asked in this window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limit {
    pub remaining: u64,
    /// When the window ends.
    pub reset_at: Timestamp,
}

/// The facts of one answer that are not in its body.
#[derive(Debug, Clone, Copy)]
pub(super) struct Facts {
    status: u16,
    remaining: Option<u64>,
    reset_at: Option<Timestamp>,
    retry_after: Option<SignedDuration>,
    dated_at: Option<Timestamp>,
    now: Timestamp,
}

impl Facts {
    pub(super) fn of(head: &Head, now: Timestamp) -> Self {
        let number = |name: &str| -> Option<u64> {
            let value = head.headers.get(name)?;
            value.to_str().ok()?.trim().parse().ok()
        };
        let seconds = |name| number(name).and_then(|number| i64::try_from(number).ok());
        Self {
            status: head.status,
            remaining: number("x-ratelimit-remaining"),
            reset_at: seconds("x-ratelimit-reset").and_then(|at| Timestamp::from_second(at).ok()),
            retry_after: seconds("retry-after").map(SignedDuration::from_secs),
            dated_at: head.header(&header::DATE).and_then(instant),
            now,
        }
    }

    /// By how much GitHub's clock is ahead of ours.
    pub(super) fn ahead(&self) -> Option<SignedDuration> {
        Some(self.dated_at?.duration_since(self.now))
    }

    pub(super) fn limit(&self) -> Option<Limit> {
        Some(Limit {
            remaining: self.remaining?,
            reset_at: self.reset_at?,
        })
    }

    /// What a refusing answer means. `names` are taken out of GitHub's message.
    pub(super) fn error(&self, body: &[u8], names: &[&str]) -> Error {
        let status = self.status;
        let message = redact(&message_of(body), names);
        if let Some(retry_after) = self.limited_for(&message) {
            return Error::Limited {
                status,
                message,
                retry_after,
            };
        }
        match status {
            408 | 500..=599 => Error::Trouble {
                status,
                message,
                retry_after: self.retry_after,
            },
            _ => Error::Refused { status, message },
        }
    }

    fn limited_for(&self, message: &str) -> Option<SignedDuration> {
        if !matches!(self.status, 403 | 429) {
            return None;
        }
        let spent = self.reset_at.filter(|_| self.remaining == Some(0));
        // The window ends within that second, not at its beginning.
        let until_reset = spent.map(|at| {
            let wait = at.duration_since(self.now) + SignedDuration::from_secs(1);
            wait.max(SignedDuration::from_secs(1))
        });
        let speaks_of_it = || message.to_ascii_lowercase().contains("rate limit");
        let unsaid = || (self.status == 429 || speaks_of_it()).then_some(LIMITED_WAIT);
        self.retry_after.or(until_reset).or_else(unsaid)
    }
}

fn instant(date: &str) -> Option<Timestamp> {
    let date = rfc2822::parse(date).ok()?;
    Some(date.timestamp())
}

/// GitHub's `message`; an answer that is not GitHub's JSON has none.
fn message_of(body: &[u8]) -> String {
    #[derive(Deserialize)]
    struct ErrorBody {
        message: String,
    }
    let read = serde_json::from_slice::<ErrorBody>(body);
    read.map_or_else(|_| "no message".to_owned(), |body| body.message)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: i64 = 1_767_600_000;

    fn facts(
        status: u16,
        remaining: Option<u64>,
        reset_s: Option<i64>,
        retry_s: Option<i64>,
    ) -> Facts {
        Facts {
            status,
            remaining,
            reset_at: reset_s.map(|second| Timestamp::from_second(second).unwrap()),
            retry_after: retry_s.map(SignedDuration::from_secs),
            dated_at: None,
            now: Timestamp::from_second(NOW).unwrap(),
        }
    }

    fn error_body(message: &str) -> Vec<u8> {
        serde_json::json!({"message": message, "documentation_url": "x"})
            .to_string()
            .into_bytes()
    }

    #[test]
    fn dp_12_a_limit_says_how_long_to_wait_and_a_refusal_does_not() {
        for (facts, message, waits, why) in [
            (
                facts(403, Some(0), Some(NOW + 90), None),
                "x",
                Some(91),
                "until the reset",
            ),
            (
                facts(429, Some(0), Some(NOW - 5), None),
                "x",
                Some(1),
                "the reset has passed",
            ),
            (
                facts(403, Some(9), Some(NOW + 90), Some(7)),
                "x",
                Some(7),
                "as asked",
            ),
            (
                facts(403, Some(0), Some(NOW + 90), Some(7)),
                "x",
                Some(7),
                "asked for first",
            ),
            (
                facts(403, Some(9), Some(NOW + 90), None),
                "Forbidden",
                None,
                "no limit at all",
            ),
            (
                facts(403, None, None, None),
                "Resource not accessible",
                None,
                "no permission",
            ),
            (
                facts(403, Some(9), None, None),
                "You have exceeded a secondary rate limit.",
                Some(60),
                "without headers",
            ),
            (facts(429, None, None, None), "x", Some(60), "unsaid"),
            (
                facts(404, Some(0), Some(NOW + 90), None),
                "Not Found",
                None,
                "spent, but not why",
            ),
            (facts(401, None, None, None), "Bad credentials", None, "no"),
        ] {
            let error = facts.error(&error_body(message), &[]);
            assert_eq!(
                error.retry_after(),
                waits.map(SignedDuration::from_secs),
                "{error}: {why}"
            );
            assert_eq!(error.is_transient(), waits.is_some(), "{error}: {why}");
            assert!(!error.may_have_taken_effect(), "{error}: {why}");
        }
        let trouble = facts(502, None, None, Some(3)).error(b"<html>", &[]);
        assert!(trouble.is_transient() && trouble.may_have_taken_effect());
        assert_eq!(trouble.to_string(), "HTTP 502: no message");
        assert_eq!(trouble.retry_after(), Some(SignedDuration::from_secs(3)));
    }
}
