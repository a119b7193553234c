//! Editions as the API shows them.

use almanack_core::{
    edition::{
        Account, Counts, Edition, State,
        alert::Alert,
        batch::Batch,
        delivery::Delivery,
        forecast::Forecast,
        story::{Note, Story},
    },
    store::EditionLine,
};
use almanack_engine::editions::Status;
use jiff::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;

/// One edition. What is not known yet is null.
#[derive(Serialize, ToSchema)]
pub(crate) struct EditionView {
    /// Its day, in the edition's own time zone.
    #[schema(format = Date, example = "2026-01-05")]
    date: String,
    /// `init`, `list_fetched`, `processing`, `aggregating`, `published`, `empty` or `archived`.
    #[schema(example = "published")]
    state: &'static str,
    /// What it was when it was archived.
    #[serde(skip_serializing_if = "Option::is_none")]
    archived_from: Option<&'static str>,
    /// Documents made of it so far.
    revision: u32,
    /// Where its stories come from.
    #[schema(example = "hacker_news")]
    story_source: Option<String>,
    /// Its stories, counted; all 0 once they have been kept long enough.
    counts: EditionCounts,
    /// What last went wrong, or why it ended as it did.
    reason: Option<String>,
    /// Since when it is worked on: its creation, or the last reset, retry or reopening.
    #[schema(value_type = String, format = DateTime)]
    started_at: Timestamp,
    /// When every destination had it.
    #[schema(value_type = Option<String>, format = DateTime)]
    published_at: Option<Timestamp>,
    /// When it was created.
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
    /// When any of its rows last changed.
    #[schema(value_type = String, format = DateTime)]
    updated_at: Timestamp,
}

/// Stories by where they stand.
#[derive(Serialize, ToSchema)]
pub(crate) struct EditionCounts {
    /// All of them.
    total: u32,
    /// Those that wait.
    pending: u32,
    /// Those that are worked on.
    processing: u32,
    /// Those that have what is printed.
    completed: u32,
    /// Those that could not be completed.
    failed: u32,
}

impl From<Counts> for EditionCounts {
    fn from(counts: Counts) -> Self {
        Self {
            total: counts.total,
            pending: counts.pending,
            processing: counts.processing,
            completed: counts.completed,
            failed: counts.failed,
        }
    }
}

impl EditionView {
    fn of(edition: Edition, counts: Counts) -> Self {
        Self {
            date: edition.date.to_string(),
            state: edition.state.as_str(),
            archived_from: edition.archived_from.map(State::as_str),
            revision: edition.revision,
            story_source: edition.story_source,
            counts: counts.into(),
            reason: edition.reason,
            started_at: edition.started_at,
            published_at: edition.published_at,
            created_at: edition.created_at,
            updated_at: edition.updated_at,
        }
    }
}

impl From<EditionLine> for EditionView {
    fn from(line: EditionLine) -> Self {
        Self::of(line.edition, line.counts)
    }
}

impl From<Account> for EditionView {
    fn from(account: Account) -> Self {
        let counts = account.counts();
        Self::of(account.edition, counts)
    }
}

/// A page of editions, newest day first.
#[derive(Serialize, ToSchema)]
pub(crate) struct EditionsView {
    pub(super) editions: Vec<EditionView>,
    /// Give it as `cursor` to get the next page; null on the last one.
    pub(super) next_cursor: Option<String>,
}

/// One edition with everything that belongs to it.
#[derive(Serialize, ToSchema)]
pub(crate) struct EditionDetailView {
    #[serde(flatten)]
    edition: EditionView,
    /// Requests spent on it so far: its list, its ended batches, the deliveries of its newest document.
    requests: u32,
    /// Its plan.
    plan: EditionPlanView,
    /// Its stories, by rank.
    stories: Vec<StoryView>,
    /// Its batches, by index.
    batches: Vec<EditionBatchView>,
    /// The ledger of its newest document, by destination and part.
    deliveries: Vec<DeliveryView>,
    /// What a person should have heard about it.
    alerts: Vec<AlertView>,
}

impl EditionDetailView {
    pub(super) fn of(status: Status) -> Self {
        let Status { account, forecast } = status;
        Self {
            requests: account.requests(),
            plan: forecast.into(),
            stories: account.stories.iter().map(StoryView::of).collect(),
            batches: account.batches.iter().map(EditionBatchView::of).collect(),
            deliveries: account.deliveries.iter().map(DeliveryView::of).collect(),
            alerts: account.alerts.iter().map(AlertView::of).collect(),
            edition: account.into(),
        }
    }
}

/// What is still to be done, and until when.
#[derive(Serialize, ToSchema)]
pub(crate) struct EditionPlanView {
    /// Batches that ended.
    batches_done: u32,
    /// Batches in all, if nothing fails.
    batches_planned: u32,
    /// When it is expected to be published; null once it is, or when nobody works on it.
    #[schema(value_type = Option<String>, format = DateTime)]
    expected_finish_at: Option<Timestamp>,
}

impl From<Forecast> for EditionPlanView {
    fn from(forecast: Forecast) -> Self {
        Self {
            batches_done: forecast.batches_done,
            batches_planned: forecast.batches_planned,
            expected_finish_at: forecast.finish_at,
        }
    }
}

/// One story of an edition.
#[derive(Serialize, ToSchema)]
pub(crate) struct StoryView {
    /// Its place, from 1.
    rank: u32,
    /// What it is known by.
    #[schema(example = "hn:42")]
    key: String,
    /// `pending`, `processing`, `completed` or `failed`.
    #[schema(example = "completed")]
    status: &'static str,
    /// Its title in the edition's language; null until it has one, and where nobody translates.
    title: Option<String>,
    /// Its own title.
    original_title: String,
    /// Where it can be read.
    url: String,
    /// Where it is talked about.
    discussion_url: Option<String>,
    /// What its readers gave it.
    score: Option<i64>,
    /// When it was published.
    #[schema(value_type = Option<String>, format = DateTime)]
    published_at: Option<Timestamp>,
    /// What its page says.
    content_summary: Option<String>,
    /// What its readers say.
    comment_summary: Option<String>,
    /// Why there is no summary of its page: `title_only` or `not_summarised`.
    note: Option<&'static str>,
    /// Why it could not be completed.
    error: Option<String>,
    /// How often it was put back after it had failed.
    retry_count: u32,
    /// When a failed one may be put back by itself.
    #[schema(value_type = Option<String>, format = DateTime)]
    retry_at: Option<Timestamp>,
    /// The batch that works on it or worked on it last.
    batch: Option<u32>,
}

impl StoryView {
    fn of(story: &Story) -> Self {
        let (listed, written) = (&story.listed, &story.written);
        Self {
            rank: story.rank,
            key: listed.key.to_string(),
            status: story.status.as_str(),
            title: written.title.clone(),
            original_title: listed.title.clone(),
            url: listed.url.clone(),
            discussion_url: listed.discussion_url.clone(),
            score: listed.score,
            published_at: listed.published_at,
            content_summary: written.content_summary.clone(),
            comment_summary: written.comment_summary.clone(),
            note: written.note.map(Note::as_str),
            error: story.error_message.clone(),
            retry_count: story.retry_count,
            retry_at: story.retry_at,
            batch: story.batch,
        }
    }
}

/// One batch of an edition.
#[derive(Serialize, ToSchema)]
pub(crate) struct EditionBatchView {
    /// Its number within the edition, from 1; never used twice.
    index: u32,
    /// `running`, `success`, `partial` or `failed`.
    #[schema(example = "success")]
    status: &'static str,
    /// Stories it took.
    story_count: u32,
    /// Requests it spent.
    requests: u32,
    /// Tokens a model was given, and gave.
    tokens_in: u64,
    tokens_out: u64,
    /// How long it took; null while it runs.
    duration_ms: Option<i64>,
    /// Who worked on it.
    node: String,
    /// What went wrong with it.
    error: Option<String>,
    /// When it began.
    #[schema(value_type = String, format = DateTime)]
    started_at: Timestamp,
}

impl EditionBatchView {
    fn of(batch: &Batch) -> Self {
        Self {
            index: batch.index,
            status: batch.status.as_str(),
            story_count: batch.story_count,
            requests: batch.spend.requests,
            tokens_in: batch.spend.tokens_in,
            tokens_out: batch.spend.tokens_out,
            duration_ms: batch.duration_ms(),
            node: batch.node.clone(),
            error: batch.error_message.clone(),
            started_at: batch.started_at,
        }
    }
}

/// One part of an edition at one destination.
#[derive(Serialize, ToSchema)]
pub(crate) struct DeliveryView {
    /// Of which document.
    revision: u32,
    /// Where to, by the name in the configuration.
    #[schema(example = "github")]
    destination: String,
    /// Which message of several, from 1.
    part: u32,
    /// `intended`, `sent`, `confirmed`, `unknown`, `failed` or `skipped`.
    #[schema(example = "confirmed")]
    state: &'static str,
    /// How often it was tried.
    attempts: u32,
    /// Not tried again before. One that is `failed` or `unknown` without it waits for a person: send it again or skip it.
    #[schema(value_type = Option<String>, format = DateTime)]
    retry_at: Option<Timestamp>,
    /// What last went wrong, or what people should know.
    detail: Option<String>,
    /// What the destination knows it by: a commit, a message, a path.
    receipt: Option<String>,
    /// Requests that were spent on it.
    requests: u32,
    /// When it last changed.
    #[schema(value_type = String, format = DateTime)]
    updated_at: Timestamp,
}

impl DeliveryView {
    fn of(delivery: &Delivery) -> Self {
        Self {
            revision: delivery.revision,
            destination: delivery.destination.clone(),
            part: delivery.part,
            state: delivery.state.as_str(),
            attempts: delivery.attempts,
            retry_at: delivery.retry_at,
            detail: delivery.detail.clone(),
            receipt: delivery.receipt.clone(),
            requests: delivery.requests,
            updated_at: delivery.updated_at,
        }
    }
}

/// What a person should have heard.
#[derive(Serialize, ToSchema)]
pub(crate) struct AlertView {
    /// `overdue`, `unfinished`, `empty`, `spendthrift`, or `destination:` and its name.
    #[schema(example = "destination:github")]
    rule: String,
    /// In a sentence.
    detail: String,
    /// Since when.
    #[schema(value_type = String, format = DateTime)]
    opened_at: Timestamp,
    /// Until when; null while it lasts.
    #[schema(value_type = Option<String>, format = DateTime)]
    closed_at: Option<Timestamp>,
}

impl AlertView {
    fn of(alert: &Alert) -> Self {
        Self {
            rule: alert.rule.name(),
            detail: alert.detail.clone(),
            opened_at: alert.opened_at,
            closed_at: alert.closed_at,
        }
    }
}
