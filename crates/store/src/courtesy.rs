//! Statements about what was asked of hosts.

use almanack_core::{
    source::courtesy::{Counts, Day, DayCounts, HostCounts, HostDay, RequestedWaits},
    store::{CourtesyQuery, CourtesyStore, Result},
};
use async_trait::async_trait;

use crate::{
    database::{Access::Transaction, Database, SqlStore},
    row::{Row, Value, listing, many, most, values},
    session::Session,
};

/// The counts of one row, in the order of [`counts`].
macro_rules! columns {
    () => {
        "requests, bytes, unchanged, limited, failed, waited, asked, kept, cache_s, interval_s, \
         skips, retry_after_s"
    };
}
/// The same of many rows. PostgreSQL sums whole numbers to decimal ones unless the text says otherwise.
macro_rules! sums {
    () => {
        "cast(sum(requests) as bigint), cast(sum(bytes) as bigint), cast(sum(unchanged) as bigint), \
         cast(sum(limited) as bigint), cast(sum(failed) as bigint), cast(sum(waited) as bigint), \
         cast(sum(asked) as bigint), cast(sum(kept) as bigint), max(cache_s), max(interval_s), \
         max(skips), max(retry_after_s)"
    };
}
/// The larger of what is there and what is added, in words that both databases know.
macro_rules! larger {
    ($column:literal) => {
        concat!(
            $column,
            " = case when excluded.",
            $column,
            " > source_host.",
            $column,
            " then excluded.",
            $column,
            " else source_host.",
            $column,
            " end"
        )
    };
}

pub(crate) const ADD: &str = concat!(
    "insert into source_host (day, host, ",
    columns!(),
    ") values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14) \
     on conflict (day, host) do update set requests = source_host.requests + excluded.requests, \
     bytes = source_host.bytes + excluded.bytes, \
     unchanged = source_host.unchanged + excluded.unchanged, \
     limited = source_host.limited + excluded.limited, \
     failed = source_host.failed + excluded.failed, \
     waited = source_host.waited + excluded.waited, asked = source_host.asked + excluded.asked, \
     kept = source_host.kept + excluded.kept, ",
    larger!("cache_s"),
    ", ",
    larger!("interval_s"),
    ", ",
    larger!("skips"),
    ", ",
    larger!("retry_after_s")
);

/// Which days, and which host of all: the key begins with the day.
macro_rules! asked_for {
    () => {
        " from source_host where day >= $1 and (cast($2 as text) is null or host = $2) "
    };
}
pub(crate) const LOAD_HOSTS: &str = concat!(
    "select ",
    sums!(),
    ", host",
    asked_for!(),
    "group by host order by sum(requests) desc, host limit $3"
);
pub(crate) const LOAD_DAYS: &str = concat!(
    "select ",
    sums!(),
    ", day",
    asked_for!(),
    "group by day order by day desc"
);
pub(crate) const PRUNE: &str = "delete from source_host where day < $1";

/// Where the counts of a row end.
const AFTER_COUNTS: usize = 12;

#[async_trait]
impl<D: Database> CourtesyStore for SqlStore<D> {
    async fn add_courtesy(&self, days: Vec<HostDay>) -> Result<()> {
        if days.is_empty() {
            return Ok(());
        }
        self.ask(Transaction, "add courtesy", days, |session, days| {
            Box::pin(add(session, days))
        })
        .await
    }

    async fn load_courtesy_hosts(&self, query: &CourtesyQuery) -> Result<Vec<HostCounts>> {
        let values = values![query.from.0, query.host.as_deref(), most(query.limit)];
        let listed = listing("source_host", |row| {
            Ok(HostCounts {
                host: row.text(AFTER_COUNTS)?,
                counts: counts(row)?,
            })
        });
        self.listed("load courtesy by host", LOAD_HOSTS, values, listed)
            .await
    }

    async fn load_courtesy_days(&self, query: &CourtesyQuery) -> Result<Vec<DayCounts>> {
        let values = values![query.from.0, query.host.as_deref()];
        let listed = listing("source_host", |row| {
            Ok(DayCounts {
                day: Day(row.get(AFTER_COUNTS)?),
                counts: counts(row)?,
            })
        });
        self.listed("load courtesy by day", LOAD_DAYS, values, listed)
            .await
    }

    async fn prune_courtesy(&self, before: Day) -> Result<usize> {
        self.execute("prune courtesy", PRUNE, values![before.0])
            .await
    }
}

async fn add(session: &dyn Session, days: &[HostDay]) -> Result<()> {
    let rows: Vec<Vec<Value<'_>>> = days.iter().map(row_values).collect();
    session.execute_each(ADD, &rows).await
}

fn row_values(HostDay { host, day, counts }: &HostDay) -> Vec<Value<'_>> {
    let requested = &counts.requested;
    values![
        day.0,
        host,
        many(counts.requests),
        many(counts.bytes),
        many(counts.unchanged),
        many(counts.limited),
        many(counts.failed),
        many(counts.waited),
        many(counts.asked),
        many(counts.kept),
        requested.cache_s.unwrap_or(0),
        requested.interval_s.unwrap_or(0),
        requested.skips,
        requested.retry_after_s.unwrap_or(0),
    ]
}

fn counts(row: &Row<'_>) -> Result<Counts> {
    let wait = |index| Ok(Some(row.get::<u32>(index)?).filter(|seconds| *seconds > 0));
    Ok(Counts {
        requests: row.get(0)?,
        bytes: row.get(1)?,
        unchanged: row.get(2)?,
        limited: row.get(3)?,
        failed: row.get(4)?,
        waited: row.get(5)?,
        asked: row.get(6)?,
        kept: row.get(7)?,
        requested: RequestedWaits {
            cache_s: wait(8)?,
            interval_s: wait(9)?,
            skips: row.get::<i64>(10)? != 0,
            retry_after_s: wait(11)?,
        },
    })
}
