//! What a source would show, before anybody adds it.

use almanack_core::{source::check::Document, source::entry::FoundEntry};

use super::{body::SourceBody, refuse_key};
use crate::prelude::*;

/// What is at an address, read as a source would be.
#[derive(Serialize, ToSchema)]
pub(crate) struct PreviewView {
    /// Where it was read.
    address: String,
    /// What it calls itself.
    title: Option<String>,
    /// Its entries, in the order shown.
    entries: Vec<FoundView>,
    /// How many more it shows than are ever kept.
    left_out: usize,
}

/// One entry as a document shows it.
#[derive(Serialize, ToSchema)]
pub(crate) struct FoundView {
    /// Where it can be read.
    link: Option<String>,
    /// What it is called; empty when it has no title.
    title: String,
    /// When its publisher says it was published.
    published_at: Option<Timestamp>,
    /// Who wrote it.
    author: Option<String>,
    /// What it is about.
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

/// Read an address as a source would be, and tell what it shows. Nothing is stored.
#[utoipa::path(
    post, path = "/api/v1/sources/preview", tag = "sources",
    request_body = SourceBody,
    responses((status = 200, description = "What it shows", body = PreviewView)),
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
