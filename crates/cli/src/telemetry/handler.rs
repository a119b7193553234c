//! A traced handler: its log lines name the task, and its attempt becomes a span.

use std::sync::Arc;

use almanack_adapters::trace::{self, SpanId, TraceId, Traced};
use almanack_core::{
    finish::Outcome, handler::Handler, plan::shareable_detail, task::ClaimedTask, time::Clock,
};
use async_trait::async_trait;
use jiff::Timestamp;
use tracing::Instrument as _;

use super::{SpanRecord, Spans};

/// How attempts become spans.
#[derive(Clone)]
pub(super) struct Tracing {
    pub(super) spans: Spans,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) service: Arc<str>,
    pub(super) sample: f64,
}

/// A finished attempt. Its payload is for the handler only.
#[derive(Debug)]
pub(crate) struct Attempt {
    pub(super) trace: TraceId,
    pub(super) span: SpanId,
    pub(super) task_id: i64,
    pub(super) kind: String,
    pub(super) subject: String,
    pub(super) number: u32,
    pub(super) term: i64,
    pub(super) due_at: Timestamp,
    pub(super) started_at: Timestamp,
    pub(super) ended_at: Timestamp,
    pub(super) outcome: &'static str,
    /// What went wrong, if something did.
    pub(super) error: Option<String>,
}

/// A handler around another.
pub(super) struct Watched {
    inner: Arc<dyn Handler>,
    tracing: Option<Tracing>,
}

impl Watched {
    pub(super) fn new(inner: Arc<dyn Handler>, tracing: Option<Tracing>) -> Self {
        Self { inner, tracing }
    }
}

#[async_trait]
impl Handler for Watched {
    async fn clear_up(&self) {
        self.inner.clear_up().await;
    }

    async fn attempt(&self, task: &ClaimedTask) -> Outcome {
        // At the highest level, so that a log of errors only names tasks as well.
        let line = tracing::error_span!(
            "attempt",
            task.id = task.id.0,
            task.kind = %task.identity.kind,
            task.subject = %task.identity.subject,
            task.attempt = task.attempt,
        );
        let attempt = self.inner.attempt(task).instrument(line);
        let Some(tracing) = &self.tracing else {
            return attempt.await;
        };
        let trace = TraceId::of(&tracing.service, task);
        if !trace.is_sampled(tracing.sample) {
            return attempt.await;
        }
        let mut span = Open::begin(tracing, trace, task);
        let traced = Traced {
            trace,
            span: span.attempt.span,
            calls: Arc::new(tracing.spans.clone()),
        };
        let outcome = trace::during(traced, attempt).await;
        span.attempt.outcome = outcome.name();
        span.attempt.error = match &outcome {
            Outcome::Retry { error, .. } | Outcome::GiveUp { error } => {
                Some(shareable_detail(task.identity.kind.as_str(), error).to_owned())
            }
            _ => None,
        };
        outcome
    }
}

/// A span that is sent when it is dropped: so an attempt that is cut off, because its node stops or
/// its lease is no longer valid, is traced as well.
struct Open<'a> {
    tracing: &'a Tracing,
    attempt: Attempt,
}

impl<'a> Open<'a> {
    fn begin(tracing: &'a Tracing, trace: TraceId, task: &ClaimedTask) -> Self {
        let now = tracing.clock.now();
        let attempt = Attempt {
            trace,
            span: trace.attempt(task),
            task_id: task.id.0,
            kind: task.identity.kind.to_string(),
            subject: task.identity.subject.to_string(),
            number: task.attempt,
            term: task.term.0,
            due_at: task.execute_at,
            started_at: now,
            ended_at: now,
            outcome: "cut_off",
            error: Some("stopped before it ended".to_owned()),
        };
        Self { tracing, attempt }
    }
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        let now = self.tracing.clock.now();
        let attempt = Attempt {
            ended_at: now,
            kind: std::mem::take(&mut self.attempt.kind),
            subject: std::mem::take(&mut self.attempt.subject),
            error: self.attempt.error.take(),
            ..self.attempt
        };
        self.tracing
            .spans
            .hand_in(SpanRecord::Attempt(Box::new(attempt)));
    }
}
