//! Telegram's Bot API on loopback, as far as Almanack calls it.
//!
//! It takes messages for its chats, parses their HTML as strictly as Telegram does, and refuses in
//! Telegram's words what Telegram refuses: a text too long after parsing, a tag it does not know, a
//! chat where the bot has no business, too many messages a minute. It can be told to take a message
//! and never say so, which is how editions are sent twice.
//!
//! ```text
//!   client ──► line ──► token ──► fault ──► text ──► chat ──► length ──► limit ──► message
//! ```
//!
//! - [`entities`]: HTML to plain text with entities;
//! - [`state`]: chats and their messages, and what the API decides, without HTTP;
//! - [`refusal`]: why it says no;
//! - [`fault`], [`journal`]: what may go wrong, what happened;
//! - [`handle`]: how a test in the same process sets up, disturbs and reads the channel; from another
//!   process the control API under `/_world/` does the same.
//!
//! Methods and parameters that are not modelled are refused, instead of being ignored.
//!
//! INVARIANT: a request is carried out and noted under one lock, so that the journal's `applied`
//! is true exactly for requests whose effect readers can see.

pub mod entities;
pub mod fault;
pub mod handle;
mod http;
pub mod journal;
pub mod refusal;
mod service;
pub mod state;

use std::{io, net::SocketAddr, sync::Arc, time::Duration};

use tokio::{net::TcpListener, task::JoinHandle};
use tokio_util::sync::CancellationToken;

use self::{entities::Ampersands, handle::Handle, service::Service, state::Chat};
use crate::{
    clock,
    clock::Clock,
    line::{self, Lines},
};

/// Why the server did not start, or stopped.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The address is taken or not ours.
    #[error("listen on {addr}")]
    Listen {
        /// Which address.
        addr: SocketAddr,
        /// What happened.
        #[source]
        source: io::Error,
    },
    /// The server stopped on its own.
    #[error("serve Telegram")]
    Serve(#[source] io::Error),
}

/// What the server needs to know.
#[derive(Clone)]
pub struct Config {
    /// Where to listen; port 0 takes a free one.
    pub listen: SocketAddr,
    /// The tokens of its bots.
    pub tokens: Vec<String>,
    /// The chats there are.
    pub chats: Vec<Chat>,
    /// Messages a minute that one chat takes; more are refused with 429. Telegram does not say how
    /// many; about twenty to a group is what it is known for.
    pub messages_per_minute: Option<u32>,
    /// What becomes of a `&` that begins no entity.
    pub ampersands: Ampersands,
    /// Time every answer takes, in real time.
    pub latency: Duration,
    /// What time it is: for dates of messages and for the limit.
    pub clock: Clock,
}

impl Config {
    /// A Telegram with one bot and these chats, which answers at once and limits nobody.
    pub fn new(listen: SocketAddr, token: &str, chats: Vec<Chat>) -> Self {
        Self {
            listen,
            tokens: vec![token.to_owned()],
            chats,
            messages_per_minute: None,
            ampersands: Ampersands::Refused,
            latency: Duration::ZERO,
            clock: clock::system(),
        }
    }
}

/// A server that runs.
#[derive(Debug)]
pub struct Running {
    /// Where it listens.
    pub addr: SocketAddr,
    /// Ends when the server has stopped.
    pub join: JoinHandle<Result<(), Error>>,
    /// Reaches into it.
    pub handle: Handle,
}

impl Running {
    /// The base address of its API: what stands for `https://api.telegram.org`.
    pub fn url(&self) -> String {
        format!("http://{}", self.addr)
    }
}

/// Listens and serves until `cancel`. Once this returns, requests are answered.
pub async fn start(config: Config, cancel: CancellationToken) -> Result<Running, Error> {
    let listen = config.listen;
    let at = |source| Error::Listen {
        addr: listen,
        source,
    };
    let listener = TcpListener::bind(listen).await.map_err(at)?;
    let addr = listener.local_addr().map_err(at)?;
    let handle = Handle(Arc::new(Service::new(config, cancel.clone())));
    let join = tokio::spawn(run(Lines(listener), handle.clone(), cancel));
    Ok(Running { addr, join, handle })
}

async fn run(lines: Lines, handle: Handle, cancel: CancellationToken) -> Result<(), Error> {
    let served = line::serve(lines, http::routes(handle), cancel).await;
    served.map_err(Error::Serve)
}
