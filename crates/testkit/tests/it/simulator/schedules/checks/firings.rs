//! Firings and ledger rows agree, and firings do not overlap where they must not.

use std::collections::BTreeMap;

use almanack_core::{
    plan::{DISPATCH, Firing, Overlap, Schedule, Slot, Trigger, slot_identity},
    store::{Store, TaskFilter},
    task::{Kind, Task},
};

use super::{
    super::chronicle::{Birth, Pages},
    eras::Life,
};

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
        for task in page.rows {
            let subject = task.identity.subject.as_str().to_owned();
            tasks.entry(subject).or_default().push(task);
        }
        if page.next.is_none() {
            return Ok(tasks);
        }
        filter.before = page.next;
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

/// Where firings must not overlap, all before it have ended when the next is inserted: the one
/// before it, whatever it was, and those before that as far back as none was allowed to overlap.
fn overlaps(pages: &Pages, life: &Life, schedule: &Schedule) -> Result<(), String> {
    let name = schedule.name.as_str();
    let births = pages.births.iter().filter(|birth| birth.schedule == name);
    let births: Vec<_> = births.collect();
    let apart = |birth: &Birth| {
        let era = life.era_of(birth.nominal_at);
        era.is_some_and(|era| era.definition.overlap != Overlap::Allow)
    };
    for (index, birth) in births.iter().enumerate() {
        if birth.trigger != Trigger::Schedule || !apart(birth) {
            continue;
        }
        let earlier = births[..index].iter().rev();
        let with_them = earlier.clone().take_while(|before| apart(before));
        for before in earlier.take(1).chain(with_them) {
            check_ended(pages, before, birth)?;
        }
    }
    Ok(())
}

fn check_ended(pages: &Pages, before: &Birth, birth: &Birth) -> Result<(), String> {
    let work_ended_at = pages.works_ended.get(&before.subject).copied();
    let mut ends = before.ended_at.into_iter().chain(work_ended_at);
    let ended = ends.any(|ended| ended <= birth.at);
    if ended || before.subject == birth.subject {
        return Ok(());
    }
    Err(format!(
        "{} was inserted at {} while {}, inserted at {}, had not ended before {:?}",
        birth.subject, birth.at, before.subject, before.at, before.ended_at
    ))
}
