//! Sources as the API shows them, under the founding documents' names (SS-01).

use almanack_core::source::{
    Attention, Moving, Source, State,
    check::FailureClass,
    policy::cadence::{Cadence, Frequency},
    recent::{Brought, PastLook},
};
use jiff::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;

use super::body::ReadingBody;

/// One source. What is not known yet is null.
#[derive(Serialize, ToSchema)]
pub(crate) struct SourceView {
    /// Number of the source.
    source_id: i64,
    /// `rss` for feeds, `custom` for what is read by rules of one's own.
    #[schema(example = "rss")]
    source_type: &'static str,
    /// What people call it.
    #[schema(example = "Example Weblog")]
    name: String,
    /// Where it is looked at.
    #[schema(example = "https://example.com/feed.xml")]
    address: String,
    /// Where people put it: folders, joined by `/`; empty at the top.
    category: String,
    /// How it is read.
    reading: ReadingBody,
    /// Its own policy; null for the node's.
    #[schema(example = "fixed:1h")]
    policy: Option<String>,
    /// Its cadence, set by hand; null when it is learned.
    #[schema(example = "P2")]
    cadence_by_hand: Option<&'static str>,
    /// `active`, `paused` or `ended`.
    #[schema(example = "active")]
    state: &'static str,
    /// The pause it is in.
    #[serde(skip_serializing_if = "Option::is_none")]
    paused: Option<PausedView>,
    /// Why it is not looked at any more.
    #[serde(skip_serializing_if = "Option::is_none")]
    ended: Option<EndedView>,
    /// What a person should look at: `silent`, `failing`, `duplicate` or `credentials`.
    #[schema(example = "silent")]
    attention: Option<&'static str>,
    /// How often it publishes: `realtime`, `high`, `daily`, `daily_fixed`, `weekly`, `monthly` or `low`.
    #[schema(example = "daily")]
    frequency_type: Option<&'static str>,
    /// Its cadence, P0 to P7: set by hand, or by how often it publishes.
    #[schema(example = "P2")]
    cadence: Option<&'static str>,
    /// The hour of the day, UTC, around which it publishes.
    avg_publish_hour: Option<f64>,
    /// How widely that hour spreads.
    std_publish_hour: Option<f64>,
    /// When it is looked at next, by its task where one lives; null while it is not.
    #[schema(value_type = Option<String>, format = DateTime)]
    next_due_at: Option<Timestamp>,
    /// Why then.
    reason: Option<String>,
    /// When it was last looked at.
    #[schema(value_type = Option<String>, format = DateTime)]
    last_check_at: Option<Timestamp>,
    /// When its newest entry was published, or first seen where no time is given.
    #[schema(value_type = Option<String>, format = DateTime)]
    last_article_at: Option<Timestamp>,
    /// Failures in a row.
    fail_count: u32,
    /// Until when failures keep it waiting.
    #[schema(value_type = Option<String>, format = DateTime)]
    backoff_until: Option<Timestamp>,
    /// What the last failure said; null after a success.
    last_error: Option<String>,
    /// What kind of failure that was.
    #[schema(example = "not_found")]
    last_error_class: Option<&'static str>,
    /// Looks made.
    check_count: u64,
    /// Looks that brought new entries.
    hit_count: u64,
    /// The part of its looks that brought something new, in percent.
    hit_rate: Option<f64>,
    /// When it was added.
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
    /// When its row last changed.
    #[schema(value_type = String, format = DateTime)]
    updated_at: Timestamp,
}

/// A pause.
#[derive(Serialize, ToSchema)]
pub(crate) struct PausedView {
    /// Since when.
    #[schema(value_type = String, format = DateTime)]
    since: Timestamp,
    /// Why.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

/// Why a source is gone for good.
#[derive(Serialize, ToSchema)]
pub(crate) struct EndedView {
    /// Since when.
    #[schema(value_type = String, format = DateTime)]
    since: Timestamp,
    /// Why.
    reason: String,
}

impl SourceView {
    /// A source, and when it is looked at next.
    pub(super) fn of(source: Source, next_due_at: Option<Timestamp>) -> Self {
        let hit_rate = source.hit_rate().map(percent);
        let state = source.state.as_str();
        let (paused, ended) = match source.state {
            State::Active => (None, None),
            State::Paused { since, note } => (Some(PausedView { since, note }), None),
            State::Ended { since, reason } => (None, Some(EndedView { since, reason })),
        };
        let (said, known) = (source.definition, source.stats);
        Self {
            source_id: source.id.0,
            source_type: said.reading.source_type().as_str(),
            name: said.name,
            address: said.address,
            category: said.category,
            reading: said.reading.into(),
            policy: said.policy,
            cadence_by_hand: said.cadence.map(Cadence::as_str),
            state,
            paused,
            ended,
            attention: source.attention.map(Attention::as_str),
            frequency_type: known.frequency_type.map(Frequency::as_str),
            cadence: known.cadence.map(Cadence::as_str),
            avg_publish_hour: known.avg_publish_hour.map(hundredths),
            std_publish_hour: known.std_publish_hour.map(hundredths),
            next_due_at,
            reason: source.reason,
            last_check_at: known.last_check_at,
            last_article_at: known.last_article_at,
            fail_count: known.fail_count,
            backoff_until: known.backoff_until,
            last_error: known.last_error,
            last_error_class: known.last_error_class.map(FailureClass::as_str),
            check_count: known.check_count,
            hit_count: known.hit_count,
            hit_rate,
            created_at: source.created_at,
            updated_at: source.updated_at,
        }
    }
}

/// A part of one as percent, with one decimal (SS-09).
pub(super) fn percent(part: f64) -> f64 {
    (part * 1000.0).round() / 10.0
}

fn hundredths(hour: f64) -> f64 {
    (hour * 100.0).round() / 100.0
}

/// A page of sources, by number.
#[derive(Serialize, ToSchema)]
pub(crate) struct SourcesView {
    pub(super) sources: Vec<SourceView>,
    /// Give it as `cursor` to get the next page; null on the last one.
    pub(super) next_cursor: Option<String>,
}

/// One source with its last checks.
#[derive(Serialize, ToSchema)]
pub(crate) struct DetailView {
    #[serde(flatten)]
    source: SourceView,
    /// Its last checks, newest first.
    recent: Vec<LookView>,
    /// Where it says it has moved for good, while that is not yet believed.
    #[serde(skip_serializing_if = "Option::is_none")]
    moving: Option<MovingView>,
}

/// One check that was made.
#[derive(Serialize, ToSchema)]
pub(crate) struct LookView {
    /// When.
    #[schema(value_type = String, format = DateTime)]
    at: Timestamp,
    /// How long it took, in milliseconds.
    took_ms: u32,
    /// `new`, `nothing`, `unchanged`, or the kind of failure.
    #[schema(example = "new")]
    brought: &'static str,
    /// How many new entries, counted to 255.
    #[serde(skip_serializing_if = "Option::is_none")]
    entries: Option<u8>,
}

/// A permanent move that was told too few times to be believed.
#[derive(Serialize, ToSchema)]
pub(crate) struct MovingView {
    /// Where to.
    address: String,
    /// How often in a row this was said.
    times: u32,
}

impl DetailView {
    /// A source, and when it is looked at next.
    pub(super) fn of(source: Source, next_due_at: Option<Timestamp>) -> Self {
        let recent = source.recent.looks().iter().rev();
        let recent = recent.copied().map(LookView::from).collect();
        let moving = source.memory.moving.clone().map(MovingView::from);
        Self {
            source: SourceView::of(source, next_due_at),
            recent,
            moving,
        }
    }
}

impl From<PastLook> for LookView {
    fn from(look: PastLook) -> Self {
        Self {
            at: look.at,
            took_ms: look.took_ms,
            brought: look.brought.as_str(),
            entries: match look.brought {
                Brought::New(count) => Some(count),
                Brought::Nothing | Brought::Unchanged | Brought::Failed(_) => None,
            },
        }
    }
}

impl From<Moving> for MovingView {
    fn from(moving: Moving) -> Self {
        Self {
            address: moving.address,
            times: moving.times,
        }
    }
}
