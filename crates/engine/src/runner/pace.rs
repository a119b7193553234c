//! The runner's side of rates per key: what was claimed asks for its start.

use almanack_core::{
    finish::Outcome,
    pace::PUT_OFF,
    store::{ClaimId, ClaimRequest, Claimed},
    task::ClaimedTask,
};
use jiff::Timestamp;

use super::{Shift, permits::count_by_kind};
use crate::pace::Admitted;

/// What may not start yet, and when each comes back.
pub(super) type PutOff = Vec<(ClaimedTask, Timestamp)>;

impl Shift<'_> {
    /// Separates what may start from what has to wait.
    pub(super) async fn admit(
        &mut self,
        request: &ClaimRequest,
        claimed: Claimed,
    ) -> (Claimed, PutOff) {
        let settings = self.settings.get();
        if claimed.tasks.is_empty() || !settings.paces.is_keyed() {
            return (claimed, Vec::new());
        }
        let (ports, now) = (self.ports, request.now);
        let asking = settings
            .paces
            .admit(ports.store.as_ref(), claimed.tasks, now);
        let Admitted { start, put_off } = self.watching(Box::pin(asking)).await;
        let tasks = start;
        (Claimed { tasks, ..claimed }, put_off)
    }

    /// Ends tasks untried, to come back at their times.
    pub(super) fn put_off(&mut self, claim_id: ClaimId, tasks: PutOff) {
        for (kind, count) in count_by_kind(tasks.iter().map(|(task, _)| task)) {
            self.holdings.permits.give_back(&kind, count);
        }
        let ends = tasks.into_iter().map(|(task, at)| {
            let why = PUT_OFF;
            (task, Outcome::NotNow { at, why })
        });
        self.running.end_untried(claim_id, ends);
    }
}
