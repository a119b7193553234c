//! A language model on loopback, behind an OpenAI-compatible chat-completions endpoint.
//!
//! It looks at the messages, finds out what is wanted (titles to translate, titles to classify, a
//! text to summarise) and does it the same way every time. It can be told to do it badly, in the
//! ways real models and the services before them do: prose around the JSON, an element too few,
//! another order, nothing at all, 429, silence.
//!
//! ```text
//!   client ──► line ──► key ──► body ──► task ──► fault ──► mind ──► spoil ──► answer
//! ```
//!
//! - [`task`]: what is asked, recognised from the messages;
//! - `mind`: how it is answered; the same input gives the same words;
//! - [`fault`]: how it goes wrong, and `spoil`: what that does to an answer;
//! - [`refusal`]: why it says no, in the words of such services;
//! - [`journal`]: what was asked; [`handle`]: how a test in the same process disturbs and looks.
//!   From another process the control API under `/_world/` does the same.
//!
//! INVARIANT: neither the journal nor anything else that can be looked at holds a key or the text
//! of a message; both are known by fingerprints.

pub mod fault;
pub mod handle;
mod http;
pub mod journal;
mod mind;
pub mod refusal;
mod service;
mod spoil;
pub mod task;

use std::{io, net::SocketAddr, sync::Arc, time::Duration};

use tokio::{net::TcpListener, task::JoinHandle};
use tokio_util::sync::CancellationToken;

use self::{handle::Handle, service::Service};
use crate::{
    clock,
    clock::Clock,
    line::{self, Lines},
};

/// Words that make a title sensitive where nothing else is said.
const SENSITIVE_WORDS: [&str; 4] = ["election", "censorship", "protest", "explicit"];

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
    #[error("serve the model")]
    Serve(#[source] io::Error),
}

/// What the server needs to know.
#[derive(Clone)]
pub struct Config {
    /// Where to listen; port 0 takes a free one.
    pub listen: SocketAddr,
    /// The keys it accepts.
    pub keys: Vec<String>,
    /// The models it has; with none named, every name is one.
    pub models: Vec<String>,
    /// Titles that contain one of these are SENSITIVE; case does not matter.
    pub sensitive_words: Vec<String>,
    /// Time every answer takes, in real time.
    pub latency: Duration,
    /// Requests it works on at once; one more is refused with 429.
    pub in_flight_max: Option<usize>,
    /// What time it is: for `created` and for dates in `Retry-After`.
    pub clock: Clock,
}

impl Config {
    /// A model that answers at once to whoever has this key.
    pub fn new(listen: SocketAddr, key: &str) -> Self {
        Self {
            listen,
            keys: vec![key.to_owned()],
            models: Vec::new(),
            sensitive_words: SENSITIVE_WORDS.map(str::to_owned).to_vec(),
            latency: Duration::ZERO,
            in_flight_max: None,
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
    /// Where it answers; `/v1` and `/api/v1` below it are the same API.
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
