//! What of a schedule runs: of all the firings its row remembers, those that have not ended.

use almanack_core::{
    plan::{Definition, Monitor, Overlap, Ready, Schedule, ScheduleId},
    store::{self, Store},
    task::{Identity, Task},
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
    let mut tasks = tasks.into_iter().map(|task| task.ok().flatten());
    let running = asked.iter().map(|asked| {
        let found = tasks.by_ref().take(asked.len()).flatten();
        found.filter(Task::is_live).collect()
    });
    Ok(running.collect())
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
