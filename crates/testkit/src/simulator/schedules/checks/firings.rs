//! Firings and ledger rows tell the same story, and firings do not overlap where they must not.

use std::collections::BTreeMap;

use almanack_core::{
    plan::{DISPATCH, Firing, Overlap, Schedule, Slot, Trigger, slot_identity},
    store::{Store, TaskFilter},
    task::{Kind, Task},
};

use super::{super::chronicle::Pages, eras::Life};

/// Every firing in the store, by subject.
pub(super) type Tasks = BTreeMap<String, Vec<Task>>;

const PAGE: usize = 5_000;

pub(super) async fn load(store: &dyn Store) -> Result<Tasks, String> {
    let mut tasks = Tasks::new();
    let mut filter = TaskFilter {
        kind: Kind::parse(DISPATCH).ok(),
        limit: PAGE,
        ..TaskFilter::default()
    };
    loop {
        let page = store.list_tasks(&filter).await;
        let page = page.map_err(|error| error.to_string())?;
        filter.before = page.last().map(|task| task.id);
        let full = page.len() == PAGE;
        for task in page {
            let subject = task.identity.subject.as_str().to_owned();
            tasks.entry(subject).or_default().push(task);
        }
        if !full {
            return Ok(tasks);
        }
    }
}

pub(super) fn check(
    pages: &Pages,
    life: &Life,
    schedule: &Schedule,
    rows: &[Slot],
    tasks: &Tasks,
) -> Result<(), String> {
    let mut planned = 0;
    for row in rows.iter().filter(|row| row.verdict.is_fired()) {
        let identity = slot_identity(&schedule.name, row.slot_at);
        let identity = identity.map_err(|error| error.to_string())?;
        let subject = identity.subject.as_str();
        let [task] = tasks.get(subject).map_or(&[][..], Vec::as_slice) else {
            return Err(format!(
                "{subject} is in the ledger, but has not exactly one firing"
            ));
        };
        let firing = Firing::read(&task.payload).map_err(|error| error.to_string())?;
        if firing.nominal_at != row.slot_at {
            return Err(format!("{subject} fires for {}", firing.nominal_at));
        }
        if firing.trigger == Trigger::Schedule {
            planned += 1;
            if firing.caught_up != (row.verdict.as_str() == "caught_up") {
                return Err(format!("{subject} does not know whether it was missed"));
            }
        }
    }
    let found = count(schedule, tasks)?;
    if found != planned {
        let name = &schedule.name;
        return Err(format!(
            "{name} has {found} firings for {planned} rows that say so"
        ));
    }
    overlaps(pages, life, schedule)
}

/// The schedule's own firings, each of them the only one of its identity.
fn count(schedule: &Schedule, tasks: &Tasks) -> Result<usize, String> {
    let mut found = 0;
    for (subject, tasks) in tasks {
        for task in tasks {
            let firing = Firing::read(&task.payload).map_err(|error| error.to_string())?;
            if firing.schedule != schedule.name.as_str() {
                continue;
            }
            if tasks.len() != 1 {
                return Err(format!("{subject} fired {} times", tasks.len()));
            }
            found += usize::from(firing.trigger == Trigger::Schedule);
        }
    }
    Ok(found)
}

/// Where firings must not overlap, the one before has ended when the next is inserted.
fn overlaps(pages: &Pages, life: &Life, schedule: &Schedule) -> Result<(), String> {
    let name = schedule.name.as_str();
    let births = pages.births.iter().filter(|birth| birth.schedule == name);
    let births: Vec<_> = births.collect();
    for pair in births.windows(2) {
        let [before, birth] = pair else { continue };
        let policy = life
            .era_of(birth.nominal_at)
            .map(|era| era.definition.overlap);
        let apart = policy.is_some_and(|policy| policy != Overlap::Allow);
        let ended = before.ended_at.is_some_and(|ended| ended <= birth.at);
        let fired_again = before.subject == birth.subject;
        if birth.trigger == Trigger::Schedule && apart && !ended && !fired_again {
            return Err(format!(
                "{} was inserted at {} while {}, inserted at {}, had not ended before {:?}",
                birth.subject, birth.at, before.subject, before.at, before.ended_at
            ));
        }
    }
    Ok(())
}
