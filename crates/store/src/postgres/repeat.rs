//! Decisions that change nothing: counted where the same was decided before, and bounded on every
//! row, on PostgreSQL.

use almanack_core::{
    history::{DECISIONS_KEPT, REPEATED_WITHIN},
    reschedule::{Amend, Change, Requested},
    store::Result,
};
use deadpool_postgres::GenericClient;

use super::{
    amend::Amended,
    session::{column, execute, query},
    task::Placed,
};
use crate::{
    history,
    row::{micros, small, unreadable},
};

/// Keeps the decisions of long-lived rows within their bound. Most rows are far from it, and cost
/// nothing here.
pub(super) async fn bound_all(client: &impl GenericClient, rows: &[Amended<'_>]) -> Result<()> {
    let last = |amend: &Amend| (amend.guard.decisions + 1).saturating_sub(DECISIONS_KEPT);
    let long = rows.iter().filter(|row| last(row.2) > 0);
    let (ids, numbers): (Vec<i64>, Vec<i32>) = long
        .map(|row| (row.2.guard.task_id.0, small(last(row.2))))
        .unzip();
    if ids.is_empty() {
        return Ok(());
    }
    let (name, text) = ("bound decisions", history::BOUND_POSTGRES);
    execute(client, name, text, &[&ids, &numbers])
        .await
        .map(drop)
}

/// Counts decisions that were made before; the indexes of those that were, each with that
/// decision's number. Several of one list may repeat the same: they are counted together.
pub(super) async fn repeat_all(
    client: &impl GenericClient,
    changes: &[Placed<'_>],
) -> Result<Vec<(usize, u32)>> {
    let mut groups: Vec<(Repeat<'_>, Vec<usize>)> = Vec::new();
    for (place, change) in changes {
        let Some(repeat) = Repeat::of(change) else {
            continue;
        };
        match groups.iter_mut().find(|(known, _)| known.is_same(&repeat)) {
            Some((_, places)) => places.push(*place),
            None => groups.push((repeat, vec![*place])),
        }
    }
    if groups.is_empty() {
        return Ok(Vec::new());
    }
    groups.sort_by_key(|(repeat, _)| repeat.amend.guard.task_id);
    let found = query(
        client,
        "count repeated decisions",
        history::REPEAT_POSTGRES,
        &[
            &column(&groups, |g| g.0.amend.guard.task_id.0),
            &column(&groups, |g| {
                small(g.0.amend.guard.decisions.saturating_sub(REPEATED_WITHIN))
            }),
            &column(&groups, |g| g.0.change.rule.as_str()),
            &column(&groups, |g| g.0.change.origin.as_str()),
            &column(&groups, |g| micros(g.0.amend.execute_at)),
            &column(&groups, |g| g.0.amend.revision.0),
            &column(&groups, |g| g.0.requested.name()),
            &column(&groups, |g| g.0.requested.execute_at.map(micros)),
            &column(&groups, |g| {
                g.0.requested.revision.map(|revision| revision.0)
            }),
            &column(&groups, |g| micros(g.0.change.decided_at)),
            &column(&groups, |g| g.0.amend.guard.status.as_str()),
            &column(&groups, |g| g.0.amend.guard.term.0),
            &column(&groups, |g| small(g.0.amend.guard.decisions)),
            &column(&groups, |g| i32::try_from(g.1.len()).unwrap_or(i32::MAX)),
        ],
    )
    .await?;
    let mut repeated = Vec::new();
    for row in found {
        let position = usize::try_from(row.get::<_, i64>(0)).unwrap_or(0);
        let number = u32::try_from(row.get::<_, i32>(1)).map_err(unreadable)?;
        let places = groups.get(position.wrapping_sub(1)).map(|group| &group.1);
        repeated.extend(places.into_iter().flatten().map(|place| (*place, number)));
    }
    Ok(repeated)
}

/// A decision that changes nothing.
struct Repeat<'a> {
    change: &'a Change,
    amend: &'a Amend,
    requested: &'a Requested,
}

impl<'a> Repeat<'a> {
    fn of(change: &'a Change) -> Option<Self> {
        Some(Self {
            change,
            amend: change.amend.as_ref()?,
            requested: change.requested.as_ref()?,
        })
    }

    fn is_same(&self, other: &Self) -> bool {
        let key = |repeat: &Self| {
            (
                repeat.change.rule,
                *repeat.requested,
                repeat.amend.execute_at,
            )
        };
        self.amend.guard == other.amend.guard
            && self.change.origin == other.change.origin
            && key(self) == key(other)
    }
}
