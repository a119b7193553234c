//! Documents of editions: the Markdown that was published, or with all it was made from; and what it would be now.

use std::sync::Arc;

use almanack_core::edition::{
    document::{Document, Printed},
    story::Note,
};
use axum::{
    Json,
    extract::State,
    http::{HeaderMap, HeaderValue, header},
    response::{IntoResponse, Response},
};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::{Dated, editions};
use crate::{AppState, call::Asked, problem::Problem};

const MARKDOWN: &str = "text/markdown; charset=utf-8";

/// Which document.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct DocumentQuery {
    /// Which making of it, from 1; the newest when nobody says otherwise.
    revision: Option<u32>,
}

/// A document with everything it was made from.
#[derive(Serialize, ToSchema)]
pub(crate) struct DocumentView {
    /// The edition's day.
    #[schema(format = Date, example = "2026-01-05")]
    date: String,
    /// Which making of it, from 1.
    revision: u32,
    /// What the edition is called.
    title: String,
    /// The language it is written in.
    #[schema(example = "zh-CN")]
    language: String,
    /// How many stories were left out.
    left_out: u32,
    /// The stories, by rank.
    stories: Vec<PrintedView>,
    /// The template it was made with.
    template: String,
    /// The Markdown.
    body: String,
    /// SHA-256 of stories, words and template.
    inputs_digest: String,
    /// SHA-256 of the Markdown.
    body_digest: String,
    /// When it was made.
    #[schema(value_type = String, format = DateTime)]
    made_at: Timestamp,
}

/// A story as it is printed.
#[derive(Serialize, ToSchema)]
pub(crate) struct PrintedView {
    /// Its place, from 1; left-out stories leave gaps.
    rank: u32,
    /// What it is known by.
    #[schema(example = "hn:42")]
    key: String,
    /// Its title in the edition's language, or else its own.
    title: String,
    /// Its own title.
    original_title: String,
    /// Where it can be read.
    url: String,
    /// Where it is talked about.
    discussion_url: Option<String>,
    /// What its readers gave it.
    score: Option<i64>,
    /// When it was published.
    #[schema(value_type = Option<String>, format = DateTime)]
    published_at: Option<Timestamp>,
    /// What its page says.
    content_summary: Option<String>,
    /// What its readers say.
    comment_summary: Option<String>,
    /// Why there is no summary of its page: `title_only` or `not_summarised`.
    note: Option<&'static str>,
}

impl From<Document> for DocumentView {
    fn from(document: Document) -> Self {
        let inputs = document.inputs;
        Self {
            date: inputs.date.to_string(),
            revision: inputs.revision,
            title: inputs.title,
            language: inputs.language,
            left_out: inputs.left_out,
            stories: inputs.stories.into_iter().map(PrintedView::from).collect(),
            template: document.template,
            body: document.body,
            inputs_digest: document.inputs_digest,
            body_digest: document.body_digest,
            made_at: document.made_at,
        }
    }
}

impl From<Printed> for PrintedView {
    fn from(story: Printed) -> Self {
        Self {
            rank: story.rank,
            key: story.key.0,
            title: story.title,
            original_title: story.original_title,
            url: story.url,
            discussion_url: story.discussion_url,
            score: story.score,
            published_at: story.published_at,
            content_summary: story.content_summary,
            comment_summary: story.comment_summary,
            note: story.note.map(Note::as_str),
        }
    }
}

/// The document of an edition: Markdown, or as JSON with everything it was made from.
#[utoipa::path(
    get,
    path = "/api/v1/editions/{date}/document",
    tag = "editions",
    params(("date" = String, Path, description = "The edition's day, YYYY-MM-DD"), DocumentQuery),
    responses(
        (status = 200, description = "The document; JSON where `Accept` asks for that alone", content(
            (String = "text/markdown"), (DocumentView = "application/json"),
        )),
        (status = "4XX", description = "No such document", body = Problem, content_type = "application/problem+json"),
    ),
    security(("token" = ["read"])),
)]
pub(crate) async fn get_document(
    State(state): State<Arc<AppState>>,
    Dated(date): Dated,
    Asked(query): Asked<DocumentQuery>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let document = editions(&state)?.show(date, query.revision).await?;
    Ok(answer(document, &headers))
}

/// What the document of an edition would be if it were made now; nothing is kept.
#[utoipa::path(
    get,
    path = "/api/v1/editions/{date}/preview",
    tag = "editions",
    params(("date" = String, Path, description = "The edition's day, YYYY-MM-DD")),
    responses(
        (status = 200, description = "The document; JSON where `Accept` asks for that alone", content(
            (String = "text/markdown"), (DocumentView = "application/json"),
        )),
        (status = "4XX", description = "No such edition", body = Problem, content_type = "application/problem+json"),
        (status = "5XX", description = "`bad_template`: the template cannot be printed", body = Problem, content_type = "application/problem+json"),
    ),
    security(("token" = ["read"])),
)]
pub(crate) async fn preview_edition(
    State(state): State<Arc<AppState>>,
    Dated(date): Dated,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let document = editions(&state)?.preview(date).await?;
    Ok(answer(document, &headers))
}

fn answer(document: Document, headers: &HeaderMap) -> Response {
    let vary = (header::VARY, HeaderValue::from_static("accept"));
    if wants_json(headers) {
        return ([vary], Json(DocumentView::from(document))).into_response();
    }
    let markdown = (header::CONTENT_TYPE, HeaderValue::from_static(MARKDOWN));
    ([vary, markdown], document.body).into_response()
}

/// Whether JSON is asked for, and no text besides.
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
