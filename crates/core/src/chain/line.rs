//! One schedule, as a chain holds it: in memory, its cursor from the locks.

use jiff::{SignedDuration, Timestamp};

use super::LineRef;
use crate::{
    lock::{Content, LockKey},
    plan::{self, Origin, Overlap, Ready, Schedule, ScheduleName, Slot, Verdict},
};

/// Slots at least so far apart are marked when they are done, so that a crash between lock and
/// firing is noticed. Closer ones are not: a receipt would cost as much as the lock, and the next
/// slot comes soon.
pub const MARKED_GAP_MIN: SignedDuration = SignedDuration::from_secs(60);
/// Looks at one line in one round; what is still due then waits for the next round.
const LOOKS_MAX: usize = 100;

/// One line of DISPATCH.
#[derive(Debug, Clone)]
pub struct Line {
    /// Its line number in the text, from 1: the only name it has in the logs.
    pub number: usize,
    ready: Ready,
    content: Content,
    schedule: Schedule,
}

/// A slot to be fired.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Due {
    pub key: LockKey,
    pub execute_at: Timestamp,
    /// Until when to try, lock and target.
    pub retry_until: Timestamp,
    /// Whether it had been missed.
    pub caught_up: bool,
    /// Whether to mark it when it is done.
    pub marked: bool,
}

impl Due {
    /// Which slot.
    pub fn slot(&self) -> Timestamp {
        self.key.slot()
    }
}

/// What a look at a line found due.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Looked {
    /// To be fired, in order.
    pub due: Vec<Due>,
    /// Passed over, in order, to be reported.
    pub skipped: Vec<Slot>,
    /// To be locked anyway, because it is the newest and was skipped: else the next start would
    /// find and report the same again.
    pub remember: Option<LockKey>,
}

impl Line {
    /// A schedule that begins at `now`. Firings here end with GitHub's "taken", so none can overlap
    /// another: whatever the definition says about it, slots fire side by side.
    pub fn new(number: usize, name: ScheduleName, mut ready: Ready, now: Timestamp) -> Self {
        ready.definition.overlap = Overlap::Allow;
        let definition = &ready.definition;
        let content = Content::of(&definition.expression, &definition.tz, &definition.target);
        let next_at = ready.next_after(now);
        let definition = String::new().into();
        let schedule = Schedule {
            revision: 1,
            ..Schedule::new(name, Origin::Dispatch, definition, next_at, now)
        };
        Self {
            number,
            ready,
            content,
            schedule,
        }
    }

    /// What it is planned by.
    pub fn ready(&self) -> &Ready {
        &self.ready
    }

    /// What its locks are named by.
    pub fn content(&self) -> Content {
        self.content
    }

    /// What it is called in notes.
    pub fn reference(&self) -> LineRef {
        LineRef {
            line: self.number,
            expression: self.ready.definition.expression.clone(),
        }
    }

    /// What to call its firings.
    pub fn name(&self) -> &ScheduleName {
        &self.schedule.name
    }

    /// The first slot that is still undecided.
    pub fn next_at(&self) -> Option<Timestamp> {
        self.schedule.next_at
    }

    /// Whether a slot is marked when it is done.
    pub fn is_marked(&self, slot: Timestamp) -> bool {
        let next = self.ready.next_after(slot);
        next.is_none_or(|next| next.duration_since(slot) >= MARKED_GAP_MIN)
    }

    /// Continues after the newest of its locks; without one, it stays where it began (DP-08).
    pub fn resume(&mut self, locks: &[LockKey]) {
        let own = locks.iter().filter(|key| key.content() == self.content);
        if let Some(newest) = own.map(LockKey::slot).max() {
            self.schedule.next_at = self.ready.next_after(newest);
        }
    }

    /// Decides what is due, and continues behind it.
    pub fn look(&mut self, now: Timestamp) -> Looked {
        let mut looked = Looked::default();
        for _ in 0..LOOKS_MAX {
            let plan = plan::plan(plan::Look {
                schedule: &self.schedule,
                ready: &self.ready,
                running: None,
                monitor: None,
                now,
            });
            let partial = plan.is_partial(now);
            self.schedule.next_at = plan.next_at;
            looked
                .due
                .extend(plan.fires.iter().map(|fire| self.due(fire)));
            self.sort(plan.slots, &mut looked);
            if !partial {
                break;
            }
        }
        looked
    }

    fn sort(&self, slots: Vec<Slot>, looked: &mut Looked) {
        if let Some(last) = slots.last() {
            let key = LockKey::new(self.content, last.last_at);
            looked.remember = Some(key).filter(|_| !last.verdict.is_fired());
        }
        let skipped = slots.into_iter();
        let skipped = skipped.filter(|slot| matches!(slot.verdict, Verdict::Skipped(_)));
        looked.skipped.extend(skipped);
    }

    fn due(&self, fire: &plan::Fire) -> Due {
        let retry_for = self.ready.retry_for(fire.slot);
        let until = fire.execute_at.saturating_add(retry_for);
        Due {
            key: LockKey::new(self.content, fire.slot),
            execute_at: fire.execute_at,
            retry_until: until.unwrap_or(fire.execute_at),
            caught_up: fire.caught_up,
            marked: self.is_marked(fire.slot),
        }
    }

    /// A slot that was locked and lost, to be fired at `now` after all; `None` when it is too late.
    pub fn due_after_all(&self, key: LockKey, now: Timestamp) -> Option<Due> {
        let slot = key.slot();
        let late = now.duration_since(self.ready.due_at(slot));
        let fire = plan::Fire {
            slot,
            execute_at: now,
            caught_up: true,
        };
        // The code that settles it has written the receipt already.
        let marked = false;
        (late <= self.ready.grace(slot)).then(|| Due {
            marked,
            ..self.due(&fire)
        })
    }
}
