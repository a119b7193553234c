//! A preview of a source before it is added.

use almanack_core::{source::check::Document, source::entry::FoundEntry};

use super::{body::SourceBody, refuse_key};
use crate::prelude::*;

/// The content of an address, read as a source.
#[derive(Serialize, ToSchema)]
pub(crate) struct PreviewView {
    /// The address that was read.
    address: String,
    /// Its own title.
    title: Option<String>,
    /// Its entries, in document order, without full texts.
    entries: Vec<PreviewEntry>,
    /// How many further entries it has beyond the limit.
    left_out: usize,
}

/// An entry as it would be found.
#[derive(Serialize, ToSchema)]
pub(crate) struct PreviewEntry {
    #[serde(flatten)]
    found: FoundEntry,
    /// The filter that drops it: a `block` rule that matches it, or the first `keep` rule if none
    /// of them does. Null for an entry that would be kept.
    dropped_by: Option<String>,
}

/// Read an address as a source would be read, and show its entries. Nothing is stored.
#[utoipa::path(
    post, path = "/api/v1/sources/preview", tag = "sources",
    request_body = SourceBody,
    responses((status = 200, description = "The entries", body = PreviewView)),
)]
pub(crate) async fn preview(State(state): App, call: Call) -> Result<Json<PreviewView>> {
    refuse_key(&call)?;
    let definition = call.json::<SourceBody>()?.into_definition()?;
    let Document {
        title,
        mut entries,
        left_out,
        ..
    } = state.sources.preview(&definition).await?;
    let dropped = state.sources.dropped_by(&definition, &entries)?;
    for entry in &mut entries {
        entry.content = None;
    }
    let entries = entries.into_iter().zip(dropped);
    let entries = entries.map(|(found, dropped_by)| PreviewEntry { found, dropped_by });
    let entries = entries.collect();
    Ok(Json(PreviewView {
        address: definition.address,
        title,
        entries,
        left_out,
    }))
}
