//! What an answer, or none, means for a source (SS-05): by status and by type, never by words.

use almanack_core::source::check::{Failure, FailureClass};
use jiff::Timestamp;

use super::freshness;
use crate::http::{Error, Head};

/// Why an answer with this status has no document; `None` if it has one.
pub(crate) fn refusal(head: &Head, now: Timestamp) -> Option<Failure> {
    let retry_after = freshness::retry_after(&head.headers, now);
    let class = class_of(head.status, retry_after.is_some())?;
    Some(Failure {
        class,
        detail: detail(head.status, class),
        retry_after,
    })
}

fn class_of(status: u16, says_when: bool) -> Option<FailureClass> {
    Some(match status {
        200..=299 | 304 => return None,
        300..=399 => FailureClass::Redirect,
        401 | 407 => FailureClass::Unauthorised,
        403 | 451 => FailureClass::Forbidden,
        404 => FailureClass::NotFound,
        410 => FailureClass::Gone,
        429 => FailureClass::RateLimited,
        503 if says_when => FailureClass::RateLimited,
        _ => FailureClass::Server,
    })
}

fn detail(status: u16, class: FailureClass) -> String {
    let what = match class {
        FailureClass::RateLimited => "the site asks us to come less often",
        FailureClass::Unauthorised => "the site wants credentials that we do not have",
        FailureClass::Forbidden => "the site does not let us read this",
        FailureClass::Gone => "the site says that this is gone for good",
        FailureClass::NotFound => "there is nothing at this address",
        FailureClass::Redirect => "the site redirects in a way that we do not follow",
        _ if status >= 500 => "the site has an internal problem",
        _ => "the site does not accept the request",
    };
    format!("{what} (HTTP {status})")
}

/// Why there was no answer.
pub(crate) fn no_answer(error: &Error) -> Failure {
    let class = match error {
        Error::Refused { hops: 0, .. } | Error::Spent(_) | Error::Proxy { .. } => {
            FailureClass::Refused
        }
        Error::Robots {
            is_forbidden: true, ..
        } => FailureClass::Forbidden,
        Error::Robots { .. } => FailureClass::Server,
        Error::Busy { .. } => FailureClass::RateLimited,
        Error::Refused { .. }
        | Error::TooManyRedirects { .. }
        | Error::RedirectLoop
        | Error::BadRedirect => FailureClass::Redirect,
        Error::Dns { .. } => FailureClass::Dns,
        Error::Connect { .. } | Error::Broken { .. } => FailureClass::Connection,
        Error::Tls { .. } => FailureClass::Tls,
        Error::Timeout { .. } => FailureClass::Timeout,
        Error::TooLarge { .. } | Error::Inflated { .. } => FailureClass::TooLarge,
        Error::Coding | Error::Unpacked | Error::Truncated => FailureClass::Malformed,
    };
    Failure::new(class, error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use reqwest::header::{HeaderMap, RETRY_AFTER};
    use url::Url;

    fn check(status: u16, retry_after: Option<&'static str>) -> Option<Failure> {
        let mut headers = HeaderMap::new();
        if let Some(value) = retry_after {
            headers.insert(RETRY_AFTER, value.parse().unwrap());
        }
        let head = Head {
            status,
            headers,
            address: Url::parse("https://site.example/feed").unwrap(),
            moved_to: None,
        };
        refusal(&head, Timestamp::UNIX_EPOCH)
    }

    #[test]
    fn ss_05_the_status_decides_what_kind_of_failure_it_is() {
        use FailureClass as C;
        for (status, retry_after, expected) in [
            (200, None, None),
            (206, None, None),
            (304, None, None),
            (300, None, Some(C::Redirect)),
            (400, None, Some(C::Server)),
            (401, None, Some(C::Unauthorised)),
            (403, None, Some(C::Forbidden)),
            (404, None, Some(C::NotFound)),
            (410, None, Some(C::Gone)),
            (418, None, Some(C::Server)),
            (429, None, Some(C::RateLimited)),
            (429, Some("60"), Some(C::RateLimited)),
            (451, None, Some(C::Forbidden)),
            (500, None, Some(C::Server)),
            (500, Some("60"), Some(C::Server)),
            (503, None, Some(C::Server)),
            (503, Some("60"), Some(C::RateLimited)),
            (503, Some("later"), Some(C::Server)),
        ] {
            let class = check(status, retry_after).map(|failure| failure.class);
            assert_eq!(class, expected, "{status} {retry_after:?}");
        }
        let wait = check(503, Some("60")).unwrap().retry_after;
        assert_eq!(wait, Some(jiff::SignedDuration::from_secs(60)));
    }

    #[test]
    fn sentences_about_statuses() {
        let details: Vec<String> = [400, 401, 403, 404, 410, 429, 451, 500, 503]
            .into_iter()
            .filter_map(|status| Some(check(status, None)?.detail))
            .collect();
        insta::assert_snapshot!(details.join("\n"), @"
        the site does not accept the request (HTTP 400)
        the site wants credentials that we do not have (HTTP 401)
        the site does not let us read this (HTTP 403)
        there is nothing at this address (HTTP 404)
        the site says that this is gone for good (HTTP 410)
        the site asks us to come less often (HTTP 429)
        the site does not let us read this (HTTP 451)
        the site has an internal problem (HTTP 500)
        the site has an internal problem (HTTP 503)
        ");
    }
}
