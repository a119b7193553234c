//! What the service tells those who watch it: the demo's terminal, a test.

use super::state::State;
use crate::flaky::Fault;

/// What the service just did, for those who watch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Activity {
    Audited {
        article_id: i64,
        /// Where it stands now.
        state: State,
    },
    /// A publish call took effect.
    Published { article_id: i64 },
    /// A call from Almanack had no effect.
    WithoutEffect {
        /// Which article, if the call named one.
        article_id: i64,
        /// Why, as the answer's code.
        code: &'static str,
    },
    /// A call met an intended fault.
    Faulted {
        /// The task that called.
        task_id: i64,
        /// What was done to it.
        fault: Fault,
    },
    /// Almanack answered for events.
    EventsSettled { sent: usize, rejected: usize },
    /// Almanack did not take events; they stay and are tried again.
    AlmanackAway { reason: String },
}
