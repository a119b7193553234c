//! The way in for changes of subscribers: read, decide, write, again if the row has changed.

use std::{collections::BTreeSet, sync::Arc};

use almanack_core::{
    edition::EditionName,
    lang::{Lang, Say},
    newsletter::{
        Address, Subscriber, SubscriberId,
        bounce::{Effect, Ours, Refusal, Report},
        csv,
        mailing::Mail,
        subscriber::{self, Added, State},
    },
    say,
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
#[error("{}", self.say(Lang::English))]
pub enum Error {
    /// No subscriber has this number or address.
    Unknown,
    /// Others changed the row all the time.
    Busy,
    /// The store did not answer.
    #[error(transparent)]
    Store(#[from] store::Error),
}

impl Say for Error {
    fn say(&self, lang: Lang) -> String {
        match self {
            Self::Unknown => say!(lang; "no such subscriber", "没有此订阅者"),
            Self::Busy => say!(lang;
                "the subscriber is being changed by others; try again",
                "该订阅者正被他人修改；请重试"),
            Self::Store(it) => it.to_string(),
        }
    }
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

/// A report about a message, and what it changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reported {
    pub effect: Effect,
    /// Whom it is about, as they are now.
    pub subscriber: Subscriber,
}

impl Subscribers {
    /// Somebody asks for an edition: the address gets a confirmation mail, unless it is subscribed
    /// or got enough of them. Whoever asked by a form must not learn which.
    pub async fn ask(
        &self,
        edition: EditionName,
        address: &Address,
        language: Option<&str>,
    ) -> Result<Added, Error> {
        for _ in 0..ROUNDS_MAX {
            let found = self.store.find_subscriber(edition, address).await?;
            let now = self.clock.now();
            let next = subscriber::ask(found.as_ref(), (edition, address), language, now);
            let Some(next) = next else {
                let is_in = found.is_some_and(|row| row.state == State::Confirmed);
                return Ok(if is_in {
                    Added::Existing
                } else {
                    Added::Waiting
                });
            };
            if self.store.write_subscriber(&next, true).await?.is_some() {
                return Ok(Added::Asked);
            }
        }
        Err(Error::Busy)
    }

    /// An operator has an address asked whether its holder agrees; the subscriber now.
    pub async fn invite(
        &self,
        edition: EditionName,
        address: &Address,
        language: Option<&str>,
    ) -> Result<(Added, Subscriber), Error> {
        let added = self.ask(edition, address, language).await?;
        let found = self.store.find_subscriber(edition, address).await?;
        Ok((added, found.ok_or(Error::Unknown)?))
    }

    /// An operator has a subscriber asked again; the subscriber now.
    pub async fn ask_again(&self, id: SubscriberId) -> Result<(Added, Subscriber), Error> {
        let row = self.load(id).await?;
        self.invite(row.edition, &row.address, None).await
    }

    /// The subscriber of a number.
    pub async fn load(&self, id: SubscriberId) -> Result<Subscriber, Error> {
        let found = self.store.load_subscriber(id).await?;
        found.ok_or(Error::Unknown)
    }

    /// Takes a report that a message came back: each message counts once, and only if the ledger
    /// has it as sent. `limit` says after how many in a row an edition gives an address up.
    pub async fn take_report(
        &self,
        report: &Report,
        limit: impl Fn(EditionName) -> u32,
    ) -> Result<Reported, Error> {
        let (id, sent) = match (report.message, &report.address) {
            (Some(Ours::Confirmation(id, asked)), _) => {
                return self.unconfirmed(id, asked.as_second()).await;
            }
            (Some(Ours::Edition(edition, id)), _) => (id, self.store.load_mail(edition, id).await?),
            (None, Some(address)) => self.last_sent_to(address).await?,
            (None, None) => return Err(Error::Unknown),
        };
        let row = self.load(id).await?;
        let effect = match sent {
            Some(mail) => self.come_back(&mail, &report.refusal).await?,
            None => Effect::None,
        };
        let subscriber = match effect {
            Effect::Counted => self.bounce(id, limit(row.edition)).await?,
            Effect::Noted | Effect::None => row,
        };
        Ok(Reported { effect, subscriber })
    }

    /// A confirmation mail came back: nobody will confirm.
    async fn unconfirmed(&self, id: SubscriberId, asked: i64) -> Result<Reported, Error> {
        let row = self.load(id).await?;
        let is_current = row.asked_at.is_some_and(|at| at.as_second() == asked);
        if row.state != State::Pending || !is_current {
            let (effect, subscriber) = (Effect::None, row);
            return Ok(Reported { effect, subscriber });
        }
        Ok(Reported {
            effect: Effect::Counted,
            subscriber: self.bounce(id, 1).await?,
        })
    }

    /// The last message to an address that its ledger has.
    async fn last_sent_to(&self, address: &Address) -> Result<(SubscriberId, Option<Mail>), Error> {
        let mut last: Option<(SubscriberId, Option<Mail>)> = None;
        let counts = self.store.count_subscribers().await?;
        let editions: BTreeSet<EditionName> = counts.into_iter().map(|it| it.edition).collect();
        for edition in editions {
            let Some(row) = self.store.find_subscriber(edition, address).await? else {
                continue;
            };
            let mail = self.store.mails_to(row.id, None, 1).await?.pop();
            let at = |mail: &Option<Mail>| mail.as_ref().map(|mail| mail.updated_at);
            if last.as_ref().is_none_or(|(_, known)| at(known) < at(&mail)) {
                last = Some((row.id, mail));
            }
        }
        last.ok_or(Error::Unknown)
    }

    /// Writes into the ledger that a message came back.
    async fn come_back(&self, mail: &Mail, refusal: &Refusal) -> Result<Effect, Error> {
        let Some(back) = mail.came_back(refusal, self.clock.now()) else {
            return Ok(Effect::None);
        };
        // Another report about it was faster: that one counts.
        if !self.store.write_mail(mail, &back).await? {
            return Ok(Effect::None);
        }
        Ok(if refusal.is_bounce {
            Effect::Counted
        } else {
            Effect::Noted
        })
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
                    // An import asks nobody.
                    Added::Asked | Added::Waiting => {}
                }
            }
        }
        Ok(imported)
    }

    /// Deletes a subscriber.
    pub async fn remove(&self, id: SubscriberId) -> Result<Subscriber, Error> {
        let found = self.load(id).await?;
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
            let found = self.load(id).await?;
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
