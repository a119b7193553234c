//! Pings: what jobs that others run say about themselves (DP-23).
//!
//! A ping is a write like every other: what was due by then is settled first, then the ping is
//! heard, in one compare-and-set of the schedule's row. A node that misses the slot in the same
//! moment writes the same row; whoever is second reads and decides again. What was answered is
//! stored.

use almanack_core::{
    plan::{Arrival, Edited, Monitor, MonitorStatus, Ready, Schedule, ScheduleName, State, hear},
    store::{MonitorKey, MonitorKeys},
    time::Entropy,
};
use jiff::Timestamp;

use super::{Error, ROUNDS_MAX, Schedules, edited, settling::gathered};

/// A monitor with what was heard of its job.
#[derive(Debug, Clone)]
pub struct Watched {
    pub schedule: Schedule,
    pub monitor: Monitor,
    pub status: MonitorStatus,
    /// When a ping is expected next; `None` while none is.
    pub expected_at: Option<Timestamp>,
    /// When that ping is missing.
    pub missing_at: Option<Timestamp>,
}

impl Schedules {
    /// Hears a ping under a key. `None` if no monitor has it.
    pub async fn ping(
        &self,
        key: &MonitorKey,
        arrival: &Arrival,
    ) -> Result<Option<ScheduleName>, Error> {
        let Some(name) = self.store.find_monitor(key).await? else {
            return Ok(None);
        };
        for _ in 0..ROUNDS_MAX {
            let found = self.load_any(&name).await?;
            let Some((found, ready)) = found.and_then(|found| self.monitored(found)) else {
                return Ok(None);
            };
            let heard = self.heard(&found).await?;
            let now = self.clock.now();
            // A pause stays what it is: only who paused ends it, or its own end.
            let mut write = gathered(&found, &ready, &heard, now, |look| {
                let heard = hear(look, arrival);
                (heard.plan, heard.is_partial)
            })?;
            if found.state != State::Active && write.schedule.state == State::Active {
                write = edited(write, Edited::Resumed, "planner", now);
            }
            if self.write(write).await?.is_some() {
                return Ok(Some(name));
            }
        }
        Err(Error::Contended { name })
    }

    /// What is known of a monitor; `None` if the schedule is none.
    pub async fn watched(&self, schedule: Schedule) -> Result<Option<Watched>, Error> {
        let Some((schedule, ready)) = self.monitored(schedule) else {
            return Ok(None);
        };
        let monitor = self.heard(&schedule).await?.monitor.unwrap_or_default();
        let status = monitor.status(&schedule, &ready, self.clock.now());
        let waits = schedule.state == State::Active && monitor.last_ping_at.is_some();
        let expected_at = schedule.next_at.filter(|_| waits);
        Ok(Some(Watched {
            missing_at: expected_at.map(|slot| ready.deadline(slot)),
            schedule,
            monitor,
            status,
            expected_at,
        }))
    }

    /// The schedule and its rule, if it is a monitor and has not been removed.
    fn monitored(&self, schedule: Schedule) -> Option<(Schedule, Ready)> {
        let ready = self.ready(&schedule).ok()?;
        let watched = ready.is_monitor() && !matches!(schedule.state, State::Removed { .. });
        watched.then_some((schedule, ready))
    }

    /// Gives a monitor a key, in place of the one it has. `false` if it is another's.
    pub async fn save_keys(&self, schedule: &Schedule, keys: &MonitorKeys) -> Result<bool, Error> {
        Ok(self.store.save_monitor_keys(schedule.id, keys).await?)
    }
}

/// 122 random bits, written as a UUID: what tools that ping know how to keep.
pub fn new_key(entropy: &dyn Entropy) -> String {
    let (high, low) = (entropy.next_u64(), entropy.next_u64());
    let hex = format!("{high:016x}{low:016x}");
    let variant = char::from_digit(8 + (low >> 60 & 3) as u32, 16).unwrap_or('8');
    format!(
        "{}-{}-4{}-{variant}{}-{}",
        &hex[..8],
        &hex[8..12],
        &hex[13..16],
        &hex[17..20],
        &hex[20..]
    )
}
