//! Sources in the API, under the founding documents' names (SS-01): `core`'s own types with derived
//! fields.

use almanack_core::source::hub::{Hub, HubState};
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
    /// The hub it names, and whether that pushes.
    #[serde(skip_serializing_if = "Option::is_none")]
    hub: Option<HubView>,
}

impl DetailView {
    /// A source, and when it is checked next.
    pub(super) fn of(source: Source, next_due_at: Option<Timestamp>, now: Timestamp) -> Self {
        let hub = source.memory.publisher.hub.as_ref();
        Self {
            hub: hub.map(|hub| HubView::of(hub, now)),
            recent: source.recent.looks().iter().rev().copied().collect(),
            moving: source.memory.moving.clone(),
            clock_ahead_s: source.memory.publisher.clock_ahead_s,
            source: SourceView::of(source, next_due_at),
        }
    }
}

/// A WebSub subscription. Separate from `core`'s: that holds what a push is verified by.
#[derive(Serialize, ToSchema)]
pub(crate) struct HubView {
    /// Address of the hub.
    hub: String,
    /// The topic by which the hub knows the source.
    topic: String,
    /// How far the subscription is.
    state: HubState,
    /// Whether it is relied on, so that checks are only for safety.
    relied_on: bool,
    /// When the subscription was last requested.
    requested_at: Option<Timestamp>,
    /// Until when the hub has confirmed it.
    leased_until: Option<Timestamp>,
    /// When the hub last pushed something.
    pushed_at: Option<Timestamp>,
    /// Why the hub refused, if it did.
    refused: Option<String>,
}

impl HubView {
    fn of(hub: &Hub, now: Timestamp) -> Self {
        Self {
            hub: hub.hub.clone(),
            topic: hub.topic.clone(),
            state: hub.state(now),
            relied_on: hub.is_relied_on(now),
            requested_at: hub.requested_at,
            leased_until: hub.leased_until,
            pushed_at: hub.pushed_at,
            refused: hub.refused.clone(),
        }
    }
}
