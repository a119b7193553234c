//! How GitHub misbehaves when told to.
//!
//! A [`Rule`] says which requests, how often, and what happens to them. Rules can be laid down and
//! lifted while the server runs. The oldest rule that hits decides; later rules do not even count
//! the request, so that a rule's count means requests it was asked about.

use serde::{Deserialize, Serialize};

use crate::chance::Chance;

/// Which requests a rule looks at; what is left out matches everything.
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

/// How often a rule hits among the requests it looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum When {
    /// Always, until lifted.
    Always,
    /// The next so many; then the rule is gone.
    Next(u32),
    /// The k-th, the 2k-th, and so on.
    Every(u32),
    /// So many of a hundred, drawn from a seed in order of arrival.
    Percent {
        /// Of a hundred.
        percent: u8,
        /// Where the chance comes from.
        seed: u64,
    },
}

/// What happens to a request that is hit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// Answered with this status and without effect: 500, 502, 503.
    Status(u16),
    /// Answered 403 as by the secondary limit, without effect.
    SecondaryLimit {
        /// What `retry-after` says.
        retry_after_s: u32,
    },
    /// Answered rightly, but only after so long.
    Slow {
        /// The wait.
        wait_ms: u64,
    },
    /// Takes effect; then the connection is cut, and the caller is never told.
    DropReply,
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

/// A request as rules see it.
#[derive(Debug, Clone, Copy)]
pub struct Sight<'a> {
    /// Who calls.
    pub token: &'a str,
    /// The method.
    pub method: &'a str,
    /// The path, as called.
    pub path: &'a str,
}

impl Matching {
    fn covers(&self, sight: Sight<'_>) -> bool {
        let token = self.token.as_deref().is_none_or(|it| it == sight.token);
        let method = self.method.as_deref();
        let method = method.is_none_or(|it| it.eq_ignore_ascii_case(sight.method));
        let path = self.path.as_deref();
        token && method && path.is_none_or(|it| sight.path.contains(it))
    }
}

/// How often a rule was asked, and so when it hits next.
#[derive(Debug)]
pub(crate) struct Tally {
    when: When,
    /// Requests the rule was asked about.
    asked: u32,
    chance: Chance,
}

impl Tally {
    pub(crate) fn new(when: When) -> Self {
        let seed = match when {
            When::Percent { seed, .. } => seed,
            _ => 0,
        };
        Self {
            when,
            asked: 0,
            chance: Chance::new(seed),
        }
    }

    /// Counts a request, and says whether it is hit.
    pub(crate) fn ask(&mut self) -> bool {
        self.asked += 1;
        match self.when {
            When::Always => true,
            When::Next(count) => self.asked <= count,
            When::Every(step) => step > 0 && self.asked.is_multiple_of(step),
            When::Percent { percent, .. } => self.chance.below(100) < u64::from(percent),
        }
    }

    /// Whether it will never hit again.
    pub(crate) fn is_spent(&self) -> bool {
        matches!(self.when, When::Next(count) if self.asked >= count)
    }
}

#[derive(Debug)]
struct Active {
    rule: Rule,
    tally: Tally,
}

impl Active {
    fn hits(&mut self, sight: Sight<'_>) -> bool {
        self.rule.matching.covers(sight) && self.tally.ask()
    }
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
    pub fn plan(&mut self, sight: Sight<'_>) -> Option<Effect> {
        let hit = self.0.iter_mut().find_map(|active| {
            let hits = active.hits(sight);
            hits.then_some(active.rule.effect)
        });
        self.0.retain(|active| !active.tally.is_spent());
        hit
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIGHT: Sight<'_> = Sight {
        token: "chain",
        method: "POST",
        path: "/repos/o/r/git/refs",
    };

    fn hits(when: When, count: usize) -> Vec<bool> {
        let mut faults = Faults::default();
        faults.add(Rule {
            matching: Matching::default(),
            when,
            effect: Effect::Status(502),
        });
        (0..count).map(|_| faults.plan(SIGHT).is_some()).collect()
    }

    #[test]
    fn how_often_is_counted_exactly() {
        assert_eq!(hits(When::Always, 3), [true, true, true]);
        assert_eq!(hits(When::Next(2), 4), [true, true, false, false]);
        assert_eq!(hits(When::Every(2), 4), [false, true, false, true]);
        assert_eq!(hits(When::Every(0), 2), [false, false]);
    }

    #[test]
    fn a_fraction_repeats_with_its_seed() {
        let percent = |seed| When::Percent { percent: 30, seed };
        let first = hits(percent(1), 1000);
        assert_eq!(first, hits(percent(1), 1000));
        assert_ne!(first, hits(percent(2), 1000));
        let hit = first.iter().filter(|hit| **hit).count();
        assert!((250..350).contains(&hit), "{hit} of 1000");
    }

    #[test]
    fn a_rule_looks_only_at_what_it_names() {
        for (why, matching, covered) in [
            ("everything", Matching::default(), true),
            ("its token", of(Some("chain"), None, None), true),
            ("another token", of(Some("guard"), None, None), false),
            ("its method, any case", of(None, Some("post"), None), true),
            ("another method", of(None, Some("GET"), None), false),
            ("part of its path", of(None, None, Some("/git/refs")), true),
            ("another path", of(None, None, Some("/dispatches")), false),
        ] {
            assert_eq!(matching.covers(SIGHT), covered, "{why}");
        }
    }

    fn of(token: Option<&str>, method: Option<&str>, path: Option<&str>) -> Matching {
        Matching {
            token: token.map(str::to_owned),
            method: method.map(str::to_owned),
            path: path.map(str::to_owned),
        }
    }

    #[test]
    fn the_oldest_rule_that_hits_decides() {
        let mut faults = Faults::default();
        for (when, effect) in [
            (When::Next(1), Effect::Status(500)),
            (When::Always, Effect::DropReply),
        ] {
            faults.add(Rule {
                matching: Matching::default(),
                when,
                effect,
            });
        }
        assert_eq!(faults.plan(SIGHT), Some(Effect::Status(500)));
        assert_eq!(faults.plan(SIGHT), Some(Effect::DropReply));
        assert_eq!(faults.rules().len(), 1, "the spent rule is gone");
    }
}
