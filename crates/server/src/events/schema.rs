//! How the OpenAPI document describes events and the answers to them. `core` reads events itself,
//! from the JSON alone; nothing here is ever constructed.
#![expect(dead_code, reason = "only described, never constructed")]

use crate::prelude::*;
use crate::{batch::BatchView, receipts::ReceiptView};

/// A `CloudEvents` 1.0 event. Extension attributes are allowed and ignored.
#[derive(ToSchema)]
pub(crate) struct EventBody {
    #[schema(example = "1.0")]
    specversion: String,
    /// Unique within its source.
    id: String,
    /// Who sends it; the history shows it.
    #[schema(example = "/articles")]
    source: String,
    r#type: EventType,
    /// What the task is about.
    #[schema(example = "article:42")]
    subject: String,
    data: EventData,
}

/// What the event says.
#[derive(ToSchema)]
pub(crate) enum EventType {
    /// A time was set or changed.
    #[schema(rename = "almanack.task.put.v1")]
    Put,
    /// An intent was withdrawn.
    #[schema(rename = "almanack.task.cancel.v1")]
    Cancel,
}

/// The change of intent. A withdrawal has `kind` and `revision` only.
#[derive(ToSchema)]
pub(crate) struct EventData {
    /// What is tried.
    #[schema(example = "ARTICLE_PUBLISH")]
    kind: String,
    /// The sender's numbering of its changes; an older one never overrides a newer one.
    #[schema(minimum = 1)]
    revision: i64,
    /// When to try: an RFC 3339 instant. Required to set a time.
    #[schema(value_type = Option<String>, format = DateTime)]
    execute_at: Option<String>,
    /// What the handler needs to know: any JSON.
    payload: Option<serde_json::Value>,
    /// Where to call, if not where the configuration says.
    callback_url: Option<String>,
    /// Retries after the first attempt.
    #[schema(minimum = 0, maximum = 100)]
    max_retry: Option<i64>,
    /// Which of several due tasks goes first: 9 before 0.
    #[schema(minimum = 0, maximum = 9)]
    priority: Option<i64>,
}

/// One event: its receipt. A batch: what became of each, in order.
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
pub(crate) enum EventsView {
    One(ReceiptView),
    Many(BatchView),
}
