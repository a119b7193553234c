//! Claims of kinds whose tasks take turns, on SQLite.
//!
//! The one writer walks over the keys itself, where PostgreSQL has them in its statement.

use almanack_core::{
    share::{KEYS_MAX, Turn, of_each},
    store::ClaimRequest,
    task::ClaimedTask,
};
use jiff::Timestamp;
use rusqlite::{CachedStatement, Connection, OptionalExtension as _, params};

use crate::{
    claim,
    lanes::Lane,
    row::{micros, most},
    sqlite::{
        claim::{claim_from, take},
        thread::Outcome,
    },
};

/// Takes from a lane key by key ([`almanack_core::share`]), and fills what is left by time; the
/// last key that had its turn. The earliest task goes first where the turn says so, and is one of
/// those that its key has.
pub(super) fn claim_by_turns(
    connection: &Connection,
    request: &ClaimRequest,
    (lane, turn): (&Lane, &Turn),
    share: usize,
) -> Outcome<(Vec<ClaimedTask>, Option<String>)> {
    let keys = due_keys(connection, (lane, turn), request.now, share)?;
    let of_each = of_each(share, keys.len());
    let earliest = usize::from(turn.earliest_first).min(share);
    let mut taken = claim_from(connection, request, lane, earliest)?;
    let earliest_of = match taken.first() {
        Some(task) => key_of(connection, task)?,
        None => None,
    };
    let mut last = None;
    for key in &keys {
        let is_its = earliest_of.as_ref() == Some(key);
        let most_of_key = most((of_each - usize::from(is_its)).min(share - taken.len()));
        let found = params![
            request.claim_id.0,
            request.node,
            micros(request.now),
            lane.kind,
            lane.priority,
            most_of_key,
            key,
        ];
        let of_key = take(connection, request, claim::TAKE_KEY_SQLITE, found)?;
        let had_its_turn = is_its || !of_key.is_empty();
        last = Some(key.clone()).filter(|_| had_its_turn).or(last);
        taken.extend(of_key);
    }
    let left = share - taken.len();
    taken.extend(claim_from(connection, request, lane, left)?);
    Ok((taken, last))
}

/// The key of a task, if claims see it.
fn key_of(connection: &Connection, task: &ClaimedTask) -> Outcome<Option<String>> {
    let mut statement = connection.prepare_cached(claim::KEY_OF_SQLITE)?;
    Ok(statement.query_row([task.id.0], |row| row.get(0))?)
}

/// The keys of a lane with due tasks, at most `most`: those behind the turn's last, then the others.
fn due_keys(
    connection: &Connection,
    (lane, turn): (&Lane, &Turn),
    now: Timestamp,
    most: usize,
) -> Outcome<Vec<String>> {
    let mut after = connection.prepare_cached(claim::KEY_AFTER_SQLITE)?;
    let mut from = connection.prepare_cached(claim::KEY_FROM_SQLITE)?;
    let next = |statement: &mut CachedStatement<'_>, key: &str| {
        let read = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?));
        let found = statement.query_row(params![lane.kind, lane.priority, key], read);
        found.optional()
    };
    let (mut keys, mut key, mut wrapped) = (Vec::new(), turn.after.clone(), false);
    for _ in 0..KEYS_MAX {
        let mut found: Option<(String, i64)> = next(&mut after, &key)?;
        if found.is_none() && !wrapped {
            wrapped = true;
            found = next(&mut from, "")?;
        }
        let Some((found, due_at_us)) = found else {
            break;
        };
        if keys.len() >= most || wrapped && found > turn.after {
            break;
        }
        if due_at_us <= micros(now) {
            keys.push(found.clone());
        }
        key = found;
    }
    Ok(keys)
}
