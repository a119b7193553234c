//! The keeper: heartbeats, expired leases, the register of nodes.
//!
//! Any node's keeper may return any dead node's tasks; two that do it at once are harmless, because
//! the return is an ending like any other and fenced by the task's term (RS-08).

use std::sync::atomic::{AtomicBool, Ordering};

use almanack_core::{
    clock::{Doubt, Standing},
    finish::{Outcome, finish},
    lang::{Lang, Say},
    store::{self, ClaimId, ClaimRequest, ExpiredClaim, Finished, Node, Store},
    task::ClaimedTask,
    time::{Clock, ClockLook, CorrectedClock},
};
use jiff::Timestamp;
use tokio_util::sync::CancellationToken;

use crate::{
    endings::{Writing, report_expired},
    node::{Holdings, NodeIdentity, NodeSettings, Ports},
    permits::Requester,
    reloadable::Reloadable,
    runner::RunnerSettings,
    wake::later,
};

/// Expired claims returned in one pass.
const EXPIRED_MAX: usize = 100;
/// Expired tasks ended in one pass.
const EXPIRED_TASKS_MAX: usize = 1_000;
/// Looks at the database's clock per correction; the best one counts.
const CLOCK_LOOKS: usize = 3;
/// Keeps the node's claims alive and other nodes' honest.
pub struct Keeper {
    ports: Ports,
    identity: NodeIdentity,
    settings: NodeSettings,
    holdings: Holdings,
    /// By the local clock, which is not corrected yet when the node starts.
    started_at_local: Timestamp,
    /// Whether the clock was in doubt in the last round; said once when that changes.
    in_doubt: AtomicBool,
}

impl Keeper {
    /// Not running yet.
    pub fn new(
        ports: Ports,
        identity: NodeIdentity,
        settings: NodeSettings,
        holdings: Holdings,
    ) -> Self {
        let started_at_local = ports.clock.local_now();
        Self {
            ports,
            identity,
            settings,
            holdings,
            started_at_local,
            in_doubt: AtomicBool::new(false),
        }
    }

    /// Beats until `stop`, then signs off.
    pub async fn run(self, stop: CancellationToken) {
        loop {
            self.pass().await;
            self.holdings.watchdog.add();
            // Counted from the clock as the pass has corrected it.
            let next = later(self.ports.clock.now(), self.settings.lease.beat);
            let waiting = self.ports.sleeper.until(next);
            if stop.run_until_cancelled(waiting).await.is_none() {
                break;
            }
        }
        self.sign_off().await;
    }

    /// One beat and one look at what others left behind. Trouble with the store is waited out: the
    /// next beat tries again, and if none succeeds the validity of the runner's leases ends by
    /// itself.
    async fn pass(&self) {
        // They fail together, so one line for the first is enough.
        match self.keep().await {
            Ok(()) => self.holdings.rounds_noted.note(),
            Err(error) => {
                let valid_until = self.holdings.valid_until();
                tracing::warn!(error = error.chain(), %valid_until, "the keeper's round failed; will retry");
            }
        }
    }

    async fn keep(&self) -> Result<(), store::Error> {
        self.correct_clock().await?;
        self.keep_clock().await?;
        self.beat().await?;
        return_expired(&self.ports, &self.settings.runner).await?;
        self.end_expired().await
    }

    /// Follows the database's clock, where it has one that nodes share.
    pub async fn correct_clock(&self) -> Result<(), store::Error> {
        correct_clock(&*self.ports.store, &self.ports.clock).await?;
        let skew = self.ports.clock.skew().as_secs_f64();
        metrics::gauge!("almanack_clock_skew_seconds", "node" => self.identity.name.clone())
            .set(skew);
        Ok(())
    }

    /// Has the store remember the time where no database keeps it, and follows what a person
    /// accepted.
    pub async fn keep_clock(&self) -> Result<(), store::Error> {
        let Some(guard) = self.ports.clock.guard() else {
            return Ok(());
        };
        let saved = match guard.mark() {
            Some(mark) => self.ports.store.save_clock(&mark).await?,
            None => false,
        };
        if !saved && let Some(accepted) = self.ports.store.load_clock().await? {
            guard.adopt(&accepted);
        }
        self.say_standing();
        Ok(())
    }

    fn say_standing(&self) {
        let standing = self.ports.clock.standing();
        let in_doubt = standing != Standing::Steady;
        match (standing, self.in_doubt.swap(in_doubt, Ordering::Relaxed)) {
            (Standing::InDoubt(doubt), false) => {
                let now = self.ports.clock.now();
                tracing::error!(%now, hint = Doubt::HINT.0, "{}", doubt.say(Lang::English));
            }
            (Standing::Steady, true) => {
                tracing::info!("the machine's clock is reliable again");
            }
            _ => {}
        }
    }

    /// Reports to the store that this node and its claims are alive.
    pub async fn beat(&self) -> Result<(), store::Error> {
        let asked_at = self.ports.clock.now();
        let (store, lease) = (&self.ports.store, &self.settings.lease);
        // First, and from the same instant: what is trusted below must not outlive the node's
        // permits.
        self.keep_places(asked_at).await?;
        let held = self.holdings.claims.held();
        let lease_until = lease.lease_until(asked_at);
        let extended = store.extend_claims(&held, asked_at, lease_until).await?;
        let valid_until = lease.valid_until(asked_at);
        self.holdings.claims.extended(&held, &extended, valid_until);
        self.holdings.lease_validity.extend(valid_until);
        store.save_node(&self.describe(asked_at)).await?;
        self.holdings.health.note_written(asked_at);
        self.publish_troubles().await?;
        self.release_done().await
    }

    /// Publishes what is wrong with this node, when that has changed.
    async fn publish_troubles(&self) -> Result<(), store::Error> {
        let Some((change, troubles)) = self.holdings.health.unpublished() else {
            return Ok(());
        };
        let session = &self.identity.session;
        self.ports.store.save_troubles(session, &troubles).await?;
        self.holdings.health.note_published(change);
        Ok(())
    }

    async fn keep_places(&self, now: Timestamp) -> Result<(), store::Error> {
        let requester = Requester {
            session: &self.identity.session,
            lease: &self.settings.lease,
        };
        let store = self.ports.store.as_ref();
        self.holdings.permits.keep(store, requester, now).await
    }

    /// Tidiness: a claim that is not forgotten here expires with nothing left in it.
    async fn release_done(&self) -> Result<(), store::Error> {
        let done = self.holdings.claims.take_done();
        if done.is_empty() {
            Ok(())
        } else {
            self.ports.store.release_claims(&done).await
        }
    }

    fn describe(&self, seen_at: Timestamp) -> Node {
        Node {
            name: self.identity.name.clone(),
            session: self.identity.session.clone(),
            version: self.settings.version.clone(),
            started_at: later(self.started_at_local, self.ports.clock.skew()),
            seen_at,
            skew_us: i64::try_from(self.ports.clock.skew().as_micros()).unwrap_or(i64::MAX),
        }
    }

    /// Ends tasks that have expired and that no runner came upon: those of kinds that are paused or
    /// that nobody claims. As many as a pass can take; the rest is left to the next (WK-06).
    async fn end_expired(&self) -> Result<(), store::Error> {
        let now = self.ports.clock.now();
        // What has expired by a clock in doubt may not have (DP-24).
        if !self.ports.clock.standing().may_act() {
            return Ok(());
        }
        let claim_id = ClaimId(self.ports.entropy.next_u64().cast_signed() & i64::MAX);
        let request = ClaimRequest {
            claim_id,
            session: self.identity.session.clone(),
            node: self.identity.name.clone(),
            now,
            lease_until: self.settings.lease.lease_until(now),
            slots: EXPIRED_TASKS_MAX,
            limits: Vec::new(),
            kinds: Vec::new(),
            rates: Vec::new(),
            turns: Vec::new(),
        };
        let tasks = self.ports.store.claim_expired(request).await?;
        if tasks.is_empty() {
            return Ok(());
        }
        let (ports, runner) = (&self.ports, &self.settings.runner);
        let ended = end_all(ports, runner, (claim_id, &tasks), &Outcome::Expired, now);
        for task in ended.await? {
            report_expired(task);
        }
        Ok(())
    }

    /// Endings that were never written are left to their leases.
    async fn sign_off(&self) {
        let store = &self.ports.store;
        let signed_off = async {
            self.release_done().await?;
            self.keep_places(self.ports.clock.now()).await?;
            store.forget_node(&self.identity.session).await
        };
        if let Err(error) = signed_off.await {
            tracing::warn!(
                error = error.chain(),
                "could not sign off; the lease will expire by itself"
            );
        }
    }
}

/// Has a clock follow the database's, where that has one that nodes share.
pub async fn correct_clock(store: &dyn Store, clock: &CorrectedClock) -> Result<(), store::Error> {
    let mut looks = Vec::with_capacity(CLOCK_LOOKS);
    for _ in 0..CLOCK_LOOKS {
        let asked_at = clock.local_now();
        let Some(database) = store.database_time().await? else {
            return Ok(());
        };
        looks.push(ClockLook {
            asked_at,
            database,
            answered_at: clock.local_now(),
        });
    }
    clock.correct(&looks);
    Ok(())
}

/// Ends the attempts of claims whose lease has expired, a node's or a worker's; what is more than a
/// pass can take is left to the next, so that the heartbeat is never kept waiting.
pub async fn return_expired(
    ports: &Ports,
    settings: &Reloadable<RunnerSettings>,
) -> Result<(), store::Error> {
    let now = ports.clock.now();
    for claim in &ports.store.load_expired(now, EXPIRED_MAX).await? {
        return_claim(ports, settings, claim, now).await?;
    }
    Ok(())
}

async fn return_claim(
    ports: &Ports,
    settings: &Reloadable<RunnerSettings>,
    claim: &ExpiredClaim,
    now: Timestamp,
) -> Result<(), store::Error> {
    let (left, outcome) = ((claim.claim_id, &claim.tasks[..]), Outcome::LeaseExpired);
    let returned = end_all(ports, settings, left, &outcome, now).await?.len();
    if returned > 0 {
        tracing::warn!(node.name = %claim.node, tasks = returned, "a lease expired; its tasks are due again");
        metrics::counter!("almanack_lease_expired_total").increment(returned as u64);
    }
    Ok(())
}

/// Ends the tasks of a claim that no runner has, and answers which of them it did end. The claim is
/// forgotten last: a keeper that dies in between leaves it for the next one.
async fn end_all<'t>(
    ports: &Ports,
    settings: &Reloadable<RunnerSettings>,
    (claim_id, tasks): (ClaimId, &'t [ClaimedTask]),
    outcome: &Outcome,
    now: Timestamp,
) -> Result<Vec<&'t ClaimedTask>, store::Error> {
    let end = |task| {
        let (jitter, backoff) = (ports.entropy.next_u64(), settings.get().backoff);
        let mut finish = finish(task, outcome, &backoff, now, jitter);
        ports.subscriptions.get().add_to(task, &mut finish);
        finish
    };
    let mut writing = Writing::of(tasks.iter().map(end).collect());
    if !tasks.is_empty() {
        writing.run(&*ports.store).await?;
    }
    let answers: Vec<_> = writing.into_answers().map(|(_, answer)| answer).collect();
    // Forgetting the claim would strand what could not be ended.
    if !answers.contains(&None) {
        ports.store.release_claims(&[claim_id]).await?;
    }
    let both = tasks.iter().zip(answers);
    let applied = both.filter(|(_, answer)| *answer == Some(Finished::Applied));
    Ok(applied.map(|(task, _)| task).collect())
}
