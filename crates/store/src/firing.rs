//! Statements about firings whose work is followed.
//!
//! INVARIANT: every change is conditional on the row being open, so the first ending stays.

use almanack_core::{
    follow::{Ended, Ending, Followed, FollowedChange},
    store::{FiringStore, Result},
    task::TaskId,
};
use async_trait::async_trait;
use jiff::Timestamp;

use crate::{
    database::{Database, SqlStore},
    row::{Row, listing, most, unreadable, values},
};

/// What [`followed`] reads.
macro_rules! columns {
    () => {
        "f.task_id, f.work, f.handed_over_at_us, f.follow_until_us, f.started_at_us, \
         f.heard_at_us, f.note, f.ended, f.detail, f.ended_at_us"
    };
}
pub(crate) const SAVE: &str = "insert into firing (task_id, work, handed_over_at_us, \
     follow_until_us, started_at_us) values ($1, $2, $3, $4, $5) on conflict (task_id) do nothing";
/// The numbers come as a JSON array, which each database takes apart in its own way.
pub(crate) const LOAD_SQLITE: &str = concat!(
    "select ",
    columns!(),
    " from firing f where f.task_id in (select value from json_each(?1))"
);
pub(crate) const LOAD_POSTGRES: &str = concat!(
    "select ",
    columns!(),
    " from firing f where f.task_id in \
     (select value::bigint from json_array_elements_text($1::text::json))"
);
/// SQLite numbers parameters by where they first stand, so they stand in order.
pub(crate) const CHANGE: &str = "update firing set work = coalesce(cast($1 as text), work), \
     started_at_us = coalesce(started_at_us, cast($2 as bigint)), \
     heard_at_us = coalesce(cast($3 as bigint), heard_at_us), \
     note = coalesce(cast($4 as text), note), ended = cast($5 as text), \
     detail = cast($6 as text), ended_at_us = cast($7 as bigint) \
     where task_id = $8 and ended_at_us is null and (cast($9 as bigint) = 0 or exists \
     (select 1 from task t where t.id = firing.task_id \
     and (t.status = 'RUNNING' or t.due_at_us is not null)))";
pub(crate) const LOAD_ABANDONED: &str = concat!(
    "select ",
    columns!(),
    " from firing f where f.ended_at_us is null and not exists (select 1 from task t \
     where t.id = f.task_id and (t.status = 'RUNNING' or t.due_at_us is not null)) \
     order by f.task_id limit $1"
);
pub(crate) const PRUNE: &str = "delete from firing where task_id in \
     (select task_id from firing where ended_at_us < $1 order by ended_at_us limit $2)";

#[async_trait]
impl<D: Database> FiringStore for SqlStore<D> {
    async fn save_followed(&self, followed: &Followed) -> Result<()> {
        let values = values![
            followed.task_id.0,
            serde_json::to_string(&followed.work).map_err(unreadable)?,
            followed.handed_over_at,
            followed.follow_until,
            followed.started_at,
        ];
        self.execute("save followed firing", SAVE, values).await?;
        Ok(())
    }

    async fn load_followed(&self, firings: &[TaskId]) -> Result<Vec<Followed>> {
        if firings.is_empty() {
            return Ok(Vec::new());
        }
        let text = D::text(LOAD_SQLITE, LOAD_POSTGRES);
        let asked = serde_json::to_string(firings).map_err(unreadable)?;
        let listed = listing("firing", followed);
        self.listed("load followed firings", text, values![asked], listed)
            .await
    }

    async fn change_followed(&self, firing: TaskId, change: &FollowedChange) -> Result<bool> {
        let work = change.work.as_ref().map(serde_json::to_string);
        let ending = change.ending.as_ref();
        let values = values![
            work.transpose().map_err(unreadable)?,
            change.started_at,
            change.heard_at,
            change.note.as_deref(),
            ending.map(|ending| ending.ended.as_str()),
            ending.map(|ending| ending.detail.as_str()),
            ending.map(|ending| ending.ended_at),
            firing.0,
            i64::from(change.only_live),
        ];
        let changed = self.execute("change followed firing", CHANGE, values);
        Ok(changed.await? > 0)
    }

    async fn load_abandoned(&self, limit: usize) -> Result<Vec<Followed>> {
        let (values, listed) = (values![most(limit)], listing("firing", followed));
        self.listed("load abandoned firings", LOAD_ABANDONED, values, listed)
            .await
    }

    async fn prune_followed(&self, before: Timestamp, limit: usize) -> Result<usize> {
        let values = values![before, most(limit)];
        self.execute("prune followed firings", PRUNE, values).await
    }
}

fn followed(row: &Row<'_>) -> Result<Followed> {
    Ok(Followed {
        task_id: row.get(0)?,
        work: serde_json::from_str(&row.text(1)?).map_err(unreadable)?,
        handed_over_at: row.get(2)?,
        follow_until: row.get(3)?,
        started_at: row.get(4)?,
        heard_at: row.get(5)?,
        note: row.get(6)?,
        ending: ending(row)?,
    })
}

fn ending(row: &Row<'_>) -> Result<Option<Ending>> {
    let Some(ended_at) = row.get::<Option<Timestamp>>(9)? else {
        return Ok(None);
    };
    let name = row.text(7)?;
    let ended = Ended::parse(&name).ok_or_else(|| unreadable(format!("ended `{name}`")))?;
    Ok(Some(Ending {
        ended,
        detail: row.text(8)?,
        ended_at,
    }))
}
