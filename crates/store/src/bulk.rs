//! Statements about bulk changes.

use almanack_core::{
    bulk::{Bulk, BulkId, Skip, State},
    reschedule::Change,
    store::{Applied, BulkStore, Page, Result},
    task::TaskId,
};
use async_trait::async_trait;
use jiff::Timestamp;

use crate::{
    database::{Access::Transaction, Database, SqlStore},
    nudge::earliest_hint,
    row::{Listing, Row, listing, many, micros, most, one_more, unreadable, values},
    session::{Session, asked},
};

/// What [`bulk`] reads.
macro_rules! columns {
    () => {
        "bulk_id, step, through_task_id, before_task_id, matched, changed, created_at_us, \
         ended_at_us, state, requested_by, cancelled_by, request, skipped"
    };
}
const CREATE: &str = "insert into bulk (step, through_task_id, before_task_id, matched, changed, \
     created_at_us, state, requested_by, request, skipped) \
     values ($1, $2, $3, 0, 0, $4, $5, $6, $7, '{}') returning bulk_id";
const LOAD: &str = concat!("select ", columns!(), " from bulk where bulk_id = $1");
const LIST: &str = concat!(
    "select ",
    columns!(),
    " from bulk where bulk_id < $1 order by bulk_id desc limit $2"
);
/// Takes the row, if it is still where the step began: whoever else wants it waits, and then finds
/// it further on.
const TAKE: &str =
    "update bulk set step = step + 1 where bulk_id = $1 and step = $2 and state = 'running'";
const ADVANCE: &str = "update bulk set before_task_id = $1, matched = $2, changed = $3, \
     ended_at_us = $4, state = $5, skipped = $6 where bulk_id = $7";
const CANCEL: &str = "update bulk set state = 'cancelled', cancelled_by = $1, ended_at_us = $2 \
     where bulk_id = $3 and state = 'running'";
const PRUNE: &str = "delete from bulk where bulk_id in (select bulk_id from bulk \
     where ended_at_us < $1 order by bulk_id limit $2)";

const BULKS: Listing<Bulk> = listing("bulk", bulk);

#[async_trait]
impl<D: Database> BulkStore for SqlStore<D> {
    async fn create_bulk(&self, bulk: &Bulk) -> Result<BulkId> {
        let args = bulk.clone();
        let created = self.ask(Transaction, "create bulk change", args, asked!(create));
        let id = created.await?;
        self.0.hint(Some(bulk.created_at)).await;
        Ok(id)
    }

    async fn load_bulk(&self, id: BulkId) -> Result<Option<Bulk>> {
        self.one("load bulk change", LOAD, values![id.0], bulk)
            .await
    }

    async fn list_bulks(&self, before: Option<BulkId>, limit: usize) -> Result<Page<Bulk, BulkId>> {
        let before = before.map_or(i64::MAX, |id| id.0);
        let values = values![before, one_more(limit)];
        let found = self
            .listed("list bulk changes", LIST, values, BULKS)
            .await?;
        Ok(Page::cut(found, limit, None, |bulk| bulk.id))
    }

    async fn advance_bulk(
        &self,
        bulk: &Bulk,
        changes: Vec<Change>,
    ) -> Result<Option<(Bulk, Vec<Applied>)>> {
        let hint = earliest_hint(&changes, D::SAFETY_POLL);
        let args = (bulk.clone(), changes);
        let advanced = self
            .ask(Transaction, "advance bulk change", args, asked!(advance))
            .await?;
        if advanced.is_some() {
            self.0.hint(hint).await;
        }
        Ok(advanced)
    }

    async fn cancel_bulk(&self, id: BulkId, by: &str, now: Timestamp) -> Result<bool> {
        let values = values![by, now, id.0];
        let rows = self.execute("cancel bulk change", CANCEL, values).await?;
        Ok(rows > 0)
    }

    async fn prune_bulks(&self, before: Timestamp, limit: usize) -> Result<usize> {
        let values = values![before, most(limit)];
        self.execute("prune bulk changes", PRUNE, values).await
    }
}

async fn create(session: &dyn Session, bulk: &Bulk) -> Result<BulkId> {
    let request = serde_json::to_string(&bulk.request).map_err(unreadable)?;
    let values = values![
        bulk.step,
        bulk.through_task_id.0,
        bulk.before.0,
        bulk.created_at,
        bulk.state.as_str(),
        &bulk.requested_by,
        request,
    ];
    let id = session.number(CREATE, &values).await?;
    let id = BulkId(id.ok_or_else(|| unreadable("a bulk change without a number"))?);
    let task = bulk.task(id).map_err(unreadable)?;
    session
        .insert_tasks(&[task], micros(bulk.created_at))
        .await?;
    Ok(id)
}

async fn advance(
    session: &dyn Session,
    (bulk, changes): &(Bulk, Vec<Change>),
) -> Result<Option<(Bulk, Vec<Applied>)>> {
    let values = values![bulk.id.0, bulk.step];
    if session.execute(TAKE, &values).await? == 0 {
        return Ok(None);
    }
    let applied = session.apply(changes).await?;
    let bulk = bulk.clone().settled(&applied);
    let values = values![
        bulk.before.0,
        many(bulk.matched),
        many(bulk.changed),
        bulk.ended_at,
        bulk.state.as_str(),
        serde_json::to_string(&bulk.skipped).map_err(unreadable)?,
        bulk.id.0,
    ];
    session.execute(ADVANCE, &values).await?;
    Ok(Some((bulk, applied)))
}

fn bulk(row: &Row<'_>) -> Result<Bulk> {
    let state = row.text(8)?;
    let skipped: std::collections::BTreeMap<Skip, u64> =
        serde_json::from_str(&row.text(12)?).map_err(unreadable)?;
    Ok(Bulk {
        id: BulkId(row.get(0)?),
        step: row.get(1)?,
        through_task_id: row.get(2)?,
        before: TaskId(row.get(3)?),
        matched: row.get(4)?,
        changed: row.get(5)?,
        created_at: row.get(6)?,
        ended_at: row.get(7)?,
        state: State::parse(&state).ok_or_else(|| unreadable(format!("state `{state}`")))?,
        requested_by: row.get(9)?,
        cancelled_by: row.get(10)?,
        request: serde_json::from_str(&row.text(11)?).map_err(unreadable)?,
        skipped,
    })
}
