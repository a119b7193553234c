//! Many tasks in one call.
//!
//! Each item is read and executed separately: an error in one is reported in its position and does
//! not stop the others. Only with an `Idempotency-Key` is the call all or nothing.

use almanack_core::both;
use serde_json::value::RawValue;

use crate::call::{OnceHeader, read_object};
use crate::idempotency::{Answers, ChangeRequests, ask_all};
use crate::prelude::*;
use crate::{receipts::ReceiptView, tasks::body::ItemBody};

/// The tasks to create or reschedule.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct BatchBody<'a> {
    #[serde(borrow)]
    #[schema(value_type = Vec<ItemBody<'a>>)]
    tasks: Vec<&'a RawValue>,
}

/// The result of each item, in request order.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct BatchView {
    receipts: Vec<ItemView>,
}

/// A receipt, or the problem with the item.
#[derive(Debug, Serialize, ToSchema)]
#[serde(untagged)]
pub(crate) enum ItemView {
    /// The item was accepted.
    Receipt(ReceiptView),
    /// The item was refused; nothing was stored.
    Refused {
        /// Why it was refused.
        error: Problem,
    },
}

impl From<Answers> for BatchView {
    fn from(answers: Answers) -> Self {
        let view = |answer| match answer {
            Ok((identity, receipt)) => ItemView::Receipt(ReceiptView { identity, receipt }),
            Err(error) => ItemView::Refused { error },
        };
        Self {
            receipts: answers.into_iter().map(view).collect(),
        }
    }
}

/// Create or reschedule many tasks.
#[utoipa::path(
    post, path = "/api/v1/tasks:batch", tag = "tasks",
    params(OnceHeader),
    request_body = BatchBody,
    responses((status = 200, description = "The result of each item, in order", body = BatchView)),
)]
pub(crate) async fn put_batch(State(state): App, call: Call) -> Result<Json<BatchView>> {
    let body: BatchBody = call.json()?;
    check_count(body.tasks.len(), state.limits.batch_items_max)?;
    let read = |item: &RawValue| read_object::<ItemBody>(item.get())?.into_request(&state.limits);
    let requests: ChangeRequests = body.tasks.iter().map(|item| read(item)).collect();
    let answers = ask_all(&state, &call, requests, &call.requester.origin()).await?;
    Ok(Json(answers.into()))
}

/// Refuses a call with too many items.
pub(crate) fn check_count(given: usize, max: usize) -> Result<()> {
    if given <= max {
        return Ok(());
    }
    let detail = both!(
        "{given} items in one call; the limit is {max}",
        "一次调用中有 {given} 个条目；上限为 {max}"
    );
    Err(Problem::new(Code::TooManyItems, detail))
}
