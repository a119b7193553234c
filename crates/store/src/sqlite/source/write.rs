//! Writing sources on SQLite. Nobody else writes meanwhile, so what is read here holds until it is written.

use almanack_core::{
    source::{Source, SourceId, entry::Found},
    store::{Added, EntryRetention, PrunedEntries, SourceWrite, Written},
};
use rusqlite::{Connection, ToSql, params};

use super::number;
use crate::{
    entry::{self, Kept, doomed},
    row::{Row, SourceColumns, hashes, micros, most, unreadable},
    source,
    sqlite::{task::insert_all, thread::Outcome},
};

/// Adds one source, unless its address is taken.
pub(super) fn add(connection: &Connection, new: &Source) -> Outcome<Added> {
    let columns = SourceColumns::of(new, new.updated_at)?;
    let created_at = micros(new.created_at);
    let mut values = columns.values();
    values.push(&created_at);
    let mut statement = connection.prepare_cached(source::INSERT_SQLITE)?;
    if statement.execute(values.as_slice())? == 1 {
        return Ok(Added::New(SourceId(connection.last_insert_rowid())));
    }
    let taken_by = number(connection, source::AT, [&new.definition.address])?;
    let taken_by = taken_by.ok_or_else(|| unreadable("an address that is taken by nobody"))?;
    Ok(Added::Exists(SourceId(taken_by)))
}

/// Writes one source and what it published, or nothing of it.
pub(super) fn write(connection: &Connection, write: &SourceWrite) -> Outcome<Written> {
    let written = take(connection, write)?;
    if written == Written::Done {
        if !write.entries.is_empty() {
            insert(connection, write)?;
        }
        insert_all(connection, &write.tells, micros(write.at))?;
    }
    Ok(written)
}

/// Takes the row: most writes are quiet, and what stands in the way of another is looked for only then.
fn take(connection: &Connection, write: &SourceWrite) -> Outcome<Written> {
    let Source {
        id,
        version,
        definition,
        ..
    } = &write.source;
    let columns = SourceColumns::of(&write.source, write.at)?;
    let mut values = columns.values();
    values.extend([&id.0 as &dyn ToSql, version]);
    let mut quiet = connection.prepare_cached(source::UPDATE_QUIETLY_SQLITE)?;
    if quiet.execute(values.as_slice())? == 1 {
        return Ok(Written::Done);
    }
    if number(connection, source::SEEN_SQLITE, [id.0])? != Some(*version) {
        return Ok(Written::Lost);
    }
    match number(connection, source::AT, [&definition.address])? {
        Some(other) if other != id.0 => Ok(Written::Taken(SourceId(other))),
        _ => {
            let mut any = connection.prepare_cached(source::UPDATE_SQLITE)?;
            any.execute(values.as_slice())?;
            Ok(Written::Done)
        }
    }
}

fn insert(connection: &Connection, write: &SourceWrite) -> Outcome<()> {
    let mut statement = connection.prepare_cached(entry::INSERT_SQLITE)?;
    for (key, found) in &write.entries {
        let Found {
            id: _,
            link,
            title,
            published_at,
            author,
            summary,
            content,
        } = found;
        statement.execute(params![
            write.source.id.0,
            key,
            micros(write.at),
            link,
            title,
            published_at.map(micros),
            author,
            summary,
            content,
        ])?;
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
        walked.push((row.big(0)?, row.big(1)?, hashes(&row.bytes(2)?)));
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
