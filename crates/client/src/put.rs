//! What is said about a task, and what makes a change recognisable when it arrives again.

use std::{collections::BTreeMap, time::Duration};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::{error::Error, http::fresh_key};

/// A task to create or to change. What is not said stays as it is, or gets its default.
#[derive(Debug, Clone, Serialize)]
pub struct Put {
    /// In the path of a single put, and in the items of a batch.
    #[serde(skip)]
    pub(crate) kind: String,
    #[serde(skip)]
    pub(crate) subject: String,
    pub(crate) execute_at: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) payload: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) callback: Option<Callback>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) max_retry: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) priority: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) revision: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) expires_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) expires_after_s: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tags: Option<Vec<String>>,
    #[serde(skip)]
    pub(crate) key: Option<String>,
}

/// Where and how a task calls; what is not said is as the kind is configured.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Callback {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub method: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_s: Option<u64>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
}

impl Callback {
    /// A POST to this address, as the node is configured.
    pub fn to(url: impl Into<String>) -> Self {
        Self {
            url: Some(url.into()),
            ..Self::default()
        }
    }
}

impl Put {
    /// Tries `kind` about `subject` at this time; a time in the past means now.
    pub fn new(kind: impl Into<String>, subject: impl Into<String>, execute_at: Timestamp) -> Self {
        Self {
            kind: kind.into(),
            subject: subject.into(),
            execute_at,
            payload: None,
            callback: None,
            max_retry: None,
            priority: None,
            revision: None,
            expires_at: None,
            expires_after_s: None,
            tags: None,
            key: None,
        }
    }

    /// What the handler needs to know, as JSON.
    pub fn payload(mut self, payload: &impl Serialize) -> Result<Self, Error> {
        let written = serde_json::value::to_raw_value(payload);
        self.payload = Some(written.map_err(Error::Payload)?);
        Ok(self)
    }

    /// Where to call, if the kind is not configured. Not for pulled kinds.
    #[must_use]
    pub fn callback(mut self, callback: Callback) -> Self {
        self.callback = Some(callback);
        self
    }

    /// Retries after the first attempt, 0 to 100.
    #[must_use]
    pub fn max_retry(mut self, count: u32) -> Self {
        self.max_retry = Some(count);
        self
    }

    /// 0 to 9; 9 goes first.
    #[must_use]
    pub fn priority(mut self, level: u8) -> Self {
        self.priority = Some(level);
        self
    }

    /// Your number of this change, from 1; an older one never overrides a newer one.
    #[must_use]
    pub fn revision(mut self, revision: i64) -> Self {
        self.revision = Some(revision);
        self
    }

    /// Not tried any more after this.
    #[must_use]
    pub fn expires_at(mut self, at: Timestamp) -> Self {
        self.expires_at = Some(at);
        self
    }

    /// Not tried any more so long after its time; moves with it.
    #[must_use]
    pub fn expires_after(mut self, after: Duration) -> Self {
        self.expires_after_s = Some(after.as_secs());
        self
    }

    /// Words to find it by; at most 8.
    #[must_use]
    pub fn tags<T: Into<String>>(mut self, tags: impl IntoIterator<Item = T>) -> Self {
        self.tags = Some(tags.into_iter().map(Into::into).collect());
        self
    }

    /// An idempotency key of your own: the same key again answers what it answered before.
    #[must_use]
    pub fn key(mut self, key: impl Into<String>) -> Self {
        self.key = Some(key.into());
        self
    }
}

/// What makes a change recognisable when it arrives again. Default: the client's own key.
#[derive(Debug, Clone, Default)]
pub struct Change {
    /// Your number of this change.
    pub revision: Option<i64>,
    /// An idempotency key of your own.
    pub key: Option<String>,
}

impl Change {
    /// A numbered change.
    pub fn revision(revision: i64) -> Self {
        Self {
            revision: Some(revision),
            key: None,
        }
    }

    /// The key to send: none is needed where the revision is known, and each costs the node a row.
    pub(crate) fn or_fresh(self) -> Option<String> {
        let fresh = || self.revision.is_none().then(fresh_key).flatten();
        self.key.or_else(fresh)
    }
}
