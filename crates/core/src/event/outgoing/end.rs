//! How a task ended: what its event says, and the short form of it that a batch keeps.

use std::borrow::Cow;

use jiff::Timestamp;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

use super::{
    Type,
    data::{Data, EventDraft},
};
use crate::{
    finish::Finish,
    plan::shareable_detail,
    task::{ClaimedTask, Status},
};

#[derive(Serialize)]
pub(super) struct TaskFinished<'a> {
    task_id: i64,
    subject: &'a str,
    kind: &'a str,
    status: &'static str,
    attempt: u32,
    revision: i64,
    execute_at: Timestamp,
    /// None of a task that was never tried.
    #[serde(skip_serializing_if = "Option::is_none")]
    started_at: Option<Timestamp>,
    finished_at: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<&'a str>,
    /// Why it failed, where a program may want to know: `expired`.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
}

/// How a task ended, as far as its event says. A batch keeps this, a quarter of the event's length,
/// because the database writes a task's row three times.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TaskEnd {
    task_id: i64,
    term: i64,
    subject: String,
    kind: String,
    status: Status,
    attempt: u32,
    revision: i64,
    execute_at: Timestamp,
    started_at: Option<Timestamp>,
    pub(super) finished_at: Timestamp,
    detail: Option<String>,
}

/// A [`TaskEnd`] as it is kept: a list, because names would be longer than what they name.
type Kept<'a> = (
    i64,
    i64,
    Cow<'a, str>,
    Cow<'a, str>,
    Status,
    u32,
    i64,
    (i64, Option<i64>, i64),
    Option<Cow<'a, str>>,
);

impl Serialize for TaskEnd {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let times = (
            self.execute_at.as_microsecond(),
            self.started_at.map(Timestamp::as_microsecond),
            self.finished_at.as_microsecond(),
        );
        let kept: Kept<'_> = (
            self.task_id,
            self.term,
            Cow::Borrowed(&self.subject),
            Cow::Borrowed(&self.kind),
            self.status,
            self.attempt,
            self.revision,
            times,
            self.detail.as_deref().map(Cow::Borrowed),
        );
        kept.serialize(to)
    }
}

impl<'de> Deserialize<'de> for TaskEnd {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let (task_id, term, subject, kind, status, attempt, revision, times, detail) =
            Kept::deserialize(from)?;
        let at = |micros| Timestamp::from_microsecond(micros).map_err(D::Error::custom);
        Ok(Self {
            task_id,
            term,
            subject: subject.into_owned(),
            kind: kind.into_owned(),
            status,
            attempt,
            revision,
            execute_at: at(times.0)?,
            started_at: times.1.map(at).transpose()?,
            finished_at: at(times.2)?,
            detail: detail.map(Cow::into_owned),
        })
    }
}

impl TaskEnd {
    pub(super) fn of(task: &ClaimedTask, finish: &Finish) -> Self {
        let kind = task.identity.kind.as_str();
        let detail = finish.detail.as_deref();
        Self {
            task_id: task.id.0,
            term: task.term.0,
            subject: task.identity.subject.to_string(),
            kind: kind.to_owned(),
            status: finish.status,
            attempt: finish.attempt,
            revision: task.revision.0,
            execute_at: task.execute_at,
            started_at: finish.tried.then_some(finish.ended.started_at),
            finished_at: finish.ended.finished_at,
            detail: detail.map(|detail| shareable_detail(kind, detail).to_owned()),
        }
    }

    /// The id of its event.
    pub(super) fn event_id(&self) -> String {
        format!("task-{}-{}", self.task_id, self.term)
    }

    /// The event of an attempt that ended its task.
    pub(super) fn event(&self) -> EventDraft<'_> {
        EventDraft {
            id: self.event_id(),
            what: Type::TaskFinished,
            subject: self.subject.clone(),
            at: self.finished_at,
            data: Data::Task(TaskFinished {
                task_id: self.task_id,
                subject: &self.subject,
                kind: &self.kind,
                status: self.status.as_str(),
                attempt: self.attempt,
                revision: self.revision,
                execute_at: self.execute_at,
                started_at: self.started_at,
                finished_at: self.finished_at,
                detail: self.detail.as_deref(),
                reason: self.reason(),
            }),
        }
    }

    /// Only what expired before it could start ends without having been tried (WK-06), so nothing
    /// more needs to be kept.
    fn reason(&self) -> Option<&'static str> {
        (self.status == Status::Fail && self.started_at.is_none()).then_some("expired")
    }

    /// About how long its event is, in bytes.
    pub(super) fn event_bytes(&self) -> usize {
        let detail = self.detail.as_ref().map_or(0, String::len);
        450 + 2 * self.subject.len() + self.kind.len() + detail
    }
}
