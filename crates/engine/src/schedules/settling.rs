//! Settling: everything due by now is decided by what the schedule was, before it changes.

use almanack_core::plan::{Overlap, Schedule, ScheduleWrite, settle};
use jiff::Timestamp;

use super::{Error, Schedules, look};
use crate::planner::{write_of, write_plan};

/// Looks that settling a long gap may take.
const SETTLE_MAX: usize = 10_000;

impl Schedules {
    /// A write that decides everything due by `now` and changes nothing else yet.
    pub(super) async fn settled(
        &self,
        found: &Schedule,
        now: Timestamp,
    ) -> Result<ScheduleWrite, Error> {
        let Ok(ready) = self.ready(found) else {
            // What cannot be computed has no slots to settle.
            return Ok(write_of(found, now));
        };
        let running = self.running(found, &ready).await?;
        let apart = ready.definition.overlap != Overlap::Allow;
        let mut seen = found.clone();
        let mut whole = write_of(found, now);
        for _ in 0..SETTLE_MAX {
            let mut look = look(&seen, &ready, running.as_ref(), now);
            // What the end of a pause has just fired is running for the slots after it.
            if let Some(fired) = whole.fires.last().filter(|_| apart) {
                look.running = Some(fired.identity.subject.as_str());
            }
            let plan = settle(look);
            let more = plan.is_partial(now) || plan.resumes;
            let part = write_plan(&seen, &ready, &plan, running.as_ref(), now)?;
            seen = Schedule {
                revision: found.revision,
                version: found.version,
                ..part.schedule
            };
            whole.slots.extend(part.slots);
            whole.fires.extend(part.fires);
            whole.cancel = whole.cancel.or(part.cancel);
            if !more {
                break;
            }
        }
        whole.schedule = Schedule {
            version: found.version + 1,
            ..seen
        };
        Ok(whole)
    }

    /// The last slot before the cursor. It may lie ahead of us if a node whose clock is faster decided it;
    /// deciding it again would have its firing give way to itself.
    pub(super) fn decided_to(&self, schedule: &Schedule) -> Option<Timestamp> {
        let ready = self.ready(schedule).ok()?;
        ready.previous_before(schedule.next_at?)
    }
}
