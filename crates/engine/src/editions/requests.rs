//! What people want of editions: queue one, publish what there is, put failed stories back, begin
//! anew.

use std::sync::Arc;

use almanack_core::{
    budget::Budget,
    edition::{
        Account, EditionId, State,
        account::Change,
        day::FIRST_DAY,
        plan::{Action, Requester, plan},
        turn::{self, Chosen, Day, NotNow},
    },
    reschedule::{Put, Receipt, Request},
    task::MAX_RETRY_MAX,
};
use jiff::Timestamp;

use super::{Editions, Error, quality::Gate};

/// How often to decide again after another run was faster with a document.
const ROUNDS_MAX: usize = 10;
/// Most passes over the destinations when publishing by force: send, settle, send again, publish.
const PASSES_MAX: usize = 6;

/// Shared texts that a reset deletes at most: more than editions keep in two days.
const SHARED_MAX: usize = 100_000;

/// What became of a request for an edition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Requested {
    /// The edition as it is now.
    pub account: Account,
    /// What was queued; nothing if it rests already.
    pub receipt: Option<Receipt>,
}

/// What became of publishing by force.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Forced {
    /// The edition as it is now: `published`, or `aggregating` while a destination does not take
    /// it.
    pub account: Account,
    /// Stories that were left out.
    pub left_out: u32,
    /// Requests that were spent.
    pub requests: u32,
}

/// What became of putting failed stories back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Retried {
    /// The edition as it is now.
    pub account: Account,
    /// Stories that were put back.
    pub stories: u32,
}

/// What became of a decision about deliveries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redelivered {
    /// The edition as it is now.
    pub account: Account,
    /// The parts that it was about; none if they were so already.
    pub parts: Vec<u32>,
}

impl Editions {
    /// The edition that is meant: today's unless another is named, and none that has not come.
    pub fn day(&self, id: Option<EditionId>) -> Result<EditionId, Error> {
        let today = self.today();
        match id {
            Some(id) if id.name != today.name => Err(Error::Unknown(id)),
            Some(id) if id.date < FIRST_DAY => Err(Error::TooEarly(id)),
            Some(id) if id.date > today.date => Err(Error::Future { id, today }),
            Some(id) => Ok(id),
            None => Ok(today),
        }
    }

    /// The edition of a day, created or taken up again if need be: what a person asks for is worked
    /// on.
    pub async fn take_up(&self, id: EditionId) -> Result<Account, Error> {
        let id = self.day(Some(id))?;
        self.open(id).await?;
        let is_over = id.date < self.today().date;
        let reopened = |account: &Account, now| {
            let asked = plan(account, Requester::Person, &self.settings.rules, now);
            let change = match asked {
                Action::Reopen => turn::reopen(account, now),
                _ if is_over && account.edition.state.is_open() => turn::keep_open(account, now),
                _ => None,
            };
            Some((change?, ()))
        };
        match self.turn(id, reopened).await? {
            Some((account, ())) => Ok(account),
            None => self.account(id).await.and_then(not_pruned),
        }
    }

    /// Queues an edition to be built to its end (ED-22).
    pub async fn request(&self, id: EditionId, by: &str) -> Result<Requested, Error> {
        let account = self.take_up(id).await?;
        if !account.edition.state.is_open() {
            return Ok(Requested {
                account,
                receipt: None,
            });
        }
        let put = Put {
            max_retry: Some(MAX_RETRY_MAX),
            ..Put::at(account.edition.run_identity()?, self.clock.now())
        };
        let receipt = self.rescheduler.ask_own(Request::Put(put), by).await?;
        Ok(Requested {
            account,
            receipt: Some(receipt),
        })
    }

    /// Publishes what is completed, now (ED-23).
    pub async fn force_publish(&self, id: EditionId, by: &str) -> Result<Forced, Error> {
        let (id, day) = self.day_of(id)?;
        turn::force(&self.account(id).await?)?;
        let budget = Budget::new(self.settings.rules.budget);
        let left_out = self.document_now(id, &budget).await?;
        self.let_out(id, by).await?;
        if left_out > 0 {
            tracing::warn!(edition.id = %id, left_out, "edition published by force without its unfinished stories");
        }
        let account = self.deliver_all(id, &budget).await?;
        if account.edition.state.is_open() {
            self.queue_if_over(&account, day, by).await?;
        }
        Ok(Forced {
            account,
            left_out,
            requests: budget.spent(),
        })
    }

    /// Makes the document of what is completed, unless one is on its way already; how many stories
    /// it leaves out.
    async fn document_now(&self, id: EditionId, budget: &Arc<Budget>) -> Result<u32, Error> {
        for _ in 0..ROUNDS_MAX {
            let account = self.account(id).await?;
            let left_out = turn::force(&account)?;
            let is_sent = account.sending_until(self.clock.now()).is_some();
            let made = account.edition.state == State::Aggregating;
            if made || (!is_sent && self.aggregate(&account, Gate::Opened, budget).await?) {
                return Ok(left_out);
            }
        }
        Err(Error::Contended(id))
    }

    /// Lets out what is held: a person has seen it (ED-39).
    async fn let_out(&self, id: EditionId, by: &str) -> Result<(), Error> {
        let let_out = |account: &Account, now| {
            let change = turn::let_out(account, by, now)?;
            Some((change, ()))
        };
        if self.turn(id, let_out).await?.is_some() {
            tracing::warn!(edition.id = %id, by, "a held edition is published as it is");
        }
        Ok(())
    }

    /// Delivers what is due until it is published, or has to wait.
    async fn deliver_all(&self, id: EditionId, budget: &Arc<Budget>) -> Result<Account, Error> {
        for _ in 0..PASSES_MAX {
            let account = self.account(id).await?;
            let now = self.clock.now();
            match plan(&account, Requester::Person, &self.settings.rules, now) {
                Action::Deliver(due) if budget.left() > 0 => {
                    self.deliver(&account, &due, budget).await?;
                }
                Action::Publish => {
                    self.write(&account, turn::publish(&account, now)).await?;
                }
                _ => return Ok(account),
            }
        }
        self.account(id).await
    }

    /// Puts failed stories that have tries left back (ED-24). An edition of an earlier day is
    /// queued, because no tick comes for it.
    pub async fn retry(
        &self,
        id: EditionId,
        retries_max: Option<u32>,
        by: &str,
    ) -> Result<Retried, Error> {
        let (id, day) = self.day_of(id)?;
        let most = retries_max.unwrap_or(self.settings.rules.retries_max);
        // Refusals come before anything is written.
        let account = self.account(id).await?;
        turn::retry(&account, most, day, self.clock.now())?;
        let retried = |account: &Account, now| {
            let (change, count) = turn::retry(account, most, day, now).ok()?;
            Some((change?, count))
        };
        match self.turn(id, retried).await? {
            None => Ok(Retried {
                account,
                stories: 0,
            }),
            Some((account, stories)) => {
                tracing::info!(edition.id = %id, stories, "failed stories queued again");
                self.queue_if_over(&account, day, by).await?;
                Ok(Retried { account, stories })
            }
        }
    }

    /// Begins anew with the stories an edition has.
    pub async fn reset(&self, id: EditionId, by: &str) -> Result<Account, Error> {
        let (id, day) = self.day_of(id)?;
        let account = self.account(id).await?;
        turn::reset(&account, day, self.clock.now())?;
        // First, so that nothing has changed if it fails: what was read for the edition is read
        // again, and so it is for the others.
        let now = self.clock.now();
        self.store.prune_shared(now, SHARED_MAX).await?;
        let reset = |account: &Account, now| {
            let change = turn::reset(account, day, now).ok()?;
            Some((change, ()))
        };
        let Some((account, ())) = self.turn(id, reset).await? else {
            return Ok(account);
        };
        tracing::warn!(edition.id = %id, "edition reset");
        self.queue_if_over(&account, day, by).await?;
        Ok(account)
    }

    /// Resends deliveries that failed or whose outcome is unknown (ED-41). Queued, so that the
    /// requester need not wait for a tick.
    pub async fn resend(
        &self,
        id: EditionId,
        chosen: &Chosen,
        by: &str,
    ) -> Result<Redelivered, Error> {
        let (id, day) = self.day_of(id)?;
        let again = |account: &Account, now| turn::resend(account, chosen, day, now);
        let resent = self.decide(id, again).await?;
        if !resent.parts.is_empty() {
            let (destination, parts) = (chosen.destination.as_str(), resent.parts.len());
            tracing::warn!(edition.id = %id, destination, parts, by, "resending deliveries");
            self.request(id, by).await?;
        }
        Ok(resent)
    }

    /// Skips deliveries that failed or whose outcome is unknown (ED-41).
    pub async fn skip(
        &self,
        id: EditionId,
        chosen: &Chosen,
        by: &str,
    ) -> Result<Redelivered, Error> {
        let (id, _) = self.day_of(id)?;
        let left_out = |account: &Account, now| turn::skip(account, chosen, by, now);
        let skipped = self.decide(id, left_out).await?;
        if !skipped.parts.is_empty() {
            let (destination, parts) = (chosen.destination.as_str(), skipped.parts.len());
            tracing::warn!(edition.id = %id, destination, parts, by, "skipping deliveries");
            if skipped.account.edition.state.is_open() {
                self.request(id, by).await?;
            }
        }
        Ok(skipped)
    }

    /// Writes a decision about deliveries on the account as it is. A refusal changes nothing.
    async fn decide(
        &self,
        id: EditionId,
        decision: impl Fn(&Account, Timestamp) -> Result<(Option<Change>, Vec<u32>), NotNow>
        + Send
        + Sync,
    ) -> Result<Redelivered, Error> {
        let mut refused = None;
        let decided = |account: &Account, now| match decision(account, now) {
            Ok((change, parts)) => Some((change?, parts)),
            Err(not_now) => {
                refused = Some(not_now);
                None
            }
        };
        match (self.turn(id, decided).await?, refused) {
            (Some((account, parts)), _) => Ok(Redelivered { account, parts }),
            (None, Some(not_now)) => Err(not_now.into()),
            (None, None) => Ok(Redelivered {
                account: self.account(id).await?,
                parts: Vec::new(),
            }),
        }
    }

    pub(super) fn day_of(&self, id: EditionId) -> Result<(EditionId, Day), Error> {
        let id = self.day(Some(id))?;
        let day = if id == self.today() {
            Day::Present
        } else {
            Day::Over
        };
        Ok((id, day))
    }

    async fn queue_if_over(&self, account: &Account, day: Day, by: &str) -> Result<(), Error> {
        if day == Day::Over {
            self.request(account.edition.id, by).await?;
        }
        Ok(())
    }
}

/// An edition whose stories are gone cannot be taken up where it was left.
fn not_pruned(account: Account) -> Result<Account, Error> {
    let gone = account.edition.state == State::Archived && account.is_pruned();
    if gone {
        return Err(NotNow::Pruned.into());
    }
    Ok(account)
}
