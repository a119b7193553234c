//! Adding up how much waits, lane by lane, into one figure per kind.

use almanack_core::store::Depth;

/// Adds a lane to its kind. Lanes arrive ordered by kind.
pub(crate) fn add(depths: &mut Vec<Depth>, lane: Depth) {
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
