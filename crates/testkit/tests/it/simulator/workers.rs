//! Workers that pull: they take work from any node, extend their leases through another, report to
//! a third; they die with what they hold, give up waiting, and freeze until their lease has passed.
//!
//! A worker that is awake keeps the contract: it works only while its lease holds. One that is
//! frozen cannot, and reports late.

use std::{sync::Arc, time::Duration};

use almanack_core::{
    finish::Outcome,
    handler::Handler,
    task::{ClaimedTask, Expiry, Kind},
    work::{HeldTask, LeaseResult, ReportResult, Wanted, WorkTask},
};
use jiff::{SignedDuration, Timestamp};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::{
    dice::Dice,
    node::World,
    service::Caller,
    time::{Barrier, pass},
};

/// So much earlier than its lease a worker stops.
const MARGIN: SignedDuration = SignedDuration::from_secs(2);
/// Between two tries to report.
const REPORT_AGAIN: Duration = Duration::from_millis(700);

/// A worker, until the world has come to rest.
pub(super) async fn work(name: String, kinds: Vec<Kind>, world: World, dice: Dice) {
    let mut attempts = JoinSet::new();
    loop {
        pass(dice.millis(50, 3_000)).await;
        while attempts.try_join_next().is_some() {}
        let Some((node, claimed_by)) = world.connections.work(&dice) else {
            continue;
        };
        let wanted = Wanted {
            kinds: kinds.clone(),
            max: usize::try_from(1 + dice.below(4)).unwrap_or(1),
            wait: SignedDuration::from_secs(dice.between(0, 20)),
            lease: SignedDuration::from_secs(dice.between(5, 40)),
            worker: None,
        };
        let leaving = CancellationToken::new();
        let timeout = dice.millis(100, 60_000);
        let claimed = tokio::select! {
            claimed = node.claim(&wanted, &name, &leaving) => claimed,
            () = pass(timeout) => {
                world.record.note(&name, "goes away while it waits");
                continue;
            }
        };
        for task in claimed.unwrap_or_default() {
            let attempt = Attempt {
                name: name.clone(),
                world: world.clone(),
                dice: dice.fork(),
                lease: wanted.lease,
                task,
                claimed_by: Arc::clone(&claimed_by),
            };
            attempts.spawn(attempt.run());
        }
    }
}

struct Attempt {
    name: String,
    world: World,
    dice: Dice,
    lease: SignedDuration,
    task: WorkTask,
    /// What freezes the node that handed it out.
    claimed_by: Arc<Barrier>,
}

impl Attempt {
    async fn run(self) {
        let id = self.task.task_id;
        if self.dice.hits(100) {
            let what = format_args!("dies with task {id}");
            return self.world.record.note(&self.name, what);
        }
        if !self.holds(self.task.lease_until) || self.dice.hits(50) {
            return self.report(Outcome::HandedBack).await;
        }
        let barrier = Arc::new(Barrier::new(self.world.truth));
        let frozen = self.dice.hits(100);
        if frozen {
            let time = self.dice.millis(1_000, 70_000);
            let what = format_args!("freezes with task {id} for {time:?}");
            self.world.record.note(&self.name, what);
            barrier.shut_for(time);
        }
        let (service, claimed) = (Arc::clone(&self.world.service), self.claimed());
        let claimed_by = Arc::clone(&self.claimed_by);
        let calling = Caller {
            service,
            barrier,
            claimed_by,
        };
        // Its own task of the runtime: the service may panic, which is the worker's death.
        let mut called = JoinSet::new();
        called.spawn(async move { calling.attempt(&claimed).await });
        let ended = if frozen {
            called.join_next().await
        } else {
            tokio::select! {
                biased;
                () = self.lapse() => None,
                ended = called.join_next() => ended,
            }
        };
        if let Some(Ok(outcome)) = ended {
            self.report(outcome).await;
        } else {
            let what = format_args!("stops task {id}");
            self.world.record.note(&self.name, what);
        }
    }

    fn claimed(&self) -> ClaimedTask {
        let task = &self.task;
        ClaimedTask {
            id: task.task_id,
            identity: task.identity.clone(),
            term: task.term,
            attempt: task.attempt,
            max_retry: task.max_retry,
            expiries: 0,
            execute_at: task.execute_at,
            started_at: task.lease_until - self.lease,
            payload: task.payload.clone(),
            callback_url: None,
            call_options: None,
            expiry: Expiry::NEVER,
            revision: task.revision,
        }
    }

    fn held(&self) -> HeldTask {
        HeldTask {
            task_id: self.task.task_id,
            term: self.task.term,
        }
    }

    fn holds(&self, lease_until: Timestamp) -> bool {
        self.world.truth.now() + MARGIN < lease_until
    }

    /// Extends the lease for as long as that works; returns when it must stop.
    async fn lapse(&self) {
        let mut lease_until = self.task.lease_until;
        while self.holds(lease_until) {
            pass(Duration::from_secs(1)).await;
            let Some((node, _)) = self.world.connections.work(&self.dice) else {
                continue;
            };
            let held = [self.held()];
            let left = lease_until.duration_since(self.world.truth.now()) - MARGIN;
            let left = Duration::try_from(left).unwrap_or_default();
            let extended = tokio::select! {
                extended = node.extend(&held, self.lease) => extended,
                () = pass(left) => continue,
            };
            match extended.ok().and_then(|mut tasks| tasks.pop()) {
                Some(task) if task.result == LeaseResult::Lost => {
                    return self.world.record.note(&self.name, "lost a lease");
                }
                Some(task) => lease_until = task.lease_until.unwrap_or(lease_until),
                None => {}
            }
        }
        self.world
            .record
            .note(&self.name, "could not extend a lease");
    }

    /// Until some node has answered. What was applied once is late the second time.
    async fn report(&self, outcome: Outcome) {
        let mut applied = false;
        loop {
            let Some((node, _)) = self.world.connections.work(&self.dice) else {
                pass(REPORT_AGAIN).await;
                continue;
            };
            let report = vec![(self.held(), outcome.clone())];
            let Some(answer) = node.report(report).await.ok().and_then(|mut it| it.pop()) else {
                pass(REPORT_AGAIN).await;
                continue;
            };
            let (id, result) = (self.task.task_id, answer.result);
            let what = format_args!("task {id} reported {}: {result}", outcome.name());
            self.world.record.note(&self.name, what);
            if applied && result == ReportResult::Applied {
                let what = format_args!("task {id} was ended twice by one term");
                self.world.record.broke(what);
            }
            applied |= result == ReportResult::Applied;
            if !self.dice.hits(200) {
                return;
            }
        }
    }
}
