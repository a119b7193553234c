//! Counts the results of checks, and their cost for this process.

use std::{
    ops::{Add, Sub},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use almanack_adapters::clock::{Stopwatch, processor_seconds};
use almanack_core::source::{
    check::{Ask, Candidate, Checker, Failure, Look},
    hints::Hints,
    reading::Reading,
};
use async_trait::async_trait;
use jiff::Timestamp;

/// Counts the checks of all nodes.
#[derive(Debug, Clone)]
pub(super) struct Meter(Arc<Counts>);

#[derive(Debug)]
struct Counts {
    watch: Stopwatch,
    checks: AtomicU64,
    unchanged: AtomicU64,
    failed: AtomicU64,
    last_failure: Mutex<Option<String>>,
}

/// Counts between two moments, or since the start.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Span {
    pub(super) checks: u64,
    pub(super) unchanged: u64,
    pub(super) failed: u64,
    seconds: f64,
    processor_s: f64,
}

impl Meter {
    pub(super) fn new() -> Self {
        Self(Arc::new(Counts {
            watch: Stopwatch::start(),
            checks: AtomicU64::new(0),
            unchanged: AtomicU64::new(0),
            failed: AtomicU64::new(0),
            last_failure: Mutex::default(),
        }))
    }

    /// The counts so far.
    pub(super) fn mark(&self) -> Span {
        let counts = &self.0;
        Span {
            checks: counts.checks.load(Ordering::Relaxed),
            unchanged: counts.unchanged.load(Ordering::Relaxed),
            failed: counts.failed.load(Ordering::Relaxed),
            seconds: counts.watch.seconds(),
            processor_s: processor_seconds(),
        }
    }

    /// The error of the last failed check. None should fail: the feeds answer every request.
    pub(super) fn last_failure(&self) -> MutexGuard<'_, Option<String>> {
        let last = self.0.last_failure.lock();
        last.unwrap_or_else(PoisonError::into_inner)
    }

    fn count(&self, look: &Look) {
        let counts = &self.0;
        match look {
            Look::Wait(_) => return,
            Look::Unchanged(_) => counts.unchanged.fetch_add(1, Ordering::Relaxed),
            Look::Failed(failure) => {
                let mut last = self.last_failure();
                *last = Some(failure.detail.clone());
                counts.failed.fetch_add(1, Ordering::Relaxed)
            }
            Look::Document(_) => 0,
        };
        counts.checks.fetch_add(1, Ordering::Relaxed);
    }
}

impl Sub for Span {
    type Output = Self;

    fn sub(self, before: Self) -> Self {
        Self {
            checks: self.checks - before.checks,
            unchanged: self.unchanged - before.unchanged,
            failed: self.failed - before.failed,
            seconds: self.seconds - before.seconds,
            processor_s: self.processor_s - before.processor_s,
        }
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

    async fn discover(&self, address: &str, now: Timestamp) -> Result<Vec<Candidate>, Failure> {
        self.checker.discover(address, now).await
    }

    fn problem(&self, address: &str, reading: &Reading) -> Option<String> {
        self.checker.problem(address, reading)
    }
}
