//! Time in the simulation: one true clock, and what each node believes.
//!
//! True time is the runtime's paused clock, which jumps to the next timer whenever all tasks wait.
//! A node sees it through a [`NodeClock`] that is wrong by up to an hour, drifts, and loses time
//! while the machine is suspended; production's clock is anchored once per run and never set, so
//! steps happen between runs, or are noticed ([`SetClock`]). The [`Barrier`] is SIGSTOP: while it
//! is shut nothing of the node moves.

use std::{
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::Duration,
};

use almanack_core::{
    clock::{Mark, Reading, TimeSource},
    time::{Clock, CorrectedClock, Sleeper},
};
use almanack_testkit::fixture::START;
use async_trait::async_trait;
use jiff::{SignedDuration, Timestamp};
use tokio::time::Instant;

/// Plays a story on a clock that jumps to the next timer whenever all tasks wait.
pub(super) fn on_virtual_time<T>(story: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .expect("a runtime without I/O needs nothing from the system");
    runtime.block_on(story)
}

/// Longest single wait; a node that waits for ever just waits again.
const NAP_MAX: Duration = Duration::from_hours(24);

/// How long after a freeze a node may still act by a clock that stopped.
const RECOVERY: SignedDuration = SignedDuration::from_mins(1);

/// What time it really is.
#[derive(Debug, Clone, Copy)]
pub(super) struct TrueClock {
    began: Instant,
}

impl TrueClock {
    #[expect(
        clippy::disallowed_methods,
        reason = "the simulation's own clock: virtual, paused"
    )]
    pub(super) fn start() -> Self {
        Self {
            began: Instant::now(),
        }
    }

    pub(super) fn elapsed(&self) -> Duration {
        self.began.elapsed()
    }

    pub(super) fn elapsed_us(&self) -> i64 {
        i64::try_from(self.elapsed().as_micros()).unwrap_or(i64::MAX)
    }

    fn uptime(&self) -> SignedDuration {
        SignedDuration::from_micros(self.elapsed_us())
    }

    pub(super) fn now(&self) -> Timestamp {
        START + SignedDuration::from_micros(self.elapsed_us())
    }
}

/// The simulation's only way to wait: virtual, so it costs nothing.
#[expect(
    clippy::disallowed_methods,
    reason = "virtual time: the runtime's clock is paused"
)]
pub(super) async fn pass(time: Duration) {
    if time > Duration::ZERO {
        tokio::time::sleep(time.min(NAP_MAX)).await;
    }
}

/// A node's own, wrong clock.
pub(super) struct NodeClock {
    truth: TrueClock,
    ahead_us: i64,
    drift_ppm: i64,
    suspended_us: AtomicI64,
}

impl NodeClock {
    pub(super) fn new(truth: TrueClock, ahead_us: i64, drift_ppm: i64) -> Self {
        Self {
            truth,
            ahead_us,
            drift_ppm,
            suspended_us: AtomicI64::new(0),
        }
    }

    /// The machine sleeps for so long, and its clock with it.
    pub(super) fn suspend(&self, lost: Duration) {
        let lost_us = i64::try_from(lost.as_micros()).unwrap_or(0);
        self.suspended_us.fetch_add(lost_us, Ordering::Relaxed);
    }
}

impl Clock for NodeClock {
    fn now(&self) -> Timestamp {
        let true_us = self.truth.elapsed_us();
        let drifted_us = true_us.saturating_mul(self.drift_ppm) / 1_000_000;
        let shown_us =
            true_us + self.ahead_us + drifted_us - self.suspended_us.load(Ordering::Relaxed);
        START + SignedDuration::from_micros(shown_us)
    }
}

/// From one time that the machine's clock is right again to the next.
const SET_EVERY: SignedDuration = SignedDuration::from_hours(7);
const HOUR: i64 = 60;
const DAY: i64 = 24 * HOUR;
/// By how many minutes it is set, in turn, ahead or back, and for how many it stays so. Steps back
/// are short: nodes look again every second then, and every look is an event.
const SETTINGS: [(i64, i64); 6] = [
    (2 * HOUR, 20),
    (-10, 6),
    (DAY, 20),
    (40 * DAY, 20),
    (-400 * DAY, 12),
    (366 * DAY, 20),
];

/// One time that the machine's clock is set, and right again.
pub(super) struct Setting {
    by: SignedDuration,
    pub(super) from: Timestamp,
    pub(super) until: Timestamp,
}

impl Setting {
    /// The one under way at an instant, or the next.
    pub(super) fn at(at: Timestamp) -> Self {
        let turn = at.duration_since(START).as_secs() / SET_EVERY.as_secs();
        let turn = i32::try_from(turn.max(0)).unwrap_or(0);
        let (by, lasts) = SETTINGS[turn.unsigned_abs() as usize % SETTINGS.len()];
        let until = START + SET_EVERY * (turn + 1);
        Self {
            by: SignedDuration::from_mins(by),
            from: until - SignedDuration::from_mins(lasts),
            until,
        }
    }

    /// How far ahead the machine's clock is at an instant; negative if it is behind.
    pub(super) fn ahead(at: Timestamp) -> SignedDuration {
        let setting = Self::at(at);
        if at < setting.from {
            return SignedDuration::ZERO;
        }
        setting.by
    }
}

/// Whether the machine's clock was set back at any time between: nothing is planned or started then
/// (DP-24).
pub(super) fn is_set_back(from: Timestamp, to: Timestamp) -> bool {
    let mut setting = Setting::at(from);
    while setting.from <= to {
        if setting.by.is_negative() && setting.until > from {
            return true;
        }
        setting = Setting::at(setting.until);
    }
    false
}

/// A machine whose clock is set ahead or back again and again, and right again (DP-24).
/// Drawn from no dice: all nodes of a story are on one machine.
pub(super) struct SetClock(pub(super) NodeClock);

impl SetClock {
    /// What the store remembers of it.
    pub(super) fn mark(&self) -> Mark {
        Mark {
            at: self.0.now(),
            uptime: self.0.truth.uptime(),
            boot: self.boot().to_owned(),
            revision: 0,
        }
    }
}

impl TimeSource for SetClock {
    fn read(&self) -> Reading {
        Reading {
            wall: self.0.now() + Setting::ahead(self.0.truth.now()),
            uptime: self.0.truth.uptime(),
        }
    }

    fn boot(&self) -> &'static str {
        "simulated"
    }
}

/// Open, or shut until an instant. Never shut for ever.
#[derive(Debug)]
pub(super) struct Barrier {
    truth: TrueClock,
    shut_until_us: AtomicI64,
}

impl Barrier {
    pub(super) fn new(truth: TrueClock) -> Self {
        Self {
            truth,
            shut_until_us: AtomicI64::new(0),
        }
    }

    pub(super) fn shut_for(&self, time: Duration) {
        let until_us = self.truth.elapsed_us() + i64::try_from(time.as_micros()).unwrap_or(0);
        self.shut_until_us.fetch_max(until_us, Ordering::Relaxed);
    }

    pub(super) async fn passed(&self) {
        while self.is_shut() {
            let left_us = self.shut_until_us.load(Ordering::Relaxed) - self.truth.elapsed_us();
            pass(Duration::from_micros(left_us.unsigned_abs())).await;
        }
    }

    pub(super) fn is_shut(&self) -> bool {
        self.shut_until_us.load(Ordering::Relaxed) > self.truth.elapsed_us()
    }

    /// Whether it was shut at any time since a while before `at`: a clock that stopped with the
    /// machine needs that while to be corrected.
    pub(super) fn was_shut_since(&self, at: Timestamp) -> bool {
        let shut_until_us = self.shut_until_us.load(Ordering::Relaxed);
        let until = START + SignedDuration::from_micros(shut_until_us);
        shut_until_us > 0 && until + RECOVERY > at
    }
}

/// Waits by the node's corrected clock, and not at all while the node is frozen.
pub(super) struct NodeSleeper {
    pub(super) clock: Arc<CorrectedClock>,
    pub(super) barrier: Arc<Barrier>,
}

#[async_trait]
impl Sleeper for NodeSleeper {
    async fn until(&self, at: Timestamp) {
        loop {
            let left = at.duration_since(self.clock.now());
            let Ok(left) = Duration::try_from(left) else {
                break;
            };
            if left.is_zero() {
                break;
            }
            pass(left).await;
            self.barrier.passed().await;
        }
    }
}
