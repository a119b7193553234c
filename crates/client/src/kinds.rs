//! Kinds: hold and resume the tasks of one.

use almanack_core::task::Kind;
use jiff::Timestamp;
use reqwest::Method;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::{
    error::Error,
    http::{Client, Repeat, Request, segment},
};

/// A kind and what is known of its tasks.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct KindStatus {
    pub kind: Kind,
    /// `push` or `pull`.
    #[serde(default)]
    pub deliver: Option<String>,
    /// The pause it is in: `note`, `until`, `by`, `at`.
    #[serde(default)]
    pub paused: Option<Map<String, Value>>,
    #[serde(default)]
    pub waiting: u64,
    #[serde(default)]
    pub due: u64,
    #[serde(default)]
    pub running: u64,
}

/// All kinds.
#[derive(Debug, Clone, Deserialize)]
pub struct KindsPage {
    pub kinds: Vec<KindStatus>,
}

impl Client {
    /// All kinds that are configured or have tasks.
    pub async fn kinds(&self) -> Result<KindsPage, Error> {
        self.send(Request::get("/api/v1/kinds")).await
    }

    /// Holds a kind: its waiting tasks stay, running ones end.
    pub async fn pause_kind(
        &self,
        kind: &str,
        until: Option<Timestamp>,
        note: Option<&str>,
    ) -> Result<KindStatus, Error> {
        let request = Request::new(Method::POST, path(kind, "/pause"), Repeat::Harmless);
        let body = json!({ "until": until, "note": note });
        self.send(request.json(&body)?).await
    }

    /// Lets its tasks run again.
    pub async fn resume_kind(&self, kind: &str) -> Result<KindStatus, Error> {
        let request = Request::new(Method::POST, path(kind, "/resume"), Repeat::Harmless);
        self.send(request).await
    }
}

fn path(kind: &str, rest: &str) -> String {
    format!("/api/v1/kinds/{}{rest}", segment(kind))
}
