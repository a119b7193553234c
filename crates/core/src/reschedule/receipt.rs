//! Receipts: the answer to a change of intent, and the name to ask about it later.

use std::fmt;

use jiff::Timestamp;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

use super::{Change, Rule};
use crate::task::{Revision, TaskId};

/// Names one decision: the row it was made on and its number there; 0 is the row's creation.
/// Outside it is a receipt: the row, a dot, the number (`17.2`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct DecisionId {
    /// The row.
    pub task_id: TaskId,
    /// The decision's number on that row.
    pub number: u32,
}

impl fmt::Display for DecisionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.task_id, self.number)
    }
}

impl DecisionId {
    /// Reads a receipt, in the one form that is also written: `+1.2` and `01.2` are never issued.
    pub fn parse(text: &str) -> Option<Self> {
        let (task_id, number) = text.split_once('.')?;
        let id = Self {
            task_id: TaskId(task_id.parse().ok()?),
            number: number.parse().ok()?,
        };
        (id.to_string() == text).then_some(id)
    }
}

impl Serialize for DecisionId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for DecisionId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| D::Error::custom("not a receipt"))
    }
}

/// The content of a request, kept where it changed nothing: the row shows nothing of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub struct Requested {
    /// When to try; `None` for a withdrawal.
    pub execute_at: Option<Timestamp>,
    /// The requester's own number, if it came with one.
    pub revision: Option<Revision>,
}

/// What was requested, on the wire: `what` says how to read the rest.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
struct Named {
    /// `put` or `cancel`.
    what: &'static str,
    /// When to try, of a put.
    #[serde(skip_serializing_if = "Option::is_none")]
    execute_at: Option<Timestamp>,
    /// The number it came with, if it had one.
    #[serde(skip_serializing_if = "Option::is_none")]
    revision: Option<Revision>,
}

impl Serialize for Requested {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (
            what,
            Self {
                execute_at,
                revision,
            },
        ) = (self.name(), *self);
        Named {
            what,
            execute_at,
            revision,
        }
        .serialize(serializer)
    }
}

#[cfg(feature = "schema")]
impl utoipa::PartialSchema for Requested {
    fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::Schema> {
        Named::schema()
    }
}

#[cfg(feature = "schema")]
impl utoipa::ToSchema for Requested {}

impl Requested {
    /// What it was, as the store and the API name it.
    pub fn name(&self) -> &'static str {
        match self.execute_at {
            Some(_) => "put",
            None => "cancel",
        }
    }
}

/// The answer to a change of intent: what was decided, and about which rows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Receipt {
    /// Names the decision, to ask later whether it was kept.
    #[serde(rename = "receipt")]
    #[cfg_attr(feature = "schema", schema(value_type = String))]
    pub decision: DecisionId,
    /// Which rule applied.
    pub rule: Rule,
    /// The identity's current row afterwards.
    pub task_id: TaskId,
    /// The row that was cancelled to make room, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cancelled_task_id: Option<TaskId>,
    /// The time before, if there was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub old_execute_at: Option<Timestamp>,
    /// The time in force now.
    pub execute_at: Timestamp,
    /// The revision in force now.
    pub revision: Revision,
}

impl Receipt {
    /// The receipt of a request that had been decided before, as this number on the same row.
    #[must_use]
    pub fn repeating(self, number: u32) -> Self {
        let task_id = self.decision.task_id;
        Self {
            decision: DecisionId { task_id, number },
            ..self
        }
    }

    /// The receipt for a change that the store carried out; `inserted` is the row it wrote.
    pub fn of(change: &Change, inserted: Option<TaskId>) -> Option<Self> {
        let amended = change.amend.as_ref();
        let decision = match (amended, inserted) {
            (Some(amend), _) => DecisionId {
                task_id: amend.guard.task_id,
                number: amend.guard.decisions + 1,
            },
            (None, Some(task_id)) => DecisionId { task_id, number: 0 },
            (None, None) => return None,
        };
        let new = change.insert.as_ref();
        let replaced_running = change.rule == Rule::CancelledAndInserted;
        Some(Self {
            decision,
            rule: change.rule,
            task_id: inserted.unwrap_or(decision.task_id),
            cancelled_task_id: replaced_running.then_some(decision.task_id),
            old_execute_at: amended.map(|amend| amend.old_execute_at),
            execute_at: new
                .map(|new| new.execute_at)
                .or(amended.map(|amend| amend.execute_at))?,
            revision: new
                .map(|new| new.revision)
                .or(amended.map(|amend| amend.revision))?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rs_14_a_receipt_is_read_back_only_as_it_was_written() {
        let id = DecisionId {
            task_id: TaskId(17),
            number: 2,
        };
        assert_eq!(DecisionId::parse(&id.to_string()), Some(id));
        for text in [
            "", "17", "17.", ".2", "17.2.3", "+17.2", "017.2", "17.-1", "a.b",
        ] {
            assert_eq!(DecisionId::parse(text), None, "{text}");
        }
    }
}
