//! Statements about alerts.

use almanack_core::{
    alert::Alert,
    store::{AlertFilter, AlertStore, Applied, Result},
};
use async_trait::async_trait;
use jiff::Timestamp;

use crate::{
    database::{
        Access::{Statement, Transaction},
        Database, SqlStore,
    },
    row::{self, Listing, Value, listing, most, values},
    session::{Session, asked},
};

/// What [`crate::row::alert`] reads, and the order in which a row is written.
macro_rules! columns {
    () => {
        "rule, about, severity, detail, opened_at_us, cool_down_since_us, closed_at_us, returns, \
         open_notified_at_us, close_notified_at_us, notify_at_us, taken_by"
    };
}

/// Three short lists by their indexes, each row once; one condition with `or` would read the whole
/// table.
pub(crate) const LOAD: &str = concat!(
    "select ",
    columns!(),
    ", version from alert where closed_at_us is null union select ",
    columns!(),
    ", version from alert where notify_at_us is not null union select ",
    columns!(),
    ", version from alert where closed_at_us >= $1 order by 5 desc, 1, 2 limit $2"
);

/// A row that is over and notified may be written anew by any node: one that did not read it knows
/// nothing that it would spoil.
pub(crate) const OPEN: &str = concat!(
    "insert into alert (",
    columns!(),
    ", version) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, 1) \
     on conflict (rule, about) do update set severity = excluded.severity, \
     detail = excluded.detail, opened_at_us = excluded.opened_at_us, \
     cool_down_since_us = excluded.cool_down_since_us, closed_at_us = excluded.closed_at_us, \
     returns = excluded.returns, open_notified_at_us = excluded.open_notified_at_us, \
     close_notified_at_us = excluded.close_notified_at_us, notify_at_us = excluded.notify_at_us, \
     taken_by = excluded.taken_by, version = alert.version + 1 \
     where alert.closed_at_us is not null and alert.notify_at_us is null"
);

pub(crate) const CHANGE: &str = "update alert set severity = $1, detail = $2, opened_at_us = $3, \
     cool_down_since_us = $4, closed_at_us = $5, returns = $6, open_notified_at_us = $7, \
     close_notified_at_us = $8, notify_at_us = $9, taken_by = $10, version = version + 1 \
     where rule = $11 and about = $12 and version = $13";

/// The condition occurs twice: a node that waited for another's claim looks at the row again, and
/// only at what is outside.
pub(crate) const CLAIM: &str = concat!(
    "update alert set notify_at_us = $1, version = version + 1 \
     where notify_at_us <= $2 and (rule, about) in (select rule, about from alert \
     where notify_at_us <= $2 order by opened_at_us, rule, about limit $3) returning ",
    columns!(),
    ", version"
);

/// `returning` promises no order.
pub(crate) fn in_order(mut alerts: Vec<Alert>) -> Vec<Alert> {
    alerts.sort_by(|a, b| (a.opened_at, &a.key).cmp(&(b.opened_at, &b.key)));
    alerts
}

pub(crate) const PRUNE: &str = "delete from alert where (rule, about) in (select rule, about \
     from alert where closed_at_us < $1 and notify_at_us is null limit $2)";

#[async_trait]
impl<D: Database> AlertStore for SqlStore<D> {
    async fn load_alerts(&self, filter: AlertFilter) -> Result<Vec<Alert>> {
        let values = values![filter.closed_from, most(filter.limit)];
        self.listed("load alerts", LOAD, values, ALERTS).await
    }

    async fn write_alerts(&self, alerts: Vec<Alert>) -> Result<Vec<Applied>> {
        self.ask(Transaction, "write alerts", alerts, asked!(write))
            .await
    }

    async fn claim_alerts(
        &self,
        now: Timestamp,
        until: Timestamp,
        limit: usize,
    ) -> Result<Vec<Alert>> {
        let args = (until, now, most(limit));
        let claimed = self.ask(
            Statement,
            "claim alerts",
            args,
            |session, (until, now, limit)| {
                Box::pin(async move {
                    let values = values![*until, *now, *limit];
                    session.listed(CLAIM, &values, ALERTS).await
                })
            },
        );
        Ok(in_order(claimed.await?))
    }

    async fn prune_alerts(&self, before: Timestamp, limit: usize) -> Result<usize> {
        self.execute("prune alerts", PRUNE, values![before, most(limit)])
            .await
    }
}

const ALERTS: Listing<Alert> = listing("alert", row::alert);

/// All nodes take rows in the order of their keys, so that none waits for another in a circle.
async fn write(session: &dyn Session, alerts: &[Alert]) -> Result<Vec<Applied>> {
    let mut order: Vec<usize> = (0..alerts.len()).collect();
    order.sort_by(|a, b| alerts[*a].key.cmp(&alerts[*b].key));
    let mut written = vec![Applied::Lost; alerts.len()];
    for place in order {
        let alert = &alerts[place];
        let (key, facts) = row::alert_values(alert);
        let changed = if alert.version == 0 {
            session.execute(OPEN, &join(key, facts)).await?
        } else {
            let values = join(join(facts, key), values![alert.version]);
            session.execute(CHANGE, &values).await?
        };
        if changed > 0 {
            written[place] = Applied::Done { inserted: None };
        }
    }
    Ok(written)
}

fn join<'a>(mut first: Vec<Value<'a>>, second: Vec<Value<'a>>) -> Vec<Value<'a>> {
    first.extend(second);
    first
}
