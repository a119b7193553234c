//! When an edition is expected to be finished (ED-17).

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use super::{
    Account, State,
    batch::{Status, stories_within},
    hold::OnSilence,
    ladder::{BATCH_GUESSED, mean_batch},
    rules::{Rules, WAVE_BATCHES_MAX},
};

/// The plan of an edition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Forecast {
    /// Batches that ended.
    pub batches_done: u32,
    /// Batches in all, if nothing fails.
    pub batches_planned: u32,
    /// When it is expected to be published; none once it is, or when no node works on it.
    #[serde(rename = "expected_finish_at")]
    pub finish_at: Option<Timestamp>,
}

/// Computes the forecast, given when the next tick is.
pub fn forecast(
    account: &Account,
    rules: &Rules,
    next_tick_at: Option<Timestamp>,
    now: Timestamp,
) -> Forecast {
    let done = count(
        account
            .batches
            .iter()
            .filter(|batch| batch.status != Status::Running)
            .count(),
    );
    let left = batches_left(account, rules);
    Forecast {
        batches_done: done,
        batches_planned: done.saturating_add(left),
        finish_at: finish_at(account, rules, left, next_tick_at, now),
    }
}

/// Batches that the waiting stories still take; before the list is known, those of a full one.
fn batches_left(account: &Account, rules: &Rules) -> u32 {
    let size = rules.batch_size.min(stories_within(rules.budget)).max(1);
    let counts = account.counts();
    let waiting = match account.edition.state {
        State::Init => rules.stories,
        State::ListFetched | State::Processing => (counts.pending + counts.processing) as usize,
        State::Aggregating | State::Published | State::Empty | State::Archived => 0,
    };
    count(waiting.div_ceil(size))
}

fn finish_at(
    account: &Account,
    rules: &Rules,
    left: u32,
    next_tick_at: Option<Timestamp>,
    now: Timestamp,
) -> Option<Timestamp> {
    if !account.edition.state.is_open() {
        return None;
    }
    if let Some(hold) = account.edition.waiting() {
        return hold.until.filter(|_| hold.on_silence == OnSilence::Publish);
    }
    if rules.chain {
        let each = mean_batch(account).unwrap_or(BATCH_GUESSED);
        let waves = left.div_ceil(count(WAVE_BATCHES_MAX)).max(1);
        return now.saturating_add(times(each, waves)).ok();
    }
    // The list takes a separate tick; what is delivered goes out with the last batch.
    let list = u32::from(account.edition.state == State::Init);
    let ticks = (left + list).max(1);
    let next = next_tick_at.filter(|at| *at >= now).unwrap_or(now);
    next.saturating_add(times(rules.interval, ticks - 1)).ok()
}

fn times(each: SignedDuration, count: u32) -> SignedDuration {
    each.saturating_mul(i32::try_from(count).unwrap_or(i32::MAX))
}

fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edition::{fixture, turn};

    #[test]
    fn ed_17_thirty_stories_at_six_a_batch_are_five_batches_and_fifty_minutes() {
        let (rules, now) = (Rules::default(), fixture::NOW);
        let account = fixture::account(&[]);
        let outlook = forecast(&account, &rules, Some(now), now);
        let fifty = now + SignedDuration::from_mins(50);
        assert_eq!((outlook.batches_done, outlook.batches_planned), (0, 5));
        assert_eq!(outlook.finish_at, Some(fifty));
        let eight = Rules {
            batch_size: 4,
            ..rules
        };
        assert_eq!(forecast(&account, &eight, None, now).batches_planned, 8);
    }

    #[test]
    fn the_plan_shrinks_with_what_is_done_and_ends_with_the_edition() {
        let (rules, now) = (Rules::default(), fixture::NOW);
        let account = fixture::fetched(13);
        let outlook = forecast(&account, &rules, Some(now), now);
        assert_eq!(outlook.batches_planned, 3);
        assert_eq!(outlook.finish_at, Some(now + SignedDuration::from_mins(20)));
        let account = fixture::work_through(account, &rules, now);
        let outlook = forecast(&account, &rules, Some(now), now);
        assert_eq!((outlook.batches_done, outlook.batches_planned), (3, 3));
        assert_eq!(
            outlook.finish_at,
            Some(now),
            "one tick is left: the deliveries"
        );
        let account = turn::publish(&account, now).apply(account);
        assert_eq!(forecast(&account, &rules, Some(now), now).finish_at, None);
    }

    #[test]
    fn ed_17_in_a_chain_batches_overlap() {
        let rules = Rules {
            chain: true,
            ..Rules::default()
        };
        let now = fixture::NOW;
        let outlook = forecast(&fixture::fetched(12), &rules, None, now);
        assert_eq!(outlook.finish_at, Some(now + SignedDuration::from_secs(30)));
    }
}
