//! The business service: what tasks call. It remembers every attempt and answers as it pleases.

use std::{
    collections::BTreeMap,
    panic::resume_unwind,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use almanack_core::{
    finish::Outcome,
    handler::Handler,
    pace::Rate,
    task::{ClaimedTask, Identity, Kind, TaskId, Term},
};
use almanack_engine::pace::Paces;
use async_trait::async_trait;
use jiff::{SignedDuration, Timestamp};

use super::{
    dice::Dice,
    record::Record,
    time::{Barrier, TrueClock, pass},
    witness::Witness,
};

/// How often one identity may ask for another time; without a bound some tasks would never end.
const AGAIN_MAX: usize = 3;

/// An attempt as the service saw it.
#[derive(Debug, Clone)]
pub(super) struct Seen {
    pub(super) task_id: TaskId,
    pub(super) term: Term,
    pub(super) identity: Identity,
    pub(super) claimed_at: Timestamp,
    /// The bucket and the rate that it had to keep to.
    pub(super) paced: Option<(String, Rate)>,
    /// What it answered; `None` if the caller was gone before.
    pub(super) answered: Option<&'static str>,
    /// The caller's gate while it waits for the answer.
    waiting: Option<Arc<Barrier>>,
}

/// Shared by all nodes.
pub(super) struct Service {
    truth: TrueClock,
    record: Arc<Record>,
    witness: Witness,
    dice: Dice,
    seen: Mutex<Vec<Seen>>,
    limits_in_all: BTreeMap<Kind, usize>,
    paces: Paces,
}

impl Service {
    pub(super) fn new(truth: TrueClock, record: Arc<Record>, witness: Witness, dice: Dice) -> Self {
        let seen = Mutex::default();
        Self {
            truth,
            record,
            witness,
            dice,
            seen,
            limits_in_all: BTreeMap::new(),
            paces: Paces::default(),
        }
    }

    /// The same, which notes what its callers have to keep to.
    pub(super) fn pacing(self, paces: Paces) -> Self {
        Self { paces, ..self }
    }

    fn paced(&self, task: &ClaimedTask) -> Option<(String, Rate)> {
        let pace = self.paces.0.get(&task.identity.kind)?;
        let kind = || task.identity.kind.to_string();
        Some((pace.bucket(task).unwrap_or_else(kind), pace.rate))
    }

    /// The same, which counts how many of single kinds are at it.
    pub(super) fn limiting(self, limits_in_all: BTreeMap<Kind, usize>) -> Self {
        Self {
            limits_in_all,
            ..self
        }
    }

    /// All nodes together keep to the limits of kinds. A frozen node cannot stop what it runs, so
    /// it does not count: its permits have passed on.
    fn check_limit(&self, task: &ClaimedTask, seen: &[Seen]) {
        let kind = &task.identity.kind;
        let Some(limit) = self.limits_in_all.get(kind) else {
            return;
        };
        let at_it = |s: &&Seen| {
            let awake = |barrier: &Arc<Barrier>| !barrier.was_shut_since(s.claimed_at);
            s.identity.kind == *kind && s.waiting.as_ref().is_some_and(awake)
        };
        let others = seen.iter().filter(at_it).count();
        if others >= *limit {
            let id = task.id;
            self.record.broke(format_args!(
                "task {id} of {kind} starts beside {others} others, of {limit} in all"
            ));
        }
    }

    /// WK-06, by what the store ought to hold. A machine that slept is behind until its clock is
    /// corrected.
    fn check_expiry(&self, task: &ClaimedTask, barrier: &Barrier, now: Timestamp) {
        let model = self.witness.model();
        let row = model.rows.get(&task.id).filter(|row| row.term == task.term);
        let expires_at = row.and_then(|row| row.expiry.at);
        let over = |at: Timestamp| at + self.witness.tolerance() <= now;
        if expires_at.is_some_and(over) && !barrier.was_shut_since(now) {
            let id = task.id;
            self.record.broke(format_args!(
                "task {id} started at {now}, although it expired at {expires_at:?}"
            ));
        }
    }

    pub(super) fn seen(&self) -> MutexGuard<'_, Vec<Seen>> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// RS-15 and "once per claim", checked where they matter: at the door of the service.
    fn called(&self, task: &ClaimedTask, caller: &Caller) -> usize {
        let barrier = &caller.barrier;
        let (now, id, term) = (self.truth.now(), task.id, task.term.0);
        if now + self.witness.tolerance() < task.execute_at {
            let early = format_args!("task {id} started at {now}, before {}", task.execute_at);
            self.record.broke(early);
        }
        self.check_expiry(task, &caller.claimed_by, now);
        let mut seen = self.seen();
        // A frozen node cannot know that its claim has passed on; any other does not start under
        // it.
        let newest = self.witness.model().rows.get(&id).map(|row| row.term.0);
        let awake = !barrier.was_shut_since(task.started_at);
        if awake && newest.is_some_and(|newest| newest > term) {
            self.record.broke(format_args!(
                "task {id} starts under term {term} although {newest:?} is the newest"
            ));
        }
        // A frozen node cannot stop what it runs; any other must, before its lease passes on.
        let still_running = |s: &&Seen| {
            let awake = |barrier: &Arc<Barrier>| !barrier.was_shut_since(s.claimed_at);
            let at_it = s.waiting.as_ref().is_some_and(awake);
            s.task_id == task.id && at_it
        };
        if let Some(other) = seen.iter().find(still_running).filter(|_| awake) {
            let other = other.term.0;
            self.record.broke(format_args!(
                "task {id} starts under term {term} while it still runs under term {other}"
            ));
        }
        if awake {
            self.check_limit(task, &seen);
        }
        if seen
            .iter()
            .any(|s| (s.task_id, s.term) == (task.id, task.term))
        {
            self.record
                .broke(format_args!("task {id} was tried twice under term {term}"));
        }
        self.record
            .note("service", format_args!("task {id} term {term} called"));
        seen.push(Seen {
            task_id: task.id,
            term: task.term,
            identity: task.identity.clone(),
            claimed_at: task.started_at,
            paced: self.paced(task),
            answered: None,
            waiting: Some(Arc::clone(barrier)),
        });
        seen.len() - 1
    }

    fn takes(&self) -> Duration {
        match self.dice.below(100) {
            0..80 => self.dice.millis(1, 300),
            80..95 => self.dice.millis(1_000, 15_000),
            _ => self.dice.millis(20_000, 50_000),
        }
    }

    /// `None` is a handler that panics.
    fn answer(&self, identity: &Identity) -> Option<Outcome> {
        let dice = &self.dice;
        let error = || "simulated".to_owned();
        match dice.below(100) {
            0..60 => Some(Outcome::Done { detail: None }),
            60..80 => Some(Outcome::Retry {
                error: error(),
                retry_after: dice.hits(300).then_some(SignedDuration::from_secs(4)),
            }),
            80..85 => Some(Outcome::GiveUp { error: error() }),
            85..95 => Some(self.again(identity)),
            _ => None,
        }
    }

    fn again(&self, identity: &Identity) -> Outcome {
        let asked = |s: &&Seen| s.identity == *identity && s.answered == Some("again");
        if self.seen().iter().filter(asked).count() >= AGAIN_MAX {
            return Outcome::Done { detail: None };
        }
        let ahead = SignedDuration::from_millis(self.dice.between(-1_000, 20_000));
        let at: Timestamp = self.truth.now() + ahead;
        Outcome::Again {
            at,
            on_record: true,
        }
    }
}

/// Drops when the caller has its answer, or is gone.
struct Waits<'a> {
    service: &'a Service,
    index: usize,
}

impl Drop for Waits<'_> {
    fn drop(&mut self) {
        self.service.seen()[self.index].waiting = None;
    }
}

/// The way of one node, or of one worker, to the service.
pub(super) struct Caller {
    pub(super) service: Arc<Service>,
    pub(super) barrier: Arc<Barrier>,
    /// That of the node whose clock said that the task may start.
    pub(super) claimed_by: Arc<Barrier>,
}

#[async_trait]
impl Handler for Caller {
    async fn attempt(&self, task: &ClaimedTask) -> Outcome {
        let service = &self.service;
        let index = service.called(task, self);
        let _waits = Waits { service, index };
        pass(service.takes()).await;
        let answer = service.answer(&task.identity);
        let name = answer.as_ref().map_or("panic", Outcome::name);
        service.seen()[index].answered = Some(name);
        let (id, term) = (task.id, task.term.0);
        service.record.note(
            "service",
            format_args!("task {id} term {term} answers {name}"),
        );
        self.barrier.passed().await;
        // Unwinds like a panic, without a report on the terminal for each of thousands.
        answer.unwrap_or_else(|| resume_unwind(Box::new("simulated panic")))
    }
}
