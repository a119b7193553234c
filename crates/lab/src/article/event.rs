//! The events for Almanack: CloudEvents 1.0 about an article's tasks.
//!
//! The event is written out in full when the change happens and never built again, so that a
//! redelivery has the same bytes and the same id. The id follows from the event's content
//! (`article:42/ARTICLE_PUBLISH/3`), which makes a second event for one revision impossible.

use std::net::SocketAddr;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::state::{Announcement, Article};
use crate::stand::reachable;

/// The kind of the audit task.
pub const KIND_AUDIT: &str = "ARTICLE_AUDIT";
/// The kind of the publish task.
pub const KIND_PUBLISH: &str = "ARTICLE_PUBLISH";

const TYPE_PUT: &str = "almanack.task.put.v1";
const TYPE_CANCEL: &str = "almanack.task.cancel.v1";
const SOURCE: &str = "urn:almanack:world:article-service";

/// What each event contains besides the time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ChangeRequests {
    /// Name our own callback address in each task, instead of relying on Almanack's configuration
    /// to know one per kind.
    pub callback_url: bool,
    /// Requested retries; otherwise Almanack's default.
    pub max_retry: Option<u32>,
}

#[derive(Debug, Clone)]
pub(super) struct Writer {
    requests: ChangeRequests,
    addr: SocketAddr,
}

/// An event ready for the outbox.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Event {
    pub(super) id: String,
    pub(super) json: String,
}

impl Writer {
    /// A service that listens on every address is called at loopback.
    pub(super) fn new(requests: ChangeRequests, listening: SocketAddr) -> Self {
        let addr = reachable(listening);
        Self { requests, addr }
    }

    /// Writes the event that announces `article` after its change.
    pub(super) fn write(&self, article: &Article, what: Announcement, now: Timestamp) -> Event {
        let (kind, execute_at) = match what {
            Announcement::Audit => (KIND_AUDIT, Some(now)),
            Announcement::Publish => (KIND_PUBLISH, Some(article.publish_at)),
            Announcement::CancelAudit => (KIND_AUDIT, None),
            Announcement::CancelPublish => (KIND_PUBLISH, None),
        };
        let (r#type, data) = match execute_at {
            Some(at) => (TYPE_PUT, self.put(article, kind, at)),
            None => (
                TYPE_CANCEL,
                json!({ "kind": kind, "revision": article.revision }),
            ),
        };
        let subject = format!("article:{}", article.id);
        let id = format!("{subject}/{kind}/{}", article.revision);
        let event = json!({
            "specversion": "1.0",
            "id": id,
            "source": SOURCE,
            "type": r#type,
            "subject": subject,
            "time": now,
            "datacontenttype": "application/json",
            "data": data,
        });
        Event {
            id,
            json: event.to_string(),
        }
    }

    fn put(&self, article: &Article, kind: &str, execute_at: Timestamp) -> Value {
        let mut data = json!({
            "kind": kind,
            "execute_at": execute_at,
            "revision": article.revision,
            "payload": { "article_id": article.id },
        });
        if let Some(max_retry) = self.requests.max_retry {
            data["max_retry"] = max_retry.into();
        }
        if self.requests.callback_url {
            let path = kind.trim_start_matches("ARTICLE_").to_lowercase();
            data["callback_url"] = format!("http://{}/callbacks/{path}", self.addr).into();
        }
        data
    }
}

#[cfg(test)]
mod tests;
