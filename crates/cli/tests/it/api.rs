//! The HTTP API of a process, called as a client would: over a socket, with nothing kept between
//! calls.

use std::{net::SocketAddr, time::Duration};

use reqwest::Method;
use serde_json::{Value, json};

use crate::process::eventually;

/// The longest answer is that of a node whose database is gone.
const ANSWER_WITHIN: Duration = Duration::from_secs(20);
/// A time in the past means now (RS-11).
pub(crate) const NOW: &str = "2020-01-01T00:00:00Z";

#[derive(Clone)]
pub(crate) struct Api {
    client: reqwest::Client,
    base: String,
    token: Option<String>,
}

#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) json: Value,
}

impl Answer {
    /// Status and problem code, for those that name one.
    pub(crate) fn problem(&self) -> (u16, &str) {
        (self.status, self.json["code"].as_str().unwrap_or(""))
    }
}

/// A client for what is not JSON.
pub(crate) fn client() -> reqwest::Client {
    // The provider may be there already, from another test of this process.
    let _ = rustls::crypto::ring::default_provider().install_default();
    #[expect(clippy::disallowed_methods, reason = "tests ask from outside")]
    let client = reqwest::Client::builder().no_proxy().timeout(ANSWER_WITHIN);
    // A connection kept open would tie a request to a process that was killed since.
    client.pool_max_idle_per_host(0).build().unwrap()
}

impl Api {
    pub(crate) fn at(address: SocketAddr) -> Self {
        Self {
            client: client(),
            base: format!("http://{address}"),
            token: None,
        }
    }

    /// The same, showing a token.
    pub(crate) fn with_token(mut self, token: &str) -> Self {
        self.token = Some(token.to_owned());
        self
    }

    /// Asks once. The error is that there was no answer.
    pub(crate) async fn ask(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> reqwest::Result<Answer> {
        let mut request = self.client.request(method, format!("{}{path}", self.base));
        if let Some(body) = body {
            request = request.json(body);
        }
        if let Some(token) = &self.token {
            request = request.bearer_auth(token);
        }
        let response = request.send().await?;
        let status = response.status().as_u16();
        let text = response.text().await?;
        let json = serde_json::from_str(&text).unwrap_or(Value::String(text));
        Ok(Answer { status, json })
    }

    /// Asks until there is an answer, whatever it is.
    pub(crate) async fn insist(&self, method: Method, path: &str, body: Option<&Value>) -> Answer {
        let what = format!("{method} {}{path} is answered", self.base);
        eventually(&what, async || {
            self.ask(method.clone(), path, body).await.ok()
        })
        .await
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.ask(Method::GET, path, None).await.unwrap()
    }

    pub(crate) async fn put(&self, path: &str, body: &Value) -> Answer {
        self.ask(Method::PUT, path, Some(body)).await.unwrap()
    }

    /// Puts a task that is due now; it must be taken.
    pub(crate) async fn put_due(&self, kind: &str, subject: &str, callback: &str) {
        let body = json!({ "execute_at": NOW, "callback": { "url": callback }, "max_retry": 100 });
        let answer = self.put(&task(kind, subject), &body).await;
        assert_eq!(answer.status, 201, "{answer:?}");
    }

    /// Waits until the task has this status; answers the task.
    pub(crate) async fn until_status(&self, kind: &str, subject: &str, status: &str) -> Value {
        let what = format!("{kind} {subject} is {status}");
        eventually(&what, async || {
            let answer = self.ask(Method::GET, &task(kind, subject), None).await;
            let task = answer.ok()?.json;
            (task["status"] == status).then_some(task)
        })
        .await
    }

    /// The attempts of an identity, in order.
    pub(crate) async fn attempts(&self, kind: &str, subject: &str) -> Vec<Value> {
        let answer = self.get(&format!("{}/history", task(kind, subject))).await;
        assert_eq!(answer.status, 200, "{answer:?}");
        let events = answer.json["events"].as_array().unwrap();
        let attempts = events.iter().filter(|it| it["what"] == "attempt");
        attempts.cloned().collect()
    }

    /// How the attempts of an identity ended, in order.
    pub(crate) async fn outcomes(&self, kind: &str, subject: &str) -> Vec<String> {
        let attempts = self.attempts(kind, subject).await;
        let outcomes = attempts.iter().map(|it| it["outcome"].as_str().unwrap());
        outcomes.map(str::to_owned).collect()
    }

    /// All tasks that will still be tried, or are being tried. One question: a task that changes
    /// its status between two would be in neither answer.
    pub(crate) async fn live_tasks(&self) -> Vec<Value> {
        let answer = self.get("/api/v1/tasks?limit=500&live=true").await;
        assert!(answer.json["next_cursor"].is_null(), "more than a page");
        answer.json["tasks"].as_array().unwrap().clone()
    }
}

/// Where a task is.
pub(crate) fn task(kind: &str, subject: &str) -> String {
    format!("/api/v1/tasks/{kind}/{subject}")
}
