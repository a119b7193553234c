//! A receiver of webhooks on loopback: partners whom schedules fire at, patient and impatient.
//!
//! Every hook is at `/hooks/NAME`. It takes each call once, known by its `Idempotency-Key`, and can be told to take its
//! time or to refuse some calls, so that overlaps and retries can be seen. What it took and refused is counted by name.
//!
//! INVARIANT: a call that is refused takes no effect, and a key that was taken is answered alike for ever.

use std::{
    collections::{BTreeMap, BTreeSet},
    io,
    net::SocketAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use axum::{
    Json, Router,
    extract::{Path, State},
    http::{HeaderMap, StatusCode},
    response::{IntoResponse, Response},
    routing::{get, post},
};
use serde::Serialize;
use serde_json::json;
use tokio::{net::TcpListener, task::JoinHandle};
use tokio_util::sync::CancellationToken;

use crate::{
    chance::Chance,
    clock,
    line::{self, Lines},
};

/// Why the receiver did not start, or stopped.
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
    #[error("serve hooks")]
    Serve(#[source] io::Error),
}

/// How a hook treats its callers. The default answers at once.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Manners {
    /// How long an answer takes, in real time.
    pub wait: Duration,
    /// Of a hundred calls, so many are answered 503.
    pub refuse_percent: u8,
}

/// What the receiver needs to know.
#[derive(Debug, Clone)]
pub struct Config {
    /// Where to listen; port 0 takes a free one.
    pub listen: SocketAddr,
    /// Hooks with manners of their own; any other name is a hook, too.
    pub manners: BTreeMap<String, Manners>,
    /// Where the chance of refusals comes from.
    pub seed: u64,
}

impl Config {
    /// Hooks that answer at once.
    pub fn new(listen: SocketAddr) -> Self {
        Self {
            listen,
            manners: BTreeMap::new(),
            seed: 0,
        }
    }
}

/// What came to a hook.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Count {
    /// Calls taken, each key once.
    pub taken: u64,
    /// Calls whose key had been taken before.
    pub repeated: u64,
    /// Calls refused on purpose.
    pub refused: u64,
}

#[derive(Debug, Default)]
struct Inside {
    manners: BTreeMap<String, Manners>,
    counts: BTreeMap<String, Count>,
    keys: BTreeSet<String>,
    calls: u64,
}

struct Service {
    seed: u64,
    inside: Mutex<Inside>,
}

impl Service {
    /// Counts are whole after every line, so what a panic left behind can be used.
    fn lock(&self) -> MutexGuard<'_, Inside> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether this call is taken; noted at once, before any wait.
    fn decide(&self, name: &str, key: Option<&str>) -> bool {
        let manners = self.manners(name);
        let mut inside = self.lock();
        inside.calls += 1;
        let drawn = Chance::of(self.seed, &[inside.calls]).below(100);
        let refused = drawn < u64::from(manners.refuse_percent);
        let known = key.is_some_and(|key| !refused && !inside.keys.insert(key.to_owned()));
        let count = inside.counts.entry(name.to_owned()).or_default();
        match (refused, known) {
            (true, _) => count.refused += 1,
            (false, true) => count.repeated += 1,
            (false, false) => count.taken += 1,
        }
        !refused
    }

    fn manners(&self, name: &str) -> Manners {
        self.lock().manners.get(name).copied().unwrap_or_default()
    }
}

/// Reaches into a running receiver from the same process.
#[derive(Clone)]
pub struct Handle(Arc<Service>);

/// Names nothing: what is inside changes while one looks.
impl std::fmt::Debug for Handle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Handle").finish_non_exhaustive()
    }
}

impl Handle {
    /// What came, by hook.
    pub fn counts(&self) -> BTreeMap<String, Count> {
        self.0.lock().counts.clone()
    }

    /// From now on a hook treats its callers so.
    pub fn set_manners(&self, name: &str, manners: Manners) {
        self.0.lock().manners.insert(name.to_owned(), manners);
    }
}

/// A receiver that runs.
#[derive(Debug)]
pub struct Running {
    /// Where it listens.
    pub addr: SocketAddr,
    /// Ends when the receiver has stopped.
    pub join: JoinHandle<Result<(), Error>>,
    /// Reaches into it.
    pub handle: Handle,
}

impl Running {
    /// The address of a hook.
    pub fn hook_url(&self, name: &str) -> String {
        format!("http://{}/hooks/{name}", self.addr)
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
    let service = Arc::new(Service {
        seed: config.seed,
        inside: Mutex::new(Inside {
            manners: config.manners,
            ..Inside::default()
        }),
    });
    let handle = Handle(Arc::clone(&service));
    let app = Router::new()
        .route("/_world", get(counts))
        .route("/hooks/{name}", post(take))
        .with_state(service);
    let join = tokio::spawn(async move {
        let served = line::serve(Lines(listener), app, cancel).await;
        served.map_err(Error::Serve)
    });
    Ok(Running { addr, join, handle })
}

async fn counts(State(service): State<Arc<Service>>) -> Json<BTreeMap<String, Count>> {
    Json(Handle(service).counts())
}

async fn take(
    State(service): State<Arc<Service>>,
    Path(name): Path<String>,
    headers: HeaderMap,
) -> Response {
    let key = headers.get("idempotency-key");
    let taken = service.decide(&name, key.and_then(|key| key.to_str().ok()));
    clock::pause(service.manners(&name).wait).await;
    if taken {
        return Json(json!({ "result": "taken" })).into_response();
    }
    let sorry = json!({ "code": "intended_fault", "message": "this hook was told to misbehave" });
    (StatusCode::SERVICE_UNAVAILABLE, Json(sorry)).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn service(refuse_percent: u8) -> Service {
        let manners = Manners {
            refuse_percent,
            ..Manners::default()
        };
        let hooks = Service {
            seed: 1,
            inside: Mutex::default(),
        };
        hooks.lock().manners.insert("flaky".to_owned(), manners);
        hooks
    }

    #[test]
    fn a_key_is_taken_once() {
        let hooks = service(0);
        assert!(hooks.decide("paper", Some("a")));
        assert!(hooks.decide("paper", Some("a")), "answered alike");
        assert!(hooks.decide("paper", Some("b")));
        let expected = Count {
            taken: 2,
            repeated: 1,
            refused: 0,
        };
        assert_eq!(hooks.lock().counts["paper"], expected);
    }

    #[test]
    fn what_is_refused_takes_no_effect_and_only_the_rude_refuse() {
        let hooks = service(50);
        let refused = (0..1_000).filter(|call| !hooks.decide("flaky", Some(&format!("{call}"))));
        let refused = refused.count();
        assert!((430..570).contains(&refused), "half of 1000, but {refused}");
        let count = hooks.lock().counts["flaky"];
        assert_eq!((count.taken + count.refused, count.repeated), (1_000, 0));
        assert!((0..100).all(|call| hooks.decide("paper", Some(&format!("p{call}")))));
    }
}
