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

use std::net::SocketAddr;

use axum::{
    Json, Router,
    extract::{ConnectInfo, Path, Request as HttpRequest, State},
    response::Response,
    routing::{get, post, put},
};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use self::{
    call::{Called, judge},
    fault::{Effect, Matching},
    state::{Chat, Message, Telegram},
};
pub use crate::stand::{Error, start};
use crate::{
    line::Met,
    stand::{self, Noted, Stand, Upstream, done},
};

/// What the server needs to know.
#[derive(Clone)]
pub struct Setup {
    /// The tokens of its bots.
    pub tokens: Vec<String>,
    /// The channels there are.
    pub chats: Vec<Chat>,
    /// Messages a minute that one channel takes; more are refused with 429. Telegram does not say
    /// how many; about twenty to a group is what it is known for.
    pub messages_per_minute: Option<u32>,
}

pub type Config = stand::Config<Telegram>;

impl Config {
    /// A Telegram with one bot and these channels, which answers at once and limits nobody.
    pub fn new(listen: SocketAddr, token: &str, chats: Vec<Chat>) -> Self {
        let setup = Setup {
            tokens: vec![token.to_owned()],
            chats,
            messages_per_minute: None,
        };
        Self::of(listen, setup)
    }
}

/// Reaches into a running Telegram from the same process.
pub type Handle = Stand<Telegram>;
/// A Telegram that runs.
pub type Running = stand::Running<Telegram>;

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
    const WELCOME: &'static str = include_str!("telegram/welcome.txt");
    type Setup = Setup;
    type Matching = Matching;
    type Effect = Effect;
    type Request = Request;

    fn open(setup: &Setup, _: Timestamp) -> Self {
        Self::new(setup.chats.clone(), setup.messages_per_minute)
    }

    fn routes(stand: Stand<Self>) -> Router {
        // The token is part of a path segment, so the path is read by hand.
        Router::new().fallback(answer).with_state(stand)
    }

    fn control() -> Router<Stand<Self>> {
        type At = State<Handle>;
        let add = async |State(stand): At, Json(chat)| done(|| stand.add_chat(chat));
        let messages =
            async |State(stand): At, Path(chat): Path<String>| Json(stand.messages(&chat));
        let limit = async |State(stand): At,
                           Json(LimitBody {
                               messages_per_minute,
                           })| {
            done(|| stand.lock().state.messages_per_minute = messages_per_minute)
        };
        Router::new()
            .route("/chats", post(add))
            .route("/messages/{chat}", get(messages))
            .route("/limit", put(limit))
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
