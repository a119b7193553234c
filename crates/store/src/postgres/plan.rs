//! Writing schedules on PostgreSQL.
//!
//! A batch is one transaction: the rows are taken by their versions in one statement, and what belongs
//! to those that were got is written in one statement per table. Schedules are taken before any task
//! is touched, new ones by name, then the others by number, so that nodes that plan the same schedules
//! queue instead of waiting for each other in a circle.
//!
//! A write that withdraws a task stands or falls with that withdrawal, and so has a transaction of its
//! own. So has the second write of one schedule in a batch: one statement changes a row once.

use std::collections::BTreeMap;

use almanack_core::{
    plan::{Edit, Schedule, ScheduleId, ScheduleName, ScheduleWrite, Slot},
    store::{Applied, Result},
    task::Subject,
};
use deadpool_postgres::{GenericClient, Object};
use tokio_postgres::types::ToSql;

use super::{
    Postgres, SAFETY_POLL, explain,
    task::{apply_one, insert_tasks, tell},
};
use crate::{
    database::Schedules,
    nudge::hint_of_write,
    row::{self, StateColumns, beside_or_null, many, micros},
    schedule,
};

/// Where the position stands: behind the columns of a schedule.
const POSITION: usize = 18;

/// A write and its place in the list asked for.
type Placed<'a> = (usize, &'a ScheduleWrite);
/// A write whose row was got, with the row's number.
type Won<'a> = (usize, ScheduleId, &'a ScheduleWrite);

impl Schedules for Postgres {
    async fn load_schedules(&self, names: &[ScheduleName]) -> Result<Vec<Option<Schedule>>> {
        let asked: Vec<&str> = names.iter().map(ScheduleName::as_str).collect();
        let rows = self
            .rows("load schedules", schedule::LOAD_POSTGRES, &[&asked])
            .await?;
        let mut found: Vec<Option<Schedule>> = names.iter().map(|_| None).collect();
        for row in rows {
            let position = usize::try_from(row.get::<_, i64>(POSITION)).unwrap_or(0);
            if let Some(place) = found.get_mut(position.wrapping_sub(1)) {
                *place = row::shown_schedule(&(&row).into());
            }
        }
        Ok(found)
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
        tell(&client, &self.channel, hint.min()).await;
        Ok(answers)
    }
}

/// What may share a transaction, in an order that keeps each schedule's own: no schedule twice, and a
/// withdrawal alone.
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

/// Carries out a set in one transaction; answers the places of those that were not lost.
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
        let fires = write.fires.iter();
        fires.map(move |fire| (*place, decided_at_us, fire))
    });
    let fires: Vec<_> = fires.collect();
    let wanted = fires.len();
    // None needs another's answer: they are sent together.
    let ((), (), inserted) = tokio::try_join!(
        note_slots(&transaction, &won),
        note_edits(&transaction, &won),
        insert_tasks(&transaction, fires)
    )?;
    if inserted.len() < wanted {
        note_cancelled(&transaction, &won).await?;
    }
    for change in won.iter().flat_map(|(_, _, write)| &write.cancels) {
        if apply_one(&transaction, change).await? == Applied::Lost {
            // Alone in its set: going without a commit undoes this write and nobody else's.
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
    if new.is_empty() {
        return Ok(Vec::new());
    }
    let failed = |error| explain("create schedules", error);
    let schedules: Vec<&Schedule> = new.values().map(|(_, write)| &write.schedule).collect();
    let names: Vec<&str> = new.keys().copied().collect();
    let columns = Columns::of(&schedules);
    let created_at: Vec<i64> = schedules.iter().map(|s| micros(s.created_at)).collect();
    let mut parameters: Vec<&(dyn ToSql + Sync)> = vec![&names];
    parameters.extend(columns.parameters());
    parameters.push(&created_at);
    let statement = client
        .prepare_cached(schedule::INSERT_POSTGRES)
        .await
        .map_err(failed)?;
    let rows = client
        .query(&statement, &parameters)
        .await
        .map_err(failed)?;
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
    if rows.is_empty() {
        return Ok(Vec::new());
    }
    let failed = |error| explain("change schedules", error);
    let ids: Vec<i64> = rows.keys().copied().collect();
    let seen: Vec<i64> = rows.values().map(|(_, seen)| *seen).collect();
    let schedules: Vec<&Schedule> = rows.values().map(|((_, w), _)| &w.schedule).collect();
    let columns = Columns::of(&schedules);
    let mut parameters: Vec<&(dyn ToSql + Sync)> = vec![&ids, &seen];
    parameters.extend(columns.parameters());
    let statement = client
        .prepare_cached(schedule::UPDATE_POSTGRES)
        .await
        .map_err(failed)?;
    let taken = client
        .query(&statement, &parameters)
        .await
        .map_err(failed)?;
    let won = taken.iter().filter_map(|row| {
        let id: i64 = row.get(0);
        let ((place, write), _) = rows.get(&id)?;
        Some((*place, ScheduleId(id), *write))
    });
    Ok(won.collect())
}

/// What new and changed rows have in common, column by column, in the order of the statements.
struct Columns<'a> {
    origin: Vec<&'a str>,
    definition: Vec<&'a str>,
    revision: Vec<i64>,
    state: Vec<&'a str>,
    since: Vec<Option<i64>>,
    until: Vec<Option<i64>>,
    note: Vec<Option<String>>,
    by: Vec<Option<String>>,
    next_at: Vec<Option<i64>>,
    waits_since: Vec<Option<i64>>,
    look_at: Vec<Option<i64>>,
    last: Vec<Option<&'a str>>,
    beside: Vec<Option<String>>,
    changed_at: Vec<i64>,
}

impl<'a> Columns<'a> {
    fn of(rows: &[&'a Schedule]) -> Self {
        let all = || rows.iter().copied();
        let states: Vec<StateColumns> = all().map(|s| StateColumns::of(&s.state)).collect();
        Self {
            origin: all().map(|s| s.origin.as_str()).collect(),
            definition: all().map(|s| s.definition.as_str()).collect(),
            revision: all().map(|s| s.revision).collect(),
            state: all().map(|s| s.state.as_str()).collect(),
            since: states.iter().map(|s| s.since.map(micros)).collect(),
            until: states.iter().map(|s| s.until.map(micros)).collect(),
            note: states.iter().map(|s| s.note.clone()).collect(),
            by: states.iter().map(|s| s.by.clone()).collect(),
            next_at: all().map(|s| s.next_at.map(micros)).collect(),
            waits_since: all().map(|s| s.waits_since.map(micros)).collect(),
            look_at: all().map(|s| s.look_at.map(micros)).collect(),
            last: all()
                .map(|s| s.last.as_ref().map(Subject::as_str))
                .collect(),
            beside: all().map(|s| beside_or_null(&s.beside)).collect(),
            changed_at: all().map(|s| micros(s.changed_at)).collect(),
        }
    }

    fn parameters(&self) -> [&(dyn ToSql + Sync); 14] {
        [
            &self.origin,
            &self.definition,
            &self.revision,
            &self.state,
            &self.since,
            &self.until,
            &self.note,
            &self.by,
            &self.next_at,
            &self.waits_since,
            &self.look_at,
            &self.last,
            &self.beside,
            &self.changed_at,
        ]
    }
}

/// Rare, and before anything is written under the same keys.
async fn take_back(client: &impl GenericClient, won: &[Won<'_>]) -> Result<()> {
    let failed = |error| explain("take back slots", error);
    for (_, id, write) in won {
        if let Some(from) = write.takes_back {
            let statement = client.prepare_cached(schedule::TAKE_BACK_SLOTS).await;
            let statement = statement.map_err(failed)?;
            let deleted = client.execute(&statement, &[&id.0, &micros(from)]).await;
            deleted.map_err(failed)?;
        }
    }
    Ok(())
}

async fn note_slots(client: &impl GenericClient, won: &[Won<'_>]) -> Result<()> {
    let mut rows: Vec<(i64, &Slot)> = Vec::new();
    for (_, id, write) in won {
        rows.extend(write.slots.iter().map(|slot| (id.0, slot)));
    }
    if rows.is_empty() {
        return Ok(());
    }
    let failed = |error| explain("note slots", error);
    let big = |f: fn(&Slot) -> i64| rows.iter().map(|row| f(row.1)).collect::<Vec<_>>();
    let statement = client
        .prepare_cached(schedule::NOTE_SLOT_POSTGRES)
        .await
        .map_err(failed)?;
    let ids: Vec<i64> = rows.iter().map(|row| row.0).collect();
    let verdicts: Vec<&str> = rows.iter().map(|row| row.1.verdict.as_str()).collect();
    let details: Vec<Option<&str>> = rows.iter().map(|row| row.1.detail.as_deref()).collect();
    let parameters: [&(dyn ToSql + Sync); 8] = [
        &ids,
        &big(|slot| micros(slot.slot_at)),
        &big(|slot| micros(slot.last_at)),
        &big(|slot| many(slot.slots)),
        &verdicts,
        &details,
        &big(|slot| slot.revision),
        &big(|slot| micros(slot.decided_at)),
    ];
    client
        .execute(&statement, &parameters)
        .await
        .map_err(failed)?;
    Ok(())
}

/// Only where a firing met another under its name, which is rare: one by one.
async fn note_cancelled(client: &impl GenericClient, won: &[Won<'_>]) -> Result<()> {
    let failed = |error| explain("note cancelled slots", error);
    let statement = client
        .prepare_cached(schedule::NOTE_CANCELLED)
        .await
        .map_err(failed)?;
    for (_, id, write) in won {
        for (slot, firing) in schedule::fired_slots(write) {
            let parameters: [&(dyn ToSql + Sync); 5] = [
                &id.0,
                &micros(slot.slot_at),
                &micros(slot.decided_at),
                &firing.subject.as_str(),
                &firing.kind.as_str(),
            ];
            let noted = client.execute(&statement, &parameters).await;
            noted.map_err(failed)?;
        }
    }
    Ok(())
}

async fn note_edits(client: &impl GenericClient, won: &[Won<'_>]) -> Result<()> {
    let mut rows: Vec<(i64, i64, &Edit)> = Vec::new();
    for (_, id, write) in won {
        let version = write.seen.unwrap_or(0) + 1;
        rows.extend(write.edit.iter().map(|edit| (id.0, version, edit)));
    }
    if rows.is_empty() {
        return Ok(());
    }
    let failed = |error| explain("note edits", error);
    let statement = client
        .prepare_cached(schedule::NOTE_EDIT_POSTGRES)
        .await
        .map_err(failed)?;
    let big = |f: fn(&(i64, i64, &Edit)) -> i64| rows.iter().map(f).collect::<Vec<_>>();
    let text = |f: fn(&Edit) -> &str| rows.iter().map(|row| f(row.2)).collect::<Vec<_>>();
    let notes: Vec<Option<&str>> = rows.iter().map(|row| row.2.note.as_deref()).collect();
    let parameters: [&(dyn ToSql + Sync); 8] = [
        &big(|row| row.0),
        &big(|row| row.1),
        &big(|row| row.2.revision),
        &text(|edit| edit.edited.as_str()),
        &text(|edit| edit.by.as_str()),
        &notes,
        &text(|edit| edit.definition.as_str()),
        &big(|row| micros(row.2.at)),
    ];
    client
        .execute(&statement, &parameters)
        .await
        .map_err(failed)?;
    Ok(())
}
