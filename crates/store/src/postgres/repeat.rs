//! Decisions that change nothing: counted where the same was decided before, and bounded on every row, on PostgreSQL.

use almanack_core::{
    history::{DECISIONS_KEPT, REPEATED_WITHIN},
    reschedule::{Amend, Change, Requested},
    store::Result,
};
use deadpool_postgres::GenericClient;

use super::{explain, task::Placed};
use crate::{
    history,
    row::{micros, small, unreadable},
};

/// Keeps the decisions of long-lived rows within their bound. Most rows are far from it, and cost nothing here.
pub(super) async fn bound_all(
    client: &impl GenericClient,
    rows: &[(usize, &Change, &Amend)],
) -> Result<()> {
    let last = |amend: &Amend| (amend.guard.decisions + 1).saturating_sub(DECISIONS_KEPT);
    let long = rows.iter().filter(|row| last(row.2) > 0);
    let (ids, numbers): (Vec<i64>, Vec<i32>) = long
        .map(|row| (row.2.guard.task_id.0, small(last(row.2))))
        .unzip();
    if ids.is_empty() {
        return Ok(());
    }
    let failed = |error| explain("bound decisions", error);
    let bounded = client
        .execute(history::BOUND_POSTGRES, &[&ids, &numbers])
        .await;
    bounded.map(drop).map_err(failed)
}

/// Counts decisions that were made before; the places of those that were, each with that decision's number. Several of one list may
/// repeat the same: they are counted together.
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
    let failed = |error| explain("count repeated decisions", error);
    let statement = client
        .prepare_cached(history::REPEAT_POSTGRES)
        .await
        .map_err(failed)?;
    let big = |f: fn(&Repeat<'_>) -> i64| groups.iter().map(|g| f(&g.0)).collect::<Vec<_>>();
    let maybe =
        |f: fn(&Repeat<'_>) -> Option<i64>| groups.iter().map(|g| f(&g.0)).collect::<Vec<_>>();
    let int = |f: fn(&Repeat<'_>) -> i32| groups.iter().map(|g| f(&g.0)).collect::<Vec<_>>();
    let times = |places: &Vec<usize>| i32::try_from(places.len()).unwrap_or(i32::MAX);
    let found = client
        .query(
            &statement,
            &[
                &big(|r| r.amend.guard.task_id.0),
                &int(|r| small(r.amend.guard.decisions.saturating_sub(REPEATED_WITHIN))),
                &groups
                    .iter()
                    .map(|g| g.0.change.rule.as_str())
                    .collect::<Vec<_>>(),
                &groups
                    .iter()
                    .map(|g| g.0.change.origin.as_str())
                    .collect::<Vec<_>>(),
                &big(|r| micros(r.amend.execute_at)),
                &big(|r| r.amend.revision.0),
                &groups
                    .iter()
                    .map(|g| g.0.requested.name())
                    .collect::<Vec<_>>(),
                &maybe(|r| r.requested.execute_at.map(micros)),
                &maybe(|r| r.requested.revision.map(|revision| revision.0)),
                &big(|r| micros(r.change.decided_at)),
                &groups
                    .iter()
                    .map(|g| g.0.amend.guard.status.as_str())
                    .collect::<Vec<_>>(),
                &big(|r| r.amend.guard.term.0),
                &int(|r| small(r.amend.guard.decisions)),
                &groups.iter().map(|g| times(&g.1)).collect::<Vec<_>>(),
            ],
        )
        .await
        .map_err(failed)?;
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
