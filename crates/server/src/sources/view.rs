//! Sources in the API, under the founding documents' names (SS-01): `core`'s own types with derived
//! fields.

use almanack_core::source::recent::PastLook;
use almanack_core::source::{Moving, Source, SourceType};

use crate::prelude::*;

/// One source. Unknown values are null.
#[derive(Serialize, ToSchema)]
pub(crate) struct SourceView {
    #[serde(flatten)]
    source: Source,
    /// `rss` for feeds, `custom` for custom rules.
    source_type: SourceType,
    /// When it is checked next; null while it is not checked.
    next_due_at: Option<Timestamp>,
    /// Share of its checks with new entries, in percent.
    hit_rate: Option<f64>,
}

impl SourceView {
    /// A source, and when it is checked next.
    pub(super) fn of(source: Source, next_due_at: Option<Timestamp>) -> Self {
        Self {
            source_type: source.definition.reading.source_type(),
            next_due_at,
            hit_rate: source.hit_rate().map(percent),
            source,
        }
    }
}

/// A share as percent, with one decimal (SS-09).
pub(super) fn percent(part: f64) -> f64 {
    (part * 1000.0).round() / 10.0
}

/// A page of sources, by number.
#[derive(Serialize, ToSchema)]
pub(crate) struct SourcesView {
    pub(super) sources: Vec<SourceView>,
    /// Pass it as `cursor` to get the next page; null on the last page.
    pub(super) next_cursor: Option<String>,
}

/// One source with its last checks.
#[derive(Serialize, ToSchema)]
#[schema(as = SourceDetailView)]
pub(crate) struct DetailView {
    #[serde(flatten)]
    source: SourceView,
    /// Its last checks, newest first.
    recent: Vec<PastLook>,
    /// Its permanent redirect target, while it is not followed yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    moving: Option<Moving>,
    /// Seconds that its times are ahead of when its entries appear, below 0 behind. Times of new
    /// entries are corrected by it.
    #[serde(skip_serializing_if = "Option::is_none")]
    clock_ahead_s: Option<i32>,
}

impl DetailView {
    /// A source, and when it is checked next.
    pub(super) fn of(source: Source, next_due_at: Option<Timestamp>) -> Self {
        Self {
            recent: source.recent.looks().iter().rev().copied().collect(),
            moving: source.memory.moving.clone(),
            clock_ahead_s: source.memory.publisher.clock_ahead_s,
            source: SourceView::of(source, next_due_at),
        }
    }
}
