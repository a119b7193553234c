//! The last slots of schedules: the ledger's verdict joined with the firing's task.
//!
//! The ledger says that a slot fired, not with which result; the task knows nothing of skipped
//! slots. A ledger row may cover many skipped slots, so rows are expanded into slots again, as many
//! as are shown. A page costs one read per schedule and one for all firings together.

use almanack_core::plan::{Ready, Reason, Schedule, ScheduleName, Slot, Verdict, slot_identity};
use almanack_core::store::LedgerPage;
use almanack_core::task::{Identity, Status, Task};

use super::words;
use crate::picture::against::{self, Against};
use crate::picture::strip::{self, Beat};
use crate::ui::prelude::*;
use crate::{picture::outcome::Outcome, picture::span::percentile};

/// Slots shown.
pub(crate) const SHOWN: usize = 60;
/// Gaps examined to find the interval.
const GAPS: usize = 8;

/// The result of a slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Became {
    /// Its firing is waiting.
    Planned,
    /// Its firing is running.
    Running,
    Done,
    /// It failed and will be retried.
    Retrying,
    Failed,
    /// Its firing was cancelled.
    Cancelled,
    /// It was skipped.
    Skipped(Reason),
    /// It fired, but its firing was deleted by retention.
    Forgotten,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Run {
    pub(crate) at: Timestamp,
    pub(crate) became: Became,
    /// Details in English: who paused, the last result.
    pub(crate) detail: Option<String>,
    /// Its start delay; none if it did not fire by itself.
    pub(crate) late: Option<SignedDuration>,
    /// Duration of its last attempt.
    pub(crate) took: Option<SignedDuration>,
    /// Its firing, if still stored.
    pub(crate) firing: Option<Identity>,
}

/// One slot from the ledger.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Decided<'a> {
    at: Timestamp,
    row: &'a Slot,
}

/// The last slots of each schedule, oldest first.
pub(crate) async fn load(
    state: &AppState,
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
    join(state, schedules, &ledgers).await
}

/// Joins ledgers, newest row first, with the firings of their slots.
pub(crate) async fn join(
    state: &AppState,
    schedules: &[(&Schedule, Option<&Ready>)],
    ledgers: &[Vec<Slot>],
) -> Result<Vec<Vec<Run>>> {
    let both = || schedules.iter().zip(ledgers);
    let unrolled: Vec<Vec<Decided<'_>>> = both()
        .map(|((_, ready), rows)| unroll(rows, *ready))
        .collect();
    let mut identities = Vec::new();
    for ((schedule, _), slots) in schedules.iter().zip(&unrolled) {
        for slot in slots {
            identities.push(slot_identity(&schedule.name, slot.at)?);
        }
    }
    let mut tasks = state.store.load_current(&identities).await?.into_iter();
    let runs = schedules.iter().zip(unrolled).map(|((_, ready), slots)| {
        let joined = slots.into_iter().map(|slot| {
            let task = tasks.next().flatten();
            run(&slot, task, *ready)
        });
        let mut joined: Vec<Run> = joined.collect();
        joined.reverse();
        joined
    });
    Ok(runs.collect())
}

/// The newest slots of rows, newest first. The slots of a row are computed with the current
/// expression: they share a verdict, so different times under an older expression are harmless.
fn unroll<'a>(rows: &'a [Slot], ready: Option<&Ready>) -> Vec<Decided<'a>> {
    let slots = rows.iter().flat_map(|row| {
        let count = usize::try_from(row.slots).unwrap_or(usize::MAX);
        let earlier = move |at: &Timestamp| {
            let before = ready?.previous_before(*at)?;
            (before >= row.slot_at).then_some(before)
        };
        let times = std::iter::successors(Some(row.last_at), earlier);
        times.take(count).map(move |at| Decided { at, row })
    });
    slots.take(SHOWN).collect()
}

fn run(slot: &Decided<'_>, task: Option<Task>, ready: Option<&Ready>) -> Run {
    let fired = slot.row.verdict.is_fired();
    let became = became(slot.row.verdict, task.as_ref());
    let due_at = ready.map_or(slot.at, |ready| ready.due_at(slot.at));
    // Only the start of the last attempt is stored. If it was not the first, the decision is what
    // is known.
    let began = task.as_ref().map(|task| match task.started_at {
        Some(started_at) if task.attempt <= 1 => started_at,
        _ => slot.row.decided_at,
    });
    let late = began.filter(|_| fired).map(|began| {
        let late = began.duration_since(due_at);
        late.max(SignedDuration::ZERO)
    });
    let detail = match &task {
        Some(task) => task.detail.clone(),
        None => slot.row.detail.clone(),
    };
    Run {
        at: slot.at,
        became,
        detail,
        late,
        took: task.as_ref().and_then(took),
        firing: task.map(|task| task.identity),
    }
}

/// A skipped slot may have been fired by hand later: then that is its result.
fn became(verdict: Verdict, task: Option<&Task>) -> Became {
    match (task, verdict) {
        (None, Verdict::Skipped(reason)) => Became::Skipped(reason),
        (None, Verdict::Fired | Verdict::CaughtUp) => Became::Forgotten,
        (Some(task), _) => match task.status {
            Status::Init => Became::Planned,
            Status::Running => Became::Running,
            Status::Success => Became::Done,
            Status::Fail if task.is_live() => Became::Retrying,
            Status::Fail => Became::Failed,
            Status::Cancelled => Became::Cancelled,
        },
    }
}

fn took(task: &Task) -> Option<SignedDuration> {
    let ended = task
        .finished_at
        .filter(|_| task.status != Status::Running)?;
    let took = ended.duration_since(task.started_at?);
    (!took.is_negative()).then_some(took)
}

/// The 50th and the 95th percentile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Spread {
    pub(crate) half: SignedDuration,
    /// The 95th percentile.
    pub(crate) most: SignedDuration,
}

impl Spread {
    /// Percentiles; none for an empty list.
    pub(crate) fn of(lengths: impl Iterator<Item = SignedDuration>) -> Option<Self> {
        let mut sorted: Vec<_> = lengths.collect();
        sorted.sort_unstable();
        Some(Self {
            half: percentile(&sorted, 50)?,
            most: percentile(&sorted, 95)?,
        })
    }
}

/// The interval: the shortest of the next gaps, because a firing has to end within it.
pub(crate) fn interval(ready: &Ready, now: Timestamp) -> Option<SignedDuration> {
    let slots = std::iter::successors(ready.next_after(now), |at| ready.next_after(*at));
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
    strip::inline(&beats(viewer, runs), &viewer.frame(&id, &caption))
}

/// The last slots as a figure with links.
pub(crate) fn strip_in_full(viewer: &Viewer, runs: &[Run]) -> Markup {
    let caption = viewer.lang.pick("Last slots", "最近的时点");
    strip::draw(&beats(viewer, runs), &viewer.frame("last-slots", caption))
}

/// Duration and delay of the last firings, compared with the interval.
pub(crate) fn against(viewer: &Viewer, runs: &[Run], interval: Option<SignedDuration>) -> Markup {
    let caption = pick!(viewer.lang; "Duration and delay compared with the interval", "耗时与延迟（对照间隔）");
    let measured = runs.iter().filter_map(|run| {
        Some(against::Run {
            at: run.at,
            late: run.late?,
            took: run.took,
            outcome: outcome(run.became),
            href: run.firing.as_ref().map(task_path),
        })
    });
    let runs = &measured.collect::<Vec<_>>();
    against::draw(
        &Against { interval, runs },
        &viewer.frame("against", caption),
    )
}

fn beats(viewer: &Viewer, runs: &[Run]) -> Vec<Beat> {
    let beats = runs.iter().map(|run| Beat {
        at: run.at,
        outcome: outcome(run.became),
        why: why(viewer, run),
        href: run.firing.as_ref().map(task_path),
    });
    beats.collect()
}

fn why(viewer: &Viewer, run: &Run) -> String {
    let lang = viewer.lang;
    let reason = match run.became {
        Became::Skipped(reason) => Some(words::reason(lang, reason)),
        Became::Retrying => Some(lang.pick("will retry", "将重试")),
        Became::Forgotten => {
            Some(lang.pick("its firing was deleted by retention", "触发记录已过保留期"))
        }
        _ => None,
    };
    let parts = reason.into_iter().chain(run.detail.as_deref());
    parts.collect::<Vec<_>>().join(lang.pick("; ", "；"))
}

/// A firing that will be retried has failed so far; its picture shows that.
fn outcome(became: Became) -> Outcome {
    match became {
        Became::Planned => Outcome::Planned,
        Became::Running => Outcome::Running,
        Became::Done => Outcome::Done,
        Became::Retrying | Became::Failed => Outcome::Failed,
        Became::Cancelled => Outcome::Cancelled,
        Became::Skipped(_) => Outcome::Skipped,
        Became::Forgotten => Outcome::Unknown,
    }
}

#[cfg(test)]
mod tests;
