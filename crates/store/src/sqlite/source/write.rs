//! Writing sources on SQLite. There is no other writer, so what is read here holds until it is
//! written.

use almanack_core::{
    source::{Source, SourceId},
    store::{Added, EntryRetention, PrunedEntries, SourceWrite, Written},
};
use rusqlite::{Connection, params, params_from_iter};

use super::number;
use crate::{
    entry::{self, Kept, doomed},
    row::{
        Row, entry_edit_values, entry_renewal_values, entry_values, hashes, micros, most,
        source_values, unreadable, values,
    },
    source,
    sqlite::{task::insert_all, thread::Outcome},
};

/// Adds one source, unless its address is taken.
pub(super) fn add(connection: &Connection, new: &Source) -> Outcome<Added> {
    let mut values = source_values(new, new.updated_at)?;
    values.extend(values![new.created_at]);
    let mut statement = connection.prepare_cached(source::INSERT_SQLITE)?;
    if statement.execute(params_from_iter(values))? == 1 {
        return Ok(Added::New(SourceId(connection.last_insert_rowid())));
    }
    let taken_by = number(connection, source::AT, [&new.definition.address])?;
    let taken_by = taken_by.ok_or_else(|| unreadable("a taken address without its owner"))?;
    Ok(Added::Exists(SourceId(taken_by)))
}

/// Writes one source and what it published, or nothing of it.
pub(super) fn write(connection: &Connection, write: &SourceWrite) -> Outcome<Written> {
    let written = take(connection, write)?;
    if written == Written::Done {
        if !write.edited.is_empty() {
            change(connection, write)?;
        }
        if !write.entries.is_empty() {
            insert(connection, write)?;
        }
        insert_all(connection, &write.event_tasks, micros(write.at))?;
    }
    Ok(written)
}

/// Takes the row: most writes are quiet, and a conflict with another is looked for only
/// then.
fn take(connection: &Connection, write: &SourceWrite) -> Outcome<Written> {
    let Source {
        id,
        version,
        definition,
        ..
    } = &write.source;
    let mut values = source_values(&write.source, write.at)?;
    values.extend(values![id.0, *version]);
    let mut quiet = connection.prepare_cached(source::UPDATE_QUIETLY_SQLITE)?;
    if quiet.execute(params_from_iter(&values))? == 1 {
        return Ok(Written::Done);
    }
    if number(connection, source::SEEN_SQLITE, [id.0])? != Some(*version) {
        return Ok(Written::Lost);
    }
    match number(connection, source::AT, [&definition.address])? {
        Some(other) if other != id.0 => Ok(Written::Taken(SourceId(other))),
        _ => {
            let mut any = connection.prepare_cached(source::UPDATE_SQLITE)?;
            any.execute(params_from_iter(&values))?;
            Ok(Written::Done)
        }
    }
}

fn insert(connection: &Connection, write: &SourceWrite) -> Outcome<()> {
    let mut statement = connection.prepare_cached(entry::INSERT_SQLITE)?;
    for entry in &write.entries {
        let values = entry_values(write.source.id, write.at, entry);
        statement.execute(params_from_iter(values))?;
    }
    Ok(())
}

/// Renews keys first: one that another entry gives up is free for a new one.
fn change(connection: &Connection, write: &SourceWrite) -> Outcome<()> {
    let (source, changes) = (write.source.id, &write.edited);
    let mut renew = connection.prepare_cached(entry::RENEW_SQLITE)?;
    for values in changes
        .iter()
        .filter_map(|it| entry_renewal_values(source, it))
    {
        renew.execute(params_from_iter(values))?;
    }
    let mut edit = connection.prepare_cached(entry::EDIT_SQLITE)?;
    for values in changes
        .iter()
        .filter_map(|it| entry_edit_values(source, write.at, it))
    {
        edit.execute(params_from_iter(values))?;
    }
    Ok(())
}

/// One step of retention.
pub(super) fn prune(
    connection: &Connection,
    retention: EntryRetention,
    after: SourceId,
    limit: usize,
) -> Outcome<PrunedEntries> {
    let walked = next_rows(connection, after, limit)?;
    let mut rows = 0;
    for (id, version, shown) in &walked {
        rows += prune_one(connection, (*id, *version), shown, retention)?;
    }
    let last = walked.last().filter(|_| walked.len() == limit);
    Ok(PrunedEntries {
        rows,
        next: last.map(|(id, ..)| SourceId(*id)),
    })
}

/// Number, version and what is shown of the next sources.
fn next_rows(
    connection: &Connection,
    after: SourceId,
    limit: usize,
) -> Outcome<Vec<(i64, i64, Vec<u64>)>> {
    let mut statement = connection.prepare_cached(source::NEXT_ROWS)?;
    let mut rows = statement.query(params![after.0, most(limit)])?;
    let mut walked = Vec::new();
    while let Some(row) = rows.next()? {
        let row = Row::from(row);
        walked.push((row.get(0)?, row.get(1)?, hashes(&row.get::<Vec<u8>>(2)?)));
    }
    Ok(walked)
}

fn prune_one(
    connection: &Connection,
    (id, version): (i64, i64),
    shown: &[u64],
    retention: EntryRetention,
) -> Outcome<usize> {
    let mut statement = connection.prepare_cached(entry::KEPT_SQLITE)?;
    let mut rows = statement.query([id])?;
    let mut newest = Vec::new();
    while let Some(row) = rows.next()? {
        newest.push(Kept::read(&row.into())?.1);
    }
    let doomed = doomed(&newest, shown, retention);
    if doomed.ids.is_empty() {
        return Ok(0);
    }
    connection
        .prepare_cached(source::NOTE_PRUNED_SQLITE)?
        .execute(params![id, version, doomed.pruned_before_us])?;
    let mut remove = connection.prepare_cached(entry::REMOVE_SQLITE)?;
    for id in &doomed.ids {
        remove.execute([id])?;
    }
    Ok(doomed.ids.len())
}
