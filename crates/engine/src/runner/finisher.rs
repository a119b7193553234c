//! The finisher: writes endings, as many at a time as have gathered.
//!
//! While one batch is on its way to the store the next one gathers, so the busier the node, the
//! fewer commits per task. An ending is written until the store has answered about it: it is
//! fenced by the task's term, so repeating it is harmless however long it takes.

use std::sync::Arc;

use almanack_core::{
    finish::{Finish, Outcome, finish},
    plan::DISPATCH,
    store::{ClaimId, Finished},
    task::{ClaimedTask, Kind, Status},
    time::Clock,
};
use jiff::{SignedDuration, Timestamp};
use tokio::sync::mpsc;

use super::{RunnerSettings, measures::Measures};
use crate::{
    live::Live,
    node::{Holdings, Ports},
};

/// Endings written at once.
const BATCH_MAX: usize = 2_000;
/// Between two tries when the store does not answer.
const TROUBLE_WAIT: SignedDuration = SignedDuration::from_millis(500);

/// An attempt that has ended.
pub(super) struct Ending {
    pub(super) claim_id: ClaimId,
    pub(super) task: Arc<ClaimedTask>,
    pub(super) outcome: Outcome,
}

/// Where endings are handed in.
pub(super) struct FinisherHandle(mpsc::UnboundedSender<Ending>);

impl FinisherHandle {
    /// The queue is unbounded in name only: a node's slots bound what can end.
    pub(super) fn new() -> (Self, mpsc::UnboundedReceiver<Ending>) {
        let (sender, receiver) = mpsc::unbounded_channel();
        (Self(sender), receiver)
    }

    /// Hands in an ending. The finisher outlives every handle, so this cannot fail.
    pub(super) fn end(&self, ending: Ending) {
        let _ = self.0.send(ending);
    }
}

/// Writes endings.
pub(super) struct Finisher {
    ports: Ports,
    settings: Live<RunnerSettings>,
    holdings: Holdings,
}

impl Finisher {
    pub(super) fn new(ports: Ports, settings: Live<RunnerSettings>, holdings: Holdings) -> Self {
        Self {
            ports,
            settings,
            holdings,
        }
    }

    /// Works until every handle is gone and everything handed in is written.
    pub(super) async fn run(self, mut endings: mpsc::UnboundedReceiver<Ending>) {
        let mut batch = Vec::new();
        let mut measures = Measures::default();
        while endings.recv_many(&mut batch, BATCH_MAX).await > 0 {
            self.write(&batch, &mut measures).await;
            self.holdings
                .claims
                .tick_off(batch.iter().map(|ending| ending.claim_id));
            batch.clear();
        }
    }

    async fn write(&self, endings: &[Ending], measures: &mut Measures) {
        let now = self.ports.clock.now();
        let finishes: Vec<Finish> = endings
            .iter()
            .map(|ending| self.decide(ending, now))
            .collect();
        let answers = loop {
            match self.ports.store.finish(finishes.clone()).await {
                Ok(answers) => break answers,
                Err(error) => {
                    tracing::warn!(
                        error = error.chain(),
                        endings = endings.len(),
                        "endings wait for the store"
                    );
                }
            }
            let again_at = self.ports.clock.now().saturating_add(TROUBLE_WAIT);
            self.ports
                .sleeper
                .until(again_at.unwrap_or(Timestamp::MAX))
                .await;
        };
        for ((ending, finish), answer) in endings.iter().zip(&finishes).zip(answers) {
            record(measures, ending, answer, now);
            self.holdings.tally.ended(ending.outcome.name());
            if answer == Finished::Applied && finish.status == Status::Fail && !finish.waits {
                tell_failed(measures, ending, finish);
            }
        }
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
        finish.tells = self
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
            "an attempt ended after its task had been taken from it"
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

/// Nobody will try this again by itself: somebody should hear of it.
fn tell_failed(measures: &mut Measures, ending: &Ending, finish: &Finish) {
    let identity = &ending.task.identity;
    measures.of(&identity.kind).failed.increment(1);
    tracing::warn!(
        task.id = ending.task.id.0,
        task.kind = %identity.kind,
        task.subject = %identity.subject,
        attempt = ending.task.attempt,
        detail = told_detail(&identity.kind, finish.detail.as_deref()),
        "a task failed for good"
    );
}

/// What the log is told of an ending's detail. That of a firing may hold what a command printed, and what a
/// command prints may be a secret: it stays in the history, where reading needs a permission. Not even
/// its beginning is told, because no rule tells our words from the command's.
fn told_detail<'a>(kind: &Kind, detail: Option<&'a str>) -> Option<&'a str> {
    detail.filter(|_| kind.as_str() != DISPATCH)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dp_15_what_a_command_printed_is_not_logged() {
        let printed = Some("exit code 1: password=hunter2");
        for (kind, told) in [(DISPATCH, None), ("ARTICLE_PUBLISH", printed)] {
            let kind = Kind::parse(kind).unwrap();
            assert_eq!(told_detail(&kind, printed), told, "{kind}");
        }
    }
}
