//! Reading accounts and writing turns.

use almanack_core::{
    edition::{Account, EditionId, account::Change},
    store::EditionWritten,
};
use jiff::Timestamp;

use super::{Editions, Error};

/// How often a lost race is decided again. Destinations are delivered to side by side and all write
/// to one edition, so a few in a row are nothing.
const ROUNDS_MAX: usize = 50;

impl Editions {
    /// An edition with all its rows; none of another name, which has other settings.
    pub async fn account(&self, id: EditionId) -> Result<Account, Error> {
        if id.name != self.settings.name {
            return Err(Error::Unknown(id));
        }
        let found = self.store.load_account(id).await?;
        found.ok_or(Error::Unknown(id))
    }

    /// Writes a turn that was decided on `account`. `None` if another run was faster.
    pub(super) async fn write(
        &self,
        account: &Account,
        mut change: Change,
    ) -> Result<Option<Account>, Error> {
        change.event_tasks = self.subscriptions.get().of_edition(account, &change);
        match self.store.write_edition(change.clone()).await? {
            EditionWritten::Lost => Ok(None),
            EditionWritten::Done => {
                say(account, &change);
                Ok(Some(change.apply(account.clone())))
            }
        }
    }

    /// Decides on the account as it is and writes that; decides again whenever another run was
    /// faster. `None` if there was nothing to write.
    pub(super) async fn turn<T>(
        &self,
        id: EditionId,
        mut decide: impl FnMut(&Account, Timestamp) -> Option<(Change, T)> + Send,
    ) -> Result<Option<(Account, T)>, Error> {
        for _ in 0..ROUNDS_MAX {
            let account = self.account(id).await?;
            let Some((change, value)) = decide(&account, self.clock.now()) else {
                return Ok(None);
            };
            if let Some(account) = self.write(&account, change).await? {
                return Ok(Some((account, value)));
            }
        }
        Err(Error::Contended(id))
    }
}

/// Says in the log and the metrics that an edition moved on: once, because it is written once.
fn say(before: &Account, change: &Change) {
    let id = before.edition.id;
    let (from, to) = (before.edition.state, change.edition.state);
    if from != to {
        tracing::info!(edition.id = %id, edition.from = %from, edition.state = %to, "edition state changed");
        metrics::counter!("almanack_edition_transitions_total", "state" => to.as_str())
            .increment(1);
    }
}
