//! When to look at a source next.
//!
//! [`next_check`] is the one decision: from what a source has shown ([`History`]), the present
//! instant and a [`Budget`] to the instant of the next check and the [`Reason`] for it. The engine
//! and the replay call the same function, so what a replay promises is what a node does.
//!
//! What must stay true:
//!
//! - The next check is later than `now`, never sooner than the floor, and, for policies that
//!   learn, never later than the ceiling. What a publisher requests comes after this decision
//!   ([`super::hints`]), and whether a source is checked at all before it.
//! - A decision depends on its arguments alone. `jitter` is a hash of the source's name, not dice:
//!   all nodes decide the same, and sources of one rhythm do not all come at one instant.
//! - What is learned of a source is bounded: [`History::encode`] never exceeds 2,048 bytes.

mod adaptive;
pub mod backoff;
pub mod cadence;
mod chance;
mod classic;
mod history;
pub mod intensity;
mod miniflux;
mod number;
mod price;
mod reason;
mod rhythm;
mod text;
mod weights;

use jiff::{SignedDuration, Timestamp};

pub use classic::PublishHour;
pub use history::{Corrupt, ENCODED_MAX, History};
pub use price::steer;
pub use reason::{Basis, Bound, Expected, Reason};
pub use text::UnknownPolicy;

use crate::{
    schedule::{Timetable, Zone},
    time::LATEST,
};

/// A way to decide when to look.
#[derive(Debug, Clone)]
pub enum Policy {
    /// Learns the source's rhythm and looks when what is expected pays for a check (SS-15).
    Adaptive,
    /// The founding design's rules (SS-02 … SS-07).
    Classic,
    /// Always after the same time.
    Fixed(SignedDuration),
    /// At configured times.
    Schedule(Box<Written>),
    /// The rule that Miniflux calls `entry_frequency`, for comparison.
    Miniflux,
}

impl Policy {
    /// Whether its decisions depend on what a source has shown.
    pub fn learns(&self) -> bool {
        !matches!(self, Self::Fixed(_) | Self::Schedule(_))
    }
}

/// A schedule for one source.
#[derive(Debug, Clone)]
pub struct Written {
    /// The expression as written, with its zone in front if it names one.
    pub text: String,
    pub timetable: Timetable,
    /// Whose wall clock it means.
    pub zone: Zone,
}

/// What checks cost, and the bounds of their pace.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Budget {
    /// How many hours of delay one check is worth. One number steers all sources: the higher, the
    /// fewer checks. [`steer`] keeps it where the fleet makes as many checks as it may.
    pub price_h: f64,
    /// The share of slow sources: each is looked at as if it published at least so many entries a
    /// day. At zero they get what the mean over entries gives them, which is next to nothing.
    pub rate_min_per_day: f64,
    /// The interval at which all sources would be checked if the budget were spread evenly; none
    /// where no budget is known.
    pub even: Option<SignedDuration>,
    /// What slow sources get at least of the checks of an even spread, from 0 to 1. Busy ones pay
    /// for it.
    pub slow_share: f64,
    /// What the intervals of policies that know no price are multiplied by.
    pub stretch: f64,
    /// The shortest gap between two checks.
    pub floor: SignedDuration,
    pub ceiling: SignedDuration,
}

/// No source is checked more often, whatever the budget says.
const FLOOR_MIN: SignedDuration = SignedDuration::from_secs(1);

impl Default for Budget {
    fn default() -> Self {
        Self {
            price_h: 0.02,
            rate_min_per_day: 0.04,
            even: None,
            slow_share: 0.0,
            stretch: 1.0,
            floor: SignedDuration::from_mins(15),
            ceiling: SignedDuration::from_hours(24),
        }
    }
}

impl Budget {
    fn floor(&self) -> SignedDuration {
        self.floor.max(FLOOR_MIN)
    }

    /// The longest gap; a floor above it wins, because it is the publisher's request.
    fn ceiling(&self) -> SignedDuration {
        self.ceiling.max(self.floor())
    }

    fn stretch(&self) -> f64 {
        if self.stretch.is_finite() {
            self.stretch.clamp(1e-6, 1e6)
        } else {
            1.0
        }
    }

    /// `wait` after `now`, within the bounds.
    fn bounded(&self, now: Timestamp, wait: SignedDuration) -> Timestamp {
        after(now, wait.clamp(self.floor(), self.ceiling()))
    }
}

/// When to look next, and why then.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Next {
    pub at: Timestamp,
    /// The reason; it prints as a sentence.
    pub reason: Reason,
}

/// Decides when a source that was checked at `now` is to be checked next. `jitter` is 64 bits that
/// depend on the source alone.
pub fn next_check(
    policy: &Policy,
    history: &History,
    now: Timestamp,
    budget: &Budget,
    jitter: u64,
) -> Next {
    match policy {
        Policy::Adaptive => adaptive::next(history, now, budget, jitter),
        Policy::Classic => classic::next(history.analysis(), now, budget, jitter),
        Policy::Fixed(interval) => fixed(*interval, now, budget),
        Policy::Schedule(written) => scheduled(written, now, budget),
        Policy::Miniflux => miniflux::next(history.known_before(), now, budget),
    }
}

/// A configured interval is not cut to the ceiling.
fn fixed(interval: SignedDuration, now: Timestamp, budget: &Budget) -> Next {
    let wait = interval.mul_f64(budget.stretch()).max(budget.floor());
    Next {
        at: after(now, wait),
        reason: Reason::Interval(wait),
    }
}

/// A configured schedule is kept to the second.
fn scheduled(written: &Written, now: Timestamp, budget: &Budget) -> Next {
    match written.timetable.next_after(now, &written.zone) {
        Some(at) => Next {
            at,
            reason: Reason::Schedule,
        },
        None => Next {
            at: after(now, budget.ceiling()),
            reason: Reason::ScheduleOver(budget.ceiling()),
        },
    }
}

fn after(now: Timestamp, wait: SignedDuration) -> Timestamp {
    now.saturating_add(wait).map_or(LATEST, |at| at.min(LATEST))
}

#[cfg(test)]
mod tests;
