//! Moves of tasks that were found waiting.

use almanack_core::{
    reschedule::{Put, Refused, Request, decide},
    reserved::is_reserved,
    store::Applied,
    task::{Identity, Task},
};
use jiff::Timestamp;

use super::{Error, Rescheduler};
use crate::current::load_each;

/// What became of tasks that were to be moved.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Moved {
    pub(crate) moved: u64,
    /// They would expire at their new time or before.
    pub(crate) refused: u64,
}

impl Rescheduler {
    /// Moves those of `identities` that still wait to the times that `moved` names, by the rules of
    /// any request; answers how many it moved. One that changes meanwhile is left alone and is not
    /// decided again: what was just withdrawn would be inserted anew.
    pub(crate) async fn move_waiting(
        &self,
        identities: &[Identity],
        origin: &str,
        moved: impl Fn(&Task) -> Option<Timestamp> + Send,
    ) -> Result<Moved, Error> {
        let rows = load_each(&*self.store, identities).await?;
        let now = self.clock.now();
        let (mut changes, mut refused) = (Vec::new(), 0);
        for task in rows.into_iter().filter_map(|row| row.ok().flatten()) {
            let waits = task.due_at.is_some() && !is_reserved(&task.identity.kind);
            let Some(execute_at) = moved(&task).filter(|_| waits) else {
                continue;
            };
            let put = Put::at(task.identity.clone(), execute_at);
            match decide(Some(&task), &Request::Put(put), origin, now) {
                Ok(change) => changes.push(change),
                Err(Refused::Expired { .. }) => refused += 1,
                Err(Refused::NothingThere(_)) => {}
            }
        }
        let applied = self.store.apply(changes).await?;
        let applied = applied.iter().filter(|it| !matches!(it, Applied::Lost));
        Ok(Moved {
            moved: u64::try_from(applied.count()).unwrap_or(u64::MAX),
            refused,
        })
    }
}
