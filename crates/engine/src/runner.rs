//! The runner: claims what is due, has it tried, and hands the endings to the finisher.
//!
//! It sleeps until the earliest due time it knows, until a hint says that something may be due
//! earlier, or until a running attempt ends and makes room. It never polls while it waits, except
//! that the store's safety poll bounds every sleep.

mod finisher;
mod measures;
mod pace;
mod permits;
mod running;
mod shares;

use std::{
    collections::{BTreeMap, BTreeSet},
    future::Future,
    pin::Pin,
};

use almanack_core::{
    backoff::Backoff,
    finish::Outcome,
    lease::LeasePolicy,
    share::{Rounds, ShareBy},
    store::{self, ClaimId, ClaimRequest, Claimed},
    task::Kind,
    time::Clock,
};
use jiff::{SignedDuration, Timestamp};
use tokio_util::sync::CancellationToken;

use crate::{
    lease_validity::LeaseValidity,
    node::{Holdings, NodeIdentity, Ports},
    pace::Paces,
    reloadable::Reloadable,
    runner::{
        finisher::{Finisher, FinisherHandle},
        pace::PutOff,
        permits::count_by_kind,
        running::Running,
    },
    wake::{earlier_hint, later},
};

pub(crate) use measures::Measures;
pub use measures::export_kind;
pub use shares::Shares;

/// After a claim found nothing although something is due: another node is taking it right now, so
/// look again soon but do not spin.
pub(crate) const CONTENDED_WAIT: SignedDuration = SignedDuration::from_millis(10);
/// After the store failed.
pub(crate) const TROUBLE_WAIT: SignedDuration = SignedDuration::from_millis(500);
/// How soon it is looked whether the clock can be trusted again.
pub(crate) const DOUBT_WAIT: SignedDuration = SignedDuration::from_secs(1);
/// After other nodes took all permits of a kind: no notification comes when one is free again.
const PLACES_WAIT: SignedDuration = SignedDuration::from_secs(1);

/// What a node may run at once, and how failures wait.
#[derive(Debug, Clone)]
pub struct RunnerSettings {
    pub slots: usize,
    /// Tasks per claim at most.
    pub claim_max: usize,
    /// Attempts at once of single kinds.
    pub limits: BTreeMap<Kind, usize>,
    /// Attempts at once of single kinds, in all nodes together.
    pub limits_in_all: BTreeMap<Kind, usize>,
    /// Kinds whose tasks workers take ([`crate::work`]): no node runs them.
    pub pulled: BTreeSet<Kind>,
    /// How fast single kinds may start, in all nodes together.
    pub paces: Paces,
    /// Kinds whose tasks take turns by a key.
    pub share_by: ShareBy,
    /// How kinds without a limit share the slots.
    pub shares: Shares,
    pub backoff: Backoff,
    /// How long running attempts may take to end when the node stops.
    pub drain: SignedDuration,
}

impl Default for RunnerSettings {
    fn default() -> Self {
        Self {
            slots: 64,
            claim_max: 1_000,
            limits: BTreeMap::new(),
            limits_in_all: BTreeMap::new(),
            pulled: BTreeSet::new(),
            paces: Paces::default(),
            share_by: ShareBy::default(),
            shares: Shares::default(),
            backoff: Backoff::default(),
            drain: SignedDuration::from_secs(20),
        }
    }
}

/// Claims and runs.
pub struct Runner {
    ports: Ports,
    identity: NodeIdentity,
    lease: LeasePolicy,
    settings: Reloadable<RunnerSettings>,
    holdings: Holdings,
    finisher: Finisher,
}

impl Runner {
    /// Not running yet.
    pub fn new(
        ports: Ports,
        identity: NodeIdentity,
        lease: LeasePolicy,
        settings: Reloadable<RunnerSettings>,
        holdings: Holdings,
    ) -> Self {
        let finisher = Finisher::new(ports.clone(), settings.clone(), holdings.clone());
        Self {
            ports,
            identity,
            lease,
            settings,
            holdings,
            finisher,
        }
    }

    /// Works until `stop`, then lets running attempts end, hands back the rest, and returns once
    /// every ending is written, or once the leases have passed and writing them is up to others.
    pub async fn run(self, stop: CancellationToken) {
        let Self {
            ports,
            identity,
            lease,
            settings,
            holdings,
            finisher,
        } = self;
        let (handle, endings) = FinisherHandle::new(finisher.backlog.clone());
        let (lease_validity, drained) = (holdings.lease_validity.clone(), CancellationToken::new());
        let work = async {
            let running = Running::new(&ports, handle, &holdings);
            let mut shift = Shift {
                ports: &ports,
                identity,
                lease,
                settings,
                holdings,
                running,
                rounds: Rounds::default(),
                short_of_room: false,
                distrusted: false,
            };
            shift.work(&stop).await;
            shift.drain().await;
            drained.cancel();
            // Dropping the shift closes the finisher's queue, which ends it after the last ending.
        };
        let finish = async {
            tokio::select! {
                biased;
                () = finisher.run(endings) => {}
                () = leases_passed(&ports, &lease_validity, &drained) => {
                    tracing::error!("stopped with unwritten outcomes; their leases have expired");
                }
            }
        };
        tokio::join!(work, finish);
    }
}

/// After the drain, waits for the end of the node's leases. While it works a node keeps an ending
/// for as long as the store is away; one that was asked to stop must not wait for ever.
async fn leases_passed(ports: &Ports, lease_validity: &LeaseValidity, drained: &CancellationToken) {
    drained.cancelled().await;
    while ports.clock.now() < lease_validity.until() {
        ports.sleeper.until(lease_validity.until()).await;
    }
}

/// The runner at work.
struct Shift<'a> {
    ports: &'a Ports,
    identity: NodeIdentity,
    lease: LeasePolicy,
    settings: Reloadable<RunnerSettings>,
    holdings: Holdings,
    running: Running,
    /// Where the turns of shared kinds are.
    rounds: Rounds,
    /// Whether the last look left work behind for want of slots, all or one kind's.
    short_of_room: bool,
    /// Whether the last look found the node's heartbeat too old to claim anything.
    distrusted: bool,
}

impl Shift<'_> {
    async fn work(&mut self, stop: &CancellationToken) {
        let mut nudges = self.ports.store.nudges();
        let mut trusted = self.holdings.lease_validity.watch();
        let mut claim_at = Timestamp::MIN;
        while !stop.is_cancelled() {
            trusted.mark_unchanged();
            self.running.collect_ended();
            self.abandon_lapsed();
            if self.ports.clock.now() >= claim_at {
                claim_at = self.step().await;
            }
            self.return_places(claim_at).await;
            let valid_until = self.holdings.valid_until();
            tokio::select! {
                biased;
                () = stop.cancelled() => {}
                () = self.running.next_ended() => {
                    // An ending makes room; it is a reason to look only if room was missing.
                    if self.short_of_room {
                        claim_at = Timestamp::MIN;
                    }
                }
                () = earlier_hint(&mut *nudges, claim_at) => claim_at = Timestamp::MIN,
                () = self.ports.sleeper.until(claim_at) => {}
                () = self.ports.sleeper.until(valid_until), if !self.running.is_empty() => {}
                _ = trusted.changed() => {
                    // A heartbeat: a reason to look only if the leases were invalid.
                    if self.distrusted {
                        claim_at = Timestamp::MIN;
                    }
                }
            }
        }
    }

    /// Claims once if there is room and leases are valid; returns when to look again.
    async fn step(&mut self) -> Timestamp {
        let now = self.ports.clock.now();
        let poll_at = later(now, self.ports.store.safety_poll());
        self.distrusted = now >= self.holdings.lease_validity.until();
        if self.distrusted {
            return poll_at;
        }
        if let Some(wait) = self.running.backlog().wait() {
            return later(now, wait);
        }
        // What is due by a clock in doubt may not be due (DP-24).
        if !self.ports.clock.standing().may_act() {
            return later(now, DOUBT_WAIT);
        }
        let settings = self.settings.get();
        self.running.count_long(&settings.shares, now);
        let free = settings.slots.saturating_sub(self.running.busy());
        self.short_of_room = free == 0;
        if self.short_of_room {
            return poll_at.min(self.running.next_long_at());
        }
        self.holdings.counters.asks();
        let slots = free.min(settings.claim_max);
        let slots = slots.min(settings.shares.most(settings.slots));
        let asked = self.ask(now, slots).await;
        self.holdings.counters.asked();
        asked.map_or_else(
            |error| {
                tracing::warn!(error = error.chain(), "claim failed");
                later(self.ports.clock.now(), TROUBLE_WAIT)
            },
            |wake_at| wake_at.min(poll_at),
        )
    }

    /// Takes permits, claims and starts; returns when to look again. Everything counts from `now`,
    /// before the first request: a claim must not be valid for longer than the permits that its
    /// attempts need.
    async fn ask(&mut self, now: Timestamp, slots: usize) -> store::Result<Timestamp> {
        let wanted = self.wanted(slots);
        let permits = self.take_places(&wanted, now).await?;
        let request = self.request(now, slots, &permits);
        let ports = self.ports;
        let claimed = self.watching(ports.store.claim(request.clone())).await;
        let of_kind = |kind: &Kind| claimed.as_ref().map_or(0, |claimed| claimed.count_of(kind));
        for (kind, granted) in &permits {
            let unused = granted.saturating_sub(of_kind(kind));
            self.holdings.permits.give_back(kind, unused);
        }
        let mut claimed = claimed?;
        for (kind, last) in claimed.turns.drain(..) {
            self.rounds.note(&kind, last);
        }
        let (claimed, put_off) = self.admit(&request, claimed).await;
        let wake_at = self.start(&request, claimed, put_off);
        let short = wanted
            .iter()
            .any(|(kind, wanted)| permits.get(kind) < Some(wanted));
        let wake_at = if self.short_of_room {
            wake_at.min(self.running.next_long_at())
        } else {
            wake_at
        };
        let retry_at = later(now, PLACES_WAIT);
        Ok(if short {
            wake_at.min(retry_at)
        } else {
            wake_at
        })
    }

    /// How many more of a kind this node may run, where its own settings limit that.
    fn room(&self, kind: &Kind) -> Option<usize> {
        let settings = self.settings.get();
        let limit = settings.limits.get(kind)?;
        Some(limit.saturating_sub(self.running.count_of(kind)))
    }

    /// Waits for the store without losing sight of what runs: a database that hangs also holds up
    /// the heartbeat, and then leases may expire while the answer is still awaited.
    async fn watching<T>(&mut self, mut answer: Pin<Box<dyn Future<Output = T> + Send + '_>>) -> T {
        let ports = self.ports;
        loop {
            let valid_until = self.holdings.valid_until();
            tokio::select! {
                biased;
                answer = &mut answer => return answer,
                () = self.running.next_ended() => self.running.collect_ended(),
                () = ports.sleeper.until(valid_until), if !self.running.is_empty() => {
                    self.abandon_lapsed();
                }
            }
        }
    }

    fn request(
        &self,
        now: Timestamp,
        slots: usize,
        permits: &BTreeMap<Kind, usize>,
    ) -> ClaimRequest {
        let settings = self.settings.get();
        let own = settings.limits.keys();
        let own = own.filter(|kind| !permits.contains_key(*kind));
        let own = own.filter_map(|kind| Some((kind.clone(), self.room(kind)?)));
        let in_all = permits
            .iter()
            .map(|(kind, granted)| (kind.clone(), *granted));
        let limited =
            |kind: &Kind| settings.limits.contains_key(kind) || permits.contains_key(kind);
        let shared = self.running.shares(&settings.shares, settings.slots);
        let shared = shared.into_iter().filter(|(kind, _)| !limited(kind));
        let pulled = settings.pulled.iter().map(|kind| (kind.clone(), 0));
        ClaimRequest {
            claim_id: ClaimId(self.ports.entropy.next_u64().cast_signed() & i64::MAX),
            session: self.identity.session.clone(),
            node: self.identity.name.clone(),
            now,
            lease_until: self.lease.lease_until(now),
            slots,
            limits: own.chain(in_all).chain(shared).chain(pulled).collect(),
            kinds: Vec::new(),
            rates: settings.paces.rates(),
            turns: self.rounds.next(&settings.share_by, slots),
        }
    }

    /// Starts what was claimed, but for what is put off; answers when the next task is due.
    fn start(&mut self, request: &ClaimRequest, claimed: Claimed, put_off: PutOff) -> Timestamp {
        let all = claimed.tasks.len() + put_off.len();
        let found = all > 0;
        let now = self.ports.clock.now();
        self.short_of_room = !request.full_after(&claimed.tasks).is_empty();
        // The claim may have taken long to answer: what would lapse before the next heartbeat can
        // cover it is handed back unstarted.
        let valid_until = self.lease.valid_until(request.now);
        let (claim_id, tasks) = (request.claim_id, claimed.tasks);
        let covered_until = later(now, self.lease.beat);
        if covered_until < valid_until && now < self.holdings.lease_validity.until() {
            self.holdings.claims.open(claim_id, all, valid_until);
            self.running.start(claim_id, tasks, now);
        } else {
            // Nothing of it is acted on, so it is no reason to distrust what else is held.
            self.holdings.claims.open(claim_id, all, Timestamp::MAX);
            for (kind, permits) in count_by_kind(&tasks) {
                self.holdings.permits.give_back(&kind, permits);
            }
            self.running.hand_back(claim_id, tasks);
        }
        self.put_off(claim_id, put_off);
        match claimed.next_due_at {
            None => Timestamp::MAX,
            Some(due_at) if due_at > request.now => due_at,
            Some(_) if found => now,
            Some(_) => later(now, CONTENDED_WAIT),
        }
    }

    /// A lease that may have passed on: what runs under it is stopped, and reported as a node that
    /// died would have been. If another node runs it by now, the report is fenced off.
    fn abandon_lapsed(&mut self) {
        let now = self.ports.clock.now();
        let stopped = if now >= self.holdings.lease_validity.until() {
            self.running.end_all(&Outcome::LeaseExpired)
        } else {
            let lapsed = self.holdings.claims.take_lapsed(now);
            self.running.end_claims(&lapsed, &Outcome::LeaseExpired)
        };
        if stopped > 0 {
            tracing::error!(tasks = stopped, "leases expired; stopping running attempts");
        }
    }

    async fn drain(&mut self) {
        let until = later(self.ports.clock.now(), self.settings.get().drain);
        let running = self.running.len();
        if running > 0 {
            tracing::info!(running, %until, "stopping: waiting for running attempts");
        }
        while !self.running.is_empty() && self.ports.clock.now() < until {
            // The heartbeat goes on while we wait, so the leases are checked anew each time.
            let look_at = until.min(self.holdings.valid_until());
            tokio::select! {
                biased;
                () = self.running.next_ended() => {}
                () = self.ports.sleeper.until(look_at) => self.abandon_lapsed(),
            }
        }
        let handed_back = self.running.end_all(&Outcome::HandedBack);
        if handed_back > 0 {
            tracing::info!(
                tasks = handed_back,
                "returned tasks that did not end in time"
            );
        }
    }
}
