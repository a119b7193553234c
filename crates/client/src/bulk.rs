//! Which tasks are meant, and changes of all of them at once.

use almanack_core::task::{Status, TaskId};
use jiff::{SignedDuration, Timestamp};
use reqwest::Method;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{
    error::Error,
    http::{Client, Repeat, Request},
};

/// Which tasks; everything that is given must fit.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Filter {
    /// Numbers of rows, separated by commas.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task_id: Option<String>,
    /// Almanack's own kinds, or only the others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub internal: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// How the subject begins.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subject_prefix: Option<String>,
    /// A part of the subject.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subject_contains: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<Status>,
    /// Waiting, to be retried, or running.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub live: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tag: Option<String>,
    /// Execute time, at the earliest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<Timestamp>,
    /// Execute time, before this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<Timestamp>,
    /// A part of the last attempt's error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

impl Filter {
    /// All tasks of a kind.
    pub fn kind(kind: impl Into<String>) -> Self {
        Self {
            kind: Some(kind.into()),
            ..Self::default()
        }
    }

    pub(crate) fn ask(&self, request: Request) -> Request {
        request
            .query("task_id", self.task_id.as_ref())
            .query("internal", self.internal)
            .query("kind", self.kind.as_ref())
            .query("subject_prefix", self.subject_prefix.as_ref())
            .query("subject_contains", self.subject_contains.as_ref())
            .query("status", self.status)
            .query("live", self.live)
            .query("tag", self.tag.as_ref())
            .query("from", self.from)
            .query("to", self.to)
            .query("error", self.error.as_ref())
    }
}

/// What to do with all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BulkAction {
    Cancel,
    Retry,
    /// Later by this, or earlier.
    MoveBy(SignedDuration),
    /// All to this time.
    MoveTo(Timestamp),
}

#[derive(Serialize)]
struct BulkBody<'a> {
    action: &'static str,
    filter: &'a Filter,
    #[serde(skip_serializing_if = "Option::is_none")]
    by_s: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    to: Option<Timestamp>,
    dry_run: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    through_task_id: Option<TaskId>,
}

impl<'a> BulkBody<'a> {
    fn new(action: BulkAction, filter: &'a Filter, dry_run: bool) -> Self {
        let (action, by_s, to) = match action {
            BulkAction::Cancel => ("cancel", None, None),
            BulkAction::Retry => ("retry", None, None),
            BulkAction::MoveBy(by) => ("move", Some(by.as_secs()), None),
            BulkAction::MoveTo(to) => ("move", None, Some(to)),
        };
        Self {
            action,
            filter,
            by_s,
            to,
            dry_run,
            through_task_id: None,
        }
    }
}

/// What a bulk change would do.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct BulkPlan {
    /// Tasks that fit the filter.
    pub matched: u64,
    /// Those of them that would change.
    pub would_change: u64,
    /// The newest task it looked at; given to the change, that looks at no newer one either.
    pub through_task_id: TaskId,
}

/// A bulk change under way or ended.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Bulk {
    pub bulk_id: i64,
    /// How far it is, as the node reports it.
    #[serde(flatten)]
    pub progress: Map<String, Value>,
}

impl Client {
    /// Counts what a bulk change would change. Changes nothing.
    pub async fn plan_bulk(&self, action: BulkAction, filter: &Filter) -> Result<BulkPlan, Error> {
        let body = BulkBody::new(action, filter, true);
        let request = Request::new(Method::POST, "/api/v1/tasks/bulk", Repeat::Harmless);
        self.send(request.json(&body)?).await
    }

    /// Starts a bulk change, of tasks up to `through` or of all there are. Not repeated: ask
    /// [`Client::bulk`] what became of it.
    pub async fn start_bulk(
        &self,
        action: BulkAction,
        filter: &Filter,
        through: Option<TaskId>,
    ) -> Result<Bulk, Error> {
        let mut body = BulkBody::new(action, filter, false);
        body.through_task_id = through;
        let request = Request::new(Method::POST, "/api/v1/tasks/bulk", Repeat::Never);
        self.send(request.json(&body)?).await
    }

    /// How far a bulk change is.
    pub async fn bulk(&self, bulk_id: i64) -> Result<Bulk, Error> {
        self.send(Request::get(format!("/api/v1/bulk/{bulk_id}")))
            .await
    }
}
