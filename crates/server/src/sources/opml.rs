//! Lists of sources as feed readers write them.
//!
//! How OPML is read and written is an adapter's knowledge; this crate sees a port. An import adds each entry
//! for itself, so a broken one stops no other, and importing twice adds once.

use almanack_core::source::Definition;
use almanack_core::store::{Added, SourceFilter};

use super::{adding::add_each, refuse_key};
use crate::prelude::*;
use crate::{batch::check_count, call::unsupported};

/// Sources read at a time for an export.
const EXPORT_STEP: usize = 1000;
/// Most refused entries that are named; all are counted.
const REFUSED_MAX: usize = 100;
/// What OPML is sent as.
const MEDIA_TYPES: [&str; 4] = [
    "text/x-opml",
    "application/xml",
    "text/xml",
    "text/x-opml+xml",
];

/// Reads and writes OPML.
pub trait Opml: Send + Sync {
    /// What a list names, in its order; `Err` says in a sentence why it is no list.
    fn read(&self, text: &[u8]) -> Result<Outline, String>;

    /// A list of those of these that are feeds.
    fn write(&self, definitions: &[Definition]) -> String;
}

/// What a list names.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Outline {
    /// Sources.
    pub definitions: Vec<Definition>,
    /// Entries that name none, each in a sentence.
    pub broken: Vec<String>,
}

/// What became of a list.
#[derive(Serialize, ToSchema)]
pub(crate) struct ImportedView {
    /// How many are new.
    added: usize,
    /// How many were there already.
    existing: usize,
    /// How many could not be added.
    refused: usize,
    /// Why, for the first hundred of them.
    problems: Vec<String>,
}

/// All feeds as OPML, for other readers.
#[utoipa::path(
    get, path = "/api/v1/sources/opml", tag = "sources",
    responses(
        (status = 200, description = "OPML 2.0", body = String, content_type = "text/x-opml"),
    ),
)]
pub(crate) async fn export_opml(State(state): App) -> Answer {
    let mut definitions = Vec::new();
    let mut filter = SourceFilter {
        limit: EXPORT_STEP,
        ..SourceFilter::default()
    };
    loop {
        let page = state.store.list_sources(&filter).await?;
        definitions.extend(page.rows.into_iter().map(|source| source.definition));
        filter.after = page.next;
        if filter.after.is_none() {
            break;
        }
    }
    let headers = [
        (header::CONTENT_TYPE, "text/x-opml; charset=utf-8"),
        (
            header::CONTENT_DISPOSITION,
            "attachment; filename=\"sources.opml\"",
        ),
    ];
    Ok((headers, state.opml.write(&definitions)).into_response())
}

/// Add the feeds of an OPML list.
///
/// Folders become categories. Each entry is carried out for itself; importing twice adds once.
#[utoipa::path(
    post, path = "/api/v1/sources/opml", tag = "sources",
    request_body(content = String, content_type = "text/x-opml", description = "OPML; also as application/xml or text/xml"),
    responses((status = 200, description = "What became of it", body = ImportedView)),
)]
pub(crate) async fn import_opml(State(state): App, call: Call) -> Result<Json<ImportedView>> {
    refuse_key(&call)?;
    let media_type = call.media_type().unwrap_or_default().to_ascii_lowercase();
    if !MEDIA_TYPES.contains(&media_type.as_str()) {
        return Err(unsupported(MEDIA_TYPES[0]));
    }
    let imported = import(&state, call.bytes(), &call.requester.origin()).await?;
    Ok(Json(imported.into()))
}

/// What became of a list, entry by entry.
pub(crate) struct Imported {
    /// Entries that name a source, in the order of the list.
    pub(crate) lines: Vec<Line>,
    /// Entries that name none, each in a sentence.
    pub(crate) broken: Vec<String>,
}

/// What became of one entry.
pub(crate) struct Line {
    /// What the list calls it.
    pub(crate) name: String,
    /// What became of it.
    pub(crate) answer: Result<Added>,
}

/// Adds what a list names, each for itself.
pub(crate) async fn import(state: &AppState, text: &[u8], by: &str) -> Result<Imported> {
    let read = state.opml.read(text);
    let outline = read.map_err(|why| Problem::new(Code::InvalidBody, why))?;
    check_count(outline.definitions.len(), state.limits.batch_items_max)?;
    let names: Vec<String> = outline.definitions.iter().map(called).collect();
    let items = outline.definitions.into_iter().map(Ok).collect();
    let answers = add_each(state, items, by).await?;
    let lines = names.into_iter().zip(answers);
    Ok(Imported {
        lines: lines.map(|(name, answer)| Line { name, answer }).collect(),
        broken: outline.broken,
    })
}

impl From<Imported> for ImportedView {
    fn from(imported: Imported) -> Self {
        let mut view = Self {
            added: 0,
            existing: 0,
            refused: imported.broken.len(),
            problems: imported.broken,
        };
        for line in imported.lines {
            match line.answer {
                Ok(Added::New(_)) => view.added += 1,
                Ok(Added::Exists(_)) => view.existing += 1,
                Err(problem) => {
                    view.refused += 1;
                    let reported = format!("{}: {}", line.name, problem.detail);
                    view.problems.push(reported);
                }
            }
        }
        view.problems.truncate(REFUSED_MAX);
        view
    }
}

/// What to call an entry in an answer. Not by its address: that may hold a password, which is why it was refused.
fn called(definition: &Definition) -> String {
    match definition.name.as_str() {
        "" => "an entry without a name".to_owned(),
        name => format!("`{name}`"),
    }
}
