//! What a schedule will start, as things are.

use jiff::Timestamp;

use super::whole_second;
use crate::{
    plan::{DISPATCH, Origin, Ready, Schedule, ScheduleName},
    source::courtesy::host_of,
    target::Target,
    task::Kind,
};

/// Whom workflows are dispatched at.
const GITHUB: &str = "api.github.com";

/// A schedule with the slots it has ahead.
#[derive(Debug, Clone)]
pub struct Planned {
    pub name: ScheduleName,
    /// Who it belongs to: only the API's own are changed through the API.
    pub origin: Origin,
    /// The revision that was read.
    pub revision: i64,
    /// The kind of task that a slot makes.
    pub kind: Kind,
    /// Whom it calls, if the target says so.
    pub host: Option<String>,
    pub ready: Ready,
    pub slots: Vec<PlannedSlot>,
}

/// A slot, and when it fires.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlannedSlot {
    pub slot: Timestamp,
    /// The slot, and the schedule's splay and jitter.
    pub due_at: Timestamp,
}

/// Which slots are looked for.
#[derive(Debug, Clone, Copy)]
pub struct Window {
    pub from: Timestamp,
    pub until: Timestamp,
    /// Most slots of one schedule.
    pub limit: usize,
}

impl Planned {
    /// Whether a slot of it fires within the second `at`.
    pub fn starts_at(&self, at: Timestamp) -> bool {
        let second = whole_second(at);
        self.slots
            .iter()
            .any(|it| whole_second(it.due_at) == second)
    }
}

/// The slots of a schedule that fire within a window if nothing changes, from `first` on, the first
/// that fires at all. `None` if it starts nothing: monitors only wait.
pub fn planned(
    schedule: &Schedule,
    ready: Ready,
    first: Timestamp,
    window: Window,
) -> Option<Planned> {
    let (kind, host) = fired_by(&ready.definition.target)?;
    let lag = ready.definition.splay + ready.definition.jitter;
    // A slot before the window may fire within it. What is older does not, and may be long ago.
    let earliest = window.from.saturating_sub(lag).unwrap_or(window.from);
    let first = if first < earliest {
        ready.next_firing_from(earliest)
    } else {
        Some(first)
    };
    let left = ready.runs_left(schedule.runs);
    let left = left.map_or(usize::MAX, |left| {
        usize::try_from(left).unwrap_or(usize::MAX)
    });
    let slots = std::iter::successors(first, |slot| ready.next_firing_after(*slot));
    let slots = slots.take(left).map(|slot| PlannedSlot {
        slot,
        due_at: ready.due_at(slot),
    });
    let slots = slots
        .skip_while(|it| it.due_at < window.from)
        .take_while(|it| it.due_at < window.until)
        .take(window.limit);
    Some(Planned {
        name: schedule.name.clone(),
        origin: schedule.origin,
        revision: schedule.revision,
        kind,
        host,
        slots: slots.collect(),
        ready,
    })
}

/// The kind of task that a firing makes, and the host it calls; `None` if it makes none. A task of
/// the target's own kind is put by the firing and does the work, so it is counted and the firing is
/// not.
pub fn fired_by(target: &Target) -> Option<(Kind, Option<String>)> {
    let dispatch = Kind::parse(DISPATCH).ok()?;
    match target {
        Target::Webhook { url, .. } => Some((dispatch, host_of(url))),
        Target::Workflow { .. } => Some((dispatch, Some(GITHUB.to_owned()))),
        Target::Command { .. } => Some((dispatch, None)),
        Target::Task { kind, .. } => Some((Kind::parse(kind).ok()?, None)),
        Target::Ping { .. } => None,
    }
}
