//! A calendar has changed: the schedules that use it go on by what it is now.
//!
//! What is decided stays decided; only the cursor moves: a slot that the new days move to an
//! earlier time must be looked at before the one that was next.

use almanack_core::plan::{Definition, Schedule, ScheduleName, ScheduleWrite, State};
use jiff::Timestamp;

use super::{Error, Schedules, activate};
use crate::planner::{end, write_of};

/// Schedules found at once.
const PAGE: usize = 500;

impl Schedules {
    /// Plans all schedules by a calendar anew that use it; returns how many there are.
    pub async fn replan_by(&self, calendar: &str) -> Result<usize, Error> {
        self.refresh().await?;
        let mut replanned = 0;
        for name in self.using(calendar).await? {
            match self.replan(&name).await {
                Ok(()) => replanned += 1,
                // Removed meanwhile, or it cannot be computed: the planner parks it.
                Err(Error::Unknown { .. } | Error::Unfit(_)) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(replanned)
    }

    /// The schedules that use a calendar, by name.
    pub async fn using(&self, calendar: &str) -> Result<Vec<ScheduleName>, Error> {
        let mut using = Vec::new();
        let mut after = None;
        loop {
            let store = &self.store;
            let page = store.load_schedules_naming(calendar, after, PAGE).await?;
            let uses = |it: &Definition| it.calendars().any(|name| name == calendar);
            let found = store.load_schedules(&page).await?;
            for schedule in found.into_iter().flatten() {
                if schedule.definition.read().is_ok_and(uses) {
                    using.push(schedule.name);
                }
            }
            let full = page.len() == PAGE;
            after = page.last().cloned().filter(|_| full);
            if after.is_none() {
                return Ok(using);
            }
        }
    }

    async fn replan(&self, name: &ScheduleName) -> Result<(), Error> {
        for _ in 0..super::ROUNDS_MAX {
            let found = self.load(name).await?;
            let now = self.clock.now();
            let Some(write) = self.replanned(&found, now).await? else {
                return Ok(());
            };
            if self.write(write).await?.is_some() {
                return Ok(());
            }
        }
        Err(Error::Contended { name: name.clone() })
    }

    /// The write that goes on by the days as they are now; none if nothing is to change.
    async fn replanned(
        &self,
        found: &Schedule,
        now: Timestamp,
    ) -> Result<Option<ScheduleWrite>, Error> {
        match found.state {
            // The planner looks whether it can be computed.
            State::Parked { .. } => {
                let mut write = write_of(found, now);
                write.schedule.look_at = Some(now);
                return Ok(Some(write));
            }
            State::Active => {}
            // Nothing is due, or what is due is decided when the pause ends.
            State::Paused(_) | State::Removed { .. } | State::Done { .. } => return Ok(None),
        }
        if found.waits_since.is_some() {
            return Ok(None);
        }
        let mut write = write_of(found, now);
        let after = &mut write.schedule;
        if found.next_at.is_some_and(|next| next <= now) {
            // What is due is decided from the cursor on, by the days as they are now.
            after.look_at = Some(now);
            return Ok(Some(write));
        }
        let ready = self.ready(found)?;
        // A node whose clock is faster may have decided a slot that is yet to come for us.
        let newest = self.row_before(found, Timestamp::MAX).await?;
        let seam = newest.map_or(now, |row| row.last_at.max(now));
        after.next_at = ready.next_run_after(seam, after.runs);
        if after.next_at.is_some() {
            activate(after, &ready, now);
        } else {
            end(&mut write, &ready, now);
        }
        Ok(Some(write))
    }
}
