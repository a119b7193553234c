//! What any lock must do, whatever implements it.
//!
//! Every rule gets a [`Place`] without locks, and makes as many acquirers of it as it needs, each
//! of them like another process. A consumer says how to get a place and receives one test per rule:
//!
//! ```ignore
//! async fn place() -> Place { Place::new(|| Arc::new(my_lock())) }
//! almanack_testkit::lock_conformance!(place);
//! ```

use std::{any::Any, collections::BTreeSet, sync::Arc};

use almanack_core::{
    lock::{Acquired, Content, LockKey, SlotLock},
    target::Target,
};
use jiff::Timestamp;

const RACERS: usize = 20;

/// Where locks are kept, and how to get at them.
pub struct Place {
    open: Box<dyn Fn() -> Arc<dyn SlotLock> + Send + Sync>,
    _kept: Box<dyn Any + Send + Sync>,
}

impl Place {
    /// A place whose acquirers `open` makes.
    pub fn new(open: impl Fn() -> Arc<dyn SlotLock> + Send + Sync + 'static) -> Self {
        Self {
            open: Box::new(open),
            _kept: Box::new(()),
        }
    }

    /// Keeps `kept` (a temporary directory, a server) until the rule is over.
    #[must_use]
    pub fn keeping(self, kept: impl Any + Send + Sync) -> Self {
        Self {
            _kept: Box::new(kept),
            ..self
        }
    }

    fn acquirer(&self) -> Arc<dyn SlotLock> {
        (self.open)()
    }
}

/// Turns every rule into a separate test, against a place from `$place().await`.
#[macro_export]
macro_rules! lock_conformance {
    ($place:path) => {
        $crate::lock_conformance! { $place;
            dp_05_of_many_racing_nodes_exactly_one_wins,
            dp_05_a_lock_is_won_once,
            dp_05_another_slot_and_another_content_are_other_locks,
            dp_05_many_slots_are_raced_for_at_once_and_each_has_one_winner,
            dp_07_locks_are_listed,
            dp_07_cleaning_removes_what_it_is_given_and_nothing_else,
            dp_07_cleaning_what_is_gone_is_no_error,
        }
    };
    ($place:path; $($rule:ident),* $(,)?) => {
        $(
            #[::tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $rule() {
                let place: $crate::lock::Place = $place().await;
                $crate::lock::$rule(&place).await;
            }
        )*
    };
}

/// A key of one of several contents.
pub fn key(number: u32, slot_s: i64) -> LockKey {
    let json = format!(r#"{{"type":"webhook","url":"https://example.org/{number}"}}"#);
    let target: Target = serde_json::from_str(&json).expect("a target");
    let slot = Timestamp::from_second(slot_s).expect("an instant");
    LockKey::new(Content::of("@10s", "UTC", &target), slot)
}

async fn acquire(lock: &dyn SlotLock, key: LockKey) -> Acquired {
    lock.acquire(&key).await.expect("acquire")
}

/// Asks until there is an answer: an error is not "lost" (DP-06), and a server that is raced for
/// may well answer with one.
async fn insist(lock: &dyn SlotLock, key: LockKey) -> Acquired {
    for _ in 0..100 {
        match lock.acquire(&key).await {
            Ok(acquired) => return acquired,
            Err(error) => assert!(error.is_transient(), "{error}"),
        }
    }
    panic!("no answer about {key}");
}

async fn race(place: &Place, keys: &[LockKey]) -> Vec<(LockKey, usize)> {
    let mut racers = Vec::new();
    for _ in 0..RACERS {
        let (lock, keys) = (place.acquirer(), keys.to_vec());
        racers.push(tokio::spawn(async move {
            let mut won = Vec::new();
            for key in keys {
                if insist(lock.as_ref(), key).await == Acquired::Won {
                    won.push(key);
                }
            }
            won
        }));
    }
    let mut won = Vec::new();
    for racer in racers {
        won.extend(racer.await.expect("a racer"));
    }
    let winners = |key: &LockKey| won.iter().filter(|winner| *winner == key).count();
    keys.iter().map(|key| (*key, winners(key))).collect()
}

async fn listed(lock: &dyn SlotLock) -> BTreeSet<LockKey> {
    lock.list().await.expect("list").into_iter().collect()
}

/// Twenty nodes, one slot.
pub async fn dp_05_of_many_racing_nodes_exactly_one_wins(place: &Place) {
    assert_eq!(race(place, &[key(1, 60)]).await, [(key(1, 60), 1)]);
}

/// Neither its winner nor another process wins it again.
pub async fn dp_05_a_lock_is_won_once(place: &Place) {
    let (winner, other) = (place.acquirer(), place.acquirer());
    assert_eq!(acquire(winner.as_ref(), key(1, 60)).await, Acquired::Won);
    assert_eq!(acquire(other.as_ref(), key(1, 60)).await, Acquired::Lost);
    assert_eq!(acquire(winner.as_ref(), key(1, 60)).await, Acquired::Lost);
}

pub async fn dp_05_another_slot_and_another_content_are_other_locks(place: &Place) {
    let lock = place.acquirer();
    for key in [key(1, 60), key(1, 70), key(2, 60)] {
        assert_eq!(acquire(lock.as_ref(), key).await, Acquired::Won, "{key}");
    }
}

/// Twenty nodes, several slots.
pub async fn dp_05_many_slots_are_raced_for_at_once_and_each_has_one_winner(place: &Place) {
    let keys: Vec<LockKey> = (0..3).map(|n| key(n, 60 + i64::from(n))).collect();
    for (key, winners) in race(place, &keys).await {
        assert_eq!(winners, 1, "{key}");
    }
}

pub async fn dp_07_locks_are_listed(place: &Place) {
    let lock = place.acquirer();
    assert_eq!(listed(lock.as_ref()).await, BTreeSet::new());
    let keys = BTreeSet::from([key(1, 60), key(1, 70), key(2, 60)]);
    for key in &keys {
        acquire(lock.as_ref(), *key).await;
    }
    assert_eq!(listed(place.acquirer().as_ref()).await, keys);
}

/// And what was removed can be won again: that is why only expired ones are.
pub async fn dp_07_cleaning_removes_what_it_is_given_and_nothing_else(place: &Place) {
    let (lock, other) = (place.acquirer(), place.acquirer());
    for slot in [60, 70, 80] {
        acquire(lock.as_ref(), key(1, slot)).await;
    }
    other.clean(&[key(1, 60), key(1, 80)]).await.expect("clean");
    assert_eq!(listed(lock.as_ref()).await, BTreeSet::from([key(1, 70)]));
    assert_eq!(acquire(other.as_ref(), key(1, 70)).await, Acquired::Lost);
    assert_eq!(acquire(other.as_ref(), key(1, 60)).await, Acquired::Won);
}

/// Another process may have cleaned up first.
pub async fn dp_07_cleaning_what_is_gone_is_no_error(place: &Place) {
    let lock = place.acquirer();
    acquire(lock.as_ref(), key(1, 60)).await;
    lock.clean(&[]).await.expect("clean nothing");
    lock.clean(&[key(9, 60)])
        .await
        .expect("clean what never was");
    lock.clean(&[key(9, 60), key(1, 60)])
        .await
        .expect("clean both");
    lock.clean(&[key(1, 60)]).await.expect("clean again");
    assert_eq!(listed(lock.as_ref()).await, BTreeSet::new());
}

#[cfg(test)]
mod tests {
    /// An unlisted rule would silently prove nothing.
    #[test]
    fn every_rule_is_listed() {
        let source = include_str!("lock.rs");
        let rules = source.lines();
        let rules = rules.filter_map(|line| line.strip_prefix("pub async fn "));
        for rule in rules.filter_map(|rest| rest.split('(').next()) {
            assert!(source.contains(&format!("            {rule},\n")), "{rule}");
        }
    }
}
