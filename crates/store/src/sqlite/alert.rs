//! Alerts on SQLite.

use almanack_core::{
    alert::Alert,
    store::{AlertFilter, AlertStore, Applied, Result},
};
use async_trait::async_trait;
use jiff::Timestamp;
use rusqlite::{Connection, params};

use crate::{
    alert,
    row::{self, AlertColumns, micros},
    sqlite::SqliteStore,
};

#[async_trait]
impl AlertStore for SqliteStore {
    async fn load_alerts(&self, filter: AlertFilter) -> Result<Vec<Alert>> {
        let closed_from = micros(filter.closed_from);
        let limit = i64::try_from(filter.limit).unwrap_or(i64::MAX);
        self.read("load alerts", move |connection| {
            let mut statement = connection.prepare_cached(alert::LOAD)?;
            let mut rows = statement.query(params![closed_from, limit])?;
            let mut alerts = Vec::new();
            while let Some(row) = rows.next()? {
                alerts.extend(row::readable("alert", row::alert(row)));
            }
            Ok(alerts)
        })
        .await
    }

    async fn write_alerts(&self, alerts: Vec<Alert>) -> Result<Vec<Applied>> {
        self.write("write alerts", move |connection| {
            let mut written = Vec::with_capacity(alerts.len());
            for alert in &alerts {
                written.push(match write(connection, &alert.into())? {
                    0 => Applied::Lost,
                    _ => Applied::Done { inserted: None },
                });
            }
            Ok(written)
        })
        .await
    }

    async fn claim_alerts(
        &self,
        now: Timestamp,
        until: Timestamp,
        limit: usize,
    ) -> Result<Vec<Alert>> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let claimed = self.write("claim alerts", move |connection| {
            let mut statement = connection.prepare_cached(alert::CLAIM)?;
            let mut rows = statement.query(params![micros(until), micros(now), limit])?;
            let mut alerts = Vec::new();
            while let Some(row) = rows.next()? {
                alerts.extend(row::readable("alert", row::alert(row)));
            }
            Ok(alerts)
        });
        Ok(alert::in_order(claimed.await?))
    }

    async fn prune_alerts(&self, before: Timestamp, limit: usize) -> Result<usize> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        self.write("prune alerts", move |connection| {
            let mut statement = connection.prepare_cached(alert::PRUNE)?;
            Ok(statement.execute(params![micros(before), limit])?)
        })
        .await
    }
}

fn write(connection: &Connection, row: &AlertColumns) -> rusqlite::Result<usize> {
    if row.seen == 0 {
        let mut statement = connection.prepare_cached(alert::OPEN)?;
        return statement.execute(params![
            row.rule,
            row.about,
            row.severity,
            row.detail,
            row.opened_at_us,
            row.calm_since_us,
            row.closed_at_us,
            row.returns,
            row.open_told_at_us,
            row.close_told_at_us,
            row.tell_at_us,
            row.taken_by,
        ]);
    }
    let mut statement = connection.prepare_cached(alert::CHANGE)?;
    statement.execute(params![
        row.severity,
        row.detail,
        row.opened_at_us,
        row.calm_since_us,
        row.closed_at_us,
        row.returns,
        row.open_told_at_us,
        row.close_told_at_us,
        row.tell_at_us,
        row.taken_by,
        row.rule,
        row.about,
        row.seen,
    ])
}
