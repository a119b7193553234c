//! How much waits, lane by lane, added up into one figure per kind.

use almanack_core::{
    store::{Depth, Result},
    task::Kind,
};
use jiff::Timestamp;

use crate::{
    claim,
    row::{Row, nearest, values},
    session::Session,
    task,
};

pub(crate) async fn load(session: &dyn Session, now: &Timestamp) -> Result<Vec<Depth>> {
    let lanes = session.rows(claim::LANES, &[], |row| {
        Ok((row.text(0)?, row.get::<i32>(1)?))
    });
    let mut depths = Vec::new();
    for (name, priority) in lanes.await? {
        let Ok(kind) = Kind::parse(&name) else {
            continue;
        };
        let key = values![name, priority, *now];
        let lane = session.one(task::DEPTH, &key, |row| depth(&kind, row));
        if let Some(lane) = lane.await? {
            add(&mut depths, lane);
        }
    }
    Ok(depths)
}

fn depth(kind: &Kind, row: &Row<'_>) -> Result<Depth> {
    Ok(Depth {
        kind: kind.clone(),
        waiting: row.get(0)?,
        due: row.get(1)?,
        first_due_at: row.get::<Option<i64>>(2)?.map(nearest),
    })
}

/// Adds a lane to its kind. Lanes arrive ordered by kind.
fn add(depths: &mut Vec<Depth>, lane: Depth) {
    match depths.last_mut() {
        Some(last) if last.kind == lane.kind => {
            last.waiting += lane.waiting;
            last.due += lane.due;
            last.first_due_at = match (last.first_due_at, lane.first_due_at) {
                (Some(a), Some(b)) => Some(a.min(b)),
                (a, b) => a.or(b),
            };
        }
        _ => depths.push(lane),
    }
}
