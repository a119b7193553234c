//! What an answer, or none, means to an edition: by its status, never by its text.

use almanack_core::{
    edition::port::{Failure, FailureClass},
    time::Clock,
};
use jiff::Timestamp;

use crate::{
    feed::freshness,
    http::{Client, Error, Head, Request, Response},
};

/// An external service.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Upstream {
    /// Its name, at the start of a sentence.
    name: &'static str,
    /// Whether it has our credentials: then a refusal is about them.
    knows_us: bool,
}

impl Upstream {
    /// A service without credentials.
    pub(crate) const fn open(name: &'static str) -> Self {
        let knows_us = false;
        Self { name, knows_us }
    }

    /// A service that requires credentials.
    pub(crate) const fn keyed(name: &'static str) -> Self {
        let knows_us = true;
        Self { name, knows_us }
    }

    /// Sends a request; no answer and a refusal are failures.
    pub(crate) async fn send(
        self,
        client: &Client,
        request: Request,
        clock: &dyn Clock,
    ) -> Result<Response, Failure> {
        let sent = client.send(request).await;
        let response = sent.map_err(|error| self.no_answer(&error))?;
        let refused = self.refusal(&response.head, clock.now());
        refused.map_or(Ok(response), Err)
    }

    /// Why an answer with this head is a failure, if it is one.
    pub(crate) fn refusal(self, head: &Head, now: Timestamp) -> Option<Failure> {
        let retry_after = freshness::retry_after(&head.headers, now);
        let class = self.class_of(head.status, retry_after.is_some())?;
        let what = match class {
            FailureClass::RateLimited => "asks us to come less often",
            FailureClass::Credentials => "does not accept our credentials",
            FailureClass::Transient => "has an internal problem",
            _ => "refuses the request",
        };
        Some(Failure {
            class,
            detail: format!("{} {what} (HTTP {})", self.name, head.status),
            retry_after,
        })
    }

    fn class_of(self, status: u16, says_when: bool) -> Option<FailureClass> {
        Some(match status {
            200..=299 => return None,
            401..=403 | 407 if self.knows_us => FailureClass::Credentials,
            429 => FailureClass::RateLimited,
            503 if says_when => FailureClass::RateLimited,
            408 | 425 | 500..=599 => FailureClass::Transient,
            _ => FailureClass::Refused,
        })
    }

    /// Why there was no answer.
    pub(crate) fn no_answer(self, error: &Error) -> Failure {
        let class = match error {
            Error::Spent(_) => return Failure::spent(),
            Error::Busy { .. } => FailureClass::RateLimited,
            Error::Refused { .. }
            | Error::Proxy { .. }
            | Error::Robots { .. }
            | Error::TooManyRedirects { .. }
            | Error::RedirectLoop
            | Error::BadRedirect => FailureClass::Refused,
            Error::Dns { .. }
            | Error::Connect { .. }
            | Error::Tls { .. }
            | Error::Timeout { .. }
            | Error::Truncated
            | Error::Broken { .. } => FailureClass::Transient,
            Error::TooLarge { .. } | Error::Inflated { .. } | Error::Coding | Error::Unpacked => {
                FailureClass::Unusable
            }
        };
        Failure::new(class, format!("{}: {error}", self.name))
    }

    /// An answer came that cannot be used.
    pub(crate) fn unusable(self, what: &str) -> Failure {
        Failure::new(FailureClass::Unusable, format!("{} {what}", self.name))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use almanack_core::budget::Spent;
    use reqwest::header::{HeaderMap, RETRY_AFTER};
    use url::Url;

    const OPEN: Upstream = Upstream::open("the list");
    const KEYED: Upstream = Upstream::keyed("the crawler");

    fn head(status: u16, retry_after: Option<&str>) -> Head {
        let mut headers = HeaderMap::new();
        if let Some(value) = retry_after {
            headers.insert(RETRY_AFTER, value.parse().unwrap());
        }
        Head {
            status,
            headers,
            address: Url::parse("https://site.example/").unwrap(),
            moved_to: None,
        }
    }

    #[test]
    fn ed_35_the_status_decides_what_kind_of_failure_it_is() {
        use FailureClass as C;
        for (upstream, status, retry_after, expected) in [
            (OPEN, 200, None, None),
            (OPEN, 204, None, None),
            (OPEN, 301, None, Some(C::Refused)),
            (OPEN, 304, None, Some(C::Refused)),
            (OPEN, 400, None, Some(C::Refused)),
            (OPEN, 401, None, Some(C::Refused)),
            (OPEN, 403, None, Some(C::Refused)),
            (KEYED, 401, None, Some(C::Credentials)),
            (KEYED, 402, None, Some(C::Credentials)),
            (KEYED, 403, None, Some(C::Credentials)),
            (KEYED, 404, None, Some(C::Refused)),
            (OPEN, 408, None, Some(C::Transient)),
            (OPEN, 410, None, Some(C::Refused)),
            (OPEN, 429, None, Some(C::RateLimited)),
            (OPEN, 451, None, Some(C::Refused)),
            (OPEN, 500, Some("60"), Some(C::Transient)),
            (OPEN, 503, None, Some(C::Transient)),
            (OPEN, 503, Some("60"), Some(C::RateLimited)),
        ] {
            let failure = upstream.refusal(&head(status, retry_after), Timestamp::UNIX_EPOCH);
            let class = failure.map(|failure| failure.class);
            assert_eq!(class, expected, "{status} {retry_after:?}");
        }
        let limited = OPEN.refusal(&head(429, Some("7")), Timestamp::UNIX_EPOCH);
        let limited = limited.unwrap();
        assert_eq!(
            limited.retry_after,
            Some(jiff::SignedDuration::from_secs(7))
        );
        insta::assert_snapshot!(limited, @"the list asks us to come less often (HTTP 429)");
    }

    #[test]
    fn ed_08_a_missing_answer_is_classified_by_its_cause() {
        use FailureClass as C;
        let why = || "x".to_owned();
        let timeout = Error::Timeout {
            phase: crate::http::Phase::Answer,
            after: Duration::from_secs(10),
        };
        for (error, expected) in [
            (Error::Spent(Spent), C::Spent),
            (timeout, C::Transient),
            (Error::Dns { why: why() }, C::Transient),
            (Error::Connect { why: why() }, C::Transient),
            (Error::Truncated, C::Transient),
            (Error::TooLarge { bytes_max: 1 }, C::Unusable),
            (Error::Inflated { ratio_max: 1 }, C::Unusable),
            (Error::RedirectLoop, C::Refused),
        ] {
            assert_eq!(OPEN.no_answer(&error).class, expected, "{error}");
        }
        assert_eq!(OPEN.no_answer(&Error::Spent(Spent)), Failure::spent());
    }
}
