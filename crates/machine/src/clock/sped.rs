//! A clock that runs faster than the world's, for demonstrations: a day in minutes.
//!
//! It starts at an instant and counts monotonic time, multiplied. Its speed may change while others
//! wait by it; then they compute the rest of their wait again. What must stay true: the clock never
//! goes back and never jumps, also not when its speed changes. A wait by [`SpedSleeper`] ends when
//! this clock shows the instant, whatever the machine's clock does. Connection timeouts use real
//! time.

use std::{
    fmt,
    sync::{Arc, Mutex},
    time::Duration,
};

use almanack_core::{
    locked,
    time::{Clock, LATEST, Sleeper, to_micros},
};
use async_trait::async_trait;
use jiff::{SignedDuration, Timestamp};
use tokio::sync::watch;

use super::{NAP_MAX, Stopwatch, pause};

/// How many times faster than the world's a clock runs.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Speed(f64);

impl Speed {
    /// Real time.
    pub const REAL: Self = Self(1.0);

    /// A factor; `None` unless it is positive and finite.
    pub fn new(times: f64) -> Option<Self> {
        (times.is_finite() && times > 0.0).then_some(Self(times))
    }

    /// How many times as fast.
    pub fn times(self) -> f64 {
        self.0
    }

    /// How long something takes in the world that takes `shown` by the clock; nothing for what has
    /// passed.
    pub fn real(self, shown: SignedDuration) -> Duration {
        let seconds = shown.as_secs_f64().max(0.0) / self.0;
        Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)
    }

    /// What the clock shows of something that takes `real` in the world.
    pub fn shown(self, real: Duration) -> SignedDuration {
        let seconds = real.as_secs_f64() * self.0;
        SignedDuration::try_from_secs_f64(seconds).unwrap_or(SignedDuration::MAX)
    }
}

impl fmt::Display for Speed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Since when the clock has run at its present speed.
#[derive(Debug, Clone, Copy)]
struct Stretch {
    /// What it showed then.
    from: Timestamp,
    /// When that was, since the clock was started.
    began: Duration,
    speed: Speed,
    /// What it does not run past.
    hold_at: Option<Timestamp>,
}

impl Stretch {
    fn at(&self, elapsed: Duration) -> Timestamp {
        let shown = self.speed.shown(elapsed.saturating_sub(self.began));
        let free = self.from.saturating_add(shown).unwrap_or(LATEST);
        // The clock does not go back.
        self.hold_at
            .map_or(free, |hold_at| free.min(hold_at.max(self.from)))
    }
}

/// How long the clock has run; tests supply the time themselves.
type Elapsed = Box<dyn Fn() -> Duration + Send + Sync>;

/// A clock with a speed.
pub struct SpedClock {
    elapsed: Elapsed,
    stretch: Mutex<Stretch>,
    /// Counts changes of the speed.
    changes: watch::Sender<u64>,
}

impl SpedClock {
    /// Starts at `from`.
    pub fn start(from: Timestamp, speed: Speed) -> Self {
        let started = Stopwatch::start();
        Self::counting(from, speed, Box::new(move || started.0.elapsed()))
    }

    fn counting(from: Timestamp, speed: Speed, elapsed: Elapsed) -> Self {
        let stretch = Stretch {
            from,
            began: elapsed(),
            speed,
            hold_at: None,
        };
        Self {
            elapsed,
            stretch: Mutex::new(stretch),
            changes: watch::Sender::new(0),
        }
    }

    /// How fast it runs.
    pub fn speed(&self) -> Speed {
        locked(&self.stretch).speed
    }

    /// Continues at this speed from the present time, and wakes sleepers so that they compute their
    /// wait again.
    pub fn set_speed(&self, speed: Speed) {
        self.change(|stretch| stretch.speed = speed);
    }

    /// Stops when it shows `hold_at`; `None` lets it continue from there, as if no time had passed.
    pub fn hold_at(&self, hold_at: Option<Timestamp>) {
        self.change(|stretch| stretch.hold_at = hold_at);
    }

    fn change(&self, change: impl FnOnce(&mut Stretch)) {
        let mut stretch = locked(&self.stretch);
        let elapsed = (self.elapsed)();
        stretch.from = stretch.at(elapsed);
        stretch.began = elapsed;
        change(&mut stretch);
        drop(stretch);
        self.changes.send_modify(|count| *count += 1);
    }

    /// How long it takes in the world until the clock shows `at`, if its speed stays; nothing if it
    /// has come.
    fn real_until(&self, at: Timestamp) -> Duration {
        let stretch = locked(&self.stretch);
        let now = stretch.at((self.elapsed)());
        stretch.speed.real(at.duration_since(now))
    }
}

impl Clock for SpedClock {
    fn now(&self) -> Timestamp {
        let stretch = locked(&self.stretch);
        to_micros(stretch.at((self.elapsed)()))
    }
}

/// Waits by a clock with a speed.
#[derive(Clone)]
pub struct SpedSleeper {
    clock: Arc<SpedClock>,
}

impl SpedSleeper {
    /// Waits by `clock`.
    pub fn new(clock: Arc<SpedClock>) -> Self {
        Self { clock }
    }
}

#[async_trait]
impl Sleeper for SpedSleeper {
    async fn until(&self, at: Timestamp) {
        // Subscribed before the first look, so that no change is missed between a look and its
        // wait.
        let mut changes = self.clock.changes.subscribe();
        // What the clock shows, not what is left, decides: a wait cut to whole microseconds may end
        // one too early.
        while self.clock.now() < at {
            let nap = self.clock.real_until(at).min(NAP_MAX);
            tokio::select! {
                () = pause(nap.max(Duration::from_micros(1))) => {}
                // The sender lives as long as the clock, and we hold the clock.
                _ = changes.changed() => {}
            }
        }
    }
}

#[cfg(test)]
mod tests;
