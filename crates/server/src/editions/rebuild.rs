//! Documents made again from what was kept of them: to prove that they still come out the same, or
//! to see what another template would change; and which day it is for editions.

use super::{Dated, editions, refuse_key};
use crate::prelude::*;

/// The day that is made now.
#[derive(Serialize, ToSchema)]
pub(crate) struct TodayView {
    /// Today, by the clock of editions.
    #[schema(format = Date, example = "2026-01-05")]
    date: String,
}

/// Which day it is for editions, in their time zone.
#[utoipa::path(
    get, path = "/api/v1/editions/today", tag = "editions",
    responses((status = 200, description = "The day", body = TodayView)),
)]
pub(crate) async fn today(State(state): App) -> Result<Json<TodayView>> {
    let date = editions(&state)?.today().to_string();
    Ok(Json(TodayView { date }))
}

/// What to make again, and with what.
#[derive(Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RebuildBody {
    /// Which revision, from 1; the newest when nobody says otherwise.
    revision: Option<u32>,
    /// Another template; the one that was kept when nobody says otherwise.
    template: Option<String>,
}

/// A document as it was kept, and as it comes out now.
#[derive(Serialize, ToSchema)]
pub(crate) struct RebuiltView {
    /// The edition's day.
    #[schema(format = Date, example = "2026-01-05")]
    date: String,
    /// Which revision.
    revision: u32,
    /// Whether inputs, template and output are byte for byte what they were.
    identical: bool,
    /// SHA-256 of the Markdown that was kept.
    body_digest: String,
    /// The Markdown that was kept.
    kept: String,
    /// The Markdown as it comes out now.
    body: String,
}

/// Make a document again from what was kept of it. Nothing is stored.
#[utoipa::path(
    post, path = "/api/v1/editions/{date}/rebuild", tag = "editions",
    params(("date" = String, Path, description = "The edition's day, YYYY-MM-DD")),
    request_body = RebuildBody,
    responses((status = 200, description = "What was kept, and what comes out", body = RebuiltView)),
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
