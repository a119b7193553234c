//! What people do with a source besides describing it: check it now, pause it, resume it.

use super::{Numbered, refuse_key, view::SourceView, written};
use crate::prelude::*;
use crate::receipts::{ReceiptView, answer};

/// Check a source as soon as a node has room.
///
/// The answer is the receipt of its task. One that is paused or has ended comes back by this.
#[utoipa::path(
    post, path = "/api/v1/sources/{id}/check", tag = "sources",
    params(Numbered),
    responses(
        (status = 201, description = "A new task checks it", body = ReceiptView),
        (status = 200, description = "Its task was moved, or is due already", body = ReceiptView),
    ),
)]
pub(crate) async fn check_source(State(state): App, Numbered(id): Numbered, call: Call) -> Answer {
    refuse_key(&call)?;
    let receipt = state
        .sources
        .check_now(id, &call.requester.origin())
        .await?;
    Ok(answer(&id.identity()?, &receipt))
}

/// Why a source is paused.
#[derive(Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PauseSourceBody {
    /// Why, for whoever looks later.
    #[schema(max_length = 500)]
    note: Option<String>,
}

/// Stop checking a source, until it is resumed.
#[utoipa::path(
    post, path = "/api/v1/sources/{id}/pause", tag = "sources",
    params(Numbered),
    request_body = PauseSourceBody,
    responses((status = 200, description = "The source afterwards", body = SourceView)),
)]
pub(crate) async fn pause_source(State(state): App, Numbered(id): Numbered, call: Call) -> Answer {
    refuse_key(&call)?;
    let body: PauseSourceBody = call.json_or_default()?;
    let by = call.requester.origin();
    let paused = state.sources.pause(id, body.note, &by).await?;
    written(&state, StatusCode::OK, paused).await
}

/// Check a paused or ended source again, at once.
#[utoipa::path(
    post, path = "/api/v1/sources/{id}/resume", tag = "sources",
    params(Numbered),
    responses((status = 200, description = "The source afterwards", body = SourceView)),
)]
pub(crate) async fn resume_source(State(state): App, Numbered(id): Numbered, call: Call) -> Answer {
    refuse_key(&call)?;
    let resumed = state.sources.resume(id, &call.requester.origin()).await?;
    written(&state, StatusCode::OK, resumed).await
}
