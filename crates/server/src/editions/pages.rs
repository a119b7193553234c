//! Published editions as pages for readers, and as an Atom feed (ED-34).
//!
//! Readers see only published content: while an edition is being rebuilt, its last published
//! document is shown. Everything comes from the stored inputs of the document and was written by
//! others: texts are escaped, only web addresses become links, and the content security policy
//! blocks scripts and loading. Public unless `edition.public` is off.

mod feed;
mod html;

use almanack_core::edition::{Edition, State as EditionState};
use almanack_core::store::{EditionFilter, EditionLine};
use almanack_core::{edition::document::Document, token::Scope};
use almanack_engine::editions::{Editions, Error};
use axum::{Extension, extract::Request, middleware::Next};
use jiff::civil::Date;
use sha2::{Digest, Sha256};

use super::{Dated, editions, parse_date};
use crate::prelude::*;
use crate::{access::Authentication, problem::Page};

pub(crate) use html::is_web;

/// Editions on a page of the index.
const INDEX_MAX: usize = 100;
/// Editions in the feed.
const FEED_MAX: usize = 20;
/// How many revisions to search for the last published one.
const REVISIONS_MAX: u32 = 20;

/// Lets every client read, or only clients with scope `read`.
pub(crate) async fn guard(
    State(authentication): State<Arc<Authentication>>,
    request: Request,
    next: Next,
) -> Answer {
    if authentication.state().public_editions {
        return Ok(next.run(request).await);
    }
    // Readers have browsers: users signed in to the dashboard may read here, too.
    let (mut parts, body) = request.into_parts();
    let visit = authentication.admit_browser(&parts, Scope::Read).await?;
    parts.extensions.insert(visit.requester);
    Ok(next.run(Request::from_parts(parts, body)).await)
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct IndexQuery {
    /// Only days before this.
    #[param(format = Date)]
    before: Option<String>,
}

/// Published editions as a web page, newest first.
#[utoipa::path(
    get, path = "/editions", tag = "pages",
    params(IndexQuery),
    responses(
        (status = 200, description = "A page", body = String, content_type = "text/html"),
        (status = 304, description = "Not modified"),
        (status = "4XX", description = "An error page", body = String, content_type = "text/html"),
    ),
)]
pub(crate) async fn index_page(
    State(state): App,
    query: Result<Asked<IndexQuery>>,
    headers: HeaderMap,
) -> Result<Response, Wrong> {
    let Asked(query) = query?;
    let editions = editions(&state)?;
    let before = query.before.as_deref().map(parse_date).transpose()?;
    let mut lines = published_lines(editions, before, INDEX_MAX + 1).await?;
    let tag = tag_of_list(&state, "index", &lines);
    if is_known(&headers, &tag) {
        return Ok(unchanged(&state, &tag));
    }
    let more = paging::cut(&mut lines, INDEX_MAX);
    let older = lines.last().filter(|_| more).map(|line| line.edition.date);
    let page = html::index(&editions.settings, &lines, older);
    Ok(as_page(&state, &tag, page.into_string()))
}

/// A published edition as a web page.
#[utoipa::path(
    get, path = "/editions/{date}", tag = "pages",
    responses(
        (status = 200, description = "A page", body = String, content_type = "text/html"),
        (status = 304, description = "Not modified"),
        (status = "4XX", description = "An error page", body = String, content_type = "text/html"),
    ),
)]
pub(crate) async fn edition_page(
    State(state): App,
    date: Result<Dated>,
    headers: HeaderMap,
) -> Result<Response, Wrong> {
    let Dated(date) = date?;
    let editions = editions(&state)?;
    let edition = match editions.look(date).await {
        Err(Error::Unknown(_)) => return Err(Wrong::no_edition(date)),
        account => account?.edition,
    };
    let document = published_document(editions, &edition).await?;
    let document = document.ok_or_else(|| Wrong::no_edition(date))?;
    let revision = document.inputs.revision;
    let tag = tag_of(
        &state,
        "page",
        &[&revision.to_string(), &document.inputs_digest],
    );
    if is_known(&headers, &tag) {
        return Ok(unchanged(&state, &tag));
    }
    let page = html::edition(&document);
    Ok(as_page(&state, &tag, page.into_string()))
}

/// Published editions as an Atom feed.
#[utoipa::path(
    get, path = "/editions/feed.xml", tag = "pages",
    responses(
        (status = 200, description = "Atom", body = String, content_type = "application/atom+xml"),
        (status = 304, description = "Not modified"),
        (status = "4XX", description = "An error page", body = String, content_type = "text/html"),
    ),
)]
pub(crate) async fn feed(State(state): App, headers: HeaderMap) -> Result<Response, Wrong> {
    let editions = editions(&state)?;
    let lines = published_lines(editions, None, FEED_MAX).await?;
    let base = feed::base(&headers);
    let tag = tag_of_list(&state, &base, &lines);
    if is_known(&headers, &tag) {
        return Ok(unchanged(&state, &tag));
    }
    let mut entries = Vec::with_capacity(lines.len());
    for line in &lines {
        let Some(at) = line.edition.published_at else {
            continue;
        };
        match published_document(editions, &line.edition).await {
            // Feed readers still get the other editions (SF-06).
            Err(error) if error.is_unreadable() => {}
            document => entries.extend(document?.map(|document| (document, at))),
        }
    }
    let text = feed::atom(&editions.settings, &base, &entries);
    let atom = [(header::CONTENT_TYPE, "application/atom+xml; charset=utf-8")];
    Ok((atom, as_page(&state, &tag, text)).into_response())
}

async fn published_lines(
    editions: &Editions,
    before: Option<Date>,
    limit: usize,
) -> Result<Vec<EditionLine>, Error> {
    let filter = EditionFilter {
        published: true,
        before,
        limit,
        ..EditionFilter::default()
    };
    editions.list(&filter).await
}

/// The last published document of an edition, if any. Its stories and batches are not read: the
/// feed reads many editions at once, and a document contains everything shown.
async fn published_document(
    editions: &Editions,
    edition: &Edition,
) -> Result<Option<Document>, Error> {
    let revisions = (1..=edition.revision).rev().take(REVISIONS_MAX as usize);
    for revision in revisions {
        match editions.show(edition.date, Some(revision)).await {
            Ok(document) if was_published(edition, &document) => return Ok(Some(document)),
            Ok(_) | Err(Error::NoDocument(_)) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(None)
}

/// Whether a document was published: rendered before the last publication of its edition, and not
/// being delivered now.
fn was_published(edition: &Edition, document: &Document) -> bool {
    let state = edition.archived_from.unwrap_or(edition.state);
    let newest = document.inputs.revision == edition.revision;
    let under_way = newest && state == EditionState::Aggregating;
    // A document of which one message is sent again is still published.
    let is_older = |at| document.made_at < at || document.made_at == at && !under_way;
    edition.is_published() || edition.published_at.is_some_and(is_older)
}

/// Identifies a list of editions and the version that renders it.
fn tag_of_list(state: &AppState, kind: &str, lines: &[EditionLine]) -> String {
    let editions: Vec<String> = lines
        .iter()
        .map(|line| {
            let edition = &line.edition;
            let at = edition.published_at.map(Timestamp::as_microsecond);
            format!("{}/{}/{at:?}", edition.date, edition.revision)
        })
        .collect();
    let parts: Vec<&str> = editions.iter().map(String::as_str).collect();
    tag_of(state, kind, &parts)
}

/// A weak entity tag, because compression changes the bytes.
fn tag_of(state: &AppState, kind: &str, parts: &[&str]) -> String {
    let mut digest = Sha256::new();
    for part in [state.version, kind].iter().chain(parts) {
        digest.update(part.len().to_le_bytes());
        digest.update(part);
    }
    let hex = format!("{:x}", digest.finalize());
    format!("W/\"{}\"", &hex[..32])
}

/// Whether the reader's copy matches the tag.
fn is_known(headers: &HeaderMap, tag: &str) -> bool {
    let weakly = |tag: &str| tag.trim().trim_start_matches("W/").to_owned();
    let known = headers.get_all(header::IF_NONE_MATCH).into_iter();
    let known = known.filter_map(|value| value.to_str().ok());
    known
        .flat_map(|value| value.split(','))
        .any(|known| known.trim() == "*" || weakly(known) == weakly(tag))
}

fn unchanged(state: &AppState, tag: &str) -> Response {
    // A cached page takes on the headers of this answer, so they must match the page's.
    (StatusCode::NOT_MODIFIED, html::policy(), kept(state, tag)).into_response()
}

fn as_page(state: &AppState, tag: &str, text: String) -> Response {
    (kept(state, tag), html::respond(StatusCode::OK, text)).into_response()
}

/// May be cached, but must be revalidated each time.
fn kept<'a>(state: &AppState, tag: &'a str) -> [(header::HeaderName, &'a str); 2] {
    let control = if state.public_editions {
        "public, no-cache"
    } else {
        "private, no-cache"
    };
    [(header::CACHE_CONTROL, control), (header::ETAG, tag)]
}

/// An error as a page.
pub(crate) struct Wrong(StatusCode, String);

impl Wrong {
    fn no_edition(date: Date) -> Self {
        let message = format!("No edition was published on {date}.");
        Self(StatusCode::NOT_FOUND, message)
    }
}

impl From<Problem> for Wrong {
    fn from(problem: Problem) -> Self {
        Self(problem.code.status(), problem.detail.into_string())
    }
}

impl From<Error> for Wrong {
    fn from(error: Error) -> Self {
        Problem::from(error).into()
    }
}

impl IntoResponse for Wrong {
    fn into_response(self) -> Response {
        let Self(status, message) = self;
        let page = html::wrong(status, &message).into_string();
        (Extension(Page), html::respond(status, page)).into_response()
    }
}
