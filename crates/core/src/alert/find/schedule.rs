//! What is wrong with one schedule.

use jiff::{SignedDuration, Timestamp};

use super::{
    super::{
        About, Rule, Severity,
        facts::{Bounds, Run, ScheduleFacts},
    },
    Finding, said, streak,
};
use crate::{
    both,
    lang::Sentence,
    plan::{DISPATCH, DownCause, Monitor, Reason, Slot, State, Verdict},
    task::Status,
};

/// Slots so far apart are rare: three failures of a nightly backup would take three nights.
const RARE_GAP: SignedDuration = SignedDuration::from_hours(1);
/// A firing is not called long before this, however short the others were.
const LONG_MIN: SignedDuration = SignedDuration::from_mins(5);
/// Slots that were not planned for so long are missed, though those after them fired.
const GAP_MIN: SignedDuration = SignedDuration::from_secs(30);
/// So many times as long as the longest of the others is longer than usual.
const LONG_TIMES: i32 = 3;
/// So many others must be known.
const USUAL_MIN: usize = 3;

/// Only a schedule that is planned can be wrong: of one that is paused or removed nothing is
/// expected.
pub(super) fn find(facts: &ScheduleFacts, bounds: &Bounds, now: Timestamp) -> Vec<Finding> {
    if facts.schedule.state != State::Active {
        return Vec::new();
    }
    let about = || About::Schedule(facts.schedule.name.clone());
    if let Some(monitor) = &facts.monitor {
        let unplanned = || {
            let detail = missing(facts, bounds, now)?;
            Some(Finding::new(
                Rule::Missing,
                about(),
                Severity::Critical,
                detail,
            ))
        };
        return down(monitor, about())
            .or_else(unplanned)
            .into_iter()
            .collect();
    }
    let findings = [
        (
            Rule::Missing,
            Severity::Critical,
            missing(facts, bounds, now),
        ),
        (Rule::Late, Severity::Warning, late(facts, bounds, now)),
        (Rule::Failing, Severity::Critical, failing(facts, bounds)),
        (Rule::Stuck, Severity::Critical, long(facts, now)),
        (Rule::Clock, Severity::Critical, ahead(facts)),
    ];
    findings
        .into_iter()
        .filter_map(|(rule, severity, detail)| Some(Finding::new(rule, about(), severity, detail?)))
        .collect()
}

/// What a monitor is down for: one alert, until the next ping.
fn down(monitor: &Monitor, about: About) -> Option<Finding> {
    let down = monitor.down.as_ref()?;
    let rule = match down.cause {
        DownCause::NoPing => Rule::Missing,
        DownCause::Failed => Rule::Failing,
        DownCause::Overran => Rule::Stuck,
    };
    Some(Finding::new(
        rule,
        about,
        Severity::Critical,
        down.detail.clone(),
    ))
}

/// No node planned it, or its newest slot was planned too late to be fired.
fn missing(facts: &ScheduleFacts, bounds: &Bounds, now: Timestamp) -> Option<Sentence> {
    let waits_since = facts.schedule.look_at;
    if let Some(look_at) = waits_since
        && now.duration_since(look_at) >= bounds.missing
    {
        return Some(both!(
            "due to be planned at {look_at}, but no node has planned it",
            "应于 {look_at} 排程，但没有节点排程"
        ));
    }
    let newest = facts.slots.first()?;
    unplanned(newest).or_else(|| {
        facts
            .skipped
            .iter()
            .filter(|row| is_gap(row))
            .find_map(unplanned)
    })
}

/// Whether a row says that no node planned the schedule for a while. Of slots that are seconds
/// apart one or two are skipped whenever a machine is busy, which is no reason for an alert.
fn is_gap(row: &Slot) -> bool {
    row.decided_at.duration_since(row.slot_at) >= GAP_MIN
}

fn unplanned(row: &Slot) -> Option<Sentence> {
    let Verdict::Skipped(reason) = row.verdict else {
        return None;
    };
    let (why, chinese) = match reason {
        Reason::TooLate => ("no node planned it in time", "没有节点及时排程"),
        Reason::NotCaughtUp => ("no node planned it in time, and it is not caught up", "没有节点及时排程，且不补触发"),
        Reason::OverCap => ("more were missed than may be caught up", "错过的多于允许补触发的次数"),
        Reason::Cancelled => ("its firing had been cancelled before it was planned", "其触发在排程之前已被取消"),
        // A person or a setting wanted these.
        Reason::Paused | Reason::Overlap | Reason::Changed | Reason::Excluded
        // A monitor's, which is not judged by its slots.
        | Reason::NoPing | Reason::NeverPinged => return None,
    };
    let (from, to) = (row.slot_at, row.last_at);
    Some(match row.slots {
        1 => both!(
            "the slot of {from} was skipped: {why}",
            "{from} 的时点被跳过：{chinese}"
        ),
        many => both!(
            "{many} slots from {from} to {to} were skipped: {why}",
            "{from} 至 {to} 的 {many} 个时点被跳过：{chinese}"
        ),
    })
}

/// Its cursor is in the future, and nothing of it fires before then.
fn ahead(facts: &ScheduleFacts) -> Option<Sentence> {
    let until = facts.decided_until?;
    let name = &facts.schedule.name;
    Some(both!(
        "its slots up to {until} were decided ahead of their time, and nothing fires before then. To do: `almanack schedule rewind {name}`",
        "直到 {until} 的时点已被提前决定，在此之前不会触发。处理办法：`almanack schedule rewind {name}`"
    ))
}

/// The newest firing came late. A retry is not: its first try says when it began.
fn late(facts: &ScheduleFacts, bounds: &Bounds, now: Timestamp) -> Option<Sentence> {
    if let Some(by) = facts.slots.first().and_then(caught_up_after)
        && by > bounds.late
    {
        let slot = facts.slots.first()?.slot_at;
        let by = short(by);
        return Some(both!(
            "the slot of {slot} was caught up {by} late",
            "{slot} 的时点晚 {by} 才补触发"
        ));
    }
    let newest = facts.runs.first()?;
    let started_at = match newest.status {
        Status::Init => now,
        Status::Cancelled => return None,
        Status::Running | Status::Success | Status::Fail => newest.started_at?,
    };
    let by = started_at.duration_since(newest.execute_at);
    let (is_first, due) = (newest.attempt <= 1, newest.execute_at);
    (is_first && by > bounds.late).then(|| {
        if newest.status == Status::Init {
            return both!("due at {due}, not started yet", "应于 {due} 启动，尚未启动");
        }
        let by = short(by);
        both!(
            "due at {due}, started {by} late",
            "应于 {due} 启动，晚了 {by}"
        )
    })
}

fn caught_up_after(slot: &Slot) -> Option<SignedDuration> {
    let late = slot.decided_at.duration_since(slot.last_at);
    (slot.verdict == Verdict::CaughtUp).then_some(late)
}

fn failing(facts: &ScheduleFacts, bounds: &Bounds) -> Option<Sentence> {
    let (count, newest) = streak(&facts.runs);
    let needed = if is_rare(&facts.slots) {
        1
    } else {
        bounds.failing
    };
    let newest = said(DISPATCH, newest);
    let detail = || match count {
        1 => both!(
            "the last firing failed for good; the newest: {newest}",
            "最近一次触发失败：{newest}"
        ),
        many => both!(
            "the last {many} firings failed for good; the newest: {newest}",
            "最近 {many} 次触发均失败；最新一次：{newest}"
        ),
    };
    (count >= needed).then(detail)
}

fn is_rare(slots: &[Slot]) -> bool {
    let [newest, before, ..] = slots else {
        return false;
    };
    newest.slot_at.duration_since(before.last_at) >= RARE_GAP
}

/// It runs, and for longer than it ever did lately.
fn long(facts: &ScheduleFacts, now: Timestamp) -> Option<Sentence> {
    let running = |run: &&Run| run.status == Status::Running;
    let since = facts.runs.iter().find(running)?.started_at?;
    let done = facts
        .runs
        .iter()
        .filter(|run| run.status == Status::Success);
    let took: Vec<SignedDuration> = done.filter_map(Run::took).collect();
    let longest = took.iter().max().filter(|_| took.len() >= USUAL_MIN)?;
    let usual = longest
        .checked_mul(LONG_TIMES)
        .unwrap_or(SignedDuration::MAX);
    let is_long = now.duration_since(since) > usual.max(LONG_MIN);
    is_long.then(|| {
        let longest = short(*longest);
        both!(
            "running since {since}; the longest recent run took {longest}",
            "自 {since} 起一直在运行；近期最长的一次用时 {longest}"
        )
    })
}

/// A duration as people say it, without what does not matter.
fn short(duration: SignedDuration) -> String {
    let whole = SignedDuration::from_secs(duration.as_secs());
    format!("{whole:#}")
}
