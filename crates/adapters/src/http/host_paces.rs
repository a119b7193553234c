//! Host paces with permits: a permit is released however the visit ends.
//!
//! The decisions are in `core::host_pace`; here paces are shared between tasks, and no permit is
//! forgotten: it is released when dropped, by an answer, an error or a cancelled attempt. Nodes
//! that share a database share their paces as well ([`HostPaces::sharing`]), so that a host does
//! not notice how many nodes there are.

mod shared;

use std::{
    fmt,
    sync::{Arc, Mutex},
};

use almanack_core::{
    host_pace::{self, Pace, Turn},
    time::Clock,
};
use async_trait::async_trait;
use jiff::{SignedDuration, Timestamp};
use url::Url;

use super::{Denied, HostAdmission};
use crate::locked;
pub use shared::Sharing;
use shared::{Entered, SharedHostPaces, SharedPermit};

/// When to come back while the database does not answer.
const AWAY_WAIT: SignedDuration = SignedDuration::from_secs(5);

/// The host paces of this process. Clones share them.
#[derive(Clone)]
pub struct HostPaces {
    of_process: Arc<Mutex<host_pace::HostPaces>>,
    clock: Arc<dyn Clock>,
    shared: Option<SharedHostPaces>,
}

/// Whether one may enter.
#[derive(Debug)]
pub enum Enter {
    /// Yes, for as long as the permit is kept.
    Now(Permit),
    /// Not now; come back then.
    At(Timestamp),
}

impl HostPaces {
    /// No visits yet; `clock` measures how long visits take.
    pub fn new(pace: Pace, clock: Arc<dyn Clock>) -> Self {
        Self {
            of_process: Arc::new(Mutex::new(host_pace::HostPaces::new(pace))),
            clock,
            shared: None,
        }
    }

    /// The same, and all nodes together keep to the pace. Call it inside a runtime: it starts a
    /// task there.
    pub fn sharing(pace: Pace, sharing: Sharing) -> Self {
        let clock = Arc::clone(&sharing.clock);
        Self {
            shared: Some(SharedHostPaces::open(sharing, pace)),
            ..Self::new(pace, clock)
        }
    }

    /// Asks for a permit to visit `host`. Never waits for other visits: a refused visit gets a time
    /// to come back.
    pub async fn enter(&self, host: &str, now: Timestamp) -> Enter {
        let turn = locked(&self.of_process).enter(host, now);
        if let Turn::At(turn) = turn {
            return Enter::At(turn);
        }
        // From here on, dropping the permit releases it.
        let mut permit = Permit {
            host_paces: self.clone(),
            host: host.to_owned(),
            entered_at: now,
            is_inside: true,
            of_all_nodes: None,
        };
        let Some(shared) = &self.shared else {
            return Enter::Now(permit);
        };
        match shared.enter(host).await {
            Entered::In(of_all_nodes) => {
                permit.of_all_nodes = Some(of_all_nodes);
                Enter::Now(permit)
            }
            Entered::At(until) => Enter::At(permit.turned_away(until, now)),
            Entered::Away => {
                let until = now.saturating_add(AWAY_WAIT).unwrap_or(Timestamp::MAX);
                Enter::At(permit.turned_away(until, now))
            }
        }
    }

    /// Allows no visit to `host` before `until`, because it said so (429, `Retry-After`).
    pub fn hold(&self, host: &str, until: Timestamp, now: Timestamp) {
        let until = locked(&self.of_process).hold(host, until, now);
        if let Some(shared) = &self.shared {
            shared.hold(host, until);
        }
    }

    /// One visit that begins at `now`, with a permit for each host that its redirects lead to.
    pub(crate) fn visit(&self, now: Timestamp) -> Visit {
        Visit {
            host_paces: self.clone(),
            now,
            permits: Mutex::default(),
        }
    }

    fn leave(&self, host: &str, entered_at: Timestamp) {
        let now = self.clock.now();
        locked(&self.of_process).leave(host, entered_at, now);
    }
}

impl fmt::Debug for HostPaces {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HostPaces").finish_non_exhaustive()
    }
}

/// Allows one visit to a host.
#[must_use = "dropping it ends the visit at once"]
pub struct Permit {
    host_paces: HostPaces,
    host: String,
    entered_at: Timestamp,
    is_inside: bool,
    /// The permit among all nodes, where they share limits.
    of_all_nodes: Option<SharedPermit>,
}

impl Permit {
    /// Undoes the entry; returns when to come again.
    fn turned_away(mut self, until: Timestamp, now: Timestamp) -> Timestamp {
        self.is_inside = false;
        locked(&self.host_paces.of_process).turn_away(&self.host, until, now)
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        if self.is_inside {
            self.host_paces.leave(&self.host, self.entered_at);
        }
    }
}

/// A visit to one host after the other. It keeps every permit until it ends: other visits leave a
/// redirecting host alone while the answer is under way. No visit ever waits while it holds a
/// permit, so no two can wait for each other.
pub(crate) struct Visit {
    host_paces: HostPaces,
    now: Timestamp,
    permits: Mutex<Vec<Permit>>,
}

#[async_trait]
impl HostAdmission for Visit {
    async fn pass(&self, url: &Url) -> Result<(), Denied> {
        let Some(host) = url.host_str().filter(|host| !self.has_entered(host)) else {
            return Ok(());
        };
        // Hops take time, and the pace of a host counts from when it is asked.
        let now = self.host_paces.clock.now().max(self.now);
        match self.host_paces.enter(host, now).await {
            Enter::At(until) => Err(Denied::Busy { until }),
            Enter::Now(permit) => {
                locked(&self.permits).push(permit);
                Ok(())
            }
        }
    }
}

impl Visit {
    fn has_entered(&self, host: &str) -> bool {
        locked(&self.permits)
            .iter()
            .any(|permit| permit.host == host)
    }
}

impl fmt::Debug for Permit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Permit")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Stopped(Timestamp);

    impl Clock for Stopped {
        fn now(&self) -> Timestamp {
            self.0
        }
    }

    #[tokio::test]
    async fn ss_14_a_permit_leaves_however_it_ends() {
        let now = Timestamp::from_second(1_767_600_000).unwrap();
        let host_paces = HostPaces::new(Pace::default(), Arc::new(Stopped(now)));
        let Enter::Now(permit) = host_paces.enter("a.test", now).await else {
            panic!("no node is there");
        };
        drop(permit);
        assert!(matches!(
            host_paces.enter("a.test", now).await,
            Enter::Now(_)
        ));
        let at_once = [
            host_paces.enter("a.test", now).await,
            host_paces.enter("a.test", now).await,
        ];
        assert!(matches!(at_once[0], Enter::Now(_)));
        assert!(matches!(at_once[1], Enter::At(turn) if turn > now));
    }
}
