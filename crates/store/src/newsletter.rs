//! Statements about newsletters.
//!
//! A subscriber is written by its version, a ledger row by its state and its attempts, each in one
//! conditional statement: of two writers that saw the same row one writes. All texts are one for
//! both databases.

mod mailing;

use almanack_core::{
    edition::{EditionId, EditionName, delivery},
    newsletter::{
        Address, Mailing, Subscriber, SubscriberId,
        mailing::{Mail, MailCounts},
        subscriber::{self, Added},
    },
    store::{MailFilter, NewsletterStore, Page, Result, SubscriberCount, SubscriberFilter},
};
use async_trait::async_trait;
use jiff::{Timestamp, civil::Date};

use self::mailing::{
    COUNT_MAILS, DUE, LIST_MAILINGS, LIST_MAILS, LOAD_MAIL, LOAD_MAILING, MAILS_TO, NEXT_AT, NOTE,
    WRITE, create, day, fill, keyed, mail, mailing,
};
use crate::{
    database::{Access::Transaction, Database, SqlStore},
    row::{Row, Value, listing, micros, most, one_more, unreadable, values},
    session::{Session, asked},
};

/// What [`subscriber`] reads.
macro_rules! columns {
    () => {
        "subscriber_id, version, bounces, asks, asked_at_us, created_at_us, confirmed_at_us, \
         ended_at_us, edition, address, state, language"
    };
}
/// What is written of one, in the order of [`written`].
macro_rules! written_columns {
    () => {
        "version, bounces, asks, asked_at_us, created_at_us, confirmed_at_us, ended_at_us, \
         edition, address, state, language"
    };
}
const FIND: &str = concat!(
    "select ",
    columns!(),
    " from subscriber where edition = $1 and address = $2"
);
const LOAD: &str = concat!(
    "select ",
    columns!(),
    " from subscriber where subscriber_id = $1"
);
const INSERT: &str = concat!(
    "insert into subscriber (",
    written_columns!(),
    ") values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) \
     on conflict (edition, address) do nothing returning subscriber_id"
);
/// Who it is and when it came never change.
const UPDATE: &str = "update subscriber set version = $1, bounces = $2, asks = $3, \
     asked_at_us = $4, confirmed_at_us = $5, ended_at_us = $6, state = $7, language = $8 \
     where subscriber_id = $9 and version = $10 returning subscriber_id";
const LIST: &str = concat!(
    "select ",
    columns!(),
    " from subscriber where subscriber_id > $1 \
     and (cast($2 as text) is null or edition = $2) \
     and (cast($3 as text) is null or state = $3) order by subscriber_id limit $4"
);
const COUNT: &str =
    "select edition, state, count(*) from subscriber group by edition, state order by 1, 2";
const REMOVE: &str = "delete from subscriber where subscriber_id = $1";
const REMOVE_MAILS: &str = "delete from mail where subscriber_id = $1";

#[async_trait]
impl<D: Database> NewsletterStore for SqlStore<D> {
    async fn find_subscriber(
        &self,
        edition: EditionName,
        address: &Address,
    ) -> Result<Option<Subscriber>> {
        let values = values![edition.to_string(), address.as_str()];
        self.one("find subscriber", FIND, values, subscriber).await
    }

    async fn load_subscriber(&self, id: SubscriberId) -> Result<Option<Subscriber>> {
        self.one("load subscriber", LOAD, values![id.0], subscriber)
            .await
    }

    async fn write_subscriber(
        &self,
        subscriber: &Subscriber,
        ask: bool,
    ) -> Result<Option<SubscriberId>> {
        let args = (subscriber.clone(), ask);
        let written = self
            .ask(Transaction, "write subscriber", args, asked!(write))
            .await?;
        if ask && written.is_some() {
            self.0.hint(subscriber.asked_at).await;
        }
        Ok(written)
    }

    async fn add_subscribers(
        &self,
        edition: EditionName,
        people: Vec<(Address, Option<String>)>,
        now: Timestamp,
    ) -> Result<Vec<Added>> {
        let args = (edition, people, now);
        self.ask(Transaction, "add subscribers", args, asked!(add))
            .await
    }

    async fn list_subscribers(
        &self,
        filter: &SubscriberFilter,
    ) -> Result<Page<Subscriber, SubscriberId>> {
        let values = values![
            filter.after.map_or(0, |after| after.0),
            filter.edition.as_ref().map(EditionName::as_str),
            filter.state.map(subscriber::State::as_str),
            one_more(filter.limit)
        ];
        let listing = listing("subscriber", subscriber);
        let found = self
            .listed("list subscribers", LIST, values, listing)
            .await?;
        Ok(Page::cut(found, filter.limit, None, |row| row.id))
    }

    async fn count_subscribers(&self) -> Result<Vec<SubscriberCount>> {
        let listing = listing("subscriber", |row: &Row<'_>| {
            Ok(SubscriberCount {
                edition: name(row, 0)?,
                state: row.get(1)?,
                count: row.get(2)?,
            })
        });
        self.listed("count subscribers", COUNT, values![], listing)
            .await
    }

    async fn remove_subscriber(&self, id: SubscriberId) -> Result<bool> {
        self.ask(Transaction, "remove subscriber", id, asked!(remove))
            .await
    }

    async fn create_mailing(&self, mailing: &Mailing) -> Result<bool> {
        let args = mailing.clone();
        let created = self
            .ask(Transaction, "create mailing", args, asked!(create))
            .await?;
        if created {
            self.0.hint(Some(mailing.created_at)).await;
        }
        Ok(created)
    }

    async fn load_mailing(&self, id: EditionId) -> Result<Option<Mailing>> {
        self.one("load mailing", LOAD_MAILING, keyed(id), mailing)
            .await
    }

    async fn list_mailings(&self, limit: usize) -> Result<Vec<Mailing>> {
        let listing = listing("mailing", mailing);
        let values = values![most(limit)];
        self.listed("list mailings", LIST_MAILINGS, values, listing)
            .await
    }

    async fn fill_mailing(
        &self,
        id: EditionId,
        limit: usize,
        now: Timestamp,
    ) -> Result<Option<Mailing>> {
        let args = (id, limit, now);
        self.ask(Transaction, "fill mailing", args, asked!(fill))
            .await
    }

    async fn note_mailing(&self, mailing: &Mailing) -> Result<()> {
        let values = values![
            mailing.failures,
            mailing.ended_at,
            mailing.state.as_str(),
            &mailing.error,
            mailing.id.name.as_str(),
            day(mailing.id.date)
        ];
        self.execute("note mailing", NOTE, values).await.map(drop)
    }

    async fn load_due_mails(
        &self,
        id: EditionId,
        now: Timestamp,
        limit: usize,
    ) -> Result<Vec<Mail>> {
        let mut values = keyed(id);
        values.extend(values![now, most(limit)]);
        let listing = listing("mail", mail);
        self.listed("load due mails", DUE, values, listing).await
    }

    async fn next_mail_at(&self, id: EditionId) -> Result<Option<Timestamp>> {
        let found = self.one("next mail", NEXT_AT, keyed(id), |row| row.get(0));
        Ok(found.await?.flatten())
    }

    async fn write_mail(&self, seen: &Mail, next: &Mail) -> Result<bool> {
        let values = values![
            next.attempts,
            next.lease_until,
            next.retry_at,
            next.updated_at,
            next.state.as_str(),
            &next.detail,
            seen.id.name.as_str(),
            day(seen.id.date),
            seen.subscriber_id.0,
            seen.state.as_str(),
            seen.attempts
        ];
        Ok(self.execute("write mail", WRITE, values).await? == 1)
    }

    async fn count_mails(&self, id: EditionId) -> Result<MailCounts> {
        let listing = listing("mail", |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?)));
        let found = self
            .listed("count mails", COUNT_MAILS, keyed(id), listing)
            .await?;
        let mut counts = MailCounts::default();
        for (state, count) in found {
            counts.add(state, count);
        }
        Ok(counts)
    }

    async fn load_mail(&self, id: EditionId, to: SubscriberId) -> Result<Option<Mail>> {
        let mut values = keyed(id);
        values.extend(values![to.0]);
        self.one("load mail", LOAD_MAIL, values, mail).await
    }

    async fn list_mails(&self, filter: &MailFilter) -> Result<Page<(Mail, Address), SubscriberId>> {
        let mut values = keyed(filter.id);
        values.extend(values![
            filter.after.map_or(0, |after| after.0),
            filter.state.map(delivery::State::as_str),
            one_more(filter.limit)
        ]);
        let listing = listing("mail", |row: &Row<'_>| {
            let address = Address::parse(&row.text(9)?).map_err(unreadable)?;
            Ok((mail(row)?, address))
        });
        let found = self.listed("list mails", LIST_MAILS, values, listing);
        let after = |(mail, _): &(Mail, Address)| mail.subscriber_id;
        Ok(Page::cut(found.await?, filter.limit, None, after))
    }

    async fn mails_to(
        &self,
        to: SubscriberId,
        before: Option<Date>,
        limit: usize,
    ) -> Result<Vec<Mail>> {
        let values = values![to.0, before.map(day), most(limit)];
        let listing = listing("mail", mail);
        self.listed("list mails to", MAILS_TO, values, listing)
            .await
    }
}

async fn write(
    session: &dyn Session,
    (row, ask): &(Subscriber, bool),
) -> Result<Option<SubscriberId>> {
    let id = if row.version == 1 {
        session.number(INSERT, &written(row)).await?
    } else {
        let values = values![
            row.version,
            row.bounces,
            row.asks,
            row.asked_at,
            row.confirmed_at,
            row.ended_at,
            row.state.as_str(),
            &row.language,
            row.id.0,
            row.version - 1
        ];
        session.number(UPDATE, &values).await?
    };
    let Some(id) = id.map(SubscriberId) else {
        return Ok(None);
    };
    if *ask {
        let task = row.confirmation_task(id).map_err(unreadable)?;
        let at = micros(task.execute_at);
        session.insert_tasks(&[task], at).await?;
    }
    Ok(Some(id))
}

fn written(row: &Subscriber) -> Vec<Value<'_>> {
    values![
        row.version,
        row.bounces,
        row.asks,
        row.asked_at,
        row.created_at,
        row.confirmed_at,
        row.ended_at,
        row.edition.as_str(),
        row.address.as_str(),
        row.state.as_str(),
        &row.language
    ]
}

type People = (EditionName, Vec<(Address, Option<String>)>, Timestamp);

async fn add(session: &dyn Session, (edition, people, now): &People) -> Result<Vec<Added>> {
    let mut answers = Vec::with_capacity(people.len());
    for (address, language) in people {
        let key = values![edition.as_str(), address.as_str()];
        let found = session.one(FIND, &key, subscriber).await?;
        let of = (*edition, address);
        let (added, next) = subscriber::add(found.as_ref(), of, language.as_deref(), *now);
        // Another writer was faster: whoever it was, the address is known now.
        let lost = match next {
            Some(next) => write(session, &(next, false)).await?.is_none(),
            None => false,
        };
        answers.push(if lost { Added::Existing } else { added });
    }
    Ok(answers)
}

async fn remove(session: &dyn Session, id: &SubscriberId) -> Result<bool> {
    session.execute(REMOVE_MAILS, &[id.0.into()]).await?;
    Ok(session.execute(REMOVE, &[id.0.into()]).await? > 0)
}

fn subscriber(row: &Row<'_>) -> Result<Subscriber> {
    Ok(Subscriber {
        id: SubscriberId(row.get(0)?),
        version: row.get(1)?,
        bounces: row.get(2)?,
        asks: row.get(3)?,
        asked_at: row.get(4)?,
        created_at: row.get(5)?,
        confirmed_at: row.get(6)?,
        ended_at: row.get(7)?,
        edition: name(row, 8)?,
        address: Address::parse(&row.text(9)?).map_err(unreadable)?,
        state: row.get(10)?,
        language: row.get(11)?,
    })
}

fn name(row: &Row<'_>, index: usize) -> Result<EditionName> {
    EditionName::parse(&row.text(index)?).map_err(unreadable)
}
