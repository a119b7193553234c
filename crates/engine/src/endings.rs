//! Endings of attempts: decided, written, followed up.
//!
//! They are written so that one the store refuses for good costs the others nothing (SF-06). A
//! batch that is refused is halved until its culprit is alone. That one is ended with less: without
//! what the attempt reported, then without the events it would send. Only if even that is refused
//! it is given up, and its lease decides. Whatever else goes wrong may pass: what is written stays
//! written, and the rest is tried again.

use std::{ops::Range, sync::Arc};

use almanack_core::{
    finish::{Finish, Outcome, finish},
    plan::DISPATCH,
    store::{ClaimId, Error, Finished, Result, Store},
    task::{ClaimedTask, Identity, Status, TaskId},
    time::{Clock, CorrectedClock},
};
use jiff::Timestamp;

use crate::{
    dispatch::wake_firing,
    node::Ports,
    reloadable::Reloadable,
    runner::{Measures, RunnerSettings},
};

/// Why a task must not be started now, to be asked right before; `None` for all others. Where the
/// time is not known that well, it is left until it has surely expired: neither is it started late,
/// nor does it end early (WK-06).
pub(crate) fn expired(task: &ClaimedTask, clock: &CorrectedClock) -> Option<Outcome> {
    let at = task.expiry.at?;
    let why = "waits: it may have expired";
    if task.expiry.is_over(clock.now()) {
        Some(Outcome::Expired)
    } else if task.expiry.is_over(clock.latest()) {
        Some(Outcome::NotNow { at, why })
    } else {
        None
    }
}

/// A task was not tried because it had expired: its requester wanted it so, and may want to know.
pub(crate) fn report_expired(task: &ClaimedTask) {
    let (kind, subject) = (&task.identity.kind, &task.identity.subject);
    tracing::info!(task.id = task.id.0, task.kind = %kind, task.subject = %subject, "task expired");
    metrics::counter!("almanack_tasks_expired_total").increment(1);
}

/// Endings on their way into the store.
pub(crate) struct Writing {
    finishes: Vec<Finish>,
    answers: Vec<Option<Finished>>,
    /// What is still to be written, last part first.
    left: Vec<Range<usize>>,
}

impl Writing {
    pub(crate) fn of(finishes: Vec<Finish>) -> Self {
        Self {
            answers: vec![None; finishes.len()],
            left: std::iter::once(0..finishes.len()).collect(),
            finishes,
        }
    }

    /// Writes what is left. After an error it goes on where it was.
    pub(crate) async fn run(&mut self, store: &dyn Store) -> Result<()> {
        while let Some(part) = self.left.last().cloned() {
            match store.finish(self.finishes[part.clone()].to_vec()).await {
                Ok(answers) => {
                    for (index, answer) in part.zip(answers) {
                        self.answers[index] = Some(answer);
                    }
                }
                Err(Error::Refused { .. }) if part.len() > 1 => {
                    let middle = part.start + part.len() / 2;
                    self.left.pop();
                    self.left.extend([middle..part.end, part.start..middle]);
                    continue;
                }
                Err(refused @ Error::Refused { .. }) => {
                    self.answers[part.start] =
                        self.end_with_less(store, part.start, refused).await?;
                }
                Err(error) => return Err(error),
            }
            self.left.pop();
        }
        Ok(())
    }

    async fn end_with_less(
        &self,
        store: &dyn Store,
        index: usize,
        mut refused: Error,
    ) -> Result<Option<Finished>> {
        let finish = &self.finishes[index];
        let task_id = finish.task_id.0;
        for less in finish.with_less() {
            match store.finish(vec![less]).await {
                Ok(answers) => {
                    tracing::error!(
                        task.id = task_id,
                        error = refused.chain(),
                        "the store refused an outcome; writing it without its details"
                    );
                    return Ok(answers.first().copied());
                }
                Err(error @ Error::Refused { .. }) => refused = error,
                Err(error) => return Err(error),
            }
        }
        metrics::counter!("almanack_endings_refused_total").increment(1);
        tracing::error!(
            task.id = task_id,
            error = refused.chain(),
            "the store permanently refuses an outcome; its task returns when the lease expires"
        );
        Ok(None)
    }

    /// The endings with what became of them; `None` is one that was given up.
    pub(crate) fn into_answers(self) -> impl Iterator<Item = (Finish, Option<Finished>)> {
        self.finishes.into_iter().zip(self.answers)
    }
}

/// An attempt that has ended.
pub(crate) struct Ending {
    pub(crate) claim_id: ClaimId,
    pub(crate) task: Arc<ClaimedTask>,
    pub(crate) outcome: Outcome,
}

/// Decides what endings do and follows up on those that are written: the same for attempts that
/// this node made and for attempts that workers report.
#[derive(Clone)]
pub(crate) struct Endings {
    ports: Ports,
    settings: Reloadable<RunnerSettings>,
}

impl Endings {
    pub(crate) fn new(ports: Ports, settings: Reloadable<RunnerSettings>) -> Self {
        Self { ports, settings }
    }

    /// What an ending makes of its task.
    pub(crate) fn decide(&self, ending: &Ending, now: Timestamp) -> Finish {
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
        let subscriptions = self.ports.subscriptions.get();
        subscriptions.add_to(&ending.task, &mut finish);
        finish
    }

    /// Measures and logs what was written, and wakes the firings that waited for it. Answers what
    /// became of each; `None` is one that was given up.
    pub(crate) fn note(
        &self,
        endings: &[Ending],
        writing: Writing,
        measures: &mut Measures,
        now: Timestamp,
    ) -> Vec<Option<Finished>> {
        let handlers = self.ports.handlers.get();
        let wakes = handlers.followed().is_any();
        let (mut answers, mut ended) = (Vec::with_capacity(endings.len()), Vec::new());
        for (ending, (finish, answer)) in endings.iter().zip(writing.into_answers()) {
            answers.push(answer);
            let Some(answer) = answer else {
                continue;
            };
            record(measures, ending, answer, now);
            if wakes && finish.is_final() {
                ended.push(finish.task_id);
            }
            if answer == Finished::Applied && finish.status == Status::Fail && !finish.waits {
                if finish.tried {
                    self.report_failed(measures, ending, &finish);
                } else {
                    report_expired(&ending.task);
                }
            }
        }
        if !ended.is_empty() {
            self.wake_firings(handlers.followed().take(ended.into_iter()));
        }
        answers
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

    /// This is not retried automatically, so the log must show it.
    fn report_failed(&self, measures: &mut Measures, ending: &Ending, finish: &Finish) {
        let Identity { kind, subject } = &ending.task.identity;
        measures.of(kind).failed.increment(1);
        let is_printed = kind.as_str() == DISPATCH || self.settings.get().pulled.contains(kind);
        tracing::warn!(
            task.id = ending.task.id.0,
            task.kind = %kind,
            task.subject = %subject,
            attempt = ending.task.attempt,
            detail = logged_detail(is_printed, finish.detail.as_deref()),
            "task failed permanently"
        );
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

/// How much of an outcome's detail is logged. That of a firing, or of a worker, may hold what a
/// program printed, and what a program prints may be a secret: it stays in the history, where
/// reading needs a permission. Not even its beginning is logged, because no rule distinguishes our
/// words from the program's.
fn logged_detail(is_printed: bool, detail: Option<&str>) -> Option<&str> {
    detail.filter(|_| !is_printed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dp_15_what_a_command_printed_is_not_logged() {
        let printed = Some("exit code 1: password=hunter2");
        assert_eq!(logged_detail(true, printed), None);
        assert_eq!(logged_detail(false, printed), printed);
    }
}
