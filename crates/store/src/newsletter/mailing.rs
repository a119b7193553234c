//! Mailings and their ledgers: statements, and how rows are read.

use almanack_core::{
    edition::EditionId,
    newsletter::{Mailing, SubscriberId, mailing::Mail},
    store::Result,
};
use jiff::{Timestamp, civil::Date};

use super::name;
use crate::{
    row::{Row, Value, micros, most, unreadable, values},
    session::Session,
};

/// What [`mailing`] reads, and what one is created with.
macro_rules! mailing_columns {
    () => {
        "edition, edition_on, revision, filled_through, is_filled, failures, created_at_us, \
         ended_at_us, state, error"
    };
}
pub(super) const CREATE: &str = concat!(
    "insert into mailing (",
    mailing_columns!(),
    ") values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) on conflict (edition, edition_on) do nothing"
);
pub(super) const LOAD_MAILING: &str = concat!(
    "select ",
    mailing_columns!(),
    " from mailing where edition = $1 and edition_on = $2"
);
pub(super) const LIST_MAILINGS: &str = concat!(
    "select ",
    mailing_columns!(),
    " from mailing order by edition_on desc, edition limit $1"
);
pub(super) const NOTE: &str = "update mailing set failures = $1, ended_at_us = $2, state = $3, error = $4 \
     where edition = $5 and edition_on = $6";
/// The next subscribers who get it.
pub(super) const NEXT: &str = "select subscriber_id from subscriber where edition = $1 \
     and state = 'confirmed' and subscriber_id > $2 order by subscriber_id limit $3";
pub(super) const FILL: &str = "insert into mail (edition, edition_on, subscriber_id, attempts, updated_at_us, \
     state) values ($1, $2, $3, 0, $4, 'intended') \
     on conflict (edition, edition_on, subscriber_id) do nothing";
pub(super) const FILLED: &str = "update mailing set filled_through = $1, is_filled = $2 \
     where edition = $3 and edition_on = $4";

/// What [`mail`] reads.
macro_rules! mail_columns {
    () => {
        "m.edition, m.edition_on, m.subscriber_id, m.attempts, m.lease_until_us, m.retry_at_us, \
         m.updated_at_us, m.state, m.detail"
    };
}
/// Rows that are not settled, in the words of the index.
macro_rules! open {
    () => {
        " from mail m where edition = $1 and edition_on = $2 \
         and state in ('intended', 'sent', 'unknown', 'failed')"
    };
}
pub(super) const DUE: &str = concat!(
    "select ",
    mail_columns!(),
    open!(),
    " and (state = 'intended' or coalesce(lease_until_us, retry_at_us) <= $3) \
     order by subscriber_id limit $4"
);
/// Those without a time have ended, but for what is intended: that is due at once.
pub(super) const NEXT_AT: &str = concat!(
    "select min(case when state = 'intended' then 0 \
     else coalesce(lease_until_us, retry_at_us) end)",
    open!()
);
pub(super) const WRITE: &str = "update mail set attempts = $1, lease_until_us = $2, retry_at_us = $3, \
     updated_at_us = $4, state = $5, detail = $6 where edition = $7 and edition_on = $8 \
     and subscriber_id = $9 and state = $10 and attempts = $11";
pub(super) const LOAD_MAIL: &str = concat!(
    "select ",
    mail_columns!(),
    " from mail m where edition = $1 and edition_on = $2 and subscriber_id = $3"
);
pub(super) const LIST_MAILS: &str = concat!(
    "select ",
    mail_columns!(),
    ", s.address from mail m join subscriber s on s.subscriber_id = m.subscriber_id \
     where m.edition = $1 and m.edition_on = $2 and m.subscriber_id > $3 \
     and (cast($4 as text) is null or m.state = $4) order by m.subscriber_id limit $5"
);
pub(super) const MAILS_TO: &str = concat!(
    "select ",
    mail_columns!(),
    " from mail m where subscriber_id = $1 \
     and (cast($2 as text) is null or edition_on < $2) order by edition_on desc limit $3"
);
pub(super) const COUNT_MAILS: &str =
    "select state, count(*) from mail where edition = $1 and edition_on = $2 group by state";

/// A day as the store keeps it.
pub(super) fn day(date: Date) -> String {
    date.to_string()
}

pub(super) fn keyed(id: EditionId) -> Vec<Value<'static>> {
    values![id.name.to_string(), day(id.date)]
}

pub(super) async fn create(session: &dyn Session, mailing: &Mailing) -> Result<bool> {
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

pub(super) async fn fill(
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

pub(super) fn mail(row: &Row<'_>) -> Result<Mail> {
    Ok(Mail {
        id: EditionId::new(name(row, 0)?, row.text(1)?.parse().map_err(unreadable)?),
        subscriber_id: SubscriberId(row.get(2)?),
        attempts: row.get(3)?,
        lease_until: row.get(4)?,
        retry_at: row.get(5)?,
        updated_at: row.get(6)?,
        state: row.get(7)?,
        detail: row.get(8)?,
    })
}

pub(super) fn mailing(row: &Row<'_>) -> Result<Mailing> {
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
