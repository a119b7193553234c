//! Firing by hand: now, beside the schedule, without moving its cursor.

use almanack_core::{
    plan::{BESIDE_MAX, NewFiring, Ready, Schedule, ScheduleName, Trigger, manual_identity},
    task::{Identity, Task},
};
use jiff::Timestamp;

use super::{Error, ROUNDS_MAX, Schedules, error::Words};
use crate::planner::{in_the_way, note_fires, write_of};

/// What to do when a firing has not ended.
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
    pub nominal_at: Timestamp,
}

impl Schedules {
    /// Fires now. The ledger and the cursor stay as they are; the task's own history records who
    /// and when.
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
        let running = self.running(schedule).await?;
        check(schedule, &ready, overlapping, &running)?;
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
        write.fires = vec![task];
        note_fires(&mut write, &running);
        let fired = Fired {
            identity,
            nominal_at: now,
        };
        Ok(self.write(write).await?.map(|_| fired))
    }
}

/// A monitor has nothing to fire.
pub(super) fn refuse_monitor(
    schedule: &Schedule,
    ready: &Ready,
    request: Words,
) -> Result<(), Error> {
    if !ready.is_monitor() {
        return Ok(());
    }
    Err(Error::NotNow {
        name: schedule.name.clone(),
        state: ("a monitor, which runs nothing", "是监控，不运行任何工作"),
        request,
    })
}

/// Whether it may fire beside what runs. Forced, too, it stays within what can be remembered: what
/// is forgotten while it runs would be overlapped by the next slot.
fn check(
    schedule: &Schedule,
    ready: &Ready,
    overlapping: Overlapping,
    running: &[Task],
) -> Result<(), Error> {
    let name = || schedule.name.clone();
    refuse_monitor(schedule, ready, ("fired", "触发"))?;
    match (in_the_way(ready, running), overlapping) {
        (Some(task), Overlapping::AsPlanned) => Err(Error::Overlaps {
            name: name(),
            running: task.identity.clone(),
        }),
        (Some(_), Overlapping::Forced) if running.len() > BESIDE_MAX => Err(Error::NotNow {
            name: name(),
            state: ("running too many firings at once", "同时运行的触发过多"),
            request: ("fired", "触发"),
        }),
        _ => Ok(()),
    }
}
