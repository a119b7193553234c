//! The finisher: writes endings, as many at a time as have gathered.
//!
//! While one batch is on its way to the store the next one gathers, so the busier the node, the
//! fewer commits per task. An ending is written until the store has answered about it: it is
//! fenced by the task's term, so repeating it is harmless however long it takes. While none can be
//! written the runner claims nothing ([`Backlog`]): what a node cannot put down it must not begin.

use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicUsize, Ordering},
};

use almanack_core::time::Clock;
use jiff::SignedDuration;
use tokio::sync::mpsc;

use super::{RunnerSettings, measures::Measures};
use crate::{
    endings::{Ending, Endings, Writing},
    node::{Holdings, Ports},
    reloadable::Reloadable,
    wake::later,
};

/// Endings written at once.
const BATCH_MAX: usize = 2_000;
/// Between two tries when the store does not answer.
const TROUBLE_WAIT: SignedDuration = SignedDuration::from_millis(500);
/// Endings that may wait to be written before nothing more is claimed: one batch on its way, and
/// one that gathers.
const BACKLOG_MAX: usize = 2 * BATCH_MAX;
/// Until there is room again, where the store takes endings and is only slow. A batch takes a few
/// of these; ten of them at a time cost a sixth of what a node on SQLite gets done.
const BACKLOG_WAIT: SignedDuration = SignedDuration::from_millis(1);

/// Endings that are not written yet.
#[derive(Debug, Default)]
pub(super) struct Backlog {
    unwritten: AtomicUsize,
    /// Whether the last try to write some failed.
    stuck: AtomicBool,
}

impl Backlog {
    /// How long to wait before asking for work again; `None` for no wait.
    pub(super) fn wait(&self) -> Option<SignedDuration> {
        if self.stuck.load(Ordering::Relaxed) {
            return Some(TROUBLE_WAIT);
        }
        let is_full = self.unwritten.load(Ordering::Relaxed) >= BACKLOG_MAX;
        is_full.then_some(BACKLOG_WAIT)
    }
}

/// Where endings are handed in.
pub(super) struct FinisherHandle {
    queue: mpsc::UnboundedSender<Ending>,
    pub(super) backlog: Arc<Backlog>,
}

impl FinisherHandle {
    /// The queue is unbounded in name only: a node's slots and its backlog bound what can end.
    pub(super) fn new(backlog: Arc<Backlog>) -> (Self, mpsc::UnboundedReceiver<Ending>) {
        let (queue, receiver) = mpsc::unbounded_channel();
        (Self { queue, backlog }, receiver)
    }

    /// Hands in an ending. The finisher outlives every handle, so this cannot fail.
    pub(super) fn end(&self, ending: Ending) {
        self.backlog.unwritten.fetch_add(1, Ordering::Relaxed);
        let _ = self.queue.send(ending);
    }
}

pub(super) struct Finisher {
    ports: Ports,
    endings: Endings,
    holdings: Holdings,
    pub(super) backlog: Arc<Backlog>,
}

impl Finisher {
    pub(super) fn new(
        ports: Ports,
        settings: Reloadable<RunnerSettings>,
        holdings: Holdings,
    ) -> Self {
        Self {
            endings: Endings::new(ports.clone(), settings),
            ports,
            holdings,
            backlog: Arc::default(),
        }
    }

    /// Works until every handle is gone and everything handed in is written.
    pub(super) async fn run(self, mut endings: mpsc::UnboundedReceiver<Ending>) {
        let mut batch = Vec::new();
        let mut measures = Measures::default();
        while endings.recv_many(&mut batch, BATCH_MAX).await > 0 {
            self.write(&batch, &mut measures).await;
            let written = batch.len();
            self.backlog.unwritten.fetch_sub(written, Ordering::Relaxed);
            batch.clear();
        }
    }

    async fn write(&self, endings: &[Ending], measures: &mut Measures) {
        let now = self.ports.clock.now();
        let finishes = endings
            .iter()
            .map(|ending| self.endings.decide(ending, now));
        let mut writing = Writing::of(finishes.collect());
        while let Err(error) = writing.run(&*self.ports.store).await {
            self.backlog.stuck.store(true, Ordering::Relaxed);
            tracing::warn!(
                error = error.chain(),
                endings = endings.len(),
                "outcomes wait for the store; no further tasks are claimed meanwhile"
            );
            let again_at = later(self.ports.clock.now(), TROUBLE_WAIT);
            self.ports.sleeper.until(again_at).await;
        }
        self.backlog.stuck.store(false, Ordering::Relaxed);
        let answers = self.endings.note(endings, writing, measures, now);
        let claims = &self.holdings.claims;
        let mut written = Vec::with_capacity(endings.len());
        for (ending, answer) in endings.iter().zip(answers) {
            self.holdings.counters.ended(ending.outcome.name());
            match answer {
                Some(_) => written.push(ending.claim_id),
                None => claims.give_up(ending.claim_id),
            }
        }
        claims.tick_off(written.into_iter());
    }
}
