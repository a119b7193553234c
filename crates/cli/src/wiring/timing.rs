//! The time that a node lives in: the machine's, or one that runs faster.
//!
//! What must stay true: everything in a process learns the time and waits by one [`Timing`]. A duty that waited by
//! another clock than it reads would come too early for ever, or never.

use std::{sync::Arc, time::Duration};

use almanack_adapters::clock::{ClockSleeper, SpedClock, SpedSleeper, Speed};
use almanack_core::{
    store::{self, Store},
    time::{Clock, CorrectedClock, Sleeper},
};
use jiff::SignedDuration;

use super::node_clock;

/// Whose time a process lives in.
#[derive(Clone, Default)]
pub(crate) enum Time {
    #[default]
    Machine,
    /// That of a clock with a speed. The database must have no clock of its own, which would not keep up.
    #[cfg_attr(not(feature = "lab"), expect(dead_code, reason = "the demo's time"))]
    Sped {
        /// The clock; it may run faster for a while.
        clock: Arc<SpedClock>,
        /// The speed it will have for good: what people are told, and what bounds are reckoned by.
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
