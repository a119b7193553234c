//! Work that others take: the way in for workers ([`almanack_core::work`]).
//!
//! A worker is to the store what a node is: it holds claims under leases, and the term of every
//! attempt fences its report. It keeps no connection, so any node may answer any of its requests,
//! and nothing about it is kept here but hints:
//!
//! - Who waits for work. While nothing is due a wait costs nothing: of all that wait for the same
//!   kinds on this node, one sleeps until the next due time or a nudge, and the others wait for
//!   their turn. One task wakes one worker.
//! - Which claims may be over. They are forgotten together, now and then; one that is missed expires
//!   with nothing left in it.
//!
//! INVARIANT: only tasks under a worker's claim ([`SESSION`]) are ended here, whatever number and
//! term a request shows; what a node runs is out of reach (SF-04).

mod reports;

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

use almanack_core::{
    finish::Outcome,
    locked,
    pace::PUT_OFF,
    reserved,
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

/// Why a request of a worker was refused. Nothing changed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Of a kind that belongs to the engine ([`almanack_core::reserved`]).
    #[error("tasks of kind `{kind}` belong to Almanack itself and cannot be pulled")]
    Reserved { kind: Kind },
    /// Nodes run tasks of this kind.
    #[error(
        "kind `{kind}` is not pulled; write deliver = \"pull\" under [kinds.{kind}] in the \
         configuration of every node"
    )]
    NotPulled { kind: Kind },
    /// There is no room for another wait.
    #[error("{WAITING_MAX} workers already wait on this node, the most allowed; try again soon")]
    TooManyWaiting,
    /// The store did not answer.
    #[error(transparent)]
    Store(#[from] store::Error),
}

/// Hands out tasks of pulled kinds and takes reports about them.
pub struct Work {
    ports: Ports,
    settings: Reloadable<RunnerSettings>,
    endings: Endings,
    measures: Mutex<Measures>,
    waiting: Semaphore,
    /// Who sleeps for which kinds.
    turns: Mutex<BTreeMap<Vec<Kind>, Arc<Turn<()>>>>,
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
            turns: Mutex::default(),
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
        let (mut room, mut turn) = (None, None);
        loop {
            let look = self.look(wanted, worker).await?;
            let now = self.ports.clock.now();
            if !look.tasks.is_empty() || now >= until || leaving.is_cancelled() {
                return Ok(look.tasks);
            }
            if room.is_none() {
                let free = self.waiting.try_acquire();
                room = Some(free.map_err(|_| Error::TooManyWaiting)?);
            }
            if turn.is_none() {
                let (mine, is_first) = self.turn(&wanted.kinds, until, leaving).await;
                turn = mine;
                if turn.is_none() {
                    return Ok(Vec::new());
                }
                if !is_first {
                    // Whoever had it may have left something. What was nudged before is in this look.
                    nudges = self.ports.store.nudges();
                    continue;
                }
            }
            tokio::select! {
                biased;
                () = leaving.cancelled() => return Ok(Vec::new()),
                () = earlier_hint(&mut *nudges, look.again_at) => {
                    self.ports.sleeper.until(later(look.looked_at, HINT_GAP)).await;
                }
                () = self.ports.sleeper.until(look.again_at.min(until)) => {}
            }
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

    /// Waits for the turn to sleep for these kinds, and whether nobody else had it; none, if the
    /// wait is over.
    async fn turn(
        &self,
        kinds: &[Kind],
        until: Timestamp,
        leaving: &CancellationToken,
    ) -> (Option<OwnedMutexGuard<()>>, bool) {
        let turn = {
            let mut turns = locked(&self.turns);
            turns.retain(|_, turn| Arc::strong_count(turn) > 1);
            Arc::clone(turns.entry(kinds.to_vec()).or_default())
        };
        if let Ok(mine) = Arc::clone(&turn).try_lock_owned() {
            return (Some(mine), true);
        }
        tokio::select! {
            biased;
            () = leaving.cancelled() => (None, false),
            mine = turn.lock_owned() => (Some(mine), false),
            () = self.ports.sleeper.until(until) => (None, false),
        }
    }

    /// Claims once, if the clock can be trusted (DP-24).
    async fn look(self: &Arc<Self>, wanted: &Wanted, worker: &str) -> Result<Look, Error> {
        let now = self.ports.clock.now();
        let nothing = |again_at| Look {
            tasks: Vec::new(),
            looked_at: now,
            again_at,
        };
        if !self.ports.clock.standing().may_act() {
            return Ok(nothing(later(now, DOUBT_WAIT)));
        }
        let request = self.request(wanted, worker, now);
        let lease_until = request.lease_until;
        let claimed = self.take(request).await?;
        if claimed.tasks.is_empty() {
            let poll_at = later(now, self.ports.store.safety_poll());
            let again_at = match claimed.next_due_at {
                None => poll_at,
                Some(due_at) if due_at > now => due_at.min(poll_at),
                // Another worker is taking it right now.
                Some(_) => later(self.ports.clock.now(), CONTENDED_WAIT),
            };
            return Ok(nothing(again_at));
        }
        self.measure(&claimed.tasks, now);
        let tasks = claimed.tasks.into_iter();
        let tasks = tasks.map(|task| WorkTask::of(task, lease_until));
        Ok(Look {
            tasks: tasks.collect(),
            ..nothing(now)
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

/// What a look found.
struct Look {
    tasks: Vec<WorkTask>,
    looked_at: Timestamp,
    /// When to look again without a hint.
    again_at: Timestamp,
}
