//! Telegram's Bot API on loopback, as far as Almanack calls it.
//!
//! It accepts messages for its channels, parses their HTML as strictly as Telegram's documentation,
//! and refuses in Telegram's words what Telegram refuses: a text too long, unknown markup, a
//! channel the bot was removed from, too many messages per minute. A fault can make it accept a
//! message without a response, which is how editions are sent twice.
//!
//! - `html`: what readers see of a text;
//! - [`state`]: channels and their messages;
//! - `call`: from a request to a response; [`fault`]: injected faults.
//!
//! INVARIANT: a request is carried out and recorded under one lock, so that the journal's `applied`
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
    call::{Call, decide},
    fault::{Effect, Matching},
    state::{Chat, Message, Telegram},
};
pub use crate::stand::{Error, start};
use crate::{
    line::Met,
    stand::{self, Stand, Upstream, done},
};

/// Configuration of the server.
#[derive(Clone)]
pub struct Setup {
    /// The tokens of its bots.
    pub tokens: Vec<String>,
    /// The channels there are.
    pub chats: Vec<Chat>,
    /// Messages per minute that one channel accepts; more are refused with 429. Telegram does not
    /// document the limit; about twenty per group is commonly reported.
    pub messages_per_minute: Option<u32>,
}

pub type Config = stand::Config<Telegram>;

impl Config {
    /// A Telegram with one bot and these channels, without delay and limits.
    pub fn new(listen: SocketAddr, token: &str, chats: Vec<Chat>) -> Self {
        let setup = Setup {
            tokens: vec![token.to_owned()],
            chats,
            messages_per_minute: None,
        };
        Self::of(listen, setup)
    }
}

/// Handle to a running Telegram from the same process.
pub type Handle = Stand<Telegram>;
/// A running Telegram.
pub type Running = stand::Running<Telegram>;

/// What requests to Telegram are counted by.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct RequestKind {
    /// The method, as called.
    pub method: String,
    /// Status of the response that was prepared.
    pub status: u16,
}

/// What else the journal contains of a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RequestFacts {
    /// Fingerprint of the token; empty where the path had none.
    pub bot: String,
    /// The channel, as sent.
    pub chat: Option<String>,
    /// The id of the sent message.
    pub message_id: Option<i64>,
    /// The fault that hit it.
    pub effect: Option<Effect>,
    /// Whether readers can see its effect.
    pub applied: bool,
    /// Whether the response was sent; false if the request was left hanging or cut.
    pub replied: bool,
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

    /// The number of messages a channel accepted.
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
    type Kind = RequestKind;
    type Facts = RequestFacts;

    fn open(setup: &Setup, _: Timestamp) -> Self {
        Self::new(setup.chats.clone(), setup.messages_per_minute)
    }

    fn routes(stand: Stand<Self>) -> Router {
        // The token is part of a path segment, so the path is parsed here.
        Router::new().fallback(answer).with_state(stand)
    }

    fn control() -> Router<Stand<Self>> {
        type At = State<Handle>;
        let add = async |State(stand): At, Json(chat)| done(|| stand.add_chat(chat));
        let messages =
            async |State(stand): At, Path(chat): Path<String>| Json(stand.messages(&chat));
        let limit = async |State(stand): At, Json(body): Json<LimitBody>| {
            done(|| stand.lock().state.messages_per_minute = body.messages_per_minute)
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
    let call = Call::read(request).await;
    let answer = decide(&stand, &call);
    stand.send(&met, answer, ()).await
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LimitBody {
    messages_per_minute: Option<u32>,
}
