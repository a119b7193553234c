//! Writing sources on PostgreSQL.
//!
//! A batch is one transaction: rows that stay where they are, are taken by their versions in one
//! statement, in the order of their numbers, so that nodes queue instead of waiting for each other
//! in a circle; then each that moves, behind a savepoint, because a taken address must not undo the
//! others; then the entries of all that were got, and the tasks that deliver their events. A second
//! write of one source in a batch waits for the next round: one statement changes a row once.
//!
//! All rounds are one transaction, because a group whose commit fails is tried again one by one,
//! and must not meet itself.

use std::collections::BTreeMap;

use almanack_core::{
    source::{Source, SourceId},
    store::{Added, Error, Result, SourceWrite, Written},
};
use async_trait::async_trait;
use deadpool_postgres::{GenericClient, Object, Pool, Transaction};
use tokio_postgres::error::SqlState;

use super::super::{
    batcher::BatchedWork,
    client, explain,
    session::{query, query_lists},
    task::{insert_tasks, report},
};
use crate::{
    entry,
    nudge::earliest_reported,
    row::{
        entry_edit_values, entry_renewal_values, entry_values, lists, micros, source_values, values,
    },
    source, unavailable,
};

/// A write and its index in the caller's list.
type Placed<'a> = (usize, &'a SourceWrite);

/// Carries out each write for itself.
pub(in crate::postgres) struct WriteSources {
    pub(in crate::postgres) pool: Pool,
    pub(in crate::postgres) channel: String,
}

#[async_trait]
impl BatchedWork for WriteSources {
    type Item = SourceWrite;
    type Answer = Written;

    async fn run(&self, writes: &[SourceWrite]) -> Result<Vec<Written>> {
        let failed = |error| explain("write sources", error);
        let mut client = client(&self.pool).await?;
        let mut transaction = client.transaction().await.map_err(failed)?;
        let mut answers = vec![Written::Lost; writes.len()];
        for round in rounds(writes) {
            write_round(&mut transaction, &round, &mut answers).await?;
        }
        transaction.commit().await.map_err(failed)?;
        let reported_at = writes
            .iter()
            .filter_map(|w| earliest_reported(&w.event_tasks))
            .min();
        report(&client, &self.channel, reported_at).await;
        Ok(answers)
    }
}

/// What may share a statement, by number: no source twice.
fn rounds(writes: &[SourceWrite]) -> Vec<BTreeMap<i64, Placed<'_>>> {
    let mut rounds: Vec<BTreeMap<i64, Placed<'_>>> = Vec::new();
    let mut seen: BTreeMap<i64, usize> = BTreeMap::new();
    for placed in writes.iter().enumerate() {
        let id = placed.1.source.id.0;
        let round = seen.entry(id).or_insert(0);
        if *round == rounds.len() {
            rounds.push(BTreeMap::new());
        }
        rounds[*round].insert(id, placed);
        *round += 1;
    }
    rounds
}

async fn write_round(
    transaction: &mut Transaction<'_>,
    round: &BTreeMap<i64, Placed<'_>>,
    answers: &mut [Written],
) -> Result<()> {
    let mut won: Vec<&SourceWrite> = Vec::new();
    let all: Vec<&SourceWrite> = round.values().map(|(_, write)| *write).collect();
    for id in update(&*transaction, source::UPDATE_POSTGRES, &all).await? {
        if let Some((place, write)) = round.get(&id) {
            answers[*place] = Written::Done;
            won.push(write);
        }
    }
    let left = round
        .iter()
        .filter(|(_, (place, _))| answers[*place] == Written::Lost);
    let left: BTreeMap<i64, Placed<'_>> = left.map(|(id, placed)| (*id, *placed)).collect();
    if !left.is_empty() {
        for (place, write) in moving(&*transaction, &left).await? {
            answers[place] = relocate(transaction, write).await?;
            if answers[place] == Written::Done {
                won.push(write);
            }
        }
    }
    change_entries(&*transaction, &won).await?;
    insert_entries(&*transaction, &won).await?;
    let events = won.iter().flat_map(|write| {
        let at_us = micros(write.at);
        write.event_tasks.iter().map(move |new| (0, at_us, new))
    });
    insert_tasks(&*transaction, events.collect())
        .await
        .map(|_| ())
}

/// Carries out `text` for these; the numbers of the rows it took.
async fn update(
    client: &impl GenericClient,
    text: &str,
    writes: &[&SourceWrite],
) -> Result<Vec<i64>> {
    let mut rows = Vec::with_capacity(writes.len());
    for write in writes {
        let mut values = source_values(&write.source, write.at)?;
        values.extend(values![write.source.id.0, write.source.version]);
        rows.push(values);
    }
    let taken = query_lists(client, "write sources", text, lists(rows)).await?;
    Ok(taken.iter().map(|row| row.get(0)).collect())
}

/// Those that were not taken because their address changes, in the order asked; the others are
/// lost.
async fn moving<'a>(
    client: &impl GenericClient,
    left: &BTreeMap<i64, Placed<'a>>,
) -> Result<Vec<Placed<'a>>> {
    let ids: Vec<i64> = left.keys().copied().collect();
    let (name, text) = ("find moved sources", source::SEEN_POSTGRES);
    let rows = query(client, name, text, &[&ids]).await?;
    let moves = rows.iter().filter_map(|row| {
        let placed = left.get(&row.get(0))?;
        let Source {
            version,
            definition,
            ..
        } = &placed.1.source;
        let moves = *version == row.get::<_, i64>(1) && definition.address != row.get::<_, &str>(2);
        moves.then_some(*placed)
    });
    let mut moves: Vec<Placed<'a>> = moves.collect();
    moves.sort_by_key(|(place, _)| *place);
    Ok(moves)
}

/// Writes one source with its new address, unless that is taken.
async fn relocate(transaction: &mut Transaction<'_>, write: &SourceWrite) -> Result<Written> {
    let failed = |error| explain("move source", error);
    let savepoint = transaction.savepoint("moved").await.map_err(failed)?;
    match update(&savepoint, source::MOVE_POSTGRES, &[write]).await {
        Ok(taken) => {
            savepoint.commit().await.map_err(failed)?;
            Ok(match taken.as_slice() {
                [] => Written::Lost,
                _ => Written::Done,
            })
        }
        Err(error) if is_taken(&error) => {
            savepoint.rollback().await.map_err(failed)?;
            let address = &write.source.definition.address;
            let row = transaction
                .query_opt(source::AT, &[address])
                .await
                .map_err(failed)?;
            // Its owner may have gone meanwhile: deciding again finds it free.
            Ok(row.map_or(Written::Lost, |row| Written::Taken(SourceId(row.get(0)))))
        }
        Err(error) => Err(error),
    }
}

fn is_taken(error: &Error) -> bool {
    let Error::Refused { source, .. } = error else {
        return false;
    };
    let cause = source.downcast_ref::<tokio_postgres::error::DbError>();
    cause.is_some_and(|cause| *cause.code() == SqlState::UNIQUE_VIOLATION)
}

/// Renews keys first: one that another entry gives up is free for a new one.
async fn change_entries(client: &impl GenericClient, won: &[&SourceWrite]) -> Result<()> {
    let changes = || {
        let all = won.iter();
        all.flat_map(|write| write.edited.iter().map(move |change| (*write, change)))
    };
    let renewed = changes().filter_map(|(write, it)| entry_renewal_values(write.source.id, it));
    query_lists(client, "renew keys", entry::RENEW_POSTGRES, lists(renewed)).await?;
    let edited =
        changes().filter_map(|(write, it)| entry_edit_values(write.source.id, write.at, it));
    query_lists(client, "edit entries", entry::EDIT_POSTGRES, lists(edited))
        .await
        .map(drop)
}

async fn insert_entries(client: &impl GenericClient, won: &[&SourceWrite]) -> Result<()> {
    let found = lists(won.iter().flat_map(|write| {
        let entries = write.entries.iter();
        entries.map(|entry| entry_values(write.source.id, write.at, entry))
    }));
    query_lists(client, "write entries", entry::INSERT_POSTGRES, found)
        .await
        .map(drop)
}

/// Adds sources in one transaction, each unless its address is taken.
pub(super) async fn add(client: &mut Object, sources: &[Source]) -> Result<Vec<Added>> {
    let failed = |error| explain("add sources", error);
    if sources.is_empty() {
        return Ok(Vec::new());
    }
    let transaction = client.transaction().await.map_err(failed)?;
    transaction
        .batch_execute(source::ADD_ALONE_POSTGRES)
        .await
        .map_err(failed)?;
    let mut new = insert(&transaction, sources).await?;
    let addresses = || sources.iter().map(|new| new.definition.address.as_str());
    let taken: Vec<&str> = addresses().filter(|at| !new.contains_key(*at)).collect();
    let rows = transaction
        .query(source::AT_POSTGRES, &[&taken])
        .await
        .map_err(failed)?;
    let existing: BTreeMap<String, i64> = rows.iter().map(|row| (row.get(0), row.get(1))).collect();
    transaction.commit().await.map_err(failed)?;
    let written = new.clone();
    let answer = |address: &str| {
        if let Some(id) = new.remove(address) {
            return Ok(Added::New(SourceId(id)));
        }
        let known = written.get(address).or_else(|| existing.get(address));
        let why = "a source at a wanted address was removed meanwhile";
        let gone = || unavailable("add sources", why);
        known
            .map(|id| Added::Exists(SourceId(*id)))
            .ok_or_else(gone)
    };
    addresses().map(answer).collect()
}

/// The numbers of the new rows, by address.
async fn insert(client: &impl GenericClient, sources: &[Source]) -> Result<BTreeMap<String, i64>> {
    let mut new = Vec::with_capacity(sources.len());
    for source in sources {
        let mut values = source_values(source, source.updated_at)?;
        values.extend(values![source.created_at]);
        new.push(values);
    }
    let rows = query_lists(client, "add sources", source::INSERT_POSTGRES, lists(new)).await?;
    Ok(rows.iter().map(|row| (row.get(0), row.get(1))).collect())
}
