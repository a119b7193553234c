//! Traces: which one an attempt belongs to, and how its calls carry it on.
//!
//! All attempts at a task are one trace. Its number is computed from the task, so every node knows
//! it without asking, and an attempt after a crash, on another node, continues it. A span is an
//! attempt or a call; its number is computed, too, from the trace and the term, which no two
//! attempts share.
//!
//! Whether an attempt is traced is decided elsewhere: the caller of a handler wraps it in
//! [`during`]. Calls made inside send the trace to the receiver (`traceparent`, W3C Trace Context)
//! and are reported when they are over. Without it nothing is sent: a number that leads nowhere
//! would only make the other side record spans without their beginning.

use std::{fmt, sync::Arc};

use almanack_core::task::ClaimedTask;
use jiff::Timestamp;
use reqwest::header::HeaderName;
use sha2::{Digest as _, Sha256};

/// The header that carries a trace on.
pub(crate) const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");

/// Number of a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TraceId(pub [u8; 16]);

/// Number of a span within its trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SpanId(pub [u8; 8]);

impl TraceId {
    /// The trace of all attempts at a task. `service` distinguishes installations that report to
    /// one collector: each has a task 1.
    pub fn of(service: &str, task: &ClaimedTask) -> Self {
        let parts = [
            service,
            task.identity.kind.as_str(),
            task.identity.subject.as_str(),
        ];
        let mut hash = Sha256::new();
        for part in parts {
            hash.update((part.len() as u64).to_be_bytes());
            hash.update(part);
        }
        hash.update(task.id.0.to_be_bytes());
        let mut id = [0; 16];
        id.copy_from_slice(&hash.finalize()[..16]);
        Self(id)
    }

    /// Whether it belongs to this share of all traces: always the same for one trace, on every
    /// node.
    pub fn is_sampled(self, share: f64) -> bool {
        let mut low = [0; 8];
        low.copy_from_slice(&self.0[8..]);
        // 32 bits are exact as a float, and fine enough for a share.
        let drawn = f64::from((u64::from_be_bytes(low) >> 32) as u32);
        drawn < share * f64::from(u32::MAX) || share >= 1.0
    }

    /// The span of an attempt.
    pub fn attempt(self, task: &ClaimedTask) -> SpanId {
        self.span(b"attempt", &task.term.0.to_be_bytes())
    }

    /// The span of a call within another span.
    fn call(self, within: SpanId) -> SpanId {
        self.span(b"call", &within.0)
    }

    fn span(self, what: &[u8], which: &[u8]) -> SpanId {
        let digest = Sha256::new()
            .chain_update(self.0)
            .chain_update(what)
            .chain_update(which);
        let mut id = [0; 8];
        id.copy_from_slice(&digest.finalize()[..8]);
        SpanId(id)
    }
}

/// A call that is over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    pub trace: TraceId,
    pub span: SpanId,
    /// The attempt it was made in.
    pub within: SpanId,
    pub started_at: Timestamp,
    /// When it was over.
    pub ended_at: Timestamp,
    /// The receiver: never the whole address, which may hold secrets.
    pub host: String,
    /// What was answered, if anything was.
    pub status: Option<u16>,
}

/// Collects calls. INVARIANT: never waits; a call without room in the queue is dropped.
pub trait Calls: Send + Sync {
    /// A call is over.
    fn made(&self, call: Call);
}

/// An attempt that is traced.
#[derive(Clone)]
pub struct Traced {
    pub trace: TraceId,
    pub span: SpanId,
    /// Collects its calls.
    pub calls: Arc<dyn Calls>,
}

impl fmt::Debug for Traced {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Traced")
            .field(&self.trace)
            .finish_non_exhaustive()
    }
}

tokio::task_local! {
    static CURRENT: Traced;
}

/// Does `work` as part of a traced attempt. What it spawns on other tasks is not part of it.
pub async fn during<F: Future>(traced: Traced, work: F) -> F::Output {
    CURRENT.scope(traced, work).await
}

/// A call that is under way.
pub(crate) struct Under {
    traced: Traced,
    span: SpanId,
    started_at: Timestamp,
}

/// Begins a call, if its attempt is traced.
pub(crate) fn begin(now: Timestamp) -> Option<Under> {
    let traced = CURRENT.try_with(Clone::clone).ok()?;
    Some(Under {
        span: traced.trace.call(traced.span),
        traced,
        started_at: now,
    })
}

impl Under {
    /// The header for the receiver: its spans belong into this call.
    pub(crate) fn parent(&self) -> String {
        let trace = u128::from_be_bytes(self.traced.trace.0);
        let span = u64::from_be_bytes(self.span.0);
        format!("00-{trace:032x}-{span:016x}-01")
    }

    pub(crate) fn end(self, now: Timestamp, url: &str, status: Option<u16>) {
        let host = url::Url::parse(url).ok();
        let host = host.and_then(|url| url.host_str().map(str::to_owned));
        self.traced.calls.made(Call {
            trace: self.traced.trace,
            span: self.span,
            within: self.traced.span,
            started_at: self.started_at,
            ended_at: now,
            host: host.unwrap_or_default(),
            status,
        });
    }
}

#[cfg(test)]
mod tests {
    use almanack_core::task::{Expiry, Identity, Kind, Payload, Revision, Subject, TaskId, Term};

    use super::*;

    fn task(id: i64, term: i64) -> ClaimedTask {
        ClaimedTask {
            id: TaskId(id),
            identity: Identity {
                subject: Subject::parse("article:42").unwrap(),
                kind: Kind::parse("ARTICLE_PUBLISH").unwrap(),
            },
            term: Term(term),
            attempt: 1,
            max_retry: 3,
            expiries: 0,
            execute_at: Timestamp::UNIX_EPOCH,
            started_at: Timestamp::UNIX_EPOCH,
            payload: Payload::parse("null", 16).unwrap(),
            callback_url: None,
            call_options: None,
            expiry: Expiry::NEVER,
            revision: Revision::NONE,
        }
    }

    #[test]
    fn attempts_at_a_task_share_a_trace_and_nothing_else_does() {
        let (first, second, other) = (task(1, 1), task(1, 2), task(2, 1));
        let trace = TraceId::of("almanack", &first);
        assert_eq!(trace, TraceId::of("almanack", &second));
        assert_ne!(trace, TraceId::of("almanack", &other));
        assert_ne!(trace, TraceId::of("staging", &first));
        assert_ne!(trace.attempt(&first), trace.attempt(&second));
        assert_ne!(trace.call(trace.attempt(&first)), trace.attempt(&first));
    }

    #[test]
    fn a_share_of_traces_is_about_that_share() {
        let traces: Vec<TraceId> = (0..2_000)
            .map(|id| TraceId::of("a", &task(id, 1)))
            .collect();
        let sampled = |share: f64| traces.iter().filter(|it| it.is_sampled(share)).count();
        assert_eq!((sampled(0.0), sampled(1.0)), (0, 2_000));
        assert!((350..450).contains(&sampled(0.2)), "{}", sampled(0.2));
    }
}
