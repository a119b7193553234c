//! What can be made to go wrong with a feed or a host, for how long, and how often.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// What happens instead of the document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fault {
    /// A bare status: 404, 410, 500, 401, 403.
    Status(u16),
    /// Refused, with a time to come again.
    Limited {
        /// 429 or 503.
        status: u16,
        /// After so many seconds.
        retry_after_s: i64,
        /// As an HTTP date instead of seconds.
        #[serde(default)]
        as_date: bool,
    },
    /// A redirect: 301, 302, 307 or 308.
    Moved {
        /// Which.
        status: u16,
        /// Where to; the feed's second home `/feeds/{n}/moved/…` where nothing is said.
        #[serde(default)]
        to: Option<String>,
    },
    /// The document, after a wait in real time.
    Slow {
        /// How long.
        wait_ms: u64,
    },
    /// The document, a byte at a time.
    Drip {
        /// Real time between two bytes.
        wait_ms: u64,
    },
    /// No answer, ever.
    Hang,
    /// The connection is closed before the first byte of an answer.
    Cut,
    /// The connection is closed in the middle of the document.
    CutMidBody,
    /// A hostile document in place of the feed, by its name.
    Serve(String),
}

impl Fault {
    /// A move to the feed's second home.
    pub fn moved(status: u16) -> Self {
        Self::Moved { status, to: None }
    }

    /// Refused with 429, and `Retry-After` in seconds.
    pub fn limited(retry_after_s: i64) -> Self {
        Self::Limited {
            status: 429,
            retry_after_s,
            as_date: false,
        }
    }
}

/// A fault and when it applies: always, unless something is said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// What happens.
    pub fault: Fault,
    /// Not before.
    #[serde(default)]
    pub from: Option<Timestamp>,
    /// Not from then on.
    #[serde(default)]
    pub until: Option<Timestamp>,
    /// Only to so many requests more.
    #[serde(default)]
    pub next: Option<u64>,
}

impl From<Fault> for Rule {
    fn from(fault: Fault) -> Self {
        Self {
            fault,
            from: None,
            until: None,
            next: None,
        }
    }
}

impl Rule {
    /// The fault, if it applies to a request now; a counted rule is used up by that.
    pub fn apply(&mut self, now: Timestamp) -> Option<Fault> {
        let early = self.from.is_some_and(|from| now < from);
        let late = self.until.is_some_and(|until| now >= until);
        if early || late || self.next == Some(0) {
            return None;
        }
        if let Some(next) = &mut self.next {
            *next -= 1;
        }
        Some(self.fault.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_applies_within_its_time_and_so_often_as_said() {
        let at = |second| Timestamp::from_second(second).unwrap();
        let mut rule = Rule {
            from: Some(at(10)),
            until: Some(at(20)),
            next: Some(2),
            ..Rule::from(Fault::Hang)
        };
        assert_eq!(rule.apply(at(9)), None);
        assert_eq!(rule.apply(at(10)), Some(Fault::Hang));
        assert_eq!(rule.apply(at(20)), None);
        assert_eq!(rule.apply(at(19)), Some(Fault::Hang));
        assert_eq!(rule.apply(at(19)), None, "used up");
    }
}
