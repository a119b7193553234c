//! Subscribers, mailings and their ledgers, as a database keeps them (ED-43).

use async_trait::async_trait;
use jiff::{Timestamp, civil::Date};

use super::{Page, Result};
use crate::edition::{EditionId, EditionName, delivery};
use crate::newsletter::{
    Address, Mailing, Subscriber, SubscriberId,
    mailing::{Mail, MailCounts},
    subscriber::State,
};

/// Which subscribers.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SubscriberFilter {
    /// Of this edition alone.
    pub edition: Option<EditionName>,
    pub state: Option<State>,
    /// Those with larger numbers.
    pub after: Option<SubscriberId>,
    pub limit: usize,
}

/// Which messages of a mailing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MailFilter {
    /// Of this edition.
    pub id: EditionId,
    pub state: Option<delivery::State>,
    /// To subscribers with larger numbers.
    pub after: Option<SubscriberId>,
    pub limit: usize,
}

/// How many subscribers an edition has in a state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubscriberCount {
    pub edition: EditionName,
    pub state: State,
    pub count: u64,
}

/// Newsletters.
#[async_trait]
pub trait NewsletterStore: Send + Sync {
    /// The subscriber with this address.
    async fn find_subscriber(
        &self,
        edition: EditionName,
        address: &Address,
    ) -> Result<Option<Subscriber>>;

    async fn load_subscriber(&self, id: SubscriberId) -> Result<Option<Subscriber>>;

    /// Writes a subscriber: a new one if its version is 1, or the successor of the version before
    /// its own. With `ask`, the task that sends its confirmation mail is written with it, in one
    /// transaction. `None` if the address is taken or the row has changed: read and decide again.
    async fn write_subscriber(
        &self,
        subscriber: &Subscriber,
        ask: bool,
    ) -> Result<Option<SubscriberId>>;

    /// Adds confirmed subscribers, as [`crate::newsletter::subscriber::add`] decides; answers each
    /// in the order given. All in one transaction.
    async fn add_subscribers(
        &self,
        edition: EditionName,
        people: Vec<(Address, Option<String>)>,
        now: Timestamp,
    ) -> Result<Vec<crate::newsletter::subscriber::Added>>;

    /// Subscribers by number.
    async fn list_subscribers(
        &self,
        filter: &SubscriberFilter,
    ) -> Result<Page<Subscriber, SubscriberId>>;

    /// Subscribers of every edition, by state.
    async fn count_subscribers(&self) -> Result<Vec<SubscriberCount>>;

    /// Deletes a subscriber and their ledger rows; whether there was one. What must not be mailed
    /// again is forgotten, too.
    async fn remove_subscriber(&self, id: SubscriberId) -> Result<bool>;

    /// Writes a mailing and the task that sends it, together; `false` if the edition has one
    /// already, and nothing is written.
    async fn create_mailing(&self, mailing: &Mailing) -> Result<bool>;

    async fn load_mailing(&self, id: EditionId) -> Result<Option<Mailing>>;

    /// Mailings, newest day first.
    async fn list_mailings(&self, limit: usize) -> Result<Vec<Mailing>>;

    /// Writes `intended` rows for the next `limit` confirmed subscribers, and how far it got, in one
    /// transaction. Repeating it adds nobody twice. The mailing as it is then.
    async fn fill_mailing(
        &self,
        id: EditionId,
        limit: usize,
        now: Timestamp,
    ) -> Result<Option<Mailing>>;

    /// Writes state, failures, error and end of a mailing. The last writer wins: nothing is decided
    /// by these but when to try again.
    async fn note_mailing(&self, mailing: &Mailing) -> Result<()>;

    /// Up to `limit` rows that something is to be done about now, by number of subscriber:
    /// `intended`, `failed` and `unknown` that waited long enough, and `sent` whose lease passed.
    async fn load_due_mails(
        &self,
        id: EditionId,
        now: Timestamp,
        limit: usize,
    ) -> Result<Vec<Mail>>;

    /// When the next of the other rows is due; `None` if nothing is to be done any more.
    async fn next_mail_at(&self, id: EditionId) -> Result<Option<Timestamp>>;

    /// Writes a row if it is still what `seen` says, by state and attempts; whether it was. This is
    /// what grants permission to hand over: of two nodes one is answered `true`.
    async fn write_mail(&self, seen: &Mail, next: &Mail) -> Result<bool>;

    async fn count_mails(&self, id: EditionId) -> Result<MailCounts>;

    /// The row of a subscriber in a mailing.
    async fn load_mail(&self, id: EditionId, to: SubscriberId) -> Result<Option<Mail>>;

    /// Rows of a mailing with the addresses they are for, by number of subscriber.
    async fn list_mails(&self, filter: &MailFilter) -> Result<Page<(Mail, Address), SubscriberId>>;

    /// Up to `limit` rows of a subscriber, newest day first; with `before`, of days before it.
    async fn mails_to(
        &self,
        to: SubscriberId,
        before: Option<Date>,
        limit: usize,
    ) -> Result<Vec<Mail>>;
}
