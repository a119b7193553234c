//! Documents rendered again from their stored inputs: to prove that they are reproducible, or to
//! see what another template would change; and the current edition day.

use super::{Dated, editions, refuse_key};
use crate::prelude::*;

/// The current day of editions.
#[derive(Serialize, ToSchema)]
pub(crate) struct TodayView {
    /// Today, in the time zone of editions.
    #[schema(format = Date, example = "2026-01-05")]
    date: String,
}

/// Show today's date in the time zone of editions.
#[utoipa::path(
    get, path = "/api/v1/editions/today", tag = "editions",
    responses((status = 200, description = "The day", body = TodayView)),
)]
pub(crate) async fn today(State(state): App) -> Result<Json<TodayView>> {
    let date = editions(&state)?.today().to_string();
    Ok(Json(TodayView { date }))
}

/// What to render again, and with which template.
#[derive(Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RebuildBody {
    /// Revision to render, from 1. Default: the latest.
    revision: Option<u32>,
    /// Another template. Default: the stored one.
    template: Option<String>,
}

/// The stored document, and the document rendered now.
#[derive(Serialize, ToSchema)]
pub(crate) struct RebuiltView {
    /// Day of the edition.
    #[schema(format = Date, example = "2026-01-05")]
    date: String,
    /// The revision.
    revision: u32,
    /// Whether inputs, template and output are identical byte for byte.
    identical: bool,
    /// SHA-256 of the stored Markdown.
    body_digest: String,
    /// The stored Markdown.
    kept: String,
    /// The Markdown as rendered now.
    body: String,
}

/// Render a document again from its stored inputs. Nothing is stored.
#[utoipa::path(
    post, path = "/api/v1/editions/{date}/rebuild", tag = "editions",
    request_body = RebuildBody,
    responses((status = 200, description = "The stored and the newly rendered document", body = RebuiltView)),
)]
pub(crate) async fn rebuild(
    State(state): App,
    Dated(date): Dated,
    call: Call,
) -> Result<Json<RebuiltView>> {
    refuse_key(&call)?;
    let body: RebuildBody = call.json_or_default()?;
    let template = body.template.as_deref();
    let rebuilt = editions(&state)?
        .rebuild(date, body.revision, template)
        .await?;
    Ok(Json(RebuiltView {
        date: date.to_string(),
        revision: rebuilt.document.inputs.revision,
        identical: rebuilt.identical,
        body_digest: rebuilt.document.body_digest,
        kept: rebuilt.document.body,
        body: rebuilt.body,
    }))
}
