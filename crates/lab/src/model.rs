//! A language model on loopback, behind an OpenAI-compatible chat-completions endpoint.
//!
//! It recognises the task from the messages (titles to translate, titles to classify, a text to
//! summarise) and always gives the same answer. Faults can be injected, like those of real models
//! and the services before them: prose around the JSON, a missing element, another order, no
//! content, 429, silence.
//!
//! - [`task`]: the task, recognised from the messages;
//! - `mind`: how it answers; the same input gives the same words;
//! - [`fault`]: injected faults, and `spoil`: their effect on an answer;
//! - `answer`: from a request to a response, with the refusals of such services.
//!
//! INVARIANT: neither the journal nor anything else that can be inspected contains a key or the
//! text of a message; both appear as fingerprints.

mod answer;
pub mod fault;
mod mind;
mod spoil;
pub mod task;

use std::net::SocketAddr;

use axum::{
    Router,
    body::Bytes,
    extract::{ConnectInfo, DefaultBodyLimit, State},
    http::{HeaderMap, Method, Uri, header},
    response::Response,
    routing::{get, post},
};
use jiff::Timestamp;
use serde::Serialize;
use serde_json::json;

use self::{
    answer::{Incoming, admit, decide, refusal},
    fault::{Effect, Matching},
    task::Kind,
};
pub use crate::stand::{Error, start};
use crate::{
    line::Met,
    reply::{Answer, Reply},
    stand::{self, Stand, Upstream},
};

/// Words that make a title sensitive by default.
const SENSITIVE_WORDS: [&str; 4] = ["election", "censorship", "protest", "explicit"];
/// Largest request body; far more than any context.
const BODY_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Paths of the endpoint: with or without a version, and behind a router.
const BASES: [&str; 4] = ["", "/v1", "/api/v1", "/api/paas/v4"];

/// Configuration of the server.
#[derive(Clone)]
pub struct Setup {
    /// The keys it accepts.
    pub keys: Vec<String>,
    /// The models it has; if empty, every name is accepted.
    pub models: Vec<String>,
    /// Titles that contain one of these are SENSITIVE; case does not matter.
    pub sensitive_words: Vec<String>,
    /// Most concurrent requests; one more is refused with 429.
    pub in_flight_max: Option<usize>,
}

pub type Config = stand::Config<Model>;

impl Config {
    /// A model that answers at once to requests with this key.
    pub fn new(listen: SocketAddr, key: &str) -> Self {
        let setup = Setup {
            keys: vec![key.to_owned()],
            models: Vec::new(),
            sensitive_words: SENSITIVE_WORDS.map(str::to_owned).to_vec(),
            in_flight_max: None,
        };
        Self::of(listen, setup)
    }
}

/// The model; it has no memory.
#[derive(Debug)]
pub struct Model;

/// Handle to a running model from the same process.
pub type Handle = Stand<Model>;
/// A running model.
pub type Running = stand::Running<Model>;

/// What else the journal contains of a request: sizes and kinds, never keys or texts.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RequestFacts {
    /// The path, as called.
    pub path: String,
    /// Fingerprint of the sent key; empty without one.
    pub key: String,
    /// The task; none if the request was refused before it was read.
    pub asked: Option<TaskFacts>,
    /// The fault that hit it.
    pub effect: Option<Effect>,
    /// Whether the response was sent; false if the request was left hanging or cut.
    pub replied: bool,
    /// Requests in flight when it arrived, itself included.
    pub in_flight: usize,
}

/// What the journal contains of a task.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TaskFacts {
    /// The kind of work.
    pub kind: Kind,
    pub model: String,
    /// Fingerprint of the last message of the user: the same text has the same.
    pub input: String,
    pub messages: usize,
    /// Characters of all messages.
    pub prompt_chars: usize,
    /// Titles in question; 0 for a summary.
    pub titles: usize,
    pub temperature: Option<f64>,
    pub max_tokens: Option<u64>,
    /// Tokens of all messages.
    pub prompt_tokens: usize,
    /// Tokens of the answer; 0 where there is none.
    pub completion_tokens: usize,
}

/// What requests to the model are counted by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct RequestKind {
    /// The work; none for a request that was not read.
    pub kind: Option<Kind>,
    /// Status of the response that was prepared.
    pub status: u16,
}

impl Handle {
    /// How many requests asked for this kind of work.
    pub fn count(&self, kind: Kind) -> u64 {
        self.count_where(|request| request.kind == Some(kind))
    }
}

impl Upstream for Model {
    const NAME: &'static str = "the model";
    const WELCOME: &'static str = include_str!("model/welcome.txt");
    type Setup = Setup;
    type Matching = Matching;
    type Effect = Effect;
    type Kind = RequestKind;
    type Facts = RequestFacts;

    fn open(_: &Setup, _: Timestamp) -> Self {
        Self
    }

    fn routes(stand: Stand<Self>) -> Router {
        let api = BASES.iter().fold(Router::new(), |api, base| {
            api.route(&format!("{base}/chat/completions"), post(complete))
                .route(&format!("{base}/models"), get(models))
        });
        api.fallback(nowhere)
            .method_not_allowed_fallback(nowhere)
            .layer(DefaultBodyLimit::max(BODY_BYTES_MAX))
            .with_state(stand)
    }
}

async fn complete(
    State(stand): State<Handle>,
    ConnectInfo(met): ConnectInfo<Met>,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let flight = stand.begin();
    let incoming = Incoming {
        path: uri.path(),
        key: bearer(&headers),
        body: &body,
    };
    let answer = decide(&stand, &incoming);
    stand.send(&met, answer, flight).await
}

/// Lists the models, with a valid key: any name is accepted.
async fn models(
    State(stand): State<Handle>,
    ConnectInfo(met): ConnectInfo<Met>,
    headers: HeaderMap,
) -> Response {
    let admitted = admit(stand.setup(), bearer(&headers));
    let list = || Reply::json(200, &json!({ "object": "list", "data": [] }));
    let answer = Answer::Reply(admitted.map_or_else(|refused| refused, |()| list()));
    stand.send(&met, answer, ()).await
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, key) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then_some(key.trim())
}

async fn nowhere(
    State(stand): State<Handle>,
    ConnectInfo(met): ConnectInfo<Met>,
    method: Method,
    uri: Uri,
) -> Response {
    let message = format!("Invalid URL ({method} {})", uri.path());
    let answer = Answer::Reply(refusal(404, None, &message));
    stand.send(&met, answer, ()).await
}
