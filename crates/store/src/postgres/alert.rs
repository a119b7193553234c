//! Alerts on PostgreSQL.

use almanack_core::{
    alert::Alert,
    store::{AlertFilter, AlertStore, Applied, Result},
};
use async_trait::async_trait;
use jiff::Timestamp;
use tokio_postgres::types::ToSql;

use super::PostgresStore;
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
        let mut written = Vec::with_capacity(alerts.len());
        for alert in &alerts {
            written.push(match self.write_alert(&alert.into()).await? {
                0 => Applied::Lost,
                _ => Applied::Done { inserted: None },
            });
        }
        Ok(written)
    }

    async fn prune_alerts(&self, before: Timestamp, limit: usize) -> Result<usize> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let gone = self
            .execute("prune alerts", alert::PRUNE, &[&micros(before), &limit])
            .await?;
        Ok(usize::try_from(gone).unwrap_or(usize::MAX))
    }
}

impl PostgresStore {
    async fn write_alert(&self, row: &AlertColumns) -> Result<u64> {
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
        if row.seen == 0 {
            let columns = [&key[..], &rest].concat();
            return self.execute("open alert", alert::OPEN, &columns).await;
        }
        let seen: [&(dyn ToSql + Sync); 1] = [&row.seen];
        let columns = [&rest[..], &key, &seen].concat();
        self.execute("change alert", alert::CHANGE, &columns).await
    }
}
