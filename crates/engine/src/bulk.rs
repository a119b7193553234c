//! Bulk changes: what one would do, its beginning, and the task that carries it out.
//!
//! The dry run and the walk read the same rows by the same filter and ask the same function
//! ([`almanack_core::bulk::plan`]). The walk is a task like any other: a node that dies leaves it to
//! the next one, which continues from the row that the last step wrote.

use std::sync::Arc;

use almanack_core::{
    bulk::{Bulk, BulkId, BulkRequest, DryRun, State, Unclear},
    finish::Outcome,
    handler::Handler,
    lang::{Lang, Say},
    reschedule::Change,
    say,
    store::{self, Applied, Reading, Store, TaskFilter},
    task::{ClaimedTask, Task, TaskId},
    time::Clock,
};
use async_trait::async_trait;

/// Few enough rows that others hardly wait for the transaction that changes them.
pub const STEP_ROWS: usize = 500;
/// Rows that a page of a dry run holds.
const PAGE_ROWS: usize = 5_000;
/// Pages that a dry run reads at most, of at most 10,000 examined rows each.
const PAGES_MAX: usize = 200;
/// How often a row that someone else changed at the same moment is decided about again.
const ROUNDS_MAX: usize = 5;

/// Why a bulk change was not accepted. Nothing changed.
#[derive(Debug, thiserror::Error)]
#[error("{}", self.say(Lang::English))]
pub enum Error {
    /// The request itself.
    #[error(transparent)]
    Unclear(#[from] Unclear),
    /// No bulk change has this number.
    Unknown(BulkId),
    /// It is over; what it changed stays so.
    Ended(BulkId),
    /// The store did not answer.
    #[error(transparent)]
    Store(#[from] store::Error),
}

impl Say for Error {
    fn say(&self, lang: Lang) -> String {
        match self {
            Self::Unclear(it) => it.say(lang),
            Self::Unknown(it) => say!(lang; "no bulk change {it}", "没有批量更改 {it}"),
            Self::Ended(it) => say!(lang; "bulk change {it} has ended", "批量更改 {it} 已结束"),
            Self::Store(it) => it.to_string(),
        }
    }
}

/// The way in for bulk changes.
pub struct Bulks {
    pub store: Arc<dyn Store>,
    pub clock: Arc<dyn Clock>,
}

impl Bulks {
    /// Counts what a request would change now.
    pub async fn dry_run(&self, request: &BulkRequest) -> Result<DryRun, Error> {
        request.check()?;
        let through = self.newest().await?;
        let mut bulk = Bulk::new(request.clone(), through, "", self.clock.now());
        let (mut would_change, mut exact) = (0, false);
        for _ in 0..PAGES_MAX {
            let filter = page(&bulk, Reading::Counted, PAGE_ROWS);
            let found = self.store.list_tasks(&filter).await?;
            let (next, changes) = bulk.next(&found.rows, found.next, self.clock.now());
            would_change += changes.len();
            bulk = next;
            if found.next.is_none() {
                exact = true;
                break;
            }
        }
        Ok(DryRun {
            matched: bulk.matched,
            would_change: u64::try_from(would_change).unwrap_or(u64::MAX),
            skipped: bulk.skipped,
            through_task_id: through,
            exact,
        })
    }

    /// Begins a bulk change of rows up to `through`, or up to the newest there is.
    pub async fn start(
        &self,
        request: BulkRequest,
        through: Option<TaskId>,
        by: &str,
    ) -> Result<Bulk, Error> {
        request.check()?;
        let newest = self.newest().await?;
        let through = through.map_or(newest, |through| through.min(newest));
        let bulk = Bulk::new(request, through, by, self.clock.now());
        let id = self.store.create_bulk(&bulk).await?;
        Ok(Bulk { id, ..bulk })
    }

    /// Stops one that runs. What it changed stays so.
    pub async fn cancel(&self, id: BulkId, by: &str) -> Result<Bulk, Error> {
        let stopped = self.store.cancel_bulk(id, by, self.clock.now()).await?;
        let bulk = self.store.load_bulk(id).await?.ok_or(Error::Unknown(id))?;
        if stopped {
            Ok(bulk)
        } else {
            Err(Error::Ended(id))
        }
    }

    async fn newest(&self) -> Result<TaskId, Error> {
        let newest = TaskFilter {
            reading: Reading::Counted,
            limit: 1,
            ..TaskFilter::default()
        };
        let found = self.store.list_tasks(&newest).await?;
        Ok(found.rows.first().map_or(TaskId(0), |task| task.id))
    }
}

/// The next rows that a bulk change is about.
fn page(bulk: &Bulk, reading: Reading, limit: usize) -> TaskFilter {
    TaskFilter {
        before: Some(bulk.before),
        reading,
        limit,
        ..bulk.request.filter.clone()
    }
}

/// Carries bulk changes out.
pub struct BulkHandler {
    pub store: Arc<dyn Store>,
    pub clock: Arc<dyn Clock>,
    /// Rows that one step changes at most: [`STEP_ROWS`].
    pub step_rows: usize,
}

impl BulkHandler {
    async fn walk(&self, id: BulkId) -> Result<Outcome, store::Error> {
        let Some(mut bulk) = self.store.load_bulk(id).await? else {
            return Ok(Outcome::give_up(format!("no bulk change {id}")));
        };
        while bulk.state == State::Running {
            bulk = match self.step(&bulk).await? {
                Some(next) => next,
                // Another node was faster, or a person stopped it.
                None => match self.store.load_bulk(id).await? {
                    Some(found) => found,
                    None => break,
                },
            };
        }
        Ok(Outcome::done(format!(
            "{}: {} of {} changed",
            bulk.state, bulk.changed, bulk.matched
        )))
    }

    /// One page; `None` if it is not ours to walk on any more.
    async fn step(&self, bulk: &Bulk) -> Result<Option<Bulk>, store::Error> {
        let filter = page(bulk, Reading::Changed, self.step_rows);
        let found = self.store.list_tasks(&filter).await?;
        let (mut next, mut changes) = bulk.next(&found.rows, found.next, self.clock.now());
        let mut rounds = 1..ROUNDS_MAX;
        loop {
            let rows: Vec<TaskId> = changes.iter().filter_map(row_of).collect();
            let Some((advanced, applied)) = self.store.advance_bulk(&next, changes).await? else {
                return Ok(None);
            };
            let lost = rows.into_iter().zip(applied);
            let lost = lost.filter(|(_, applied)| *applied == Applied::Lost);
            let again = self.found_again(&advanced, lost.map(|(id, _)| id)).await?;
            if again.is_empty() || rounds.next().is_none() {
                return Ok(Some(advanced));
            }
            (next, changes) = advanced.again(&again, self.clock.now());
        }
    }

    /// Of rows that someone else changed at the same moment, those that the filter still finds.
    async fn found_again(
        &self,
        bulk: &Bulk,
        lost: impl Iterator<Item = TaskId>,
    ) -> Result<Vec<Task>, store::Error> {
        let mut again = Vec::new();
        for id in lost {
            let filter = TaskFilter {
                before: Some(TaskId(id.0.saturating_add(1))),
                among: Some(1),
                ..page(bulk, Reading::Changed, 1)
            };
            let found = self.store.list_tasks(&filter).await?;
            again.extend(found.rows.into_iter().filter(|row| row.id == id));
        }
        Ok(again)
    }
}

fn row_of(change: &Change) -> Option<TaskId> {
    change.amend.as_ref().map(|amend| amend.guard.task_id)
}

#[async_trait]
impl Handler for BulkHandler {
    async fn attempt(&self, task: &ClaimedTask) -> Outcome {
        let Some(id) = BulkId::of(&task.identity) else {
            return Outcome::give_up("the subject is not that of a bulk change");
        };
        let walked = self.walk(id).await;
        walked.unwrap_or_else(|error| Outcome::retry(error.chain()))
    }
}
