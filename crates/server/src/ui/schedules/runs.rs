//! The last slots of schedules: the ledger's verdict joined with the firing's task.
//!
//! The ledger says that a slot fired, not with which result; the task knows nothing of skipped
//! slots. A ledger row may cover many skipped slots, so rows are expanded into slots again, as many
//! as are shown. A page costs one read per schedule and one for all firings together.

use almanack_core::follow::{Course, CourseOutcome};
use almanack_core::plan::{Reason, Slot, Verdict, slot_identity};
use almanack_core::store::LedgerPage;

use super::words;
use crate::picture::against;
use crate::picture::span::percentile;
use crate::picture::strip::{self, Beat};
use crate::schedules::view::courses_of;
use crate::ui::prelude::*;

/// Slots shown.
pub(crate) const SHOWN: usize = 60;
/// Gaps examined to find the interval.
const GAPS: usize = 8;

pub(crate) struct Run {
    /// Its outcome, why, and details in English: who paused, the last result.
    beat: Beat,
    /// Its start delay; none if it did not fire by itself.
    pub(crate) late: Option<SignedDuration>,
    /// Duration of its work, or of its last attempt where no work was followed.
    pub(crate) took: Option<SignedDuration>,
}

/// The last slots of each schedule, oldest first.
pub(crate) async fn load(
    state: &AppState,
    lang: Lang,
    schedules: &[(&Schedule, Option<&Ready>)],
) -> Result<Vec<Vec<Run>>> {
    let newest = LedgerPage {
        before: Timestamp::MAX,
        limit: SHOWN,
    };
    let mut ledgers = Vec::with_capacity(schedules.len());
    for (schedule, _) in schedules {
        ledgers.push(state.store.load_slots(schedule.id, newest).await?);
    }
    let mut identities = Vec::new();
    let mut unrolled = Vec::with_capacity(schedules.len());
    for ((schedule, ready), rows) in schedules.iter().zip(&ledgers) {
        let slots = unroll(rows, *ready);
        for (at, _) in &slots {
            identities.push(slot_identity(&schedule.name, *at)?);
        }
        unrolled.push(slots);
    }
    let tasks = state.store.load_current(&identities).await?;
    let slots_at = unrolled.iter().flatten().map(|(at, _)| *at);
    let courses = courses_of(state, slots_at, &tasks).await?;
    let mut fired = tasks.iter().zip(courses);
    let mut next = || {
        fired
            .next()
            .and_then(|(task, course)| task.as_ref().zip(course))
    };
    let runs = schedules.iter().zip(unrolled).map(|((_, ready), slots)| {
        let joined = slots
            .into_iter()
            .map(|slot| run(lang, slot, next().as_ref(), *ready));
        let mut joined: Vec<Run> = joined.collect();
        joined.reverse();
        joined
    });
    Ok(runs.collect())
}

/// The newest slots of rows, newest first, each with its row. The slots of a row are computed with
/// the current expression: they share a verdict, so different times under an older expression are
/// harmless.
fn unroll<'a>(rows: &'a [Slot], ready: Option<&Ready>) -> Vec<(Timestamp, &'a Slot)> {
    let slots = rows.iter().flat_map(|row| {
        let count = usize::try_from(row.slots).unwrap_or(usize::MAX);
        let earlier = move |at: &Timestamp| {
            let before = ready?.previous_before(*at)?;
            (before >= row.slot_at).then_some(before)
        };
        let times = std::iter::successors(Some(row.last_at), earlier);
        times.take(count).map(move |at| (at, row))
    });
    slots.take(SHOWN).collect()
}

fn run(
    lang: Lang,
    (at, row): (Timestamp, &Slot),
    fired: Option<&(&Task, Course)>,
    ready: Option<&Ready>,
) -> Run {
    let (task, course) = (fired.map(|it| it.0), fired.map(|it| &it.1));
    let (outcome, reason) = became(lang, row.verdict, course);
    let due_at = ready.map_or(at, |ready| ready.due_at(at));
    // Only the start of the last attempt is stored. If it was not the first, the decision is what
    // is known.
    let began = fired
        .as_ref()
        .map(|(task, course)| match course.started_at {
            Some(started_at) if task.attempt <= 1 => started_at,
            _ => row.decided_at,
        });
    let late = began.filter(|_| row.verdict.is_fired()).map(|began| {
        let late = began.duration_since(due_at);
        late.max(SignedDuration::ZERO)
    });
    let detail = course.map_or(&row.detail, |course| &course.detail);
    let why: Vec<&str> = reason.into_iter().chain(detail.as_deref()).collect();
    let beat = Beat {
        at,
        outcome,
        why: why.join(lang.pick("; ", "；")),
        href: task.map(|task| task_path(&task.identity)),
    };
    let over = course.filter(|course| course.ended_at.is_some());
    let took = over.and_then(|course| course.took_ms);
    let took = took.map(SignedDuration::from_millis);
    Run { beat, late, took }
}

/// The outcome of a slot, and a reason where it needs one. A skipped slot may have been fired by
/// hand later: then that is its outcome. A firing that will be retried has failed so far.
fn became(
    lang: Lang,
    verdict: Verdict,
    course: Option<&Course>,
) -> (Outcome, Option<&'static str>) {
    let deleted = lang.pick("its firing was deleted by retention", "触发记录已过保留期");
    match (course.map(|course| course.outcome), verdict) {
        (None, Verdict::Skipped(Reason::NoPing)) => {
            (Outcome::Failed, Some(words::reason(lang, Reason::NoPing)))
        }
        (None, Verdict::Skipped(reason)) => (Outcome::Skipped, Some(words::reason(lang, reason))),
        (None, Verdict::Fired | Verdict::CaughtUp) => (Outcome::Unknown, Some(deleted)),
        (Some(CourseOutcome::Waiting), _) => (Outcome::Planned, None),
        (Some(CourseOutcome::Running), _) => (Outcome::Running, None),
        (Some(CourseOutcome::Done), _) | (None, Verdict::Pinged) => (Outcome::Done, None),
        (Some(CourseOutcome::Cancelled), _) => (Outcome::Cancelled, None),
        (Some(CourseOutcome::Failed), _) => (Outcome::Failed, None),
        (Some(CourseOutcome::Retrying), _) => {
            (Outcome::Failed, Some(lang.pick("will retry", "将重试")))
        }
    }
}

/// The 50th and the 95th percentile; none for an empty list.
pub(crate) fn spread(lengths: impl Iterator<Item = SignedDuration>) -> Option<[SignedDuration; 2]> {
    let mut sorted: Vec<_> = lengths.collect();
    sorted.sort_unstable();
    Some([percentile(&sorted, 50)?, percentile(&sorted, 95)?])
}

/// The interval: the shortest of the next gaps, because a firing has to end within it.
pub(crate) fn interval(ready: &Ready, now: Timestamp) -> Option<SignedDuration> {
    let slots = std::iter::successors(ready.next_firing_after(now), |at| {
        ready.next_firing_after(*at)
    });
    let slots: Vec<Timestamp> = slots.take(GAPS + 1).collect();
    slots
        .array_windows()
        .map(|[a, b]| b.duration_since(*a))
        .min()
}

/// The last slots, inline.
pub(crate) fn strip(viewer: &Viewer, name: &ScheduleName, runs: &[Run]) -> Markup {
    let caption = say!(viewer.lang, "Last slots of {name}", "{name} 最近的时点");
    let id = format!("strip-{name}");
    strip::inline(&beats(runs), &viewer.frame(&id, &caption))
}

/// The last slots as a figure with links.
pub(crate) fn strip_in_full(viewer: &Viewer, runs: &[Run]) -> Markup {
    let caption = viewer.lang.pick("Last slots", "最近的时点");
    strip::draw(&beats(runs), &viewer.frame("last-slots", caption))
}

/// Duration and delay of the last firings, compared with the interval.
pub(crate) fn against(viewer: &Viewer, runs: &[Run], interval: Option<SignedDuration>) -> Markup {
    let caption = pick!(viewer.lang; "Duration and delay compared with the interval", "耗时与延迟（对照间隔）");
    let measured = runs.iter().filter_map(|run| {
        Some(against::Run {
            at: run.beat.at,
            late: run.late?,
            took: run.took,
            outcome: run.beat.outcome,
            href: run.beat.href.clone(),
        })
    });
    let runs = &measured.collect::<Vec<_>>();
    against::draw(interval, runs, &viewer.frame("against", caption))
}

fn beats(runs: &[Run]) -> Vec<Beat> {
    runs.iter().map(|run| run.beat.clone()).collect()
}

#[cfg(test)]
mod tests;
