//! Editions under the founding documents' names.

use std::collections::BTreeMap;

use almanack_core::alert::{About, find::Finding};
use almanack_core::edition::{Account, EditionId, delivery, hold::Hold, revision::Retraction};
use almanack_engine::editions::{Editions, Error};
use axum::body::Body;

use crate::prelude::*;
use crate::receipts::ReceiptView;

/// State of an edition.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct StandView {
    /// Day of the edition.
    #[schema(format = Date, example = "2026-01-05")]
    task_date: String,
    /// `init`, `list_fetched`, `processing`, `aggregating`, `published`, `empty` or `archived`.
    #[schema(example = "processing")]
    status: &'static str,
    /// All stories.
    total_articles: u32,
    /// Completed stories.
    completed_articles: u32,
    /// Failed stories.
    failed_articles: u32,
    /// Remaining stories.
    progress: StandProgress,
    /// Batches.
    batches: StandBatches,
    /// Requests spent so far.
    requests: u32,
    /// Revisions of the document so far.
    revision: u32,
    /// Destinations, and whether each has the latest document.
    #[schema(value_type = std::collections::HashMap<String, bool>, example = json!({"github": true, "telegram": false}))]
    published: BTreeMap<String, bool>,
    /// Open alerts, by rule name.
    alerts: Vec<String>,
    /// The last error, or why the edition ended.
    reason: Option<String>,
    /// Why it waits or waited for a person, and what was decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    hold: Option<Hold>,
    /// Who took it back, and why.
    #[serde(skip_serializing_if = "Option::is_none")]
    retraction: Option<Retraction>,
    /// When it was created.
    created_at: Timestamp,
    /// When it last changed.
    updated_at: Timestamp,
    /// When every destination had received it.
    published_at: Option<Timestamp>,
    /// Expected publication; null once it is published, or while no node works on it.
    expected_finish_at: Option<Timestamp>,
}

/// Remaining stories.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct StandProgress {
    /// Waiting.
    pending_count: u32,
    /// Running.
    processing_count: u32,
}

/// Batches.
#[derive(Serialize, ToSchema)]
pub(crate) struct StandBatches {
    /// Ended.
    done: u32,
    /// Planned in total, if nothing fails.
    planned: u32,
}

impl StandView {
    pub(super) fn of(account: &Account, editions: &Editions) -> Self {
        let (edition, counts) = (&account.edition, account.counts());
        let forecast = editions.forecast(account);
        let troubles = editions.troubles(account);
        Self {
            task_date: edition.id.date.to_string(),
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
            hold: edition.hold.clone(),
            retraction: edition.retraction.clone(),
            created_at: edition.created_at,
            updated_at: edition.updated_at,
            published_at: edition.published_at,
            expected_finish_at: forecast.finish_at,
        }
    }
}

/// The rule, and its destination if it has one.
fn named(Finding { key, .. }: &Finding) -> String {
    match &key.about {
        About::Delivery { destination, .. } => format!("{}:{destination}", key.rule),
        _ => key.rule.to_string(),
    }
}

/// A destination has a document once it has every part of it.
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

/// Result of a trigger.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TriggeredView {
    /// Whether the edition is published, or queued for an asynchronous call.
    pub(super) success: bool,
    /// The result in a sentence.
    pub(super) message: String,
    /// Receipt of the task that builds it, if one was created.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) receipt: Option<ReceiptView>,
    #[serde(flatten)]
    pub(super) stand: StandView,
}

/// Result of publishing early.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ForcePublishedView {
    /// Whether the edition is published.
    pub(super) success: bool,
    /// The result in a sentence.
    pub(super) message: String,
    /// Stories left out.
    pub(super) skipped: u32,
    #[serde(flatten)]
    pub(super) stand: StandView,
}

/// Result of retrying failed stories.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RetriedTasksView {
    /// Whether it succeeded; with `sync`, whether the edition is published.
    pub(super) success: bool,
    /// The result in a sentence.
    pub(super) message: String,
    /// Stories that will be retried.
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

/// Result of a reset.
#[derive(Serialize, ToSchema)]
pub(crate) struct ResetTaskView {
    /// Always true.
    pub(super) success: bool,
    /// The result in a sentence.
    pub(super) message: String,
    #[serde(flatten)]
    pub(super) stand: StandView,
}

/// State of a day's edition, if there is one.
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
pub(crate) enum TaskStatusView {
    /// An edition exists.
    Standing {
        /// Always true.
        success: bool,
        /// Always true.
        exists: bool,
        #[serde(flatten)]
        stand: Box<StandView>,
    },
    /// No edition exists.
    #[serde(rename_all = "camelCase")]
    None {
        /// Always true.
        success: bool,
        /// Always false.
        exists: bool,
        /// The requested day.
        #[schema(format = Date, example = "2026-01-05")]
        task_date: String,
        /// The result in a sentence.
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

    pub(super) fn none(id: EditionId, message: String) -> Self {
        Self::None {
            success: true,
            exists: false,
            task_date: id.date.to_string(),
            message,
        }
    }
}

/// A problem with the fields of the founding documents added.
#[derive(Serialize)]
pub(crate) struct Refused {
    success: bool,
    error: Box<str>,
    #[serde(flatten)]
    problem: Problem,
    /// Nested, because a problem's `status` is a number.
    #[serde(skip_serializing_if = "Option::is_none")]
    task: Option<Box<StandView>>,
}

impl Refused {
    /// A problem with the state of the edition.
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
            error: problem.detail.to_string().into(),
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
