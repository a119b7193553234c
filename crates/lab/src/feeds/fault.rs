//! Injected faults of a feed or a host.

use serde::{Deserialize, Serialize};

use super::feed::Feed;
use crate::rule;
pub use crate::rule::When;

/// The effect instead of the document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fault {
    /// A bare status: 404, 410, 500, 401, 403.
    Status(u16),
    /// Refused, with a `Retry-After`.
    Limited {
        /// 429 or 503.
        status: u16,
        /// After this many seconds.
        retry_after_s: i64,
        /// As an HTTP date instead of seconds.
        #[serde(default)]
        as_date: bool,
    },
    /// A redirect: 301, 302, 307 or 308.
    Moved {
        status: u16,
        /// The target; default: the feed's second address `/feeds/{n}/moved/…`.
        #[serde(default)]
        to: Option<String>,
    },
    /// The document, after a wait in real time.
    Slow {
        wait_ms: u64,
    },
    Hang,
    /// The connection is closed before the first byte of a response.
    Cut,
    /// The connection is closed in the middle of the document.
    CutMidBody,
    /// A hostile document in place of the feed, by its name.
    Serve(String),
}

impl Fault {
    /// A move to the feed's second address.
    pub fn moved(status: u16) -> Self {
        Self::Moved { status, to: None }
    }
}

/// The requests a rule matches; an omitted field matches everything.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Matching {
    /// Only for this feed.
    pub feed: Option<u32>,
    /// Only to this host.
    pub host: Option<u32>,
}

impl Matching {
    pub(super) fn covers(self, feed: &Feed) -> bool {
        self.feed.is_none_or(|it| it == feed.number) && self.host.is_none_or(|it| it == feed.host)
    }
}

/// A rule: which requests, how often, and the effect.
pub type Rule = rule::Rule<Matching, Fault>;

impl Rule {
    /// A rule about one feed.
    pub fn feed(number: u32, when: When, effect: Fault) -> Self {
        let feed = Some(number);
        Self::new(Matching { feed, host: None }, when, effect)
    }

    /// A rule about one host.
    pub fn host(host: u32, when: When, effect: Fault) -> Self {
        let host = Some(host);
        Self::new(Matching { feed: None, host }, when, effect)
    }
}
