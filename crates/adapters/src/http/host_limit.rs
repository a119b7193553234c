//! Host limits with permits: a permit is released however the call ends.
//!
//! The decisions are in `core::host_limit`. One limiter serves all callers of a node, so that a
//! host that hangs has one share of all calls.

use std::sync::{Arc, Mutex};

use almanack_core::{
    host_limit::{Called, HostLimits},
    host_pace::Turn,
    time::Clock,
};
use jiff::Timestamp;
use url::Url;

use crate::locked;

/// The limits of one node. Clones are the same limits.
#[derive(Debug, Clone)]
pub struct HostLimiter(Arc<Mutex<HostLimits>>);

impl HostLimiter {
    /// At most `calls_max` calls to one host at once.
    pub fn new(calls_max: usize) -> Self {
        Self(Arc::new(Mutex::new(HostLimits::new(calls_max))))
    }

    /// Asks to call `url`; an error says when to come again. An invalid address passes: the call
    /// itself reports what is wrong with it.
    pub(crate) fn enter(&self, url: &str, clock: &Arc<dyn Clock>) -> Result<Permit, Timestamp> {
        let now = clock.now();
        let host = Url::parse(url).ok().and_then(|url| {
            let host = url.host_str()?.to_owned();
            Some(format!("{host}:{}", url.port_or_known_default()?))
        });
        if let Some(host) = &host
            && let Turn::At(at) = locked(&self.0).enter(host, now)
        {
            return Err(at);
        }
        Ok(Permit {
            limiter: self.clone(),
            clock: Arc::clone(clock),
            host,
            began_at: now,
            called: Called::Unanswered,
        })
    }
}

/// One call under way.
pub(crate) struct Permit {
    limiter: HostLimiter,
    clock: Arc<dyn Clock>,
    host: Option<String>,
    began_at: Timestamp,
    called: Called,
}

impl Permit {
    /// The host has answered.
    pub(crate) fn answered(&mut self) {
        self.called = Called::Answered;
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        if let Some(host) = &self.host {
            let now = self.clock.now();
            let mut limits = locked(&self.limiter.0);
            limits.leave(host, self.began_at, now, self.called);
        }
    }
}
