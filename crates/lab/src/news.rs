//! A news site on loopback, for a digest of its stories that must be right against the real one.
//!
//! It speaks what an edition is made from: the lists and items of Hacker News as Firebase serves
//! them, the search that Algolia runs over stories and comments with its limit of 1,000 hits, the
//! pages that stories lead to, good and bad, and two services that read pages for others.
//!
//! ```text
//!   client ──► door ──────► deliver ────────► archive ──► site
//!              loopback     fault, journal,   what shows  stories drawn
//!              only         latency, body     by now      from a seed
//! ```
//!
//! - [`site`], [`story`], [`prose`]: which stories exist and what they say, drawn from a seed;
//! - [`page`]: what their addresses lead to;
//! - [`search`]: tags, filters and pages of hits;
//! - [`fault`], [`journal`]: what may go wrong, what happened;
//! - [`handle`]: how a test in the same process sets up and looks; from another process the
//!   control API under `/_world/` does the same.
//!
//! INVARIANT: what the site shows depends on seed, clock and what was changed by hand, never on who
//! asked before; and every request counts in the journal, answered or not.

mod archive;
pub mod fault;
pub mod handle;
mod http;
pub mod journal;
mod markup;
pub mod page;
pub mod prose;
mod reading;
pub mod search;
mod service;
pub mod site;
pub mod story;
mod view;

use std::{io, net::SocketAddr, sync::Arc, time::Duration};

use tokio::{net::TcpListener, task::JoinHandle};
use tokio_util::sync::CancellationToken;

use self::{
    handle::Handle,
    service::{Service, Spread},
    site::Site,
};
use crate::{
    clock,
    clock::Clock,
    feeds::door::{Door, Met},
    line::Lines,
};

/// How long requests may take to end once the server was told to stop.
const GRACE: Duration = Duration::from_secs(5);
/// What the crawler API wants to be shown where nothing else is said; there is nothing to protect.
pub const CRAWLER_TOKEN: &str = "crawler-token";

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
    #[error("serve news")]
    Serve(#[source] io::Error),
}

/// What the server needs to know.
#[derive(Clone)]
pub struct Config {
    /// Where to listen: at `0.0.0.0` pages have hosts of their own, 127.0.0.2 and on, and only
    /// loopback is let in; port 0 takes a free one.
    pub listen: SocketAddr,
    /// Which stories exist.
    pub site: Site,
    /// How long every answer takes, in real time.
    pub latency: Duration,
    /// What the crawler API wants to be shown.
    pub crawler_token: String,
    /// What time it is: for what can be seen, and the journal. Waits are real time.
    pub clock: Clock,
}

impl Config {
    /// A site that answers at once, with the machine's clock.
    pub fn new(listen: SocketAddr, site: Site) -> Self {
        Self {
            listen,
            site,
            latency: Duration::ZERO,
            crawler_token: CRAWLER_TOKEN.to_owned(),
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
    /// The base address of everything it answers.
    pub fn url(&self) -> String {
        self.handle.0.base_url.clone()
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
    let spread = Spread {
        port: addr.port(),
        wide: addr.ip().is_unspecified(),
    };
    let base_url = if spread.wide {
        format!("http://127.0.0.1:{}", addr.port())
    } else {
        format!("http://{addr}")
    };
    let service = Service::new(config, (base_url, spread), cancel.clone());
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
