//! Which fault is injected when, into which node, and how long it lasts: drawn from a seed before
//! anything runs.

use std::time::Duration;

use crate::chance::Chance;

/// A fault of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    /// Killed as by `kill -9`, and restarted.
    Kill,
    /// Stopped as by SIGSTOP for longer than its lease, and resumed.
    Freeze,
    /// Disconnected from the database with connections left open, and reconnected.
    Cut,
    /// Its clock set wrong by an hour, and corrected.
    Clock,
    /// Killed, restarted with a clock that is wrong by an hour, and corrected.
    Start,
}

impl Fault {
    pub const ALL: [Self; 5] = [
        Self::Kill,
        Self::Freeze,
        Self::Cut,
        Self::Clock,
        Self::Start,
    ];

    /// Whether it needs a clock that can be set.
    pub fn sets_clocks(self) -> bool {
        matches!(self, Self::Clock | Self::Start)
    }

    /// The name people type and read.
    pub fn name(self) -> &'static str {
        match self {
            Self::Kill => "kill",
            Self::Freeze => "freeze",
            Self::Cut => "cut",
            Self::Clock => "clock",
            Self::Start => "start",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|fault| fault.name() == text)
    }
}

/// One injected fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Injection {
    /// When, from the start.
    pub at: Duration,
    /// How long until it is repaired.
    pub lasts: Duration,
    pub node: usize,
    pub fault: Fault,
    /// Whether a clock is set ahead; otherwise back.
    pub forward: bool,
}

impl Injection {
    /// When it is repaired.
    pub fn until(&self) -> Duration {
        self.at + self.lasts
    }
}

/// The parameters of a run.
#[derive(Debug, Clone, Copy)]
pub struct Climate<'a> {
    /// Seed of the random choices.
    pub seed: u64,
    pub faults: &'a [Fault],
    /// Number of nodes.
    pub nodes: usize,
    /// Duration; the last fault is repaired by then.
    pub period: Duration,
    /// A node's lease: after a longer fault another node must take over its work.
    pub lease: Duration,
}

/// Time between two injections, in milliseconds.
const PAUSE_MS: (u64, u64) = (800, 6_000);
/// How long a killed node stays dead, in milliseconds.
const DEAD_MS: (u64, u64) = (200, 3_000);
/// How long a clock stays wrong, in milliseconds.
const WRONG_MS: (u64, u64) = (3_000, 12_000);
/// How long a node is frozen or cut off, in hundredths of its lease: from very short to far beyond.
const FROZEN_PERCENT: (u64, u64) = (120, 200);
const CUT_PERCENT: (u64, u64) = (30, 250);

/// Draws the injections, in order. No node has two faults at once; different nodes may.
pub fn injections(climate: &Climate<'_>) -> Vec<Injection> {
    let mut chance = Chance::new(climate.seed);
    let mut busy_until = vec![Duration::ZERO; climate.nodes];
    let mut injections = Vec::new();
    let mut at = between(&mut chance, PAUSE_MS);
    while at < climate.period {
        let drawn = draw(climate, &mut chance, &busy_until, at);
        if let Some(injection) = drawn.filter(|injection| injection.until() <= climate.period) {
            if let Some(until) = busy_until.get_mut(injection.node) {
                *until = injection.until();
            }
            injections.push(injection);
        }
        at += between(&mut chance, PAUSE_MS);
    }
    injections
}

fn draw(
    climate: &Climate<'_>,
    chance: &mut Chance,
    busy_until: &[Duration],
    at: Duration,
) -> Option<Injection> {
    let fault = *chance.pick(climate.faults)?;
    let upright: Vec<usize> = (0..climate.nodes)
        .filter(|node| busy_until.get(*node).is_some_and(|until| *until <= at))
        .collect();
    let node = *chance.pick(&upright)?;
    let of_lease = |chance: &mut Chance, (least, most)| {
        let percent = least + chance.below(most - least + 1);
        let percent = u32::try_from(percent).unwrap_or(100);
        climate.lease * percent / 100
    };
    let lasts = match fault {
        Fault::Kill => between(chance, DEAD_MS),
        Fault::Freeze => of_lease(chance, FROZEN_PERCENT),
        Fault::Cut => of_lease(chance, CUT_PERCENT),
        Fault::Clock | Fault::Start => between(chance, WRONG_MS),
    };
    Some(Injection {
        at,
        lasts,
        node,
        fault,
        forward: chance.happens(500),
    })
}

fn between(chance: &mut Chance, (least, most): (u64, u64)) -> Duration {
    Duration::from_millis(least + chance.below(most - least + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn climate(seed: u64, faults: &[Fault]) -> Climate<'_> {
        Climate {
            seed,
            faults,
            nodes: 3,
            period: Duration::from_mins(5),
            lease: Duration::from_secs(5),
        }
    }

    #[test]
    fn a_seed_repeats_its_injections_and_another_does_not() {
        let of = |seed| injections(&climate(seed, &Fault::ALL));
        assert_eq!(of(1), of(1));
        assert_ne!(of(1), of(2));
    }

    #[test]
    fn every_fault_is_injected_and_all_are_repaired_in_time() {
        for seed in 0..50 {
            let climate = climate(seed, &Fault::ALL);
            let injections = injections(&climate);
            assert!(
                injections
                    .iter()
                    .all(|injection| injection.until() <= climate.period)
            );
            for fault in Fault::ALL {
                assert!(
                    injections.iter().any(|injection| injection.fault == fault),
                    "{seed} {fault:?}"
                );
            }
        }
    }

    #[test]
    fn no_node_has_two_faults_at_once_and_a_freeze_outlasts_the_lease() {
        for seed in 0..50 {
            let climate = climate(seed, &Fault::ALL);
            let injections = injections(&climate);
            for (number, injection) in injections.iter().enumerate() {
                let earlier = injections[..number]
                    .iter()
                    .filter(|it| it.node == injection.node);
                assert!(
                    earlier.into_iter().all(|it| it.until() <= injection.at),
                    "{injection:?}"
                );
                assert!(injection.fault != Fault::Freeze || injection.lasts > climate.lease);
            }
        }
    }

    #[test]
    fn where_nothing_may_happen_nothing_does() {
        assert_eq!(injections(&climate(1, &[])), []);
    }

    #[test]
    fn faults_are_known_by_their_names() {
        for fault in Fault::ALL {
            assert_eq!(Fault::parse(fault.name()), Some(fault));
        }
        assert_eq!(Fault::parse("flood"), None);
    }
}
