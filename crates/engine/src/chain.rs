//! The chain: keeps the schedules of a DISPATCH text with nothing but locks to remember by.
//!
//! `core::chain` decides; this carries it out, round by round. Everything that waits for another
//! system (a lock, a target, a list) runs beside the rounds, so that nothing slow delays a slot of
//! another line.
//!
//! The order of things at a slot is what makes it safe: lock, fire, mark. A process that dies after
//! the lock leaves a lock without a mark, which the next look finds and settles. And the slots of a
//! line are locked in their order, so that the newest lock has no undecided one behind it; see
//! `slot_dispatch`.

mod beside;
mod open;
mod slot_dispatch;

use std::{collections::BTreeMap, sync::Arc};

use almanack_core::{
    chain::{
        ChainEvent, ChainName, Leave, Line, LineRef, LockHistory, Look, Looks, NotSeen, Note,
        OwnRuns, calls_an_hour, leaves, next_round,
    },
    dispatch::{Dispatch, OVERLAP_IGNORED, ROUND_S, words as dispatch_words},
    lock::{self, LockKey, SlotLock},
    place::Place,
    target::{Launcher, runs::TargetRuns},
    time::{Clock, Entropy, Sleeper},
};
use jiff::{SignedDuration, Timestamp};
use tokio::{
    sync::{Mutex, mpsc::UnboundedSender},
    task::JoinSet,
};
use tokio_util::sync::CancellationToken;

use self::{beside::Beside, open::Open, slot_dispatch::SlotDispatch};
use crate::zones::Zones;

/// How long firings may take to end when the run's time is over.
const LAST_FIRINGS: SignedDuration = SignedDuration::from_secs(60);
/// The same when the process is asked to stop: GitHub waits seven and a half seconds before it
/// kills.
const LAST_FIRINGS_REPORTED: SignedDuration = SignedDuration::from_secs(7);
/// How many chains share the request budget.
const CHAINS: u64 = 2;
/// Longest wait after looks that failed, unless the other side asks for a longer one. Nothing is
/// fired before the first look.
const QUIET_MAX: SignedDuration = SignedDuration::from_secs(10);

/// What a chain works with.
pub struct Ports {
    pub clock: Arc<dyn Clock>,
    pub sleeper: Arc<dyn Sleeper>,
    pub entropy: Arc<dyn Entropy>,
    /// Who fires a slot, and what has been fired.
    pub lock: Arc<dyn SlotLock>,
    /// Fires, by the target's type.
    pub launchers: BTreeMap<&'static str, Arc<dyn Launcher>>,
    /// Whether a newer run exists.
    pub own_runs: Arc<dyn OwnRuns>,
    /// What was started at targets.
    pub target_runs: Arc<dyn TargetRuns>,
    /// Where every event is reported.
    pub notes: UnboundedSender<Note>,
}

impl Ports {
    fn report(&self, of: Option<LineRef>, said: ChainEvent) {
        let at = self.clock.now();
        // A closed receiver is no reason to stop firing.
        let _ = self.notes.send(Note { at, of, said });
    }

    fn after(&self, wait: SignedDuration) -> Timestamp {
        let now = self.clock.now();
        now.saturating_add(wait).unwrap_or(now)
    }
}

/// How a chain works.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Which chain this is.
    pub name: ChainName,
    /// Which run of it; a larger one replaces it.
    pub run_id: u64,
    /// How often it looks.
    pub round: SignedDuration,
    /// How long it works.
    pub length: SignedDuration,
}

/// What a look saw.
enum Saw {
    Runs(Result<Option<u64>, NotSeen>),
    Locks(Result<Vec<LockKey>, lock::Error>),
}

/// A chain at work.
pub struct Chain {
    ports: Arc<Ports>,
    settings: Settings,
    lines: Vec<Line>,
    beside: Beside,
    /// Whose turn it is to lock, for each line.
    turns: Vec<Arc<Mutex<()>>>,
    looks: Looks,
    lock_history: LockHistory,
    /// Firings under way. Bounded by how many slots lie within one window for trying again.
    firings: JoinSet<()>,
    /// The look under way, if any.
    looking: JoinSet<Saw>,
    /// Whether the locks have shown how far each line had come. Nothing is fired before.
    begun: bool,
    quiet_until: Timestamp,
    /// Looks that failed one after the other.
    troubles: u32,
    newest_run_id: Option<u64>,
    ends_at: Timestamp,
    /// Asks firings that have no lock yet to leave it to others.
    closing: CancellationToken,
    open: Open,
}

impl Chain {
    /// Reads the lines; sends no request yet.
    pub fn new(ports: Ports, settings: Settings, dispatch: Dispatch) -> Self {
        let now = ports.clock.now();
        let lines = hold(&ports, dispatch, now);
        let ends_at = ports.after(settings.length);
        ports.report(
            None,
            ChainEvent::Began {
                lines: lines.len(),
                round: settings.round,
                ends_at,
                calls_an_hour: calls_an_hour(&lines, CHAINS, now),
            },
        );
        Self {
            looks: Looks::start(now, settings.round, &settings.name),
            ports: Arc::new(ports),
            settings,
            beside: Beside::new(lines.clone()),
            turns: lines.iter().map(|_| Arc::default()).collect(),
            lines,
            lock_history: LockHistory::default(),
            firings: JoinSet::new(),
            looking: JoinSet::new(),
            begun: false,
            quiet_until: now,
            troubles: 0,
            newest_run_id: None,
            ends_at,
            closing: CancellationToken::new(),
            open: Open::default(),
        }
    }

    /// Works until its time is over, a newer run exists, or `stop`.
    pub async fn run(mut self, stop: &CancellationToken) -> Leave {
        let leave = loop {
            self.round();
            if let Some(leave) = self.pause(stop).await {
                break leave;
            }
        };
        self.leave(leave).await;
        leave
    }

    /// Works for one round, and for what it started.
    pub async fn run_once(mut self) -> Leave {
        self.round();
        self.settle_down().await;
        self.round();
        self.settle_down().await;
        self.leave(Leave::Once).await;
        Leave::Once
    }

    /// One round: begins what is due. What it begins runs beside it.
    pub fn round(&mut self) {
        let now = self.ports.clock.now();
        if self.begun {
            for index in 0..self.lines.len() {
                self.look_at(index, now);
            }
        }
        if now < self.quiet_until || !self.looking.is_empty() {
            return;
        }
        let look = if self.begun {
            self.looks.take(now)
        } else {
            Some(Look::Locks)
        };
        if let Some(look) = look {
            self.look_up(look);
        }
    }

    /// Waits until everything that was begun has ended.
    pub async fn settle_down(&mut self) {
        while let Some(saw) = self.looking.join_next().await {
            if let Ok(saw) = saw {
                self.take(saw);
            }
        }
        while self.firings.join_next().await.is_some() {}
    }

    /// Whether it is time to leave.
    pub fn leaves(&self) -> Option<Leave> {
        let now = self.ports.clock.now();
        leaves(self.settings.run_id, self.newest_run_id, self.ends_at, now)
    }

    /// Waits for the next round, or a reason to leave.
    async fn pause(&mut self, stop: &CancellationToken) -> Option<Leave> {
        let ports = Arc::clone(&self.ports);
        let next = next_round(ports.clock.now(), self.settings.round);
        let waiting = ports.sleeper.until(next.min(self.ends_at));
        tokio::pin!(waiting);
        loop {
            if let Some(leave) = self.leaves() {
                return Some(leave);
            }
            tokio::select! {
                biased;
                () = stop.cancelled() => return Some(Leave::Stopped),
                Some(saw) = self.looking.join_next(), if !self.looking.is_empty() => {
                    let begun = self.begun;
                    if let Ok(saw) = saw {
                        self.take(saw);
                    }
                    if self.begun != begun {
                        return None;
                    }
                }
                Some(_) = self.firings.join_next(), if !self.firings.is_empty() => {}
                () = &mut waiting => return self.leaves(),
            }
        }
    }

    fn look_at(&mut self, index: usize, now: Timestamp) {
        let Some(line) = self.lines.get_mut(index) else {
            return;
        };
        let looked = line.look(now);
        for slots in looked.skipped {
            let skipped = ChainEvent::Skipped {
                first: slots.slot_at,
                last: slots.last_at,
                slots: slots.slots,
                reason: slots.verdict.as_str(),
            };
            self.ports.report(Some(line.reference()), skipped);
        }
        if looked.due.is_empty() && looked.remember.is_none() {
            return;
        }
        if let Some(slot_dispatch) = self.slot_dispatch(index) {
            self.firings
                .spawn(slot_dispatch.fire(looked.due, looked.remember));
        }
    }

    fn slot_dispatch(&self, index: usize) -> Option<SlotDispatch> {
        Some(SlotDispatch {
            ports: Arc::clone(&self.ports),
            closing: self.closing.clone(),
            open: self.open.clone(),
            line: self.lines.get(index)?.clone(),
            beside: self.beside.clone(),
            turn: Arc::clone(self.turns.get(index)?),
        })
    }

    fn look_up(&mut self, look: Look) {
        let ports = Arc::clone(&self.ports);
        self.looking.spawn(async move {
            match look {
                Look::Runs => Saw::Runs(ports.own_runs.load_newest().await),
                Look::Locks => Saw::Locks(ports.lock.list().await),
            }
        });
    }

    fn take(&mut self, saw: Saw) {
        if matches!(saw, Saw::Runs(Ok(_)) | Saw::Locks(Ok(_))) {
            self.troubles = 0;
        }
        match saw {
            Saw::Runs(Ok(newest)) => self.newest_run_id = newest,
            Saw::Runs(Err(error)) => {
                self.trouble("look for newer runs", &error.why, error.retry_after);
            }
            Saw::Locks(Ok(locks)) => self.take_locks(&locks),
            Saw::Locks(Err(error)) => {
                self.trouble("list locks", &error.to_string(), error.retry_after());
            }
        }
    }

    fn trouble(&mut self, doing: &'static str, why: &str, retry_after: Option<SignedDuration>) {
        let why = why.to_owned();
        self.ports.report(None, ChainEvent::Trouble { doing, why });
        // The first is tried again in the next round. Rounds may be as short as a tenth of a
        // second, and a system that fails at once would be asked that often (SF-07).
        let rounds = (1_i32 << self.troubles.min(10)) - 1;
        self.troubles = self.troubles.saturating_add(1);
        let wait = self.settings.round.saturating_mul(rounds).min(QUIET_MAX);
        self.quiet_until = self.ports.after(wait.max(retry_after.unwrap_or_default()));
    }

    fn take_locks(&mut self, locks: &[LockKey]) {
        let now = self.ports.clock.now();
        if !self.begun {
            self.begin(locks);
        }
        for key in self.lock_history.unsettled(&self.lines, locks, now) {
            let mut lines = self.lines.iter();
            let index = lines.position(|line| line.content() == key.content());
            if let Some(slot_dispatch) = index.and_then(|index| self.slot_dispatch(index)) {
                self.firings
                    .spawn(async move { slot_dispatch.settle(key).await });
            }
        }
        let expired = self.lock_history.expired(&self.lines, locks, now);
        if !expired.is_empty() {
            let ports = Arc::clone(&self.ports);
            self.firings
                .spawn(async move { clean(&ports, &expired).await });
        }
    }

    fn begin(&mut self, locks: &[LockKey]) {
        self.begun = true;
        for line in &mut self.lines {
            line.resume(locks);
            let next_at = line.next_at();
            self.ports
                .report(Some(line.reference()), ChainEvent::Keeps { next_at });
        }
    }

    /// Lets what holds a lock end, within bounds.
    async fn leave(mut self, leave: Leave) {
        self.closing.cancel();
        let bound = match leave {
            Leave::Stopped => LAST_FIRINGS_REPORTED,
            _ => LAST_FIRINGS,
        };
        let ports = Arc::clone(&self.ports);
        let until = ports.after(bound);
        if leave == Leave::Over {
            self.look_up(Look::Locks);
        }
        tokio::select! {
            () = self.settle_down() => {}
            () = ports.sleeper.until(until) => {}
        }
        let unfinished = self.open.unfinished();
        let open = unfinished.len();
        for (key, line) in unfinished {
            let slot = key.slot();
            ports.report(Some(line), ChainEvent::Unfinished { slot });
        }
        ports.report(None, ChainEvent::Left { leave, open });
    }
}

/// The lines that can be kept; the others are reported with their reasons.
fn hold(ports: &Ports, dispatch: Dispatch, now: Timestamp) -> Vec<Line> {
    for problem in dispatch.problems {
        ports.report(
            None,
            ChainEvent::Refused {
                line: problem.place.line,
                column: problem.place.column,
                why: problem.reason.to_string(),
            },
        );
    }
    let first = dispatch.lines.iter().find_map(|line| line.overlap);
    if let Some(place) = first {
        warn(ports, place, "overlap_ignored", OVERLAP_IGNORED.to_owned());
    }
    let zones = Zones::default();
    let mut lines = Vec::new();
    for line in dispatch.lines {
        match zones.ready(&line.name, line.definition) {
            Ok(ready) => {
                for advice in ready.advice(now, ROUND_S) {
                    warn(
                        ports,
                        line.place,
                        advice.lint.code(),
                        dispatch_words(&advice),
                    );
                }
                lines.push(Line::new(line.place.line, line.name, ready, now));
            }
            Err(unfit) => ports.report(
                None,
                ChainEvent::Refused {
                    line: line.place.line,
                    column: line.place.column,
                    why: unfit.to_string(),
                },
            ),
        }
    }
    lines
}

fn warn(ports: &Ports, place: Place, code: &'static str, why: String) {
    let Place { line, column, .. } = place;
    let said = ChainEvent::Warned {
        line,
        column,
        code,
        why,
    };
    ports.report(None, said);
}

async fn clean(ports: &Ports, expired: &[LockKey]) {
    let said = match ports.lock.clean(expired).await {
        Ok(()) => ChainEvent::Cleaned {
            locks: expired.len(),
        },
        Err(error) => ChainEvent::Trouble {
            doing: "clean locks",
            why: error.to_string(),
        },
    };
    ports.report(None, said);
}
