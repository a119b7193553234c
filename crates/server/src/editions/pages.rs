//! Published editions as pages for readers, as feeds, and as an archive to search (ED-34).
//!
//! Readers see only published content: while an edition is being rebuilt, its last published
//! document is shown. Everything comes from the stored inputs of the document and was written by
//! others: texts are escaped, only web addresses become links, and the content security policy
//! blocks scripts and loading. Public unless `edition.public` is off.

pub(crate) mod feeds;
pub(crate) mod html;
mod sample;
pub(crate) mod search;
pub(crate) mod sitemap;
mod template;
mod view;

use std::collections::BTreeMap;

use almanack_core::edition::{
    Edition, EditionId, EditionName, State as EditionState, port::BadTemplate,
};
use almanack_core::store::{EditionFilter, EditionLine};
use almanack_core::{edition::document::Document, token::Scope};
use almanack_engine::editions::{Editions, Error};
use axum::{
    Extension,
    extract::{Path, Request},
    middleware::Next,
};
use jiff::civil::Date;
use sha2::{Digest, Sha256};

use self::{html::Loads, view::Around};
use super::{editions, editions_named, editions_of, parse_date, parse_id, parse_name};
use crate::prelude::*;
use crate::{access::Authentication, newsletter::pages::form_of, problem::Page};

pub(crate) use html::is_web;
pub use template::PageTemplate;

/// Editions on a page of the index. The document of each is read.
const INDEX_MAX: usize = 30;
/// How many revisions to search for the last published one.
const REVISIONS_MAX: u32 = 120;

/// What an operator decided about readers' pages.
#[derive(Debug, Clone, Default)]
pub struct ReaderPages {
    pub template: PageTemplate,
    /// Whether pages show stories' own pictures, which readers' browsers then fetch from the
    /// stories' sites.
    pub images: bool,
    /// Those of named editions.
    pub named: BTreeMap<EditionName, ReaderPages>,
}

impl ReaderPages {
    /// Those of the editions of a name.
    fn of(&self, name: EditionName) -> &Self {
        self.named.get(&name).unwrap_or(self)
    }

    fn loads(&self) -> Loads {
        match (self.template.is_built_in(), self.images) {
            (false, _) => Loads::OwnTemplate,
            (true, true) => Loads::Images,
            (true, false) => Loads::Nothing,
        }
    }

    /// What the page of a document depends on beside the document.
    fn tag(&self) -> String {
        format!("{} {}", self.images, self.template.text())
    }
}

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
    index_of(&state, editions(&state)?, query, &headers).await
}

/// The index of one edition.
pub(super) async fn index_of(
    state: &AppState,
    editions: &Editions,
    query: Result<Asked<IndexQuery>>,
    headers: &HeaderMap,
) -> Result<Response, Wrong> {
    let Asked(query) = query?;
    let before = query.before.as_deref().map(parse_date).transpose()?;
    let mut lines = published_lines(editions, before, INDEX_MAX + 1).await?;
    let base = feeds::base(headers);
    let form = form_of(state, editions.settings.name);
    let tag = tag_of_list(state, &format!("index {base} {form:?}"), &lines);
    if is_known(headers, &tag) {
        return Ok(unchanged(state, &tag, Loads::Nothing));
    }
    let more = paging::cut(&mut lines, INDEX_MAX);
    let older = lines
        .last()
        .filter(|_| more)
        .map(|line| line.edition.id.date);
    let index = html::Index {
        settings: &editions.settings,
        lines: &with_documents(editions, lines).await?,
        older,
        base: &base,
        form: form.as_deref(),
    };
    let page = html::index(&index).into_string();
    Ok(as_page(state, &tag, page, Loads::Nothing))
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
    Path(text): Path<String>,
    query: Result<Asked<IndexQuery>>,
    headers: HeaderMap,
) -> Result<Response, Wrong> {
    // A name alone is the index of its editions.
    if let Ok(name) = EditionName::parse(&text) {
        return index_of(&state, editions_named(&state, name)?, query, &headers).await;
    }
    page_of(&state, parse_id(&text)?, &headers).await
}

/// The page of one edition.
async fn page_of(state: &AppState, id: EditionId, headers: &HeaderMap) -> Result<Response, Wrong> {
    let editions = editions_of(state, id)?;
    let edition = match editions.look(id).await {
        Err(Error::Unknown(_)) => return Err(Wrong::no_edition(id)),
        account => account?.edition,
    };
    if let Some(retraction) = &edition.retraction {
        let form = form_of(state, id.name);
        let page = html::retracted(&editions.settings, id, (retraction, form.as_deref()));
        let page = html::respond(StatusCode::GONE, page.into_string(), Loads::Nothing);
        return Ok((Extension(Page), page).into_response());
    }
    let document = published_document(editions, &edition).await?;
    let document = document.ok_or_else(|| Wrong::no_edition(id))?;
    let around = around(state, editions, id, headers).await?;
    let pages = state.reader_pages.of(id.name);
    let parts = [
        &document.inputs.revision.to_string(),
        &document.inputs_digest,
        &format!("{around:?}"),
        &pages.tag(),
    ];
    let tag = tag_of(state, "page", &parts.map(String::as_str));
    if is_known(headers, &tag) {
        return Ok(unchanged(state, &tag, pages.loads()));
    }
    let page = pages
        .template
        .print(&view::PageView::of(&document, &around))?;
    Ok(as_page(state, &tag, page, pages.loads()))
}

/// A published edition of a name as a web page.
#[utoipa::path(
    get, path = "/editions/{name}/{date}", tag = "pages",
    responses(
        (status = 200, description = "A page", body = String, content_type = "text/html"),
        (status = 304, description = "Not modified"),
        (status = "4XX", description = "An error page", body = String, content_type = "text/html"),
    ),
)]
pub(crate) async fn named_page(
    State(state): App,
    Path((name, date)): Path<(String, String)>,
    headers: HeaderMap,
) -> Result<Response, Wrong> {
    let id = EditionId::new(parse_name(&name)?, parse_date(&date)?);
    page_of(&state, id, &headers).await
}

/// What surrounds an edition.
async fn around(
    state: &AppState,
    editions: &Editions,
    id: EditionId,
    headers: &HeaderMap,
) -> Result<Around, Error> {
    let previous = published_lines(editions, Some(id.date), 1).await?;
    Ok(Around {
        base: feeds::base(headers),
        previous: previous.first().map(|line| line.edition.id),
        next: editions.published_after(id).await?,
        images: state.reader_pages.of(id.name).images,
        form: form_of(state, id.name),
    })
}

/// The page of a document with another template, and with the one in force: what a template would
/// change.
pub(super) fn compare(
    state: &AppState,
    document: &Document,
    template: &str,
) -> Result<(String, String), BadTemplate> {
    let view = view::PageView::of(document, &Around::default());
    let pages = state.reader_pages.of(document.inputs.name);
    let kept = pages.template.print(&view)?;
    let other = PageTemplate::new(template)?.print(&view)?;
    Ok((kept, other))
}

/// Editions with their documents. One that cannot be read takes nothing from the others (SF-06).
async fn with_documents(
    editions: &Editions,
    lines: Vec<EditionLine>,
) -> Result<Vec<(EditionLine, Option<Document>)>, Error> {
    let mut read = Vec::with_capacity(lines.len());
    for line in lines {
        match published_document(editions, &line.edition).await {
            Err(error) if error.is_unreadable() => read.push((line, None)),
            document => read.push((line, document?)),
        }
    }
    Ok(read)
}

async fn published_lines(
    editions: &Editions,
    before: Option<Date>,
    limit: usize,
) -> Result<Vec<EditionLine>, Error> {
    let filter = EditionFilter {
        published: true,
        name: Some(editions.settings.name),
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
    if edition.retraction.is_some() {
        return Ok(None);
    }
    let revisions = (1..=edition.revision).rev().take(REVISIONS_MAX as usize);
    for revision in revisions {
        match editions.show(edition.id, Some(revision)).await {
            Ok(document) if was_published(edition, &document) => return Ok(Some(document)),
            Ok(_) | Err(Error::NoDocument(..)) => {}
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
            let retracted = edition.retraction.is_some();
            format!("{}/{}/{at:?}/{retracted}", edition.id, edition.revision)
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

fn unchanged(state: &AppState, tag: &str, loads: Loads) -> Response {
    // A cached page takes on the headers of this answer, so they must match the page's.
    let (policy, kept) = (html::policy(loads), kept(state, tag));
    (StatusCode::NOT_MODIFIED, policy, kept).into_response()
}

fn as_page(state: &AppState, tag: &str, text: String, loads: Loads) -> Response {
    (kept(state, tag), html::respond(StatusCode::OK, text, loads)).into_response()
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
    fn no_edition(id: EditionId) -> Self {
        let message = format!("No edition was published on {}.", id.date);
        Self(StatusCode::NOT_FOUND, message)
    }
}

impl From<Problem> for Wrong {
    fn from(problem: Problem) -> Self {
        Self(problem.code.status(), problem.detail.to_string())
    }
}

impl From<Error> for Wrong {
    fn from(error: Error) -> Self {
        Problem::from(error).into()
    }
}

impl From<BadTemplate> for Wrong {
    fn from(bad: BadTemplate) -> Self {
        tracing::error!(error = %bad, "the template of editions' pages cannot be rendered");
        let message = "This page cannot be shown: its template failed.".to_owned();
        Self(StatusCode::INTERNAL_SERVER_ERROR, message)
    }
}

impl IntoResponse for Wrong {
    fn into_response(self) -> Response {
        let Self(status, message) = self;
        let page = html::wrong(status, &message).into_string();
        (Extension(Page), html::respond(status, page, Loads::Nothing)).into_response()
    }
}
