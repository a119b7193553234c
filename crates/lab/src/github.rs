//! A GitHub on loopback, for clients that must be right against the real one.
//!
//! It speaks the part of GitHub's REST API that Almanack uses: refs, files, workflow runs and
//! dispatches, with tokens, rate limits, conditional requests, pages and GitHub's own error bodies;
//! and of the GraphQL API the one mutation that changes many refs at once. What it does not model
//! it refuses with 501, instead of answering something GitHub would not.
//!
//! ```text
//!   client ──► line ──► gate ─────────────► routes ──► state
//!              cut?     user agent, token,  refs, …    one lock:
//!                       limit, fault, ETag             each request before or after each other
//! ```
//!
//! - [`setup`]: tokens, repositories and workflows at the start;
//! - [`state`]: what GitHub holds, and what it decides, without HTTP;
//! - [`refusal`]: why it says no, in its words;
//! - [`limit`], [`fault`], [`journal`]: what a request costs, what may go wrong, what happened;
//! - [`handle`]: how a test in the same process sets up and looks; from another process the
//!   control API under `/_world/` does the same.
//!
//! INVARIANT: a request that is charged against a limit is noted as charged, and the other way
//! round, so that budgets counted here are budgets at GitHub.

pub mod fault;
pub mod handle;
mod http;
pub mod journal;
pub mod limit;
pub mod refusal;
mod service;
pub mod setup;
pub mod state;

use std::{io, net::SocketAddr, sync::Arc};

use tokio::{net::TcpListener, task::JoinHandle};
use tokio_util::sync::CancellationToken;

use self::{handle::Handle, service::Service, setup::Setup, state::GitHub};
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
    #[error("serve GitHub")]
    Serve(#[source] io::Error),
}

/// What the server needs to know.
#[derive(Clone)]
pub struct Config {
    /// Where to listen; port 0 takes a free one.
    pub listen: SocketAddr,
    /// What exists at the start.
    pub setup: Setup,
    /// What time it is: for windows of rate limits, runs and commits.
    pub clock: Clock,
}

impl Config {
    /// An empty GitHub with the machine's clock.
    pub fn new(listen: SocketAddr) -> Self {
        Self {
            listen,
            setup: Setup::default(),
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
    /// The base address of its API.
    pub fn url(&self) -> String {
        self.handle.0.base_url.clone()
    }
}

/// Listens and serves until `cancel`. Once this returns, requests are answered.
pub async fn start(config: Config, cancel: CancellationToken) -> Result<Running, Error> {
    let at = |source| Error::Listen {
        addr: config.listen,
        source,
    };
    let listener = TcpListener::bind(config.listen).await.map_err(at)?;
    let addr = listener.local_addr().map_err(at)?;
    let github = GitHub::new(config.setup, (config.clock)());
    let service = Service::new(github, config.clock, format!("http://{addr}"));
    let handle = Handle(Arc::new(service));
    let join = tokio::spawn(run(Lines(listener), handle.clone(), cancel));
    Ok(Running { addr, join, handle })
}

async fn run(lines: Lines, handle: Handle, cancel: CancellationToken) -> Result<(), Error> {
    let served = line::serve(lines, http::routes(handle), cancel).await;
    served.map_err(Error::Serve)
}
