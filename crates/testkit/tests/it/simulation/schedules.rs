//! Ninety days of schedules per seed, every slot accounted for (DP-05, DP-08, DP-16, DP-17).

use super::{no_seed_breaks, open, seeds};
use crate::simulator::schedules::{ScheduleOptions, ScheduleSummary, simulate_schedules};

/// Fixed seeds that run unless the environment says otherwise.
const SEEDS: u64 = 90;

/// What goes wrong and what comes of it, by a piece of the line that says so.
const TROUBLES: [&str; 24] = [
    "crashes",
    "clock is -10 min ahead",
    "clock is 527040 min ahead",
    "is frozen",
    "all nodes go away",
    "refused",
    "reply lost",
    "another node was faster",
    "gives way",
    " fired",
    " caught_up",
    " paused",
    " too_late",
    " not_caught_up",
    " over_cap",
    " excluded",
    " overlap",
    " changed",
    "resumed by planner",
    "resumed by ada",
    "removed by ada",
    "done by planner",
    "its report of finish is accepted",
    "its report is refused",
];

#[test]
fn dp_16_no_seed_loses_or_doubles_a_slot() {
    no_seed_breaks(&seeds("schedules", SEEDS), &TROUBLES, |seed| {
        simulate_schedules(seed, &ScheduleOptions::default(), open).map(|story| story.log)
    });
}

fn story(seed: u64) -> ScheduleSummary {
    let result = simulate_schedules(seed, &ScheduleOptions::default(), open);
    result.unwrap_or_else(|broken| panic!("{broken}"))
}

#[test]
fn one_seed_is_one_story() {
    for seed in 0..2 {
        assert_eq!(story(seed), story(seed), "seed {seed} ran in two ways");
    }
    assert_ne!(story(0), story(1));
}

/// The teeth: take a safeguard away from below, and a seed must say which promise broke.
mod teeth {
    use std::sync::Arc;

    use almanack_core::{
        follow::{Ended, FollowedChange},
        plan::{Reason, ScheduleWrite, Verdict},
        store::{Applied, PermitGrant, PermitRequest, Pruned, Result, Store, Visitor},
        task::{Subject, TaskId},
    };
    use almanack_testkit::layer::{Layer, Layered};
    use async_trait::async_trait;
    use jiff::{SignedDuration, Timestamp};

    use super::open;
    use crate::simulator::schedules::{ScheduleOptions, simulate_schedules};

    /// Seeds within which every missing safeguard must be noticed.
    const NOTICED_WITHIN: u64 = 60;

    #[track_caller]
    fn assert_noticed<L: Layer + 'static>(sabotage: impl Fn() -> L, words: &[&str]) {
        let options = ScheduleOptions {
            days: 30,
            ..ScheduleOptions::default()
        };
        let sabotaged = || -> Arc<dyn Store> { Layered::over(open(), sabotage()) };
        let found = (0..NOTICED_WITHIN)
            .find_map(|seed| simulate_schedules(seed, &options, sabotaged).err());
        let broken = found.expect("a seed must notice");
        let named = words.iter().any(|words| broken.what.contains(words));
        assert!(named, "expected one of {words:?}:\n{broken}");
    }

    /// Changes the writes on their way down.
    struct Meddle(fn(&mut ScheduleWrite));

    #[async_trait]
    impl Layer for Meddle {
        async fn write_schedules(
            &self,
            below: &dyn Store,
            mut writes: Vec<ScheduleWrite>,
        ) -> Result<Vec<Applied>> {
            writes.iter_mut().for_each(self.0);
            below.write_schedules(writes).await
        }
    }

    /// Whatever version was seen, the write is carried out.
    struct NoVersionGuard;

    #[async_trait]
    impl Layer for NoVersionGuard {
        async fn write_schedules(
            &self,
            below: &dyn Store,
            mut writes: Vec<ScheduleWrite>,
        ) -> Result<Vec<Applied>> {
            for write in &mut writes {
                let name = write.schedule.name.clone();
                let found = below.load_schedules(&[name]).await?.pop().flatten();
                if let (Some(seen), Some(found)) = (&mut write.seen, found) {
                    *seen = found.version;
                    write.schedule.version = found.version + 1;
                }
            }
            below.write_schedules(writes).await
        }
    }

    /// What ended a moment ago is as old as anything.
    struct Hasty;

    #[async_trait]
    impl Layer for Hasty {
        async fn prune(
            &self,
            below: &dyn Store,
            _: Timestamp,
            after: TaskId,
            limit: usize,
        ) -> Result<Pruned> {
            below.prune(Timestamp::MAX, after, limit).await
        }
    }

    /// An ending that comes later is accepted like the first.
    struct Gullible;

    #[async_trait]
    impl Layer for Gullible {
        async fn change_followed(
            &self,
            below: &dyn Store,
            firing: TaskId,
            change: &FollowedChange,
        ) -> Result<bool> {
            let _ = below.change_followed(firing, change).await?;
            Ok(true)
        }
    }

    /// There is always room for one more.
    struct Generous;

    #[async_trait]
    impl Layer for Generous {
        async fn request_permits(
            &self,
            below: &dyn Store,
            visitor: &Visitor,
            asks: &[PermitRequest],
        ) -> Result<Vec<PermitGrant>> {
            let mut asks = asks.to_vec();
            for ask in &mut asks {
                ask.at_once = 1_000;
            }
            below.request_permits(visitor, &asks).await
        }
    }

    #[test]
    fn dp_19_a_second_ending_is_noticed() {
        assert_noticed(|| Gullible, &["ended twice", "was accepted, and"]);
    }

    #[test]
    fn dp_22_more_firings_at_once_than_allowed_are_noticed() {
        assert_noticed(|| Generous, &["though 1 may run", "though 2 may run"]);
    }

    #[test]
    fn dp_22_a_run_more_than_asked_for_is_noticed() {
        let forget = |write: &mut ScheduleWrite| write.schedule.runs = 0;
        let words = ["covers no slot", "no slot", "the next slot is"];
        assert_noticed(move || Meddle(forget), &words);
    }

    #[test]
    fn dp_21_a_slot_that_does_not_move_is_noticed() {
        let stay = |write: &mut ScheduleWrite| {
            let moves = write.slots.iter().any(|row| {
                let why = row.detail.as_deref().unwrap_or_default();
                why.contains("moved to")
            });
            // The day after is passed over.
            let day = SignedDuration::from_hours(24);
            let next = write.schedule.next_at.map(|at| at + day);
            write.schedule.next_at = next.filter(|_| moves).or(write.schedule.next_at);
        };
        assert_noticed(move || Meddle(stay), &["has no row in the ledger"]);
    }

    /// What was done is written down as failed, and the other way round.
    struct Liar;

    #[async_trait]
    impl Layer for Liar {
        async fn change_followed(
            &self,
            below: &dyn Store,
            firing: TaskId,
            change: &FollowedChange,
        ) -> Result<bool> {
            let mut change = change.clone();
            if let Some(ending) = &mut change.ending {
                ending.ended = match ending.ended {
                    Ended::Done => Ended::Failed,
                    Ended::Failed | Ended::Cancelled => Ended::Done,
                };
            }
            below.change_followed(firing, &change).await
        }
    }

    #[test]
    fn dp_19_a_wrong_ending_is_noticed() {
        assert_noticed(|| Liar, &["it says", "was accepted, and"]);
    }

    #[test]
    fn dp_21_a_lost_row_of_a_day_left_out_is_noticed() {
        let forget = |write: &mut ScheduleWrite| {
            let excluded = Verdict::Skipped(Reason::Excluded);
            write.slots.retain(|row| row.verdict != excluded);
        };
        assert_noticed(move || Meddle(forget), &["has no row in the ledger"]);
    }

    #[test]
    fn a_firing_that_is_forgotten_too_early_is_noticed() {
        assert_noticed(|| Hasty, &["has not exactly one firing"]);
    }

    #[test]
    fn a_missing_version_guard_is_noticed() {
        let words = [
            "has no row",
            "covers no slot",
            "no slot",
            "the next slot is",
            "the schedule was paused",
            "had not ended",
        ];
        assert_noticed(|| NoVersionGuard, &words);
    }

    #[test]
    fn a_forgotten_row_is_noticed() {
        let forget = || Meddle(|write| write.slots.retain(|row| !row.verdict.is_fired()));
        assert_noticed(forget, &["has no row in the ledger"]);
    }

    #[test]
    fn a_lost_skip_is_noticed() {
        let forget = || Meddle(|write| write.slots.retain(|row| row.verdict.is_fired()));
        assert_noticed(forget, &["has no row in the ledger"]);
    }

    #[test]
    fn a_lost_firing_is_noticed() {
        assert_noticed(
            || Meddle(|write| write.fires.clear()),
            &["has not exactly one firing"],
        );
    }

    #[test]
    fn a_second_firing_under_another_identity_is_noticed() {
        let twice = |write: &mut ScheduleWrite| {
            if let Some(mut again) = write.fires.last().cloned() {
                let subject = format!("{}-again", again.identity.subject);
                again.identity.subject = Subject::parse(&subject).unwrap();
                write.fires.push(again);
            }
        };
        assert_noticed(move || Meddle(twice), &["firings for", "was put twice"]);
    }

    #[test]
    fn a_wrong_reason_is_noticed() {
        let lie = |write: &mut ScheduleWrite| {
            for row in &mut write.slots {
                if row.verdict == Verdict::Skipped(Reason::Overlap) {
                    row.verdict = Verdict::Skipped(Reason::TooLate);
                }
            }
        };
        let words = ["it was in time", "was there to plan it", "within its grace"];
        assert_noticed(move || Meddle(lie), &words);
    }

    #[test]
    fn a_slot_that_is_jumped_over_is_noticed() {
        let jump = |write: &mut ScheduleWrite| {
            let day = SignedDuration::from_hours(24);
            if write.fires.len() == 1 {
                write.schedule.next_at = write.schedule.next_at.map(|at| at + day);
            }
        };
        assert_noticed(move || Meddle(jump), &["has no row in the ledger"]);
    }
}
