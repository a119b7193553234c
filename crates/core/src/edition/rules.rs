//! What an operator decides about editions, checked once at start-up.

use jiff::{SignedDuration, Timestamp};

use super::{
    batch::{estimate, stories_within},
    hold::Approval,
    quality::Quality,
};

/// Over this estimate a batch size is refused (ED-10).
pub const ESTIMATE_MAX: u32 = 40;
/// What a batch that spends more than this is warned about (ED-27).
pub const SPENDTHRIFT_OVER: u32 = 30;
/// The same of a batch of so many stories: one that is hurried takes more of them, and spends less
/// on each.
pub fn spendthrift_over(stories: u32) -> u32 {
    SPENDTHRIFT_OVER.max(stories.saturating_mul(2).saturating_add(1))
}

/// The batch size that leaves room for what is tried twice.
pub const BATCH_SIZE_ADVISED: usize = 6;
/// Intervals below this use up what free platforms give (ED-19).
pub const INTERVAL_MIN_ADVISED: u32 = 5;
/// Parts of a batch's time that a lease takes, and of a lease that pass before it is extended.
const LEASE_SHARE: i32 = 4;
/// Most batches that are worked on at once in a chain: thirty stories in batches of three. Beyond
/// it the outside is asked for more at once than it answers sooner.
pub const WAVE_BATCHES_MAX: usize = 10;
/// How often the wait before an improvement doubles: up to four hours.
const IMPROVE_DOUBLINGS_MAX: u32 = 4;
/// Most stories of an edition.
pub const STORIES_MAX: usize = 100;

/// The decisions of an operator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rules {
    /// Stories of an edition.
    pub stories: usize,
    /// Stories of a batch.
    pub batch_size: usize,
    /// Requests that a tick may spend.
    pub budget: u32,
    /// How often people may put a failed story back.
    pub retries_max: u32,
    /// How often a failed story is put back by itself before its edition continues without it.
    pub retries_by_itself: u32,
    /// How long a failed story waits before it is put back by itself.
    pub retry_after: SignedDuration,
    /// How long a batch may take. Its lease is shorter and extended while it is worked on.
    pub batch_time: SignedDuration,
    /// How long sending to a destination may take, and fetching the list. Their leases are extended
    /// meanwhile, too.
    pub delivery_time: SignedDuration,
    /// How old an edition may get before an alert opens (ED-18).
    pub overdue_after: SignedDuration,
    /// How long a published edition stays as it is (ED-31).
    pub archive_after: SignedDuration,
    /// For how many days a story is not published again; 0 for any story.
    pub repeat_after_days: u32,
    /// How long a story that was degraded waits before it is improved; each further time twice as
    /// long (ED-38).
    pub improve_after: SignedDuration,
    /// What an edition must have before it leaves by itself (ED-39).
    pub quality: Quality,
    /// Whether steps follow one another without waiting for the next tick (ED-17).
    pub chain: bool,
    /// Time between two ticks, to forecast when an edition will be finished.
    pub interval: SignedDuration,
    /// How a person approves every edition before anything of it leaves; none: nobody does (ED-42).
    pub approval: Option<Approval>,
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            stories: 30,
            batch_size: BATCH_SIZE_ADVISED,
            budget: 45,
            retries_max: 3,
            retries_by_itself: 1,
            retry_after: SignedDuration::from_mins(2),
            batch_time: SignedDuration::from_mins(4),
            delivery_time: SignedDuration::from_mins(2),
            overdue_after: SignedDuration::from_hours(2),
            archive_after: SignedDuration::from_hours(7 * 24),
            repeat_after_days: 0,
            improve_after: SignedDuration::from_mins(15),
            quality: Quality::default(),
            chain: false,
            interval: SignedDuration::from_mins(10),
            approval: None,
        }
    }
}

/// Why rules are refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unusable {
    /// A batch would spend too much.
    #[error(
        "a batch of {batch_size} stories is expected to spend {estimate} requests, over the limit of \
         {ESTIMATE_MAX}; use a batch size of at most {most} (advised: at most {BATCH_SIZE_ADVISED})"
    )]
    BatchSize {
        /// What was requested.
        batch_size: usize,
        /// What it is expected to spend.
        estimate: u32,
        /// The most that is accepted.
        most: usize,
    },
    /// A batch would spend more than a tick may.
    #[error(
        "a batch of {batch_size} stories is expected to spend {estimate} requests, but a tick may spend only {budget}"
    )]
    Budget {
        /// What was requested.
        batch_size: usize,
        /// What it is expected to spend.
        estimate: u32,
        /// What a tick may spend.
        budget: u32,
    },
    /// Nothing to work on.
    #[error("a batch needs at least one story")]
    NoBatch,
    /// None, or too many.
    #[error("an edition has between 1 and {STORIES_MAX} stories, not {0}")]
    Stories(usize),
}

impl Rules {
    /// Checks what would go wrong every day (ED-10).
    pub fn check(&self) -> Result<(), Unusable> {
        let (batch_size, estimate) = (self.batch_size, estimate(self.batch_size));
        if batch_size == 0 {
            return Err(Unusable::NoBatch);
        }
        if !(1..=STORIES_MAX).contains(&self.stories) {
            return Err(Unusable::Stories(self.stories));
        }
        if estimate > ESTIMATE_MAX {
            return Err(Unusable::BatchSize {
                batch_size,
                estimate,
                most: stories_within(ESTIMATE_MAX),
            });
        }
        if estimate > self.budget {
            return Err(Unusable::Budget {
                batch_size,
                estimate,
                budget: self.budget,
            });
        }
        Ok(())
    }

    /// Requests that a step may spend. In a chain a step may be a wave of batches, each of which
    /// spends no more than a tick's budget, as if they came one after the other (ED-08, ED-17).
    pub fn step_budget(&self) -> u32 {
        let batches = if self.chain { WAVE_BATCHES_MAX } else { 1 };
        let batches = u32::try_from(batches).unwrap_or(u32::MAX);
        self.budget.saturating_mul(batches)
    }

    /// When a story that was degraded for the `nth` time, from 0, may be improved.
    pub fn improve_at(&self, nth: u32, now: Timestamp) -> Timestamp {
        let wait = self
            .improve_after
            .saturating_mul(1 << nth.min(IMPROVE_DOUBLINGS_MAX));
        now.saturating_add(wait).unwrap_or(now)
    }

    /// How long a batch, a delivery or the list belongs to a node after the node last reported to
    /// work on it: a minute of the usual four. A node that dies costs no more than this, however
    /// long its work may take.
    pub fn lease(&self) -> SignedDuration {
        self.batch_time / LEASE_SHARE
    }

    /// How often a node says so. A store that does not answer for a while costs no batch.
    pub fn beat(&self) -> SignedDuration {
        self.lease() / LEASE_SHARE
    }

    /// Until when a lease allows to begin or continue with what must not be done twice: a beat less
    /// than others wait.
    pub fn trusted(&self, lease_until: Timestamp) -> Timestamp {
        let trusted = lease_until.saturating_sub(self.beat());
        trusted.unwrap_or(Timestamp::MIN)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sized(batch_size: usize) -> Result<(), Unusable> {
        Rules {
            batch_size,
            ..Rules::default()
        }
        .check()
    }

    #[test]
    fn ed_10_a_batch_size_that_spends_too_much_is_refused_with_the_advice() {
        for fits in [1, 4, 6, 9] {
            assert_eq!(sized(fits), Ok(()), "{fits}");
        }
        insta::assert_snapshot!(sized(15).unwrap_err(), @"a batch of 15 stories is expected to spend 61 requests, over the limit of 40; use a batch size of at most 9 (advised: at most 6)");
        assert!(matches!(
            sized(10),
            Err(Unusable::BatchSize { estimate: 41, .. })
        ));
        assert_eq!(sized(0), Err(Unusable::NoBatch));
        assert!(sized(usize::MAX).is_err());
    }

    #[test]
    fn a_batch_must_fit_into_its_budget() {
        let rules = Rules {
            budget: 24,
            ..Rules::default()
        };
        assert!(matches!(rules.check(), Err(Unusable::Budget { .. })));
        for stories in [0, 101] {
            let rules = Rules {
                stories,
                ..Rules::default()
            };
            assert_eq!(rules.check(), Err(Unusable::Stories(stories)));
        }
    }
}
