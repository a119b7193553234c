//! The last slots of schedules: the ledger's verdict joined with the firing's task.
//!
//! The ledger says that a slot fired, not with which result; the task knows nothing of skipped
//! slots. A ledger row may cover many skipped slots, so rows are expanded into slots again, as many
//! as are shown. A page costs one read per schedule and one for all firings together.

use almanack_core::plan::{Slot, Verdict, slot_identity};
use almanack_core::store::LedgerPage;

use super::words;
use crate::picture::against;
use crate::picture::span::percentile;
use crate::picture::strip::{self, Beat};
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
    /// Duration of its last attempt.
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
    let mut tasks = state.store.load_current(&identities).await?.into_iter();
    let runs = schedules.iter().zip(unrolled).map(|((_, ready), slots)| {
        let joined = slots
            .into_iter()
            .map(|slot| run(lang, slot, tasks.next().flatten().as_ref(), *ready));
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
    task: Option<&Task>,
    ready: Option<&Ready>,
) -> Run {
    let (outcome, reason) = became(lang, row.verdict, task);
    let due_at = ready.map_or(at, |ready| ready.due_at(at));
    // Only the start of the last attempt is stored. If it was not the first, the decision is what
    // is known.
    let began = task.map(|task| match task.started_at {
        Some(started_at) if task.attempt <= 1 => started_at,
        _ => row.decided_at,
    });
    let late = began.filter(|_| row.verdict.is_fired()).map(|began| {
        let late = began.duration_since(due_at);
        late.max(SignedDuration::ZERO)
    });
    let detail = task.map_or(&row.detail, |task| &task.detail);
    let why: Vec<&str> = reason.into_iter().chain(detail.as_deref()).collect();
    let beat = Beat {
        at,
        outcome,
        why: why.join(lang.pick("; ", "；")),
        href: task.map(|task| task_path(&task.identity)),
    };
    let took = task.and_then(took);
    Run { beat, late, took }
}

/// The outcome of a slot, and a reason where it needs one. A skipped slot may have been fired by
/// hand later: then that is its outcome. A firing that will be retried has failed so far.
fn became(lang: Lang, verdict: Verdict, task: Option<&Task>) -> (Outcome, Option<&'static str>) {
    let deleted = lang.pick("its firing was deleted by retention", "触发记录已过保留期");
    match (task.map(|task| task.status), verdict) {
        (None, Verdict::Skipped(reason)) => (Outcome::Skipped, Some(words::reason(lang, reason))),
        (None, Verdict::Fired | Verdict::CaughtUp) => (Outcome::Unknown, Some(deleted)),
        (Some(Status::Init), _) => (Outcome::Planned, None),
        (Some(Status::Running), _) => (Outcome::Running, None),
        (Some(Status::Success), _) => (Outcome::Done, None),
        (Some(Status::Cancelled), _) => (Outcome::Cancelled, None),
        (Some(Status::Fail), _) => {
            let retried = task.is_some_and(Task::is_live);
            let reason = retried.then(|| lang.pick("will retry", "将重试"));
            (Outcome::Failed, reason)
        }
    }
}

fn took(task: &Task) -> Option<SignedDuration> {
    let ended = task
        .finished_at
        .filter(|_| task.status != Status::Running)?;
    let took = ended.duration_since(task.started_at?);
    (!took.is_negative()).then_some(took)
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
