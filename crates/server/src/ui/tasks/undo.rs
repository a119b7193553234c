//! Undo: a decision about a task is taken back by another one, as long as it is the newest.

use almanack_core::history::{Decision, Kept};
use almanack_core::reschedule::{Put, Request, Rule};
use almanack_core::reserved::is_reserved;

use super::carry_out;
use crate::call::At;
use crate::receipts::{parse_receipt_id, receipt_id};
use crate::ui::prelude::*;
use crate::ui::undo::{button, moved_on};

#[derive(Debug, Deserialize)]
pub(crate) struct Undoing {
    receipt: String,
}

/// What takes a decision back: a task that waits gets its time again, one that was cancelled
/// before it was tried is put again with everything it had. A time that has passed does not come
/// back.
fn reverse(row: &Task, decision: &Decision, kept: Kept, now: Timestamp) -> Option<Request> {
    let at = match (decision.rule, kept) {
        (Rule::Updated, Kept::Stands) if row.status == Status::Init => decision.old_execute_at?,
        (Rule::Cancelled, Kept::Withdrawn) if row.attempt == 0 && decision.id.number > 0 => {
            decision.execute_at
        }
        _ => return None,
    };
    let is_new = decision.rule == Rule::Cancelled || at != decision.execute_at;
    let may = at > now && is_new && !is_reserved(&row.identity.kind);
    may.then(|| Request::Put(Put::at(row.identity.clone(), at)))
}

/// The button, if there is something to go back to.
pub(super) fn offer(
    viewer: &Viewer,
    (row, decision, kept): (&Task, &Decision, Kept),
) -> Option<Markup> {
    reverse(row, decision, kept, viewer.now).filter(|_| viewer.may(Scope::Operate))?;
    let receipt = hidden([("receipt", receipt_id(decision.id))]);
    let action = format!("{}/undo", task_path(&row.identity));
    Some(button(viewer, &action, &receipt))
}

pub(crate) async fn undo(At(identity): At, filled: Filled<Undoing>) -> Answer {
    let Filled(state, viewer, form) = filled;
    let id = parse_receipt_id(&form.receipt).ok_or_else(moved_on)?;
    let found = state.rescheduler.verify(id).await?;
    let (row, decision, kept) = found
        .filter(|(row, ..)| row.identity == identity)
        .ok_or_else(moved_on)?;
    let request = reverse(&row, &decision, kept, state.clock.now()).ok_or_else(moved_on)?;
    carry_out(&state, &viewer, request).await
}
