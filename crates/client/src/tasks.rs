//! Tasks: put, move, cancel, retry, look at, list, many at once; and their receipts.

use std::collections::BTreeMap;

use almanack_core::{
    history::{HistoryEvent, Kept},
    reschedule::{DecisionId, Receipt, Requested, Rule},
    task::{Identity, Payload, Priority, Revision, Status, TaskId},
};
use jiff::Timestamp;
use reqwest::Method;
use serde::{Deserialize, Serialize};

use crate::{
    bulk::Filter,
    error::{Error, Problem},
    http::{Client, Repeat, Request, segment, task_path},
    put::{Callback, Change, Put},
};

/// A receipt, and whose it is.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Receipted {
    #[serde(flatten)]
    pub identity: Identity,
    #[serde(flatten)]
    pub receipt: Receipt,
}

/// One item's answer in a batch.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum BatchItem {
    /// It was decided.
    Receipt(Receipted),
    /// It was refused; nothing was stored.
    Refused { error: Problem },
}

/// A task as the API shows it. Not the store's type: that one's due time and term are not on the
/// wire, so whether it is live is said instead of derived.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Task {
    pub task_id: TaskId,
    #[serde(flatten)]
    pub identity: Identity,
    pub status: Status,
    /// Whether it is waiting, will be retried, or is running.
    pub live: bool,
    pub execute_at: Timestamp,
    pub payload: Payload,
    pub callback: Option<Callback>,
    pub priority: Priority,
    /// Attempts started so far.
    pub attempt: u32,
    pub max_retry: u32,
    pub revision: Revision,
    pub origin: String,
    /// The last attempt's error, or the answer it got.
    pub detail: Option<String>,
    /// The node or worker that claimed it last.
    pub node: Option<String>,
    pub lease_until: Option<Timestamp>,
    pub replaces: Option<TaskId>,
    pub created_at: Timestamp,
    pub started_at: Option<Timestamp>,
    pub finished_at: Option<Timestamp>,
    pub expires_at: Option<Timestamp>,
    #[serde(default)]
    pub tags: Vec<String>,
}

/// A page of tasks, newest first.
#[derive(Debug, Clone, Deserialize)]
pub struct TasksPage {
    pub tasks: Vec<Task>,
    /// Leads to the next page; none on the last.
    pub next_cursor: Option<String>,
}

/// A page of a task's history, in order.
#[derive(Debug, Clone, Deserialize)]
pub struct HistoryPage {
    pub events: Vec<HistoryEvent>,
    /// Leads to earlier events.
    pub next_cursor: Option<String>,
}

/// A receipt that was asked for later.
#[derive(Debug, Clone, Deserialize)]
pub struct KeptReceipt {
    #[serde(flatten)]
    pub identity: Identity,
    pub kept: Kept,
    pub receipt: DecisionId,
    pub decided_at: Timestamp,
    pub origin: String,
    pub rule: Rule,
    pub task_id: TaskId,
    pub execute_at: Timestamp,
    pub old_execute_at: Option<Timestamp>,
    pub revision: Option<i64>,
    pub requested: Option<Requested>,
}

#[derive(Serialize)]
struct Item<'a> {
    kind: &'a str,
    subject: &'a str,
    #[serde(flatten)]
    put: &'a Put,
}

#[derive(Deserialize)]
pub(crate) struct Receipts {
    pub(crate) receipts: Vec<BatchItem>,
}

impl Client {
    /// Creates a task or changes it.
    pub async fn put(&self, put: Put) -> Result<Receipted, Error> {
        let change = Change {
            revision: put.revision,
            key: put.key.clone(),
        };
        let path = task_path(&put.kind, &put.subject, "");
        let request = change_of(Method::PUT, path, change).json(&put)?;
        self.send(request).await
    }

    /// Moves a task to another time and leaves the rest as it is. Creates it, if it is not there
    /// and its kind is configured.
    pub async fn reschedule(
        &self,
        kind: &str,
        subject: &str,
        execute_at: Timestamp,
        change: Change,
    ) -> Result<Receipted, Error> {
        let mut put = Put::new(kind, subject, execute_at);
        (put.revision, put.key) = (change.revision, change.key);
        self.put(put).await
    }

    /// Withdraws a task. A node without it answers `no_such_task`, unless a revision is given.
    pub async fn cancel(
        &self,
        kind: &str,
        subject: &str,
        change: Change,
    ) -> Result<Receipted, Error> {
        let revision = change.revision;
        let request = change_of(Method::DELETE, task_path(kind, subject, ""), change);
        self.send(request.query("revision", revision)).await
    }

    /// Tries a task again now, with the payload it had.
    pub async fn retry(&self, kind: &str, subject: &str) -> Result<Receipted, Error> {
        let path = task_path(kind, subject, "/retry");
        self.send(change_of(Method::POST, path, Change::default()))
            .await
    }

    /// The current task of an identity.
    pub async fn get(&self, kind: &str, subject: &str) -> Result<Task, Error> {
        self.send(Request::get(task_path(kind, subject, ""))).await
    }

    /// The current task of an identity, if there is one.
    pub async fn find(&self, kind: &str, subject: &str) -> Result<Option<Task>, Error> {
        match self.get(kind, subject).await {
            Ok(task) => Ok(Some(task)),
            Err(error) if error.is_code("no_such_task") => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// A page of tasks, newest first; an empty page may still lead to another one.
    pub async fn list(
        &self,
        filter: &Filter,
        limit: Option<u32>,
        cursor: Option<&str>,
    ) -> Result<TasksPage, Error> {
        let request = filter.ask(Request::get("/api/v1/tasks"));
        self.send(request.query("limit", limit).query("cursor", cursor))
            .await
    }

    /// The newest decisions and attempts of a task, in order.
    pub async fn history(
        &self,
        kind: &str,
        subject: &str,
        cursor: Option<&str>,
    ) -> Result<HistoryPage, Error> {
        let request = Request::get(task_path(kind, subject, "/history"));
        self.send(request.query("cursor", cursor)).await
    }

    /// Creates or changes many. Each is carried out separately and answered in its place; with a
    /// `key` all or none are, an identity may appear once, and the call is repeated while the node
    /// is away. Without one it is repeated only if every item has a revision.
    pub async fn batch(&self, puts: &[Put], key: Option<&str>) -> Result<Vec<BatchItem>, Error> {
        let tasks: Vec<Item<'_>> = puts
            .iter()
            .map(|put| Item {
                kind: &put.kind,
                subject: &put.subject,
                put,
            })
            .collect();
        let numbered = puts.iter().all(|put| put.revision.is_some());
        let repeat = Repeat::if_harmless(key.is_some() || numbered);
        let request = Request::new(Method::POST, "/api/v1/tasks:batch", repeat)
            .header("idempotency-key", key.map(str::to_owned))
            .json(&BTreeMap::from([("tasks", tasks)]))?;
        Ok(self.send::<Receipts>(request).await?.receipts)
    }

    /// What became of a decision.
    pub async fn receipt(&self, receipt: DecisionId) -> Result<KeptReceipt, Error> {
        let path = format!("/api/v1/receipts/{}", segment(&receipt.to_string()));
        self.send(Request::get(path)).await
    }
}

/// A change of one task, repeatable by its revision or its key.
fn change_of(method: Method, path: String, change: Change) -> Request {
    let numbered = change.revision.is_some();
    let key = change.or_fresh();
    let repeat = Repeat::if_harmless(numbered || key.is_some());
    Request::new(method, path, repeat).header("idempotency-key", key)
}
