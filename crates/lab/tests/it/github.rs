//! A GitHub for each test, and a client with a token.

mod actions;
mod admission;
mod contents;
mod control;
mod faults;
mod graphql;
mod refs;

use almanack_lab::github::{
    self, Config, Handle, Running,
    setup::{Input, Permission, Repository, Setup, Token, Workflow},
};
use reqwest::{Method, RequestBuilder, header::HeaderMap};
use serde_json::Value;
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::support::{ManualClock, client};

/// The repository most tests use.
const REPO: &str = "/repos/octo/clock";
/// Of the one commit that `main` starts from; read by [`GithubStand::head`].
const MAIN: &str = "refs/heads/main";

/// A running GitHub with two repositories and four tokens.
struct GithubStand {
    clock: ManualClock,
    running: Running,
    client: reqwest::Client,
    _stop: DropGuard,
}

/// Status, headers and body.
#[derive(Debug)]
struct Answer {
    status: u16,
    headers: HeaderMap,
    body: Value,
}

impl Answer {
    fn header(&self, name: &str) -> &str {
        self.headers
            .get(name)
            .map_or("", |value| value.to_str().unwrap())
    }

    fn number(&self, name: &str) -> i64 {
        self.header(name).parse().unwrap()
    }

    /// Status and message, which identify a refusal.
    fn refusal(&self) -> (u16, &str) {
        (
            self.status,
            self.body["message"].as_str().unwrap_or_default(),
        )
    }
}

fn setup() -> Setup {
    let both = ["octo/clock", "octo/target"];
    let reader = Token {
        contents: Permission::Read,
        actions: Permission::Read,
        ..Token::new("reader", "s-reader", &both)
    };
    let blind = Token {
        contents: Permission::None,
        actions: Permission::None,
        ..Token::new("blind", "s-blind", &both)
    };
    let target = Workflow {
        inputs: vec![
            Input::optional("slot"),
            Input {
                name: "city".to_owned(),
                required: true,
            },
        ],
        ..Workflow::new("publish.yml")
    };
    let push_only = Workflow {
        dispatchable: false,
        ..Workflow::new("ci.yml")
    };
    let single = Workflow {
        cancel_in_progress: true,
        ..Workflow::new("tick-a.yml")
    };
    let ticks = vec![single, Workflow::new("tick-b.yml")];
    let mut clock = Repository::new("octo", "clock", ticks);
    clock.branches.push("draft".to_owned());
    Setup {
        tokens: vec![
            Token::new("chain", "s-chain", &["octo/clock"]),
            Token::new("trigger", "s-trigger", &["Octo/Target"]),
            reader,
            blind,
        ],
        repositories: vec![
            clock,
            Repository::new("octo", "target", vec![target, push_only]),
        ],
    }
}

impl GithubStand {
    async fn start() -> Self {
        let clock = ManualClock::at("2026-01-05T08:00:00Z");
        let config = Config {
            setup: setup(),
            clock: clock.as_clock(),
            ..Config::new(([127, 0, 0, 1], 0).into())
        };
        let cancel = CancellationToken::new();
        let running = github::start(config, cancel.clone()).await.unwrap();
        Self {
            clock,
            running,
            client: client(),
            _stop: cancel.drop_guard(),
        }
    }

    fn handle(&self) -> &Handle {
        &self.running.handle
    }

    /// A request without token or user agent.
    fn bare(&self, method: Method, path: &str) -> RequestBuilder {
        self.client
            .request(method, format!("{}{path}", self.running.url()))
    }

    /// A request as a client makes it.
    fn ask(&self, method: Method, path: &str, secret: &str) -> RequestBuilder {
        self.bare(method, path)
            .header("user-agent", "almanack-tests")
            .bearer_auth(secret)
    }

    async fn get(&self, path: &str) -> Answer {
        answer(self.ask(Method::GET, path, "s-chain")).await
    }

    async fn send(&self, method: Method, path: &str, body: Value) -> Answer {
        answer(self.ask(method, path, "s-chain").json(&body)).await
    }

    async fn post(&self, path: &str, body: Value) -> Answer {
        self.send(Method::POST, path, body).await
    }

    /// The commit of `main`.
    fn head(&self) -> String {
        self.handle().refs("octo", "clock")[MAIN].clone()
    }
}

async fn answer(request: RequestBuilder) -> Answer {
    let response = request.send().await.unwrap();
    let (status, headers) = (response.status().as_u16(), response.headers().clone());
    let text = response.text().await.unwrap();
    let body = serde_json::from_str(&text).unwrap_or(Value::String(text));
    Answer {
        status,
        headers,
        body,
    }
}
