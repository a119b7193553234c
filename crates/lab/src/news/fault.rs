//! How the site misbehaves on demand: which endpoint, how often, what.
//!
//! [`crate::rule`] counts and decides.

use serde::{Deserialize, Serialize};

use super::Endpoint;
use crate::rule;
pub use crate::rule::When;

/// The requests a rule matches; an omitted field matches everything.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Matching {
    /// Only at this endpoint.
    pub endpoint: Option<Endpoint>,
    /// Only where path and query contain this.
    pub path: Option<String>,
}

/// The effect on a matching request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// Answered with this status.
    Status(u16),
    /// Answered 429, with a `retry-after`.
    Limited {
        /// Value of `retry-after`.
        retry_after_s: u32,
    },
    /// Answered correctly after a delay.
    Slow {
        /// The wait, in real time, on top of the usual latency.
        wait_ms: u64,
    },
    Hang,
    /// The connection is cut before the request is read.
    DropRequest,
    /// The request is carried out; then the connection is cut.
    DropReply,
    /// The connection is cut in the middle of the body.
    Truncated,
    /// A complete response whose JSON is truncated.
    MalformedJson,
    /// JSON whose `hits` are null; where there are none, all of it is null.
    NullHits,
}

/// A rule: which requests, how often, and the effect.
pub type Rule = rule::Rule<Matching, Effect>;

impl Rule {
    /// A rule about one endpoint.
    pub fn at(endpoint: Endpoint, when: When, effect: Effect) -> Self {
        let matching = Matching {
            endpoint: Some(endpoint),
            ..Matching::default()
        };
        Self::new(matching, when, effect)
    }

    /// A rule about all requests whose path and query contain something.
    pub fn on(path: &str, when: When, effect: Effect) -> Self {
        let matching = Matching {
            path: Some(path.to_owned()),
            ..Matching::default()
        };
        Self::new(matching, when, effect)
    }
}

impl Matching {
    /// Whether a rule matches a request, by its path and query.
    pub(super) fn covers(&self, endpoint: Endpoint, path: &str) -> bool {
        let part = self.path.as_deref();
        self.endpoint.is_none_or(|it| it == endpoint) && part.is_none_or(|it| path.contains(it))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_matches_only_what_it_names() {
        let by_path = |path: &str| Matching {
            endpoint: None,
            path: Some(path.to_owned()),
        };
        let search = Matching {
            endpoint: Some(Endpoint::Search),
            path: None,
        };
        let path = "/api/v1/search?tags=comment,story_7";
        for (why, matching, covered) in [
            ("everything", Matching::default(), true),
            ("its endpoint", search.clone(), true),
            ("part of the query", by_path("story_7"), true),
            ("another query", by_path("story_8"), false),
        ] {
            assert_eq!(matching.covers(Endpoint::Search, path), covered, "{why}");
        }
        assert!(!search.covers(Endpoint::Page, path), "another endpoint");
    }
}
