//! Rules for injected faults: which requests, how often, and the effect.
//!
//! Rules can be added and removed while the server runs. The oldest rule that hits decides; later
//! rules do not even count the request, so that a rule's count means requests it was evaluated for.
//! Each server defines its own matching and effects.

use serde::{Deserialize, Serialize};

use crate::chance::Chance;

/// How often a rule hits among the requests it matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum When {
    Always,
    /// The next n; then the rule is removed.
    Next(u32),
    /// The k-th, the 2k-th, and so on.
    Every(u32),
    /// A percentage, drawn from a seed in order of arrival.
    Percent {
        percent: u8,
        /// Seed of the random choices.
        seed: u64,
    },
}

/// A rule: which requests, how often, and the effect.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule<M, E> {
    #[serde(default)]
    pub matching: M,
    pub when: When,
    pub effect: E,
}

impl<M: Default, E> Rule<M, E> {
    pub fn new(matching: M, when: When, effect: E) -> Self {
        Self {
            matching,
            when,
            effect,
        }
    }

    /// A rule for every request.
    pub fn any(when: When, effect: E) -> Self {
        Self::new(M::default(), when, effect)
    }
}

#[derive(Debug)]
struct Active<M, E> {
    rule: Rule<M, E>,
    /// Requests this rule was evaluated for.
    asked: u32,
    chance: Chance,
}

impl<M, E> Active<M, E> {
    /// Counts a matching request; returns whether it is hit.
    fn hits(&mut self) -> bool {
        self.asked += 1;
        match self.rule.when {
            When::Always => true,
            When::Next(count) => self.asked <= count,
            When::Every(step) => step > 0 && self.asked.is_multiple_of(step),
            When::Percent { percent, .. } => self.chance.below(100) < u64::from(percent),
        }
    }

    fn is_spent(&self) -> bool {
        matches!(self.rule.when, When::Next(count) if self.asked >= count)
    }
}

/// The rules in force, oldest first.
#[derive(Debug)]
pub struct Rules<M, E>(Vec<Active<M, E>>);

impl<M, E> Default for Rules<M, E> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<M: Clone, E: Clone> Rules<M, E> {
    /// Adds a rule.
    pub fn add(&mut self, rule: Rule<M, E>) {
        let seed = match rule.when {
            When::Percent { seed, .. } => seed,
            _ => 0,
        };
        self.0.push(Active {
            rule,
            asked: 0,
            chance: Chance::new(seed),
        });
    }

    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// The rules still in force.
    pub fn rules(&self) -> Vec<Rule<M, E>> {
        self.0.iter().map(|active| active.rule.clone()).collect()
    }

    /// The rule that hits a request, if any.
    pub fn hit(&mut self, looks: impl Fn(&Rule<M, E>) -> bool) -> Option<Rule<M, E>> {
        let looking = self.0.iter_mut().filter(|active| looks(&active.rule));
        let mut hits = looking.filter_map(|active| active.hits().then(|| active.rule.clone()));
        let hit = hits.next();
        self.0.retain(|active| !active.is_spent());
        hit
    }

    /// The effect on a request, if any.
    pub fn plan(&mut self, covers: impl Fn(&M) -> bool) -> Option<E> {
        self.hit(|rule| covers(&rule.matching))
            .map(|rule| rule.effect)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Matches numbers up to nine.
    fn rule(when: When, effect: char) -> Rule<u32, char> {
        Rule::new(9, when, effect)
    }

    fn plan(rules: &mut Rules<u32, char>, number: u32) -> Option<char> {
        rules.plan(|most| number <= *most)
    }

    fn hits(when: When, count: usize) -> Vec<bool> {
        let mut rules = Rules::default();
        rules.add(rule(when, 'x'));
        (0..count).map(|_| plan(&mut rules, 1).is_some()).collect()
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
    fn the_oldest_rule_that_hits_decides() {
        let mut rules = Rules::default();
        rules.add(rule(When::Next(1), 'a'));
        rules.add(rule(When::Always, 'b'));
        let planned = [1, 1].map(|number| plan(&mut rules, number));
        assert_eq!(planned, [Some('a'), Some('b')]);
        assert_eq!(rules.rules().len(), 1, "the spent rule is gone");
    }

    #[test]
    fn requests_a_rule_does_not_match_are_not_counted() {
        let mut rules = Rules::default();
        rules.add(rule(When::Next(1), 'a'));
        let planned = [10, 9].map(|number| plan(&mut rules, number));
        assert_eq!(planned, [None, Some('a')]);
        rules.add(rule(When::Always, 'b'));
        rules.clear();
        assert_eq!(plan(&mut rules, 1), None);
    }
}
