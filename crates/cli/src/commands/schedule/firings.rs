//! What became of firings. That a slot has fired says only that its firing was written down; whether
//! anything came of it stands in the firing's task.

use std::collections::BTreeMap;

use almanack_core::{
    plan::{Schedule, ScheduleName, Slot, slot_identity},
    task::{Identity, Status, Task},
    text::shorten,
};
use serde_json::{Value, json};

use super::Desk;
use crate::{
    failure::Failure,
    output::{Cell, Ink},
};

/// Firings asked for at once.
const BATCH: usize = 500;
/// How much of a detail stands in a table.
const DETAIL_CHARS_MAX: usize = 60;

/// The current tasks of firings, by subject.
pub(super) struct Firings(BTreeMap<String, Task>);

impl Firings {
    async fn load(desk: &Desk, identities: &[Identity]) -> Result<Self, Failure> {
        let mut found = BTreeMap::new();
        for batch in identities.chunks(BATCH) {
            let tasks = desk.store.load_current(batch).await?;
            let named = |task: Task| (task.identity.subject.to_string(), task);
            found.extend(tasks.into_iter().flatten().map(named));
        }
        Ok(Self(found))
    }

    /// Those of ledger rows, and the newest of their schedule.
    pub(super) async fn of_rows(
        desk: &Desk,
        schedule: &Schedule,
        rows: &[Slot],
    ) -> Result<Self, Failure> {
        let of_row = |row: &Slot| identity(&schedule.name, row);
        let mut asked: Vec<Identity> = rows.iter().filter_map(of_row).collect();
        asked.extend(schedule.last_firing());
        Self::load(desk, &asked).await
    }

    /// The newest of each schedule.
    pub(super) async fn newest(desk: &Desk, schedules: &[Schedule]) -> Result<Self, Failure> {
        let asked: Vec<Identity> = schedules.iter().filter_map(Schedule::last_firing).collect();
        Self::load(desk, &asked).await
    }

    /// What became of a row's firing, for people.
    pub(super) fn cell(&self, name: &ScheduleName, row: &Slot) -> Cell {
        self.told(identity(name, row))
    }

    /// What became of a row's firing, for programs.
    pub(super) fn json(&self, name: &ScheduleName, row: &Slot) -> Value {
        self.value(identity(name, row))
    }

    /// What became of the newest, for people.
    pub(super) fn newest_cell(&self, schedule: &Schedule) -> Cell {
        self.told(schedule.last_firing())
    }

    /// What became of the newest, for programs.
    pub(super) fn newest_json(&self, schedule: &Schedule) -> Value {
        self.value(schedule.last_firing())
    }

    fn told(&self, firing: Option<Identity>) -> Cell {
        let Some(identity) = firing else {
            return Cell::new("");
        };
        match self.0.get(identity.subject.as_str()) {
            Some(task) => Cell::new(words(task)).ink(ink(task)),
            None => Cell::new("forgotten").ink(Ink::Faint),
        }
    }

    fn value(&self, firing: Option<Identity>) -> Value {
        let Some(identity) = firing else {
            return Value::Null;
        };
        let task = self.0.get(identity.subject.as_str());
        json!({
            "subject": identity.subject.as_str(),
            "task_id": task.map(|task| task.id.0),
            "status": task.map(|task| task.status.as_str()),
            "detail": task.and_then(|task| task.detail.as_deref()),
        })
    }
}

/// Only what fired has a firing.
fn identity(name: &ScheduleName, row: &Slot) -> Option<Identity> {
    let fired = row.verdict.is_fired();
    fired.then(|| slot_identity(name, row.slot_at).ok())?
}

fn words(task: &Task) -> String {
    let status = task.status.as_str();
    match &task.detail {
        Some(detail) if task.status == Status::Fail => {
            format!("{status}: {}", shorten(detail, DETAIL_CHARS_MAX))
        }
        _ => status.to_owned(),
    }
}

fn ink(task: &Task) -> Ink {
    match task.status {
        Status::Success => Ink::Good,
        Status::Fail if !task.is_live() => Ink::Bad,
        Status::Fail | Status::Running => Ink::Notable,
        Status::Cancelled => Ink::Faint,
        Status::Init => Ink::Plain,
    }
}
