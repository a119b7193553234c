//! The rates of a claim, and the starts of keys, on PostgreSQL.
//!
//! A node without rates sends the statements that know of none: its claims cost what they cost
//! before.

use std::collections::BTreeMap;

use almanack_core::{
    pace::{BOOKED_MAX, Rate, Starts},
    store::{ClaimRequest, Result, StartRequest},
};
use deadpool_postgres::Object;
use jiff::Timestamp;
use tokio_postgres::{Row, Statement, types::ToSql};

use super::{
    Postgres, explain,
    session::{column, execute, query},
};
use crate::{
    claim,
    database::Paces,
    pace,
    row::{micros, nearest},
};

impl Paces for Postgres {
    async fn take_starts(&self, asks: &[StartRequest], now: Timestamp) -> Result<Vec<Starts>> {
        let client = self.client().await?;
        let names = column(asks, |ask| ask.bucket.as_str());
        execute(
            &client,
            "add buckets",
            pace::ADD_BUCKETS_POSTGRES,
            &[&names],
        )
        .await?;
        let horizon = now.saturating_add(BOOKED_MAX).unwrap_or(Timestamp::MAX);
        let rows = query(
            &client,
            "take starts",
            pace::TAKE_STARTS_POSTGRES,
            &[
                &names,
                &column(asks, |ask| i64::from(ask.wanted)),
                &column(asks, |ask| ask.rate.gap_us()),
                &column(asks, |ask| i64::from(ask.rate.burst())),
                &micros(now),
                &micros(horizon),
            ],
        )
        .await?;
        let of = |row: &Row| Starts {
            granted: u32::try_from(row.get::<_, i64>(1)).unwrap_or(0),
            next_at: nearest(row.get(2)),
        };
        let found: BTreeMap<&str, Starts> = rows.iter().map(|row| (row.get(0), of(row))).collect();
        // Another node may have forgotten a full bucket just now: nothing is lost by asking again.
        let none = Starts {
            granted: 0,
            next_at: now,
        };
        let answer = |ask: &StartRequest| found.get(ask.bucket.as_str()).copied().unwrap_or(none);
        Ok(asks.iter().map(answer).collect())
    }
}

/// A claim's rates and turns, a column each.
pub(super) struct Paced<'a> {
    /// Whether only some kinds are claimed.
    is_of_kinds: bool,
    turn_kinds: Vec<&'a str>,
    turn_afters: Vec<&'a str>,
    turn_earliest: Vec<bool>,
    kinds: Vec<&'a str>,
    gaps: Vec<i64>,
    bursts: Vec<i64>,
    gathered: Vec<i64>,
}

type Parameter<'p> = &'p (dyn ToSql + Sync);

impl<'a> Paced<'a> {
    pub(super) fn of(request: &'a ClaimRequest) -> Self {
        let rates = || request.rates.iter().map(|(_, rate)| rate);
        Self {
            is_of_kinds: !request.kinds.is_empty(),
            turn_kinds: column(&request.turns, |turn| turn.kind.as_str()),
            turn_afters: column(&request.turns, |turn| turn.after.as_str()),
            turn_earliest: column(&request.turns, |turn| turn.earliest_first),
            kinds: request
                .rates
                .iter()
                .map(|(kind, _)| kind.as_str())
                .collect(),
            gaps: rates().map(Rate::gap_us).collect(),
            bursts: rates().map(|rate| i64::from(rate.burst())).collect(),
            gathered: rates().map(|rate| i64::from(rate.gathered())).collect(),
        }
    }

    /// The statements that claim and that find what is due next. The buckets are there then.
    pub(super) async fn prepare(&self, client: &Object) -> Result<(Statement, Statement)> {
        if self.is_any() {
            let added = [&self.kinds as Parameter<'_>];
            execute(client, "add buckets", pace::ADD_BUCKETS_POSTGRES, &added).await?;
        }
        let claim = match (self.takes_turns(), self.is_any(), self.is_of_kinds) {
            (false, false, false) => claim::postgres::CLAIM_POSTGRES,
            (false, false, true) => claim::postgres::CLAIM_KINDS_POSTGRES,
            (false, true, false) => claim::postgres::CLAIM_PACED_POSTGRES,
            (false, true, true) => claim::postgres::CLAIM_PACED_KINDS_POSTGRES,
            (true, _, false) => claim::postgres::CLAIM_TURNS_POSTGRES,
            (true, _, true) => claim::postgres::CLAIM_TURNS_KINDS_POSTGRES,
        };
        let due = match (self.is_any(), self.is_of_kinds) {
            (false, false) => claim::postgres::NEXT_DUE_POSTGRES,
            (false, true) => claim::postgres::NEXT_DUE_KINDS_POSTGRES,
            (true, false) => claim::postgres::NEXT_DUE_PACED_POSTGRES,
            (true, true) => claim::postgres::NEXT_DUE_PACED_KINDS_POSTGRES,
        };
        let failed = |error| explain("prepare claim", error);
        let claim = client.prepare_cached(claim).await.map_err(failed)?;
        let due = client.prepare_cached(due).await.map_err(failed)?;
        Ok((claim, due))
    }

    pub(super) fn for_claim(&self) -> Vec<Parameter<'_>> {
        let rates: [Parameter<'_>; 3] = [&self.kinds, &self.gaps, &self.bursts];
        let turns: [Parameter<'_>; 3] = [&self.turn_kinds, &self.turn_afters, &self.turn_earliest];
        match (self.takes_turns(), self.is_any()) {
            (true, _) => [rates, turns].concat(),
            (false, true) => rates.to_vec(),
            (false, false) => Vec::new(),
        }
    }

    pub(super) fn for_next_due(&self) -> Vec<Parameter<'_>> {
        let columns: [Parameter<'_>; 4] = [&self.kinds, &self.gaps, &self.bursts, &self.gathered];
        columns.into_iter().filter(|_| self.is_any()).collect()
    }

    /// Whether any kind has a rate.
    fn is_any(&self) -> bool {
        !self.kinds.is_empty()
    }

    /// Whether tasks of any kind take turns.
    pub(super) fn takes_turns(&self) -> bool {
        !self.turn_kinds.is_empty()
    }
}
