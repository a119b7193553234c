//! Changes as CloudEvents: for services that keep an outbox.

use reqwest::Method;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::{
    error::Error,
    http::{Client, Repeat, Request},
    put::Put,
    tasks::{BatchItem, Receipts},
};

/// A change of a task as a CloudEvent. Its revision makes it harmless twice and out of order.
#[derive(Debug, Clone, Serialize)]
pub struct Event {
    specversion: &'static str,
    id: String,
    source: String,
    #[serde(rename = "type")]
    what: &'static str,
    subject: String,
    data: Map<String, Value>,
}

impl Event {
    /// Sets a task's time. `id` is the event's own, `source` names the sender: `/article-service`.
    pub fn put(
        id: impl Into<String>,
        source: impl Into<String>,
        revision: i64,
        put: Put,
    ) -> Result<Self, Error> {
        let (kind, subject) = (put.kind.clone(), put.subject.clone());
        let data = serde_json::to_value(put.revision(revision)).map_err(Error::Payload)?;
        let Value::Object(mut data) = data else {
            return Ok(Self::cancel(id, source, revision, kind, subject));
        };
        data.insert("kind".to_owned(), kind.into());
        // An event has only the address, flat, where nothing else is said about the call.
        let url = data.get("callback").and_then(Value::as_object);
        let url = url.filter(|callback| callback.len() == 1);
        if let Some(url) = url.and_then(|callback| callback.get("url")).cloned() {
            data.remove("callback");
            data.insert("callback_url".to_owned(), url);
        }
        Ok(Self {
            what: "almanack.task.put.v1",
            data,
            ..Self::cancel(id, source, revision, String::new(), subject)
        })
    }

    /// Withdraws a task.
    pub fn cancel(
        id: impl Into<String>,
        source: impl Into<String>,
        revision: i64,
        kind: impl Into<String>,
        subject: impl Into<String>,
    ) -> Self {
        let data = [
            ("kind".to_owned(), kind.into().into()),
            ("revision".to_owned(), revision.into()),
        ];
        Self {
            specversion: "1.0",
            id: id.into(),
            source: source.into(),
            what: "almanack.task.cancel.v1",
            subject: subject.into(),
            data: data.into_iter().collect(),
        }
    }
}

impl Client {
    /// Sends events; each is answered in its place.
    pub async fn send_events(&self, events: &[Event]) -> Result<Vec<BatchItem>, Error> {
        let body = serde_json::to_vec(events).map_err(Error::Payload)?;
        let request = Request::new(Method::POST, "/api/v1/events", Repeat::Harmless)
            .body("application/cloudevents-batch+json", body);
        Ok(self.send::<Receipts>(request).await?.receipts)
    }
}
