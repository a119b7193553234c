//! What a node knows about itself that no row of the store shows: whether it can write, whether it
//! leaves, and what is wrong with what it depends on.
//!
//! The keeper notes every round in which its heartbeat was committed. That is a real write, made
//! all the time and by no client's request; a node whose last one is too old cannot write, whatever
//! the reason, and is not ready. The owner of a connection notes whether it is up; the keeper
//! publishes these troubles beside the heartbeat, where every node's watch finds them (see
//! [`almanack_core::alert::trouble`]).

use std::{collections::BTreeMap, sync::Mutex};

use almanack_core::{
    alert::{Rule, trouble::Trouble},
    event::incoming::{envelope::Bus, intake::Links},
    locked,
};
use jiff::{SignedDuration, Timestamp};

/// Heartbeats that may be missed before a node counts as unable to write.
const BEATS_MISSED: i32 = 3;

/// Whether a node may be given work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Readiness {
    /// It may. What is named here does not work, and everything else does: `nats`, `disk`,
    /// `backup`.
    Ready { degraded: Vec<String> },
    NotWriting {
        /// When one was last committed.
        since: Timestamp,
    },
    /// It was asked to stop.
    Leaving,
}

/// What a node knows about itself.
#[derive(Debug)]
pub struct Health {
    /// How old the last committed write may be.
    stale_after: SignedDuration,
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    written_at: Option<Timestamp>,
    is_leaving: bool,
    troubles: BTreeMap<(Rule, String), Trouble>,
    /// Counts changes of `troubles`, and how many of them are published.
    changes: u64,
    published: u64,
}

impl Default for Health {
    /// Of a process that has no keeper: its writes never count as too old.
    fn default() -> Self {
        Self {
            stale_after: SignedDuration::MAX,
            known: Mutex::default(),
        }
    }
}

impl Health {
    /// Of a node that beats so often.
    pub fn of_beat(beat: SignedDuration) -> Self {
        Self {
            stale_after: beat * BEATS_MISSED,
            ..Self::default()
        }
    }

    /// A write was committed.
    pub fn note_written(&self, at: Timestamp) {
        locked(&self.known).written_at = Some(at);
    }

    /// It was asked to stop.
    pub fn note_leaving(&self) {
        locked(&self.known).is_leaving = true;
    }

    /// Whether something it depends on works, or why not. What is wrong already stays so since it
    /// began.
    pub fn note(&self, (rule, name): (Rule, &str), now: Timestamp, state: Result<(), String>) {
        let mut known = locked(&self.known);
        let key = (rule, name.to_owned());
        let changed = match state {
            Ok(()) => known.troubles.remove(&key).is_some(),
            Err(detail) => {
                let since = known.troubles.get(&key).map_or(now, |it| it.since);
                let trouble = Trouble {
                    rule,
                    since,
                    detail,
                };
                known.troubles.insert(key, trouble.clone()) != Some(trouble)
            }
        };
        known.changes += u64::from(changed);
    }

    /// Whether it may be given work.
    pub fn readiness(&self, now: Timestamp) -> Readiness {
        if locked(&self.known).is_leaving {
            return Readiness::Leaving;
        }
        if let Some(since) = self.not_written_since(now) {
            return Readiness::NotWriting { since };
        }
        let known = locked(&self.known);
        let mut degraded: Vec<String> = known.troubles.keys().map(|it| it.1.clone()).collect();
        degraded.sort();
        Readiness::Ready { degraded }
    }

    /// When a write was last committed, if that is too long ago.
    pub fn not_written_since(&self, now: Timestamp) -> Option<Timestamp> {
        let written_at = locked(&self.known).written_at?;
        (now.duration_since(written_at) > self.stale_after).then_some(written_at)
    }

    /// What is wrong, one per rule.
    pub fn troubles(&self) -> Vec<Trouble> {
        by_rule(&locked(&self.known).troubles)
    }

    /// The same, if it has not been published yet; and which change that is.
    pub(crate) fn unpublished(&self) -> Option<(u64, Vec<Trouble>)> {
        let known = locked(&self.known);
        (known.changes != known.published).then(|| (known.changes, by_rule(&known.troubles)))
    }

    /// Everything up to this change is published.
    pub(crate) fn note_published(&self, change: u64) {
        locked(&self.known).published = change;
    }
}

impl Links for Health {
    fn note(&self, bus: Bus, now: Timestamp, state: Result<(), String>) {
        Self::note(self, (Rule::Disconnected, bus.as_str()), now, state);
    }
}

/// Two buses that are away are one trouble, since the first of them.
fn by_rule(troubles: &BTreeMap<(Rule, String), Trouble>) -> Vec<Trouble> {
    let mut merged: Vec<Trouble> = Vec::new();
    for ((rule, name), trouble) in troubles {
        let detail = format!("{name}: {}", trouble.detail);
        match merged.last_mut().filter(|it| it.rule == *rule) {
            Some(first) => {
                first.since = first.since.min(trouble.since);
                first.detail = format!("{}; {detail}", first.detail);
            }
            None => merged.push(Trouble {
                detail,
                ..trouble.clone()
            }),
        }
    }
    merged
}

#[cfg(test)]
mod tests {
    use almanack_testkit::fixture::at;

    use super::*;

    #[test]
    fn a_node_is_ready_while_its_heartbeats_are_committed() {
        let health = Health::of_beat(SignedDuration::from_secs(5));
        let well = Readiness::Ready {
            degraded: Vec::new(),
        };
        health.note_written(at(0));
        assert_eq!(health.readiness(at(15)), well);
        let stuck = Readiness::NotWriting { since: at(0) };
        assert_eq!(health.readiness(at(16)), stuck);
        health.note_written(at(20));
        assert_eq!(health.readiness(at(21)), well);
        health.note_leaving();
        assert_eq!(health.readiness(at(21)), Readiness::Leaving);
    }

    #[test]
    fn troubles_keep_their_beginning_and_are_published_once_per_change() {
        let health = Health::default();
        assert_eq!(health.unpublished(), None);
        let away = |why: &str| Err(why.to_owned());
        Links::note(&health, Bus::Nats, at(1), away("refused"));
        Links::note(&health, Bus::Nats, at(2), away("refused"));
        Links::note(&health, Bus::Kafka, at(3), away("no broker"));
        let (change, troubles) = health.unpublished().unwrap();
        let [one] = &troubles[..] else {
            panic!("one per rule: {troubles:?}");
        };
        assert_eq!(one.since, at(1));
        assert_eq!(one.detail, "kafka: no broker; nats: refused");
        health.note_published(change);
        Links::note(&health, Bus::Nats, at(4), away("refused"));
        assert_eq!(health.unpublished(), None, "nothing new");
        let degraded = vec!["kafka".to_owned(), "nats".to_owned()];
        assert_eq!(health.readiness(at(5)), Readiness::Ready { degraded });
        Links::note(&health, Bus::Nats, at(6), Ok(()));
        assert_eq!(health.unpublished().unwrap().1.len(), 1);
    }
}
