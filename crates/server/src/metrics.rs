//! Prometheus metrics.
//!
//! Counters are incremented where things happen. Queue depths are a property of the database, so
//! they are read on each scrape; if the database does not answer, the other metrics are still
//! shown, because that is when they are needed.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use almanack_core::store::{Depth, PausedKind, SourceNumbers};
use almanack_core::{source::Attention, time::Clock};
use almanack_engine::{health::Readiness, runner::export_kind};
use axum::extract::{MatchedPath, Request};
use axum::{Extension, http::Method, middleware::Next};
use metrics::gauge;

use crate::prelude::*;
use crate::sources::numbers::by_state;

mod present;

/// How long a count is cached.
const COUNTED_FOR: SignedDuration = SignedDuration::from_secs(10);

/// Kinds with separate gauges, in order of first appearance.
const LABELS_MAX: usize = 250;
/// The label of all other kinds.
const OTHER: &str = "other";

/// What is remembered from one scrape to the next.
#[derive(Default)]
pub(crate) struct Scrapes {
    kinds: SeenKinds,
    paused: SeenPaused,
    sources: Counted,
    edition: Counted,
}

/// Kinds whose gauges were set before. A kind without waiting tasks must fall to zero, not freeze.
#[derive(Default)]
struct SeenKinds(Mutex<BTreeSet<String>>);

/// Show metrics in the Prometheus text format.
#[utoipa::path(
    get, path = "/metrics", tag = "health",
    responses((
        status = 200, description = "Metrics", body = String, content_type = "text/plain",
        example = "almanack_reschedule_total{rule=\"updated\"} 3",
    )),
)]
pub(crate) async fn get_metrics(
    State(state): App,
    Extension(scrapes): Extension<Arc<Scrapes>>,
) -> Response {
    let now = state.clock.now();
    match state.store.load_depths(now).await {
        Ok(depths) => scrapes.kinds.show(&depths, now),
        Err(error) => {
            tracing::warn!(error = %error, "metrics without queue depths: the store did not answer");
        }
    }
    match state.store.load_paused_kinds(now).await {
        Ok(paused) => scrapes.paused.show(&paused),
        Err(error) => {
            tracing::warn!(error = %error, "metrics without paused kinds: the store did not answer");
        }
    }
    // Counting walks over all sources.
    let sources = async { state.store.count_sources(None, now).await };
    match scrapes.sources.renew(now, sources).await {
        Ok(counted) => counted.iter().for_each(set_sources),
        Err(error) => {
            tracing::warn!(error = %error, "metrics without fresh source counts: the store did not answer");
        }
    }
    if !state.editions.is_empty()
        && let Err(error) = scrapes
            .edition
            .renew(now, present::show(&state.editions))
            .await
    {
        tracing::warn!(error = %error, "metrics without fresh edition data: the store did not answer");
    }
    let is_ready = matches!(state.health.readiness(now), Readiness::Ready { .. });
    gauge!("almanack_ready").set(f64::from(u8::from(is_ready)));
    gauge!("almanack_build_info", "version" => state.version).set(1.0);
    let text_format = "text/plain; version=0.0.4; charset=utf-8";
    (
        [(header::CONTENT_TYPE, text_format)],
        known(&state.metrics.render()),
    )
        .into_response()
}

/// Removes gauges that are NaN: unknown values are omitted instead of shown stale.
fn known(text: &str) -> String {
    let lines = text.split_inclusive('\n');
    lines
        .filter(|line| !line.trim_end().ends_with(" NaN"))
        .collect()
}

/// When something was last counted. A gauge keeps its value, so nothing else needs to be stored.
#[derive(Default)]
struct Counted(Mutex<Option<Timestamp>>);

impl Counted {
    /// Counts, unless that was done recently.
    async fn renew<T, E>(
        &self,
        now: Timestamp,
        count: impl Future<Output = Result<T, E>>,
    ) -> Result<Option<T>, E> {
        if !self.is_due(now) {
            return Ok(None);
        }
        let counted = count.await;
        if counted.is_err() {
            // It is due at once.
            *self.lock() = None;
        }
        counted.map(Some)
    }

    /// Whether it is time to count; true for only one caller.
    fn is_due(&self, now: Timestamp) -> bool {
        let mut counted_at = self.lock();
        let age = counted_at.map(|at| now.duration_since(at));
        // A clock that was set back must not extend the cache.
        if age.is_some_and(|age| (SignedDuration::ZERO..COUNTED_FOR).contains(&age)) {
            return false;
        }
        *counted_at = Some(now);
        true
    }

    fn lock(&self) -> MutexGuard<'_, Option<Timestamp>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "counting stops long before 2^53"
)]
fn set_sources(numbers: &SourceNumbers) {
    for (state, count) in by_state(&numbers.states) {
        gauge!("almanack_sources", "state" => state).set(count as f64);
    }
    for attention in Attention::ALL {
        let found = numbers
            .attention
            .iter()
            .find(|(name, _)| *name == attention);
        let count = found.map_or(0, |(_, count)| *count);
        gauge!("almanack_sources_attention", "attention" => attention.as_str()).set(count as f64);
    }
    gauge!("almanack_sources_due").set(numbers.due_now as f64);
    gauge!("almanack_sources_in_backoff").set(numbers.in_backoff as f64);
}

/// Waiting tasks under one label.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
struct Waits {
    waiting: u64,
    due: u64,
    oldest_seconds: f64,
}

impl SeenKinds {
    /// A label never disappears, so absent kinds are set to zero; the number of labels is bounded,
    /// so all further kinds share one.
    fn show(&self, depths: &[Depth], now: Timestamp) {
        let mut seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for (label, waits) in labelled(&mut seen, depths, now) {
            export_kind(&label);
            set(&label, waits);
        }
    }
}

/// Kinds that were seen paused.
#[derive(Default)]
struct SeenPaused(Mutex<BTreeSet<String>>);

impl SeenPaused {
    /// One that is resumed is set to zero; the number of labels is bounded.
    fn show(&self, paused: &[PausedKind]) {
        let mut seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let now: BTreeSet<String> = paused.iter().map(|it| it.kind.to_string()).collect();
        seen.extend(now.iter().take(LABELS_MAX).cloned());
        for kind in seen.iter().take(LABELS_MAX) {
            let is_paused = now.contains(kind);
            gauge!("almanack_kind_paused", "kind" => kind.clone())
                .set(f64::from(u8::from(is_paused)));
        }
    }
}

fn labelled(
    seen: &mut BTreeSet<String>,
    depths: &[Depth],
    now: Timestamp,
) -> BTreeMap<String, Waits> {
    let gone = seen.iter().map(|label| (label.clone(), Waits::default()));
    let mut shown: BTreeMap<String, Waits> = gone.collect();
    for depth in depths {
        let kind = depth.kind.to_string();
        let has_label = seen.contains(&kind) || seen.len() < LABELS_MAX;
        let label = if has_label { kind } else { OTHER.to_owned() };
        seen.insert(label.clone());
        let age = depth
            .first_due_at
            .map(|at| now.duration_since(at).as_secs_f64());
        let waits = shown.entry(label).or_default();
        waits.waiting += depth.waiting;
        waits.due += depth.due;
        waits.oldest_seconds = waits.oldest_seconds.max(age.unwrap_or(0.0));
    }
    shown
}

#[expect(
    clippy::cast_precision_loss,
    reason = "counting stops long before 2^53"
)]
fn set(kind: &str, waits: Waits) {
    let depth = |state| gauge!("almanack_queue_depth", "kind" => kind.to_owned(), "state" => state);
    depth("waiting").set(waits.waiting as f64);
    depth("due").set(waits.due as f64);
    gauge!("almanack_oldest_due_seconds", "kind" => kind.to_owned()).set(waits.oldest_seconds);
}

/// Counts requests by route, not by path: paths are unbounded.
pub(crate) async fn count(
    State(clock): State<Arc<dyn Clock>>,
    request: Request,
    next: Next,
) -> Response {
    let began_at = clock.now();
    let method = method_label(request.method());
    let route = request
        .extensions()
        .get::<MatchedPath>()
        .map(|path| path.as_str().to_owned());
    let route = route.unwrap_or_else(|| "unmatched".to_owned());
    let response = next.run(request).await;
    // The clock was set back meanwhile: no duration.
    let took = clock.now().duration_since(began_at).as_secs_f64().max(0.0);
    metrics::histogram!("almanack_http_request_duration_seconds", "method" => method, "route" => route.clone())
        .record(took);
    let status = response.status().as_str().to_owned();
    metrics::counter!("almanack_http_requests_total", "method" => method, "route" => route, "status" => status)
        .increment(1);
    response
}

/// Clients may invent methods, and each would be a new series.
fn method_label(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::HEAD => "HEAD",
        Method::PUT => "PUT",
        Method::POST => "POST",
        Method::PATCH => "PATCH",
        Method::DELETE => "DELETE",
        Method::OPTIONS => "OPTIONS",
        _ => "other",
    }
}

#[cfg(test)]
mod tests {
    use almanack_core::task::Kind;

    use super::*;

    #[test]
    fn sf_01_kinds_without_end_share_one_label() {
        let depth = |number: usize| Depth {
            kind: Kind::parse(&format!("KIND_{number:05}")).unwrap(),
            waiting: 2,
            due: 1,
            first_due_at: Some(Timestamp::UNIX_EPOCH),
        };
        let now = Timestamp::from_second(9).unwrap();
        let mut seen = BTreeSet::new();
        let depths: Vec<Depth> = (0..1_000).map(depth).collect();
        let shown = labelled(&mut seen, &depths, now);
        assert_eq!(shown.len(), LABELS_MAX + 1);
        let others = Waits {
            waiting: 2 * 750,
            due: 750,
            oldest_seconds: 9.0,
        };
        assert_eq!(shown[OTHER], others);
        let shown = labelled(&mut seen, &depths[..1], now);
        assert_eq!(shown["KIND_00000"].waiting, 2);
        assert_eq!(shown[OTHER], Waits::default(), "an absent kind is zero");
        assert_eq!(seen.len(), LABELS_MAX + 1);
    }
}
