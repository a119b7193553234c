//! Firing at targets: windows, retries, giving way, own work; and a whole node from slot to target.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
    time::Duration,
};

use almanack_core::{
    finish::Outcome,
    handler::Handler,
    plan::{
        DISPATCH, Definition, Firing, NewFiring, Origin, Overlap, ScheduleName, Trigger,
        slot_identity,
    },
    reschedule::{Cancel, Put, Receipt, Request},
    store::{HistoryPage, Store, TaskFilter, TaskStore},
    target::{Launcher, Target},
    task::{ClaimedTask, Expiry, Kind, Status, Task, TaskId, Term},
    time::{Clock, CorrectedClock},
};
use almanack_engine::{
    dispatch::{self, DispatchHandler, TaskLauncher},
    handlers::Handlers,
    node::{self, NodeSettings, Ports},
    reloadable::Reloadable,
    reschedule::{Kinds, Rescheduler},
    retention::Retention,
    runner::RunnerSettings,
    schedules::Schedules,
    tick::Ticker,
    zones::Zones,
};
use almanack_store::sqlite::SqliteStore;
use almanack_testkit::entropy::SeededEntropy;
use async_trait::async_trait;
use jiff::SignedDuration;
use tokio_util::sync::CancellationToken;

use crate::virtual_time::{VirtualTime, pause};

/// Answers as configured, and remembers what it was asked.
pub(crate) struct FakeTarget {
    outcome: Outcome,
    takes: Duration,
    asked: Mutex<Vec<(Firing, u32)>>,
}

impl FakeTarget {
    fn new(outcome: Outcome) -> Arc<Self> {
        Self::taking(outcome, Duration::ZERO)
    }

    pub(crate) fn taking(outcome: Outcome, takes: Duration) -> Arc<Self> {
        let asked = Mutex::default();
        Arc::new(Self {
            outcome,
            takes,
            asked,
        })
    }

    fn asked(&self) -> Vec<(Firing, u32)> {
        self.asked.lock().unwrap().clone()
    }
}

#[async_trait]
impl Launcher for FakeTarget {
    async fn fire(&self, firing: &Firing, task: &ClaimedTask) -> Outcome {
        let asked = (firing.clone(), task.attempt);
        self.asked.lock().unwrap().push(asked);
        pause(self.takes).await;
        self.outcome.clone()
    }
}

pub(crate) fn done() -> Outcome {
    Outcome::Done { detail: None }
}

fn refused(retry_after: Option<SignedDuration>) -> Outcome {
    Outcome::Retry {
        error: "503".to_owned(),
        retry_after,
    }
}

pub(crate) struct House {
    pub(crate) store: Arc<SqliteStore>,
    pub(crate) time: VirtualTime,
}

impl House {
    pub(crate) fn new() -> Self {
        Self {
            store: Arc::new(SqliteStore::in_memory().unwrap()),
            time: VirtualTime::start(),
        }
    }

    fn own_work(&self) -> TaskLauncher {
        let rescheduler = Arc::new(Rescheduler::new(
            self.store.clone(),
            Arc::new(self.time),
            Kinds {
                accept_any: true,
                ..Kinds::default()
            },
        ));
        TaskLauncher {
            rescheduler,
            store: self.store.clone(),
            clock: Arc::new(self.time),
            done_here: BTreeMap::new(),
        }
    }

    pub(crate) fn handler(&self, webhook: Arc<FakeTarget>) -> DispatchHandler {
        let store: Arc<dyn Store> = self.store.clone();
        DispatchHandler::new(store, Arc::new(self.time), Arc::new(self.time))
            .with("webhook", webhook)
            .with("task", Arc::new(self.own_work()))
    }

    /// A node that fires by `handler`, running.
    async fn start(
        &self,
        handler: DispatchHandler,
        stop: &CancellationToken,
    ) -> tokio::task::JoinHandle<()> {
        tokio::spawn(self.admit(handler).await.run(stop.clone()))
    }

    async fn admit(&self, handler: DispatchHandler) -> node::AdmittedNode {
        self.admit_as(handler, node_settings()).await
    }

    async fn admit_as(
        &self,
        handler: DispatchHandler,
        settings: NodeSettings,
    ) -> node::AdmittedNode {
        self.admit_beside(FakeTarget::handler(), handler, settings)
            .await
    }

    /// A node on which `others` tries everything that is no firing.
    pub(crate) async fn admit_beside(
        &self,
        others: Arc<dyn Handler>,
        handler: DispatchHandler,
        settings: NodeSettings,
    ) -> node::AdmittedNode {
        let kind = Kind::parse(DISPATCH).unwrap();
        let handlers = Handlers::new(others)
            .waking(&handler)
            .with(kind.clone(), Arc::new(handler))
            .waiting(kind, dispatch::BACKOFF);
        let ports = Ports {
            store: self.store.clone(),
            clock: Arc::new(CorrectedClock::new(Arc::new(self.time))),
            sleeper: Arc::new(self.time),
            entropy: Arc::new(SeededEntropy::new(1)),
            handlers: handlers.into(),
            subscriptions: Reloadable::default(),
        };
        node::admit(ports, settings).await.unwrap()
    }

    pub(crate) async fn put(&self, definition: Definition) {
        let zones = Arc::new(Zones::default());
        let schedules = Schedules::new(self.store.clone(), Arc::new(self.time), zones);
        let name = name();
        let put = schedules.put(&name, definition, Origin::Api, "ada");
        put.await.unwrap();
    }

    pub(crate) async fn tasks(&self, kind: &str) -> Vec<Task> {
        let filter = TaskFilter {
            kind: Some(Kind::parse(kind).unwrap()),
            limit: 1_000,
            ..TaskFilter::default()
        };
        self.store.list_tasks(&filter).await.unwrap().rows
    }
}

impl FakeTarget {
    /// The handler of everything that is no firing.
    fn handler() -> Arc<dyn Handler> {
        struct Quiet;
        #[async_trait]
        impl Handler for Quiet {
            async fn attempt(&self, _: &ClaimedTask) -> Outcome {
                done()
            }
        }
        Arc::new(Quiet)
    }
}

pub(crate) fn node_settings() -> NodeSettings {
    NodeSettings {
        name: "node-a".to_owned(),
        version: "test".to_owned(),
        lease: almanack_core::lease::LeasePolicy::default(),
        runner: RunnerSettings::default().into(),
        retention: Retention::Keep,
    }
}

fn name() -> ScheduleName {
    ScheduleName::parse("often").unwrap()
}

fn webhook() -> Target {
    Target::webhook("https://example.org/hook")
}

/// A claimed firing of a `@10s` schedule, due now.
fn claimed(house: &House, attempt: u32, target: Target) -> ClaimedTask {
    let now = house.time.now();
    let ready = Zones::default()
        .ready(&name(), Definition::new("@10s", target))
        .unwrap();
    let firing = NewFiring {
        identity: slot_identity(&name(), now).unwrap(),
        execute_at: now,
        nominal_at: now,
        trigger: Trigger::Schedule,
        caught_up: false,
    };
    let task = firing.task(&name(), &ready).unwrap();
    ClaimedTask {
        id: TaskId(1_000),
        identity: task.identity,
        term: Term(1),
        attempt,
        max_retry: task.max_retry,
        expiries: 0,
        execute_at: now,
        started_at: now,
        payload: task.payload,
        callback_url: None,
        call_options: None,
        expiry: Expiry::NEVER,
        revision: task.revision,
    }
}

#[tokio::test(start_paused = true)]
async fn dp_12_a_failed_firing_is_tried_again_inside_its_window_and_not_after() {
    let house = House::new();
    let task = claimed(&house, 1, webhook());
    let again = house
        .handler(FakeTarget::new(refused(None)))
        .attempt(&task)
        .await;
    let Outcome::Retry {
        retry_after: Some(wait),
        ..
    } = again
    else {
        panic!("ten seconds are left, and yet: {again:?}")
    };
    assert!(wait < SignedDuration::from_secs(2), "{wait}");
    let minute = Some(SignedDuration::from_mins(1));
    let late = house
        .handler(FakeTarget::new(refused(minute)))
        .attempt(&task)
        .await;
    let Outcome::GiveUp { error } = late else {
        panic!("asked to wait beyond the window, and yet: {late:?}")
    };
    assert!(
        error.starts_with("503; no time for another attempt before"),
        "{error}"
    );
    let second = ClaimedTask {
        attempt: 2,
        ..task.clone()
    };
    pause(Duration::from_secs(11)).await;
    let target = FakeTarget::new(done());
    let over = house.handler(target.clone()).attempt(&second).await;
    assert!(matches!(over, Outcome::GiveUp { .. }), "{over:?}");
    assert_eq!(
        target.asked(),
        [],
        "the target is left alone after the window"
    );
    let first = house.handler(target).attempt(&task).await;
    assert_eq!(first, done(), "a first try is always made");
}

#[tokio::test(start_paused = true)]
async fn dp_12_retries_of_a_whole_node_stay_in_the_window_and_are_in_the_history() {
    let house = House::new();
    let definition = Definition {
        retry_for: Some(SignedDuration::from_secs(50)),
        ..Definition::new("*/5 * * * *", webhook())
    };
    house.put(definition).await;
    let (target, stop) = (FakeTarget::new(refused(None)), CancellationToken::new());
    let node = house.start(house.handler(target.clone()), &stop).await;
    pause(Duration::from_mins(7)).await;
    stop.cancel();
    node.await.unwrap();
    let task = house.tasks(DISPATCH).await.remove(0);
    assert_eq!(task.status, Status::Fail);
    assert_eq!(task.due_at, None, "it has been given up");
    assert!(task.attempt >= 3, "{} attempts in 50 seconds", task.attempt);
    let records = house
        .store
        .load_history(&task.identity, HistoryPage::WHOLE)
        .await
        .unwrap();
    assert_eq!(records.attempts.len() + 1, task.attempt as usize);
    let asked = target.asked();
    let until = asked[0].0.retry_until;
    let starts = records.attempts.iter().map(|attempt| attempt.started_at);
    assert!(starts.into_iter().all(|start| start <= until));
    let ended = task.finished_at.unwrap();
    assert!(
        ended <= until,
        "it ends when no attempt fits, and holds up no further slot"
    );
    let detail = task.detail.unwrap();
    assert!(
        detail.starts_with("503; no time for another attempt"),
        "{detail}"
    );
}

#[tokio::test(start_paused = true)]
async fn dp_03_a_second_level_schedule_fires_on_aligned_slots_through_a_whole_node() {
    let house = House::new();
    house.put(Definition::new("@10s", webhook())).await;
    let (target, stop) = (FakeTarget::new(done()), CancellationToken::new());
    let node = house.start(house.handler(target.clone()), &stop).await;
    pause(Duration::from_secs(65)).await;
    stop.cancel();
    node.await.unwrap();
    let slots: Vec<i64> = target
        .asked()
        .iter()
        .map(|(firing, _)| firing.nominal_at.as_second())
        .collect();
    assert_eq!(slots.len(), 6, "{slots:?}");
    assert!(slots.iter().all(|slot| slot % 10 == 0), "{slots:?}");
    assert!(slots.is_sorted());
    let tasks = house.tasks(DISPATCH).await;
    assert!(tasks.iter().all(|task| task.status == Status::Success));
    let late = |task: &Task| task.started_at.unwrap().duration_since(task.execute_at);
    assert!(
        tasks
            .iter()
            .all(|task| late(task) < SignedDuration::from_secs(1))
    );
}

#[tokio::test(start_paused = true)]
async fn dp_17_a_firing_that_gives_way_stops_when_the_next_one_comes() {
    let house = House::new();
    let definition = Definition {
        overlap: Overlap::CancelRunning,
        ..Definition::new("@10s", webhook())
    };
    house.put(definition).await;
    let target = FakeTarget::taking(done(), Duration::from_hours(1));
    let stop = CancellationToken::new();
    let node = house.start(house.handler(target.clone()), &stop).await;
    pause(Duration::from_secs(35)).await;
    let mut statuses: Vec<Status> = house
        .tasks(DISPATCH)
        .await
        .iter()
        .map(|t| t.status)
        .collect();
    statuses.sort();
    assert_eq!(
        statuses,
        [Status::Running, Status::Cancelled, Status::Cancelled]
    );
    stop.cancel();
    node.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn dp_11_own_work_is_a_task_of_its_kind_due_at_once() {
    let house = House::new();
    let target = Target::Task {
        kind: "EDITION_RUN".to_owned(),
        subject: "edition:{date}".to_owned(),
        payload: Some(serde_json::json!({"force": true})),
    };
    let task = claimed(&house, 1, target);
    let outcome = house.handler(FakeTarget::new(done())).attempt(&task).await;
    let own = house.tasks("EDITION_RUN").await.remove(0);
    let Outcome::Working { detail, .. } = outcome else {
        panic!("it goes on until its task has ended: {outcome:?}")
    };
    assert_eq!(detail, format!("waits for task {}", own.id));
    assert_eq!(own.identity.subject.as_str(), "edition:2026-01-05");
    assert_eq!(own.payload.as_str(), r#"{"force":true}"#);
    assert_eq!(own.origin, "schedule often");
}

/// What is done in the firing itself ends with it, and takes part in what its schedule says about
/// overlap.
#[tokio::test(start_paused = true)]
async fn dp_11_own_work_that_is_done_in_its_firing_is_one_task() {
    let house = House::new();
    let target = Target::Task {
        kind: "EDITION_TICK".to_owned(),
        subject: "edition-tick:{slot}".to_owned(),
        payload: None,
    };
    house.put(Definition::new("@10s", target)).await;
    let mut own = house.own_work();
    own.done_here.insert("EDITION_TICK", Arc::new(Hanging));
    let handler = house
        .handler(FakeTarget::new(done()))
        .with("task", Arc::new(own));
    let stop = CancellationToken::new();
    let node = house.start(handler, &stop).await;
    pause(Duration::from_secs(35)).await;
    let firings = house.tasks(DISPATCH).await;
    assert_eq!(firings.len(), 1, "the slots behind it are skipped");
    assert_eq!(firings[0].status, Status::Running);
    assert_eq!(house.tasks("EDITION_TICK").await.len(), 0);
    stop.cancel();
    node.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn dp_11_own_work_that_is_done_already_says_so_instead_of_passing_for_done() {
    let house = House::new();
    let target = Target::Task {
        kind: "REBUILD".to_owned(),
        subject: "cache:main".to_owned(),
        payload: None,
    };
    let handler = house.handler(FakeTarget::new(done()));
    let task = claimed(&house, 1, target);
    assert_eq!(handler.attempt(&task).await.name(), "working");
    let stop = CancellationToken::new();
    let node = house
        .start(house.handler(FakeTarget::new(done())), &stop)
        .await;
    pause(Duration::from_secs(5)).await;
    stop.cancel();
    node.await.unwrap();
    assert_eq!(house.tasks("REBUILD").await[0].status, Status::Success);
    let next = ClaimedTask {
        id: TaskId(2_000),
        ..task
    };
    let again = handler.attempt(&next).await;
    assert!(
        matches!(&again, Outcome::GiveUp { error } if error.contains("{slot}")),
        "{again:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn dp_12_the_window_ends_the_tries_and_not_their_number() {
    let house = House::new();
    let definition = Definition {
        retry_for: Some(SignedDuration::from_hours(6)),
        ..Definition::new("0 12 * * *", webhook())
    };
    house.put(definition).await;
    let (target, stop) = (FakeTarget::new(refused(None)), CancellationToken::new());
    let node = house.start(house.handler(target.clone()), &stop).await;
    pause(Duration::from_hours(9)).await;
    assert!(target.asked().len() > 150, "{} tries", target.asked().len());
    pause(Duration::from_hours(3)).await;
    stop.cancel();
    node.await.unwrap();
    let task = house.tasks(DISPATCH).await.remove(0);
    assert_eq!((task.status, task.due_at), (Status::Fail, None));
}

#[tokio::test(start_paused = true)]
async fn a_target_is_left_to_another_node_and_what_is_no_firing_is_given_up() {
    let house = House::new();
    let command = Target::Command {
        argv: vec!["true".to_owned()],
        timeout: SignedDuration::from_secs(1),
    };
    let handler = house.handler(FakeTarget::new(done()));
    let outcome = handler.attempt(&claimed(&house, 1, command)).await;
    let expected = "this node does not support command targets";
    assert!(
        matches!(&outcome, Outcome::Retry { error, .. } if error == expected),
        "another node may: {outcome:?}"
    );
    let mut strange = claimed(&house, 1, webhook());
    strange.payload = almanack_testkit::fixture::payload("{}");
    let outcome = handler.attempt(&strange).await;
    assert!(matches!(outcome, Outcome::GiveUp { .. }), "{outcome:?}");
}

#[tokio::test(start_paused = true)]
async fn sf_04_a_firing_is_stopped_by_name_and_never_changed() {
    let house = House::new();
    house.put(Definition::new("@10s", webhook())).await;
    let zones = Arc::new(Zones::default());
    let planner =
        almanack_engine::planner::Planner::new(house.store.clone(), Arc::new(house.time), zones);
    pause(Duration::from_secs(10)).await;
    assert_eq!(planner.pass().await.unwrap().fired, 1);
    let before = house.tasks(DISPATCH).await.remove(0);
    let kinds = Kinds {
        accept_any: true,
        ..Kinds::default()
    };
    let rescheduler = Rescheduler::new(house.store.clone(), Arc::new(house.time), kinds);
    let later = house.time.now() + SignedDuration::from_mins(1);
    let put = Put::at(before.identity.clone(), later);
    let forged = Put {
        payload: Some(almanack_testkit::fixture::payload("{}")),
        ..put.clone()
    };
    for put in [put, forged] {
        let refused = rescheduler.ask(Request::Put(put), "ada").await;
        assert!(is_reserved(&refused), "{refused:?}");
    }
    let again = rescheduler.retry(&before.identity, "ada").await;
    assert!(is_reserved(&again), "{again:?}");
    assert_eq!(house.tasks(DISPATCH).await.remove(0), before);
    let stop = Request::Cancel(Cancel {
        identity: before.identity,
        revision: None,
    });
    rescheduler.ask(stop, "ada").await.unwrap();
    let after = house.tasks(DISPATCH).await.remove(0);
    assert_eq!(after.status, Status::Cancelled);
}

fn is_reserved(asked: &Result<Receipt, almanack_engine::reschedule::Error>) -> bool {
    matches!(
        asked,
        Err(almanack_engine::reschedule::Error::Reserved { .. })
    )
}

#[tokio::test(start_paused = true)]
async fn a_tick_catches_up_one_after_the_other_within_its_budget() {
    let house = House::new();
    let definition = Definition {
        catch_up: almanack_core::plan::CatchUp::All,
        ..Definition::new("@10s", webhook())
    };
    house.put(definition).await;
    pause(Duration::from_secs(62)).await;
    let target = FakeTarget::new(done());
    let node = house.admit(house.handler(target.clone())).await;
    let (counters, time) = (node.counters(), Arc::new(house.time));
    let ticker = Ticker::new(house.store.clone(), counters, time.clone(), time);
    let stop = CancellationToken::new();
    let running = tokio::spawn(node.run_planned(stop.clone()));
    let done_by_it = ticker.tick(SignedDuration::from_secs(60)).await.unwrap();
    stop.cancel();
    running.await.unwrap();
    assert!(done_by_it.complete, "{done_by_it:?}");
    let slots: Vec<i64> = target
        .asked()
        .iter()
        .map(|(firing, _)| firing.nominal_at.as_second() % 1_000)
        .collect();
    assert!(slots.len() >= 6, "all that were missed: {slots:?}");
    assert_eq!(done_by_it.fired, slots.len() as u64);
    assert!(slots.is_sorted(), "in order: {slots:?}");
}

struct Hanging;

#[async_trait]
impl Handler for Hanging {
    async fn attempt(&self, _: &ClaimedTask) -> Outcome {
        std::future::pending().await
    }
}

/// A schedule that fires at a task of a service's own kind, whatever runs already: the tasks hang,
/// and its firings wait for them without holding a slot.
#[tokio::test(start_paused = true)]
async fn dp_18_a_kind_of_ones_own_that_hangs_delays_no_schedule() {
    let house = House::new();
    let target = Target::Task {
        kind: "ARTICLE_PUBLISH".to_owned(),
        subject: "article:{slot}".to_owned(),
        payload: None,
    };
    let definition = Definition {
        overlap: Overlap::Allow,
        ..Definition::new("@1s", target)
    };
    house.put(definition).await;
    let zones = Arc::new(Zones::default());
    let schedules = Schedules::new(house.store.clone(), Arc::new(house.time), zones);
    let other = ScheduleName::parse("other").unwrap();
    let definition = Definition::new("@10s", webhook());
    let put = schedules.put(&other, definition, Origin::Api, "ada");
    put.await.unwrap();
    let mut node = node_settings();
    node.runner = Reloadable::new(RunnerSettings {
        slots: 4,
        limits: [(Kind::parse("ARTICLE_PUBLISH").unwrap(), 3)].into(),
        ..RunnerSettings::default()
    });
    let target = FakeTarget::new(done());
    let handler = house.handler(target.clone());
    let node = house.admit_beside(Arc::new(Hanging), handler, node).await;
    let stop = CancellationToken::new();
    let running = tokio::spawn(node.run(stop.clone()));
    pause(Duration::from_secs(61)).await;
    let articles = house.tasks("ARTICLE_PUBLISH").await;
    let hang = articles.iter().filter(|it| it.status == Status::Running);
    assert_eq!(hang.count(), 3, "as many as may hang");
    assert!(
        articles.len() >= 60,
        "its own slots fire on: {}",
        articles.len()
    );
    let late = target
        .asked()
        .into_iter()
        .map(|(firing, _)| firing.nominal_at);
    assert_eq!(late.count(), 6, "and so do the other's");
    stop.cancel();
    running.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn dp_18_targets_that_hang_leave_room_for_everything_else() {
    let house = House::new();
    let definition = Definition {
        overlap: Overlap::Allow,
        ..Definition::new("@1s", webhook())
    };
    house.put(definition).await;
    let hangs = FakeTarget::taking(done(), Duration::from_hours(24));
    let mut node = node_settings();
    node.runner = Reloadable::new(RunnerSettings {
        slots: 4,
        limits: [(Kind::parse(DISPATCH).unwrap(), 3)].into(),
        ..RunnerSettings::default()
    });
    let node = house.admit_as(house.handler(hangs.clone()), node).await;
    let stop = CancellationToken::new();
    let running = tokio::spawn(node.run(stop.clone()));
    pause(Duration::from_mins(1)).await;
    assert_eq!(hangs.asked().len(), 3, "as many as may hang");
    let kinds = Kinds {
        accept_any: true,
        ..Kinds::default()
    };
    let rescheduler = Rescheduler::new(house.store.clone(), Arc::new(house.time), kinds);
    let put = almanack_testkit::fixture::put("article:1", "ARTICLE_PUBLISH", house.time.now());
    rescheduler.ask(Request::Put(put), "ada").await.unwrap();
    pause(Duration::from_secs(1)).await;
    let article = house.tasks("ARTICLE_PUBLISH").await.remove(0);
    assert_eq!(article.status, Status::Success);
    stop.cancel();
    running.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn sf_06_a_schedule_whose_firings_may_overlap_has_only_so_many_at_once() {
    let house = House::new();
    let definition = Definition {
        overlap: Overlap::Allow,
        ..Definition::new("@1s", webhook())
    };
    house.put(definition).await;
    let hangs = FakeTarget::taking(done(), Duration::from_hours(24));
    let handler = house.handler(hangs.clone()).with_firings_max(2);
    let stop = CancellationToken::new();
    let node = house.start(handler, &stop).await;
    pause(Duration::from_mins(1)).await;
    assert_eq!(hangs.asked().len(), 2, "however many slots there were");
    let tasks = house.tasks(DISPATCH).await;
    let crowded = tasks.iter().filter(|task| {
        let detail = task.detail.as_deref().unwrap_or_default();
        task.status == Status::Fail && detail.contains("no time for an attempt")
    });
    assert!(crowded.count() > 30, "the others end with their windows");
    let waiting = tasks.iter().filter(|task| task.due_at.is_some()).count();
    assert!(waiting <= 15, "{waiting} wait");
    stop.cancel();
    node.await.unwrap();
}

/// A claimed firing by this definition.
fn claimed_by(house: &House, definition: Definition, (id, attempt): (i64, u32)) -> ClaimedTask {
    let now = house.time.now();
    let ready = Zones::default().ready(&name(), definition).unwrap();
    let firing = NewFiring {
        identity: slot_identity(&name(), now).unwrap(),
        execute_at: now,
        nominal_at: now,
        trigger: Trigger::Schedule,
        caught_up: false,
    };
    let task = firing.task(&name(), &ready).unwrap();
    ClaimedTask {
        id: TaskId(id),
        payload: task.payload,
        max_retry: task.max_retry,
        ..claimed(house, attempt, webhook())
    }
}

#[tokio::test(start_paused = true)]
async fn dp_12_a_schedule_sets_how_its_attempts_wait() {
    let house = House::new();
    let mut definition = Definition::new("@hourly", webhook());
    definition.retry.backoff = Some(SignedDuration::from_mins(10));
    definition.retry.count = Some(3);
    let mut waits = Vec::new();
    for id in 1..=20 {
        let task = claimed_by(&house, definition.clone(), (id, 1));
        assert_eq!(task.max_retry, 3, "the engine counts them");
        let handler = house.handler(FakeTarget::new(refused(None)));
        // Which part of the wait is drawn differs from claim to claim.
        let task = ClaimedTask {
            term: Term(id),
            ..task
        };
        match handler.attempt(&task).await {
            Outcome::Retry { retry_after, .. } => waits.extend(retry_after),
            other => panic!("{other:?}"),
        }
    }
    let longest = waits.iter().max().copied().unwrap_or_default();
    let (least, most) = (SignedDuration::from_mins(2), SignedDuration::from_mins(10));
    assert!((least..=most).contains(&longest), "{waits:?}");
}

#[tokio::test(start_paused = true)]
async fn dp_12_an_attempt_takes_no_longer_than_its_schedule_lets() {
    let house = House::new();
    let definition = Definition {
        timeout: Some(SignedDuration::from_secs(5)),
        ..Definition::new("@hourly", webhook())
    };
    let task = claimed_by(&house, definition, (1, 1));
    let slow = FakeTarget::taking(done(), Duration::from_mins(3));
    let began = house.time.now();
    let Outcome::Retry { error, .. } = house.handler(slow).attempt(&task).await else {
        panic!("an answer that does not come is a retry");
    };
    assert_eq!(error, "no answer within 5s");
    let took = house.time.now().duration_since(began);
    assert_eq!(took, SignedDuration::from_secs(5));
    let quick = FakeTarget::taking(done(), Duration::from_secs(4));
    assert_eq!(house.handler(quick).attempt(&task).await, done());
}

/// Two handlers on one store are two nodes.
#[tokio::test(start_paused = true)]
async fn dp_17_a_schedule_caps_its_firings_in_all_nodes_together() {
    let house = House::new();
    let definition = Definition {
        firings_max: Some(2),
        overlap: Overlap::Allow,
        ..Definition::new("@hourly", webhook())
    };
    // Longer than a permit holds without a word.
    let slow = FakeTarget::taking(done(), Duration::from_mins(2));
    let nodes = [house.handler(slow.clone()), house.handler(slow.clone())];
    let nodes = nodes.map(Arc::new);
    let attempt = |node: &Arc<DispatchHandler>, id: i64| {
        let (node, task) = (
            Arc::clone(node),
            claimed_by(&house, definition.clone(), (id, 1)),
        );
        tokio::spawn(async move { node.attempt(&task).await })
    };
    let running = [attempt(&nodes[0], 1), attempt(&nodes[1], 2)];
    pause(Duration::from_mins(1)).await;
    for (node, id) in [(&nodes[0], 3), (&nodes[1], 4)] {
        let crowded = attempt(node, id).await.unwrap();
        assert!(matches!(crowded, Outcome::NotNow { .. }), "{crowded:?}");
    }
    assert_eq!(slow.asked().len(), 2, "the others have not been launched");
    for firing in running {
        assert_eq!(firing.await.unwrap(), done());
    }
    assert_eq!(
        attempt(&nodes[0], 3).await.unwrap(),
        done(),
        "there is room again"
    );
}

/// A node that dies keeps its permit no longer than a lease.
#[tokio::test(start_paused = true)]
async fn dp_17_a_node_that_died_makes_room_after_a_while() {
    let house = House::new();
    let definition = Definition {
        firings_max: Some(1),
        ..Definition::new("@hourly", webhook())
    };
    let hanging = Arc::new(house.handler(FakeTarget::taking(done(), Duration::from_hours(9))));
    let task = claimed_by(&house, definition.clone(), (1, 1));
    let dying = tokio::spawn(async move { hanging.attempt(&task).await });
    pause(Duration::from_secs(5)).await;
    dying.abort();
    let next = claimed_by(&house, definition, (2, 1));
    let node = house.handler(FakeTarget::new(done()));
    let crowded = node.attempt(&next).await;
    assert!(matches!(crowded, Outcome::NotNow { .. }), "{crowded:?}");
    pause(Duration::from_secs(31)).await;
    assert_eq!(node.attempt(&next).await, done());
}
