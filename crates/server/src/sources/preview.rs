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
    /// Its entries, in document order.
    entries: Vec<FoundView>,
    /// How many further entries it has beyond the limit.
    left_out: usize,
}

/// One entry.
#[derive(Serialize, ToSchema)]
pub(crate) struct FoundView {
    /// Its address.
    link: Option<String>,
    /// Its title; may be empty.
    title: String,
    /// Publication time according to the publisher.
    published_at: Option<Timestamp>,
    /// Its author.
    author: Option<String>,
    /// Its summary.
    summary: Option<String>,
}

impl From<FoundEntry> for FoundView {
    fn from(found: FoundEntry) -> Self {
        Self {
            link: found.link,
            title: found.title,
            published_at: found.published_at,
            author: found.author,
            summary: found.summary,
        }
    }
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
        entries,
        left_out,
        ..
    } = state.sources.preview(&definition).await?;
    Ok(Json(PreviewView {
        address: definition.address,
        title,
        entries: entries.into_iter().map(FoundView::from).collect(),
        left_out,
    }))
}
