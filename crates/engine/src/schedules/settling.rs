//! Settling: everything due by now is decided by what the schedule was, before it changes.

use almanack_core::plan::{
    Look, Overlap, Plan, Ready, Schedule, ScheduleWrite, append_rows, settle,
};
use jiff::Timestamp;

use super::{Error, HeardOf, Schedules, look};
use crate::planner::{note_fires, write_of, write_plan};

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
        let (found, takes_back) = self.in_the_present(found, &ready, now).await?;
        let heard = self.heard(&found).await?;
        let write = gathered(&found, &ready, &heard, now, |look| {
            let plan = settle(look);
            let more = plan.is_partial(now) || plan.resumes;
            (plan, more)
        })?;
        Ok(ScheduleWrite {
            takes_back,
            ..write
        })
    }

    /// The last slot before the cursor. It may lie ahead of us if a node whose clock is faster
    /// decided it; deciding it again would have its firing give way to itself.
    pub(super) fn decided_to(&self, schedule: &Schedule) -> Option<Timestamp> {
        let ready = self.ready(schedule).ok()?;
        ready.previous_before(schedule.next_at?)
    }
}

/// Looks as often as `step` says that there is more, and gathers what was decided into one write.
/// Every look moves the cursor, so this ends, however long the schedule slept or was paused.
pub(super) fn gathered(
    found: &Schedule,
    ready: &Ready,
    heard: &HeardOf,
    now: Timestamp,
    step: impl Fn(Look<'_>) -> (Plan, bool),
) -> Result<ScheduleWrite, Error> {
    let running = &heard.running;
    let apart = ready.definition.overlap != Overlap::Allow;
    let mut seen = found.clone();
    let mut whole = write_of(found, now);
    loop {
        let mut look = look(&seen, ready, heard, now);
        let monitor = whole.monitor.as_ref().map(|write| &write.monitor);
        look.monitor = monitor.or(look.monitor);
        // What the end of a pause has just fired is running for the slots after it.
        if let Some(fired) = whole.fires.last().filter(|_| apart) {
            look.running = Some(fired.identity.subject.as_str());
        }
        let (plan, more) = step(look);
        let part = write_plan(&seen, ready, &plan, running, now)?;
        seen = Schedule {
            revision: found.revision,
            version: found.version,
            ..part.schedule
        };
        append_rows(&mut whole.slots, part.slots);
        whole.monitor = match (part.monitor, whole.monitor) {
            (Some(later), earlier) => Some(later.after(earlier)),
            (None, earlier) => earlier,
        };
        whole.fires.extend(part.fires);
        if whole.cancels.is_empty() {
            whole.cancels = part.cancels;
        }
        if !more {
            break;
        }
    }
    whole.schedule = Schedule {
        version: found.version + 1,
        ..seen
    };
    // What the end of a pause fired goes on beside what came after it.
    note_fires(&mut whole, running);
    Ok(whole)
}
