//! Planning: what happens to the slots of a schedule.
//!
//! ```text
//!   next_at            due slots                now          slots to come
//!      ●───────●───────●───────●───────●────────│────○───────○
//!      └ missed: catch_up decides ┘    └ prompt ┘
//! ```
//!
//! A *look* takes a schedule as read, the instant, and whether its newest firing still runs, and
//! answers with a [`Plan`]: ledger rows for the slots it decided, firings to insert, and where the
//! next look begins. It is pure; the planner carries it out by compare-and-set, and the simulator
//! and `almanack simulate` run the very same function (DP-14).
//!
//! What must stay true:
//!
//! - Slots are decided in order and once: the rows of a plan begin at `next_at`, cover every slot
//!   up to the new `next_at`, and none beyond (DP-16).
//! - Nothing depends on when the last look was, only on `next_at` and `now`: a node that was away
//!   and a node that was never started are the same.
//! - A look is bounded. What does not fit is left for the next one, which is due at once.
//! - The outcome of a firing never moves the cursor: a schedule does not die because a run died.

mod advice;
mod by_hand;
mod compare;
mod definition;
mod firing;
mod ledger;
mod monitor;
mod operation;
pub mod pings;
mod ready;
mod retry;
mod rewind;
mod schedule;
mod slots;
mod stored;
#[cfg(test)]
mod tests;
mod unfit;
mod watch;
mod why;
mod words;

use jiff::{SignedDuration, Timestamp};

use ledger::Ledger;

pub use advice::{Advice, Lint, unknown_channels};
pub use by_hand::{ByHand, FiredByHand, LedgerRow, merged, subject_ranges};
pub use compare::{COMPARED_MAX, Comparison, Firings, Stretch, changed_keys, compare};
pub use definition::{
    Also, CatchUp, Definition, GRACE_DEFAULT_MAX, MAX_CATCH_UP_MAX, Move, NAME_BYTES_MAX, OnResume,
    Overlap, PROMPT, ScheduleName,
};
pub(crate) use definition::{derived_name, is_name};
pub use firing::{
    DISPATCH, Firing, NewFiring, Trigger, manual_identity, shareable_detail, slot_identity,
};
pub use ledger::{Reason, Slot, Verdict, append_rows};
pub use monitor::{
    Arrival, Down, DownCause, Monitor, MonitorStatus, MonitorWrite, PING_BODY_BYTES_MAX,
    PINGS_KEPT, Ping, PingKind, Started,
};
pub use operation::{TAGS_MAX, Unsuitable, is_owner, is_tag};
pub use pings::{PING_DELIVERY, Pings};
pub use ready::{Delay, Ready};
pub use retry::Retry;
pub use rewind::{AHEAD_MIN, Rewound, is_ahead, rewind};
pub use schedule::{
    BESIDE_MAX, Edit, Edited, Origin, Pause, Schedule, ScheduleId, ScheduleWrite, State,
};
pub use slots::{Quiet, Surroundings};
pub use stored::StoredDefinition;
pub use unfit::Unfit;
pub use watch::{Heard, hear};
pub use why::{Cancelled, Facts, why};

/// Slots decided in one look. A schedule of every second that slept for a year takes 6,300 looks of
/// about a millisecond, and every other schedule gets its turn in between.
pub const SLOTS_MAX: usize = 5_000;
/// How soon a slot that waits for its predecessor is looked at again, at first.
pub const WAIT_EVERY: SignedDuration = SignedDuration::from_secs(1);
/// And at last: every look is a write, and a slot that has waited for an hour can wait for a moment
/// more.
pub const WAIT_EVERY_MAX: SignedDuration = SignedDuration::from_secs(10);
/// How long slots that are left out may wait for their row: those of a whole hour are one write.
pub const EXCLUDED_EVERY: SignedDuration = SignedDuration::from_hours(1);
/// Slots looked through in one look, those that are left out included.
const LOOKED_THROUGH_MAX: usize = 20 * SLOTS_MAX;

/// A schedule, seen at an instant.
#[derive(Debug, Clone, Copy)]
pub struct Look<'a> {
    pub schedule: &'a Schedule,
    /// What it is planned by.
    pub ready: &'a Ready,
    /// The newest firing that has not ended, where the policy is not to overlap.
    pub running: Option<&'a str>,
    /// What was heard, where it is a monitor.
    pub monitor: Option<&'a Monitor>,
    pub now: Timestamp,
}

/// A slot that fires.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fire {
    pub slot: Timestamp,
    pub execute_at: Timestamp,
    /// Whether it had been missed.
    pub caught_up: bool,
}

/// What to do about a schedule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// Ledger rows of the slots decided, in order.
    pub slots: Vec<Slot>,
    /// Those that fire, in order.
    pub fires: Vec<Fire>,
    /// Whether all that runs is cancelled for them.
    pub cancels: bool,
    /// Whether the schedule's pause is over.
    pub resumes: bool,
    /// The first slot that is still undecided.
    pub next_at: Option<Timestamp>,
    /// Since when that slot waits for its predecessor.
    pub waits_since: Option<Timestamp>,
    /// When to look again.
    pub look_at: Option<Timestamp>,
    /// What is known of its job, where that changes.
    pub monitor: Option<MonitorWrite>,
}

impl Plan {
    /// Whether more slots are due than one look decides.
    pub fn is_partial(&self, now: Timestamp) -> bool {
        self.waits_since.is_none() && self.look_at.is_some_and(|at| at <= now)
    }
}

/// Decides what is due.
pub fn plan(look: Look<'_>) -> Plan {
    match &look.schedule.state {
        State::Active if look.ready.is_monitor() => watch::watch(look),
        State::Active => decide_due(look),
        State::Paused(pause) => match pause.until {
            Some(until) if until <= look.now => lift(look, pause, until),
            until => rest(look.schedule, until),
        },
        State::Parked { .. } | State::Removed { .. } | State::Done { .. } => {
            rest(look.schedule, None)
        }
    }
}

/// Ends a pause at `look.now`, or when it had ended by itself: what fell into it is recorded.
pub fn resume(look: Look<'_>, pause: &Pause) -> Plan {
    let end = just_after(look.now);
    lift(look, pause, pause.until.map_or(end, |until| until.min(end)))
}

/// Decides everything up to `look.now` and leaves nothing to wait: the schedule is about to change,
/// and what was due by then must be decided by what it was then. A pause that has ended by then
/// ends; one that has not is recorded so far and continues. Like a look it may be partial, or have
/// ended a pause: then it is to be asked again.
pub fn settle(look: Look<'_>) -> Plan {
    match &look.schedule.state {
        State::Paused(pause) if pause.until.is_none_or(|until| until > look.now) => {
            skip_pause_so_far(look, pause)
        }
        _ => give_up_waiting(look, plan(look)),
    }
}

/// What waits when a schedule changes is skipped: for its predecessor, or, its slot having come,
/// for its part of splay and jitter. Afterwards every slot up to now is in the ledger, because the next
/// definition's slots begin after now.
fn give_up_waiting(look: Look<'_>, mut plan: Plan) -> Plan {
    let Look { ready, now, .. } = look;
    if plan.resumes || plan.is_partial(now) {
        return plan;
    }
    let mut ledger = Ledger::new(look.schedule.revision, now);
    let mut next = plan.next_at;
    while let Some(slot) = next.filter(|slot| *slot <= now) {
        let due = ready.due_at(slot) <= now;
        let waited_for = match (ready.is_monitor(), due) {
            (true, _) => Some("its ping"),
            (false, true) => look.running,
            (false, false) => Some(ready.delay_of(slot).name().0),
        };
        match ready.exclusion(slot) {
            Some(why) => ledger.exclude(slot, &why),
            None => ledger.add(slot, Verdict::Skipped(Reason::Changed), waited_for),
        }
        next = ready.next_after(slot);
    }
    plan.slots.append(&mut ledger.into_rows());
    plan.next_at = next;
    plan.waits_since = None;
    plan.look_at = next.map(|next| look_at(ready, next));
    plan
}

/// Leaves everything as it is until `look_at`.
fn rest(schedule: &Schedule, look_at: Option<Timestamp>) -> Plan {
    Plan {
        slots: Vec::new(),
        fires: Vec::new(),
        cancels: false,
        resumes: false,
        next_at: schedule.next_at,
        waits_since: schedule.waits_since,
        look_at,
        monitor: None,
    }
}

/// The state of a slot before overlap is considered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Standing {
    Prompt,
    Missed,
    Skipped(Reason),
}

/// A slot that is due.
struct Due {
    slot: Timestamp,
    /// Why it is left out, if it is.
    excluded: Option<String>,
}

fn decide_due(look: Look<'_>) -> Plan {
    let Look { ready, now, .. } = look;
    let mut turn = Turn::new(look);
    if turn.runs_left == Some(0) {
        return turn.finish(None, None, false);
    }
    let cap = ready.definition.max_catch_up as usize;
    // The cap is looked ahead, so that the part of a long gap decided now knows what follows it.
    let (due, following) = due_slots(look, cap, |slot| ready.due_at(slot) <= now);
    let partial = following.is_some_and(|slot| ready.due_at(slot) <= now);
    let mut standings = standings(ready, &due, now).into_iter();
    let decided = if partial { SLOTS_MAX } else { due.len() };
    let last = due.iter().rposition(|due| due.excluded.is_none());
    let mut waits_at = None;
    for (index, due) in due.iter().enumerate().take(decided) {
        if let Some(why) = &due.excluded {
            turn.ledger.exclude(due.slot, why);
            continue;
        }
        let is_last = !partial && Some(index) == last;
        let standing = standings.next().unwrap_or(Standing::Prompt);
        if turn.take(index, due.slot, standing, is_last) == Taken::Waits {
            waits_at = Some(due.slot);
            break;
        }
        // What comes after the last run is no slot any more.
        if turn.runs_left == Some(0) {
            return turn.finish(None, None, false);
        }
    }
    let rest = due.get(decided).map(|due| due.slot).or(following);
    turn.finish(waits_at, rest, partial)
}

/// The slots from `next_at` on that are due, and the first one after them. Of too many, at most
/// [`SLOTS_MAX`] and then `ahead` that are not left out.
fn due_slots(
    look: Look<'_>,
    ahead: usize,
    is_due: impl Fn(Timestamp) -> bool,
) -> (Vec<Due>, Option<Timestamp>) {
    let mut next = look
        .schedule
        .next_at
        .and_then(|at| look.ready.next_from(at));
    let mut due: Vec<Due> = Vec::new();
    let mut seen_ahead = 0;
    while let Some(slot) = next.filter(|slot| is_due(*slot)) {
        let full = due.len() >= SLOTS_MAX && seen_ahead >= ahead;
        if full || due.len() >= LOOKED_THROUGH_MAX {
            break;
        }
        let excluded = look.ready.exclusion(slot);
        seen_ahead += usize::from(due.len() >= SLOTS_MAX && excluded.is_none());
        due.push(Due { slot, excluded });
        next = look.ready.next_after(slot);
    }
    (due, next)
}

/// The rows of slots that have come and are left out, in order. They are written together, within
/// [`EXCLUDED_EVERY`]; whoever asks for the ledger sees them at once.
pub fn left_out_so_far(schedule: &Schedule, ready: &Ready, now: Timestamp) -> Vec<Slot> {
    let mut ledger = Ledger::new(schedule.revision, now);
    let is_planned = schedule.state == State::Active && !ready.is_monitor();
    let first = schedule.next_at.filter(|_| is_planned);
    let first = first.and_then(|at| ready.next_from(at));
    let slots = std::iter::successors(first, |slot| ready.next_after(*slot)).take(SLOTS_MAX);
    for slot in slots.take_while(|slot| ready.due_at(*slot) <= now) {
        let Some(why) = ready.exclusion(slot) else {
            break;
        };
        ledger.exclude(slot, &why);
    }
    ledger.into_rows()
}

/// When to look at the slot that is next. Those that are left out wait for the one that fires, but
/// not for long.
pub fn look_at(ready: &Ready, next: Timestamp) -> Timestamp {
    let due_at = ready.due_at(next);
    if ready.exclusion(next).is_none() {
        return due_at;
    }
    let most = due_at.saturating_add(EXCLUDED_EVERY).unwrap_or(due_at);
    let fires = ready.next_firing_from(next).map(|slot| ready.due_at(slot));
    fires.map_or(most, |fires| fires.min(most))
}

/// Which of the due slots that are not left out may fire, by lateness alone.
fn standings(ready: &Ready, due: &[Due], now: Timestamp) -> Vec<Standing> {
    let policy = ready.definition.catch_up;
    let cap = ready.definition.max_catch_up as usize;
    // From the newest back: the cap counts the newest ones.
    let mut caught_up = 0;
    let left_in = due.iter().filter(|due| due.excluded.is_none());
    let mut standings: Vec<Standing> = left_in
        .rev()
        .enumerate()
        .map(|(newer, Due { slot, .. })| {
            let late = now.duration_since(ready.due_at(*slot));
            if late <= ready.prompt() {
                return Standing::Prompt;
            }
            let in_grace = late <= ready.grace(*slot);
            match policy {
                CatchUp::None => Standing::Skipped(Reason::NotCaughtUp),
                _ if !in_grace => Standing::Skipped(Reason::TooLate),
                CatchUp::Latest if newer > 0 => Standing::Skipped(Reason::NotCaughtUp),
                CatchUp::All if caught_up == cap => Standing::Skipped(Reason::OverCap),
                CatchUp::Latest | CatchUp::All => {
                    caught_up += 1;
                    Standing::Missed
                }
            }
        })
        .collect();
    standings.reverse();
    standings
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Taken {
    Decided,
    Waits,
}

/// One look's slots, taken in order: who fires, who is skipped, who waits.
struct Turn<'a> {
    look: Look<'a>,
    ledger: Ledger,
    fires: Vec<Fire>,
    cancels: bool,
    /// Whether a firing is under way: one still runs, or this turn has fired.
    busy: bool,
    /// Whether this turn fired the slot that had waited.
    freed: bool,
    caught_up: i32,
    /// How many slots may still fire, if that is limited.
    runs_left: Option<u64>,
}

impl<'a> Turn<'a> {
    fn new(look: Look<'a>) -> Self {
        Self {
            look,
            ledger: Ledger::new(look.schedule.revision, look.now),
            fires: Vec::new(),
            cancels: false,
            busy: look.running.is_some(),
            freed: false,
            caught_up: 0,
            runs_left: look.ready.runs_left(look.schedule.runs),
        }
    }

    fn take(&mut self, index: usize, slot: Timestamp, standing: Standing, is_last: bool) -> Taken {
        let waited = index == 0 && self.look.schedule.waits_since.is_some();
        if let (Standing::Skipped(reason), false) = (standing, waited) {
            let reason = self.reason_behind_a_wait(slot).unwrap_or(reason);
            self.ledger.add(slot, Verdict::Skipped(reason), None);
            return Taken::Decided;
        }
        let caught_up = standing != Standing::Prompt;
        let definition = &self.look.ready.definition;
        match definition.overlap {
            Overlap::Allow => self.fire(slot, caught_up),
            Overlap::CancelRunning if is_last => {
                self.cancels = self.busy;
                self.fire(slot, caught_up);
            }
            // Of several that came at once only the last is of any use.
            Overlap::CancelRunning => self.supersede(slot),
            Overlap::Skip if !self.busy && !is_last && definition.catch_up != CatchUp::All => {
                self.supersede(slot);
            }
            _ if !self.busy => {
                self.freed = waited;
                self.fire(slot, caught_up);
            }
            // `all` means all: what came together goes one after the other.
            _ if definition.catch_up == CatchUp::All && (caught_up || !self.fires.is_empty()) => {
                return Taken::Waits;
            }
            Overlap::QueueOne if !self.freed => return Taken::Waits,
            Overlap::QueueOne | Overlap::Skip => self.overlap(slot),
        }
        Taken::Decided
    }

    fn fire(&mut self, slot: Timestamp, caught_up: bool) {
        let due_at = self.look.ready.due_at(slot).max(self.look.now);
        let mut execute_at = due_at;
        let mut verdict = Verdict::Fired;
        if caught_up {
            verdict = Verdict::CaughtUp;
            let wait = self.look.ready.definition.catch_up_pace * self.caught_up;
            execute_at = due_at.saturating_add(wait).unwrap_or(due_at);
            self.caught_up += 1;
        }
        self.ledger.add(slot, verdict, None);
        self.busy = true;
        self.runs_left = self.runs_left.map(|left| left.saturating_sub(1));
        self.fires.push(Fire {
            slot,
            execute_at,
            caught_up,
        });
    }

    /// What became due while an earlier slot waited was not planned late: it stood behind that one.
    fn reason_behind_a_wait(&self, slot: Timestamp) -> Option<Reason> {
        let since = self.look.schedule.waits_since?;
        (self.look.ready.due_at(slot) >= since).then_some(Reason::Overlap)
    }

    fn supersede(&mut self, slot: Timestamp) {
        let verdict = Verdict::Skipped(Reason::NotCaughtUp);
        self.ledger.add(slot, verdict, None);
    }

    fn overlap(&mut self, slot: Timestamp) {
        let verdict = Verdict::Skipped(Reason::Overlap);
        self.ledger.add(slot, verdict, self.look.running);
    }

    fn finish(self, waits_at: Option<Timestamp>, rest: Option<Timestamp>, partial: bool) -> Plan {
        let Look { ready, now, .. } = self.look;
        let waited = self.look.schedule.waits_since;
        let first = self.look.schedule.next_at;
        let (next_at, waits_since, look_at) = match waits_at {
            // Still the same slot, still waiting.
            Some(slot) if Some(slot) == first => {
                let since = waited.unwrap_or(now);
                (Some(slot), Some(since), Some(wait_until(since, now)))
            }
            Some(slot) => (Some(slot), Some(now), Some(wait_until(now, now))),
            None if partial => (rest, None, Some(now)),
            None => (rest, None, rest.map(|slot| look_at(ready, slot))),
        };
        Plan {
            slots: self.ledger.into_rows(),
            fires: self.fires,
            cancels: self.cancels,
            resumes: false,
            next_at,
            waits_since,
            look_at,
            monitor: None,
        }
    }
}

/// When to look again at a slot that has waited since `since`: after a tenth of that time.
fn wait_until(since: Timestamp, now: Timestamp) -> Timestamp {
    let wait = (now.duration_since(since) / 10).clamp(WAIT_EVERY, WAIT_EVERY_MAX);
    now.saturating_add(wait).unwrap_or(now)
}

/// Ends a pause at `end`: records what fell into it, and catches up its last slot where that is
/// requested. The slots from then on are for the next look.
fn lift(look: Look<'_>, pause: &Pause, end: Timestamp) -> Plan {
    let Look { ready, now, .. } = look;
    let mut plan = skip_pause(look, pause, end);
    plan.resumes = plan.next_at.is_none_or(|next| next >= end);
    let wanted = ready.definition.on_resume == OnResume::Latest && look.running.is_none();
    let done = look.schedule.runs;
    if plan.resumes && wanted && ready.runs_left(done) != Some(0) {
        catch_up_pause(&mut plan, ready, now);
    }
    let done = done.saturating_add(plan.fires.len() as u64);
    if ready.runs_left(done) == Some(0) {
        (plan.next_at, plan.look_at) = (None, None);
    }
    plan
}

/// Fires the last slot of a pause that is not left out, if it is within its grace.
fn catch_up_pause(plan: &mut Plan, ready: &Ready, now: Timestamp) {
    let paused = |row: &Slot| row.verdict == Verdict::Skipped(Reason::Paused);
    let Some(place) = plan.slots.iter().rposition(paused) else {
        return;
    };
    let row = &mut plan.slots[place];
    let slot = row.last_at;
    if now.duration_since(ready.due_at(slot)) > ready.grace(slot) {
        return;
    }
    let caught_up = Slot {
        slot_at: slot,
        slots: 1,
        verdict: Verdict::CaughtUp,
        detail: None,
        ..row.clone()
    };
    row.slots -= 1;
    match ready.previous_before(slot).filter(|_| row.slots > 0) {
        Some(previous) => {
            row.last_at = previous;
            plan.slots.insert(place + 1, caught_up);
        }
        None => *row = caught_up,
    }
    plan.fires.push(Fire {
        slot,
        execute_at: ready.due_at(slot).max(now),
        caught_up: true,
    });
}

/// Records what fell into a pause that continues.
fn skip_pause_so_far(look: Look<'_>, pause: &Pause) -> Plan {
    let mut plan = skip_pause(look, pause, just_after(look.now));
    if plan.next_at.is_none_or(|next| next > look.now) {
        plan.look_at = pause.until;
    }
    plan
}

/// Skips the slots before `end`; to be looked at again at once if they are too many for one look.
fn skip_pause(look: Look<'_>, pause: &Pause, end: Timestamp) -> Plan {
    let Look { ready, now, .. } = look;
    let (slots, following) = due_slots(look, 0, |slot| slot < end);
    let mut ledger = Ledger::new(look.schedule.revision, now);
    let detail = paused_by(pause);
    for Due { slot, excluded } in slots {
        match excluded {
            Some(why) => ledger.exclude(slot, &why),
            None => ledger.add(slot, Verdict::Skipped(Reason::Paused), Some(&detail)),
        }
    }
    let partial = following.is_some_and(|slot| slot < end);
    let due_at = following.map(|slot| look_at(ready, slot));
    Plan {
        slots: ledger.into_rows(),
        next_at: following,
        waits_since: None,
        look_at: if partial { Some(now) } else { due_at },
        ..rest(look.schedule, None)
    }
}

fn just_after(at: Timestamp) -> Timestamp {
    let after = at.saturating_add(SignedDuration::from_micros(1));
    after.unwrap_or(at)
}

fn paused_by(pause: &Pause) -> String {
    let note = pause.note.as_deref().map(|note| format!(": {note}"));
    format!("by {}{}", pause.by, note.unwrap_or_default())
}
