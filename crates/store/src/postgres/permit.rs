//! Shared limits on PostgreSQL: one statement, so that no node ever computes while it holds a
//! limit's row.

use std::collections::BTreeMap;

use almanack_core::store::{Error, PermitGrant, PermitRequest, Result, Visitor};
use tokio_postgres::types::ToSql;

use super::Postgres;
use crate::{
    database::Permits,
    permit,
    row::{self, micros, most, nearest, readable, unreadable},
};

impl Permits for Postgres {
    async fn request_permits(
        &self,
        visitor: &Visitor,
        asks: &[PermitRequest],
    ) -> Result<Vec<PermitGrant>> {
        if asks.is_empty() {
            return Ok(Vec::new());
        }
        match self.enter(visitor, asks).await {
            Err(Error::Refused { .. }) if self.empty_unreadable(visitor, asks).await? => {
                self.enter(visitor, asks).await
            }
            entered => entered,
        }
    }
}

impl Postgres {
    async fn enter(&self, visitor: &Visitor, asks: &[PermitRequest]) -> Result<Vec<PermitGrant>> {
        let column =
            |value: fn(&PermitRequest) -> i64| asks.iter().map(value).collect::<Vec<i64>>();
        let names: Vec<&str> = asks.iter().map(|ask| ask.limit.as_str()).collect();
        let parameters: [&(dyn ToSql + Sync); 9] = [
            &names,
            &column(|ask| most(ask.permits)),
            &column(|ask| most(ask.wanted)),
            &column(|ask| most(ask.at_once)),
            &column(row::permit::gap_us),
            &column(|ask| ask.hold_until.map_or(0, micros)),
            &micros(visitor.now),
            &visitor.name,
            &micros(visitor.lease_until),
        ];
        let rows = self
            .rows("request permits", permit::ENTER_POSTGRES, &parameters)
            .await?;
        let mut answers = BTreeMap::new();
        for row in &rows {
            let granted = usize::try_from(row.get::<_, i64>(1)).map_err(unreadable)?;
            let free_at = nearest(row.get(2));
            answers.insert(row.get::<_, &str>(0), PermitGrant { granted, free_at });
        }
        let missing = || unreadable("a limit without an answer");
        let answer = |ask: &PermitRequest| answers.remove(ask.limit.as_str()).ok_or_else(missing);
        asks.iter().map(answer).collect()
    }

    /// Empties those of the limits that the statement cannot read; whether there was one.
    async fn empty_unreadable(&self, visitor: &Visitor, asks: &[PermitRequest]) -> Result<bool> {
        let names: Vec<&str> = asks.iter().map(|ask| ask.limit.as_str()).collect();
        let rows = self
            .rows("load limits", permit::LOAD_VISITORS, &[&names])
            .await?;
        let held_until = micros(row::permit::unknown(visitor).held_until);
        let mut emptied = false;
        for row in &rows {
            let (name, visitors): (&str, &str) = (row.get(0), row.get(1));
            if readable("shared limit", row::permit::stays(visitors)).is_none() {
                let parameters: [&(dyn ToSql + Sync); 3] = [&held_until, &name, &visitors];
                self.execute("empty limit", permit::EMPTY, &parameters)
                    .await?;
                emptied = true;
            }
        }
        Ok(emptied)
    }
}
