//! Work that is pulled: claim, extend, finish, release.
//!
//! Every report shows the term of its claim. The node ignores one whose claim is over, so repeating
//! a report is harmless, and a worker that was thought dead changes nothing.

use std::time::Duration;

use almanack_core::work::{
    ExtendedTask, ExtendedTasks, HeldTask, ReportedTask, ReportedTasks, WorkClaim, WorkExtend,
    WorkFinish, WorkOutcome, WorkRelease, WorkReport, WorkTask, WorkTasks,
};
use jiff::Timestamp;
use reqwest::Method;
use serde::{Serialize, de::DeserializeOwned};

use crate::{
    error::Error,
    http::{Client, Repeat, Request},
};

/// How much longer than its wait the answer to a claim may take.
const CLAIM_BEYOND: Duration = Duration::from_secs(10);

/// How an attempt ended, as a handler says it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// It took effect, or had already taken effect.
    Done { detail: Option<String> },
    /// It goes on at another time; not a failure.
    Again { at: Timestamp },
    /// It failed in a way that may pass: tried again after the backoff, and not before `after`.
    Retry {
        detail: String,
        after: Option<Duration>,
    },
    /// It failed for good.
    GiveUp { detail: String },
}

impl Outcome {
    /// It worked.
    pub fn done() -> Self {
        Self::Done { detail: None }
    }

    /// It worked, with something to say.
    pub fn done_with(detail: impl Into<String>) -> Self {
        let detail = Some(detail.into());
        Self::Done { detail }
    }

    /// It is tried again after the backoff.
    pub fn retry(detail: impl Into<String>) -> Self {
        let (detail, after) = (detail.into(), None);
        Self::Retry { detail, after }
    }

    /// It is tried again, after this wait at the soonest.
    pub fn retry_after(wait: Duration, detail: impl Into<String>) -> Self {
        let (detail, after) = (detail.into(), Some(wait));
        Self::Retry { detail, after }
    }

    /// It fails for good.
    pub fn give_up(detail: impl Into<String>) -> Self {
        let detail = detail.into();
        Self::GiveUp { detail }
    }

    /// As a report about this task.
    pub fn report(self, HeldTask { task_id, term }: HeldTask) -> WorkReport {
        let (outcome, at, after, detail) = match self {
            Self::Done { detail } => (WorkOutcome::Done, None, None, detail),
            Self::Again { at } => (WorkOutcome::Again, Some(at), None, None),
            Self::Retry { detail, after } => (WorkOutcome::Retry, None, after, Some(detail)),
            Self::GiveUp { detail } => (WorkOutcome::GiveUp, None, None, Some(detail)),
        };
        // Rounded up: not before the wait is over.
        let seconds = |wait: Duration| wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
        WorkReport {
            task_id,
            term,
            outcome,
            at: at.map(|at| at.to_string()),
            retry_after_s: after.map(|wait| i64::try_from(seconds(wait)).unwrap_or(i64::MAX)),
            detail,
        }
    }
}

impl Client {
    /// Takes due tasks, waiting for some. Not repeated: what a lost answer had taken comes back
    /// after its lease.
    pub async fn claim(&self, claim: &WorkClaim) -> Result<Vec<WorkTask>, Error> {
        let wait_s = u64::try_from(claim.wait_s.unwrap_or_default()).unwrap_or_default();
        let request = Request::new(Method::POST, "/api/v1/work/claim", Repeat::Never)
            .within(Duration::from_secs(wait_s) + CLAIM_BEYOND)
            .json(claim)?;
        Ok(self.send::<WorkTasks>(request).await?.tasks)
    }

    /// Holds them for longer, from now on.
    pub async fn extend(
        &self,
        held: &[HeldTask],
        lease: Duration,
    ) -> Result<Vec<ExtendedTask>, Error> {
        let body = WorkExtend {
            tasks: held.to_vec(),
            lease_s: i64::try_from(lease.as_secs()).ok(),
        };
        Ok(self.work::<ExtendedTasks>("extend", &body).await?.tasks)
    }

    /// Reports endings.
    pub async fn finish(&self, reports: &[WorkReport]) -> Result<Vec<ReportedTask>, Error> {
        let tasks = reports.to_vec();
        let body = WorkFinish { tasks };
        Ok(self.work::<ReportedTasks>("finish", &body).await?.tasks)
    }

    /// Gives them back; they do not count as attempts.
    pub async fn release(&self, held: &[HeldTask]) -> Result<Vec<ReportedTask>, Error> {
        let tasks = held.to_vec();
        let body = WorkRelease { tasks };
        Ok(self.work::<ReportedTasks>("release", &body).await?.tasks)
    }

    async fn work<T: DeserializeOwned>(
        &self,
        what: &str,
        body: &impl Serialize,
    ) -> Result<T, Error> {
        let path = format!("/api/v1/work/{what}");
        let request = Request::new(Method::POST, path, Repeat::Harmless);
        self.send(request.json(body)?).await
    }
}
