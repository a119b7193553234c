//! Thousands of feeds on loopback, for a scheduler of checks that must be right against all of them.
//!
//! Each publishes by a rhythm of its own zone, in one of eight forms, on a host of its own address
//! and temper; beside them stand documents made to hurt whoever reads them. Afterwards the server
//! tells what its administrators would have seen.
//!
//! ```text
//!   client ──► door ──────► admit ─────────────► answer ──────► deliver
//!              loopback     count, manners,      feed drawn     waits, pieces,
//!              only         fault, fate, host    from seed, n   cut lines
//! ```
//!
//! - [`rhythm`]: when a feed publishes; [`language`]: what it says;
//! - [`fleet`], [`host`], [`feed`]: which feeds exist, drawn from a seed, and where they live;
//! - [`document`], [`wire`]: their forms, and how those go over HTTP;
//! - [`hostile`]: documents made to hurt; [`fault`]: what can be made to go wrong;
//! - [`journal`]: who came, and with what manners;
//! - [`handle`]: how a test in the same process sets up and looks; from another process the
//!   control API under `/_world/` does the same.
//!
//! INVARIANT: what a feed shows depends on seed, number, the clock and what was published by hand,
//! never on who asked before. Two servers with one seed and one clock are the same server.

pub mod document;
pub(crate) mod door;
pub mod fault;
pub mod feed;
pub mod fleet;
pub mod handle;
pub mod host;
pub mod hostile;
mod http;
pub mod journal;
pub mod language;
mod opml;
pub mod reply;
pub mod rhythm;
mod service;
pub mod wire;

use std::{io, net::SocketAddr, sync::Arc, time::Duration};

use tokio::{net::TcpListener, task::JoinHandle};
use tokio_util::sync::CancellationToken;

use self::{
    door::{Door, Met},
    fleet::Fleet,
    handle::Handle,
    service::Service,
};
use crate::{clock, clock::Clock, line::Lines};

/// How long requests may take to end once the server was told to stop.
const GRACE: Duration = Duration::from_secs(5);

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
    #[error("serve feeds")]
    Serve(#[source] io::Error),
}

/// What the server needs to know.
#[derive(Clone)]
pub struct Config {
    /// Where to listen: `0.0.0.0` for all hosts, of which only loopback is let in; port 0 takes a
    /// free one.
    pub listen: SocketAddr,
    /// Which feeds exist.
    pub fleet: Fleet,
    /// What time it is: for rhythms, limits and the journal. Waits are real time.
    pub clock: Clock,
}

impl Config {
    /// A calm fleet on a free port, with the machine's clock.
    pub fn new(fleet: Fleet) -> Self {
        Self {
            listen: ([0, 0, 0, 0], 0).into(),
            fleet,
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
    /// Reaches into it, and knows all addresses.
    pub handle: Handle,
}

impl Running {
    /// The server at 127.0.0.1.
    pub fn url(&self) -> String {
        self.handle.url()
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
    let service = Service::new(config.fleet, config.clock, addr.port(), cancel.clone());
    let handle = Handle(Arc::new(service));
    let join = tokio::spawn(run(Door(Lines(listener)), handle.clone(), cancel));
    Ok(Running { addr, join, handle })
}

async fn run(door: Door, handle: Handle, cancel: CancellationToken) -> Result<(), Error> {
    let app = http::routes(handle).into_make_service_with_connect_info::<Met>();
    let serving = axum::serve(door, app).with_graceful_shutdown(cancel.clone().cancelled_owned());
    let too_late = async {
        cancel.cancelled().await;
        clock::pause(GRACE).await;
    };
    tokio::select! {
        served = serving.into_future() => served.map_err(Error::Serve),
        () = too_late => Ok(()),
    }
}
