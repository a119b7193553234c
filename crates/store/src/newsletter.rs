//! Statements about newsletters.
//!
//! A subscriber is written by its version, a ledger row by its state and its attempts, each in one
//! conditional statement: of two writers that saw the same row one writes. All texts are one for
//! both databases.

use almanack_core::{
    edition::{EditionId, EditionName},
    newsletter::{
        Address, Mailing, Subscriber, SubscriberId,
        mailing::{Mail, MailCounts},
        subscriber::{self, Added},
    },
    store::{NewsletterStore, Page, Result, SubscriberCount, SubscriberFilter},
};
use async_trait::async_trait;
use jiff::{Timestamp, civil::Date};

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

/// What [`mailing`] reads, and what one is created with.
macro_rules! mailing_columns {
    () => {
        "edition, edition_on, revision, filled_through, is_filled, failures, created_at_us, \
         ended_at_us, state, error"
    };
}
const CREATE: &str = concat!(
    "insert into mailing (",
    mailing_columns!(),
    ") values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) on conflict (edition, edition_on) do nothing"
);
const LOAD_MAILING: &str = concat!(
    "select ",
    mailing_columns!(),
    " from mailing where edition = $1 and edition_on = $2"
);
const LIST_MAILINGS: &str = concat!(
    "select ",
    mailing_columns!(),
    " from mailing order by edition_on desc, edition limit $1"
);
const NOTE: &str = "update mailing set failures = $1, ended_at_us = $2, state = $3, error = $4 \
     where edition = $5 and edition_on = $6";
/// The next subscribers who get it.
const NEXT: &str = "select subscriber_id from subscriber where edition = $1 \
     and state = 'confirmed' and subscriber_id > $2 order by subscriber_id limit $3";
const FILL: &str = "insert into mail (edition, edition_on, subscriber_id, attempts, updated_at_us, \
     state) values ($1, $2, $3, 0, $4, 'intended') \
     on conflict (edition, edition_on, subscriber_id) do nothing";
const FILLED: &str = "update mailing set filled_through = $1, is_filled = $2 \
     where edition = $3 and edition_on = $4";

/// Rows that are not settled, in the words of the index.
macro_rules! open {
    () => {
        " from mail where edition = $1 and edition_on = $2 \
         and state in ('intended', 'sent', 'unknown', 'failed')"
    };
}
const DUE: &str = concat!(
    "select subscriber_id, attempts, lease_until_us, retry_at_us, updated_at_us, state, detail",
    open!(),
    " and (state = 'intended' or coalesce(lease_until_us, retry_at_us) <= $3) \
     order by subscriber_id limit $4"
);
/// Those without a time have ended, but for what is intended: that is due at once.
const NEXT_AT: &str = concat!(
    "select min(case when state = 'intended' then 0 \
     else coalesce(lease_until_us, retry_at_us) end)",
    open!()
);
const WRITE: &str = "update mail set attempts = $1, lease_until_us = $2, retry_at_us = $3, \
     updated_at_us = $4, state = $5, detail = $6 where edition = $7 and edition_on = $8 \
     and subscriber_id = $9 and state = $10 and attempts = $11";
const COUNT_MAILS: &str =
    "select state, count(*) from mail where edition = $1 and edition_on = $2 group by state";

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
        let args = (values, id);
        self.ask(
            crate::database::Access::Read,
            "load due mails",
            args,
            asked!(due),
        )
        .await
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
}

/// A day as the store keeps it.
fn day(date: Date) -> String {
    date.to_string()
}

fn keyed(id: EditionId) -> Vec<Value<'static>> {
    values![id.name.to_string(), day(id.date)]
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

async fn create(session: &dyn Session, mailing: &Mailing) -> Result<bool> {
    let values = values![
        mailing.id.name.as_str(),
        day(mailing.id.date),
        mailing.revision,
        mailing.filled_through.0,
        mailing.is_filled,
        mailing.failures,
        mailing.created_at,
        mailing.ended_at,
        mailing.state.as_str(),
        &mailing.error
    ];
    if session.execute(CREATE, &values).await? == 0 {
        return Ok(false);
    }
    let task = mailing.task().map_err(unreadable)?;
    let at = micros(mailing.created_at);
    session.insert_tasks(&[task], at).await?;
    Ok(true)
}

async fn fill(
    session: &dyn Session,
    (id, limit, now): &(EditionId, usize, Timestamp),
) -> Result<Option<Mailing>> {
    let Some(found) = session.one(LOAD_MAILING, &keyed(*id), mailing).await? else {
        return Ok(None);
    };
    if found.is_filled {
        return Ok(Some(found));
    }
    let values = values![id.name.as_str(), found.filled_through.0, most(*limit)];
    let next: Vec<i64> = session.rows(NEXT, &values, |row| row.get(0)).await?;
    let row = |whom: &i64| values![id.name.as_str(), day(id.date), *whom, *now];
    let rows: Vec<Vec<Value<'_>>> = next.iter().map(row).collect();
    session.execute_each(FILL, &rows).await?;
    let filled = Mailing {
        filled_through: next
            .last()
            .map_or(found.filled_through, |id| SubscriberId(*id)),
        is_filled: next.len() < *limit,
        ..found
    };
    let values = values![
        filled.filled_through.0,
        filled.is_filled,
        id.name.as_str(),
        day(id.date)
    ];
    session.execute(FILLED, &values).await?;
    Ok(Some(filled))
}

async fn due(
    session: &dyn Session,
    (values, id): &(Vec<Value<'static>>, EditionId),
) -> Result<Vec<Mail>> {
    let read = |row: &Row<'_>| {
        Ok(Mail {
            id: *id,
            subscriber_id: SubscriberId(row.get(0)?),
            attempts: row.get(1)?,
            lease_until: row.get(2)?,
            retry_at: row.get(3)?,
            updated_at: row.get(4)?,
            state: row.get(5)?,
            detail: row.get(6)?,
        })
    };
    session.rows(DUE, values, read).await
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

fn mailing(row: &Row<'_>) -> Result<Mailing> {
    Ok(Mailing {
        id: EditionId::new(name(row, 0)?, row.text(1)?.parse().map_err(unreadable)?),
        revision: row.get(2)?,
        filled_through: SubscriberId(row.get(3)?),
        is_filled: row.get::<i64>(4)? != 0,
        failures: row.get(5)?,
        created_at: row.get(6)?,
        ended_at: row.get(7)?,
        state: row.get(8)?,
        error: row.get(9)?,
    })
}

fn name(row: &Row<'_>, index: usize) -> Result<EditionName> {
    EditionName::parse(&row.text(index)?).map_err(unreadable)
}
