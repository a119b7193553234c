//! The ladder: how much is written about a story when time runs out (ED-38).
//!
//! ```text
//!   full ──► short ──► extractive ──► title
//!   4          2           1            0     requests a story
//! ```
//!
//! An edition that readers expect at a certain time walks down as far as it must to be there, and
//! no further: the least degradation with which everything that is left still fits into the time
//! that is left. What was degraded is marked on the story with the cause, and improved in a later
//! revision. A model or a page that does not answer leads down the same ladder.
//!
//! INVARIANT: an edition without a deadline, and one that readers have already, is never degraded
//! for lack of time.

use jiff::{SignedDuration, Timestamp};

use super::{
    Account,
    batch::Batch,
    rules::{Rules, WAVE_BATCHES_MAX},
    story::Status,
};

/// How long a batch is expected to take before one has been seen.
pub const BATCH_GUESSED: SignedDuration = SignedDuration::from_secs(30);
/// Requests that are set aside for the deliveries when an edition is in a hurry: they have to leave
/// with the last batch, because no tick comes before the deadline.
const SET_ASIDE: u32 = 10;
/// How long a batch may take that keeps nothing but titles.
pub const TITLES_TIME: SignedDuration = SignedDuration::from_secs(20);

names! {
    /// How much is written about a story, most first.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
    pub enum Rung {
        /// A summary of the page and one of the discussion.
        #[default]
        Full = "full",
        /// A short summary of the page.
        Short = "short",
        /// Sentences of the page itself.
        Extractive = "extractive",
        /// The title alone.
        Title = "title",
    }
}

names! {
    /// Why a story has less than it could: a later revision may improve it.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Cause {
        /// Its edition was due.
        Time = "time",
        /// The model did not answer.
        Model = "model",
        /// Its page could not be read for a reason that may pass.
        Page = "page",
        /// A cap on what models cost was reached.
        Cap = "cap",
    }
}

impl Rung {
    /// Requests for a story: see the picture.
    fn requests(self) -> u32 {
        match self {
            Self::Full => 4,
            Self::Short => 2,
            Self::Extractive => 1,
            Self::Title => 0,
        }
    }

    /// How many stories a batch takes at most.
    pub fn batch_size(self, rules: &Rules) -> usize {
        let most = rules.budget.saturating_sub(1);
        match self {
            Self::Full => rules.batch_size.min((most / 4) as usize).max(1),
            Self::Title => usize::MAX,
            hurried => {
                let most = most.saturating_sub(SET_ASIDE) / hurried.requests();
                rules.batch_size.max(most as usize).max(1)
            }
        }
    }

    /// How long a batch is expected to take, by how long a full one does.
    fn batch_time(self, full: SignedDuration) -> SignedDuration {
        match self {
            Self::Full => full,
            Self::Short => full * 2 / 3,
            Self::Extractive | Self::Title => full / 3,
        }
    }
}

/// The instant at which everything that is not here yet is degraded: the deadline, less the time
/// that deliveries may take. None without a deadline, once readers have the edition, and while one
/// that is held is improved.
pub fn hurry_at(account: &Account, rules: &Rules) -> Option<Timestamp> {
    let edition = &account.edition;
    let improved = edition.improving_at.is_some() || account.was_published();
    let due_at = edition.due_at.filter(|_| !improved)?;
    Some(due_at.saturating_sub(rules.delivery_time).unwrap_or(due_at))
}

/// Whether no tick comes any more before everything that is not here is degraded: what fails now
/// cannot be tried again in time.
pub fn is_last_chance(account: &Account, rules: &Rules, now: Timestamp) -> bool {
    let next_tick_at = now.saturating_add(rules.interval).unwrap_or(Timestamp::MAX);
    hurry_at(account, rules).is_some_and(|hurry_at| next_tick_at >= hurry_at)
}

/// How far down the ladder the stories that wait must go, so that their edition is ready in time.
pub fn rung(account: &Account, rules: &Rules, now: Timestamp) -> Rung {
    let Some(hurry_at) = hurry_at(account, rules) else {
        return Rung::Full;
    };
    let left = hurry_at.duration_since(now);
    let counts = account.counts();
    let waiting = (counts.pending + counts.processing) as usize;
    let full = mean_batch(account).unwrap_or(BATCH_GUESSED);
    let fits = |rung: &Rung| time_for(waiting, *rung, full, rules) <= left;
    let higher = [Rung::Full, Rung::Short, Rung::Extractive];
    higher.into_iter().find(fits).unwrap_or(Rung::Title)
}

/// How long so many stories are expected to take.
fn time_for(stories: usize, rung: Rung, full: SignedDuration, rules: &Rules) -> SignedDuration {
    let batches = stories.div_ceil(rung.batch_size(rules)).max(1);
    let each = rung.batch_time(full);
    if rules.chain {
        return times(each, batches.div_ceil(WAVE_BATCHES_MAX));
    }
    // One batch a tick; the last one need not wait for another.
    times(rules.interval, batches - 1).saturating_add(each)
}

/// How long the batches of an edition took that were worked on to their end.
pub fn mean_batch(account: &Account) -> Option<SignedDuration> {
    let ended = account.batches.iter().filter(|batch| !batch.never_ended());
    let took: Vec<i64> = ended.filter_map(Batch::duration_ms).collect();
    let count = i64::try_from(took.len()).ok().filter(|count| *count > 0)?;
    Some(SignedDuration::from_millis(
        took.iter().sum::<i64>() / count,
    ))
}

/// Stories that a reader finds with less than they could have, by cause.
pub fn degraded(account: &Account) -> impl Iterator<Item = (Cause, u32)> {
    let completed = |cause: Cause| {
        let own = account.stories.iter().filter(move |story| {
            story.status == Status::Completed && story.written.degraded_by == Some(cause)
        });
        u32::try_from(own.count()).unwrap_or(u32::MAX)
    };
    let counted = Cause::ALL.map(|cause| (cause, completed(cause)));
    counted.into_iter().filter(|(_, count)| *count > 0)
}

fn times(each: SignedDuration, count: usize) -> SignedDuration {
    each.saturating_mul(i32::try_from(count).unwrap_or(i32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edition::{State, fixture};

    const MINUTE: SignedDuration = SignedDuration::from_mins(1);

    fn due_in(minutes: i64, stories: u32) -> Account {
        let mut account = fixture::fetched(stories);
        account.edition.due_at = Some(fixture::NOW + SignedDuration::from_mins(minutes));
        account
    }

    fn rung_of(minutes: i64, stories: u32, chain: bool) -> Rung {
        let rules = Rules {
            chain,
            ..Rules::default()
        };
        rung(&due_in(minutes, stories), &rules, fixture::NOW)
    }

    #[test]
    fn ed_38_an_edition_walks_down_as_far_as_it_must_and_no_further() {
        for (minutes, stories, chain, expected, why) in [
            (
                60,
                30,
                false,
                Rung::Full,
                "five batches are forty minutes and a batch",
            ),
            (30, 30, false, Rung::Short, "two batches of seventeen"),
            (13, 30, false, Rung::Short, "two batches, ten minutes apart"),
            (12, 30, false, Rung::Extractive, "one batch of thirty"),
            (3, 30, false, Rung::Extractive, "one batch"),
            (2, 30, false, Rung::Title, "no time but for the deliveries"),
            (-5, 30, false, Rung::Title, "it is late already"),
            (3, 6, false, Rung::Full, "one batch anyhow"),
            (4, 30, true, Rung::Full, "a wave is as long as a batch"),
        ] {
            assert_eq!(
                rung_of(minutes, stories, chain),
                expected,
                "{minutes} min: {why}"
            );
        }
    }

    #[test]
    fn ed_38_what_fails_at_the_last_tick_before_the_deadline_is_not_waited_for() {
        let rules = Rules::default();
        for (minutes, last) in [(30, false), (13, false), (12, true), (-1, true)] {
            let account = due_in(minutes, 6);
            let found = is_last_chance(&account, &rules, fixture::NOW);
            assert_eq!(found, last, "{minutes} minutes before");
        }
        assert!(!is_last_chance(&fixture::fetched(6), &rules, fixture::NOW));
    }

    #[test]
    fn ed_38_without_a_deadline_nothing_is_hurried() {
        let mut account = fixture::fetched(30);
        let rules = Rules::default();
        assert_eq!(rung(&account, &rules, fixture::NOW), Rung::Full);
        account = due_in(-60, 30);
        account.edition.published_at = Some(fixture::NOW);
        account.edition.state = State::Processing;
        let rung = rung(&account, &rules, fixture::NOW);
        assert_eq!(
            rung,
            Rung::Full,
            "readers have it: there is time to improve it"
        );
    }

    #[test]
    fn a_slow_outside_leads_further_down() {
        let rules = Rules {
            chain: true,
            ..Rules::default()
        };
        let mut account = due_in(5, 12);
        assert_eq!(rung(&account, &rules, fixture::NOW), Rung::Full);
        let keys = [fixture::key(1)];
        let began = fixture::NOW - MINUTE * 4;
        let (change, batch) =
            crate::edition::turn::start_batch(&account, &keys, "n", &rules, began).unwrap();
        account = change.apply(account);
        let ended = [(fixture::key(1), fixture::written())];
        let spend = crate::budget::Spend::default();
        let end = crate::edition::turn::end_batch;
        let change = end(&account, batch.index, &ended, spend, &rules, fixture::NOW);
        account = change.unwrap().apply(account);
        assert_eq!(
            rung(&account, &rules, fixture::NOW),
            Rung::Short,
            "three minutes"
        );
    }
}
