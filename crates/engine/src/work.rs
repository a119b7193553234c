//! Work that others take: the way in for workers ([`almanack_core::work`]).
//!
//! A worker is to the store what a node is: it holds claims under leases, and the term of every
//! attempt fences its report. It keeps no connection, so any node may answer any of its requests,
//! and nothing about it is kept here but hints:
//!
//! - Who waits for work. While nothing is due a wait costs nothing: of all that wait for the same
//!   kinds on this node, one sleeps until the next due time or a nudge, and the others wait for
//!   their turn, without even a first look. One task wakes one worker.
//! - Which claims may be over. They are forgotten together, now and then; one that is missed expires
//!   with nothing left in it.
//!
//! INVARIANT: only tasks under a worker's claim ([`SESSION`]) are ended here, whatever number and
//! term a request shows; what a node runs is out of reach (SF-04).

mod reports;

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
};

use almanack_core::{
    finish::Outcome,
    lang::{Lang, Say},
    locked,
    pace::PUT_OFF,
    reserved, say,
    share::Rounds,
    store::{self, ClaimId, ClaimRequest, Claimed},
    task::{ClaimedTask, Kind},
    time::Clock,
    work::{SESSION, Wanted, WorkTask},
};
use jiff::{SignedDuration, Timestamp};
use tokio::sync::{Mutex as Turn, OwnedMutexGuard, Semaphore, oneshot};
use tokio_util::sync::CancellationToken;

use self::reports::EndedClaims;
use crate::{
    endings::{Ending, Endings, expired},
    node::Ports,
    reloadable::Reloadable,
    runner::{CONTENDED_WAIT, DOUBT_WAIT, Measures, RunnerSettings},
    wake::{earlier_hint, later},
};

/// Workers that may wait on one node: fewer than it has connections, so that it can still be asked
/// for anything else.
const WAITING_MAX: usize = 256;
/// A nudge may be about another kind: so long passes between two looks for nothing.
const HINT_GAP: SignedDuration = SignedDuration::from_millis(3);
/// Before the next look when another worker is taking what is due. Longer after each in a row.
const LOST_WAIT: SignedDuration = SignedDuration::from_millis(1);

/// Why a request of a worker was refused. Nothing changed.
#[derive(Debug, thiserror::Error)]
#[error("{}", self.say(Lang::English))]
pub enum Error {
    /// Of a kind that belongs to the engine ([`almanack_core::reserved`]).
    Reserved { kind: Kind },
    /// Nodes run tasks of this kind.
    NotPulled { kind: Kind },
    /// There is no room for another wait.
    TooManyWaiting,
    /// The store did not answer.
    #[error(transparent)]
    Store(#[from] store::Error),
}

impl Say for Error {
    fn say(&self, lang: Lang) -> String {
        match self {
            Self::Reserved { kind } => say!(lang;
                "tasks of kind `{kind}` belong to Almanack itself and cannot be pulled",
                "`{kind}` 类任务属于 Almanack 自身，不能领取"),
            Self::NotPulled { kind } => say!(lang;
                "kind `{kind}` is not pulled; write deliver = \"pull\" under [kinds.{kind}] in the configuration of every node",
                "类型 `{kind}` 不是领取型；请在每个节点的配置中于 [kinds.{kind}] 下写 deliver = \"pull\""),
            Self::TooManyWaiting => say!(lang;
                "{WAITING_MAX} workers already wait on this node, the most allowed; try again soon",
                "已有 {WAITING_MAX} 个工作者在本节点等待，达到上限；请稍后重试"),
            Self::Store(it) => it.to_string(),
        }
    }
}

/// Hands out tasks of pulled kinds and takes reports about them.
pub struct Work {
    ports: Ports,
    settings: Reloadable<RunnerSettings>,
    endings: Endings,
    measures: Mutex<Measures>,
    waiting: Semaphore,
    /// Who waits for which kinds.
    lines: Mutex<BTreeMap<Vec<Kind>, Arc<Line>>>,
    /// Where the turns of shared kinds are, for all workers of this node.
    rounds: Mutex<Rounds>,
    ended: Mutex<EndedClaims>,
}

impl Work {
    /// Works on these ports; `settings` say which kinds are pulled.
    pub fn new(ports: Ports, settings: Reloadable<RunnerSettings>) -> Arc<Self> {
        Arc::new(Self {
            endings: Endings::new(ports.clone(), settings.clone()),
            ports,
            settings,
            measures: Mutex::default(),
            waiting: Semaphore::new(WAITING_MAX),
            lines: Mutex::default(),
            rounds: Mutex::default(),
            ended: Mutex::default(),
        })
    }

    /// Takes tasks for a worker, and waits for them as long as it wants; nothing, if the wait is
    /// over or the node is leaving. A caller that goes away has taken nothing: what was claimed for
    /// it meanwhile is handed back.
    pub async fn claim(
        self: &Arc<Self>,
        wanted: &Wanted,
        worker: &str,
        leaving: &CancellationToken,
    ) -> Result<Vec<WorkTask>, Error> {
        self.check(&wanted.kinds)?;
        let until = later(self.ports.clock.now(), wanted.wait);
        // Before the first look, or what comes right after it would be missed.
        let mut nudges = self.ports.store.nudges();
        let line = self.line(&wanted.kinds);
        // Whoever sleeps has looked, and wakes for whatever comes: a look would find nothing.
        let mut look = if wanted.wait.is_positive() && line.is_asleep() {
            None
        } else {
            Some(self.look(wanted, worker).await?)
        };
        let (mut room, mut turn, mut lost) = (None, None, 0);
        loop {
            let (tasks, found) = look.take().map(|look| (look.tasks, look.next)).unzip();
            let (tasks, now) = (tasks.unwrap_or_default(), self.ports.clock.now());
            if !tasks.is_empty() || now >= until || leaving.is_cancelled() {
                return Ok(tasks);
            }
            if room.is_none() {
                let free = self.waiting.try_acquire();
                room = Some(free.map_err(|_| Error::TooManyWaiting)?);
            }
            let mut is_first = true;
            if turn.is_none() {
                (turn, is_first) = self.turn(&line, until, leaving).await;
                if turn.is_none() {
                    return Ok(Vec::new());
                }
            }
            if let (Some(next), true) = (found, is_first) {
                lost = if next.is_lost { lost + 1 } else { 0 };
                let again_at = next.again_at(lost, now);
                let asleep = line.sleep();
                tokio::select! {
                    biased;
                    () = leaving.cancelled() => return Ok(Vec::new()),
                    () = earlier_hint(&mut *nudges, again_at) => {
                        self.ports.sleeper.until(later(next.looked_at, HINT_GAP)).await;
                    }
                    () = self.ports.sleeper.until(again_at.min(until)) => {}
                }
                drop(asleep);
            } else {
                // Whoever had it may have left something. What was nudged before is in this look.
                nudges = self.ports.store.nudges();
            }
            look = Some(self.look(wanted, worker).await?);
        }
    }

    /// Refuses kinds that workers may not take.
    fn check(&self, kinds: &[Kind]) -> Result<(), Error> {
        let settings = self.settings.get();
        for kind in kinds {
            if reserved::is_reserved(kind) {
                return Err(Error::Reserved { kind: kind.clone() });
            }
            if !settings.pulled.contains(kind) {
                return Err(Error::NotPulled { kind: kind.clone() });
            }
        }
        Ok(())
    }

    /// Where requests for these kinds wait.
    fn line(&self, kinds: &[Kind]) -> Arc<Line> {
        let mut lines = locked(&self.lines);
        lines.retain(|_, line| Arc::strong_count(line) > 1);
        Arc::clone(lines.entry(kinds.to_vec()).or_default())
    }

    /// Waits for the turn to sleep, and whether nobody else had it; none, if the wait is over.
    async fn turn(
        &self,
        line: &Line,
        until: Timestamp,
        leaving: &CancellationToken,
    ) -> (Option<OwnedMutexGuard<()>>, bool) {
        if let Ok(mine) = Arc::clone(&line.turn).try_lock_owned() {
            return (Some(mine), true);
        }
        tokio::select! {
            biased;
            () = leaving.cancelled() => (None, false),
            mine = Arc::clone(&line.turn).lock_owned() => (Some(mine), false),
            () = self.ports.sleeper.until(until) => (None, false),
        }
    }

    /// Claims once, if the clock can be trusted (DP-24).
    async fn look(self: &Arc<Self>, wanted: &Wanted, worker: &str) -> Result<Look, Error> {
        let now = self.ports.clock.now();
        let nothing = |again_at, is_lost| Look {
            tasks: Vec::new(),
            next: Next {
                looked_at: now,
                again_at,
                is_lost,
            },
        };
        if !self.ports.clock.standing().may_act() {
            return Ok(nothing(later(now, DOUBT_WAIT), false));
        }
        let request = self.request(wanted, worker, now);
        let lease_until = request.lease_until;
        let claimed = self.take(request).await?;
        if claimed.tasks.is_empty() {
            let poll_at = later(now, self.ports.store.safety_poll());
            return Ok(match claimed.next_due_at {
                None => nothing(poll_at, false),
                Some(due_at) if due_at > now => nothing(due_at.min(poll_at), false),
                // Another worker is taking it right now.
                Some(_) => nothing(poll_at, true),
            });
        }
        self.measure(&claimed.tasks, now);
        let tasks = claimed.tasks.into_iter();
        let tasks = tasks.map(|task| WorkTask::of(task, lease_until));
        Ok(Look {
            tasks: tasks.collect(),
            ..nothing(now, false)
        })
    }

    fn request(&self, wanted: &Wanted, worker: &str, now: Timestamp) -> ClaimRequest {
        let settings = self.settings.get();
        let mut rates = settings.paces.rates();
        rates.retain(|(kind, _)| wanted.kinds.contains(kind));
        let mut turns = locked(&self.rounds).next(&settings.share_by, wanted.max);
        turns.retain(|turn| wanted.kinds.contains(&turn.kind));
        ClaimRequest {
            claim_id: ClaimId(self.ports.entropy.next_u64().cast_signed() & i64::MAX),
            session: SESSION.to_owned(),
            node: worker.to_owned(),
            now,
            lease_until: later(now, wanted.lease),
            slots: wanted.max,
            limits: Vec::new(),
            kinds: wanted.kinds.clone(),
            rates,
            turns,
        }
    }

    /// Claims. It is carried out whether or not the caller still waits for it; what nobody takes is
    /// handed back.
    async fn take(self: &Arc<Self>, request: ClaimRequest) -> Result<Claimed, Error> {
        let (sender, receiver) = oneshot::channel();
        let work = Arc::clone(self);
        tokio::spawn(async move {
            let (claim_id, now) = (request.claim_id, request.now);
            let mut claimed = work.ports.store.claim(request).await;
            if let Ok(claimed) = &mut claimed {
                for (kind, last) in claimed.turns.drain(..) {
                    locked(&work.rounds).note(&kind, last);
                }
                work.sort_out(claim_id, &mut claimed.tasks, now).await;
            }
            if let Err(Ok(undelivered)) = sender.send(claimed) {
                let tasks = undelivered.tasks.into_iter();
                let endings = tasks.map(|task| (task, Outcome::HandedBack)).collect();
                work.end(claim_id, endings).await;
            }
        });
        // A claim that panicked has an answer in the log, and its tasks come back by their lease.
        let claimed = receiver.await.unwrap_or_else(|_| Ok(Claimed::default()));
        Ok(claimed?)
    }

    /// Takes out and ends what no worker gets: what has expired (WK-06), and what is over the rate
    /// of its key (WK-05).
    async fn sort_out(&self, claim_id: ClaimId, tasks: &mut Vec<ClaimedTask>, now: Timestamp) {
        let (mut ended, paces) = (Vec::new(), &self.settings.get().paces);
        for task in std::mem::take(tasks) {
            match expired(&task, &self.ports.clock) {
                None => tasks.push(task),
                Some(outcome) => ended.push((task, outcome)),
            }
        }
        if paces.is_keyed() {
            let asked = std::mem::take(tasks);
            let admitted = paces.admit(self.ports.store.as_ref(), asked, now).await;
            *tasks = admitted.start;
            let put_off = admitted.put_off.into_iter();
            ended.extend(put_off.map(|(task, at)| {
                let why = PUT_OFF;
                (task, Outcome::NotNow { at, why })
            }));
        }
        self.end(claim_id, ended).await;
    }

    /// Ends what no worker has.
    async fn end(&self, claim_id: ClaimId, tasks: Vec<(ClaimedTask, Outcome)>) {
        let ending = |(task, outcome)| Ending {
            claim_id,
            task: Arc::new(task),
            outcome,
        };
        let endings: Vec<Ending> = tasks.into_iter().map(ending).collect();
        if !endings.is_empty()
            && let Err(error) = self.write(&endings, self.ports.clock.now()).await
        {
            let error = error.chain();
            tracing::warn!(error, "tasks that no worker got wait for their lease");
        }
    }

    fn measure(&self, tasks: &[ClaimedTask], now: Timestamp) {
        let mut measures = locked(&self.measures);
        for task in tasks {
            let lateness = now.duration_since(task.execute_at).as_secs_f64();
            measures.of(&task.identity.kind).wait.record(lateness);
        }
    }
}

/// Those who wait for the same kinds on this node.
#[derive(Default)]
struct Line {
    turn: Arc<Turn<()>>,
    asleep: AtomicBool,
}

impl Line {
    /// Says, until it is dropped, that whoever has the turn sleeps.
    fn sleep(&self) -> Asleep<'_> {
        self.asleep.store(true, Ordering::Relaxed);
        Asleep(self)
    }

    fn is_asleep(&self) -> bool {
        self.asleep.load(Ordering::Relaxed)
    }
}

struct Asleep<'a>(&'a Line);

impl Drop for Asleep<'_> {
    fn drop(&mut self) {
        self.0.asleep.store(false, Ordering::Relaxed);
    }
}

/// What a look found.
struct Look {
    tasks: Vec<WorkTask>,
    next: Next,
}

/// When to look again.
struct Next {
    looked_at: Timestamp,
    /// Without a hint.
    again_at: Timestamp,
    /// Whether something was due that another worker was taking right then.
    is_lost: bool,
}

impl Next {
    /// When to look again after having lost so many times in a row. What comes due behind the task
    /// that was lost is not known yet and must not wait for long: at first a moment, then as long
    /// as a node waits.
    fn again_at(&self, lost: u32, now: Timestamp) -> Timestamp {
        if !self.is_lost {
            return self.again_at;
        }
        let wait = LOST_WAIT * 2_i32.saturating_pow(lost.saturating_sub(1));
        later(now, wait.min(CONTENDED_WAIT))
    }
}
