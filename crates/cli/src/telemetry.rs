//! Traces of attempts, by OTLP, to a collector that the configuration names (docs/adr/0024).
//!
//! ```text
//! runner ─► Traced handler ─► handler ─► calls (traceparent)
//!                 │ span of the attempt      │ span of the call
//!                 └────────► queue, bounded ◄┘ ─► exporter, in batches ─► collector
//! ```
//!
//! INVARIANT: work never waits for its traces. A span that finds the queue full is dropped and counted, a collector that is
//! away costs its batches, and a node that stops waits for the last batch no longer than [`LAST_BATCH`].

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

use crate::{config::settings::Telemetry as Settings, failure::Failure};
use export::Exporter;

/// Spans that may wait; at a hundred bytes each this is little, and enough for a collector's short absence.
const QUEUE: usize = 4_096;
/// How long a node that stops waits for its last spans to arrive.
const LAST_BATCH: Duration = Duration::from_secs(3);

/// A span that is over.
#[derive(Debug)]
pub(crate) enum Seen {
    Attempt(Box<handler::Attempt>),
    /// A call made in one.
    Call(Box<Call>),
}

/// Where spans are handed in.
#[derive(Debug, Clone)]
pub(crate) struct Spans(mpsc::Sender<Seen>);

impl Spans {
    fn hand_in(&self, seen: Seen) {
        if self.0.try_send(seen).is_err() {
            metrics::counter!("almanack_trace_spans_dropped_total", "why" => "queue").increment(1);
        }
    }
}

impl Calls for Spans {
    fn made(&self, call: Call) {
        self.hand_in(Seen::Call(Box::new(call)));
    }
}

/// Watches handlers, for the process's [`Telemetry`].
pub(crate) struct Tracer(Option<handler::Tracing>);

impl Tracer {
    /// The same handlers, watched. Lines of the log that an attempt writes name its task, traced or not.
    pub(crate) fn watching(&self, handlers: Handlers) -> Handlers {
        handlers.each(|inner| Arc::new(handler::Watched::new(inner, self.0.clone())))
    }
}

/// The tracing of a process: on, or off.
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
    ) -> Result<Self, Failure> {
        let Some(endpoint) = &settings.otlp_endpoint else {
            return Ok(Self {
                tracing: None,
                exporting: None,
            });
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

    /// Who watches handlers. The last spans leave once every one of these is gone.
    pub(crate) fn tracer(&self) -> Tracer {
        Tracer(self.tracing.clone())
    }

    /// Lets the last spans leave, for a moment.
    pub(crate) async fn finish(self) {
        drop(self.tracing);
        if let Some(exporting) = self.exporting
            && tokio::time::timeout(LAST_BATCH, exporting).await.is_err()
        {
            tracing::warn!("lost the last traces: the collector does not answer");
        }
    }
}
