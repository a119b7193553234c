//! Documents of editions: the published Markdown or JSON with all inputs, and a preview.

use almanack_core::edition::document::Document;

use super::{Dated, editions_of};
use crate::prelude::*;

const MARKDOWN: &str = "text/markdown; charset=utf-8";

/// Which document.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct DocumentQuery {
    /// Revision to show, from 1. Default: the latest.
    revision: Option<u32>,
}

/// Show the document of an edition as Markdown, or as JSON with all its inputs.
#[utoipa::path(
    get, path = "/api/v1/editions/{date}/document", tag = "editions",
    params(DocumentQuery),
    responses((
        status = 200, description = "The document; JSON if `Accept` names only JSON",
        content((String = "text/markdown"), (Document = "application/json")),
    )),
)]
pub(crate) async fn get_document(
    State(state): App,
    Dated(id): Dated,
    Asked(query): Asked<DocumentQuery>,
    headers: HeaderMap,
) -> Answer {
    let document = editions_of(&state, id)?.show(id, query.revision).await?;
    Ok(answer(document, &headers))
}

/// Preview the document of an edition as it would be rendered now. Nothing is stored.
#[utoipa::path(
    get, path = "/api/v1/editions/{date}/preview", tag = "editions",
    responses((
        status = 200, description = "The document; JSON if `Accept` names only JSON",
        content((String = "text/markdown"), (Document = "application/json")),
    )),
)]
pub(crate) async fn preview_edition(
    State(state): App,
    Dated(id): Dated,
    headers: HeaderMap,
) -> Answer {
    let document = editions_of(&state, id)?.preview(id).await?;
    Ok(answer(document, &headers))
}

fn answer(document: Document, headers: &HeaderMap) -> Response {
    let vary = (header::VARY, HeaderValue::from_static("accept"));
    if wants_json(headers) {
        return ([vary], Json(document)).into_response();
    }
    let markdown = (header::CONTENT_TYPE, HeaderValue::from_static(MARKDOWN));
    ([vary, markdown], document.body).into_response()
}

/// Whether the client accepts JSON and no text.
fn wants_json(headers: &HeaderMap) -> bool {
    let accepted = headers.get_all(header::ACCEPT).into_iter();
    let accepted: Vec<&str> = accepted
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .map(|kind| kind.split(';').next().unwrap_or_default().trim())
        .collect();
    let json = accepted
        .iter()
        .any(|kind| kind.eq_ignore_ascii_case("application/json"));
    json && !accepted.iter().any(|kind| kind.starts_with("text/"))
}
