//! Changes of rows that exist, on PostgreSQL.

use almanack_core::{
    reschedule::{Amend, Change, Requested},
    store::Result,
    task::{Expiry, Payload},
};
use deadpool_postgres::GenericClient;
use tokio_postgres::types::ToSql;

use super::{
    repeat::bound_all,
    session::{column, query},
    task::{Placed, options_of, tag, untag},
};
use crate::{
    row::{micros, small},
    task,
};

/// A change of a row that exists, and its index in the caller's list.
pub(super) type Amended<'a> = (usize, &'a Change, &'a Amend);

/// The indexes whose rows were still as the decision saw them.
pub(super) async fn amend_all(
    client: &impl GenericClient,
    placed: &[Placed<'_>],
) -> Result<Vec<usize>> {
    let mut rows: Vec<Amended<'_>> = placed
        .iter()
        .filter_map(|(place, change)| Some((*place, *change, change.amend.as_ref()?)))
        .collect();
    if rows.is_empty() {
        return Ok(Vec::new());
    }
    rows.sort_by_key(|(_, _, amend)| amend.guard.task_id);
    let mut lists = lists_of_moves(&rows);
    let text = if rows.iter().all(is_move) {
        task::MOVE_POSTGRES
    } else {
        lists.extend(lists_beside(&rows)?);
        task::AMEND_POSTGRES
    };
    let lists: Vec<&(dyn ToSql + Sync)> = lists.iter().map(|list| &**list as _).collect();
    let changed = query(client, "amend tasks", text, &lists).await?;
    bound_all(client, &rows).await?;
    let place = |row: &tokio_postgres::Row| {
        let position = usize::try_from(row.get::<_, i64>(0)).ok()?;
        rows.get(position - 1).map(|(place, ..)| *place)
    };
    let held: Vec<usize> = changed.iter().filter_map(place).collect();
    retag(client, &rows, &held).await?;
    Ok(held)
}

/// Whether a task only gets another time, or none, and nothing else is to be written or cleared.
fn is_move((_, change, amend): &Amended<'_>) -> bool {
    let says_more = amend.payload.is_some() || amend.tags.is_some() || amend.share_key.is_some();
    let has_more = amend.expiry != Expiry::NEVER || amend.call_options.is_some();
    let has_own_answer = change.insert.is_some() || change.requested.is_some();
    amend.current && !says_more && !has_more && !has_own_answer
}

/// A list per parameter of a statement.
type OwnLists<'a> = Vec<Box<dyn ToSql + Sync + Send + 'a>>;

/// What every change of a row says.
fn lists_of_moves<'a>(rows: &'a [Amended<'a>]) -> OwnLists<'a> {
    vec![
        Box::new(column(rows, |r| r.2.guard.task_id.0)),
        Box::new(column(rows, |r| r.2.guard.status.as_str())),
        Box::new(column(rows, |r| r.2.guard.term.0)),
        Box::new(column(rows, |r| small(r.2.guard.decisions))),
        Box::new(column(rows, |r| r.2.status.as_str())),
        Box::new(column(rows, |r| micros(r.2.execute_at))),
        Box::new(column(rows, |r| r.2.waits.then(|| micros(r.2.execute_at)))),
        Box::new(column(rows, |r| r.2.callback_url.as_deref())),
        Box::new(column(rows, |r| i32::from(r.2.priority.level()))),
        Box::new(column(rows, |r| small(r.2.max_retry))),
        Box::new(column(rows, |r| r.2.revision.0)),
        Box::new(column(rows, |r| micros(r.1.decided_at))),
        Box::new(column(rows, |r| r.1.origin.as_str())),
        Box::new(column(rows, |r| r.1.rule.as_str())),
        Box::new(column(rows, |r| micros(r.2.old_execute_at))),
    ]
}

/// What few of them say besides.
fn lists_beside<'a>(rows: &'a [Amended<'a>]) -> Result<OwnLists<'a>> {
    let requested = |r: &Amended<'_>| r.1.requested;
    Ok(vec![
        Box::new(column(rows, |r| r.2.current)),
        Box::new(column(rows, |r| r.2.payload.as_ref().map(Payload::as_str))),
        Box::new(column(rows, |(_, change, amend)| {
            let new = change.insert.as_ref();
            micros(new.map_or(amend.execute_at, |new| new.execute_at))
        })),
        Box::new(column(rows, |(_, change, amend)| {
            let new = change.insert.as_ref();
            new.map_or(amend.revision, |new| new.revision).0
        })),
        Box::new(column(rows, |r| {
            r.1.requested.as_ref().map(Requested::name)
        })),
        Box::new(column(rows, |r| requested(r)?.execute_at.map(micros))),
        Box::new(column(rows, |r| {
            requested(r)?.revision.map(|revision| revision.0)
        })),
        Box::new(column(rows, |r| r.2.expiry.at.map(micros))),
        Box::new(column(rows, |r| r.2.expiry.after_s.map(small))),
        Box::new(options_of(rows, |r| r.2.call_options.as_deref())?),
        Box::new(column(rows, |r| {
            r.2.tags.as_ref().map(|tags| tags.after.as_text())
        })),
        Box::new(column(rows, |r| r.2.share_key.as_deref())),
    ])
}

/// Keeps the index of tags in step with the rows that were changed.
async fn retag(client: &impl GenericClient, rows: &[Amended<'_>], held: &[usize]) -> Result<()> {
    let retagged = || {
        let held = rows.iter().filter(|(place, ..)| held.contains(place));
        held.filter_map(|(_, _, amend)| Some((amend.guard.task_id.0, amend.tags.as_ref()?)))
    };
    let before = retagged().map(|(id, tags)| (id, tags.before.as_text()));
    untag(client, &before.collect::<Vec<_>>()).await?;
    let after = retagged().map(|(id, tags)| (id, tags.after.as_text()));
    tag(client, &after.collect::<Vec<_>>()).await
}
