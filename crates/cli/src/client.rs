//! The CLI as a client of the API.
//!
//! Every everyday command calls the HTTP API and prints the answer, so there is one description of
//! each thing and one set of rules: what a person does here, a program can do there. The server
//! differs:
//!
//! ```text
//! --server URL   ──► remote: HTTP to a node, with ALMANACK_TOKEN
//! otherwise      ──► local:  the same router, in this process, on the configured database
//! ```
//!
//! What must stay true: a command cannot distinguish the two. In process no token is needed,
//! because a user who may open the database may do everything; the history shows `cli:USER`. A
//! token appears in no output.

use std::sync::Arc;

use almanack_core::percent;
use almanack_engine::{editions::EditionSet, work::Work};
use axum::http::Method;
use jiff::Timestamp;
use serde::Serialize;
use serde_json::Value;

use crate::{
    commands::{CommandContext, DatabaseNeed},
    config::{Inputs, Settings},
    failure::{Failure, Result},
};

mod answer;
mod firings;
mod list;
mod local;
mod near;
mod problem;
mod remote;

pub(crate) use answer::{Answer, object};
pub(crate) use firings::outcome;
pub(crate) use list::List;
pub(crate) use problem::EDITIONS_OFF;

use self::{local::Local, remote::Remote};

pub(crate) enum Client {
    Local(Box<Local>),
    Remote(Box<Remote>),
}

#[derive(Debug, Clone)]
pub(crate) struct Call {
    method: Method,
    path: String,
    query: Vec<(&'static str, String)>,
    content: Option<(&'static str, Vec<u8>)>,
    headers: Vec<(&'static str, String)>,
    /// Whether the answer may take as long as the work does.
    long: bool,
}

impl Call {
    /// A request to `/api/v1/…`; each part is one segment of the path.
    pub(crate) fn new(method: Method, segments: &[&str]) -> Self {
        let segments = segments.iter().map(|segment| percent::encode(segment));
        let path: Vec<String> = segments.collect();
        Self {
            method,
            path: format!("/api/v1/{}", path.join("/")),
            query: Vec::new(),
            content: None,
            headers: Vec::new(),
            long: false,
        }
    }

    pub(crate) fn get(segments: &[&str]) -> Self {
        Self::new(Method::GET, segments)
    }

    pub(crate) fn post(segments: &[&str]) -> Self {
        Self::new(Method::POST, segments)
    }

    pub(crate) fn put(segments: &[&str]) -> Self {
        Self::new(Method::PUT, segments)
    }

    pub(crate) fn patch(segments: &[&str]) -> Self {
        Self::new(Method::PATCH, segments)
    }

    pub(crate) fn delete(segments: &[&str]) -> Self {
        Self::new(Method::DELETE, segments)
    }

    /// A parameter, if there is a value for it.
    #[must_use]
    pub(crate) fn query(mut self, name: &'static str, value: Option<impl ToString>) -> Self {
        self.query
            .extend(value.map(|value| (name, value.to_string())));
        self
    }

    #[must_use]
    pub(crate) fn header(mut self, name: &'static str, value: Option<&str>) -> Self {
        self.headers
            .extend(value.map(|value| (name, value.to_owned())));
        self
    }

    /// A body. Plain data always has a JSON form; if one had none, the API would say that it is
    /// missing.
    #[must_use]
    pub(crate) fn json(self, body: &impl Serialize) -> Self {
        let bytes = serde_json::to_vec(body).unwrap_or_default();
        self.content("application/json", bytes)
    }

    #[must_use]
    pub(crate) fn content(mut self, media_type: &'static str, body: Vec<u8>) -> Self {
        self.content = Some((media_type, body));
        self
    }

    /// The answer comes when the work is done, however long that takes.
    #[must_use]
    pub(crate) fn long(mut self) -> Self {
        self.long = true;
        self
    }

    fn target(&self) -> String {
        let pairs = self.query.iter();
        let pairs: Vec<String> = pairs
            .map(|(name, value)| format!("{name}={}", percent::encode(value)))
            .collect();
        if pairs.is_empty() {
            self.path.clone()
        } else {
            format!("{}?{}", self.path, pairs.join("&"))
        }
    }
}

/// A raw answer.
struct Reply {
    status: u16,
    media_type: String,
    body: Vec<u8>,
    /// What the log of a node would contain about a failure; known only in process.
    cause: Option<String>,
}

pub(crate) struct Connector<'a> {
    /// The node that `--server` or `ALMANACK_SERVER` names.
    pub(crate) server: Option<String>,
    pub(crate) inputs: &'a Inputs,
}

impl Connector<'_> {
    /// The node that was named, or the configured database.
    pub(crate) async fn open(&self, database_need: DatabaseNeed) -> Result<Client> {
        if let Some(server) = &self.server {
            let remote = Remote::new(server, &self.inputs.environment)?;
            return Ok(Client::Remote(Box::new(remote)));
        }
        Client::on(
            CommandContext::open(self.inputs, database_need).await?,
            EditionSet::default(),
        )
        .await
    }
}

impl Client {
    /// On the database of a command's context; with editions, where the command is about them.
    pub(crate) async fn on(context: CommandContext, editions: EditionSet) -> Result<Self> {
        let local = Local::new(context, (editions, None)).await?;
        Ok(Self::Local(Box::new(local)))
    }

    /// On the database of a command's context, for a worker.
    pub(crate) async fn working(context: CommandContext, work: Arc<Work>) -> Result<Self> {
        let local = Local::new(context, (EditionSet::default(), Some(work))).await?;
        Ok(Self::Local(Box::new(local)))
    }

    /// Carries a request out.
    pub(crate) async fn call(&self, call: Call) -> Result<Answer> {
        match self.try_call(call).await? {
            Ok(answer) => Ok(answer),
            Err(refused) => Err(self.failure(&refused).await),
        }
    }

    /// The same, where a refusal may be as good an answer.
    pub(crate) async fn try_call(&self, call: Call) -> Result<Result<Answer, Refusal>> {
        let reply = match self {
            Self::Local(local) => local.call(call).await?,
            Self::Remote(remote) => remote.call(call).await?,
        };
        if (200..300).contains(&reply.status) {
            return Answer::new(reply, self.now()).map(Ok);
        }
        match Refusal::read(&reply) {
            Some(refusal) => Ok(Err(refusal)),
            None => Err(self.unexpected(&reply)),
        }
    }

    /// What is there, or nothing where there is nothing.
    pub(crate) async fn find(&self, call: Call) -> Result<Option<Answer>> {
        match self.try_call(call).await? {
            Ok(answer) => Ok(Some(answer)),
            Err(refusal) if refusal.status == 404 => Ok(None),
            Err(refusal) => Err(self.failure(&refusal).await),
        }
    }

    /// What is configured here, where that is what answers.
    pub(crate) fn settings(&self) -> Option<&Settings> {
        match self {
            Self::Local(local) => Some(&local.settings),
            Self::Remote(_) => None,
        }
    }

    /// The time by the clock of who answers, near enough for sentences.
    pub(crate) fn now(&self) -> Timestamp {
        match self {
            Self::Local(local) => local.clock.now(),
            Self::Remote(remote) => remote.now(),
        }
    }

    fn unexpected(&self, reply: &Reply) -> Failure {
        match self {
            Self::Remote(remote) => remote.unexpected(reply),
            Self::Local(_) => {
                let what = format!("the API answered with status {}", reply.status);
                Failure::failed(what)
            }
        }
    }
}

/// A problem (RFC 9457) that was answered.
#[derive(Debug, Clone)]
pub(crate) struct Refusal {
    status: u16,
    problem: Value,
    cause: Option<String>,
}
