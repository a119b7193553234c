//! OpenAPI schemas of events and their answers. `core` reads events from the JSON itself; nothing
//! here is ever constructed.
#![expect(dead_code, reason = "only described, never constructed")]

use almanack_core::callback::Callback;

use crate::prelude::*;
use crate::{batch::BatchView, receipts::ReceiptView};

/// A `CloudEvents` 1.0 event. Extension attributes are allowed and ignored.
#[derive(ToSchema)]
pub(crate) struct EventBody {
    #[schema(example = "1.0")]
    specversion: String,
    /// Unique within its source.
    id: String,
    /// The sender; shown in the history.
    #[schema(example = "/articles")]
    source: String,
    r#type: EventType,
    /// Subject of the task.
    #[schema(example = "article:42")]
    subject: String,
    data: EventData,
}

/// Type of the event.
#[derive(ToSchema)]
pub(crate) enum EventType {
    /// Create or reschedule a task.
    #[schema(rename = "almanack.task.put.v1")]
    Put,
    /// Cancel a task.
    #[schema(rename = "almanack.task.cancel.v1")]
    Cancel,
}

/// The change. A cancellation has only `kind` and `revision`.
#[derive(ToSchema)]
pub(crate) struct EventData {
    /// Kind of the task.
    #[schema(example = "ARTICLE_PUBLISH")]
    kind: String,
    /// The sender's revision; an older one never overrides a newer one.
    #[schema(minimum = 1)]
    revision: i64,
    /// When to run: an RFC 3339 instant. Required for a put.
    #[schema(value_type = Option<String>, format = DateTime)]
    execute_at: Option<String>,
    /// Payload for the handler: any JSON.
    payload: Option<serde_json::Value>,
    /// Callback. Default: the configured one.
    callback_url: Option<String>,
    /// The same with method, timeout and headers.
    callback: Option<Callback>,
    /// Retries after the first attempt.
    #[schema(minimum = 0, maximum = 100)]
    max_retry: Option<i64>,
    /// Priority, 0 to 9; 9 runs first.
    #[schema(minimum = 0, maximum = 9)]
    priority: Option<i64>,
    /// When the task expires: an RFC 3339 instant. Stays when the time changes.
    #[schema(value_type = Option<String>, format = DateTime)]
    expires_at: Option<String>,
    /// Seconds after `execute_at` at which the task expires; moves with it. 0: never.
    #[schema(minimum = 0, maximum = 315_360_000)]
    expires_after_s: Option<i64>,
    /// Tags to find it by: up to 8 of up to 64 letters, digits, `.`, `_`, `:` or `-`.
    tags: Option<Vec<String>>,
}

/// One event: its receipt. A batch: the result of each event, in order.
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
pub(crate) enum EventsView {
    One(ReceiptView),
    Many(BatchView),
}
