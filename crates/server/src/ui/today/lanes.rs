//! A day as lanes of marks: a lane for each schedule and kind of task, and for checks, batches and
//! deliveries.

use std::collections::BTreeMap;

use almanack_core::edition::batch::{self, Batch};
use almanack_core::edition::{EDITION_RUN, delivery};
use almanack_core::plan::{Slot, Verdict};
use almanack_core::reserved::is_internal;
use almanack_core::source::recent::{CheckOutcome, PastLook};
use almanack_core::text::shorten;

use super::day::Day;
use crate::picture::ribbon::{Lane, Mark};
use crate::ui::prelude::*;
use crate::ui::{schedules, sources};

/// Most lanes of schedules, and of kinds; the rest shares one.
const LANES_MAX: usize = 12;

/// All lanes, from top to bottom; empty ones are left out.
pub(super) fn of(viewer: &Viewer, day: &Day) -> Vec<Lane> {
    let mut lanes = of_schedules(viewer, day);
    lanes.extend(kinds(viewer, day));
    lanes.push(checks(viewer, day));
    lanes.push(batches(viewer, day));
    lanes.push(deliveries(viewer, day));
    lanes.retain(|lane| !lane.marks.is_empty());
    lanes
}

fn lane(name: &str, href: &str, marks: impl IntoIterator<Item = Mark>) -> Lane {
    Lane {
        name: name.to_owned(),
        href: href.to_owned(),
        marks: marks.into_iter().collect(),
    }
}

fn clock(viewer: &Viewer, at: Timestamp) -> String {
    let zoned = at.to_zoned(viewer.zone.clone());
    zoned.strftime("%H:%M:%S %Z").to_string()
}

fn of_schedules(viewer: &Viewer, day: &Day) -> Vec<Lane> {
    let ended = day.finished.iter().chain(&day.running);
    let ended = ended.filter_map(|task| {
        let name = links::fired_schedule(&task.identity)?;
        Some((name, tried(viewer, task)))
    });
    let left_out = day.slots.iter().filter_map(|line| {
        let mark = skipped(viewer, &line.slot, links::schedule(&line.schedule))?;
        Some((line.schedule.as_str(), mark))
    });
    let ahead = day.schedules.iter().flat_map(|planned| {
        let (name, slots) = (&planned.schedule.name, planned.slots.iter());
        slots.map(move |slot| (name.as_str(), to_come(viewer, name, *slot)))
    });
    let href = |name: &str| {
        let name = ScheduleName::parse(name);
        name.map_or_else(
            |_| "/ui/schedules".to_owned(),
            |name| links::schedule(&name),
        )
    };
    let lanes = by_name(ended.chain(left_out).chain(ahead), href);
    let rest = viewer.lang.pick("Other schedules", "其他日程");
    bounded(lanes, rest, "/ui/schedules")
}

/// A lane for each name.
fn by_name<'a>(
    named: impl Iterator<Item = (&'a str, Mark)>,
    href: impl Fn(&str) -> String,
) -> Vec<Lane> {
    let mut marks: BTreeMap<&str, Vec<Mark>> = BTreeMap::new();
    for (name, mark) in named {
        marks.entry(name).or_default().push(mark);
    }
    let lanes = marks.into_iter();
    let lanes = lanes.map(|(name, marks)| lane(name, &href(name), marks));
    lanes.collect()
}

/// The busiest lanes separately, the rest in one.
fn bounded(mut lanes: Vec<Lane>, rest: &str, href: &str) -> Vec<Lane> {
    if lanes.len() <= LANES_MAX {
        return lanes;
    }
    lanes.sort_by_key(|lane| std::cmp::Reverse(lane.marks.len()));
    let others = lanes.split_off(LANES_MAX - 1);
    lanes.sort_by(|a, b| a.name.cmp(&b.name));
    let marks = others.into_iter().flat_map(|lane| lane.marks);
    lanes.push(lane(rest, href, marks));
    lanes
}

/// One or more consecutive skipped slots. Fired ones are shown by their tasks.
fn skipped(viewer: &Viewer, slot: &Slot, href: String) -> Option<Mark> {
    let Verdict::Skipped(reason) = slot.verdict else {
        return None;
    };
    let (count, at) = (slot.slots, clock(viewer, slot.slot_at));
    let reason = schedules::words::reason(viewer.lang, reason);
    let detail = brief(slot.detail.as_deref());
    let label = say!(viewer.lang; "{at}: {count} skipped, {reason}{detail}",
        "{at}：跳过 {count} 次，{reason}{detail}");
    let mark = Mark::new(slot.slot_at, Outcome::Skipped, label, href);
    Some(mark.until((slot.slots > 1).then_some(slot.last_at)))
}

fn to_come(viewer: &Viewer, name: &ScheduleName, slot: Timestamp) -> Mark {
    let at = clock(viewer, slot);
    let label = say!(viewer.lang, "{at}: {name} fires", "{at}：{name} 触发");
    Mark::new(slot, Outcome::Planned, label, links::schedule(name))
}

/// A task whose last attempt ended or is running.
fn tried(viewer: &Viewer, task: &TaskLine) -> Mark {
    let at = task.started_at.unwrap_or(task.execute_at);
    let subject = &task.identity.subject;
    let (time, detail) = (clock(viewer, at), brief(task.detail.as_deref()));
    let outcome = outcome(task);
    let label = format!("{time} {subject}: {}{detail}", outcome.name(viewer.lang));
    let mark = Mark::new(at, outcome, label, task_path(&task.identity));
    mark.until(task.finished_at.filter(|ended| *ended > at))
}

fn outcome(task: &TaskLine) -> Outcome {
    match task.status {
        // INIT is a repeating task: its last attempt succeeded, or it would be FAIL.
        Status::Success | Status::Init => Outcome::Done,
        Status::Fail => Outcome::Failed,
        Status::Cancelled => Outcome::Cancelled,
        Status::Running => Outcome::Running,
    }
}

/// Longest part of a result in a label.
const BRIEF_CHARS: usize = 80;

fn brief(detail: Option<&str>) -> String {
    match detail.unwrap_or_default() {
        "" => String::new(),
        detail => format!(" ({})", shorten(detail, BRIEF_CHARS)),
    }
}

fn waiting(viewer: &Viewer, task: &TaskLine) -> Mark {
    let at = task.due_at.unwrap_or(task.execute_at);
    let (time, subject) = (clock(viewer, at), &task.identity.subject);
    let label = format!("{time} {subject}");
    Mark::new(at, Outcome::Planned, label, task_path(&task.identity))
}

/// Tasks of users, by kind. Of internal ones, firings, checks and steps have lanes of their own.
fn kinds(viewer: &Viewer, day: &Day) -> Vec<Lane> {
    let ours = |task: &&TaskLine| !is_internal(&task.identity.kind);
    let ended = day.finished.iter().chain(&day.running).filter(ours);
    let ended = ended.map(|task| (task.identity.kind.as_str(), tried(viewer, task)));
    let ahead = day.upcoming.iter().filter(ours);
    let ahead = ahead.map(|task| (task.identity.kind.as_str(), waiting(viewer, task)));
    let lanes = by_name(ended.chain(ahead), |kind| format!("/ui/tasks?kind={kind}"));
    let rest = viewer.lang.pick("Other tasks", "其他任务");
    bounded(lanes, rest, "/ui/tasks")
}

/// Past and future checks of sources.
fn checks(viewer: &Viewer, day: &Day) -> Lane {
    let past = day.sources.iter().flat_map(|source| {
        let looks = source.recent.looks().iter();
        looks.map(move |look| looked(viewer, source, look))
    });
    let ahead = day.upcoming.iter();
    let ahead = ahead.filter(|task| links::is_check(&task.identity));
    let ahead = ahead.map(|task| waiting(viewer, task));
    let name = viewer.lang.pick("Sources", "信源");
    lane(name, "/ui/sources", past.chain(ahead))
}

fn looked(viewer: &Viewer, source: &Source, look: &PastLook) -> Mark {
    let (time, name) = (clock(viewer, look.at), &source.definition.name);
    let result = match look.outcome {
        CheckOutcome::Nothing | CheckOutcome::Unchanged => {
            viewer.lang.pick("nothing new", "无更新").to_owned()
        }
        other => sources::words::outcome(viewer.lang, other),
    };
    let label = format!("{time} {name}: {result}");
    let shape = sources::words::shape(look.outcome);
    Mark::new(look.at, shape, label, links::source(source.id))
}

fn batches(viewer: &Viewer, day: &Day) -> Lane {
    let all = day.editions.iter().flat_map(|account| {
        let (batches, id) = (account.batches.iter(), account.edition.id);
        batches.map(move |batch| tried_batch(viewer.lang, id, batch))
    });
    let steps = day.upcoming.iter();
    let steps = steps.filter(|task| task.identity.kind.as_str() == EDITION_RUN);
    let name = viewer.lang.pick("Edition", "日报");
    let steps = steps.map(|task| waiting(viewer, task));
    lane(name, "/ui/editions", all.chain(steps))
}

fn tried_batch(lang: Lang, id: EditionId, batch: &Batch) -> Mark {
    let outcome = match batch.status {
        batch::Status::Running => Outcome::Running,
        batch::Status::Success => Outcome::Done,
        batch::Status::Partial | batch::Status::Failed => Outcome::Failed,
    };
    let (index, stories, name) = (batch.index, batch.story_count, outcome.name(lang));
    let label = say!(lang; "{id}, batch {index}: {stories} stories, {name}",
        "{id} 第 {index} 批：{stories} 篇，{name}");
    Mark::new(batch.started_at, outcome, label, links::edition(id)).until(batch.ended_at)
}

fn deliveries(viewer: &Viewer, day: &Day) -> Lane {
    let marks = day.editions.iter().flat_map(|account| {
        let id = account.edition.id;
        account.deliveries.iter().map(move |delivery| {
            let outcome = delivered(delivery.state);
            let (to, part) = (&delivery.destination, delivery.part);
            let label = format!("{id} → {to} {part}: {}", outcome.name(viewer.lang));
            Mark::new(delivery.updated_at, outcome, label, links::edition(id))
        })
    });
    let name = viewer.lang.pick("Deliveries", "投递");
    lane(name, "/ui/editions", marks)
}

fn delivered(state: delivery::State) -> Outcome {
    match state {
        delivery::State::Intended => Outcome::Planned,
        delivery::State::Sent => Outcome::Running,
        delivery::State::Confirmed => Outcome::Done,
        delivery::State::Unknown => Outcome::Unknown,
        delivery::State::Failed => Outcome::Failed,
        delivery::State::Skipped => Outcome::Skipped,
    }
}
