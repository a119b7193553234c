//! Moves of tasks that were found waiting.

use almanack_core::{
    reschedule::{Put, Request, decide},
    reserved::is_reserved,
    store::Applied,
    task::{Identity, Task},
};
use jiff::Timestamp;

use super::{Error, Rescheduler};
use crate::current::load_each;

impl Rescheduler {
    /// Moves those of `identities` that still wait to the times that `moved` names, by the rules of
    /// any request; answers how many it moved. One that changes meanwhile is left alone and is not
    /// decided again: what was just withdrawn would be inserted anew.
    pub(crate) async fn move_waiting(
        &self,
        identities: &[Identity],
        origin: &str,
        moved: impl Fn(&Task) -> Option<Timestamp> + Send,
    ) -> Result<u64, Error> {
        let rows = load_each(&*self.store, identities).await?;
        let now = self.clock.now();
        let changes = rows.into_iter().filter_map(|row| {
            let task = row.ok().flatten()?;
            let waits = task.due_at.is_some() && !is_reserved(&task.identity.kind);
            let put = Put::at(task.identity.clone(), moved(&task).filter(|_| waits)?);
            decide(Some(&task), &Request::Put(put), origin, now).ok()
        });
        let changes = changes.collect();
        let applied = self.store.apply(changes).await?;
        let applied = applied.iter().filter(|it| !matches!(it, Applied::Lost));
        Ok(u64::try_from(applied.count()).unwrap_or(u64::MAX))
    }
}
