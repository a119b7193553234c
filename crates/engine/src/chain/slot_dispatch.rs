//! The slots of one line at its target: lock, fire, mark.
//!
//! INVARIANT: the locks of a line are asked for in the order of its slots, each when it is its turn
//! to be fired, and the next one only after an answer. So whatever ends a chain, the slots behind
//! its newest lock are exactly those that it had not begun, and the next start finds them (DP-08).
//! The price: after an outage with `catch_up=all` a slot that is on time waits until those before
//! it have been caught up at their pace. The rejected alternatives are to lock it at once, which
//! loses the others without a word when the chain ends meanwhile, and to lock all ahead of their
//! launches, which loses those of fine schedules, whose slots have no marks. Only the locks are in
//! order: launches run side by side.
//!
//! A dispatch has no idempotency key, so a repetition after an answer that never came could start
//! the target twice. Therefore a failed try is repeated only after looking at the target: if
//! something was started there since that no other slot can have started, that was it (DP-25). What
//! cannot be looked at, or cannot be distinguished, is not repeated.
//!
//! ```text
//!   lock ──won──► fire ──taken──► mark
//!    │ lost        ▲ │ failed
//!    ▼             │ ▼
//!   leave       not there ── look ── there ──► mark
//! ```

use std::sync::Arc;

use almanack_core::{
    backoff::{Backoff, next_wait},
    chain::{ChainEvent, Due, Line, NotSeen, SHOWS_AFTER, Settled},
    finish::Outcome,
    follow::RUN_TIMEOUT_DEFAULT,
    lock::{Acquired, LockKey},
    plan::{Firing, Pings, Retry, Trigger, slot_identity},
    target::runs::{CameTo, Whose, attribute, run_of},
    task::{ClaimedTask, Expiry, Payload, Revision, TaskId, Term},
};
use jiff::{SignedDuration, Timestamp};
use tokio::{sync::Mutex, task::JoinSet};
use tokio_util::sync::CancellationToken;

use super::{
    Ports,
    beside::Beside,
    open::{Held, Open},
};

/// Longest wait between two tries, where the window is long enough for it.
const WAIT_MAX: SignedDuration = SignedDuration::from_secs(60);
/// Tries that a window is to have room for, after the quick first ones.
const TRIES_IN_WINDOW: i32 = 5;
/// How long after a try its effect may still be dated.
const TAKES: SignedDuration = SignedDuration::from_secs(2);
/// How far the clock of a lock's owner may be from ours.
const OTHER_CLOCKS_APART: SignedDuration = SignedDuration::from_secs(30);
/// Tries to look at a target in order to settle, and to write a mark.
const TRIES_MAX: u32 = 5;

/// What fires the slots of a line.
#[derive(Clone)]
pub(super) struct SlotDispatch {
    pub(super) ports: Arc<Ports>,
    pub(super) closing: CancellationToken,
    pub(super) open: Open,
    pub(super) line: Line,
    pub(super) beside: Beside,
    /// Its holder may ask for locks of the line. It is handed on in the order of asking, and rounds
    /// are far enough apart to ask in theirs.
    pub(super) turn: Arc<Mutex<()>>,
}

impl SlotDispatch {
    /// Fires slots, those that this is the one to fire. `remember` is a skipped slot behind them.
    pub(super) async fn fire(self, slots: Vec<Due>, remember: Option<LockKey>) {
        let mut launches = JoinSet::new();
        let turn = self.turn.lock().await;
        for due in slots {
            if !self.is_its_turn(&due).await {
                break;
            }
            let held = self.open.hold(&self.line, due.key);
            match self.acquire(&due).await {
                Some(Acquired::Won) => {
                    let slot_dispatch = self.clone();
                    launches.spawn(async move { slot_dispatch.launch(&due, held).await });
                }
                Some(Acquired::Lost) => self.report(ChainEvent::Lost { slot: due.slot() }),
                None => {}
            }
        }
        if let Some(key) = remember.filter(|_| !self.closing.is_cancelled()) {
            self.remember(key).await;
        }
        drop(turn);
        while launches.join_next().await.is_some() {}
    }

    /// Waits for a slot's time. A chain that leaves begins no further slot: without a lock, the
    /// next start finds it.
    async fn is_its_turn(&self, due: &Due) -> bool {
        tokio::select! {
            biased;
            () = self.closing.cancelled() => false,
            () = self.ports.sleeper.until(due.execute_at) => true,
        }
    }

    /// Locks a slot that was skipped, so that the next start goes on behind it. Without it, the
    /// skip would be reported twice.
    async fn remember(&self, key: LockKey) {
        let remembered = self.ports.lock.acquire(&key).await;
        if remembered == Ok(Acquired::Won) && self.line.is_marked(key.slot()) {
            self.mark(key).await;
        }
    }

    /// Settles a slot that another process locked and never finished. The mark comes first here: of
    /// several processes that settle, one gets it.
    pub(super) async fn settle(&self, key: LockKey) {
        if self.ports.lock.acquire(&key.done()).await != Ok(Acquired::Won) {
            return;
        }
        let held = self.open.hold(&self.line, key);
        let how = match self.was_started_by_another(key).await {
            None => Settled::Unknown,
            Some(true) => Settled::Found,
            Some(false) => Settled::Fires,
        };
        let due = self.line.due_after_all(key, self.ports.clock.now());
        let due = due.filter(|_| how == Settled::Fires);
        let how = match (how, &due) {
            (Settled::Fires, None) => Settled::TooLate,
            _ => how,
        };
        let slot = key.slot();
        self.report(ChainEvent::Settled { slot, how });
        if let Some(due) = due {
            self.launch(&due, held).await;
        }
    }

    /// Asks for the lock until there is an answer or no time: an error is not "lost" (DP-06).
    async fn acquire(&self, due: &Due) -> Option<Acquired> {
        let mut attempt = 1;
        loop {
            let error = match self.ports.lock.acquire(&due.key).await {
                Ok(acquired) => return Some(acquired),
                Err(error) => error,
            };
            let again_at = self.again_at(due, attempt, error.retry_after());
            let why = if self.closing.is_cancelled() {
                format!("{error}; this chain stops")
            } else if error.is_transient() && again_at < due.retry_until {
                attempt += 1;
                tokio::select! {
                    () = self.ports.sleeper.until(again_at) => {}
                    () = self.closing.cancelled() => {}
                }
                continue;
            } else {
                error.to_string()
            };
            let slot = due.slot();
            self.report(ChainEvent::Missed { slot, why });
            return None;
        }
    }

    /// Fires until the target has taken it, refused it, or the window is over.
    async fn launch(&self, due: &Due, held: Held) {
        let first_at = self.ports.clock.now();
        let mut attempt = 1;
        let ended = loop {
            let tried_at = self.ports.clock.now();
            self.beside.note(due.key, CameTo::Doubt, tried_at);
            let (error, retry_after) = match self.attempt(due, attempt).await {
                Outcome::Done { detail } => {
                    let run = detail.as_deref().and_then(run_of);
                    self.started(due.key, run);
                    break Ok(());
                }
                Outcome::Retry { error, retry_after } => (error, retry_after),
                Outcome::GiveUp { error } => {
                    self.beside.forget(&due.key);
                    break Err(error);
                }
                other => break Err(other.name().to_owned()),
            };
            let again_at = self.again_at(due, attempt, retry_after);
            let again_at = again_at.max(self.ports.after(SHOWS_AFTER));
            let last = again_at >= due.retry_until;
            let look_at = if last {
                self.ports.after(SHOWS_AFTER)
            } else {
                again_at
            };
            self.ports.sleeper.until(look_at).await;
            match self.was_started_by_us(due, first_at, tried_at).await {
                Some(true) => break Ok(()),
                Some(false) if !last => attempt += 1,
                Some(false) => break Err(format!("{error}; no time left for another attempt")),
                None => break Err(format!("{error}; cannot see whether it was started")),
            }
        };
        self.conclude(due, attempt, ended);
        drop(held);
        if due.marked {
            self.mark(due.key).await;
        }
    }

    fn conclude(&self, due: &Due, attempts: u32, ended: Result<(), String>) {
        let slot = due.slot();
        self.report(match ended {
            Ok(()) => ChainEvent::Fired {
                slot,
                caught_up: due.caught_up,
                attempts,
            },
            Err(why) => ChainEvent::Failed { slot, why },
        });
    }

    fn report(&self, said: ChainEvent) {
        self.ports.report(Some(self.line.reference()), said);
    }

    async fn attempt(&self, due: &Due, attempt: u32) -> Outcome {
        let target = &self.line.ready().definition.target;
        let type_name = target.type_name();
        let Some(launcher) = self.ports.launchers.get(type_name) else {
            return Outcome::give_up(format!("chains do not support {type_name} targets"));
        };
        let firing = Firing {
            schedule: self.line.name().to_string(),
            nominal_at: due.slot(),
            trigger: Trigger::Schedule,
            caught_up: due.caught_up,
            retry_until: due.retry_until,
            gives_way: false,
            run_timeout: RUN_TIMEOUT_DEFAULT,
            retry: Retry::default(),
            timeout: None,
            firings_max: None,
            target: target.clone(),
            pings: Pings::default(),
        };
        match self.claimed(&firing, due, attempt) {
            Some(task) => launcher.fire(&firing, &task).await,
            None => Outcome::give_up("the firing is too large"),
        }
    }

    /// The firing as launchers know it; there is no row behind it.
    fn claimed(&self, firing: &Firing, due: &Due, attempt: u32) -> Option<ClaimedTask> {
        let payload: Payload = firing.payload().ok()?;
        Some(ClaimedTask {
            id: TaskId(due.slot().as_second()),
            identity: slot_identity(self.line.name(), due.slot()).ok()?,
            term: Term(i64::from(attempt)),
            attempt,
            max_retry: u32::MAX,
            expiries: 0,
            execute_at: due.execute_at,
            started_at: self.ports.clock.now(),
            payload,
            callback_url: None,
            call_options: None,
            expiry: Expiry::NEVER,
            revision: Revision::NONE,
        })
    }

    /// A slot started a run, of which the number may be known.
    fn started(&self, key: LockKey, run: Option<u64>) {
        let came_to = run.map_or(CameTo::Unnamed, CameTo::Run);
        self.beside.note(key, came_to, self.ports.clock.now());
    }

    /// Whether a try of ours took effect, the first one or the last. Where a try came so late that
    /// it cannot be distinguished from the next slot's, it is not repeated: in doubt missed, never
    /// fired twice.
    async fn was_started_by_us(
        &self,
        due: &Due,
        first_at: Timestamp,
        tried_at: Timestamp,
    ) -> Option<bool> {
        let next = self.line.ready().next_after(first_at);
        let until = next.map_or(Timestamp::MAX, |next| {
            next.saturating_sub(SignedDuration::from_secs(1))
                .unwrap_or(next)
        });
        let until = until.max(tried_at.saturating_add(TAKES).unwrap_or(tried_at));
        self.was_started(due.key, (first_at, until), due.retry_until)
            .await
    }

    /// Whether the holder of the lock fired.
    async fn was_started_by_another(&self, key: LockKey) -> Option<bool> {
        let slot = key.slot();
        let apart = self.apart(slot, OTHER_CLOCKS_APART);
        let from = slot.saturating_sub(apart).unwrap_or(slot);
        let next = self.line.ready().next_after(slot);
        let until = next.map_or(Timestamp::MAX, |next| {
            next.saturating_sub(apart).unwrap_or(next)
        });
        let tries = self.ports.after(SignedDuration::from_mins(5));
        self.was_started(key, (from, until), tries).await
    }

    /// A tolerance that never reaches the neighbouring slot.
    fn apart(&self, slot: Timestamp, apart: SignedDuration) -> SignedDuration {
        let next = self.line.ready().next_after(slot);
        next.map_or(apart, |next| apart.min(next.duration_since(slot) / 2))
    }

    /// Whether the slot started something at the target within `span`; `None` if that cannot be
    /// seen, or not be distinguished from what other slots may have started.
    async fn was_started(
        &self,
        key: LockKey,
        span: (Timestamp, Timestamp),
        give_up_at: Timestamp,
    ) -> Option<bool> {
        for attempt in 1..=TRIES_MAX {
            let retry_after = match self.look(key, span).await {
                Ok(Whose::NotOurs) => return Some(false),
                Ok(Whose::Ours(run)) => {
                    self.started(key, run);
                    return Some(true);
                }
                // Others may be known by then.
                Ok(Whose::Unclear) => Some(SHOWS_AFTER),
                Err(error) => error.retry_after,
            };
            let again_at = self.after_wait(WAIT_MAX, attempt, retry_after);
            if again_at >= give_up_at {
                break;
            }
            self.ports.sleeper.until(again_at).await;
        }
        None
    }

    async fn look(
        &self,
        key: LockKey,
        (from, until): (Timestamp, Timestamp),
    ) -> Result<Whose, NotSeen> {
        let target = &self.line.ready().definition.target;
        let mut started = self.ports.target_runs.list_started(target, from).await?;
        started.retain(|run| run.created_at.as_second() < until.as_second());
        let now = self.ports.clock.now();
        let others = self.beside.others(&self.line, &key, (from, until.min(now)));
        Ok(attribute(&started, &others))
    }

    /// Marks a slot. Where that fails, the slot is found without its mark later, and looked at.
    async fn mark(&self, key: LockKey) {
        for attempt in 1..=TRIES_MAX {
            let Err(error) = self.ports.lock.acquire(&key.done()).await else {
                return;
            };
            if !error.is_transient() || self.closing.is_cancelled() {
                return;
            }
            let again_at = self.after_wait(WAIT_MAX, attempt, error.retry_after());
            self.ports.sleeper.until(again_at).await;
        }
    }

    /// When to try again; often enough for the window.
    fn again_at(&self, due: &Due, attempt: u32, retry_after: Option<SignedDuration>) -> Timestamp {
        let window = due.retry_until.duration_since(due.execute_at);
        let cap = (window / TRIES_IN_WINDOW).clamp(SignedDuration::from_secs(1), WAIT_MAX);
        self.after_wait(cap, attempt, retry_after)
    }

    fn after_wait(
        &self,
        cap: SignedDuration,
        attempt: u32,
        retry_after: Option<SignedDuration>,
    ) -> Timestamp {
        let backoff = Backoff {
            base: SignedDuration::from_secs(1),
            cap,
            retry_after_cap: SignedDuration::from_hours(6),
        };
        let jitter = self.ports.entropy.next_u64();
        self.ports
            .after(next_wait(&backoff, attempt, retry_after, jitter))
    }
}
