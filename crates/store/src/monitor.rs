//! Statements about monitors and their pings.
//!
//! What was heard is written with the schedule's row, by whoever got its version. Keys are written
//! alone: they decide nothing about slots.

use almanack_core::{
    plan::{Monitor, PINGS_KEPT, Ping, Schedule, ScheduleId, ScheduleName, ScheduleWrite},
    store::{MonitorKey, MonitorKeys, MonitorStore, Page, Result},
};
use async_trait::async_trait;

use crate::{
    database::{Access::Read, Database, SqlStore},
    row::{self, Row, Value, listing, many, most, one_more, unreadable, values},
    schedule::columns,
    session::{Session, asked},
};

macro_rules! note_monitor {
    ($values:literal) => {
        concat!(
            "insert into monitor (schedule_id, down_since_us, facts) ",
            $values,
            " on conflict (schedule_id) do update set down_since_us = excluded.down_since_us, \
             facts = excluded.facts"
        )
    };
}
pub(crate) const NOTE_MONITOR_SQLITE: &str = note_monitor!("values (?1, ?2, ?3)");
pub(crate) const NOTE_MONITOR_POSTGRES: &str =
    note_monitor!("select * from unnest($1::bigint[], $2::bigint[], $3::text[])");

macro_rules! ping_columns {
    () => {
        "number, at_us, took_us, exit_status, kind, method, rid, body"
    };
}
pub(crate) const NOTE_PING_SQLITE: &str = concat!(
    "insert into ping (schedule_id, ",
    ping_columns!(),
    ") values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)"
);
pub(crate) const NOTE_PING_POSTGRES: &str = concat!(
    "insert into ping (schedule_id, ",
    ping_columns!(),
    ") select * from unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::integer[], \
     $6::text[], $7::text[], $8::text[], $9::text[])"
);
/// Of one monitor, those up to a number.
pub(crate) const FORGET_PINGS: &str = "delete from ping where schedule_id = $1 and number <= $2";

const LOAD: &str = "select facts from monitor where schedule_id = $1";
const LOAD_KEYS: &str = "select ping_hash, badge from monitor where schedule_id = $1";
/// A key that is another's already is refused here; of two that ask at once, by its index.
const SAVE_KEYS: &str = "update monitor set ping_hash = $1, badge = $2 where schedule_id = $3 \
     and not exists (select 1 from monitor other where other.schedule_id <> $3 \
     and (other.ping_hash = $1 or other.badge = $2))";
const FIND_BY_PING: &str = "select s.name from monitor m \
     join schedule s on s.schedule_id = m.schedule_id where m.ping_hash = $1";
const FIND_BY_BADGE: &str = "select s.name from monitor m \
     join schedule s on s.schedule_id = m.schedule_id where m.badge = $1";
const LOAD_DOWN: &str = "select s.name from monitor m \
     join schedule s on s.schedule_id = m.schedule_id \
     where m.down_since_us is not null and s.state = 'active' \
     order by m.down_since_us, m.schedule_id limit $1";
const LIST: &str = concat!(
    "select ",
    columns!(),
    " from monitor m join schedule s on s.schedule_id = m.schedule_id \
     where m.schedule_id > $1 and s.state <> 'removed' order by m.schedule_id limit $2"
);
const LOAD_PINGS: &str = concat!(
    "select ",
    ping_columns!(),
    " from ping where schedule_id = $1 and number < $2 order by number desc limit $3"
);

/// What [`NOTE_MONITOR_SQLITE`] writes of it, if a write says anything about a monitor.
pub(crate) fn monitor_values(id: ScheduleId, write: &ScheduleWrite) -> Option<Vec<Value<'static>>> {
    let monitor = &write.monitor.as_ref()?.monitor;
    let facts = serde_json::to_string(monitor).unwrap_or_default();
    let down = monitor.down.as_ref().map(|down| down.since);
    Some(values![id.0, down, facts])
}

/// The ping that a write keeps, and what [`NOTE_PING_SQLITE`] writes of it.
pub(crate) fn ping_values(id: ScheduleId, write: &ScheduleWrite) -> Option<Vec<Value<'_>>> {
    let ping = write.monitor.as_ref()?.ping.as_ref()?;
    let took_us = ping
        .took
        .and_then(|took| i64::try_from(took.as_micros()).ok());
    Some(values![
        id.0,
        many(ping.number),
        ping.at,
        took_us,
        ping.exit_status.map(i64::from),
        ping.kind.as_str(),
        &ping.method,
        &ping.rid,
        &ping.body,
    ])
}

/// The last ping that is forgotten for the one that a write keeps.
pub(crate) fn forgotten_to(write: &ScheduleWrite) -> Option<i64> {
    let ping = write.monitor.as_ref()?.ping.as_ref()?;
    let last = ping.number.saturating_sub(PINGS_KEPT);
    (last > 0).then(|| many(last))
}

fn monitor(row: &Row<'_>) -> Result<Monitor> {
    serde_json::from_str(&row.text(0)?).map_err(unreadable)
}

fn ping(row: &Row<'_>) -> Result<Ping> {
    let took_us: Option<i64> = row.get(2)?;
    let exit_status: Option<u32> = row.get(3)?;
    Ok(Ping {
        number: row.get(0)?,
        at: row.get(1)?,
        took: took_us.map(jiff::SignedDuration::from_micros),
        exit_status: exit_status.and_then(|status| u8::try_from(status).ok()),
        kind: row.get(4)?,
        method: row.get(5)?,
        rid: row.get(6)?,
        body: row.get(7)?,
    })
}

#[async_trait]
impl<D: Database> MonitorStore for SqlStore<D> {
    async fn load_monitors(&self, ids: &[ScheduleId]) -> Result<Vec<Option<Monitor>>> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        self.ask(Read, "load monitors", ids.to_vec(), asked!(load))
            .await
    }

    async fn list_monitors(
        &self,
        after: ScheduleId,
        limit: usize,
    ) -> Result<Page<Schedule, ScheduleId>> {
        let values = values![after.0, one_more(limit)];
        let found = self.listed("list monitors", LIST, values, row::SCHEDULES);
        Ok(Page::cut(found.await?, limit, None, |it| it.id))
    }

    async fn find_monitor(&self, key: &MonitorKey) -> Result<Option<ScheduleName>> {
        let (text, key) = match key {
            MonitorKey::Ping(hash) => (FIND_BY_PING, hash),
            MonitorKey::Badge(badge) => (FIND_BY_BADGE, badge),
        };
        self.one("find monitor", text, values![key], |row| row.get(0))
            .await
    }

    async fn load_monitor_keys(&self, id: ScheduleId) -> Result<MonitorKeys> {
        let found = self.one("load monitor keys", LOAD_KEYS, values![id.0], |row| {
            Ok(MonitorKeys {
                ping_hash: row.get(0)?,
                badge: row.get(1)?,
            })
        });
        Ok(found.await?.unwrap_or_default())
    }

    async fn save_monitor_keys(&self, id: ScheduleId, keys: &MonitorKeys) -> Result<bool> {
        let values = values![&keys.ping_hash, &keys.badge, id.0];
        let saved = self.execute("save monitor keys", SAVE_KEYS, values);
        Ok(saved.await? > 0)
    }

    async fn load_down_monitors(&self, limit: usize) -> Result<Vec<ScheduleName>> {
        let listed = listing("monitor", |row| row.get(0));
        let values = values![most(limit)];
        self.listed("load monitors that are down", LOAD_DOWN, values, listed)
            .await
    }

    async fn load_pings(&self, id: ScheduleId, before: u64, limit: usize) -> Result<Vec<Ping>> {
        let values = values![id.0, many(before), most(limit)];
        let listed = listing("ping", ping);
        self.listed("load pings", LOAD_PINGS, values, listed).await
    }
}

/// One by one, on one connection: of what is due at once few are monitors.
async fn load(session: &dyn Session, ids: &Vec<ScheduleId>) -> Result<Vec<Option<Monitor>>> {
    let mut found = Vec::with_capacity(ids.len());
    for id in ids {
        let values = [Value::from(id.0)];
        found.push(session.one(LOAD, &values, monitor).await?);
    }
    Ok(found)
}
