//! The server of every simulated upstream.
//!
//! An upstream defines its state, its routes and its background work. What all of them share is
//! here: a listener, one lock, a journal of requests, a table of injected faults, responses that
//! are delayed, cut or never sent, and the control API under `/_world/`.
//!
//! ```text
//!   client ──► line ──► routes ──► one lock: state, faults, journal ──► send: wait, cut, hang
//! ```
//!
//! INVARIANT: the lock is never held across a wait. A request is decided and recorded under it, and
//! only then delayed, so that the journal also contains clients that disconnected meanwhile.

use std::{
    collections::{BTreeMap, VecDeque},
    fmt, io,
    net::{Ipv4Addr, SocketAddr},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use axum::{
    Json, Router,
    extract::State,
    http::StatusCode,
    response::{IntoResponse, Response},
    routing::{get, put},
};
use jiff::Timestamp;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Value, json};
use tokio::{net::TcpListener, sync::watch, task::JoinHandle};
use tokio_util::sync::CancellationToken;

use crate::{
    clock::{self, Clock},
    line::{self, Lines, Met},
    reply::Answer,
    rule::{Rule, Rules},
};

/// Requests kept one by one; the oldest go first. Counts are kept for all.
const REQUESTS_KEPT: usize = 20_000;

/// What one upstream defines.
pub trait Upstream: Sized + Send + 'static {
    /// Its name in errors.
    const NAME: &'static str;
    /// The text of `/_world` in a browser.
    const WELCOME: &'static str;
    /// Whether it accepts connections to loopback addresses only, wherever it listens.
    const LOOPBACK_ONLY: bool = false;
    /// Its configuration; does not change while it runs.
    type Setup: Send + Sync;
    /// The requests a fault matches.
    type Matching: Clone + Serialize + DeserializeOwned + Default + Send;
    /// The effect of a fault.
    type Effect: Clone + Serialize + DeserializeOwned + Send;
    /// What its requests are counted by.
    type Kind: Clone + Ord + Serialize + Send;
    /// What else the journal contains of a request.
    type Facts: Clone + Serialize + Send;

    /// Its state at the start.
    fn open(setup: &Self::Setup, now: Timestamp) -> Self;

    fn routes(stand: Stand<Self>) -> Router;

    /// Further routes of its control API.
    fn control() -> Router<Stand<Self>> {
        Router::new()
    }
}

/// A request in the journal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Request<K, F> {
    pub at: Timestamp,
    /// What it is counted by.
    #[serde(flatten)]
    pub kind: K,
    #[serde(flatten)]
    pub facts: F,
}

/// The number of requests with the same key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Count<K> {
    #[serde(flatten)]
    pub kind: K,
    pub requests: u64,
}

/// All requests so far.
pub(crate) struct Journal<K, F> {
    total: u64,
    newest: VecDeque<Request<K, F>>,
    counts: BTreeMap<K, u64>,
}

impl<K: Clone + Ord, F> Journal<K, F> {
    pub(crate) fn note(&mut self, at: Timestamp, kind: K, facts: F) {
        self.total += 1;
        *self.counts.entry(kind.clone()).or_default() += 1;
        if self.newest.len() == REQUESTS_KEPT {
            self.newest.pop_front();
        }
        self.newest.push_back(Request { at, kind, facts });
    }

    pub(crate) fn total(&self) -> u64 {
        self.total
    }
}

impl<K, F> Default for Journal<K, F> {
    fn default() -> Self {
        Self {
            total: 0,
            newest: VecDeque::new(),
            counts: BTreeMap::new(),
        }
    }
}

/// All mutable state.
pub(crate) struct Inside<S: Upstream> {
    pub(crate) state: S,
    pub(crate) faults: Rules<S::Matching, S::Effect>,
    pub(crate) journal: Journal<S::Kind, S::Facts>,
    /// Delay of every response, in real time.
    pub(crate) latency: Duration,
    pub(crate) in_flight: usize,
    in_flight_max: usize,
}

struct Shared<S: Upstream> {
    inside: Mutex<Inside<S>>,
    setup: S::Setup,
    clock: Clock,
    addr: SocketAddr,
    /// Whether it listens at every address of this machine.
    everywhere: bool,
    /// Ends waits that would otherwise outlive the server.
    stop: CancellationToken,
    /// Changes with every request and every change by a test.
    changes: watch::Sender<u64>,
}

/// Handle to a running upstream, for its routes and for tests in its process.
pub struct Stand<S: Upstream>(Arc<Shared<S>>);

impl<S: Upstream> Clone for Stand<S> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

/// Names the server only: its state changes and contains secrets.
impl<S: Upstream> fmt::Debug for Stand<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at {}", S::NAME, self.0.addr)
    }
}

impl<S: Upstream> Stand<S> {
    /// Its base URL.
    pub fn url(&self) -> String {
        format!("http://{}", self.0.addr)
    }

    pub fn add_fault(&self, rule: Rule<S::Matching, S::Effect>) {
        self.lock().faults.add(rule);
    }

    /// The faults still in force.
    pub fn faults(&self) -> Vec<Rule<S::Matching, S::Effect>> {
        self.lock().faults.rules()
    }

    pub fn clear_faults(&self) {
        self.lock().faults.clear();
    }

    /// Sets the delay of every response, in real time.
    pub fn set_latency(&self, latency: Duration) {
        self.lock().latency = latency;
    }

    /// The newest requests, oldest first.
    pub fn requests(&self) -> Vec<Request<S::Kind, S::Facts>> {
        self.lock().journal.newest.iter().cloned().collect()
    }

    /// The number of requests per key.
    pub fn counts(&self) -> Vec<Count<S::Kind>> {
        let inside = self.lock();
        let counts = inside.journal.counts.iter().map(|(kind, requests)| Count {
            kind: kind.clone(),
            requests: *requests,
        });
        counts.collect()
    }

    /// The number of requests that match.
    pub fn count_where(&self, wanted: impl Fn(&S::Kind) -> bool) -> u64 {
        let inside = self.lock();
        let counts = inside.journal.counts.iter();
        let own = counts.filter(|(kind, _)| wanted(kind));
        own.map(|(_, requests)| requests).sum()
    }

    /// The number of all requests.
    pub fn total(&self) -> u64 {
        self.lock().journal.total
    }

    /// Requests in flight.
    pub fn in_flight(&self) -> usize {
        self.lock().in_flight
    }

    /// The most requests in flight at once.
    pub fn in_flight_max(&self) -> usize {
        self.lock().in_flight_max
    }

    /// Empties the journal; faults and state stay.
    pub fn forget_requests(&self) {
        let mut inside = self.lock();
        inside.journal = Journal::default();
        inside.in_flight_max = inside.in_flight;
    }

    /// Waits until a condition holds; checks it after every change.
    pub async fn until(&self, wanted: impl Fn(&Self) -> bool) {
        let mut changes = self.0.changes.subscribe();
        while !wanted(self) {
            // The sender lives as long as this handle.
            let _ = changes.changed().await;
        }
    }

    pub(crate) fn setup(&self) -> &S::Setup {
        &self.0.setup
    }

    pub(crate) fn is_everywhere(&self) -> bool {
        self.0.everywhere
    }

    pub(crate) fn port(&self) -> u16 {
        self.0.addr.port()
    }

    pub(crate) fn now(&self) -> Timestamp {
        (self.0.clock)()
    }

    /// A panic elsewhere never leaves a request half done, so a poisoned lock is safe to use.
    pub(crate) fn lock(&self) -> MutexGuard<'_, Inside<S>> {
        self.0.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn changed(&self) {
        self.0.changes.send_modify(|changes| *changes += 1);
    }

    /// Counts a request as in flight until the guard is dropped, also if the client disconnects.
    pub(crate) fn begin(&self) -> Flight<S> {
        let mut inside = self.lock();
        inside.in_flight += 1;
        inside.in_flight_max = inside.in_flight_max.max(inside.in_flight);
        drop(inside);
        Flight(self.clone())
    }

    /// Sends an answer: waits, then responds, cuts the connection or hangs. `guard` lives until the
    /// last piece of the body is sent.
    pub(crate) async fn send(
        &self,
        met: &Met,
        answer: Answer,
        guard: impl Send + 'static,
    ) -> Response {
        let latency = self.lock().latency;
        self.changed();
        let passed = match &answer {
            Answer::Reply(reply) => self.wait(latency + reply.wait).await,
            Answer::Cut => self.wait(latency).await,
            Answer::Hang => {
                self.0.stop.cancelled().await;
                false
            }
        };
        match answer {
            Answer::Reply(reply) if passed => {
                let stop = self.0.stop.clone();
                reply.into_http(self.now(), stop, guard)
            }
            _ => {
                met.cut.now();
                StatusCode::SERVICE_UNAVAILABLE.into_response()
            }
        }
    }

    /// Whether the wait passed; false if the server stopped meanwhile.
    async fn wait(&self, wait: Duration) -> bool {
        if wait.is_zero() {
            return true;
        }
        tokio::select! {
            () = clock::pause(wait) => true,
            () = self.0.stop.cancelled() => false,
        }
    }
}

/// A request being answered.
pub(crate) struct Flight<S: Upstream>(Stand<S>);

impl<S: Upstream> Drop for Flight<S> {
    fn drop(&mut self) {
        self.0.lock().in_flight -= 1;
        self.0.changed();
    }
}

/// Why a server did not start, or why it stopped.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The address is taken or not available.
    #[error("listen on {addr}")]
    Listen {
        addr: SocketAddr,
        #[source]
        source: io::Error,
    },
    /// The server stopped by itself.
    #[error("serve {upstream}")]
    Serve {
        upstream: &'static str,
        #[source]
        source: io::Error,
    },
}

/// A running server.
#[derive(Debug)]
pub struct Running<S: Upstream> {
    pub addr: SocketAddr,
    /// Ends when the server has stopped.
    pub join: JoinHandle<Result<(), Error>>,
    pub handle: Stand<S>,
}

impl<S: Upstream> Running<S> {
    /// Its base URL.
    pub fn url(&self) -> String {
        self.handle.url()
    }
}

/// Configuration of a server.
#[derive(Clone)]
pub struct Config<S: Upstream> {
    /// The address to listen on; port 0 picks a free port.
    pub listen: SocketAddr,
    /// The clock. Waits are real time.
    pub clock: Clock,
    /// Delay of every response, in real time.
    pub latency: Duration,
    pub setup: S::Setup,
}

impl<S: Upstream> Config<S> {
    /// Defaults: no delay, the system clock.
    pub fn of(listen: SocketAddr, setup: S::Setup) -> Self {
        Self {
            listen,
            clock: clock::system(),
            latency: Duration::ZERO,
            setup,
        }
    }
}

/// Listens and serves until `cancel`. Once this returns, requests are answered.
pub async fn start<S: Upstream>(
    config: Config<S>,
    cancel: CancellationToken,
) -> Result<Running<S>, Error> {
    let (listener, addr) = listen(config.listen).await?;
    let handle = Stand(Arc::new(Shared {
        inside: Mutex::new(Inside {
            state: S::open(&config.setup, (config.clock)()),
            faults: Rules::default(),
            journal: Journal::default(),
            latency: config.latency,
            in_flight: 0,
            in_flight_max: 0,
        }),
        setup: config.setup,
        clock: config.clock,
        everywhere: addr.ip().is_unspecified(),
        addr: reachable(addr),
        stop: cancel.clone(),
        changes: watch::Sender::new(0),
    }));
    let app = control(handle.clone()).merge(S::routes(handle.clone()));
    let lines = Lines {
        listener,
        loopback_only: S::LOOPBACK_ONLY,
    };
    let join = tokio::spawn(async move {
        let served = line::serve(lines, app, cancel).await;
        served.map_err(|source| Error::Serve {
            upstream: S::NAME,
            source,
        })
    });
    Ok(Running { addr, join, handle })
}

/// Listens; returns the address.
pub(crate) async fn listen(addr: SocketAddr) -> Result<(TcpListener, SocketAddr), Error> {
    let at = |source| Error::Listen { addr, source };
    let listener = TcpListener::bind(addr).await.map_err(at)?;
    let bound = listener.local_addr().map_err(at)?;
    Ok((listener, bound))
}

/// A server on every address is called at 127.0.0.1.
pub(crate) fn reachable(addr: SocketAddr) -> SocketAddr {
    if addr.ip().is_unspecified() {
        (Ipv4Addr::LOCALHOST, addr.port()).into()
    } else {
        addr
    }
}

/// `/_world/…`: the same as [`Stand`], for tests in another process. No token, not counted, no
/// faults: open to every loopback client.
fn control<S: Upstream>(stand: Stand<S>) -> Router {
    type At<S> = State<Stand<S>>;
    let faults = get(async |State(stand): At<S>| Json(json!(stand.faults())))
        .post(async |State(stand): At<S>, Json(rule)| done(|| stand.add_fault(rule)))
        .delete(async |State(stand): At<S>| done(|| stand.clear_faults()));
    let latency = async |State(stand): At<S>, Json(LatencyBody { latency_ms })| {
        done(|| stand.set_latency(Duration::from_millis(latency_ms)))
    };
    let forget = async |State(stand): At<S>| done(|| stand.forget_requests());
    let inside = Router::new()
        .route("/faults", faults)
        .route("/latency", put(latency))
        .route("/requests", get(requests::<S>).delete(forget))
        .merge(S::control())
        .with_state(stand);
    Router::new()
        .route("/_world", get(|| async { S::WELCOME }))
        .route("/_world/", get(|| async { S::WELCOME }))
        .route("/healthz", get(|| async { "ok" }))
        .nest("/_world", inside)
}

/// A control action with an empty response.
pub(crate) fn done(act: impl FnOnce()) -> StatusCode {
    act();
    StatusCode::NO_CONTENT
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LatencyBody {
    latency_ms: u64,
}

async fn requests<S: Upstream>(State(stand): State<Stand<S>>) -> Json<Value> {
    Json(json!({
        "total": stand.total(),
        "in_flight_max": stand.in_flight_max(),
        "counts": stand.counts(),
        "newest": stand.requests(),
    }))
}
