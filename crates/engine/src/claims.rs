//! The claims a node holds, and how many of each one's tasks are still open.
//!
//! Three parties share this book: the runner opens a claim when it starts its tasks, the finisher
//! ticks off every ending that is written, and the keeper extends what is open and forgets what is
//! done. INVARIANT: only claims in the book are ever extended, so a claim whose answer was lost on
//! its way here runs out and its tasks come back.

use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use almanack_core::store::ClaimId;

/// Open and done claims of one node.
#[derive(Debug, Default)]
pub struct ClaimBook(Mutex<Pages>);

#[derive(Debug, Default)]
struct Pages {
    open: BTreeMap<ClaimId, usize>,
    done: Vec<ClaimId>,
}

impl ClaimBook {
    /// A claim with so many tasks is held now.
    pub fn open(&self, claim: ClaimId, tasks: usize) {
        if tasks > 0 {
            self.pages().open.insert(claim, tasks);
        }
    }

    /// Endings of these claims' tasks are written, one per entry.
    pub fn tick_off(&self, claims: impl Iterator<Item = ClaimId>) {
        let mut pages = self.pages();
        for claim in claims {
            let Some(left) = pages.open.get_mut(&claim) else {
                continue;
            };
            *left -= 1;
            if *left == 0 {
                pages.open.remove(&claim);
                pages.done.push(claim);
            }
        }
    }

    /// What must be kept alive.
    pub fn held(&self) -> Vec<ClaimId> {
        self.pages().open.keys().copied().collect()
    }

    /// What can be forgotten; told once.
    pub fn take_done(&self) -> Vec<ClaimId> {
        std::mem::take(&mut self.pages().done)
    }

    /// Every change leaves the pages consistent, so a panic elsewhere does not spoil them.
    fn pages(&self) -> MutexGuard<'_, Pages> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_claim_is_done_when_its_last_task_is_written() {
        let book = ClaimBook::default();
        book.open(ClaimId(1), 2);
        book.open(ClaimId(2), 0);
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
        assert_eq!(book.take_done(), [], "told once");
    }
}
