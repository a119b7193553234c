//! The machine's clock, compared with one that cannot be set.
//!
//! On SQLite the machine's wall clock is the only time there is, and people, batteries and time
//! services set it. A wrong one would plan tomorrow's slots, skip today's and delete a month of
//! history (DP-24). So every reading of it is compared with the machine's uptime, and every start
//! with the newest [`Mark`] in the store:
//!
//! ```text
//!             agrees                       differs                     agrees again
//!   (start) ─────────► steady ───────────────────────────► in doubt ─────────────────► steady
//!                        ▲                                    │
//!                        └──── accepted: by a person, or small and unchanged for a while
//! ```
//!
//! In doubt, time continues from where it was trusted last, by the uptime: it never jumps. What is
//! held is decided by one rule, *only what is due by both clocks is done* ([`Standing`]):
//!
//! - The wall clock is ahead: what is due by the trusted time is due by both. Work continues.
//! - It is behind: the trusted time may have been the wrong one. Nothing is planned or started.
//! - There is no trusted time to count from, only a record from before the machine was started:
//!   nothing is planned or started.
//!
//! Nothing is deleted by age while there is any doubt: that alone cannot be taken back.
//!
//! INVARIANT: a [`Mark`] is saved only while time is counted without a gap. A mark that was made by
//! guessing would turn the guess into a fact at the next start.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use jiff::{SignedDuration, Timestamp};

use crate::{
    lang::{Lang, Say},
    locked, say,
    time::{Clock, to_micros},
};

/// The largest difference between two readings that is no step: time services correct so much at
/// once, and no schedule depends on it.
pub const STEP_MIN: SignedDuration = SignedDuration::from_secs(5);
/// One part in so many is how far a clock that is being corrected slowly drifts from the uptime.
const DRIFT: i32 = 1_000;
/// A step of at most this is believed once the clock has kept to it for [`BELIEVED_AFTER`].
pub const BELIEVED_MAX: SignedDuration = SignedDuration::from_hours(1);
/// How long a clock must keep to a small step.
pub const BELIEVED_AFTER: SignedDuration = SignedDuration::from_mins(10);
/// A machine that was off for longer than this looks like one whose clock is wrong.
pub const AWAY_MAX: SignedDuration = SignedDuration::from_hours(30 * 24);

/// Both clocks of a machine, read together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reading {
    /// The wall clock, which people and time services set.
    pub wall: Timestamp,
    /// Time since the machine was started, suspended or not; it cannot be set.
    pub uptime: SignedDuration,
}

/// A machine's clocks.
pub trait TimeSource: Send + Sync {
    /// Both, at the same moment.
    fn read(&self) -> Reading;
    /// The id of this start of the machine: uptimes of another start do not compare. Empty if
    /// unknown.
    fn boot(&self) -> &str;
}

/// What the store remembers: that it was `at` when the machine's uptime was `uptime`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mark {
    pub at: Timestamp,
    pub uptime: SignedDuration,
    /// Which start of the machine.
    pub boot: String,
    /// Counts what people accepted. A node that finds a larger one than its own starts from it.
    pub revision: i64,
}

impl Mark {
    /// The mark that says that the wall clock is right.
    pub fn accept(source: &dyn TimeSource, known: Option<&Self>) -> Self {
        let Reading { wall, uptime } = source.read();
        Self {
            at: wall,
            uptime,
            boot: source.boot().to_owned(),
            revision: known.map_or(0, |mark| mark.revision) + 1,
        }
    }
}

/// What the wall clock is compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reference {
    /// Time counted by the uptime since it was trusted last.
    Count,
    /// The newest record in the store, from before the machine was started.
    Record,
}

/// The wall clock cannot be trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Doubt {
    /// How far it is ahead; negative if it is behind.
    pub by: SignedDuration,
    pub reference: Reference,
    /// Since which uptime it is so far away.
    since: SignedDuration,
}

/// Whether the time can be trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Standing {
    #[default]
    Steady,
    /// The machine shows another time.
    InDoubt(Doubt),
}

impl Standing {
    /// Whether slots may be decided and tasks started.
    pub fn may_act(self) -> bool {
        match self {
            Self::Steady => true,
            Self::InDoubt(doubt) => doubt.reference == Reference::Count && doubt.by.is_positive(),
        }
    }

    /// Whether anything may be deleted because of its age.
    pub fn may_delete(self) -> bool {
        self == Self::Steady
    }
}

impl Say for Doubt {
    /// What is wrong and what is held.
    fn say(&self, lang: Lang) -> String {
        let by = short(self.by);
        let held = lang.pick(
            "nothing is planned, started or deleted by age",
            "暂停排程、启动和按时间删除",
        );
        match (self.reference, self.by.is_positive()) {
            (Reference::Count, true) => say!(lang;
                "the machine's clock was set {by} ahead; Almanack counts on from the time before that and deletes nothing by age",
                "机器时钟被调快了 {by}；Almanack 从调整之前的时间继续计时，且不按时间删除"),
            (Reference::Count, false) => say!(lang;
                "the machine's clock was set back by {by}; {held}",
                "机器时钟被调慢了 {by}；{held}"),
            (Reference::Record, true) => say!(lang;
                "the machine's clock is {by} after the newest record in the database; {held}",
                "机器时钟比数据库中最新的记录晚 {by}；{held}"),
            (Reference::Record, false) => say!(lang;
                "the machine's clock is {by} before the newest record in the database; {held}",
                "机器时钟比数据库中最新的记录早 {by}；{held}"),
        }
    }
}

impl Doubt {
    /// What to do about it.
    pub const HINT: (&str, &str) = (
        "set the machine's clock; or, if it is right, `almanack clock accept`",
        "请校准机器时钟；如果它是正确的，请运行 `almanack clock accept`",
    );
}

/// A duration in its two largest units: `1d 2h`.
fn short(by: SignedDuration) -> String {
    // A step of ten minutes is read a moment after it was made.
    let seconds = (by.unsigned_abs() + Duration::from_millis(500)).as_secs();
    let units = [("d", 86_400), ("h", 3_600), ("min", 60), ("s", 1)];
    let mut left = seconds;
    let mut parts = Vec::new();
    for (name, length) in units {
        let count = left / length;
        left %= length;
        if count > 0 {
            parts.push(format!("{count} {name}"));
        }
    }
    parts.truncate(2);
    if parts.is_empty() {
        "0 s".to_owned()
    } else {
        parts.join(" ")
    }
}

/// The trusted time and what is doubted; pure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Guard {
    /// When time was trusted last.
    trusted: Reading,
    doubt: Option<Doubt>,
}

impl Guard {
    /// Begins at `first`, where the store remembers `mark`.
    fn start(first: Reading, boot: &str, mark: Option<&Mark>) -> Self {
        let trusted = |wall, doubt| Self {
            trusted: Reading { wall, ..first },
            doubt,
        };
        let Some(mark) = mark else {
            return trusted(first.wall, None);
        };
        if !boot.is_empty() && boot == mark.boot && first.uptime >= mark.uptime {
            let mut guard = Self {
                trusted: Reading {
                    wall: mark.at,
                    uptime: mark.uptime,
                },
                doubt: None,
            };
            guard.read(first);
            return guard;
        }
        let by = first.wall.duration_since(mark.at);
        if (-STEP_MIN..=AWAY_MAX).contains(&by) {
            return trusted(first.wall, None);
        }
        let doubt = Doubt {
            by,
            reference: Reference::Record,
            since: first.uptime,
        };
        trusted(mark.at, Some(doubt))
    }

    /// What time it is.
    fn read(&mut self, reading: Reading) -> Timestamp {
        let counted = reading.uptime - self.trusted.uptime;
        let counted = counted.max(SignedDuration::ZERO);
        let expected = self.trusted.wall.saturating_add(counted);
        // The uptime is finer than what the store keeps.
        let expected = to_micros(expected.unwrap_or(Timestamp::MAX));
        let by = reading.wall.duration_since(expected);
        if by.abs() <= STEP_MIN + counted / DRIFT {
            self.trusted = reading;
            self.doubt = None;
            return reading.wall;
        }
        self.note(by, reading.uptime);
        expected
    }

    /// Believes a small step that the clock has kept to for long enough.
    fn believe(&mut self, reading: Reading) {
        self.read(reading);
        let lasts = |doubt: Doubt| {
            doubt.by.abs() <= BELIEVED_MAX && reading.uptime - doubt.since >= BELIEVED_AFTER
        };
        if self.doubt.is_some_and(lasts) {
            self.trusted = reading;
            self.doubt = None;
        }
    }

    fn note(&mut self, by: SignedDuration, uptime: SignedDuration) {
        if self.doubt.is_some_and(|doubt| doubt.is_same(by)) {
            return;
        }
        let reference = self.doubt.map_or(Reference::Count, |doubt| doubt.reference);
        self.doubt = Some(Doubt {
            by,
            reference,
            since: uptime,
        });
    }

    fn standing(&self) -> Standing {
        self.doubt.map_or(Standing::Steady, Standing::InDoubt)
    }
}

impl Doubt {
    fn is_same(&self, by: SignedDuration) -> bool {
        (by - self.by).abs() <= STEP_MIN
    }
}

/// The wall clock while it can be trusted; what it should show while it cannot.
pub struct GuardedClock {
    source: Arc<dyn TimeSource>,
    held: Mutex<Held>,
}

struct Held {
    guard: Guard,
    revision: i64,
}

impl GuardedClock {
    /// Begins where the store remembers `mark`.
    pub fn start(source: Arc<dyn TimeSource>, mark: Option<&Mark>) -> Self {
        let guard = Guard::start(source.read(), source.boot(), mark);
        let revision = mark.map_or(0, |mark| mark.revision);
        let held = Mutex::new(Held { guard, revision });
        Self { source, held }
    }

    /// What the store should remember; nothing while time is only guessed.
    ///
    /// Time jumps here alone, if a step is believed: the caller extends its leases next.
    pub fn mark(&self) -> Option<Mark> {
        let mut held = locked(&self.held);
        let reading = self.source.read();
        held.guard.believe(reading);
        let at = held.guard.read(reading);
        let counted = held.guard.doubt.map(|doubt| doubt.reference) != Some(Reference::Record);
        counted.then(|| Mark {
            at,
            uptime: reading.uptime,
            boot: self.source.boot().to_owned(),
            revision: held.revision,
        })
    }

    /// Begins again where the store remembers `mark`, if a person accepted a time since.
    pub fn adopt(&self, mark: &Mark) {
        let mut held = locked(&self.held);
        if mark.revision > held.revision {
            let guard = Guard::start(self.source.read(), self.source.boot(), Some(mark));
            *held = Held {
                guard,
                revision: mark.revision,
            };
        }
    }
}

impl Clock for GuardedClock {
    fn now(&self) -> Timestamp {
        // Read under the lock: a reading that waited for it would look like a small step back.
        let mut held = locked(&self.held);
        held.guard.read(self.source.read())
    }

    fn standing(&self) -> Standing {
        let mut held = locked(&self.held);
        held.guard.read(self.source.read());
        held.guard.standing()
    }
}

#[cfg(test)]
mod tests;
