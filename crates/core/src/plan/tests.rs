//! Looks at a schedule, written as "what was due, and what happened to each slot".

mod calendars;
mod laws;
mod monitors;
mod tables;
mod words;

use std::sync::Arc;

use jiff::Timestamp;

use super::*;
use crate::{schedule::Zone, target::Target};

pub(super) const CREATED: &str = "2026-01-01T00:00:00Z";

pub(super) fn at(text: &str) -> Timestamp {
    let text = if text.contains('T') {
        text.to_owned()
    } else {
        format!("2026-01-05T{text}Z")
    };
    text.parse().unwrap()
}

pub(super) fn name() -> ScheduleName {
    ScheduleName::parse("nightly").unwrap()
}

pub(super) fn target() -> Target {
    Target::webhook("https://example.org/hook")
}

/// A definition with some of its fields given as JSON: `{"overlap":"allow"}`.
pub(super) fn define(expression: &str, policies: &str) -> Definition {
    let mut whole = serde_json::to_value(Definition::new(expression, target())).unwrap();
    let given: serde_json::Map<String, serde_json::Value> = serde_json::from_str(policies).unwrap();
    whole.as_object_mut().unwrap().extend(given);
    serde_json::from_value(whole).unwrap()
}

pub(super) fn ready(expression: &str, policies: &str) -> Ready {
    let zone = Arc::new(Zone::utc());
    Ready::new(&name(), define(expression, policies), &zone).unwrap()
}

/// A schedule whose first undecided slot is at `next_at`.
pub(super) fn schedule(ready: &Ready, next_at: Timestamp) -> Schedule {
    Schedule {
        id: ScheduleId(1),
        name: name(),
        origin: Origin::Api,
        definition: ready.definition.clone().into(),
        revision: 1,
        version: 1,
        state: State::Active,
        next_at: Some(next_at),
        waits_since: None,
        look_at: Some(next_at),
        last: None,
        beside: Vec::new(),
        runs: 0,
        created_at: at(CREATED),
        changed_at: at(CREATED),
    }
}

pub(super) fn paused(schedule: Schedule, since: &str, until: Option<&str>) -> Schedule {
    let pause = Pause {
        since: at(since),
        until: until.map(at),
        note: Some("moving house".to_owned()),
        by: "ada".to_owned(),
    };
    Schedule {
        state: State::Paused(pause),
        ..schedule
    }
}

/// A plan in short: each ledger row as `from[..until]=verdict`, then the cursor.
pub(super) fn report(plan: &Plan) -> String {
    let clock = |at: Timestamp| at.strftime("%H:%M:%S").to_string();
    let mut parts: Vec<String> = plan
        .slots
        .iter()
        .map(|row| match row.slots {
            1 => format!("{}={}", clock(row.slot_at), row.verdict.as_str()),
            slots => format!(
                "{}..{}x{slots}={}",
                clock(row.slot_at),
                clock(row.last_at),
                row.verdict.as_str()
            ),
        })
        .collect();
    if plan.cancels {
        parts.push("cancels".to_owned());
    }
    if plan.resumes {
        parts.push("resumes".to_owned());
    }
    let waits = if plan.waits_since.is_some() {
        "waits "
    } else {
        "next "
    };
    parts.push(format!(
        "{waits}{}",
        plan.next_at.map_or("-".to_owned(), clock)
    ));
    parts.join(", ")
}
