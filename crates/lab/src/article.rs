//! The reference article service: the other half of Almanack's principle (RS-12).
//!
//! Almanack decides *when to try*. This service decides *whether it takes effect*, and shows the
//! three things a business service needs for that:
//!
//! 1. **A state machine with conditional changes** ([`state`]). However often and by however many
//!    nodes publishing is called, `AUDIT_SUCCESS → PUBLISHED` happens once.
//! 2. **An outbox** ([`event`], [`relay`]). A change of time and the event for Almanack are written
//!    in one transaction; a relay retries the event until it is delivered.
//! 3. **A revision** per article, raised by every change, so that events which arrive twice or out
//!    of order do no harm (RS-10).
//!
//! ```text
//!   author ──► articles ─┐ one            relay                 POST /api/v1/events
//!              outbox  ──┘ transaction ──────────────────────────────► Almanack
//!              articles ◄────────────────────────────────────────────── (at its time)
//!                          POST /callbacks/audit, /callbacks/publish
//! ```
//!
//! **Outdated publish calls.** An author may move the time while Almanack's call is on its way;
//! Almanack does not recall it (RS-03). A call that carries an older revision than the article has
//! takes effect only if the article's present `publish_at` has passed by our own clock; otherwise
//! the answer is 409 `superseded`. A call with the newest revision is accepted whatever our clock
//! shows: Almanack is the authority on time, and refusing it over a few milliseconds of skew would
//! lose the publication. `superseded` loses nothing either, because the change that raised the
//! revision also put a newer event into the outbox.

pub mod activity;
mod callback;
pub mod event;
mod http;
pub mod refusal;
pub mod relay;
pub mod state;
pub mod store;

use std::{net::SocketAddr, path::PathBuf, sync::Arc};

use tokio::{
    net::TcpListener,
    sync::{Notify, broadcast},
    task::JoinHandle,
};
use tokio_util::sync::CancellationToken;

use activity::Activity;

use crate::{
    client,
    clock::{self, Clock},
    flaky::Faults,
    line::{self, Lines},
    stand, webhook,
};

/// Events kept for a slow watcher before it misses the oldest.
const EVENTS_KEPT: usize = 1024;

/// Why the service did not start, or why it stopped.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The database file could not be opened.
    #[error("open database `{path}`")]
    Database {
        path: PathBuf,
        #[source]
        source: store::Error,
    },
    /// It cannot listen, or its server stopped by itself.
    #[error(transparent)]
    Stand(#[from] stand::Error),
    /// The webhook secret cannot be used.
    #[error(transparent)]
    Secret(#[from] webhook::Error),
    /// Almanack's address cannot be used.
    #[error(transparent)]
    Client(#[from] client::Error),
}

/// Configuration of the service.
#[derive(Clone)]
pub struct Config {
    /// The service's SQLite file; created if missing.
    pub database: PathBuf,
    /// Where to listen; port 0 picks a free port.
    pub listen: SocketAddr,
    /// Base URL of Almanack: `http://127.0.0.1:7080`.
    pub almanack_url: String,
    /// Bearer token for Almanack, if it requires one.
    pub almanack_token: Option<String>,
    /// A message bus to send events over instead of HTTP.
    pub bus: Option<relay::Bus>,
    /// `whsec_…`; without one, unsigned callbacks are accepted.
    pub webhook_secret: Option<String>,
    /// What each event contains besides the time.
    pub requests: event::ChangeRequests,
    /// The relay's backoff while Almanack does not accept events.
    pub pace: relay::Pace,
    pub faults: Faults,
    /// What time it is.
    pub clock: Clock,
}

impl Config {
    /// Defaults: unsigned callbacks, no faults, the system clock.
    pub fn new(
        database: impl Into<PathBuf>,
        listen: SocketAddr,
        almanack_url: impl Into<String>,
    ) -> Self {
        Self {
            database: database.into(),
            listen,
            almanack_url: almanack_url.into(),
            almanack_token: None,
            bus: None,
            webhook_secret: None,
            requests: event::ChangeRequests::default(),
            pace: relay::Pace::default(),
            faults: Faults::default(),
            clock: clock::system(),
        }
    }
}

/// A running service.
#[derive(Debug)]
pub struct Running {
    pub addr: SocketAddr,
    /// Ends when the service has stopped.
    pub join: JoinHandle<Result<(), Error>>,
    events: broadcast::Sender<Activity>,
    store: store::Store,
}

impl Running {
    pub fn url(&self) -> String {
        format!("http://{}", self.addr)
    }

    /// Subscribes to the service's activity from now on. A slow watcher misses events; the service
    /// never waits.
    pub fn watch(&self) -> broadcast::Receiver<Activity> {
        self.events.subscribe()
    }

    /// The newest `limit` articles of its table: what really took effect.
    pub async fn articles(&self, limit: u32) -> Result<Vec<state::Article>, store::Error> {
        self.store.list(limit).await
    }

    /// Events that Almanack has not accepted yet.
    pub async fn waiting(&self) -> Result<i64, store::Error> {
        Ok(self.store.outbox().await?.waiting)
    }
}

/// State shared by all requests.
struct Service {
    store: store::Store,
    secret: Option<webhook::Secret>,
    faults: Faults,
    clock: Clock,
    events: broadcast::Sender<Activity>,
}

impl Service {
    fn report(&self, activity: Activity) {
        // Having no watcher is normal, not a failure.
        let _ = self.events.send(activity);
    }
}

/// Opens the database, listens, serves and relays until `cancel`.
///
/// Once this returns, requests are answered. After `cancel`, running requests get five seconds to
/// end; events not yet delivered stay in the outbox for the next start.
pub async fn start(config: Config, cancel: CancellationToken) -> Result<Running, Error> {
    let secret = config
        .webhook_secret
        .as_deref()
        .map(webhook::Secret::parse)
        .transpose()?;
    let almanack_url = client::base_url(&config.almanack_url)?;
    let http_client = client::build()?;
    let (listener, addr) = stand::listen(config.listen).await?;

    let writer = event::Writer::new(config.requests, addr);
    let path = config.database.clone();
    let outbox_changed = Arc::new(Notify::new());
    let store = store::Store::open(config.database, writer, outbox_changed.clone())
        .await
        .map_err(|source| Error::Database { path, source })?;

    let (events, _) = broadcast::channel(EVENTS_KEPT);
    let relay = relay::Relay {
        store: store.clone(),
        clock: config.clock.clone(),
        client: http_client,
        events_url: format!("{almanack_url}/api/v1/events"),
        token: config.almanack_token,
        bus: config.bus.map(relay::Sender::new),
        pace: config.pace,
        outbox_changed,
        events: events.clone(),
    };
    let table = store.clone();
    let service = Service {
        store,
        secret,
        faults: config.faults,
        clock: config.clock,
        events: events.clone(),
    };
    let join = tokio::spawn(run(listener, Arc::new(service), relay, cancel));
    Ok(Running {
        addr,
        join,
        events,
        store: table,
    })
}

async fn run(
    listener: TcpListener,
    service: Arc<Service>,
    relay: relay::Relay,
    cancel: CancellationToken,
) -> Result<(), Error> {
    let relaying = tokio::spawn(cancel.clone().run_until_cancelled_owned(relay.run()));
    let lines = Lines {
        listener,
        loopback_only: false,
    };
    let served = line::serve(lines, http::routes(service), cancel.clone()).await;
    let served = served.map_err(|source| stand::Error::Serve {
        upstream: "articles",
        source,
    });
    // A server that failed by itself stops the relay, too; after `cancel` this changes nothing.
    cancel.cancel();
    if let Err(error) = relaying.await {
        tracing::error!(%error, "relay ended abnormally");
    }
    Ok(served?)
}
