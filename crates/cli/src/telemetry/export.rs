//! Spans to a collector, in batches, through the one HTTP client.

use std::{collections::HashMap, fmt, time::Duration};

use almanack_adapters::{
    http::{Client, Limits, Request},
    trace::{Call, SpanId, TraceId},
};
use async_trait::async_trait;
use jiff::Timestamp;
use opentelemetry::{
    InstrumentationScope, KeyValue,
    trace::{self, SpanContext, SpanKind, Status, TraceFlags, TraceState},
};
use opentelemetry_http::{Bytes, HttpClient, HttpError};
use opentelemetry_otlp::{
    ExporterBuildError, Protocol, SpanExporter, WithExportConfig as _, WithHttpConfig as _,
};
use opentelemetry_sdk::{
    Resource,
    trace::{SpanData, SpanEvents, SpanExporter as _, SpanLinks},
};
use tokio::sync::mpsc;
use url::Url;

use super::{SpanRecord, handler::Attempt};
use crate::config::settings::Telemetry as Settings;

/// Spans per batch.
const BATCH: usize = 512;
/// How long the first span of a batch waits for others.
const GATHER: Duration = Duration::from_secs(2);
/// How long a collector may take.
const WAIT_MAX: Duration = Duration::from_secs(10);
/// Firings are about `schedule:NAME@SLOT`.
const SCHEDULE: &str = "schedule:";

pub(super) struct Exporter {
    collector: SpanExporter,
    scope: InstrumentationScope,
    /// Whether the last batch failed: logged once, not every two seconds.
    away: bool,
}

impl Exporter {
    pub(super) fn new(
        settings: &Settings,
        endpoint: &Url,
        node: &str,
        client: Client,
    ) -> Result<Self, ExporterBuildError> {
        let address = format!("{}/v1/traces", endpoint.as_str().trim_end_matches('/'));
        let headers: HashMap<String, String> = settings
            .headers
            .iter()
            .map(|(name, value)| (name.clone(), value.expose().to_owned()))
            .collect();
        let mut exporter = SpanExporter::builder()
            .with_http()
            .with_protocol(Protocol::HttpBinary)
            .with_http_client(Carrier(client))
            .with_endpoint(address)
            .with_headers(headers)
            .with_timeout(WAIT_MAX)
            .build()?;
        let version = env!("CARGO_PKG_VERSION");
        let resource = Resource::builder_empty().with_attributes([
            KeyValue::new("service.name", settings.service.clone()),
            KeyValue::new("service.instance.id", node.to_owned()),
            KeyValue::new("service.version", version),
        ]);
        exporter.set_resource(&resource.build());
        Ok(Self {
            collector: exporter,
            scope: InstrumentationScope::builder("almanack")
                .with_version(version)
                .build(),
            away: false,
        })
    }

    /// Runs until all senders are dropped.
    pub(super) async fn run(mut self, mut queue: mpsc::Receiver<SpanRecord>) {
        while let Some(first) = queue.recv().await {
            let mut batch = vec![first];
            let gathering = async {
                while batch.len() < BATCH {
                    match queue.recv().await {
                        Some(seen) => batch.push(seen),
                        None => break,
                    }
                }
            };
            // Running out of time is what usually ends this.
            let _ = tokio::time::timeout(GATHER, gathering).await;
            self.send(batch).await;
        }
    }

    async fn send(&mut self, batch: Vec<SpanRecord>) {
        let spans = batch.len() as u64;
        let batch = batch.into_iter().map(|seen| self.span(seen)).collect();
        match self.collector.export(batch).await {
            Ok(()) => {
                self.away = false;
                metrics::counter!("almanack_trace_spans_total").increment(spans);
            }
            Err(error) => {
                metrics::counter!("almanack_trace_spans_dropped_total", "why" => "collector")
                    .increment(spans);
                if !std::mem::replace(&mut self.away, true) {
                    tracing::warn!(%error, "the trace collector rejects spans; dropping them until it accepts");
                }
            }
        }
    }

    fn span(&self, seen: SpanRecord) -> SpanData {
        match seen {
            SpanRecord::Attempt(attempt) => self.attempt(*attempt),
            SpanRecord::Call(call) => self.call(&call),
        }
    }

    fn attempt(&self, attempt: Attempt) -> SpanData {
        let late = attempt.started_at.duration_since(attempt.due_at);
        let late_ms = i64::try_from(late.as_millis()).unwrap_or(i64::MAX);
        let mut attributes = vec![
            KeyValue::new("almanack.task.id", attempt.task_id),
            KeyValue::new("almanack.task.kind", attempt.kind.clone()),
            KeyValue::new("almanack.task.subject", attempt.subject.clone()),
            KeyValue::new("almanack.task.attempt", i64::from(attempt.number)),
            KeyValue::new("almanack.task.term", attempt.term),
            KeyValue::new("almanack.outcome", attempt.outcome),
            KeyValue::new("almanack.late_ms", late_ms),
        ];
        let firing = attempt.subject.strip_prefix(SCHEDULE);
        if let Some((schedule, slot)) = firing.and_then(|it| it.rsplit_once('@')) {
            attributes.push(KeyValue::new("almanack.schedule", schedule.to_owned()));
            attributes.push(KeyValue::new("almanack.slot", slot.to_owned()));
        }
        SpanData {
            status: attempt.error.map_or(Status::Unset, Status::error),
            attributes,
            ..self.bare(
                (attempt.trace, attempt.span, None),
                attempt.kind,
                (attempt.started_at, attempt.ended_at),
            )
        }
    }

    fn call(&self, call: &Call) -> SpanData {
        let status = call.status.map(i64::from);
        let mut attributes = vec![
            KeyValue::new("http.request.method", "POST"),
            KeyValue::new("server.address", call.host.clone()),
        ];
        attributes.extend(status.map(|it| KeyValue::new("http.response.status_code", it)));
        SpanData {
            span_kind: SpanKind::Client,
            status: match call.status {
                Some(status) if status < 400 => Status::Unset,
                Some(status) => Status::error(status.to_string()),
                None => Status::error("no answer"),
            },
            attributes,
            ..self.bare(
                (call.trace, call.span, Some(call.within)),
                "POST".to_owned(),
                (call.started_at, call.ended_at),
            )
        }
    }

    fn bare(
        &self,
        (trace, span, within): (TraceId, SpanId, Option<SpanId>),
        name: String,
        (started_at, ended_at): (Timestamp, Timestamp),
    ) -> SpanData {
        let span_context = SpanContext::new(
            trace::TraceId::from_bytes(trace.0),
            trace::SpanId::from_bytes(span.0),
            TraceFlags::SAMPLED,
            false,
            TraceState::NONE,
        );
        let parent = within.map_or(trace::SpanId::INVALID, |it| trace::SpanId::from_bytes(it.0));
        SpanData {
            span_context,
            parent_span_id: parent,
            parent_span_is_remote: false,
            span_kind: SpanKind::Internal,
            name: name.into(),
            start_time: started_at.into(),
            end_time: ended_at.into(),
            attributes: Vec::new(),
            dropped_attributes_count: 0,
            events: SpanEvents::default(),
            links: SpanLinks::default(),
            status: Status::Unset,
            instrumentation_scope: self.scope.clone(),
        }
    }
}

/// The one HTTP client, as the exporter knows clients.
struct Carrier(Client);

impl fmt::Debug for Carrier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Carrier")
    }
}

#[async_trait]
impl HttpClient for Carrier {
    async fn send_bytes(
        &self,
        request: opentelemetry_http::Request<Bytes>,
    ) -> Result<opentelemetry_http::Response<Bytes>, HttpError> {
        let (head, body) = request.into_parts();
        let limits = Limits {
            total: WAIT_MAX,
            ..Limits::default()
        };
        let mut asked = Request::post_json(head.uri.to_string(), body.to_vec()).limits(limits);
        for (name, value) in &head.headers {
            asked = asked.header(name.clone(), value.to_str()?);
        }
        let answer = self.0.send(asked).await?;
        let response = opentelemetry_http::Response::builder().status(answer.head.status);
        Ok(response.body(answer.body.into())?)
    }
}
