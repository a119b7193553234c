//! Editions as the API shows them: `core`'s own types, and what is derived from them.

use std::collections::BTreeMap;

use almanack_core::alert::Alert;
use almanack_core::edition::Account;
use almanack_core::edition::batch::Batch;
use almanack_core::edition::delivery::Delivery;
use almanack_core::edition::forecast::Forecast;
use almanack_core::edition::ladder::{self, Cause};
use almanack_core::edition::story::Story;
use almanack_core::store::EditionLine;
use almanack_engine::editions::Status;

use crate::prelude::*;

/// An edition as listed. Unknown values are null.
pub(super) fn line(account: &Account) -> EditionLine {
    EditionLine {
        counts: account.counts(),
        batches: account.batches_ended(),
        edition: account.edition.clone(),
    }
}

/// A page of editions, newest day first.
#[derive(Serialize, ToSchema)]
pub(crate) struct EditionsView {
    pub(super) editions: Vec<EditionLine>,
    /// Pass it as `cursor` to get the next page; null on the last page.
    pub(super) next_cursor: Option<String>,
}

/// One edition with everything that belongs to it.
#[derive(Serialize, ToSchema)]
pub(crate) struct EditionDetailView {
    #[serde(flatten)]
    edition: EditionLine,
    /// Requests spent so far: the list, ended batches, and deliveries of the latest document.
    requests: u32,
    /// Completed stories that have less than they could, by cause.
    degraded: BTreeMap<Cause, u32>,
    /// Its plan.
    plan: Forecast,
    /// Its stories, by rank.
    stories: Vec<Story>,
    /// Its batches, by index.
    batches: Vec<BatchView>,
    /// Deliveries of its latest document, by destination and part.
    deliveries: Vec<Delivery>,
    /// Its alerts.
    alerts: Vec<Alert>,
}

/// One batch of an edition.
#[derive(Serialize, ToSchema)]
#[schema(as = EditionBatchView)]
struct BatchView {
    #[serde(flatten)]
    batch: Batch,
    /// Duration; null while it runs.
    duration_ms: Option<i64>,
}

impl EditionDetailView {
    pub(super) fn of(status: Status) -> Self {
        let Status {
            account,
            forecast,
            alerts,
            spending: _,
        } = status;
        let (requests, edition) = (account.requests(), line(&account));
        let degraded = ladder::degraded(&account).collect();
        let batches = account.batches.into_iter().map(|batch| BatchView {
            duration_ms: batch.duration_ms(),
            batch,
        });
        Self {
            requests,
            degraded,
            plan: forecast,
            stories: account.stories,
            batches: batches.collect(),
            deliveries: account.deliveries,
            alerts,
            edition,
        }
    }
}
