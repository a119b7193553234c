//! The inbox: requests that were written in somebody else's transaction.
//!
//! A service that keeps its data in Almanack's database requests a change with a SQL function,
//! beside its own changes. The function writes a row here and nothing else, so the request exists
//! if and only if that transaction was committed. A node reads it like an event's data, decides by
//! the same rules ([`crate::reschedule`]) and writes the answer into the row.
//!
//! Rows of one identity are answered in the order of their numbers, which is the order of their
//! commits: the function waits for another transaction that has an open request about the same
//! identity.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{
    both,
    event::incoming::{EventError, read_cancel, read_put},
    reschedule::{Receipt, Request},
    text::shorten,
};

/// The number of a request, as the SQL function returned it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(transparent)]
pub struct InboxNumber(pub i64);

/// A request as the function wrote it: checked by the function, not to be relied on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InboxRequest {
    pub number: InboxNumber,
    /// `put` or `cancel`.
    pub verb: String,
    pub kind: String,
    pub subject: String,
    /// JSON with the fields of an event's data.
    pub data: String,
    /// The database role that called the function.
    pub role: String,
}

impl InboxRequest {
    /// What it requests.
    pub fn read(&self, payload_limit: usize) -> Result<Request, EventError> {
        let data = (self.data.as_str(), "request");
        match self.verb.as_str() {
            "put" => read_put(&self.subject, data, payload_limit).map(Request::Put),
            "cancel" => read_cancel(&self.subject, data).map(Request::Cancel),
            other => Err(EventError::Shape(both!(
                "verb `{other}` is neither `put` nor `cancel`",
                "动词 `{other}` 既不是 `put` 也不是 `cancel`"
            ))),
        }
    }

    /// What the history says about who requested it.
    pub fn origin(&self) -> String {
        origin_of(&self.role)
    }
}

/// The origin of what a role requests.
pub fn origin_of(role: &str) -> String {
    format!("sql:{role}")
}

/// The answer to a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum InboxAnswer {
    /// What was decided.
    Receipt(Receipt),
    /// Why nothing was: the same request would be refused again.
    Refused(String),
}

/// Longest part of a reason that is kept.
const REASON_CHARS_MAX: usize = 1_000;

impl InboxAnswer {
    /// A refusal in words, cut to size.
    pub fn refused(reason: &str) -> Self {
        Self::Refused(shorten(reason, REASON_CHARS_MAX).into_owned())
    }
}

/// A request and what became of it. Without an answer, it waits for a node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct InboxEntry {
    /// The number that the function returned.
    pub number: InboxNumber,
    /// `put` or `cancel`.
    pub verb: String,
    pub kind: String,
    pub subject: String,
    /// Who requested it: `sql:` and the database role.
    pub origin: String,
    /// When the function was called, by the database's clock.
    pub asked_at: Timestamp,
    /// When it was answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answered_at: Option<Timestamp>,
    /// `receipt` or `refused`, once it is answered.
    #[serde(flatten)]
    pub answer: Option<InboxAnswer>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::at;

    fn request(verb: &str, data: &str) -> InboxRequest {
        InboxRequest {
            number: InboxNumber(7),
            verb: verb.to_owned(),
            kind: "ARTICLE_PUBLISH".to_owned(),
            subject: "article:42".to_owned(),
            data: data.to_owned(),
            role: "shop".to_owned(),
        }
    }

    #[test]
    fn wk_03_a_request_is_read_like_an_events_data() {
        let data = r#"{"kind":"ARTICLE_PUBLISH","execute_at":"2026-01-05T08:01:00Z","priority":7}"#;
        let Ok(Request::Put(put)) = request("put", data).read(1_000) else {
            panic!("it is a put");
        };
        assert_eq!((put.execute_at, put.revision), (at(60), None));
        assert_eq!(put.priority.map(crate::task::Priority::level), Some(7));
        let data = r#"{"kind":"ARTICLE_PUBLISH","revision":4}"#;
        let cancel = request("cancel", data).read(1_000).unwrap();
        assert_eq!(cancel.revision().map(|revision| revision.0), Some(4));
        assert_eq!(request("put", data).origin(), "sql:shop");
    }

    #[test]
    fn wk_03_what_a_newer_function_wrote_is_refused_by_its_field() {
        let data = r#"{"kind":"ARTICLE_PUBLISH","colour":"red"}"#;
        let refused = request("cancel", data).read(1_000).unwrap_err();
        assert!(
            refused
                .to_string()
                .contains("unknown field `request.colour`"),
            "{refused}"
        );
    }
}
