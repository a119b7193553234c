//! The way in for changes of subscribers: read, decide, write, again if the row has changed.

use std::sync::Arc;

use almanack_core::{
    edition::EditionName,
    newsletter::{
        Address, Subscriber, SubscriberId, csv,
        subscriber::{self, Added},
    },
    store::{self, Store},
    time::Clock,
};

/// How often a row that someone else changed at the same moment is decided about again.
const ROUNDS_MAX: usize = 10;
/// Addresses that are written in one transaction.
const IMPORT_STEP: usize = 500;
/// Most problems of an import that are listed; all are counted.
const PROBLEMS_MAX: usize = 100;

/// Why nothing changed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No subscriber has this number or address.
    #[error("no such subscriber")]
    Unknown,
    /// Others changed the row all the time.
    #[error("the subscriber is being changed by others; try again")]
    Busy,
    /// The store did not answer.
    #[error(transparent)]
    Store(#[from] store::Error),
}

impl Error {
    /// The whole cause, for logs.
    pub fn chain(&self) -> String {
        match self {
            Self::Store(error) => error.chain(),
            other => other.to_string(),
        }
    }
}

/// The way in for changes of subscribers.
pub struct Subscribers {
    pub store: Arc<dyn Store>,
    pub clock: Arc<dyn Clock>,
}

/// What an import did.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Imported {
    pub added: usize,
    /// Were subscribed already.
    pub existing: usize,
    /// Unsubscribed or bounced before, and stay so.
    pub ended: usize,
    /// Lines that name no address that gets mail.
    pub refused: usize,
    /// Why, for the first hundred of them.
    pub problems: Vec<String>,
}

impl Subscribers {
    /// Somebody asks for an edition: the address gets a confirmation mail, unless it is subscribed
    /// or got enough of them. The caller learns nothing about which.
    pub async fn ask(
        &self,
        edition: EditionName,
        address: &Address,
        language: Option<&str>,
    ) -> Result<(), Error> {
        for _ in 0..ROUNDS_MAX {
            let found = self.store.find_subscriber(edition, address).await?;
            let now = self.clock.now();
            let next = subscriber::ask(found.as_ref(), (edition, address), language, now);
            let Some(next) = next else {
                return Ok(());
            };
            if self.store.write_subscriber(&next, true).await?.is_some() {
                return Ok(());
            }
        }
        Err(Error::Busy)
    }

    /// The holder of a signed link confirms; the subscriber now.
    pub async fn confirm(&self, id: SubscriberId) -> Result<Subscriber, Error> {
        let now = self.clock.now();
        self.change(id, |row| row.confirmed(now)).await
    }

    /// A subscriber wants no more mail.
    pub async fn unsubscribe(&self, id: SubscriberId) -> Result<Subscriber, Error> {
        let now = self.clock.now();
        self.change(id, |row| row.unsubscribed(now)).await
    }

    /// Mail to a subscriber was refused; after `limit` refusals in a row it gets no more.
    pub async fn bounce(&self, id: SubscriberId, limit: u32) -> Result<Subscriber, Error> {
        let now = self.clock.now();
        self.change(id, |row| row.bounced(limit, now)).await
    }

    /// Mail to a subscriber was accepted.
    pub async fn accept(&self, id: SubscriberId) -> Result<Subscriber, Error> {
        self.change(id, Subscriber::accepted).await
    }

    /// An operator adds an address.
    pub async fn add(
        &self,
        edition: EditionName,
        address: Address,
        language: Option<String>,
    ) -> Result<(Added, Subscriber), Error> {
        let people = vec![(address.clone(), language)];
        let now = self.clock.now();
        let added = self.store.add_subscribers(edition, people, now).await?;
        let found = self.store.find_subscriber(edition, &address).await?;
        let added = added.into_iter().next().ok_or(Error::Busy)?;
        Ok((added, found.ok_or(Error::Unknown)?))
    }

    /// Adds the addresses of a list; importing it twice adds nobody twice.
    pub async fn import(&self, edition: EditionName, text: &str) -> Result<Imported, Error> {
        let mut imported = Imported::default();
        let mut people = Vec::new();
        for line in csv::read(text) {
            match line.read {
                Ok(person) => people.push(person),
                Err(why) => {
                    imported.refused += 1;
                    imported
                        .problems
                        .push(format!("line {}: {why}", line.number));
                }
            }
        }
        imported.problems.truncate(PROBLEMS_MAX);
        for step in people.chunks(IMPORT_STEP) {
            let now = self.clock.now();
            let added = self.store.add_subscribers(edition, step.to_vec(), now);
            for added in added.await? {
                match added {
                    Added::New | Added::Confirmed => imported.added += 1,
                    Added::Existing => imported.existing += 1,
                    Added::Ended => imported.ended += 1,
                }
            }
        }
        Ok(imported)
    }

    /// Deletes a subscriber.
    pub async fn remove(&self, id: SubscriberId) -> Result<Subscriber, Error> {
        let found = self.store.load_subscriber(id).await?;
        let found = found.ok_or(Error::Unknown)?;
        if self.store.remove_subscriber(id).await? {
            Ok(found)
        } else {
            Err(Error::Unknown)
        }
    }

    async fn change(
        &self,
        id: SubscriberId,
        decide: impl Fn(&Subscriber) -> Option<Subscriber>,
    ) -> Result<Subscriber, Error> {
        for _ in 0..ROUNDS_MAX {
            let found = self.store.load_subscriber(id).await?;
            let found = found.ok_or(Error::Unknown)?;
            let Some(next) = decide(&found) else {
                return Ok(found);
            };
            if self.store.write_subscriber(&next, false).await?.is_some() {
                return Ok(next);
            }
        }
        Err(Error::Busy)
    }
}
