//! A preview of a source before it is added or changed: what would be read, and nothing is stored.

use almanack_core::both;
use almanack_core::source::check::Document;
use almanack_core::source::entry::{FoundEntry, canonical_address};
use almanack_core::source::options::{Options, patch};
use almanack_core::source::{Definition, SourceId, reading::Reading};
use almanack_engine::sources::Changes;

use super::body::check_form;
use super::refuse_key;
use crate::prelude::*;

/// What to read: an address, or a source with changes that are not made.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PreviewBody {
    /// Id of a source; what is omitted below is then as it has it.
    source_id: Option<i64>,
    /// Address to read; required without a source.
    #[schema(example = "https://example.com/feed.xml")]
    address: Option<String>,
    /// How it is read. Default: as the source, or as a feed.
    reading: Option<Reading>,
    /// Options, changed as in a change of a source.
    #[schema(value_type = Option<Options>)]
    options: Option<patch::Patch>,
}

/// The content of an address, read as a source.
#[derive(Serialize, ToSchema)]
pub(crate) struct PreviewView {
    /// The address that was read.
    address: String,
    /// Its own title.
    pub(crate) title: Option<String>,
    /// Its entries, in document order, without full texts.
    pub(crate) entries: Vec<PreviewEntry>,
    /// How many further entries it has beyond the limit.
    pub(crate) left_out: usize,
    /// What would be a problem if it were checked like this.
    pub(crate) warnings: Vec<String>,
}

/// An entry as it would be found.
#[derive(Serialize, ToSchema)]
pub(crate) struct PreviewEntry {
    #[serde(flatten)]
    pub(crate) found: FoundEntry,
    /// The filter that drops it: a `block` rule that matches it, or the first `keep` rule if none
    /// of them does. Null for an entry that would be kept.
    pub(crate) dropped_by: Option<String>,
}

/// Read an address as a source would be read, and show its entries. Nothing is stored.
///
/// With `source_id`, reads that source with the given changes, before they are made.
#[utoipa::path(
    post, path = "/api/v1/sources/preview", tag = "sources",
    request_body = PreviewBody,
    responses((status = 200, description = "The entries", body = PreviewView)),
)]
pub(crate) async fn preview(State(state): App, call: Call) -> Result<Json<PreviewView>> {
    refuse_key(&call)?;
    let body = call.json::<PreviewBody>()?;
    let before = match body.source_id {
        Some(id) => state.sources.load(SourceId(id)).await?.definition,
        None => Definition::default(),
    };
    let address = body.address.as_deref().map(canonical_address);
    if address.is_none() && body.source_id.is_none() {
        let detail = both!(
            "give an address, or the source_id of a source",
            "请给出地址，或信源的 source_id"
        );
        return Err(Problem::invalid("address", detail));
    }
    let changes = Changes {
        address,
        reading: body.reading,
        options: body.options.map(patch::Change::Merged),
        ..Changes::default()
    };
    let shown = preview_of(&state, &changes.apply(&before)?).await?;
    Ok(Json(shown))
}

/// What a source of this definition would show.
pub(crate) async fn preview_of(state: &AppState, definition: &Definition) -> Result<PreviewView> {
    check_form(definition)?;
    let document = state.sources.preview(definition).await?;
    let warnings = warnings(&document);
    let Document {
        title,
        mut entries,
        left_out,
        ..
    } = document;
    let dropped = state.sources.dropped_by(definition, &entries)?;
    for entry in &mut entries {
        entry.content = None;
    }
    let entries = entries.into_iter().zip(dropped);
    let entries = entries.map(|(found, dropped_by)| PreviewEntry { found, dropped_by });
    let entries = entries.collect();
    Ok(PreviewView {
        address: definition.address.clone(),
        title,
        entries,
        left_out,
        warnings,
    })
}

/// What an operator should know before these entries are kept.
fn warnings(document: &Document) -> Vec<String> {
    let entries = &document.entries;
    let all = entries.len();
    let count = |is_so: fn(&FoundEntry) -> bool| entries.iter().filter(|it| is_so(it)).count();
    let undated = count(|entry| entry.published_at.is_none());
    let unlinked = count(|entry| entry.link.is_none());
    let unkeyed = count(|entry| entry.key().is_none());
    let warnings = [
        (all == 0).then(|| "no entries".to_owned()),
        document
            .moved_to
            .as_ref()
            .map(|to| format!("it has moved for good, to {to}")),
        (undated > 0).then(|| format!("{undated} of {all} entries have no publication time")),
        (unlinked > 0).then(|| format!("{unlinked} of {all} entries have no link")),
        (unkeyed > 0).then(|| {
            format!("{unkeyed} of {all} entries have neither id, link nor title and are not kept")
        }),
        (document.left_out > 0).then(|| format!("{} entries are not read", document.left_out)),
    ];
    warnings.into_iter().flatten().collect()
}
