//! Import and export of OPML lists.
//!
//! An adapter reads and writes OPML; this crate uses a port. An import adds each entry separately,
//! so an invalid one does not stop the others, and importing twice adds once.

use almanack_core::source::Definition;
use almanack_core::store::{Added, SourceFilter};

use super::{adding::add_each, refuse_key};
use crate::prelude::*;
use crate::{batch::check_count, call::unsupported};

/// Sources read at a time for an export.
const EXPORT_STEP: usize = 1000;
/// Most refused entries listed; all are counted.
const REFUSED_MAX: usize = 100;
/// The media type of OPML.
const MEDIA_TYPES: [&str; 4] = [
    "text/x-opml",
    "application/xml",
    "text/xml",
    "text/x-opml+xml",
];

/// Reads and writes OPML.
pub trait Opml: Send + Sync {
    /// The content of a list, in its order; `Err` says why it is not a list.
    fn read(&self, text: &[u8]) -> Result<Outline, String>;

    /// Writes a list of the feeds among these sources.
    fn write(&self, definitions: &[Definition]) -> String;
}

/// The content of a list.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Outline {
    /// Sources.
    pub definitions: Vec<Definition>,
    /// Entries without a source, one sentence each.
    pub broken: Vec<String>,
}

/// Result of an import.
#[derive(Serialize, ToSchema)]
pub(crate) struct ImportedView {
    /// New sources.
    added: usize,
    /// Sources that already existed.
    existing: usize,
    /// Entries that were refused.
    refused: usize,
    /// Reasons for the first hundred refusals.
    problems: Vec<String>,
}

/// Export all feeds as OPML.
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

/// Import the feeds of an OPML list.
///
/// Folders become categories. Each entry is handled separately; importing twice adds once.
#[utoipa::path(
    post, path = "/api/v1/sources/opml", tag = "sources",
    request_body(content = String, content_type = "text/x-opml", description = "OPML; also as application/xml or text/xml"),
    responses((status = 200, description = "The result", body = ImportedView)),
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

/// Result of an import, entry by entry.
pub(crate) struct Imported {
    /// Entries with a source, in the order of the list.
    pub(crate) lines: Vec<Line>,
    /// Entries without a source, one sentence each.
    pub(crate) broken: Vec<String>,
}

/// Result of one entry.
pub(crate) struct Line {
    /// Its name in the list.
    pub(crate) name: String,
    pub(crate) answer: Result<Added>,
}

/// Adds the entries of a list, each separately.
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
                    let label = format!("{}: {}", line.name, problem.detail);
                    view.problems.push(label);
                }
            }
        }
        view.problems.truncate(REFUSED_MAX);
        view
    }
}

/// The display name of an entry. Never its address: that may contain a password, which is why it
/// was refused.
fn called(definition: &Definition) -> String {
    match definition.name.as_str() {
        "" => "an entry without a name".to_owned(),
        name => format!("`{name}`"),
    }
}
