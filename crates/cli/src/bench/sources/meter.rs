//! Counts the results of checks, and their cost for this process.

use std::{
    ops::Add,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use almanack_adapters::clock::{Stopwatch, processor_seconds};
use almanack_core::source::{
    check::{Ask, Candidate, Checker, Failure, Look},
    hints::Hints,
    options::Options,
    reading::Reading,
};
use async_trait::async_trait;
use jiff::Timestamp;

/// Counts the checks of all nodes since its last start.
#[derive(Clone)]
pub(super) struct Meter(Arc<Mutex<Counts>>);

struct Counts {
    watch: Stopwatch,
    span: Span,
    /// The error of the last failed check. None should fail: the feeds answer every request.
    last_failure: Option<String>,
}

/// Counts of a while.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Span {
    pub(super) checks: u64,
    pub(super) unchanged: u64,
    pub(super) failed: u64,
    seconds: f64,
    processor_s: f64,
}

impl Counts {
    fn start() -> Self {
        Self {
            watch: Stopwatch::start(),
            span: Span {
                processor_s: -processor_seconds(),
                ..Span::default()
            },
            last_failure: None,
        }
    }
}

impl Meter {
    pub(super) fn start() -> Self {
        Self(Arc::new(Mutex::new(Counts::start())))
    }

    fn lock(&self) -> MutexGuard<'_, Counts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Forgets everything so far.
    pub(super) fn restart(&self) {
        *self.lock() = Counts::start();
    }

    /// The counts since the start.
    pub(super) fn span(&self) -> Span {
        let counts = self.lock();
        Span {
            seconds: counts.watch.seconds(),
            processor_s: counts.span.processor_s + processor_seconds(),
            ..counts.span
        }
    }

    pub(super) fn last_failure(&self) -> String {
        self.lock().last_failure.clone().unwrap_or_default()
    }

    fn count(&self, look: &Look) {
        let counts = &mut *self.lock();
        match look {
            Look::Wait(_) => return,
            Look::Unchanged(_) => counts.span.unchanged += 1,
            Look::Failed(failure) => {
                counts.last_failure = Some(failure.detail.clone());
                counts.span.failed += 1;
            }
            Look::Document(_) => {}
        }
        counts.span.checks += 1;
    }
}

impl Add for Span {
    type Output = Self;

    fn add(self, more: Self) -> Self {
        Self {
            checks: self.checks + more.checks,
            unchanged: self.unchanged + more.unchanged,
            failed: self.failed + more.failed,
            seconds: self.seconds + more.seconds,
            processor_s: self.processor_s + more.processor_s,
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
impl Span {
    pub(super) fn per_second(&self) -> f64 {
        self.checks as f64 / self.seconds.max(f64::MIN_POSITIVE)
    }

    /// Microseconds of CPU time per check.
    pub(super) fn processor_us(&self) -> f64 {
        self.processor_s * 1e6 / self.checks.max(1) as f64
    }
}

/// Checks, counts, and ignores a publisher's request for a pause of an hour: a measurement cannot
/// wait for it, and the feeds are simulated.
pub(super) struct Counting {
    pub(super) checker: Arc<dyn Checker>,
    pub(super) meter: Meter,
}

#[async_trait]
impl Checker for Counting {
    async fn look(&self, ask: &Ask, now: Timestamp) -> Look {
        let mut look = self.checker.look(ask, now).await;
        self.meter.count(&look);
        match &mut look {
            Look::Document(document) => document.hints = Hints::default(),
            Look::Unchanged(unchanged) => unchanged.hints = Hints::default(),
            Look::Failed(_) | Look::Wait(_) => {}
        }
        look
    }

    async fn discover(
        &self,
        address: &str,
        options: &Options,
        now: Timestamp,
    ) -> Result<Vec<Candidate>, Failure> {
        self.checker.discover(address, options, now).await
    }

    fn problem(&self, address: &str, reading: &Reading) -> Option<String> {
        self.checker.problem(address, reading)
    }
}
