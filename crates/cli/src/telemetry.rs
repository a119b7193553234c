//! Traces of attempts, by OTLP, to a collector that the configuration names (docs/adr/0024).
//!
//! ```text
//! runner ─► Traced handler ─► handler ─► calls (traceparent)
//!                 │ span of the attempt      │ span of the call
//!                 └────────► queue, bounded ◄┘ ─► exporter, in batches ─► collector
//! ```
//!
//! INVARIANT: work never waits for its traces. A span that finds the queue full is dropped and
//! counted, batches are lost while the collector is away, and a stopping node waits for the last
//! batch no longer than [`LAST_BATCH`].

mod export;
mod handler;

use std::{sync::Arc, time::Duration};

use almanack_adapters::{
    http::Client,
    trace::{Call, Calls},
};
use almanack_core::time::Clock;
use almanack_engine::handlers::Handlers;
use tokio::{sync::mpsc, task::JoinHandle};

use crate::{
    config::settings::Telemetry as Settings,
    failure::{Failure, Result},
};
use export::Exporter;

/// Spans that may wait: little memory at a hundred bytes each, and enough for a short outage of the
/// collector.
const QUEUE: usize = 4_096;
/// How long a stopping node waits for its last spans to be sent.
const LAST_BATCH: Duration = Duration::from_secs(3);

/// A finished span.
#[derive(Debug)]
pub(crate) enum SpanRecord {
    Attempt(Box<handler::Attempt>),
    /// A call of an attempt.
    Call(Box<Call>),
}

/// The queue of spans.
#[derive(Debug, Clone)]
pub(crate) struct Spans(mpsc::Sender<SpanRecord>);

impl Spans {
    fn hand_in(&self, seen: SpanRecord) {
        if self.0.try_send(seen).is_err() {
            metrics::counter!("almanack_trace_spans_dropped_total", "why" => "queue").increment(1);
        }
    }
}

impl Calls for Spans {
    fn made(&self, call: Call) {
        self.hand_in(SpanRecord::Call(Box::new(call)));
    }
}

/// Traces handlers, for the process's [`Telemetry`].
pub(crate) struct Tracer(Option<handler::Tracing>);

impl Tracer {
    /// The same handlers, traced. Log lines of an attempt name its task, traced or not.
    pub(crate) fn watching(&self, handlers: Handlers) -> Handlers {
        handlers.each(|inner| Arc::new(handler::Watched::new(inner, self.0.clone())))
    }
}

/// The tracing of a process: on, or off.
#[derive(Default)]
pub(crate) struct Telemetry {
    tracing: Option<handler::Tracing>,
    exporting: Option<JoinHandle<()>>,
}

impl Telemetry {
    /// Starts to export, if the configuration names a collector.
    pub(crate) fn start(
        settings: &Settings,
        node: &str,
        (client, clock): (Client, Arc<dyn Clock>),
    ) -> Result<Self> {
        let Some(endpoint) = &settings.otlp_endpoint else {
            return Ok(Self::default());
        };
        let exporter = Exporter::new(settings, endpoint, node, client)
            .map_err(|error| Failure::usage(format!("telemetry.otlp_endpoint: {error}")))?;
        let (sender, receiver) = mpsc::channel(QUEUE);
        let tracing = handler::Tracing {
            spans: Spans(sender),
            clock,
            service: settings.service.as_str().into(),
            sample: settings.sample,
        };
        Ok(Self {
            tracing: Some(tracing),
            exporting: Some(tokio::spawn(exporter.run(receiver))),
        })
    }

    /// Traces handlers. The last spans are sent once every one of these is dropped.
    pub(crate) fn tracer(&self) -> Tracer {
        Tracer(self.tracing.clone())
    }

    /// Waits a moment for the last spans to be sent.
    pub(crate) async fn finish(self) {
        drop(self.tracing);
        if let Some(exporting) = self.exporting
            && tokio::time::timeout(LAST_BATCH, exporting).await.is_err()
        {
            tracing::warn!("lost the last traces: the collector does not answer");
        }
    }
}
