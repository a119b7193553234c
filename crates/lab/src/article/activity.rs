//! What the service reports to its watchers: the demo, a test.

use super::state::State;
use crate::flaky::Fault;

/// Something the service did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Activity {
    Audited {
        article_id: i64,
        /// Its new state.
        state: State,
    },
    /// A publish call took effect.
    Published { article_id: i64 },
    /// A call from Almanack had no effect.
    WithoutEffect {
        /// The article, if the call named one.
        article_id: i64,
        /// The code of the response.
        code: &'static str,
    },
    /// A call hit an injected fault.
    Faulted {
        /// The task that called.
        task_id: i64,
        /// The injected fault.
        fault: Fault,
    },
    /// Almanack answered for these events.
    EventsSettled { sent: usize, rejected: usize },
    /// Almanack did not accept events; they stay and are retried.
    AlmanackAway { reason: String },
}
