//! Telegram's Bot API on loopback, as far as Almanack calls it.
//!
//! It takes messages for its channels, reads their HTML as strictly as Telegram's documentation
//! asks for, and refuses in Telegram's words what Telegram refuses: a text too long, markup it does
//! not know, a channel the bot was thrown out of, too many messages a minute. It can be told to take
//! a message and never say so, which is how editions are sent twice.
//!
//! - `html`: what readers see of a text;
//! - [`state`]: channels and their messages;
//! - `call`: from a request to an answer; [`fault`]: what may go wrong.
//!
//! INVARIANT: a request is carried out and noted under one lock, so that the journal's `applied`
//! is true exactly for requests whose effect readers can see.

mod call;
pub mod fault;
pub mod html;
pub mod state;

use std::{net::SocketAddr, time::Duration};

use axum::{
    Json, Router,
    extract::{ConnectInfo, Path, Request as HttpRequest, State},
    http::StatusCode,
    response::Response,
    routing::{get, post, put},
};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use self::{
    call::{Called, judge},
    fault::{Effect, Matching},
    state::{Chat, Message, Telegram},
};
pub use crate::stand::Error;
use crate::{
    clock::{self, Clock},
    line::Met,
    stand::{self, Noted, Opening, Stand, Upstream},
};

/// What the server needs to know.
#[derive(Clone)]
pub struct Config {
    /// Where to listen; port 0 takes a free one.
    pub listen: SocketAddr,
    /// The tokens of its bots.
    pub tokens: Vec<String>,
    /// The channels there are.
    pub chats: Vec<Chat>,
    /// Messages a minute that one channel takes; more are refused with 429. Telegram does not say
    /// how many; about twenty to a group is what it is known for.
    pub messages_per_minute: Option<u32>,
    /// Time every answer takes, in real time.
    pub latency: Duration,
    /// What time it is: for dates of messages and for the limit.
    pub clock: Clock,
}

impl Config {
    /// A Telegram with one bot and these channels, which answers at once and limits nobody.
    pub fn new(listen: SocketAddr, token: &str, chats: Vec<Chat>) -> Self {
        Self {
            listen,
            tokens: vec![token.to_owned()],
            chats,
            messages_per_minute: None,
            latency: Duration::ZERO,
            clock: clock::system(),
        }
    }
}

/// Reaches into a running Telegram from the same process.
pub type Handle = Stand<Telegram>;
/// A Telegram that runs.
pub type Running = stand::Running<Telegram>;

/// Listens and serves until `cancel`. Once this returns, requests are answered.
pub async fn start(config: Config, cancel: CancellationToken) -> Result<Running, Error> {
    let opening = Opening {
        listen: config.listen,
        clock: config.clock,
        latency: config.latency,
        config: config.tokens,
        state: Telegram::new(config.chats, config.messages_per_minute),
    };
    stand::start(opening, cancel).await
}

/// One request and what became of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Request {
    pub at: Timestamp,
    /// Fingerprint of the token; empty where the path had none.
    pub bot: String,
    /// The method, as called.
    pub method: String,
    /// The channel, as sent.
    pub chat: Option<String>,
    /// Which message was sent.
    pub message_id: Option<i64>,
    /// The fault that hit it.
    pub effect: Option<Effect>,
    /// Whether readers can see its effect.
    pub applied: bool,
    /// Status of the answer that was prepared.
    pub status: u16,
    /// Whether the answer was to be sent; not, where the request was left hanging or cut.
    pub replied: bool,
}

/// What requests to Telegram are counted by.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct RequestKind {
    /// The method, as called.
    pub method: String,
    /// Status of the answer.
    pub status: u16,
}

impl Noted for Request {
    type Kind = RequestKind;

    fn kind(&self) -> RequestKind {
        RequestKind {
            method: self.method.clone(),
            status: self.status,
        }
    }
}

impl Handle {
    /// Adds a channel, or changes the one of that id, whose messages stay.
    pub fn add_chat(&self, chat: Chat) {
        self.lock().state.add(chat);
    }

    /// What readers of a channel see, in order. A channel is named by its id or its `@name`.
    pub fn messages(&self, chat: &str) -> Vec<Message> {
        self.lock().state.messages(chat)
    }

    /// How many messages a channel took.
    pub fn sent(&self, chat: &str) -> usize {
        self.messages(chat).len()
    }
}

impl Upstream for Telegram {
    const NAME: &'static str = "Telegram";
    const WELCOME: &'static str = "\
A simulated Telegram. Its Bot API is at /bot{token}/{method}; this is how to set it up, disturb it and
look inside.

POST   /_world/chats              {\"id\": -1001, \"username\": \"news\", \"standing\": \"writer\"}
GET    /_world/messages/{chat}    what readers see; {chat} is an id or @name
GET    /_world/faults             the rules in force
POST   /_world/faults             {\"matching\": {\"method\": \"sendMessage\"}, \"when\": {\"next\": 1},
                                   \"effect\": \"hang_after\"}
DELETE /_world/faults             lifts all
PUT    /_world/latency            {\"latency_ms\": 200}
PUT    /_world/limit              {\"messages_per_minute\": 20}
GET    /_world/requests           the newest requests

Standing: \"writer\", \"kicked\".
Matching: method, chat, contains.
When: \"always\", {\"next\": n}, {\"every\": k}, {\"percent\": {\"percent\": p, \"seed\": s}}.
Effect: {\"fail_before\": 500}, {\"fail_after\": 500}, \"hang_before\", \"hang_after\", \"cut_before\", \"cut_after\",
{\"limited\": {\"retry_after_s\": 30}}, {\"slow\": {\"wait_ms\": 2000}}. Before and after the effect, that is.
";
    /// The tokens of its bots.
    type Config = Vec<String>;
    type Matching = Matching;
    type Effect = Effect;
    type Request = Request;

    fn routes(stand: Stand<Self>) -> Router {
        // The token is part of a path segment, so the path is read by hand.
        Router::new().fallback(answer).with_state(stand)
    }

    fn control() -> Router<Stand<Self>> {
        Router::new()
            .route("/chats", post(add_chat))
            .route("/messages/{chat}", get(messages))
            .route("/limit", put(set_limit))
    }
}

async fn answer(
    State(stand): State<Handle>,
    ConnectInfo(met): ConnectInfo<Met>,
    request: HttpRequest,
) -> Response {
    let called = Called::read(request).await;
    let answer = judge(&stand, &called);
    stand.send(&met, answer, ()).await
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LimitBody {
    messages_per_minute: Option<u32>,
}

async fn add_chat(State(stand): State<Handle>, Json(chat): Json<Chat>) -> StatusCode {
    stand.add_chat(chat);
    StatusCode::NO_CONTENT
}

async fn messages(State(stand): State<Handle>, Path(chat): Path<String>) -> Json<Value> {
    Json(json!(stand.messages(&chat)))
}

async fn set_limit(State(stand): State<Handle>, Json(body): Json<LimitBody>) -> StatusCode {
    stand.lock().state.messages_per_minute = body.messages_per_minute;
    StatusCode::NO_CONTENT
}
