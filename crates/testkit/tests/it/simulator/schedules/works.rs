//! Firings at Almanack's own tasks: handed over and followed by the product's own handler, over a
//! store that fails, on nodes that die at any call; and the tasks they put.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use almanack_core::{
    finish::Outcome,
    follow::{Ended, Followed, Work},
    handler::Handler as _,
    plan::{DISPATCH, Firing, ScheduleName},
    store::{Store, TaskFilter},
    target::Target,
    task::{ClaimedTask, Identity, Kind, Status, Task, TaskId},
    time::{Clock, Sleeper},
};
use almanack_engine::{
    dispatch::{DispatchHandler, TaskLauncher},
    reschedule::{Kinds, Rescheduler},
};
use jiff::{SignedDuration, Timestamp};

use super::{
    super::{
        dice::Dice,
        time::{Barrier, NodeSleeper, pass},
    },
    calls::{Service, is_handled},
    planners::World,
};

/// The kind of what schedules put.
pub(super) const WORK: &str = "WORK";
/// A node that dies during an attempt is noticed after this.
const LEASE: Duration = Duration::from_secs(30);
/// Once healed, the end of work is noticed within this.
const LOOKED_AT_WITHIN: SignedDuration = SignedDuration::from_secs(60);
/// How often the work of cancelled firings is looked for.
const CLEAR_UP_EVERY: Duration = Duration::from_mins(10);
const PAGE: usize = 5_000;

/// What a schedule's task is about: the slot's own.
pub(super) fn work_subject(name: &ScheduleName) -> String {
    format!("{name}@{{slot}}")
}

/// The firings that may have put the task with this subject: of a slot, or by hand.
pub(super) fn firings_of(subject: &str) -> [String; 2] {
    let (name, slot) = subject.split_once('@').unwrap_or((subject, ""));
    [
        format!("schedule:{name}@{slot}"),
        format!("schedule:{name}@manual-{slot}"),
    ]
}

/// Those of them that know of it.
pub(super) async fn followers(store: &Arc<dyn Store>, subject: &str) -> Vec<String> {
    let mut followers = Vec::new();
    for firing in firings_of(subject) {
        let Ok(identity) = Identity::parse(&firing, DISPATCH) else {
            continue;
        };
        let rows = store.load_current(&[identity]).await.unwrap_or_default();
        let ids: Vec<TaskId> = rows.iter().flatten().map(|row| row.id).collect();
        let followed = store.load_followed(&ids).await.unwrap_or_default();
        if !followed.is_empty() {
            followers.push(firing);
        }
    }
    followers
}

/// Whether the product's own handler makes this attempt.
pub(super) fn is_followed(task: &ClaimedTask) -> bool {
    let firing = Firing::read(&task.payload);
    let is_own =
        |firing: Firing| matches!(firing.target, Target::Task { .. }) || is_handled(&firing);
    task.identity.kind.as_str() == DISPATCH && firing.is_ok_and(is_own)
}

/// A node's handler, over a way to the store that fails now and then. A cap is kept by leases, and
/// whose lease the store does not hear of is one more than the cap: for those the way is good.
fn handler(world: &World, dice: &Dice, (capped, healed): (bool, bool)) -> DispatchHandler {
    let barrier = Arc::new(Barrier::new(world.truth));
    let store: Arc<dyn Store> = if capped {
        Arc::clone(&world.store)
    } else {
        world.way("follower", &barrier, dice)
    };
    let clock = world.clock(dice);
    let sleeper: Arc<dyn Sleeper> = Arc::new(NodeSleeper {
        clock: Arc::clone(&clock),
        barrier,
    });
    let clock: Arc<dyn Clock> = clock;
    let kinds = Kinds {
        accept_any: true,
        ..Kinds::default()
    };
    let launcher = TaskLauncher {
        rescheduler: Arc::new(Rescheduler::new(store.clone(), clock.clone(), kinds)),
        store: store.clone(),
        clock: clock.clone(),
        done_here: BTreeMap::new(),
    };
    let service = Service {
        world: world.clone(),
        dice: dice.fork(),
        healed,
    };
    DispatchHandler::new(store, clock, sleeper)
        .with("task", Arc::new(launcher))
        .with("webhook", Arc::new(service))
}

/// One attempt of the product's own, unless its node dies during it.
pub(super) async fn attempt(
    world: &World,
    dice: &Dice,
    task: &ClaimedTask,
    healed: bool,
) -> Outcome {
    let capped = Firing::read(&task.payload).is_ok_and(|it| it.firings_max.is_some());
    let handler = handler(world, dice, (capped, healed));
    if healed || !dice.hits(200) {
        return handler.attempt(task).await;
    }
    let dies = pass(dice.millis(0, 40));
    tokio::select! {
        biased;
        () = dies => {}
        outcome = handler.attempt(task) => if dice.hits(500) { return outcome },
    }
    world
        .record
        .note(task.identity.subject.as_str(), "its node dies");
    pass(LEASE).await;
    Outcome::LeaseExpired
}

/// Withdraws the work of cancelled firings, for as long as it is polled.
pub(super) async fn clear_up(world: World, dice: Dice) {
    loop {
        pass(CLEAR_UP_EVERY).await;
        handler(&world, &dice, (false, false)).clear_up().await;
    }
}

async fn load(store: &dyn Store, kind: &str) -> Result<Vec<Task>, String> {
    let mut filter = TaskFilter {
        kind: Kind::parse(kind).ok(),
        limit: PAGE,
        ..TaskFilter::default()
    };
    let mut tasks = Vec::new();
    loop {
        let page = store.list_tasks(&filter).await;
        let page = page.map_err(|error| error.to_string())?;
        tasks.extend(page.rows);
        if page.next.is_none() {
            return Ok(tasks);
        }
        filter.before = page.next;
    }
}

/// Every task was put once, and every firing ended as its task did, soon after it.
pub(super) async fn check(world: &World) -> Result<(), String> {
    handler(world, &Dice::new(0), (true, true)).clear_up().await;
    let works = load(&*world.store, WORK).await?;
    let mut by_subject: BTreeMap<&str, &Task> = BTreeMap::new();
    for task in &works {
        let subject = task.identity.subject.as_str();
        if by_subject.insert(subject, task).is_some() {
            return Err(format!("{subject} was put twice"));
        }
    }
    let by_id: BTreeMap<TaskId, &Task> = works.iter().map(|task| (task.id, task)).collect();
    let mut followed_of = BTreeMap::new();
    let firings = load(&*world.store, DISPATCH).await?;
    let ids: Vec<TaskId> = firings.iter().map(|firing| firing.id).collect();
    for ids in ids.chunks(1_000) {
        let found = world.store.load_followed(ids).await;
        for followed in found.map_err(|error| error.to_string())? {
            followed_of.insert(followed.task_id, followed);
        }
    }
    for firing in &firings {
        let followed = followed_of.get(&firing.id);
        let since = world.truth.now() - LOOKED_AT_WITHIN;
        let checked = match followed.map(|it| &it.work) {
            Some(Work::Report { .. }) => {
                followed.map_or(Ok(()), |it| check_reported(firing, it, since))
            }
            _ => check_one(firing, followed, &by_id, since),
        };
        checked.map_err(|why| {
            let subject = &firing.identity.subject;
            format!("{subject} ({}): {why}", firing.status)
        })?;
    }
    // No work without a firing that knows of it: it would run unseen, beside the next slot's.
    for task in &works {
        let known = followed_of
            .values()
            .any(|followed| followed.work == Work::Task { task_id: task.id });
        let cancelled = firings_of(task.identity.subject.as_str());
        let cancelled = firings.iter().any(|firing| {
            firing.status == Status::Cancelled
                && cancelled.contains(&firing.identity.subject.to_string())
        });
        if !known && !cancelled {
            return Err(format!(
                "{} is followed by no firing",
                task.identity.subject
            ));
        }
    }
    Ok(())
}

/// What a service reports about ends its firing, and so does that it says nothing.
fn check_reported(firing: &Task, followed: &Followed, since: Timestamp) -> Result<(), String> {
    match (&followed.ending, firing.status) {
        (None, Status::Cancelled) => Err("its work was never cleared up".to_owned()),
        (None, _) if !firing.is_live() => Err("it has ended before its work".to_owned()),
        (None, _) if followed.expected_until() < since => Err("it was never given up".to_owned()),
        (Some(ending), _) if firing.is_live() && ending.ended_at < since => {
            Err("its work is over, and it goes on".to_owned())
        }
        (Some(ending), status) if !firing.is_live() && status != Status::Cancelled => {
            let expected = match ending.ended {
                Ended::Done => Status::Success,
                Ended::Failed | Ended::Cancelled => Status::Fail,
            };
            let same = status == expected;
            same.then_some(())
                .ok_or_else(|| format!("it says {}", ending.ended))
        }
        _ => Ok(()),
    }
}

fn check_one(
    firing: &Task,
    followed: Option<&Followed>,
    works: &BTreeMap<TaskId, &Task>,
    since: Timestamp,
) -> Result<(), String> {
    let Some(followed) = followed else {
        return Ok(());
    };
    let Work::Task { task_id } = followed.work else {
        return Err("it follows something else than a task".to_owned());
    };
    let Some(work) = works.get(&task_id) else {
        return Err(format!("its task {task_id} is not there"));
    };
    let just_now = work.finished_at.is_some_and(|at| at >= since);
    match (&followed.ending, firing.status) {
        (None, Status::Cancelled) => Err("its work was never cleared up".to_owned()),
        (_, _) if firing.is_live() && just_now => Ok(()),
        (None, _) if !work.is_live() => {
            Err("its work is over, and it was never looked at".to_owned())
        }
        (None, _) if !firing.is_live() => Err("it has ended before its work".to_owned()),
        (None, _) | (Some(_), Status::Cancelled) => Ok(()),
        (Some(_), _) if firing.is_live() => Err("its work is over, and it goes on".to_owned()),
        (Some(ending), status) => {
            let expected = match work.status {
                Status::Success => (Ended::Done, Status::Success),
                Status::Fail if !work.is_live() => (Ended::Failed, Status::Fail),
                _ => return Err(format!("its task is {} at the end", work.status)),
            };
            if (ending.ended, status) != expected {
                return Err(format!(
                    "it says {}, its task is {}",
                    ending.ended, work.status
                ));
            }
            Ok(())
        }
    }
}
