//! What the headers of an answer say about when to come again.

use almanack_core::{callback::wait_asked_for, source::hints::Hints};
use jiff::{SignedDuration, Timestamp};
use reqwest::header::{AGE, CACHE_CONTROL, DATE, EXPIRES, HeaderMap, HeaderName, RETRY_AFTER};

use super::date;

/// How long the answer is fresh, as hints. Zero is no hint.
pub fn hints(headers: &HeaderMap, now: Timestamp) -> Hints {
    let fresh_for = fresh_for(headers, now).filter(|seconds| *seconds > 0);
    Hints {
        fresh_for,
        ..Hints::default()
    }
}

/// `Retry-After`: seconds, or a date.
pub fn retry_after(headers: &HeaderMap, now: Timestamp) -> Option<SignedDuration> {
    wait_asked_for(text(headers, &RETRY_AFTER)?, now)
}

fn fresh_for(headers: &HeaderMap, now: Timestamp) -> Option<u32> {
    let mut max_age = None;
    for value in headers.get_all(CACHE_CONTROL) {
        for directive in value.to_str().unwrap_or_default().split(',') {
            let (name, value) = directive.split_once('=').unwrap_or((directive, ""));
            match name.trim().to_ascii_lowercase().as_str() {
                // A server that wants every request gives no hint about when.
                "no-cache" | "no-store" => return None,
                "max-age" => max_age = max_age.or_else(|| seconds(value)),
                _ => {}
            }
        }
    }
    match max_age {
        Some(max_age) => Some(max_age.saturating_sub(age(headers))),
        None => until_expiry(headers, now),
    }
}

/// How long caches on the way have kept it.
fn age(headers: &HeaderMap) -> u32 {
    text(headers, &AGE).and_then(seconds).unwrap_or(0)
}

/// `Expires` by the server's own clock, since only that is known to go with it.
fn until_expiry(headers: &HeaderMap, now: Timestamp) -> Option<u32> {
    let expires_at = date::parse(text(headers, &EXPIRES)?)?;
    let sent_at = text(headers, &DATE).and_then(date::parse).unwrap_or(now);
    u32::try_from(expires_at.duration_since(sent_at).as_secs()).ok()
}

fn seconds(text: &str) -> Option<u32> {
    let text = text.trim().trim_matches('"');
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| text.parse().unwrap_or(u32::MAX))
}

fn text<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::constant(1_767_323_045, 0);

    fn headers(lines: &[&str]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for line in lines {
            let (name, value) = line.split_once(": ").unwrap();
            let name: HeaderName = name.parse().unwrap();
            headers.append(name, value.parse().unwrap());
        }
        headers
    }

    fn check(lines: &[&str], expected: Option<u32>, why: &str) {
        let fresh_for = hints(&headers(lines), NOW).fresh_for;
        assert_eq!(fresh_for, expected, "{why}: {lines:?}");
    }

    #[test]
    fn ss_12_cache_control_says_how_long_nothing_is_new() {
        for (lines, expected, why) in [
            (vec![], None, "nothing"),
            (vec!["cache-control: max-age=600"], Some(600), "plain"),
            (
                vec!["cache-control: Public, MAX-AGE=\"600\""],
                Some(600),
                "as some write it",
            ),
            (
                vec!["cache-control: public", "cache-control: max-age=600"],
                Some(600),
                "two lines",
            ),
            (
                vec!["cache-control: max-age=600", "age: 100"],
                Some(500),
                "kept for a while",
            ),
            (
                vec!["cache-control: max-age=600", "age: 700"],
                None,
                "kept too long",
            ),
            (vec!["cache-control: max-age=0"], None, "no hint"),
            (
                vec!["cache-control: no-cache, max-age=600"],
                None,
                "ask each time",
            ),
            (
                vec!["cache-control: max-age=600, no-store"],
                None,
                "ask each time",
            ),
            (
                vec!["cache-control: max-age=99999999999999"],
                Some(u32::MAX),
                "held, and capped later",
            ),
            (vec!["cache-control: max-age=-1"], None, "no number"),
            (vec!["cache-control: max-age"], None, "no number"),
        ] {
            check(&lines, expected, why);
        }
    }

    #[test]
    fn ss_12_expires_says_until_when_nothing_is_new() {
        for (lines, expected, why) in [
            (
                vec![
                    "expires: Fri, 02 Jan 2026 04:04:05 GMT",
                    "date: Fri, 02 Jan 2026 03:34:05 GMT",
                ],
                Some(1800),
                "by the server's clock",
            ),
            (
                vec!["expires: Fri, 02 Jan 2026 04:04:05 GMT"],
                Some(3600),
                "by ours",
            ),
            (vec!["expires: 0"], None, "no date"),
            (
                vec!["expires: Thu, 01 Jan 1970 00:00:00 GMT"],
                None,
                "long ago",
            ),
            (
                vec![
                    "cache-control: max-age=60",
                    "expires: Fri, 02 Jan 2026 04:04:05 GMT",
                ],
                Some(60),
                "the newer header counts",
            ),
            (
                vec![
                    "cache-control: no-cache",
                    "expires: Fri, 02 Jan 2026 04:04:05 GMT",
                ],
                None,
                "the newer header counts",
            ),
        ] {
            check(&lines, expected, why);
        }
    }

    #[test]
    fn ss_05_retry_after_is_seconds_or_a_date() {
        for (value, expected) in [
            ("120", Some(120)),
            ("Fri, 02 Jan 2026 03:14:05 GMT", Some(600)),
            ("Thu, 01 Jan 2026 03:14:05 GMT", Some(0)),
            ("soon", None),
        ] {
            let headers = headers(&[&format!("retry-after: {value}")]);
            let expected = expected.map(SignedDuration::from_secs);
            assert_eq!(retry_after(&headers, NOW), expected, "{value}");
        }
    }
}
