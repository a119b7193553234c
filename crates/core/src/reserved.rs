//! Kinds that belong to the engine.
//!
//! Firings, event deliveries, source checks and the work on editions are tasks, so they can be
//! looked at like any other task. Only the engine creates them: a payload from elsewhere could run
//! a command or have a lie signed, and a tombstone left before a slot would keep it from firing
//! while its ledger says that it fired (SF-04).
//!
//! Two things a person needs remain, and both are about a task that exists and change nothing of
//! what it does: stopping one that waits or runs, and trying one again that failed, sooner than it
//! would be or at all. The task's history names who requested it. Queues have neither, because
//! every event carries a revision.

use crate::{
    bulk::BULK_CHANGE,
    edition::{self, EDITION_RUN, EDITION_TICK},
    event::outgoing,
    newsletter::EDITION_MAIL,
    plan::{DISPATCH, PING_DELIVERY},
    reschedule::{Cancel, Put, Request},
    source::{SOURCE_CHECK, SourceId},
    task::{Identity, Kind, Status, Task},
};

/// All of them.
pub const KINDS: [&str; 7] = [
    DISPATCH,
    outgoing::KIND,
    PING_DELIVERY,
    SOURCE_CHECK,
    EDITION_RUN,
    EDITION_MAIL,
    BULK_CHANGE,
];

/// Whether tasks of this kind are the engine's.
pub fn is_reserved(kind: &Kind) -> bool {
    KINDS.contains(&kind.as_str())
}

/// The kinds that pages leave out unless asked for them: these, and the ticks of editions. Their
/// tasks follow from schedules, sources, subscriptions and editions, whose pages say the same.
pub fn internal_kinds() -> impl Iterator<Item = &'static str> {
    KINDS.into_iter().chain([EDITION_TICK])
}

/// Whether pages leave out tasks of this kind unless asked for them.
pub fn is_internal(kind: &Kind) -> bool {
    internal_kinds().any(|internal| internal == kind.as_str())
}

/// Whether a client may request this of an identity whose current row is `row`.
pub fn may_ask(request: &Request, row: Option<&Task>) -> bool {
    let kind = &request.identity().kind;
    if !is_reserved(kind) {
        return true;
    }
    let Some(row) = row.filter(|_| is_steered_by_hand(kind)) else {
        return false;
    };
    match request {
        Request::Put(put) => {
            let is_sooner = row.due_at.is_none_or(|due_at| put.execute_at <= due_at);
            is_bare(put) && may_try_again(row) && is_sooner
        }
        Request::Cancel(Cancel { revision, .. }) => revision.is_none() && may_stop(row),
    }
}

/// Whether a person may stop this task: any that is live, unless what it works for has a better
/// way.
pub fn may_stop(row: &Task) -> bool {
    let kind = &row.identity.kind;
    row.is_live() && (!is_reserved(kind) || is_steered_by_hand(kind))
}

/// Whether a person may have this task tried again: of the engine's, only one that failed.
pub fn may_try_again(row: &Task) -> bool {
    let kind = &row.identity.kind;
    !is_reserved(kind) || (row.status == Status::Fail && is_steered_by_hand(kind))
}

/// Whether a schedule may put this: work on editions, or a check of a source. What fires and what
/// delivers is made by deciding, never by asking.
pub fn may_fire(identity: &Identity) -> bool {
    match identity.kind.as_str() {
        DISPATCH | outgoing::KIND | PING_DELIVERY | BULK_CHANGE | EDITION_MAIL => false,
        SOURCE_CHECK => SourceId::of(identity).is_some(),
        EDITION_RUN => edition::id_of(identity).is_some(),
        _ => true,
    }
}

/// Pause or resume the source instead of its task, and cancel the bulk change instead of its own.
fn is_steered_by_hand(kind: &Kind) -> bool {
    ![SOURCE_CHECK, BULK_CHANGE].contains(&kind.as_str())
}

/// A time and nothing else.
fn is_bare(put: &Put) -> bool {
    *put == Put::at(put.identity.clone(), put.execute_at)
}

#[cfg(test)]
mod tests;
