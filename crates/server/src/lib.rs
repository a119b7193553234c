//! Almanack's HTTP API.
//!
//! A thin face: a request becomes a request ([`almanack_core::reschedule::Request`]), the engine's
//! [`Rescheduler`] carries it out, and the receipt becomes the answer; [`Schedules`] does the same for
//! schedules, [`Sources`] for sources, [`Editions`] for editions. This crate owns what the
//! outside relies on: paths, the JSON of bodies and answers, stable error codes ([`problem`]) and
//! who may ask for what ([`access`]). What must stay true:
//!
//! - An answer that is not 2xx means that nothing was stored, but for 503 and 504, which say that
//!   asking again is the way to find out, and `edition_failed`, which keeps why; asking again is harmless.
//! - Every error, ours or the router's, is a problem document with a stable `code`.
//! - Neither logs nor errors carry tokens or payloads.
//! - The OpenAPI document describes exactly what is routed, because both come from one registration
//!   ([`openapi`]).

pub mod access;
mod alerts;
mod app;
mod batch;
mod call;
mod editions;
mod events;
mod health;
mod idempotency;
mod lookup;
mod metrics;
mod nodes;
pub mod openapi;
mod paging;
pub mod picture;
pub mod problem;
mod receipts;
mod schedules;
pub mod serve;
mod sources;
mod subscriptions;
mod tasks;
mod tick;
pub mod token;
mod tokens;
mod ui;
mod users;
pub mod words;

use std::sync::Arc;

use almanack_core::{
    address::IpNet,
    sign_in::password::Passwords,
    signature::Verifier,
    store::Store,
    time::{Clock, Entropy, Sleeper},
};
use almanack_engine::{
    editions::Editions, health::Health, reloadable::Reloadable, reschedule::Rescheduler,
    schedules::Schedules, sources::Sources, tick::Ticker,
};
use metrics_exporter_prometheus::PrometheusHandle;
use tokio_util::sync::CancellationToken;

use almanack_core::percent;

use crate::access::Access;
pub use crate::app::app;
pub use crate::sources::opml::{Opml, Outline};
pub use crate::subscriptions::Subscription;

/// What every handler is written with.
pub(crate) mod prelude {
    pub(crate) use std::sync::Arc;

    pub(crate) use axum::Json;
    pub(crate) use axum::extract::State;
    pub(crate) use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
    pub(crate) use axum::response::{IntoResponse, Response};
    pub(crate) use jiff::{SignedDuration, Timestamp};
    pub(crate) use serde::{Deserialize, Serialize};
    pub(crate) use utoipa::{IntoParams, ToSchema};

    pub(crate) use crate::AppState;
    pub(crate) use crate::call::{Asked, Call};
    pub(crate) use crate::paging::{self, PAGE_DEFAULT, PAGE_MAX};
    pub(crate) use crate::problem::{Code, Problem};

    pub(crate) type App = State<Arc<AppState>>;
    pub(crate) type Result<T, E = Problem> = std::result::Result<T, E>;
    pub(crate) type Answer = Result<Response>;
}

/// What the API works with. Made once, by whoever starts the process.
pub struct AppState {
    pub rescheduler: Arc<Rescheduler>,
    /// Carries out what people want of schedules.
    pub schedules: Arc<Schedules>,
    /// Carries out what people want of sources.
    pub sources: Arc<Sources>,
    /// Reads and writes lists of sources.
    pub opml: Arc<dyn Opml>,
    /// Who is sent events.
    pub subscriptions: Reloadable<Vec<Subscription>>,
    /// Makes editions; none where they are not configured.
    pub editions: Option<Arc<Editions>>,
    /// Whether everybody may read the pages of published editions, or only who shows a token.
    pub public_editions: bool,
    /// Makes a pass of everything due, on request.
    pub tick: Tick,
    /// Read by the looking half of the API; every change goes through `rescheduler`, `schedules` or
    /// `sources`. Whoever only looks waits here, and keeps nobody else waiting (SF-01).
    pub store: Arc<dyn Store>,
    /// The same store with readers that no list and no page takes: for who asks, and for what a change must look up first.
    pub changes: Arc<dyn Store>,
    /// The only way to learn the time.
    pub clock: Arc<dyn Clock>,
    /// What the node knows about itself.
    pub health: Arc<Health>,
    /// Cancelled when this process is about to leave: streams that would never end by themselves end then.
    pub leaving: CancellationToken,
    /// How many times faster than the wall clock that clock runs: 1 but for a demonstration.
    pub speed: f64,
    /// The only way to wait, by that clock.
    pub sleeper: Arc<dyn Sleeper>,
    /// The only source of chance.
    pub entropy: Arc<dyn Entropy>,
    pub access: Access,
    /// Host names that pages answer to besides the machine's own where [`access`](Self::access) asks for tokens; any, where there are
    /// none.
    pub page_hosts: Vec<String>,
    /// Networks of proxies whose word is taken for where a request comes from.
    pub trusted_proxies: Vec<IpNet>,
    pub passwords: Arc<dyn Passwords>,
    /// How much one request may bring.
    pub limits: Limits,
    /// What is configured, for people to look at.
    pub configuration: Reloadable<Vec<Configured>>,
    /// Renders what the process has counted.
    pub metrics: PrometheusHandle,
    /// The version to report.
    pub version: &'static str,
}

/// A configured value, as it may be shown: never a secret.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Configured {
    /// Its key, like `node.slots`.
    pub key: String,
    /// What is in force.
    pub value: String,
    /// Where it comes from: a line of the file, a variable, a flag, the default.
    pub origin: String,
    /// What it means, in English and in Chinese.
    pub words: [&'static str; 2],
    /// Whether a change takes effect when the node reads its configuration again, not only at its next start.
    pub reloadable: bool,
}

/// What `POST /tick` works with.
#[derive(Clone, Default)]
pub struct Tick {
    /// Makes the pass; without one, this process ticks for nobody.
    pub ticker: Option<Arc<Ticker>>,
    /// Knows the secret by which ticks are signed; without one, they need a token.
    pub verifier: Reloadable<Option<Arc<dyn Verifier>>>,
}

/// How much one request may bring.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Largest payload of one task.
    pub payload_bytes: usize,
    /// Largest body of any request.
    pub body_bytes: usize,
    /// Most tasks or events in one call.
    pub batch_items_max: usize,
}

impl Default for Limits {
    /// A full batch of small tasks fits the body limit; a batch of large payloads has to be split.
    fn default() -> Self {
        Self {
            payload_bytes: 64 * 1024,
            body_bytes: 16 * 1024 * 1024,
            batch_items_max: 10_000,
        }
    }
}
