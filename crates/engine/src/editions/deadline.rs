//! When the edition of a day is expected, and when it has to begin for that (ED-38).

use almanack_core::{
    edition::{
        EditionId,
        day::start_of,
        deadline::{self, LEARNT_FROM},
    },
    store::EditionFilter,
};
use jiff::Timestamp;

use super::{Editions, Error};

impl Editions {
    /// When readers expect the edition of a day; none where they do not, or not any more: one that
    /// begins after its time is not hurried.
    pub(super) fn due_at(&self, id: EditionId) -> Option<Timestamp> {
        let (ready_by, zone) = (self.settings.ready_by?, &self.settings.zone);
        let due_at = deadline::due_at(id.date, ready_by, zone);
        due_at.filter(|due_at| *due_at > self.clock.now())
    }

    /// When the edition of a day begins, if it has not begun and it is not time yet.
    pub(super) async fn begins_at(&self, id: EditionId) -> Result<Option<Timestamp>, Error> {
        let Some(due_at) = self.due_at(id) else {
            return Ok(None);
        };
        if self.store.load_account(id).await?.is_some() {
            return Ok(None);
        }
        let past = EditionFilter {
            published: true,
            name: Some(id.name),
            before: Some(id.date),
            limit: LEARNT_FROM,
            ..EditionFilter::default()
        };
        let past = self.store.list_editions(&past).await?;
        let past: Vec<_> = past.into_iter().map(|line| line.edition).collect();
        let start_at = deadline::start_at(due_at, &past, &self.settings.rules);
        let start_at = start_at.max(start_of(id.date, &self.settings.zone));
        Ok(Some(start_at).filter(|at| *at > self.clock.now()))
    }
}
