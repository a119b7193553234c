//! Statements about what models cost.
//!
//! A month's row is written before those of its days are read, also where it stays as it is: that
//! locks it, so callers on all nodes pass one after the other, and each sees what the others have
//! counted. Where a day's row would be locked alone, two nodes whose clocks differ at midnight
//! could exceed the cap of a month together.

use almanack_core::{
    edition::{
        EditionName,
        allowance::{Caps, Money, Period, Spending, Usage},
    },
    store::Result,
};
use jiff::{Timestamp, civil::Date};

use crate::{
    row::{Row, Value, many, unreadable, values},
    session::Session,
};

/// Counts a difference, which may be less than nothing.
pub(crate) const ADD: &str = "insert into model_spend \
     (edition_name, period, requests, tokens_in, tokens_out, cost_micros, updated_at_us) \
     values ($1, $2, $3, $4, $5, $6, $7) on conflict (edition_name, period) do update set \
     requests = model_spend.requests + excluded.requests, \
     tokens_in = model_spend.tokens_in + excluded.tokens_in, \
     tokens_out = model_spend.tokens_out + excluded.tokens_out, \
     cost_micros = model_spend.cost_micros + excluded.cost_micros, \
     updated_at_us = excluded.updated_at_us";
/// A month and its days: the month is the beginning of their texts, and so comes first.
pub(crate) const LOAD: &str = "select period, requests, tokens_in, tokens_out, cost_micros \
     from model_spend where edition_name = $1 and period >= $2 and period <= $3 order by period";

/// What a request is counted for.
pub(crate) struct Count {
    pub(crate) name: EditionName,
    pub(crate) on: Date,
    pub(crate) now: Timestamp,
}

impl Count {
    fn add<'a>(&self, period: String, before: &Usage, after: &Usage) -> Vec<Value<'a>> {
        let more = |before: u64, after: u64| many(after).saturating_sub(many(before));
        values![
            self.name.as_str().to_owned(),
            period,
            more(before.requests, after.requests),
            more(before.tokens_in, after.tokens_in),
            more(before.tokens_out, after.tokens_out),
            more(before.cost.0, after.cost.0),
            self.now,
        ]
    }
}

fn month(on: Date) -> String {
    on.strftime("%Y-%m").to_string()
}

/// What is asked for a month.
pub(crate) fn of_month<'a>(name: EditionName, on: Date) -> Vec<Value<'a>> {
    let last = on.last_of_month().to_string();
    values![name.as_str().to_owned(), month(on), last]
}

pub(crate) async fn reserve(
    session: &dyn Session,
    (count, most, caps): &(Count, Usage, Caps),
) -> Result<Option<Period>> {
    let nothing = Usage::default();
    let lock = count.add(month(count.on), &nothing, &nothing);
    session.execute(ADD, &lock).await?;
    let month = of_month(count.name, count.on);
    let so_far = spending(session.rows(LOAD, &month, row).await?);
    let refused = caps.refuses(&so_far.day(count.on), &so_far.month, most);
    if refused.is_none() {
        replace(session, &(Count { ..*count }, nothing, *most)).await?;
    }
    Ok(refused)
}

pub(crate) async fn replace(
    session: &dyn Session,
    (count, before, after): &(Count, Usage, Usage),
) -> Result<()> {
    for period in [month(count.on), count.on.to_string()] {
        let values = count.add(period, before, after);
        session.execute(ADD, &values).await?;
    }
    Ok(())
}

/// A row: of a day, or of the month.
pub(crate) fn row(row: &Row<'_>) -> Result<(Option<Date>, Usage)> {
    let period = row.text(0)?;
    let is_day = period.len() > "YYYY-MM".len();
    let day = is_day.then(|| period.parse::<Date>().map_err(unreadable));
    let counted = |place: usize| -> Result<u64> {
        let count: i64 = row.get(place)?;
        Ok(u64::try_from(count).unwrap_or_default())
    };
    let usage = Usage {
        requests: counted(1)?,
        tokens_in: counted(2)?,
        tokens_out: counted(3)?,
        cost: Money(counted(4)?),
    };
    Ok((day.transpose()?, usage))
}

pub(crate) fn spending(rows: Vec<(Option<Date>, Usage)>) -> Spending {
    let mut spending = Spending::default();
    for (day, usage) in rows {
        match day {
            Some(day) => spending.days.push((day, usage)),
            None => spending.month = usage,
        }
    }
    spending
}
