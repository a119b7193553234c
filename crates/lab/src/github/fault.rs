//! How GitHub misbehaves on demand.
//!
//! A [`Rule`] defines which requests, how often, and the effect; [`crate::rule`] counts and
//! decides.

use serde::{Deserialize, Serialize};

use crate::rule;
pub use crate::rule::When;

/// The requests a rule matches; an omitted field matches everything.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Matching {
    /// Only from this token, by name.
    pub token: Option<String>,
    /// Only with this method.
    pub method: Option<String>,
    /// Only where the path contains this.
    pub path: Option<String>,
}

/// The effect on a matching request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// Answered with this status and without effect: 500, 502, 503.
    Status(u16),
    /// Takes effect, but is answered with this status.
    StatusAfter(u16),
    /// Answered 403 as by the secondary limit, without effect.
    SecondaryLimit {
        /// Value of `retry-after`.
        retry_after_s: u32,
    },
    /// Answered correctly after a delay.
    Slow { wait_ms: u64 },
    /// Takes effect; then the connection is cut without a response.
    DropReply,
}

/// A rule: which requests, how often, and the effect.
pub type Rule = rule::Rule<Matching, Effect>;

impl Matching {
    pub(super) fn covers(&self, token: &str, method: &str, path: &str) -> bool {
        let [by, how, at] = [&self.token, &self.method, &self.path].map(Option::as_deref);
        by.is_none_or(|it| it == token)
            && how.is_none_or(|it| it.eq_ignore_ascii_case(method))
            && at.is_none_or(|it| path.contains(it))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_matches_only_what_it_names() {
        for (why, matching, covered) in [
            ("everything", Matching::default(), true),
            ("its token", of(Some("chain"), None, None), true),
            ("another token", of(Some("guard"), None, None), false),
            ("its method, any case", of(None, Some("post"), None), true),
            ("another method", of(None, Some("GET"), None), false),
            ("part of its path", of(None, None, Some("/git/refs")), true),
            ("another path", of(None, None, Some("/dispatches")), false),
        ] {
            let seen = matching.covers("chain", "POST", "/repos/o/r/git/refs");
            assert_eq!(seen, covered, "{why}");
        }
    }

    fn of(token: Option<&str>, method: Option<&str>, path: Option<&str>) -> Matching {
        Matching {
            token: token.map(str::to_owned),
            method: method.map(str::to_owned),
            path: path.map(str::to_owned),
        }
    }
}
