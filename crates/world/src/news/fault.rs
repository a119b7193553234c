//! How the site misbehaves when told to: which endpoint, how often, what.
//!
//! Rules work as those of the simulated GitHub: the oldest that hits decides, and a rule counts
//! only requests that it was asked about.

use serde::{Deserialize, Serialize};

use super::journal::Endpoint;
use crate::github::fault::Tally;
pub use crate::github::fault::When;

/// Which requests a rule looks at; what is left out matches everything.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Matching {
    /// Only at this endpoint.
    pub endpoint: Option<Endpoint>,
    /// Only where path and query contain this.
    pub path: Option<String>,
}

/// What happens to a request that is hit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// Answered with this status.
    Status(u16),
    /// Answered 429, with a time to come again.
    Limited {
        /// What `retry-after` says.
        retry_after_s: u32,
    },
    /// Answered rightly, but only after so long.
    Slow {
        /// The wait, in real time, on top of the usual latency.
        wait_ms: u64,
    },
    /// No answer, ever.
    Hang,
    /// The connection is cut before the request is looked at.
    DropRequest,
    /// The request is carried out; then the connection is cut.
    DropReply,
    /// The connection is cut in the middle of the body.
    Truncated,
    /// A whole answer whose JSON stops in the middle.
    MalformedJson,
    /// JSON whose `hits` are null; where there are none, all of it is null.
    NullHits,
}

/// Which requests, how often, what.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// Which requests.
    #[serde(default)]
    pub matching: Matching,
    /// How often.
    pub when: When,
    /// What happens.
    pub effect: Effect,
}

impl Rule {
    /// A rule about one endpoint.
    pub fn at(endpoint: Endpoint, when: When, effect: Effect) -> Self {
        Self {
            matching: Matching {
                endpoint: Some(endpoint),
                path: None,
            },
            when,
            effect,
        }
    }

    /// A rule about all requests whose path and query contain something.
    pub fn on(path: &str, when: When, effect: Effect) -> Self {
        Self {
            matching: Matching {
                endpoint: None,
                path: Some(path.to_owned()),
            },
            when,
            effect,
        }
    }
}

impl Matching {
    fn covers(&self, endpoint: Endpoint, path: &str) -> bool {
        let there = self.endpoint.is_none_or(|it| it == endpoint);
        there && self.path.as_deref().is_none_or(|it| path.contains(it))
    }
}

#[derive(Debug)]
struct Active {
    rule: Rule,
    tally: Tally,
}

/// The rules in force, oldest first.
#[derive(Debug, Default)]
pub struct Faults(Vec<Active>);

impl Faults {
    /// Lays down a rule.
    pub fn add(&mut self, rule: Rule) {
        let tally = Tally::new(rule.when);
        self.0.push(Active { rule, tally });
    }

    /// Lifts all rules.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// The rules still in force.
    pub fn rules(&self) -> Vec<Rule> {
        self.0.iter().map(|active| active.rule.clone()).collect()
    }

    /// Decides about one request.
    pub fn plan(&mut self, endpoint: Endpoint, path: &str) -> Option<Effect> {
        let hit = self.0.iter_mut().find_map(|active| {
            let hits = active.rule.matching.covers(endpoint, path) && active.tally.ask();
            hits.then_some(active.rule.effect)
        });
        self.0.retain(|active| !active.tally.is_spent());
        hit
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_looks_only_at_what_it_names() {
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

    #[test]
    fn the_oldest_rule_that_hits_decides_and_a_spent_one_goes() {
        let mut faults = Faults::default();
        faults.add(Rule::at(Endpoint::Page, When::Next(1), Effect::Hang));
        faults.add(Rule::on("", When::Always, Effect::Truncated));
        let mut plan = |endpoint| faults.plan(endpoint, "/");
        assert_eq!(plan(Endpoint::Search), Some(Effect::Truncated));
        assert_eq!(plan(Endpoint::Page), Some(Effect::Hang));
        assert_eq!(plan(Endpoint::Page), Some(Effect::Truncated));
        assert_eq!(faults.rules().len(), 1, "the spent rule is gone");
    }
}
