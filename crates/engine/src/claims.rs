//! The claims a node holds, and how many of each one's tasks are still open.
//!
//! Three duties share this book: the runner opens a claim when it starts its tasks, the finisher
//! ticks off every ending that is written, and the keeper extends what is open and forgets what is
//! done. INVARIANT: only claims in the book are ever extended, so a claim whose answer was lost on
//! its way here runs out and its tasks come back. Each claim is valid only as far as it was itself
//! proven: a heartbeat sent while a claim was still on its way says nothing about that claim.

use std::{collections::BTreeMap, sync::Mutex};

use almanack_core::{locked, store::ClaimId};
use jiff::Timestamp;

/// Open and done claims of one node.
#[derive(Debug, Default)]
pub struct ClaimBook(Mutex<Pages>);

#[derive(Debug, Default)]
struct Pages {
    open: BTreeMap<ClaimId, Held>,
    done: Vec<ClaimId>,
}

#[derive(Debug)]
struct Held {
    tasks_left: usize,
    /// Whether an ending of it was given up.
    given_up: bool,
    valid_until: Timestamp,
}

impl ClaimBook {
    /// A claim with so many tasks is held now, and may be acted on until `valid_until`.
    pub fn open(&self, claim: ClaimId, tasks: usize, valid_until: Timestamp) {
        if tasks > 0 {
            let held = Held {
                tasks_left: tasks,
                given_up: false,
                valid_until,
            };
            locked(&self.0).open.insert(claim, held);
        }
    }

    /// A heartbeat asked for `asked` and extended `extended` of them. What it did not extend has
    /// passed on to others.
    pub fn extended(&self, asked: &[ClaimId], extended: &[ClaimId], valid_until: Timestamp) {
        let mut pages = locked(&self.0);
        for claim in asked {
            let Some(held) = pages.open.get_mut(claim) else {
                continue;
            };
            held.valid_until = if extended.contains(claim) {
                valid_until.max(held.valid_until)
            } else {
                Timestamp::MIN
            };
        }
    }

    /// Until when every claim in the book may be acted on.
    pub fn valid_until(&self) -> Timestamp {
        let pages = locked(&self.0);
        let each = pages.open.values().map(|held| held.valid_until);
        each.min().unwrap_or(Timestamp::MAX)
    }

    /// The claims that may no longer be acted on at `now`; returned once. They stay in the book
    /// until their endings are written, but the node no longer acts on them.
    pub fn take_lapsed(&self, now: Timestamp) -> Vec<ClaimId> {
        let mut lapsed = Vec::new();
        for (claim, held) in &mut locked(&self.0).open {
            if held.valid_until <= now {
                held.valid_until = Timestamp::MAX;
                lapsed.push(*claim);
            }
        }
        lapsed
    }

    /// Endings of these claims' tasks are written, one per entry.
    pub fn tick_off(&self, claims: impl Iterator<Item = ClaimId>) {
        let mut pages = locked(&self.0);
        for claim in claims {
            let Some(held) = pages.open.get_mut(&claim) else {
                continue;
            };
            held.tasks_left -= 1;
            if held.tasks_left == 0 {
                let forgotten = !held.given_up;
                pages.open.remove(&claim);
                pages.done.extend(forgotten.then_some(claim));
            }
        }
    }

    /// The ending of one of this claim's tasks can never be written. The claim is kept alive while
    /// others of its tasks are open, and is then left to expire instead of being forgotten: then
    /// the task is due again.
    pub fn give_up(&self, claim: ClaimId) {
        let mut pages = locked(&self.0);
        let Some(held) = pages.open.get_mut(&claim) else {
            return;
        };
        held.given_up = true;
        held.tasks_left -= 1;
        if held.tasks_left == 0 {
            pages.open.remove(&claim);
        }
    }

    /// What must be kept alive.
    pub fn held(&self) -> Vec<ClaimId> {
        locked(&self.0).open.keys().copied().collect()
    }

    /// What can be forgotten; returned once.
    pub fn take_done(&self) -> Vec<ClaimId> {
        std::mem::take(&mut locked(&self.0).done)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    #[test]
    fn a_claim_is_done_when_its_last_task_is_written() {
        let book = ClaimBook::default();
        book.open(ClaimId(1), 2, at(0));
        book.open(ClaimId(2), 0, at(0));
        assert_eq!(
            book.held(),
            [ClaimId(1)],
            "a claim without tasks is not held"
        );
        book.tick_off([ClaimId(1)].into_iter());
        assert_eq!(book.take_done(), []);
        book.tick_off([ClaimId(1)].into_iter());
        assert_eq!(book.held(), []);
        assert_eq!(book.take_done(), [ClaimId(1)]);
        assert_eq!(book.take_done(), [], "returned once");
    }

    #[test]
    fn sf_06_a_claim_with_an_ending_that_was_given_up_is_left_to_expire() {
        let book = ClaimBook::default();
        book.open(ClaimId(1), 2, at(0));
        book.give_up(ClaimId(1));
        assert_eq!(book.held(), [ClaimId(1)], "the other task still runs");
        book.tick_off([ClaimId(1)].into_iter());
        book.open(ClaimId(2), 1, at(0));
        book.give_up(ClaimId(2));
        assert_eq!(book.held(), []);
        assert_eq!(book.take_done(), [], "forgetting it would strand the task");
    }

    #[test]
    fn rs_07_a_claim_that_no_heartbeat_has_covered_is_trusted_no_longer_for_it() {
        let book = ClaimBook::default();
        assert_eq!(
            book.valid_until(),
            Timestamp::MAX,
            "nothing held, nothing to distrust"
        );
        book.open(ClaimId(1), 1, at(20));
        let covered = book.held();
        // Its answer came only after the heartbeat had been sent.
        book.open(ClaimId(2), 1, at(25));
        book.extended(&covered, &covered, at(45));
        assert_eq!(book.valid_until(), at(25));
        let both = book.held();
        book.extended(&both, &both, at(50));
        assert_eq!(book.valid_until(), at(50));
        book.extended(&both, &both, at(10));
        assert_eq!(
            book.valid_until(),
            at(50),
            "an answer that arrives late shortens nothing"
        );
        assert_eq!(book.take_lapsed(at(49)), []);
    }

    #[test]
    fn rs_07_a_claim_that_a_heartbeat_could_not_extend_has_lapsed() {
        let book = ClaimBook::default();
        book.open(ClaimId(1), 1, at(20));
        book.open(ClaimId(2), 1, at(20));
        book.extended(&book.held(), &[ClaimId(2)], at(40));
        assert_eq!(
            book.take_lapsed(at(10)),
            [ClaimId(1)],
            "another node has it"
        );
        assert_eq!(book.take_lapsed(at(10)), [], "returned once");
        assert_eq!(
            book.valid_until(),
            at(40),
            "and no reason to distrust the other"
        );
    }
}
