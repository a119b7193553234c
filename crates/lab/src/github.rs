//! A GitHub on loopback, for clients that must work with the real one.
//!
//! It speaks the part of GitHub's REST API that Almanack uses: refs, files, workflow runs and
//! dispatches, with tokens, rate limits, conditional requests, pages and GitHub's own sentences;
//! and of the GraphQL API the one mutation that deletes many refs at once.
//!
//! ```text
//!   client ──► line ──► admission ────────► routes ──► state
//!              cut?     user agent, token,  http       one lock:
//!                       limit, fault, ETag             each request before or after each other
//! ```
//!
//! - [`setup`]: tokens, repositories and workflows at the start;
//! - [`state`]: what GitHub holds, and what it decides, without HTTP;
//! - [`refusal`]: its refusals, in its words;
//! - [`limit`], [`fault`]: what a request costs, and injected faults.
//!
//! INVARIANT: a request that is charged against a limit is recorded as charged, and vice versa, so
//! that budgets counted here are budgets at GitHub.

mod admission;
pub mod fault;
mod http;
pub mod limit;
mod page;
pub mod refusal;
pub mod setup;
pub mod state;

use std::{collections::BTreeMap, net::SocketAddr};

use axum::{
    Json, Router,
    extract::{Path, State},
    http::StatusCode,
    routing::{get, patch, post, put},
};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use tokio::sync::mpsc;

use self::{
    fault::{Effect, Matching},
    limit::{Account, Resource},
    refusal::Refusal,
    setup::{Repository, Setup, Token},
    state::{
        GitHub,
        run::{Conclusion, Dispatch, Run, RunEvent, Status},
    },
};
use crate::stand::{self, Stand, Upstream, done};
pub use crate::stand::{Error, start};

pub type Config = stand::Config<GitHub>;

impl Config {
    /// An empty GitHub with the system clock.
    pub fn new(listen: SocketAddr) -> Self {
        Self::of(listen, Setup::default())
    }
}

/// Handle to a running GitHub from the same process.
pub type Handle = Stand<GitHub>;
/// A running GitHub.
pub type Running = stand::Running<GitHub>;

/// What requests to GitHub are counted by.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct RequestKind {
    /// The token's name; empty without a known token.
    pub token: String,
    /// Method and path template: `GET /repos/{owner}/{repo}/git/ref/{ref}`.
    pub route: String,
    /// Status of the response.
    pub status: u16,
    /// Whether it counts against the caller's rate limit.
    pub charged: bool,
}

/// What else the journal contains of a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RequestFacts {
    /// The path, as called.
    pub path: String,
    /// Whether the response was sent; false if the connection was cut instead.
    pub replied: bool,
}

impl Handle {
    /// Adds a token, or replaces the one of that name.
    pub fn add_token(&self, token: Token) {
        self.lock().state.add_token(token);
    }

    /// Adds a repository, or replaces the one of that name.
    pub fn add_repository(&self, repository: Repository) {
        let now = self.now();
        self.lock().state.add_repository(repository, now);
    }

    /// Sets the remaining requests of a token, and those it shares with, in the present window.
    pub fn leave_requests(
        &self,
        token: &str,
        resource: Resource,
        remaining: u32,
    ) -> Result<(), Refusal> {
        let now = self.now();
        let github = &mut self.lock().state;
        let token = github.token_named(token).cloned();
        let token = token.ok_or(Refusal::NOT_FOUND)?;
        let account = Account {
            name: token.window(),
            limit: token.requests_per_hour,
            resource,
        };
        github.limits.leave(account, remaining, now);
        Ok(())
    }

    /// How many requests of a token count against its limit, over all windows.
    pub fn charged(&self, token: &str) -> u64 {
        self.count_where(|request| request.charged && request.token == token)
    }

    /// All dispatches, in order of arrival.
    pub fn dispatches(&self) -> Vec<Dispatch> {
        self.lock().state.dispatches.clone()
    }

    /// All references, full name to commit; none for a repository that does not exist.
    pub fn refs(&self, owner: &str, name: &str) -> BTreeMap<String, String> {
        let github = &mut self.lock().state;
        let repository = github.repository(owner, name);
        repository.map(|held| held.refs.clone()).unwrap_or_default()
    }

    /// The content of a file on a branch.
    pub fn file(&self, owner: &str, name: &str, branch: &str, path: &str) -> Option<Vec<u8>> {
        let github = &mut self.lock().state;
        let content = github.repository(owner, name)?.read(path, branch);
        content.map(|content| content.to_vec())
    }

    /// All runs, newest first.
    pub fn runs(&self, owner: &str, name: &str) -> Vec<Run> {
        let github = &mut self.lock().state;
        let repository = github.repository(owner, name);
        repository.map_or_else(Vec::new, |held| held.runs.iter().rev().cloned().collect())
    }

    /// Queues a run without a dispatch, as a push would.
    pub fn start_run(&self, owner: &str, name: &str, workflow: &str) -> Result<Run, Refusal> {
        let now = self.now();
        let run = self.lock().state.start_run((owner, name), workflow, now);
        self.changed();
        run
    }

    /// A runner took the run.
    pub fn begin_run(&self, id: u64) -> Result<Run, Refusal> {
        self.set_run(id, Status::InProgress, None)
    }

    /// The run has ended.
    pub fn finish_run(&self, id: u64, conclusion: Conclusion) -> Result<Run, Refusal> {
        self.set_run(id, Status::Completed, Some(conclusion))
    }

    fn set_run(
        &self,
        id: u64,
        status: Status,
        conclusion: Option<Conclusion>,
    ) -> Result<Run, Refusal> {
        let now = self.now();
        let run = self.lock().state.change_run(id, |run| {
            run.status = status;
            run.conclusion = conclusion;
            run.updated_at = now;
        });
        self.changed();
        run
    }

    /// Subscribes as a runner: receives every run queued or cancelled from now on, each exactly
    /// once.
    pub fn runner(&self) -> mpsc::UnboundedReceiver<RunEvent> {
        let (sender, receiver) = mpsc::unbounded_channel();
        self.lock().state.runners.push(sender);
        receiver
    }
}

impl Upstream for GitHub {
    const NAME: &'static str = "GitHub";
    const WELCOME: &'static str = include_str!("github/welcome.txt");
    type Setup = Setup;
    type Matching = Matching;
    type Effect = Effect;
    type Kind = RequestKind;
    type Facts = RequestFacts;

    fn open(setup: &Setup, now: Timestamp) -> Self {
        Self::new(setup.clone(), now)
    }

    fn routes(stand: Stand<Self>) -> Router {
        http::routes(stand)
    }

    fn control() -> Router<Stand<Self>> {
        type At = State<Handle>;
        type In = Path<(String, String)>;
        let add_token = async |State(stand): At, Json(token)| done(|| stand.add_token(token));
        let add_repository =
            async |State(stand): At, Json(made)| done(|| stand.add_repository(made));
        let limit = async |State(stand): At, Json(body): Json<LimitBody>| {
            let left = stand.leave_requests(&body.token, body.resource, body.remaining);
            left.map(|()| StatusCode::NO_CONTENT)
        };
        let dispatches = async |State(stand): At| Json(stand.dispatches());
        let refs =
            async |State(stand): At, Path((owner, repo)): In| Json(stand.refs(&owner, &repo));
        let runs =
            async |State(stand): At, Path((owner, repo)): In| Json(stand.runs(&owner, &repo));
        let start_run =
            async |State(stand): At, Path((owner, repo)): In, Json(body): Json<StartBody>| {
                let run = stand.start_run(&owner, &repo, &body.workflow);
                run.map(|run| (StatusCode::CREATED, Json(run)))
            };
        let set_run = async |State(stand): At, Path(id): Path<u64>, Json(body): Json<RunBody>| {
            stand.set_run(id, body.status, body.conclusion).map(Json)
        };
        Router::new()
            .route("/tokens", post(add_token))
            .route("/repositories", post(add_repository))
            .route("/limits", put(limit))
            .route("/dispatches", get(dispatches))
            .route("/repos/{owner}/{repo}/refs", get(refs))
            .route("/repos/{owner}/{repo}/runs", get(runs).post(start_run))
            .route("/runs/{id}", patch(set_run))
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LimitBody {
    token: String,
    resource: Resource,
    remaining: u32,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StartBody {
    workflow: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RunBody {
    status: Status,
    conclusion: Option<Conclusion>,
}
