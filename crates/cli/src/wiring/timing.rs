//! The time of a node: the machine's, or a faster one.
//!
//! What must stay true: everything in a process reads the time and waits by one [`Timing`]. A duty
//! that waited by another clock than it reads would wake too early forever, or never.

use std::{sync::Arc, time::Duration};

use almanack_adapters::clock::{ClockSleeper, SpedClock, SpedSleeper, Speed};
use almanack_core::{
    store::{self, Store},
    time::{Clock, CorrectedClock, Sleeper},
};
use jiff::SignedDuration;

use super::node_clock;

/// The time of a process.
#[derive(Clone, Default)]
pub(crate) enum Time {
    #[default]
    Machine,
    /// A clock with a speed. The database must not have its own clock, which would not keep up.
    #[cfg_attr(not(feature = "lab"), expect(dead_code, reason = "the demo's time"))]
    Sped {
        /// The clock; it may run faster for a while.
        clock: Arc<SpedClock>,
        /// Its final speed: shown to people, and used for bounds.
        speed: Speed,
        /// Whether what happens counts in the process's metrics.
        counted: bool,
    },
}

/// How a process learns the time and waits.
#[derive(Clone)]
pub(crate) struct Timing {
    pub(crate) clock: Arc<CorrectedClock>,
    pub(crate) sleeper: Arc<dyn Sleeper>,
    /// How fast it runs.
    pub(crate) speed: Speed,
    /// Whether what happens counts in the process's metrics.
    pub(crate) counted: bool,
}

impl Timing {
    /// Time as a node on this store has it.
    pub(crate) async fn of(time: &Time, store: &dyn Store) -> Result<Self, store::Error> {
        match time {
            Time::Machine => Self::of_machine(store).await,
            Time::Sped {
                clock,
                speed,
                counted,
            } => Ok(Self {
                speed: *speed,
                counted: *counted,
                sleeper: Arc::new(SpedSleeper::new(Arc::clone(clock))),
                clock: Arc::new(CorrectedClock::new(Arc::clone(clock) as Arc<dyn Clock>)),
            }),
        }
    }

    /// The machine's time, corrected to the database's where it has one.
    pub(crate) async fn of_machine(store: &dyn Store) -> Result<Self, store::Error> {
        let clock = node_clock(store).await?;
        Ok(Self {
            sleeper: sleeper(Arc::clone(&clock) as Arc<dyn Clock>),
            clock,
            speed: Speed::REAL,
            counted: true,
        })
    }

    /// How long something takes in the world that takes `shown` by the clock.
    pub(crate) fn real(&self, shown: SignedDuration) -> Duration {
        self.speed.real(shown)
    }
}

/// Waits by a clock that runs as fast as the machine's.
pub(crate) fn sleeper(clock: Arc<dyn Clock>) -> Arc<dyn Sleeper> {
    Arc::new(ClockSleeper::new(clock))
}
