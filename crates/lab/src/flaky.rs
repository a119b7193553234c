//! Injected faults of the article service, so that retries can be seen.
//!
//! What happens to a call depends on the seed and on which attempt of which task it is, not on the
//! order in which calls arrive: a run with several nodes repeats as well as one with a single node.

use std::time::Duration;

use crate::chance::Chance;

/// Share of calls per fault, in percent (default: no faults).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Faults {
    /// Seed of the random choices.
    pub seed: u64,
    /// Calls answered 503 without any effect.
    pub refuse_percent: u8,
    /// Calls that take effect, but whose response gets lost (504).
    pub lose_reply_percent: u8,
    /// Calls that wait first.
    pub delay_percent: u8,
    /// The longest such wait.
    pub delay_max: Duration,
}

/// The fault of one call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    None,
    Refuse,
    /// Takes effect; the response is lost.
    LoseReply,
    /// Takes effect after a wait.
    Delay(Duration),
}

impl Faults {
    /// Decides about the attempt `term` of the task `task_id`.
    pub fn plan(&self, task_id: i64, term: i64) -> Fault {
        let mut chance = Chance::new(self.seed ^ task_id.cast_unsigned().rotate_left(32));
        let mut chance = Chance::new(chance.next_u64() ^ term.cast_unsigned());
        let drawn = chance.below(100);
        let refuse_below = u64::from(self.refuse_percent);
        let lose_below = refuse_below + u64::from(self.lose_reply_percent);
        let delay_below = lose_below + u64::from(self.delay_percent);
        if drawn < refuse_below {
            Fault::Refuse
        } else if drawn < lose_below {
            Fault::LoseReply
        } else if drawn < delay_below {
            let longest_ms = u64::try_from(self.delay_max.as_millis()).unwrap_or(u64::MAX);
            Fault::Delay(Duration::from_millis(
                chance.below(longest_ms.saturating_add(1)),
            ))
        } else {
            Fault::None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FLAKY: Faults = Faults {
        seed: 11,
        refuse_percent: 20,
        lose_reply_percent: 20,
        delay_percent: 20,
        delay_max: Duration::from_millis(50),
    };

    #[test]
    fn a_service_without_faults_behaves() {
        let faults = Faults {
            seed: 5,
            ..Faults::default()
        };
        assert!((0..500).all(|task| faults.plan(task, 1) == Fault::None));
    }

    #[test]
    fn the_same_attempt_meets_the_same_injected_fault_and_the_next_one_may_not() {
        let first: Vec<Fault> = (0..200).map(|task| FLAKY.plan(task, 1)).collect();
        let again: Vec<Fault> = (0..200).map(|task| FLAKY.plan(task, 1)).collect();
        let second: Vec<Fault> = (0..200).map(|task| FLAKY.plan(task, 2)).collect();
        assert_eq!(first, again);
        assert_ne!(first, second);
    }

    #[test]
    fn each_fault_comes_about_as_often_as_asked() {
        let planned: Vec<Fault> = (0..5000).map(|task| FLAKY.plan(task, 1)).collect();
        let count = |wanted: fn(&Fault) -> bool| planned.iter().filter(|f| wanted(f)).count();
        for seen in [
            count(|fault| *fault == Fault::Refuse),
            count(|fault| *fault == Fault::LoseReply),
            count(|fault| matches!(fault, Fault::Delay(wait) if *wait <= FLAKY.delay_max)),
        ] {
            assert!(
                (850..1150).contains(&seen),
                "20 % of 5000 calls, but {seen}"
            );
        }
    }
}
