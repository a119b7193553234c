//! Callers: each sort of caller has its own readers (ADR 0029).
//!
//! A heartbeat that waits behind a client's list is a lost lease, and a list costs a client that
//! asks for it nothing. So a store is opened once and handed out three times, and no handle reads
//! with what belongs to another:
//!
//! - **work**: the duties of a node. No client ever waits in this line.
//! - **changes**: clients that want something changed, with what must be looked up first: a token,
//!   a task, a schedule, each by its key.
//! - **pages**: readers. Lists, searches, histories, dashboards.
//!
//! Only pages are held short: so many may wait ([`Room`]), a statement may take so long
//! ([`READ_WITHIN`]), and what no client waits for any more is stopped. All three write alike.

use std::{sync::Arc, time::Duration};

use almanack_core::store::{Error, Result};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::unavailable;

/// Pages that may be read at once, those that wait for a reader included. A dashboard asks for one
/// thing after another, so this many people look at the same time.
const ROOM: usize = 128;
/// How long a statement for a page may take. Each is bounded in what it examines and takes
/// milliseconds; more means that the database is not well, and then pages are the last thing it
/// needs.
pub(crate) const READ_WITHIN: Duration = Duration::from_secs(10);

/// Whose readers a handle takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Caller {
    Work,
    Changes,
    Pages,
}

impl Caller {
    /// The name used in metrics.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Work => "work",
            Self::Changes => "changes",
            Self::Pages => "pages",
        }
    }
}

/// Where requests for a page wait; a request that finds it full is refused.
#[derive(Clone)]
pub(crate) struct Room(Arc<Semaphore>);

/// A seat in the room, returned on drop.
pub(crate) type Seat = Option<OwnedSemaphorePermit>;

impl Room {
    pub(crate) fn new() -> Self {
        Self(Arc::new(Semaphore::new(ROOM)))
    }

    /// A seat, for callers that need one.
    pub(crate) fn enter(&self, caller: Caller) -> Result<Seat> {
        if caller != Caller::Pages {
            return Ok(None);
        }
        let seat = Arc::clone(&self.0).try_acquire_owned();
        seat.map(Some).map_err(|_| Error::Busy)
    }
}

/// Why a page is not answered that took too long.
pub(crate) fn took_too_long(statement: &'static str) -> Error {
    let seconds = READ_WITHIN.as_secs();
    unavailable(statement, format!("a page took longer than {seconds} s"))
}
