//! Almanack's HTTP API.
//!
//! A thin layer: an HTTP request becomes a change request ([`almanack_core::reschedule::Request`]),
//! the engine's [`Rescheduler`] runs it, and the receipt becomes the answer. [`Schedules`],
//! [`Sources`] and [`EditionSet`] do the same for theirs. This crate owns the public contract: paths,
//! the JSON of bodies and answers, stable error codes ([`problem`]) and access control
//! ([`access`]). What must stay true:
//!
//! - An answer other than 2xx means that nothing was stored. Exceptions: after 503 and 504 the
//!   outcome is unknown and repeating the call is safe; `edition_failed` stores its reason.
//! - Every error, ours or the router's, is a problem document with a stable `code`.
//! - Neither logs nor errors carry tokens or payloads.
//! - The OpenAPI document describes exactly what is routed, because both come from one registration
//!   ([`openapi`]).

pub mod about;
pub mod access;
mod alerts;
mod app;
mod badge;
mod batch;
mod bulk;
mod calendars;
mod call;
mod editions;
mod events;
mod firings;
mod health;
mod idempotency;
mod inbox;
mod kinds;
mod language;
mod lookup;
mod metrics;
mod monitors;
mod newsletter;
mod nodes;
pub mod openapi;
mod paging;
pub mod picture;
pub mod problem;
mod radar;
mod receipts;
mod run_logs;
mod schedules;
mod search;
pub mod serve;
mod sources;
mod status;
mod subscriptions;
mod tasks;
mod tick;
pub mod token;
mod tokens;
mod ui;
mod users;
mod work;

use std::sync::Arc;

use almanack_core::{
    address::IpNet,
    run_log::RunLogs,
    sign_in::password::Passwords,
    signature::Verifier,
    source::hub::Reach,
    store::Store,
    time::{Clock, Entropy, Sleeper},
};
use almanack_engine::{
    editions::EditionSet,
    health::Health,
    newsletter::NewsletterSet,
    reloadable::Reloadable,
    reschedule::Rescheduler,
    schedules::Schedules,
    sources::{Sources, push::Push},
    tick::Ticker,
    watch::Watching,
    work::Work,
};
use metrics_exporter_prometheus::PrometheusHandle;
use tokio_util::sync::CancellationToken;

use almanack_core::percent;

use crate::about::About;
use crate::access::Access;
pub use crate::app::app;
pub use crate::editions::pages::{PageTemplate, ReaderPages};
pub use crate::sources::opml::{Opml, Outline};
pub use crate::status::StatusPage;
pub use crate::subscriptions::Subscription;

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
    pub(crate) use crate::language::Reader;
    pub(crate) use crate::paging::{self, PAGE_DEFAULT, PAGE_MAX};
    pub(crate) use crate::problem::{Code, Problem};

    pub(crate) type App = State<Arc<AppState>>;
    pub(crate) type Result<T, E = Problem> = std::result::Result<T, E>;
    pub(crate) type Answer = Result<Response>;
}

/// The dependencies of the API. Created once, at the start of the process.
pub struct AppState {
    pub rescheduler: Arc<Rescheduler>,
    /// Changes schedules.
    pub schedules: Arc<Schedules>,
    /// Changes sources.
    pub sources: Arc<Sources>,
    /// What publishers and their hubs may do here.
    pub publishers: Publishers,
    /// Reads and writes OPML.
    pub opml: Arc<dyn Opml>,
    /// Event subscriptions.
    pub subscriptions: Reloadable<Vec<Subscription>>,
    /// Alert rules and channels, in a process that notifies people.
    pub watching: Option<Reloadable<Watching>>,
    /// Build editions, each of its own name; none if none is configured.
    pub editions: EditionSet,
    /// Whether the pages of published editions are public.
    pub public_editions: bool,
    /// Send editions by mail, each its own; none if none is configured.
    pub newsletters: NewsletterSet,
    /// How those pages look.
    pub reader_pages: ReaderPages,
    /// What everybody may see at `/status`; absent: there is no such page.
    pub status_page: Option<StatusPage>,
    /// Hands tasks of pulled kinds to workers; absent if this process does not.
    pub work: Option<Arc<Work>>,
    /// Runs one pass of everything due, on request.
    pub tick: Tick,
    /// Takes reports about firings; absent: there are none.
    pub reporting: Reloadable<Option<Reporting>>,
    /// The store for reads; every change goes through `rescheduler`, `schedules` or `sources`. Slow
    /// readers wait here and delay no other work (SF-01).
    pub store: Arc<dyn Store>,
    /// The same store with separate readers: for authentication, and for lookups before a change.
    pub changes: Arc<dyn Store>,
    pub clock: Arc<dyn Clock>,
    pub health: Arc<Health>,
    /// Cancelled when the process stops: ends streams that would otherwise never end.
    pub leaving: CancellationToken,
    /// How many times faster than real time the clock runs: 1 except in demonstrations.
    pub speed: f64,
    /// Waits by that clock.
    pub sleeper: Arc<dyn Sleeper>,
    pub entropy: Arc<dyn Entropy>,
    pub access: Access,
    /// Host names that pages answer to besides localhost if [`access`](Self::access) requires
    /// tokens; empty: any.
    pub page_hosts: Vec<String>,
    /// Address under which others reach this node, without a `/` at its end, if it has one.
    pub public_url: Option<String>,
    /// Networks of proxies whose `X-Forwarded-For` is trusted.
    pub trusted_proxies: Vec<IpNet>,
    pub passwords: Arc<dyn Passwords>,
    /// Size limits of requests.
    pub limits: Limits,
    /// The configuration, for display.
    pub configuration: Reloadable<Vec<Configured>>,
    /// Renders the metrics.
    pub metrics: PrometheusHandle,
    /// What the page about our requests says.
    pub about: About,
    /// The node's name; none in a process that only answers a command.
    pub node: Option<String>,
    /// The version to report.
    pub version: &'static str,
}

/// Takes reports about firings.
pub struct Reporting {
    pub verifier: Arc<dyn Verifier>,
    /// Keeps what they say.
    pub logs: Arc<dyn RunLogs>,
}

/// A configured value for display: never a secret.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Configured {
    /// Its key, for example `node.slots`.
    pub key: String,
    /// The active value.
    pub value: String,
    /// Its origin: a line of the file, a variable, a flag, or the default.
    pub origin: String,
    /// Its description in English and Chinese.
    pub words: [&'static str; 2],
    /// Whether a change takes effect on reload, without a restart.
    pub reloadable: bool,
}

/// What publishers and their hubs may do here (default: nothing).
#[derive(Clone)]
pub struct Publishers {
    /// Takes what hubs push, in a process that hubs can reach.
    pub push: Option<Arc<Push>>,
    /// Whether hubs can push to the nodes.
    pub reach: Reach,
    /// Whether anyone may ping (`POST /ping`).
    pub ping: bool,
}

impl Default for Publishers {
    fn default() -> Self {
        Self {
            push: None,
            reach: Reach::Off,
            ping: false,
        }
    }
}

/// What `POST /tick` needs.
#[derive(Clone, Default)]
pub struct Tick {
    /// Runs the pass; absent if this process does no work.
    pub ticker: Option<Arc<Ticker>>,
    /// Verifies tick signatures; absent: ticks need a token.
    pub verifier: Reloadable<Option<Arc<dyn Verifier>>>,
}

/// Size limits of requests.
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
    /// A full batch of small tasks fits the body limit; large payloads need several batches.
    fn default() -> Self {
        Self {
            payload_bytes: 64 * 1024,
            body_bytes: 16 * 1024 * 1024,
            batch_items_max: 10_000,
        }
    }
}
