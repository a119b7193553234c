//! Why a slot did or did not fire, in one sentence, from stored facts (DP-16).
//!
//! A slot without a ledger row is not simply undecided: retention may have forgotten the row, or
//! there was no schedule at the time. The cursor and the edits distinguish these, and where they do
//! not, the sentence says that it is not known.

use jiff::{SignedDuration, Timestamp};

use super::{AHEAD_MIN, Delay, Edit, Edited, Firing, Pause, Reason, Slot, State, Trigger, Verdict};
use crate::{
    follow::{Ended, Followed, Work},
    task::{Status, Task},
};

/// What to do about a schedule that a wrong clock planned.
const REWIND: &str = "`almanack schedule rewind` takes the schedule back to the present";

/// Who cancelled a firing, and when.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cancelled {
    pub by: String,
    pub at: Timestamp,
}

/// Everything that is known about an instant of a schedule.
#[derive(Debug, Clone, Copy)]
pub struct Facts<'a> {
    /// The instant asked about.
    pub at: Timestamp,
    /// The schedule's expression and zone at that time, in words for people.
    pub rule: &'a str,
    /// Whether the instant is a slot by that rule.
    pub is_slot: bool,
    /// Why a calendar or quiet hours leave it out, as they are now.
    pub excluded: Option<&'a str>,
    /// The slots before and after it.
    pub neighbours: (Option<Timestamp>, Option<Timestamp>),
    /// When the schedule was first written.
    pub created_at: Timestamp,
    /// What had last been done to it before the instant, if that is known.
    pub in_force: Option<&'a Edit>,
    /// What it is now.
    pub state: &'a State,
    /// The first slot that is undecided; `None` when there is none to come.
    pub next_at: Option<Timestamp>,
    /// Since when its next slot waits for the firing before it.
    pub waits_since: Option<Timestamp>,
    /// The ledger row that covers the slot.
    pub row: Option<&'a Slot>,
    /// Whether a row of an earlier slot is kept. The ledger is forgotten from its beginning, so
    /// then nothing after that row is forgotten.
    pub earlier_kept: bool,
    /// The slot's firing; of an instant that is no slot, the one that was requested at it.
    pub firing: Option<&'a Task>,
    /// What its firing handed over, where that is followed.
    pub followed: Option<&'a Followed>,
    /// Who cancelled the firing, and when, if that is known.
    pub cancelled: Option<&'a Cancelled>,
    /// How much later than the slot it fires.
    pub delay: Delay,
    /// Whether pings are expected, and nothing fires.
    pub is_monitor: bool,
    pub now: Timestamp,
}

/// The answer, as one sentence.
pub fn why(facts: Facts<'_>) -> String {
    let at = facts.at;
    if let Some(task) = facts.firing.filter(|_| !facts.is_slot) {
        let ending = ending(facts);
        return format!("{} fired it by hand at {at}{ending}.", task.origin);
    }
    if !facts.is_slot {
        return format!("{at} is not a slot of {}{}.", facts.rule, near(facts));
    }
    if let Some(row) = facts.row {
        return decided(facts, row);
    }
    if facts.is_monitor && matches!(facts.state, State::Active) {
        return expected(facts);
    }
    if let Some(task) = facts.firing {
        return fired_without_row(facts, task);
    }
    if at <= facts.created_at {
        return format!(
            "{at} did not fire: the schedule was first written at {}.",
            facts.created_at
        );
    }
    if at <= facts.now && facts.next_at.is_none_or(|next| at < next) {
        return passed(facts);
    }
    undecided(facts)
}

fn near(facts: Facts<'_>) -> String {
    match facts.neighbours {
        (Some(before), Some(after)) => format!("; the nearest are {before} and {after}"),
        (Some(only), None) | (None, Some(only)) => format!("; the nearest is {only}"),
        (None, None) => String::new(),
    }
}

fn decided(facts: Facts<'_>, row: &Slot) -> String {
    let at = facts.at;
    let late = lateness(row.decided_at.duration_since(at));
    if row.decided_at.duration_since(facts.now) > AHEAD_MIN {
        return decided_ahead(facts, row);
    }
    match row.verdict {
        Verdict::Fired => {
            let (delay, ending) = (by_delay(facts), ending(facts));
            format!("{at} fired {late} after its time{delay}{ending}.")
        }
        Verdict::CaughtUp => {
            let (delay, ending) = (by_delay(facts), ending(facts));
            format!("{at} was missed and caught up {late} after its time{delay}{ending}.")
        }
        Verdict::Pinged => pinged(facts, row),
        Verdict::Skipped(reason @ (Reason::NoPing | Reason::NeverPinged)) => {
            unpinged(facts, reason, row)
        }
        Verdict::Skipped(reason) => {
            let because = because(reason, row, &late);
            let later = match reason {
                // What is there is what kept it from firing.
                Reason::Cancelled => by_whom(facts),
                _ => backfilled(facts),
            };
            format!("{at} was skipped: {because}{later}.")
        }
    }
}

/// A ping was for it.
fn pinged(facts: Facts<'_>, row: &Slot) -> String {
    let at = facts.at;
    let late = row.decided_at.duration_since(at);
    let came = if late <= SignedDuration::ZERO {
        "in time".to_owned()
    } else {
        format!("{} after its time, within its grace", lateness(late))
    };
    let result = match row.detail.as_deref() {
        Some(failed) => format!(", and reported that the job {failed}"),
        None => String::new(),
    };
    format!("{at} was pinged {came}{result}.")
}

/// No ping was.
fn unpinged(facts: Facts<'_>, reason: Reason, row: &Slot) -> String {
    let at = facts.at;
    let late = lateness(row.decided_at.duration_since(at));
    let because = because(reason, row, &late);
    match reason {
        Reason::NoPing => format!("{at} was missed: {because}."),
        _ => format!("{at} was not watched: {because}."),
    }
}

/// The ledger says what a wrong clock made of it.
fn decided_ahead(facts: Facts<'_>, row: &Slot) -> String {
    let at = facts.at;
    let ahead = lateness(row.decided_at.duration_since(facts.now));
    let what = if row.verdict.is_fired() {
        format!("fired{}", ending(facts))
    } else {
        "was skipped".to_owned()
    };
    format!("{at} {what}: a clock that was {ahead} ahead of now decided it. {REWIND}.")
}

fn because(reason: Reason, row: &Slot, late: &str) -> String {
    let detail = row.detail.as_deref();
    let decided_at = row.decided_at;
    let together = match row.slots {
        1 => String::new(),
        slots => format!(
            " (one of {slots} in a row, {} to {})",
            row.slot_at, row.last_at
        ),
    };
    match reason {
        Reason::Paused => format!("the schedule was paused {}{together}", detail.unwrap_or("")),
        Reason::TooLate => format!(
            "no node planned it until {decided_at}, {late} late, which is more than its grace{together}"
        ),
        Reason::NotCaughtUp => format!(
            "no node planned it until {decided_at}, and its catch-up policy skips it{together}"
        ),
        Reason::OverCap => {
            format!("more slots were missed until {decided_at} than max_catch_up allows{together}")
        }
        Reason::Overlap => match detail {
            Some(running) => format!("{running} had not ended at {decided_at}{together}"),
            None => format!("the slot before it fired in the same moment{together}"),
        },
        Reason::Changed => format!(
            "it was waiting for {} when the schedule was changed at {decided_at}{together}",
            detail.unwrap_or("the slot before it")
        ),
        Reason::NoPing => {
            let heard = detail.map(|detail| format!(" ({detail})"));
            let heard = heard.unwrap_or_default();
            format!("no ping came within its grace{heard}{together}")
        }
        Reason::NeverPinged => format!("no ping had ever come until {decided_at}{together}"),
        Reason::Cancelled => format!("its firing had been cancelled before {decided_at}{together}"),
        Reason::Excluded => {
            let why = detail.unwrap_or("a calendar leaves it out");
            format!("{why}{together}")
        }
    }
}

/// The state of the slot's firing.
fn ending(facts: Facts<'_>) -> String {
    let Some(task) = facts.firing else {
        return "; its firing is no longer kept".to_owned();
    };
    let tries = match task.attempt {
        0 | 1 => String::new(),
        attempts => format!(" after {attempts} attempts"),
    };
    if let Some(followed) = facts.followed.filter(|_| task.status != Status::Cancelled) {
        return work(facts, followed);
    }
    let detail = task.detail.as_deref().map(|text| format!(" ({text})"));
    let detail = detail.unwrap_or_default();
    match task.status {
        Status::Success => format!(", and task {} succeeded{tries}", task.id),
        Status::Cancelled => format!(", and task {} was cancelled{}", task.id, by_whom(facts)),
        Status::Running => format!(", and task {} is running", task.id),
        Status::Init => format!(", and task {} is waiting", task.id),
        Status::Fail if task.due_at.is_some() => {
            format!(", and task {} will be tried again{tries}{detail}", task.id)
        }
        Status::Fail => format!(", but task {} failed{tries}{detail}", task.id),
    }
}

/// What became of the work that the slot's firing handed over.
fn work(facts: Facts<'_>, followed: &Followed) -> String {
    let began = followed.started_at.unwrap_or(followed.handed_over_at);
    let Some(ending) = &followed.ending else {
        let what = match &followed.work {
            Work::Task { task_id } => format!("task {task_id}"),
            Work::Run { run: Some(run), .. } => format!("the workflow's run {run}"),
            Work::Run { run: None, .. } => "the workflow's run, which has not shown yet".to_owned(),
            Work::Report { .. } => "the service, which will report its end".to_owned(),
        };
        let lasts = lateness(facts.now.duration_since(began));
        return format!(", and its work has been running for {lasts}: {what}");
    };
    let took = lateness(ending.ended_at.duration_since(began));
    match ending.ended {
        Ended::Done => format!(", and its work succeeded after {took} ({})", ending.detail),
        Ended::Failed | Ended::Cancelled => {
            format!(", but its work failed after {took} ({})", ending.detail)
        }
    }
}

/// The part of the delay that the schedule itself asks for.
fn by_delay(facts: Facts<'_>) -> String {
    let Delay { splay, jitter } = facts.delay;
    let parts = [("its splay", splay), ("its jitter", jitter)];
    let parts = parts.into_iter().filter(|(_, part)| !part.is_zero());
    let parts = parts.map(|(name, part)| format!(", {} of it by {name}", lateness(part)));
    parts.collect()
}

fn by_whom(facts: Facts<'_>) -> String {
    let by = |it: &Cancelled| format!(" (by {} at {})", it.by, it.at);
    facts.cancelled.map(by).unwrap_or_default()
}

fn backfilled(facts: Facts<'_>) -> String {
    match facts.firing {
        Some(task) => {
            let (by, at) = (&task.origin, task.created_at);
            format!("; it was fired by hand later, by {by} at {at}")
        }
        None => String::new(),
    }
}

/// A firing without a ledger row: a person's, or one whose row is forgotten before its task is.
fn fired_without_row(facts: Facts<'_>, task: &Task) -> String {
    let (at, ending) = (facts.at, ending(facts));
    match Firing::read(&task.payload).map(|firing| firing.trigger) {
        Ok(Trigger::Schedule) => format!("{at} fired{ending}; how late is no longer kept."),
        _ => {
            let (by, when) = (&task.origin, task.created_at);
            format!("{at} was fired by hand by {by} at {when}{ending}.")
        }
    }
}

/// The cursor has passed the slot, and there is no record of it.
fn passed(facts: Facts<'_>) -> String {
    let at = facts.at;
    match facts.in_force {
        Some(edit) if edit.edited == Edited::Removed => format!(
            "{at} did not fire: the schedule had been removed at {}.",
            edit.at
        ),
        Some(edit) if edit.edited == Edited::Done => {
            let note = edit.note.as_deref().map(|note| format!(" ({note})"));
            format!(
                "{at} did not fire: the schedule was done at {}{}.",
                edit.at,
                note.unwrap_or_default()
            )
        }
        Some(edit) if edit.edited == Edited::Parked && facts.earlier_kept => {
            format!(
                "{at} did not fire: the schedule had been parked at {}.",
                edit.at
            )
        }
        _ if facts.earlier_kept => {
            format!("{at} did not fire: the schedule was changed before a node planned it.")
        }
        _ => format!("{at} was decided, but its outcome is no longer kept."),
    }
}

fn undecided(facts: Facts<'_>) -> String {
    let at = facts.at;
    match facts.state {
        State::Removed { since } => {
            format!("{at} does not fire: the schedule was removed at {since}.")
        }
        State::Done { since } => {
            format!("{at} does not fire: the schedule has been done since {since}.")
        }
        State::Parked { since, reason } => format!(
            "{at} is undecided: the schedule has been parked since {since} ({reason}); it is \
             planned again once that is corrected."
        ),
        State::Paused(pause) if covers(pause, at) => {
            let by = super::paused_by(pause);
            format!(
                "{at} does not fire: the schedule is paused {by}, since {}.",
                pause.since
            )
        }
        State::Active if at > facts.now && facts.next_at.is_some_and(|next| at < next) => {
            format!("{at} will not fire: a clock that was ahead planned this schedule. {REWIND}.")
        }
        _ if let Some(why) = facts.excluded => format!("{at} does not fire: {why}."),
        _ if at > facts.now => {
            let due_at = at.saturating_add(facts.delay.whole()).unwrap_or(at);
            let wait = lateness(due_at.duration_since(facts.now));
            let delay = by_delay(facts);
            format!("{at} is still to come: it will fire in {wait}{delay}.")
        }
        State::Active if facts.now.duration_since(at) < facts.delay.whole() => {
            let whole = facts.delay.whole();
            let left = lateness(whole - facts.now.duration_since(at));
            let (name, whole) = (facts.delay.name(), lateness(whole));
            format!("{at} waits for {name} of {whole}: it will fire in {left}.")
        }
        _ => match facts.waits_since {
            Some(since) => format!("{at} waits for the firing before it, since {since}."),
            None => format!("{at} is undecided: no node has planned it yet."),
        },
    }
}

/// No verdict yet about a ping.
fn expected(facts: Facts<'_>) -> String {
    let at = facts.at;
    match facts.next_at {
        _ if at <= facts.created_at => format!(
            "{at} was not watched: the monitor was first written at {}.",
            facts.created_at
        ),
        Some(next) if at < next => {
            format!(
                "{at} was not expected, or its outcome is no longer kept; the next ping is expected at {next}."
            )
        }
        Some(_) if at <= facts.now => {
            format!(
                "{at} is undecided: no ping has come, and its grace has not passed or no ping has ever come."
            )
        }
        _ => format!("{at} is still to come: a ping is expected then unless one comes before."),
    }
}

fn covers(pause: &Pause, at: Timestamp) -> bool {
    pause.since <= at && pause.until.is_none_or(|until| at < until)
}

/// A distance, as coarse as people say it.
fn lateness(distance: SignedDuration) -> String {
    let whole = distance.max(SignedDuration::ZERO);
    if whole < SignedDuration::from_secs(10) {
        return format!("{} ms", whole.as_millis());
    }
    let seconds = whole.as_secs();
    match seconds {
        0..120 => format!("{seconds} s"),
        120..7_200 => format!("{} min", seconds / 60),
        7_200..172_800 => format!("{} h {} min", seconds / 3_600, seconds % 3_600 / 60),
        _ => format!("{} days", seconds / 86_400),
    }
}
