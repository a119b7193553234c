//! What a business service's answer to a callback means.
//!
//! Almanack decides when to try, the service decides whether it takes effect: so the answer's
//! status is all that counts, and it is read the same way for every kind.
//!
//! | answer | meaning |
//! | --- | --- |
//! | 2xx, or one configured as "already done" | it took effect: done |
//! | 408, 425, 429, 5xx, no answer | it may pass: retry |
//! | anything else, redirects included | refused for good: give up |

mod options;

use jiff::{SignedDuration, Timestamp, fmt::rfc2822};

use crate::finish::Outcome;

pub use options::{Callback, TIMEOUT_S_MAX};

/// An answer that means "this had already taken effect": a status, and the `code` in the answer's
/// JSON body when the status alone is not enough. Written `409` or `409:already_published`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AlreadyDone {
    pub status: u16,
    /// The body's `code`, if it matters.
    pub code: Option<String>,
}

impl AlreadyDone {
    /// Reads `409` or `409:already_published`.
    pub fn parse(text: &str) -> Option<Self> {
        let (status, code) = match text.split_once(':') {
            Some((status, code)) if !code.is_empty() => (status, Some(code.to_owned())),
            Some(_) => return None,
            None => (text, None),
        };
        let status = status
            .parse()
            .ok()
            .filter(|status| (400..600).contains(status))?;
        Some(Self { status, code })
    }

    fn matches(&self, answer: &Answer<'_>) -> bool {
        self.status == answer.status
            && self
                .code
                .as_deref()
                .is_none_or(|code| answer.code == Some(code))
    }
}

/// What came back.
#[derive(Debug, Clone, Copy)]
pub struct Answer<'a> {
    pub status: u16,
    /// The `code` in the body, if it was JSON and had one.
    pub code: Option<&'a str>,
    /// The `Retry-After` header, if there was one.
    pub retry_after: Option<&'a str>,
}

/// What an answer means for the attempt that got it at `now`.
pub fn judge(answer: &Answer<'_>, already_done: &[AlreadyDone], now: Timestamp) -> Outcome {
    let text = describe(answer);
    match answer.status {
        200..=299 => Outcome::done(text),
        _ if already_done.iter().any(|known| known.matches(answer)) => {
            Outcome::done(format!("{text}: had already taken effect"))
        }
        408 | 425 | 429 | 500..=599 => Outcome::Retry {
            error: text,
            retry_after: answer
                .retry_after
                .and_then(|text| wait_asked_for(text, now)),
        },
        300..=399 => Outcome::give_up(format!("{text}: redirects are not followed")),
        _ => Outcome::give_up(text),
    }
}

/// The body is not kept: it may hold anything. Its `code` is meant to be shown.
fn describe(answer: &Answer<'_>) -> String {
    match answer.code {
        Some(code) => format!(
            "HTTP {} ({})",
            answer.status,
            code.chars().take(100).collect::<String>()
        ),
        None => format!("HTTP {}", answer.status),
    }
}

/// `Retry-After` is a number of seconds or a date.
pub fn wait_asked_for(text: &str, now: Timestamp) -> Option<SignedDuration> {
    let text = text.trim();
    if let Ok(seconds) = text.parse::<u32>() {
        return Some(SignedDuration::from_secs(seconds.into()));
    }
    let at = rfc2822::parse(text).ok()?.timestamp();
    Some(at.duration_since(now).max(SignedDuration::ZERO))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::UNIX_EPOCH;

    fn outcome(status: u16, code: Option<&str>, retry_after: Option<&str>) -> Outcome {
        let known = [AlreadyDone::parse("409:already_published").unwrap()];
        judge(
            &Answer {
                status,
                code,
                retry_after,
            },
            &known,
            NOW,
        )
    }

    #[test]
    fn rs_09_statuses_sort_into_done_retry_and_give_up() {
        for (status, code, expected) in [
            (200, None, "done"),
            (204, None, "done"),
            (409, Some("already_published"), "done"),
            (409, Some("not_ready"), "give_up"),
            (409, None, "give_up"),
            (408, None, "retry"),
            (425, None, "retry"),
            (429, None, "retry"),
            (500, None, "retry"),
            (503, None, "retry"),
            (301, None, "give_up"),
            (400, None, "give_up"),
            (404, None, "give_up"),
            (410, None, "give_up"),
        ] {
            assert_eq!(
                outcome(status, code, None).name(),
                expected,
                "{status} {code:?}"
            );
        }
    }

    #[test]
    fn rs_09_retry_after_is_read_as_seconds_or_as_a_date() {
        for (header, expected) in [
            ("120", Some(120)),
            ("Thu, 01 Jan 1970 00:01:00 GMT", Some(60)),
            ("Wed, 31 Dec 1969 23:00:00 GMT", Some(0)),
            ("soon", None),
            ("-5", None),
        ] {
            let Outcome::Retry { retry_after, .. } = outcome(503, None, Some(header)) else {
                panic!("503 is a retry");
            };
            assert_eq!(
                retry_after,
                expected.map(SignedDuration::from_secs),
                "{header}"
            );
        }
    }

    #[test]
    fn already_done_is_written_as_a_status_with_an_optional_code() {
        for bad in ["", "200", "409:", "x", "999", ":a"] {
            assert_eq!(AlreadyDone::parse(bad), None, "{bad}");
        }
        let known = AlreadyDone::parse("409").unwrap();
        assert!(known.matches(&Answer {
            status: 409,
            code: Some("any"),
            retry_after: None
        }));
    }
}
