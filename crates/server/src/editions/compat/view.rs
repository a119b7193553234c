//! Editions under the founding documents' names.

use std::collections::BTreeMap;

use almanack_core::alert::{About, find::Finding};
use almanack_core::edition::{Account, delivery};
use almanack_engine::editions::{Editions, Error};
use axum::body::Body;
use jiff::civil::Date;

use crate::prelude::*;
use crate::receipts::ReceiptView;

/// How an edition stands.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct StandView {
    /// Its day.
    #[schema(format = Date, example = "2026-01-05")]
    task_date: String,
    /// `init`, `list_fetched`, `processing`, `aggregating`, `published`, `empty` or `archived`.
    #[schema(example = "processing")]
    status: &'static str,
    /// Stories in all.
    total_articles: u32,
    /// Stories that have what is printed.
    completed_articles: u32,
    /// Stories that could not be completed.
    failed_articles: u32,
    /// Stories that are left.
    progress: StandProgress,
    /// Batches.
    batches: StandBatches,
    /// Requests spent so far.
    requests: u32,
    /// Documents made so far.
    revision: u32,
    /// Destinations, and whether each has the newest document.
    #[schema(value_type = std::collections::HashMap<String, bool>, example = json!({"github": true, "telegram": false}))]
    published: BTreeMap<String, bool>,
    /// What a person should look at now, by the names of the rules.
    alerts: Vec<String>,
    /// What last went wrong, or why it ended as it did.
    reason: Option<String>,
    /// When it was created.
    created_at: Timestamp,
    /// When anything of it last changed.
    updated_at: Timestamp,
    /// When every destination had it.
    published_at: Option<Timestamp>,
    /// When it is expected to be published; null once it is, or when nobody works on it.
    expected_finish_at: Option<Timestamp>,
}

/// Stories that are left.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct StandProgress {
    /// Those that wait.
    pending_count: u32,
    /// Those that are worked on.
    processing_count: u32,
}

/// Batches.
#[derive(Serialize, ToSchema)]
pub(crate) struct StandBatches {
    /// Those that ended.
    done: u32,
    /// All, if nothing fails.
    planned: u32,
}

impl StandView {
    pub(super) fn of(account: &Account, editions: &Editions) -> Self {
        let (edition, counts) = (&account.edition, account.counts());
        let forecast = editions.forecast(account);
        let troubles = editions.troubles(account);
        Self {
            task_date: edition.date.to_string(),
            status: edition.state.as_str(),
            total_articles: counts.total,
            completed_articles: counts.completed,
            failed_articles: counts.failed,
            progress: StandProgress {
                pending_count: counts.pending,
                processing_count: counts.processing,
            },
            batches: StandBatches {
                done: forecast.batches_done,
                planned: forecast.batches_planned,
            },
            requests: account.requests(),
            revision: edition.revision,
            published: published(account),
            alerts: troubles.iter().map(named).collect(),
            reason: edition.reason.clone(),
            created_at: edition.created_at,
            updated_at: edition.updated_at,
            published_at: edition.published_at,
            expected_finish_at: forecast.finish_at,
        }
    }
}

/// The rule, and the destination where it is about one.
fn named(Finding { key, .. }: &Finding) -> String {
    match &key.about {
        About::Delivery { destination, .. } => format!("{}:{destination}", key.rule),
        _ => key.rule.to_string(),
    }
}

/// A destination has a document when it has every part of it.
fn published(account: &Account) -> BTreeMap<String, bool> {
    let mut published = BTreeMap::new();
    for delivery in &account.deliveries {
        let all = published
            .entry(delivery.destination.clone())
            .or_insert(true);
        *all &= delivery.state == delivery::State::Confirmed;
    }
    published
}

/// What became of a trigger.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TriggeredView {
    /// Whether the edition is published, or queued where that was asked for.
    pub(super) success: bool,
    /// In a sentence.
    pub(super) message: String,
    /// The receipt of the task that builds it, where one was put.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) receipt: Option<ReceiptView>,
    #[serde(flatten)]
    pub(super) stand: StandView,
}

/// What became of publishing by force.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ForcePublishedView {
    /// Whether the edition is published.
    pub(super) success: bool,
    /// In a sentence.
    pub(super) message: String,
    /// Stories that were left out.
    pub(super) skipped: u32,
    #[serde(flatten)]
    pub(super) stand: StandView,
}

/// What became of putting failed stories back.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RetriedTasksView {
    /// Whether it was done; with `sync`, whether the edition is published.
    pub(super) success: bool,
    /// In a sentence.
    pub(super) message: String,
    /// Stories that were put back.
    pub(super) retry_count: u32,
    /// The same, under its later name.
    pub(super) reset_count: u32,
    /// Whether the edition was built before this answer.
    pub(super) synced: bool,
    /// Whether the edition went back to a working state.
    pub(super) status_reset: bool,
    #[serde(flatten)]
    pub(super) stand: StandView,
}

/// What became of a reset.
#[derive(Serialize, ToSchema)]
pub(crate) struct ResetTaskView {
    /// True.
    pub(super) success: bool,
    /// In a sentence.
    pub(super) message: String,
    #[serde(flatten)]
    pub(super) stand: StandView,
}

/// How a day's edition stands, if there is one.
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
pub(crate) enum TaskStatusView {
    /// There is one.
    Standing {
        /// True.
        success: bool,
        /// True.
        exists: bool,
        #[serde(flatten)]
        stand: Box<StandView>,
    },
    /// There is none.
    #[serde(rename_all = "camelCase")]
    None {
        /// True.
        success: bool,
        /// False.
        exists: bool,
        /// The day that was asked for.
        #[schema(format = Date, example = "2026-01-05")]
        task_date: String,
        /// In a sentence.
        message: String,
    },
}

impl TaskStatusView {
    pub(super) fn standing(stand: StandView) -> Self {
        Self::Standing {
            success: true,
            exists: true,
            stand: Box::new(stand),
        }
    }

    pub(super) fn none(date: Date, message: String) -> Self {
        Self::None {
            success: true,
            exists: false,
            task_date: date.to_string(),
            message,
        }
    }
}

/// A problem that also says so in the founding documents' words.
#[derive(Serialize)]
pub(crate) struct Refused {
    success: bool,
    error: Box<str>,
    #[serde(flatten)]
    problem: Problem,
    /// Not beside the rest: a problem's `status` is a number.
    #[serde(skip_serializing_if = "Option::is_none")]
    task: Option<Box<StandView>>,
}

impl Refused {
    /// A problem with an edition that stands so.
    pub(super) fn about(problem: Problem, stand: StandView) -> Self {
        Self {
            task: Some(Box::new(stand)),
            ..problem.into()
        }
    }
}

impl From<Problem> for Refused {
    fn from(problem: Problem) -> Self {
        Self {
            success: false,
            error: problem.detail.clone(),
            problem,
            task: None,
        }
    }
}

impl From<Error> for Refused {
    fn from(error: Error) -> Self {
        Problem::from(error).into()
    }
}

impl IntoResponse for Refused {
    fn into_response(self) -> Response {
        // Rendering plain data cannot fail.
        let body = serde_json::to_vec(&self).unwrap_or_default();
        let (parts, _) = self.problem.into_response().into_parts();
        Response::from_parts(parts, Body::from(body))
    }
}
