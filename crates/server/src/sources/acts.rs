//! Actions on a source besides changing it: check now, pause, resume.

use super::{Numbered, refuse_key, view::SourceView, written};
use crate::prelude::*;
use crate::receipts::{ReceiptView, answer};

/// Check a source as soon as a node has capacity.
///
/// The answer is the receipt of its task. A paused or ended source is refused; resume it first.
#[utoipa::path(
    post, path = "/api/v1/sources/{id}/check", tag = "sources",
    responses(
        (status = 201, description = "A new task was created", body = ReceiptView),
        (status = 200, description = "Its task was rescheduled, or is already due", body = ReceiptView),
    ),
)]
pub(crate) async fn check_source(State(state): App, Numbered(id): Numbered, call: Call) -> Answer {
    refuse_key(&call)?;
    let receipt = state
        .sources
        .check_now(id, &call.requester.origin())
        .await?;
    Ok(answer(id.identity()?, receipt))
}

#[derive(Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PauseSourceBody {
    /// The reason, shown to others.
    #[schema(max_length = 500)]
    pub(crate) note: Option<String>,
}

/// Pause a source until it is resumed.
#[utoipa::path(
    post, path = "/api/v1/sources/{id}/pause", tag = "sources",
    request_body = PauseSourceBody,
    responses((status = 200, description = "The source after the change", body = SourceView)),
)]
pub(crate) async fn pause_source(State(state): App, Numbered(id): Numbered, call: Call) -> Answer {
    refuse_key(&call)?;
    let body: PauseSourceBody = call.json_or_default()?;
    let by = call.requester.origin();
    let paused = state.sources.pause(id, body.note, &by).await?;
    written(&state, StatusCode::OK, paused).await
}

/// Resume a paused or ended source and check it at once.
#[utoipa::path(
    post, path = "/api/v1/sources/{id}/resume", tag = "sources",
    responses((status = 200, description = "The source after the change", body = SourceView)),
)]
pub(crate) async fn resume_source(State(state): App, Numbered(id): Numbered, call: Call) -> Answer {
    refuse_key(&call)?;
    let resumed = state.sources.resume(id, &call.requester.origin()).await?;
    written(&state, StatusCode::OK, resumed).await
}
