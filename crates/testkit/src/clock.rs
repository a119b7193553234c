//! Clocks that move only on request.

use std::sync::atomic::{AtomicI64, Ordering};

use almanack_core::{
    clock::{Reading, TimeSource},
    time::Clock,
};
use jiff::{SignedDuration, Timestamp};

/// Shows one instant until a test changes it. Share it as `Arc<ManualClock>`.
#[derive(Debug)]
pub struct ManualClock {
    now_us: AtomicI64,
}

impl ManualClock {
    /// Starts at `now`, cut to the microseconds the store keeps.
    pub fn at(now: Timestamp) -> Self {
        Self {
            now_us: AtomicI64::new(now.as_microsecond()),
        }
    }

    /// Moves by `by`, which may be negative: clocks do get set back.
    pub fn advance(&self, by: SignedDuration) {
        let by_us = i64::try_from(by.as_micros()).expect("a span that fits the calendar");
        self.now_us.fetch_add(by_us, Ordering::SeqCst);
    }

    /// Jumps to `now`.
    pub fn set(&self, now: Timestamp) {
        self.now_us.store(now.as_microsecond(), Ordering::SeqCst);
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        let now_us = self.now_us.load(Ordering::SeqCst);
        Timestamp::from_microsecond(now_us).expect("an instant within the calendar")
    }
}

/// A machine's two clocks: time passes on both, and the wall clock may be set.
#[derive(Debug)]
pub struct ManualTime {
    wall: ManualClock,
    uptime_us: AtomicI64,
    boot: String,
}

impl ManualTime {
    /// A machine that was just started, as its clock shows `wall`.
    pub fn boot(wall: Timestamp, boot: &str) -> Self {
        Self {
            wall: ManualClock::at(wall),
            uptime_us: AtomicI64::new(0),
            boot: boot.to_owned(),
        }
    }

    pub fn pass(&self, time: SignedDuration) {
        let us = i64::try_from(time.as_micros()).expect("a span that fits the calendar");
        self.uptime_us.fetch_add(us, Ordering::SeqCst);
        self.wall.advance(time);
    }

    /// Sets the wall clock by so much.
    pub fn step(&self, by: SignedDuration) {
        self.wall.advance(by);
    }
}

impl TimeSource for ManualTime {
    fn read(&self) -> Reading {
        Reading {
            wall: self.wall.now(),
            uptime: SignedDuration::from_micros(self.uptime_us.load(Ordering::SeqCst)),
        }
    }

    fn boot(&self) -> &str {
        &self.boot
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::START;

    #[test]
    fn it_moves_only_when_reported_to() {
        let clock = ManualClock::at(START);
        assert_eq!(clock.now(), START);
        clock.advance(SignedDuration::from_micros(1));
        assert_eq!(clock.now(), START + SignedDuration::from_micros(1));
        clock.advance(SignedDuration::from_secs(-1));
        assert!(clock.now() < START);
        clock.set(START);
        assert_eq!(clock.now(), START);
    }
}
