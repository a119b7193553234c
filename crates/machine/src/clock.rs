//! The system's clocks, and waiting by them.

mod node;
mod sped;

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use almanack_core::{
    clock::{Reading, TimeSource},
    time::{Clock, Sleeper, to_micros},
};
use async_trait::async_trait;
use jiff::{SignedDuration, Timestamp};
use rustix::time::{ClockId, clock_gettime};

pub use node::{guarded_clock, node_clock};
pub use sped::{SpedClock, SpedSleeper, Speed};

/// Longest single sleep. A suspended machine or a stepped clock is noticed at the latest then.
const NAP_MAX: Duration = Duration::from_mins(1);

/// The wall clock, steps and all.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        #[expect(
            clippy::disallowed_methods,
            reason = "this is the clock that everybody else is given"
        )]
        to_micros(Timestamp::now())
    }
}

/// Where Linux names each start of the machine.
const BOOT_ID: &str = "/proc/sys/kernel/random/boot_id";

/// The wall clock beside the uptime, by which its steps are noticed.
#[derive(Debug, Clone)]
pub struct MachineTime {
    boot: String,
}

impl MachineTime {
    /// Of this start of the machine.
    pub fn new() -> Self {
        let boot = std::fs::read_to_string(BOOT_ID).unwrap_or_default();
        let boot = boot.trim().to_owned();
        Self { boot }
    }
}

impl Default for MachineTime {
    fn default() -> Self {
        Self::new()
    }
}

impl TimeSource for MachineTime {
    fn read(&self) -> Reading {
        // Counts on while the machine is suspended: waking up is no step.
        let uptime = Duration::try_from(clock_gettime(ClockId::Boottime)).unwrap_or_default();
        Reading {
            wall: SystemClock.now(),
            uptime: SignedDuration::try_from(uptime).unwrap_or(SignedDuration::MAX),
        }
    }

    fn boot(&self) -> &str {
        &self.boot
    }
}

/// A clock that starts at the wall clock and then only counts: when an operator sets the machine's
/// clock, this one does not jump. Right where the database's clock corrects it anyway.
#[derive(Debug, Clone)]
pub struct SteadyClock {
    wall: Timestamp,
    started: Instant,
}

impl SteadyClock {
    /// Starts at the wall clock.
    pub fn start() -> Self {
        #[expect(
            clippy::disallowed_methods,
            reason = "the monotonic half of the clock others are given"
        )]
        let started = Instant::now();
        Self {
            wall: SystemClock.now(),
            started,
        }
    }
}

impl Clock for SteadyClock {
    fn now(&self) -> Timestamp {
        let elapsed =
            SignedDuration::try_from(self.started.elapsed()).unwrap_or(SignedDuration::MAX);
        to_micros(self.wall.saturating_add(elapsed).unwrap_or(Timestamp::MAX))
    }
}

/// Waits by a clock.
#[derive(Clone)]
pub struct ClockSleeper {
    clock: Arc<dyn Clock>,
}

impl ClockSleeper {
    /// Waits by `clock`.
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Self { clock }
    }
}

#[async_trait]
impl Sleeper for ClockSleeper {
    /// Waits no longer than it seemed at first: if the clock is set back meanwhile, the caller must
    /// decide whether to wait on.
    async fn until(&self, at: Timestamp) {
        let seemed = Duration::try_from(at.duration_since(self.clock.now())).unwrap_or_default();
        let waited = Stopwatch::start();
        while let Ok(left) = Duration::try_from(at.duration_since(self.clock.now())) {
            let elapsed = waited.0.elapsed();
            let allowed = seemed.saturating_sub(elapsed);
            let nap = left.min(allowed).min(NAP_MAX);
            if nap.is_zero() {
                return;
            }
            pause(nap).await;
        }
    }
}

/// Measures how long something takes.
#[derive(Debug, Clone, Copy)]
pub struct Stopwatch(Instant);

impl Stopwatch {
    pub fn start() -> Self {
        #[expect(
            clippy::disallowed_methods,
            reason = "measuring is about real time, not about any task's"
        )]
        Self(Instant::now())
    }

    /// Seconds since the start.
    pub fn seconds(&self) -> f64 {
        self.0.elapsed().as_secs_f64()
    }
}

/// Processor time that this process has used so far, in seconds: its own and the system's on its
/// behalf.
pub fn processor_seconds() -> f64 {
    let used = clock_gettime(ClockId::ProcessCPUTime);
    let used = Duration::try_from(used).unwrap_or_default();
    used.as_secs_f64()
}

/// Waits in real time, for people and measurements.
pub async fn pause(period: Duration) {
    #[expect(
        clippy::disallowed_methods,
        reason = "people and measurements live in real time"
    )]
    tokio::time::sleep(period).await;
}
