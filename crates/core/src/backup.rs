//! Scheduled backups: when the next one is due, and which of those there are may go.
//!
//! What exists is the memory: a backup is known by the instant in its name, so a restarted node
//! continues where the one before it stopped, and there is no separate record that could be wrong.
//! Instants later than now were given by a clock that was wrong; they count for nothing, and their
//! backups are left to people.

use async_trait::async_trait;
use jiff::{SignedDuration, Timestamp};

/// Where backups are kept.
#[async_trait]
pub trait Vault: Send + Sync {
    /// When the backups that are there were made, in any order. Files of other names are none.
    async fn list(&self) -> Result<Vec<Timestamp>, String>;
    /// Makes one and proves it; returns its size in bytes. One that is not whole never gets its
    /// name, whenever the node dies.
    async fn save(&self, now: Timestamp) -> Result<u64, String>;
    /// Removes one. Removing one that is gone is no error.
    async fn remove(&self, made_at: Timestamp) -> Result<(), String>;
}

/// When the next backup is due: at once where there is none.
pub fn next_at(made: &[Timestamp], every: SignedDuration, now: Timestamp) -> Timestamp {
    let newest = made.iter().filter(|at| **at <= now).max();
    newest.map_or(now, |at| at.saturating_add(every).unwrap_or(Timestamp::MAX))
}

/// Those that may go, oldest first: all but the newest `keep`.
pub fn outdated(made: &[Timestamp], keep: usize, now: Timestamp) -> Vec<Timestamp> {
    let mut past: Vec<Timestamp> = made.iter().copied().filter(|at| *at <= now).collect();
    past.sort();
    past.truncate(past.len().saturating_sub(keep));
    past
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(hours: i64) -> Timestamp {
        Timestamp::UNIX_EPOCH + SignedDuration::from_hours(hours)
    }

    #[test]
    fn the_next_is_a_period_after_the_newest_and_the_future_counts_for_nothing() {
        let day = SignedDuration::from_hours(24);
        for (made, next, why) in [
            (&[][..], at(100), "there is none"),
            (&[at(10), at(90), at(20)], at(114), "the newest counts"),
            (&[at(10)], at(34), "long overdue"),
            (&[at(90), at(9_000)], at(114), "a clock was wrong"),
            (&[at(9_000)], at(100), "and there is no other"),
        ] {
            assert_eq!(next_at(made, day, at(100)), next, "{why}");
        }
    }

    #[test]
    fn the_newest_are_kept() {
        let made = [at(3), at(1), at(9_000), at(2)];
        assert_eq!(outdated(&made, 2, at(100)), [at(1)]);
        assert_eq!(outdated(&made, 1, at(100)), [at(1), at(2)]);
        assert_eq!(outdated(&made, 3, at(100)), []);
        assert_eq!(outdated(&[], 3, at(100)), []);
    }
}
