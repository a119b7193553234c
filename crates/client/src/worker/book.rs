//! The worker's books: what it holds, what has ended, what runs beside the loop.

use std::{collections::BTreeMap, time::Duration};

use almanack_core::{
    task::{TaskId, Term},
    work::{
        ExtendedTask, HeldTask, LeaseResult, ReportResult, ReportedTask, TASKS_MAX, WorkReport,
        WorkTask,
    },
};
use tokio::task::AbortHandle;

use super::{Arrival, Beside, Worker, backoff, pause};
use crate::{error::Error, work::Outcome};

/// A node that is shutting down answers at once that it has nothing; it is not asked all the
/// time.
const CLAIM_EVERY: Duration = Duration::from_millis(200);

pub(super) struct Book {
    worker: Worker,
    beside: Beside,
    /// Every task from its claim until its ending is acknowledged. By the task alone: one that
    /// comes again, under a larger term, had been lost.
    held: BTreeMap<TaskId, Holding>,
    /// Endings that are not yet reported.
    ended: Vec<WorkReport>,
    claiming: Option<AbortHandle>,
    reporting: bool,
    /// The timer of the next extension, or the extension itself.
    extending: Option<AbortHandle>,
    /// Failures in a row, for the waits.
    claims_failed: u32,
    reports_failed: u32,
    stopping: Option<Stopping>,
}

struct Holding {
    term: Term,
    /// The handler, while it runs.
    handler: Option<AbortHandle>,
}

struct Stopping {
    /// Why the worker stops, if not because it was asked to.
    error: Option<Error>,
    /// Waits for the end of the drain.
    drain: AbortHandle,
    /// The drain is over: nothing is begun any more.
    overdue: bool,
}

impl Book {
    pub(super) fn new(worker: Worker) -> Self {
        Self {
            worker,
            beside: Beside::new(),
            held: BTreeMap::new(),
            ended: Vec::new(),
            claiming: None,
            reporting: false,
            extending: None,
            claims_failed: 0,
            reports_failed: 0,
            stopping: None,
        }
    }

    pub(super) fn is_stopping(&self) -> bool {
        self.stopping.is_some()
    }

    /// What comes next; nothing once everything has ended.
    pub(super) async fn next(&mut self) -> Option<Arrival> {
        loop {
            match self.beside.join_next().await {
                Some(Ok(arrival)) => return Some(arrival),
                // Stopped on purpose: a claim, a timer.
                Some(Err(_)) => {}
                None => return None,
            }
        }
    }

    /// Starts whatever there is to do and is not under way.
    pub(super) fn proceed(&mut self) {
        if self.stopping.as_ref().is_some_and(|it| it.overdue) {
            return;
        }
        if self.stopping.is_none() && self.claiming.is_none() && self.free() > 0 {
            self.start_claim();
        }
        if !self.reporting && !self.ended.is_empty() {
            self.start_report();
        }
        if self.extending.is_none() && !self.held.is_empty() {
            self.start_timer();
        }
        if self.held.is_empty() {
            // Timers must not keep the loop alive once nothing is held.
            self.extending.take().inspect(AbortHandle::abort);
            if let Some(stopping) = &self.stopping {
                stopping.drain.abort();
            }
        }
    }

    fn free(&self) -> usize {
        let running = self.held.values().filter(|it| it.handler.is_some());
        self.worker.slots.saturating_sub(running.count())
    }

    fn start_claim(&mut self) {
        let (client, claim) = (self.worker.client.clone(), self.worker.claim(self.free()));
        let failed = self.claims_failed;
        self.claiming = Some(self.beside.spawn(async move {
            if failed > 0 {
                pause(backoff(failed)).await;
            }
            let soon = pause(CLAIM_EVERY);
            let answer = client.claim(&claim).await;
            if answer.as_ref().is_ok_and(Vec::is_empty) {
                soon.await;
            }
            Arrival::Claimed(answer)
        }));
    }

    fn start_report(&mut self) {
        let most = self.ended.len().min(TASKS_MAX);
        let endings: Vec<WorkReport> = self.ended.drain(..most).collect();
        let (client, failed) = (self.worker.client.clone(), self.reports_failed);
        self.reporting = true;
        self.beside.spawn(async move {
            if failed > 0 {
                pause(backoff(failed)).await;
            }
            let answer = client.finish(&endings).await;
            Arrival::Reported(endings, answer)
        });
    }

    fn start_timer(&mut self) {
        let third = self.worker.lease / 3;
        self.extending = Some(self.beside.spawn(async move {
            pause(third).await;
            Arrival::Aged
        }));
    }

    fn start_extension(&mut self) {
        let (client, lease) = (self.worker.client.clone(), self.worker.lease);
        let held = self.all_held();
        self.extending = Some(self.beside.spawn(async move {
            let mut extended = Ok(Vec::new());
            for held in held.chunks(TASKS_MAX) {
                match (client.extend(held, lease).await, &mut extended) {
                    (Ok(some), Ok(all)) => all.extend(some),
                    (Err(error), _) => extended = Err(error),
                    (Ok(_), Err(_)) => {}
                }
            }
            Arrival::Extended(extended)
        }));
    }

    pub(super) fn take(&mut self, arrival: Arrival) {
        match arrival {
            Arrival::Claimed(answer) => {
                self.claiming = None;
                match answer {
                    Ok(tasks) => self.start(tasks),
                    Err(error) => self.claim_failed(error),
                }
            }
            Arrival::Ended(held, outcome) => self.end(held, outcome),
            Arrival::Reported(endings, answer) => self.reported(endings, answer),
            Arrival::Aged => self.start_extension(),
            Arrival::Extended(answer) => {
                self.extending = None;
                match answer {
                    Ok(answers) => self.drop_lost(&answers),
                    Err(error) => tracing::warn!(error = %error, "could not extend leases"),
                }
            }
            Arrival::Overdue => self.give_up_waiting(),
        }
    }

    fn claim_failed(&mut self, error: Error) {
        if !error.is_transient() {
            return self.stop(Some(error));
        }
        self.claims_failed = self.claims_failed.saturating_add(1);
        if self.claims_failed == 1 {
            tracing::warn!(error = %error, "the node does not answer; trying again");
        }
    }

    fn all_held(&self) -> Vec<HeldTask> {
        let held = self.held.iter();
        held.map(|(&task_id, &Holding { term, .. })| HeldTask { task_id, term })
            .collect()
    }

    fn start(&mut self, tasks: Vec<WorkTask>) {
        if self.claims_failed > 0 {
            tracing::info!("the node answers again");
        }
        self.claims_failed = 0;
        for task in tasks {
            let (task_id, term) = (task.task_id, task.term);
            let held = HeldTask { task_id, term };
            // A node answers only with the kinds it was asked for.
            let Some(handler) = self.worker.handlers.get(task.identity.kind.as_str()) else {
                continue;
            };
            let running = tokio::spawn(handler(task));
            self.forget(task_id);
            let handler = Some(running.abort_handle());
            self.held.insert(task_id, Holding { term, handler });
            self.beside.spawn(async move {
                let outcome = match running.await {
                    Ok(outcome) => Some(outcome),
                    Err(stopped) if stopped.is_cancelled() => None,
                    Err(_) => Some(Outcome::retry("the handler panicked")),
                };
                Arrival::Ended(held, outcome)
            });
        }
    }

    /// A handler ended; without an outcome it was stopped, and its task is not ours any more or is
    /// about to be given back.
    fn end(&mut self, held: HeldTask, outcome: Option<Outcome>) {
        let holding = self.held.get_mut(&held.task_id);
        let Some(holding) = holding.filter(|it| it.term == held.term) else {
            return;
        };
        holding.handler = None;
        if let Some(outcome) = outcome {
            self.ended.push(outcome.report(held));
        }
    }

    /// The task is not ours any more, or not under the term that we had.
    fn forget(&mut self, task_id: TaskId) {
        let holding = self.held.remove(&task_id);
        if let Some(handler) = holding.and_then(|it| it.handler) {
            handler.abort();
        }
        self.ended.retain(|ending| ending.task_id != task_id);
    }

    fn acknowledged(&mut self, endings: &[WorkReport]) {
        for ending in endings {
            let holding = self.held.get(&ending.task_id);
            if holding.is_some_and(|it| it.term == ending.term) {
                self.held.remove(&ending.task_id);
            }
        }
    }

    fn reported(&mut self, endings: Vec<WorkReport>, answer: Result<Vec<ReportedTask>, Error>) {
        self.reporting = false;
        match answer {
            Ok(answers) => {
                self.reports_failed = 0;
                let late = |answer: &&ReportedTask| answer.result == ReportResult::Late;
                for late in answers.iter().filter(late) {
                    let (task_id, term) = (late.task_id.0, late.term.0);
                    tracing::warn!(task.id = task_id, task.term = term, "ended too late");
                }
                self.acknowledged(&endings);
            }
            Err(error) if error.is_transient() => {
                self.reports_failed = self.reports_failed.saturating_add(1);
                self.ended.splice(0..0, endings);
            }
            Err(error) => {
                self.acknowledged(&endings);
                self.stop(Some(error));
            }
        }
    }

    fn drop_lost(&mut self, answers: &[ExtendedTask]) {
        let lost = |answer: &&ExtendedTask| answer.result == LeaseResult::Lost;
        for lost in answers.iter().filter(lost) {
            let holding = self.held.get(&lost.task_id);
            // An ending under way is still reported: the node decides that it is late.
            if holding.is_some_and(|it| it.term == lost.term && it.handler.is_some()) {
                let task_id = lost.task_id.0;
                tracing::warn!(task.id = task_id, "lease lost; its handler is stopped");
                self.forget(lost.task_id);
            }
        }
    }

    /// Claims no more; what runs may end within the drain.
    pub(super) fn stop(&mut self, error: Option<Error>) {
        if let Some(stopping) = &mut self.stopping {
            stopping.error = stopping.error.take().or(error);
            return;
        }
        self.claiming.take().inspect(AbortHandle::abort);
        let drain = self.worker.drain;
        let drain = self.beside.spawn(async move {
            pause(drain).await;
            Arrival::Overdue
        });
        self.stopping = Some(Stopping {
            error,
            drain,
            overdue: false,
        });
    }

    /// The drain is over: handlers are stopped. A report under way still gets its answer.
    fn give_up_waiting(&mut self) {
        if let Some(stopping) = &mut self.stopping {
            stopping.overdue = true;
        }
        self.extending.take().inspect(AbortHandle::abort);
        for handler in self.held.values().filter_map(|it| it.handler.as_ref()) {
            handler.abort();
        }
    }

    /// Gives back what is still held, and says why the worker stopped.
    pub(super) async fn close(mut self) -> Result<(), Error> {
        let ended = std::mem::take(&mut self.ended);
        for endings in ended.chunks(TASKS_MAX) {
            self.worker.client.finish(endings).await?;
            self.acknowledged(endings);
        }
        for held in self.all_held().chunks(TASKS_MAX) {
            self.worker.client.release(held).await?;
        }
        self.stopping
            .and_then(|stopping| stopping.error)
            .map_or(Ok(()), Err)
    }
}
