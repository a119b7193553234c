//! Alerts on PostgreSQL.

use almanack_core::{
    alert::Alert,
    store::{AlertFilter, AlertStore, Applied, Result},
};
use async_trait::async_trait;
use deadpool_postgres::GenericClient;
use jiff::Timestamp;
use tokio_postgres::types::ToSql;

use super::{PostgresStore, explain};
use crate::{
    alert,
    row::{self, AlertColumns, micros, readable},
};

#[async_trait]
impl AlertStore for PostgresStore {
    async fn load_alerts(&self, filter: AlertFilter) -> Result<Vec<Alert>> {
        let closed_from = micros(filter.closed_from);
        let limit = i64::try_from(filter.limit).unwrap_or(i64::MAX);
        let rows = self
            .rows("load alerts", alert::LOAD, &[&closed_from, &limit])
            .await?;
        let alerts = rows.iter().map(row::alert);
        Ok(alerts
            .filter_map(|alert| readable("alert", alert))
            .collect())
    }

    async fn write_alerts(&self, alerts: Vec<Alert>) -> Result<Vec<Applied>> {
        let failed = |error| explain("write alerts", error);
        let mut client = self.client().await?;
        let transaction = client.transaction().await.map_err(failed)?;
        // All nodes take rows in this order, so that none waits for another in a circle.
        let mut order: Vec<usize> = (0..alerts.len()).collect();
        order.sort_by(|a, b| alerts[*a].key.cmp(&alerts[*b].key));
        let mut written = vec![Applied::Lost; alerts.len()];
        for place in order {
            if write(&transaction, &(&alerts[place]).into()).await? > 0 {
                written[place] = Applied::Done { inserted: None };
            }
        }
        transaction.commit().await.map_err(failed)?;
        Ok(written)
    }

    async fn claim_alerts(
        &self,
        now: Timestamp,
        until: Timestamp,
        limit: usize,
    ) -> Result<Vec<Alert>> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let parameters: [&(dyn ToSql + Sync); 3] = [&micros(until), &micros(now), &limit];
        let rows = self.rows("claim alerts", alert::CLAIM, &parameters).await?;
        let alerts = rows.iter().map(row::alert);
        let alerts = alerts.filter_map(|alert| readable("alert", alert));
        Ok(alert::in_order(alerts.collect()))
    }

    async fn prune_alerts(&self, before: Timestamp, limit: usize) -> Result<usize> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let gone = self
            .execute("prune alerts", alert::PRUNE, &[&micros(before), &limit])
            .await?;
        Ok(usize::try_from(gone).unwrap_or(usize::MAX))
    }
}

async fn write(client: &impl GenericClient, row: &AlertColumns) -> Result<u64> {
    let failed = |error| explain("write alert", error);
    let key: [&(dyn ToSql + Sync); 2] = [&row.rule, &row.about];
    let rest: [&(dyn ToSql + Sync); 10] = [
        &row.severity,
        &row.detail,
        &row.opened_at_us,
        &row.calm_since_us,
        &row.closed_at_us,
        &row.returns,
        &row.open_told_at_us,
        &row.close_told_at_us,
        &row.tell_at_us,
        &row.taken_by,
    ];
    let seen: [&(dyn ToSql + Sync); 1] = [&row.seen];
    let (text, columns) = if row.seen == 0 {
        (alert::OPEN, [&key[..], &rest].concat())
    } else {
        (alert::CHANGE, [&rest[..], &key, &seen].concat())
    };
    let statement = client.prepare_cached(text).await.map_err(failed)?;
    client.execute(&statement, &columns).await.map_err(failed)
}
