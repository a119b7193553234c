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

use almanack_core::{
    finish::{Finish, Outcome, finish},
    plan::DISPATCH,
    store::{ClaimId, Finished},
    task::{ClaimedTask, Kind, Status, TaskId},
    time::Clock,
};
use jiff::{SignedDuration, Timestamp};
use tokio::sync::mpsc;

use super::{RunnerSettings, measures::Measures};
use crate::{
    dispatch::wake_firing,
    endings::Writing,
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

/// An attempt that has ended.
pub(super) struct Ending {
    pub(super) claim_id: ClaimId,
    pub(super) task: Arc<ClaimedTask>,
    pub(super) outcome: Outcome,
}

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
    settings: Reloadable<RunnerSettings>,
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
            ports,
            settings,
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
        let finishes = endings.iter().map(|ending| self.decide(ending, now));
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
        let claims = &self.holdings.claims;
        let mut written = Vec::with_capacity(endings.len());
        let handlers = self.ports.handlers.get();
        let wakes = handlers.followed().is_any();
        let mut ended = Vec::new();
        for (ending, (finish, answer)) in endings.iter().zip(writing.into_answers()) {
            self.holdings.counters.ended(ending.outcome.name());
            let Some(answer) = answer else {
                claims.give_up(ending.claim_id);
                continue;
            };
            written.push(ending.claim_id);
            record(measures, ending, answer, now);
            if wakes && finish.is_final() {
                ended.push(finish.task_id);
            }
            if answer == Finished::Applied && finish.status == Status::Fail && !finish.waits {
                report_failed(measures, ending, &finish);
            }
        }
        claims.tick_off(written.into_iter());
        if !ended.is_empty() {
            self.wake_firings(handlers.followed().take(ended.into_iter()));
        }
    }

    /// Has firings looked at whose work has ended; beside the writing of endings, which waits for
    /// nothing else.
    fn wake_firings(&self, firings: Vec<TaskId>) {
        let ports = self.ports.clone();
        tokio::spawn(async move {
            for firing in firings {
                let (store, clock) = (ports.store.as_ref(), ports.clock.as_ref());
                wake_firing(store, clock, ports.sleeper.as_ref(), firing).await;
            }
        });
    }

    fn decide(&self, ending: &Ending, now: Timestamp) -> Finish {
        let (handlers, usual) = (self.ports.handlers.get(), self.settings.get().backoff);
        let mut finish = finish(
            &ending.task,
            &ending.outcome,
            handlers
                .backoff_of(&ending.task.identity.kind)
                .unwrap_or(&usual),
            now,
            self.ports.entropy.next_u64(),
        );
        finish.event_tasks = self
            .ports
            .subscriptions
            .get()
            .of_finish(&ending.task, &finish);
        finish
    }
}

fn record(measures: &mut Measures, ending: &Ending, answer: Finished, now: Timestamp) {
    let outcome = ending.outcome.name();
    if answer == Finished::Late {
        let task_id = ending.task.id.0;
        tracing::info!(
            task.id = task_id,
            outcome,
            "an attempt ended after its claim had expired"
        );
        metrics::counter!("almanack_fenced_writes_total").increment(1);
        return;
    }
    let of_kind = measures.of(&ending.task.identity.kind);
    of_kind
        .duration
        .record(now.duration_since(ending.task.started_at).as_secs_f64());
    of_kind.runs(outcome).increment(1);
}

/// This is not retried automatically, so the log must show it.
fn report_failed(measures: &mut Measures, ending: &Ending, finish: &Finish) {
    let identity = &ending.task.identity;
    measures.of(&identity.kind).failed.increment(1);
    tracing::warn!(
        task.id = ending.task.id.0,
        task.kind = %identity.kind,
        task.subject = %identity.subject,
        attempt = ending.task.attempt,
        detail = logged_detail(&identity.kind, finish.detail.as_deref()),
        "task failed permanently"
    );
}

/// How much of an outcome's detail is logged. That of a firing may hold what a command printed, and
/// what a command prints may be a secret: it stays in the history, where reading needs a
/// permission. Not even its beginning is logged, because no rule distinguishes our words from the
/// command's.
fn logged_detail<'a>(kind: &Kind, detail: Option<&'a str>) -> Option<&'a str> {
    detail.filter(|_| kind.as_str() != DISPATCH)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dp_15_what_a_command_printed_is_not_logged() {
        let printed = Some("exit code 1: password=hunter2");
        for (kind, logged) in [(DISPATCH, None), ("ARTICLE_PUBLISH", printed)] {
            let kind = Kind::parse(kind).unwrap();
            assert_eq!(logged_detail(&kind, printed), logged, "{kind}");
        }
    }
}
