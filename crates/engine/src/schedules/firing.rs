//! Firing by hand: now, beside the schedule, without moving its cursor.

use almanack_core::{
    plan::{NewFiring, Schedule, ScheduleName, Trigger, manual_identity},
    task::Identity,
};
use jiff::Timestamp;

use super::{Error, ROUNDS_MAX, Schedules};
use crate::planner::write_of;

/// What to do when the newest firing has not ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Overlapping {
    /// Do as the schedule's policy says.
    AsPlanned,
    /// Fire all the same.
    Forced,
}

/// A firing by hand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fired {
    /// The task that carries it.
    pub identity: Identity,
    /// For which instant.
    pub nominal_at: Timestamp,
}

impl Schedules {
    /// Fires now. The ledger and the cursor stay as they are; the task's own history tells who and when.
    pub async fn fire(
        &self,
        name: &ScheduleName,
        overlapping: Overlapping,
        by: &str,
    ) -> Result<Fired, Error> {
        for _ in 0..ROUNDS_MAX {
            let schedule = self.load(name).await?;
            let now = self.clock.now();
            if let Some(fired) = self.fire_at(&schedule, overlapping, by, now).await? {
                return Ok(fired);
            }
        }
        Err(Error::Contended { name: name.clone() })
    }

    async fn fire_at(
        &self,
        schedule: &Schedule,
        overlapping: Overlapping,
        by: &str,
        now: Timestamp,
    ) -> Result<Option<Fired>, Error> {
        let ready = self.ready(schedule)?;
        let running = self.running(schedule, &ready).await?;
        if let (Some(running), Overlapping::AsPlanned) = (&running, overlapping) {
            return Err(Error::Overlaps {
                name: schedule.name.clone(),
                running: running.identity.clone(),
            });
        }
        let identity = manual_identity(&schedule.name, now)?;
        let firing = NewFiring {
            identity: identity.clone(),
            execute_at: now,
            nominal_at: now,
            trigger: Trigger::Manual,
            caught_up: false,
        };
        let mut task = firing.task(&schedule.name, &ready)?;
        by.clone_into(&mut task.origin);
        let mut write = write_of(schedule, now);
        // One that was forced beside another ends sooner or later than it; the planned one counts.
        if running.is_none() {
            write.schedule.last = Some(identity.subject.clone());
        }
        write.fires = vec![task];
        let fired = Fired {
            identity,
            nominal_at: now,
        };
        Ok(self.write(write).await?.map(|_| fired))
    }
}
