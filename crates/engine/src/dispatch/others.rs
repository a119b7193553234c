//! Who else may have started a workflow's runs: the firings of all nodes, by their rows.
//!
//! The rows are shared, and they outlive a restart, so no node needs its own memory of what it
//! started. Read only where a reply was lost and a run was found.

use std::sync::Arc;

use almanack_core::{
    chain::NotSeen,
    follow::Work,
    plan::{DISPATCH, Firing},
    store::{Store, TaskFilter},
    target::{
        Target,
        runs::{CameTo, Kinship, OtherFiring, OtherFirings, run_of},
    },
    task::{ClaimedTask, Kind, Status, Task, TaskId},
};
use async_trait::async_trait;
use jiff::{SignedDuration, Timestamp};

/// Firings that are read at once.
const FIRINGS_MAX: usize = 1_000;
/// Pages that are read before the doubt is left as it is. A page examines many more rows than it
/// has firings, so that this reaches back far beyond the minutes that a try takes.
const PAGES_MAX: usize = 20;
/// How long after its attempt ended a firing's run may be dated: clocks and whole seconds differ.
const DATED_LATE: SignedDuration = SignedDuration::from_secs(5);

/// The firings in the store.
pub struct StoredFirings(pub Arc<dyn Store>);

impl StoredFirings {
    /// All firings that were made since, newest first, and perhaps some before.
    async fn load_firings(&self, since: Timestamp) -> Result<Vec<Task>, NotSeen> {
        let kind = Kind::parse(DISPATCH).map_err(|invalid| unseen(invalid.to_string()))?;
        let mut filter = TaskFilter {
            kind: Some(kind),
            limit: FIRINGS_MAX,
            ..TaskFilter::default()
        };
        let mut rows: Vec<Task> = Vec::new();
        for _ in 0..PAGES_MAX {
            let page = self.0.list_tasks(&filter).await;
            let page = page.map_err(|error| unseen(error.chain()))?;
            rows.extend(page.rows);
            filter.before = page.next;
            let is_before = |row: &Task| row.created_at <= since;
            if filter.before.is_none() || rows.last().is_some_and(is_before) {
                return Ok(rows);
            }
        }
        Err(unseen("too many tasks were created since".to_owned()))
    }

    /// Those whose run is followed name it, whatever became of them since.
    async fn name_followed(&self, others: &mut [(TaskId, OtherFiring)]) -> Result<(), NotSeen> {
        let ids: Vec<TaskId> = others.iter().map(|(id, _)| *id).collect();
        let followed = self.0.load_followed(&ids).await;
        for followed in followed.map_err(|error| unseen(error.chain()))? {
            let other = others.iter_mut().find(|(id, _)| *id == followed.task_id);
            if let (Some((_, other)), Work::Run { run, .. }) = (other, followed.work) {
                other.came_to = run.map_or(CameTo::Unnamed, CameTo::Run);
            }
        }
        Ok(())
    }
}

#[async_trait]
impl OtherFirings for StoredFirings {
    async fn load_decided_at(&self, task: &ClaimedTask) -> Result<Timestamp, NotSeen> {
        let row = self.0.load_task(task.id).await;
        let row = row.map_err(|error| unseen(error.chain()))?;
        let row = row.ok_or_else(|| unseen("the firing is gone".to_owned()))?;
        Ok(row.created_at)
    }

    async fn load_others(
        &self,
        task: &ClaimedTask,
        target: &Target,
        since: Timestamp,
    ) -> Result<Vec<OtherFiring>, NotSeen> {
        let rows = self.load_firings(since).await?;
        let others = rows.iter().filter(|row| row.id != task.id);
        let mut others: Vec<_> = others
            .filter_map(|row| Some((row.id, other(row, task, target, since)?)))
            .collect();
        self.name_followed(&mut others).await?;
        Ok(others.into_iter().map(|(_, other)| other).collect())
    }
}

/// What a row says about the runs of the workflow; `None` if it cannot have started one since.
fn other(row: &Task, task: &ClaimedTask, target: &Target, since: Timestamp) -> Option<OtherFiring> {
    let firing = Firing::read(&row.payload).ok()?;
    let ended_at = row.finished_at.filter(|_| !row.is_live());
    let last_at = ended_at.map(|at| at.saturating_add(DATED_LATE).unwrap_or(at));
    let was_tried = row.term.0 > 0 && last_at.is_none_or(|last_at| last_at >= since);
    if !was_tried || !target.shares_runs_with(&firing.target) {
        return None;
    }
    let came_to = match row.status {
        Status::Success => {
            let run = row.detail.as_deref().and_then(run_of);
            run.map_or(CameTo::Unnamed, CameTo::Run)
        }
        _ => CameTo::Doubt,
    };
    let kinship = match (firing.target == *target, row.id < task.id) {
        (false, _) => Kinship::Different,
        (true, true) => Kinship::Earlier,
        (true, false) => Kinship::Later,
    };
    Some(OtherFiring { came_to, kinship })
}

fn unseen(why: String) -> NotSeen {
    NotSeen {
        why,
        retry_after: None,
    }
}
