//! Documents rendered again from their stored inputs: to prove that they are reproducible, or to
//! see what another template would change; and the current edition day.

use almanack_core::both;
use almanack_core::edition::EditionId;

use super::{Dated, editions_named, editions_of, pages, parse_name, refuse_key};
use crate::prelude::*;

/// The current day of editions.
#[derive(Serialize, ToSchema)]
pub(crate) struct TodayView {
    /// Today, in the time zone of the edition.
    #[schema(format = Date, example = "2026-01-05")]
    date: String,
    /// Name of the edition.
    #[schema(example = "default")]
    name: String,
    /// What identifies its edition of today: `DATE`, or `NAME@DATE` if it has a name.
    #[schema(example = "2026-01-05")]
    edition: String,
}

/// Which edition.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct TodayQuery {
    /// Name of the edition. Default: the one that is configured without.
    name: Option<String>,
}

/// Show today's date in the time zone of an edition.
#[utoipa::path(
    get, path = "/api/v1/editions/today", tag = "editions",
    params(TodayQuery),
    responses((status = 200, description = "The day", body = TodayView)),
)]
pub(crate) async fn today(
    State(state): App,
    Asked(query): Asked<TodayQuery>,
) -> Result<Json<TodayView>> {
    let name = query.name.as_deref().map(parse_name).transpose()?;
    let today = editions_named(&state, name.unwrap_or_default())?.today();
    Ok(Json(TodayView {
        date: today.date.to_string(),
        name: today.name.to_string(),
        edition: today.to_string(),
    }))
}

/// What to render again, and with which template.
#[derive(Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RebuildBody {
    /// Revision to render, from 1. Default: the latest.
    revision: Option<u32>,
    /// Another template. Default: the stored one.
    template: Option<String>,
    /// Another template of readers' pages: the two texts are then pages, as they are and as they
    /// would be. Not together with `template`.
    page_template: Option<String>,
}

/// The stored document, and the document rendered now.
#[derive(Serialize, ToSchema)]
pub(crate) struct RebuiltView {
    /// Day of the edition.
    #[schema(format = Date, example = "2026-01-05")]
    date: String,
    /// Name of the edition.
    #[schema(example = "default")]
    name: String,
    /// The revision.
    revision: u32,
    /// Whether inputs, template and output are identical byte for byte.
    identical: bool,
    /// SHA-256 of the stored Markdown.
    body_digest: String,
    /// The stored Markdown, or the page as it is.
    kept: String,
    /// The Markdown as rendered now, or the page with the other template.
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
    Dated(id): Dated,
    call: Call,
) -> Result<Json<RebuiltView>> {
    refuse_key(&call)?;
    let body: RebuildBody = call.json_or_default()?;
    if let Some(template) = &body.page_template {
        return compare_pages(&state, id, &body, template).await;
    }
    let template = body.template.as_deref();
    let rebuilt = editions_of(&state, id)?
        .rebuild(id, body.revision, template)
        .await?;
    Ok(Json(RebuiltView {
        date: id.date.to_string(),
        name: id.name.to_string(),
        revision: rebuilt.document.inputs.revision,
        identical: rebuilt.identical,
        body_digest: rebuilt.document.body_digest,
        kept: rebuilt.document.body,
        body: rebuilt.body,
    }))
}

/// The page of a document as it is, and as another template would show it.
async fn compare_pages(
    state: &AppState,
    id: EditionId,
    body: &RebuildBody,
    template: &str,
) -> Result<Json<RebuiltView>> {
    if body.template.is_some() {
        let detail = both!(
            "page_template cannot be given together with template",
            "page_template 不能与 template 同时给出"
        );
        return Err(Problem::invalid("page_template", detail));
    }
    let document = editions_of(state, id)?.show(id, body.revision).await?;
    let compared = pages::compare(state, &document, template);
    let (kept, page) = compared.map_err(|bad| Problem::invalid("page_template", bad.0))?;
    Ok(Json(RebuiltView {
        date: id.date.to_string(),
        name: id.name.to_string(),
        revision: document.inputs.revision,
        identical: kept == page,
        body_digest: document.body_digest,
        kept,
        body: page,
    }))
}
