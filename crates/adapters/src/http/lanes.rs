//! Lanes with permits: whoever was let in leaves, however the visit ends.
//!
//! What lanes decide is in `core::lane`; here they are shared between tasks, and leaving cannot be
//! forgotten: a permit leaves when it is dropped, by an answer, an error or a cancelled attempt.

use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

use almanack_core::{
    lane::{self, Pace, Turn},
    time::Clock,
};
use jiff::Timestamp;

use super::Gate;

/// The lanes of this process. Clones are the same lanes.
#[derive(Clone)]
pub struct Lanes {
    lanes: Arc<Mutex<lane::Lanes>>,
    clock: Arc<dyn Clock>,
}

/// Whether one may enter.
#[derive(Debug)]
pub enum Enter {
    /// Yes, for as long as the permit is kept.
    Now(Permit),
    /// Not now; come back then.
    At(Timestamp),
}

impl Lanes {
    /// Empty lanes; `clock` tells how long visits take.
    pub fn new(pace: Pace, clock: Arc<dyn Clock>) -> Self {
        let lanes = Arc::new(Mutex::new(lane::Lanes::new(pace)));
        Self { lanes, clock }
    }

    /// Asks to enter the lane of `host`. Never waits: who is sent away has a turn of their own.
    pub fn enter(&self, host: &str, now: Timestamp) -> Enter {
        let mut lanes = self.lanes.lock().unwrap_or_else(PoisonError::into_inner);
        match lanes.enter(host, now) {
            Turn::At(turn) => Enter::At(turn),
            Turn::Now => Enter::Now(Permit {
                lanes: self.clone(),
                host: host.to_owned(),
                entered_at: now,
            }),
        }
    }

    /// Nobody enters the lane of `host` before `until`: it said so (429, `Retry-After`).
    pub fn hold(&self, host: &str, until: Timestamp, now: Timestamp) {
        let mut lanes = self.lanes.lock().unwrap_or_else(PoisonError::into_inner);
        lanes.hold(host, until, now);
    }

    /// One visit that begins at `now`, with as many lanes as its redirects need.
    pub(crate) fn visit(&self, now: Timestamp) -> Visit {
        Visit {
            lanes: self.clone(),
            now,
            permits: Mutex::default(),
        }
    }

    fn leave(&self, host: &str, entered_at: Timestamp) {
        let now = self.clock.now();
        let mut lanes = self.lanes.lock().unwrap_or_else(PoisonError::into_inner);
        lanes.leave(host, entered_at, now);
    }
}

impl fmt::Debug for Lanes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lanes").finish_non_exhaustive()
    }
}

/// A place in a lane.
#[must_use = "dropping it leaves the lane at once"]
pub struct Permit {
    lanes: Lanes,
    host: String,
    entered_at: Timestamp,
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.lanes.leave(&self.host, self.entered_at);
    }
}

/// A visit to one host after the other. It stays in every lane that it entered until it ends: who redirected is not asked by others
/// while the answer is under way, and nobody ever waits inside, so no two visits can wait for each other.
pub(crate) struct Visit {
    lanes: Lanes,
    now: Timestamp,
    permits: Mutex<Vec<Permit>>,
}

impl Gate for Visit {
    fn pass(&self, host: &str) -> Result<(), Timestamp> {
        let mut permits = self.permits.lock().unwrap_or_else(PoisonError::into_inner);
        if permits.iter().any(|permit| permit.host == host) {
            return Ok(());
        }
        // Hops take time, and the pace of a host counts from when it is asked.
        let now = self.lanes.clock.now().max(self.now);
        match self.lanes.enter(host, now) {
            Enter::At(at) => Err(at),
            Enter::Now(permit) => {
                permits.push(permit);
                Ok(())
            }
        }
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

    #[test]
    fn ss_14_a_permit_leaves_however_it_ends() {
        let now = Timestamp::from_second(1_767_600_000).unwrap();
        let lanes = Lanes::new(Pace::default(), Arc::new(Stopped(now)));
        let Enter::Now(permit) = lanes.enter("a.test", now) else {
            panic!("nobody is there");
        };
        drop(permit);
        assert!(matches!(lanes.enter("a.test", now), Enter::Now(_)));
        let at_once = [lanes.enter("a.test", now), lanes.enter("a.test", now)];
        assert!(matches!(at_once[0], Enter::Now(_)));
        assert!(matches!(at_once[1], Enter::At(turn) if turn > now));
    }
}
