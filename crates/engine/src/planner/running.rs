//! What of a schedule runs: of all the firings its row remembers, those that have not ended.

use std::collections::BTreeSet;

use almanack_core::{
    follow::Work,
    plan::{Definition, Monitor, Overlap, Ready, Schedule, ScheduleId},
    store::{self, Store},
    task::{Identity, Status, Task, TaskId},
};

use crate::current::load_each;

/// The firings of each schedule that have not ended, newest first.
pub(crate) async fn load_running(
    store: &dyn Store,
    schedules: &[Schedule],
) -> store::Result<Vec<Vec<Task>>> {
    let asked: Vec<Vec<Identity>> = schedules.iter().map(Schedule::open_firings).collect();
    let identities = asked.concat();
    if identities.is_empty() {
        return Ok(vec![Vec::new(); schedules.len()]);
    }
    // A firing that cannot be read keeps no slot waiting: it will be set aside when it is claimed.
    let tasks = load_each(store, &identities).await?;
    let tasks = tasks.into_iter().map(|task| task.ok().flatten());
    let tasks: Vec<_> = tasks.map(|task| task.filter(Task::is_live)).collect();
    let over = load_over(store, tasks.iter().flatten()).await?;
    let mut tasks = tasks.into_iter();
    let running = asked.iter().map(|asked| {
        let found = tasks.by_ref().take(asked.len()).flatten();
        found.filter(|task| !over.contains(&task.id)).collect()
    });
    Ok(running.collect())
}

/// Those of the firings whose work is over, though they have not been looked at since: overlap is
/// about the work, and a schedule of every second must not wait for the look (DP-19).
async fn load_over(
    store: &dyn Store,
    live: impl Iterator<Item = &Task>,
) -> store::Result<BTreeSet<TaskId>> {
    // A firing that has never been claimed has handed nothing over.
    let claimed = live.filter(|task| task.term.0 > 0);
    let firings: Vec<TaskId> = claimed.map(|task| task.id).collect();
    let mut over = BTreeSet::new();
    if firings.is_empty() {
        return Ok(over);
    }
    for followed in store.load_followed(&firings).await? {
        let is_over = match followed.work {
            _ if followed.ending.is_some() => true,
            Work::Task { task_id } => {
                let row = store.load_task(task_id).await?;
                // One that was cancelled may have been replaced; the look knows.
                row.is_some_and(|row| !row.is_live() && row.status != Status::Cancelled)
            }
            Work::Run { .. } | Work::Report { .. } => false,
        };
        if is_over {
            over.insert(followed.task_id);
        }
    }
    Ok(over)
}

/// What was heard of the jobs of those that are monitors.
pub(crate) async fn load_monitors(
    store: &dyn Store,
    schedules: &[Schedule],
) -> store::Result<Vec<Option<Monitor>>> {
    let is_monitor = |it: &Schedule| it.definition.read().is_ok_and(Definition::is_monitor);
    let asked: Vec<ScheduleId> = schedules
        .iter()
        .filter(|it| is_monitor(it))
        .map(|it| it.id)
        .collect();
    let mut heard = store.load_monitors(&asked).await?.into_iter();
    let of = |it: &Schedule| is_monitor(it).then(|| heard.next().flatten()).flatten();
    Ok(schedules.iter().map(of).collect())
}

/// The newest of those that run, unless the policy is that it does not matter.
pub(crate) fn in_the_way<'a>(ready: &Ready, running: &'a [Task]) -> Option<&'a Task> {
    let matters = ready.definition.overlap != Overlap::Allow;
    running.first().filter(|_| matters)
}
