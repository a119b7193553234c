//! Back to the present: schedules that a clock had planned ahead of their time (DP-24).

use almanack_core::plan::{
    Edited, Ready, Rewound, Schedule, ScheduleName, ScheduleWrite, is_ahead, rewind,
};
use jiff::Timestamp;

use super::{Changed, Error, Schedules, edited, error::REWOUND};
use crate::planner::write_of;

impl Schedules {
    /// Whether a clock had planned it ahead of its time.
    pub fn is_ahead(&self, schedule: &Schedule) -> bool {
        let ready = self.ready(schedule);
        ready.is_ok_and(|ready| is_ahead(schedule, &ready, self.clock.now()))
    }

    /// Takes a schedule back to the present that a clock had planned ahead; nothing if none had.
    pub async fn rewind(&self, name: &ScheduleName, by: &str) -> Result<Changed, Error> {
        self.change(name, REWOUND, |found, now| {
            Box::pin(self.rewound(found, by, now))
        })
        .await
    }

    async fn rewound(
        &self,
        found: Schedule,
        by: &str,
        now: Timestamp,
    ) -> Result<Option<(ScheduleWrite, Edited)>, Error> {
        let ready = self.ready(&found)?;
        let (found, takes_back) = self.in_the_present(&found, &ready, now).await?;
        if takes_back.is_none() {
            return Ok(None);
        }
        let write = ScheduleWrite {
            takes_back,
            ..write_of(&found, now)
        };
        let what = Edited::Rewound;
        Ok(Some((edited(write, what, by, now), what)))
    }

    /// The schedule with its cursor in the present, and from which slot on its ledger is to be
    /// taken back for that. A caller that changes a schedule that a clock had planned far ahead
    /// means it to go on from now.
    pub(super) async fn in_the_present(
        &self,
        found: &Schedule,
        ready: &Ready,
        now: Timestamp,
    ) -> Result<(Schedule, Option<Timestamp>), Error> {
        if !is_ahead(found, ready, now) {
            return Ok((found.clone(), None));
        }
        let newest = self.row_before(found, now).await?;
        Ok(match rewind(found, ready, newest.as_ref(), now) {
            Some(Rewound { schedule, from }) => (schedule, Some(from)),
            None => (found.clone(), None),
        })
    }

    /// A write of a removed schedule that changes nothing but a cursor that was ahead.
    pub(super) async fn removed_in_the_present(
        &self,
        found: &Schedule,
        now: Timestamp,
    ) -> Result<ScheduleWrite, Error> {
        let Ok(ready) = self.ready(found) else {
            return Ok(write_of(found, now));
        };
        let (found, takes_back) = self.in_the_present(found, &ready, now).await?;
        Ok(ScheduleWrite {
            takes_back,
            ..write_of(&found, now)
        })
    }
}
