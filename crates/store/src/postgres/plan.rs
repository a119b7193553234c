//! Writing schedules on PostgreSQL.
//!
//! A batch is one transaction: the rows are taken by their versions in one statement, and what
//! belongs to those that were got is written in one statement per table. Schedules are taken before
//! any task is touched, new ones by name, then the others by number, so that nodes that plan the
//! same schedules queue instead of waiting for each other in a circle.
//!
//! A write that withdraws a task succeeds or fails with that withdrawal, and so has a separate
//! transaction. So has the second write of one schedule in a batch: one statement changes a row
//! once.

use std::collections::BTreeMap;

use almanack_core::{
    plan::{Schedule, ScheduleId, ScheduleName, ScheduleWrite},
    store::{Applied, Result},
};
use deadpool_postgres::{GenericClient, Object};
use tokio_postgres::types::ToSql;

use super::{
    Postgres, SAFETY_POLL, explain,
    session::{execute, in_order, query_lists},
    task::{apply_one, insert_tasks, report},
};
use crate::{
    database::Schedules,
    monitor,
    nudge::hint_of_write,
    row::{self, lists, micros, values},
    schedule,
};

/// The position's column: behind the columns of a schedule.
const POSITION: usize = 19;

/// A write and its index in the caller's list.
type Placed<'a> = (usize, &'a ScheduleWrite);
/// A write whose row was got, with the row's number.
type Won<'a> = (usize, ScheduleId, &'a ScheduleWrite);

impl Schedules for Postgres {
    async fn load_schedules(&self, names: &[ScheduleName]) -> Result<Vec<Option<Schedule>>> {
        let asked: Vec<&str> = names.iter().map(ScheduleName::as_str).collect();
        let rows = self
            .rows("load schedules", schedule::LOAD_POSTGRES, &[&asked])
            .await?;
        let found = in_order(&rows, POSITION, names.len(), |row| {
            Ok(row::SCHEDULES.read(row))
        });
        Ok(found?.into_iter().map(Option::flatten).collect())
    }

    async fn write_schedules(&self, writes: Vec<ScheduleWrite>) -> Result<Vec<Applied>> {
        let mut client = self.client().await?;
        let mut answers = vec![Applied::Lost; writes.len()];
        for set in sets(&writes) {
            for place in write_set(&mut client, &set).await? {
                answers[place] = Applied::Done { inserted: None };
            }
        }
        let done = writes.iter().zip(&answers);
        let done = done.filter(|(_, answer)| **answer != Applied::Lost);
        let hint = done.filter_map(|(write, _)| hint_of_write(write, SAFETY_POLL));
        report(&client, &self.channel, hint.min()).await;
        Ok(answers)
    }
}

/// What may share a transaction, in an order that keeps each schedule's own: no schedule twice, and
/// a withdrawal alone.
fn sets(writes: &[ScheduleWrite]) -> Vec<Vec<Placed<'_>>> {
    let mut rounds: Vec<(Vec<Placed<'_>>, Vec<Placed<'_>>)> = Vec::new();
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    for placed in writes.iter().enumerate() {
        let round = seen.entry(placed.1.schedule.name.as_str()).or_insert(0);
        if *round == rounds.len() {
            rounds.push((Vec::new(), Vec::new()));
        }
        let (plain, withdrawing) = &mut rounds[*round];
        match placed.1.cancels[..] {
            [] => plain.push(placed),
            _ => withdrawing.push(placed),
        }
        *round += 1;
    }
    let sets = rounds.into_iter().flat_map(|(plain, withdrawing)| {
        let alone = withdrawing.into_iter().map(|placed| vec![placed]);
        std::iter::once(plain).chain(alone)
    });
    sets.filter(|set| !set.is_empty()).collect()
}

/// Carries out a set in one transaction; returns the indexes of those that were not lost.
async fn write_set(client: &mut Object, set: &[Placed<'_>]) -> Result<Vec<usize>> {
    let failed = |error| explain("write schedules", error);
    let transaction = client.transaction().await.map_err(failed)?;
    let mut won = create_all(&transaction, set).await?;
    won.extend(change_all(&transaction, set).await?);
    if won.is_empty() {
        return Ok(Vec::new());
    }
    take_back(&transaction, &won).await?;
    let fires = won.iter().flat_map(|(place, _, write)| {
        let decided_at_us = micros(write.decided_at);
        let fires = write.fires.iter().chain(&write.event_tasks);
        fires.map(move |fire| (*place, decided_at_us, fire))
    });
    let fires: Vec<_> = fires.collect();
    let wanted = fires.len();
    // None needs another's answer: they are sent together.
    let ((), (), (), inserted) = tokio::try_join!(
        note_slots(&transaction, &won),
        note_monitors(&transaction, &won),
        note_edits(&transaction, &won),
        insert_tasks(&transaction, fires)
    )?;
    if inserted.len() < wanted {
        note_cancelled(&transaction, &won).await?;
    }
    for change in won.iter().flat_map(|(_, _, write)| &write.cancels) {
        if apply_one(&transaction, change).await? == Applied::Lost {
            // Alone in its set: going without a commit undoes this write and no other.
            return Ok(Vec::new());
        }
    }
    transaction.commit().await.map_err(failed)?;
    Ok(won.iter().map(|(place, ..)| *place).collect())
}

/// The new rows written; a name that is taken is left out.
async fn create_all<'a>(client: &impl GenericClient, set: &[Placed<'a>]) -> Result<Vec<Won<'a>>> {
    let mut new: BTreeMap<&str, Placed<'a>> = BTreeMap::new();
    for placed in set.iter().filter(|(_, write)| write.seen.is_none()) {
        new.insert(placed.1.schedule.name.as_str(), *placed);
    }
    let created = lists(new.values().map(|(_, write)| {
        let schedule = &write.schedule;
        let mut values = values![schedule.name.as_str()];
        values.extend(row::schedule_values(schedule));
        values.extend(values![schedule.created_at]);
        values
    }));
    let rows = query_lists(
        client,
        "create schedules",
        schedule::INSERT_POSTGRES,
        created,
    )
    .await?;
    let won = rows.iter().filter_map(|row| {
        let (place, write) = new.get(row.get::<_, &str>(0))?;
        Some((*place, ScheduleId(row.get(1)), *write))
    });
    Ok(won.collect())
}

/// The rows that were still the version seen.
async fn change_all<'a>(client: &impl GenericClient, set: &[Placed<'a>]) -> Result<Vec<Won<'a>>> {
    let mut rows: BTreeMap<i64, (Placed<'a>, i64)> = BTreeMap::new();
    for (place, write) in set {
        if let Some(seen) = write.seen {
            rows.insert(write.schedule.id.0, ((*place, *write), seen));
        }
    }
    let changed = lists(rows.iter().map(|(id, ((_, write), seen))| {
        let mut values = values![*id, *seen];
        values.extend(row::schedule_values(&write.schedule));
        values
    }));
    let taken = query_lists(
        client,
        "change schedules",
        schedule::UPDATE_POSTGRES,
        changed,
    )
    .await?;
    let won = taken.iter().filter_map(|row| {
        let id: i64 = row.get(0);
        let ((place, write), _) = rows.get(&id)?;
        Some((*place, ScheduleId(id), *write))
    });
    Ok(won.collect())
}

/// Rare, and before anything is written under the same keys.
async fn take_back(client: &impl GenericClient, won: &[Won<'_>]) -> Result<()> {
    let (name, text) = ("take back slots", schedule::TAKE_BACK_SLOTS);
    for (_, id, write) in won {
        if let Some(from) = write.takes_back {
            execute(client, name, text, &[&id.0, &micros(from)]).await?;
        }
    }
    Ok(())
}

async fn note_slots(client: &impl GenericClient, won: &[Won<'_>]) -> Result<()> {
    let noted = lists(won.iter().flat_map(|(_, id, write)| {
        let slots = write.slots.iter();
        slots.map(|slot| row::slot_values(*id, slot))
    }));
    query_lists(client, "note slots", schedule::NOTE_SLOT_POSTGRES, noted)
        .await
        .map(drop)
}

/// What was heard of jobs, and the pings that said so.
async fn note_monitors(client: &impl GenericClient, won: &[Won<'_>]) -> Result<()> {
    let heard = won.iter().filter(|(_, _, write)| write.monitor.is_some());
    let heard: Vec<&Won<'_>> = heard.collect();
    if heard.is_empty() {
        return Ok(());
    }
    let monitors = heard
        .iter()
        .filter_map(|(_, id, write)| monitor::monitor_values(*id, write));
    let text = monitor::NOTE_MONITOR_POSTGRES;
    query_lists(client, "note monitors", text, lists(monitors)).await?;
    let pings = heard
        .iter()
        .filter_map(|(_, id, write)| monitor::ping_values(*id, write));
    query_lists(
        client,
        "note pings",
        monitor::NOTE_PING_POSTGRES,
        lists(pings),
    )
    .await?;
    for (_, id, write) in heard {
        if let Some(last) = monitor::forgotten_to(write) {
            execute(
                client,
                "forget pings",
                monitor::FORGET_PINGS,
                &[&id.0, &last],
            )
            .await?;
        }
    }
    Ok(())
}

/// Only where a firing met another under its name, which is rare: one by one.
async fn note_cancelled(client: &impl GenericClient, won: &[Won<'_>]) -> Result<()> {
    let (name, text) = ("note cancelled slots", schedule::NOTE_CANCELLED);
    for (_, id, write) in won {
        for (slot, firing) in schedule::fired_slots(write) {
            let parameters: [&(dyn ToSql + Sync); 5] = [
                &id.0,
                &micros(slot.slot_at),
                &micros(slot.decided_at),
                &firing.subject.as_str(),
                &firing.kind.as_str(),
            ];
            execute(client, name, text, &parameters).await?;
        }
    }
    Ok(())
}

async fn note_edits(client: &impl GenericClient, won: &[Won<'_>]) -> Result<()> {
    let noted = lists(won.iter().flat_map(|(_, id, write)| {
        let version = write.seen.unwrap_or(0) + 1;
        let edit = write.edit.iter();
        edit.map(move |edit| row::edit_values(*id, version, edit))
    }));
    query_lists(client, "note edits", schedule::NOTE_EDIT_POSTGRES, noted)
        .await
        .map(drop)
}
