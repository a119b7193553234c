//! Firings that end when their work ends (DP-19): own tasks under a whole node, reports, time
//! limits, withdrawals, nodes that die in between.

use std::{collections::BTreeMap, sync::Arc, sync::Mutex, time::Duration};

use almanack_core::{
    finish::Outcome,
    follow::{Followed, HandedOver, Report, Reported, Stage, Work},
    handler::Handler,
    lang::Lang,
    plan::{DISPATCH, Definition, Firing, Origin, Overlap, ScheduleName},
    reschedule::{Cancel, Put, Request},
    run_log::NoRunLogs,
    store::{FiringStore as _, LedgerPage, Store, TaskFilter, TaskStore as _},
    target::{Launcher, Target},
    task::{ClaimedTask, Identity, Kind, Status, Task},
    time::{Clock, CorrectedClock},
};
use almanack_engine::{
    dispatch::{self, DispatchHandler, TaskLauncher},
    handlers::Handlers,
    node::{self, NodeSettings, Ports},
    reloadable::Reloadable,
    reports::{Error, Reports},
    reschedule::{Kinds, Rescheduler},
    retention::Retention,
    runner::RunnerSettings,
    schedules::Schedules,
    zones::Zones,
};
use almanack_store::sqlite::SqliteStore;
use almanack_testkit::entropy::SeededEntropy;
use async_trait::async_trait;
use jiff::{SignedDuration, Timestamp};
use tokio_util::sync::CancellationToken;

use crate::virtual_time::{VirtualTime, pause};

mod early;

const KIND: &str = "REPORT";

/// A handler of own tasks that takes its time, and what it saw of its tasks running at once.
struct Slow {
    takes: Duration,
    outcome: Outcome,
    running: Mutex<(usize, usize)>,
}

impl Slow {
    fn new(takes: Duration, outcome: Outcome) -> Arc<Self> {
        let running = Mutex::default();
        Arc::new(Self {
            takes,
            outcome,
            running,
        })
    }

    fn most_at_once(&self) -> usize {
        self.running.lock().unwrap().1
    }
}

#[async_trait]
impl Handler for Slow {
    async fn attempt(&self, _: &ClaimedTask) -> Outcome {
        {
            let mut running = self.running.lock().unwrap();
            running.0 += 1;
            running.1 = running.1.max(running.0);
        }
        pause(self.takes).await;
        self.running.lock().unwrap().0 -= 1;
        self.outcome.clone()
    }
}

/// A webhook that answers 202 and will report.
struct Accepts;

#[async_trait]
impl Launcher for Accepts {
    async fn fire(&self, _: &Firing, _: &ClaimedTask) -> Outcome {
        Outcome::done("HTTP 202")
    }

    async fn hand_over(&self, firing: &Firing, _: &ClaimedTask) -> HandedOver {
        let within = firing.target.report_within();
        let within_s = within.map_or(60, |within| within.as_secs());
        HandedOver::Works(Work::Report { within_s })
    }
}

struct World {
    store: Arc<SqliteStore>,
    time: VirtualTime,
}

fn done() -> Outcome {
    Outcome::done("well")
}

fn name() -> ScheduleName {
    ScheduleName::parse("often").unwrap()
}

fn own(subject: &str) -> Target {
    let (kind, subject) = (KIND.to_owned(), subject.to_owned());
    let payload = None;
    Target::Task {
        kind,
        subject,
        payload,
    }
}

fn reporting(within: SignedDuration) -> Target {
    let mut target = Target::webhook("https://example.org/hook");
    if let Target::Webhook { report_within, .. } = &mut target {
        *report_within = Some(within);
    }
    target
}

impl World {
    fn new() -> Self {
        Self {
            store: Arc::new(SqliteStore::in_memory().unwrap()),
            time: VirtualTime::start(),
        }
    }

    fn rescheduler(&self) -> Arc<Rescheduler> {
        let kinds = Kinds {
            accept_any: true,
            ..Kinds::default()
        };
        let store: Arc<dyn Store> = self.store.clone();
        Arc::new(Rescheduler::new(store, Arc::new(self.time), kinds))
    }

    fn launcher(&self) -> TaskLauncher {
        TaskLauncher {
            rescheduler: self.rescheduler(),
            store: self.store.clone(),
            clock: Arc::new(self.time),
            done_here: BTreeMap::new(),
        }
    }

    fn handler(&self) -> DispatchHandler {
        let store: Arc<dyn Store> = self.store.clone();
        DispatchHandler::new(store, Arc::new(self.time), Arc::new(self.time))
            .with("webhook", Arc::new(Accepts))
            .with("task", Arc::new(self.launcher()))
    }

    /// A node until `stop`, on which `others` does what firings put.
    async fn start(
        &self,
        name: &str,
        others: Arc<dyn Handler>,
        stop: &CancellationToken,
    ) -> tokio::task::JoinHandle<()> {
        self.start_with(self.handler(), name, others, stop).await
    }

    async fn start_with(
        &self,
        handler: DispatchHandler,
        name: &str,
        others: Arc<dyn Handler>,
        stop: &CancellationToken,
    ) -> tokio::task::JoinHandle<()> {
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
        let settings = NodeSettings {
            name: name.to_owned(),
            version: "test".to_owned(),
            lease: almanack_core::lease::LeasePolicy::default(),
            runner: RunnerSettings::default().into(),
            retention: Retention::Keep,
        };
        let node = node::admit(ports, settings).await.unwrap();
        tokio::spawn(node.run(stop.clone()))
    }

    fn schedules(&self) -> Schedules {
        let zones = Arc::new(Zones::default());
        Schedules::new(self.store.clone(), Arc::new(self.time), zones)
    }

    async fn put(&self, definition: Definition) {
        let put = self
            .schedules()
            .put(&name(), definition, Origin::Api, "ada")
            .await;
        put.unwrap();
    }

    async fn tasks(&self, kind: &str) -> Vec<Task> {
        let filter = TaskFilter {
            kind: Some(Kind::parse(kind).unwrap()),
            limit: 1_000,
            ..TaskFilter::default()
        };
        let mut rows = self.store.list_tasks(&filter).await.unwrap().rows;
        rows.reverse();
        rows
    }

    async fn followed(&self, firing: &Task) -> Followed {
        let found = self.store.load_followed(&[firing.id]).await.unwrap();
        found.into_iter().next().unwrap()
    }

    fn reports(&self) -> Reports {
        Reports {
            store: self.store.clone(),
            clock: Arc::new(self.time),
            sleeper: Arc::new(self.time),
            logs: Arc::new(NoRunLogs),
        }
    }

    /// Plays `definition` on one node for so long.
    async fn play(&self, definition: Definition, work: Arc<Slow>, seconds: u64) {
        self.put(definition).await;
        let stop = CancellationToken::new();
        let node = self.start("node-a", work, &stop).await;
        pause(Duration::from_secs(seconds)).await;
        stop.cancel();
        node.await.unwrap();
    }
}

fn finish(outcome: Reported, text: &str) -> Report {
    Report {
        outcome: Some(outcome),
        text: Some(text.to_owned()),
    }
}

#[tokio::test(start_paused = true)]
async fn dp_19_under_skip_no_two_pieces_of_work_run_at_once() {
    let world = World::new();
    let work = Slow::new(Duration::from_secs(9), done());
    let definition = Definition::new("@3s", own("report:{slot}"));
    world.play(definition, work.clone(), 60).await;
    assert_eq!(work.most_at_once(), 1);
    let firings = world.tasks(DISPATCH).await;
    assert!((5..=7).contains(&firings.len()), "{} fired", firings.len());
    assert_eq!(
        world.tasks(KIND).await.len(),
        firings.len(),
        "one task each"
    );
    let schedule = world.schedules().load(&name()).await.unwrap();
    let page = LedgerPage {
        before: Timestamp::MAX,
        limit: 100,
    };
    let rows = almanack_core::store::ScheduleStore::load_slots(&*world.store, schedule.id, page);
    let rows = rows.await.unwrap();
    let skipped = rows.iter().filter(|row| !row.verdict.is_fired());
    assert!(
        skipped.count() >= 4,
        "slots in between are skipped, and say so"
    );
}

#[tokio::test(start_paused = true)]
async fn dp_19_under_queue_one_the_next_slot_waits_for_the_work() {
    let world = World::new();
    let work = Slow::new(Duration::from_secs(9), done());
    let definition = Definition {
        overlap: Overlap::QueueOne,
        ..Definition::new("@5s", own("report:{slot}"))
    };
    world.play(definition, work.clone(), 60).await;
    assert_eq!(work.most_at_once(), 1);
    let firings = world.tasks(DISPATCH).await.len();
    assert!((5..=7).contains(&firings), "{firings}: one after the other");
}

#[tokio::test(start_paused = true)]
async fn dp_19_quick_work_of_a_schedule_of_every_second_loses_no_slot() {
    let world = World::new();
    let work = Slow::new(Duration::from_millis(50), done());
    world
        .play(Definition::new("@1s", own("report:{slot}")), work, 30)
        .await;
    let firings = world.tasks(DISPATCH).await;
    assert!(firings.len() >= 29, "{} fired", firings.len());
    let done = firings.iter().filter(|it| it.status == Status::Success);
    assert!(done.count() >= firings.len() - 2);
}

#[tokio::test(start_paused = true)]
async fn dp_19_the_outcome_of_a_firing_is_that_of_its_work() {
    let cases = [
        (done(), Status::Success, "succeeded: well"),
        (
            Outcome::give_up("no paper"),
            Status::Fail,
            "failed: no paper",
        ),
    ];
    for (outcome, status, said) in cases {
        let world = World::new();
        let work = Slow::new(Duration::from_secs(2), outcome);
        let definition = Definition::new("@30s", own("report:{slot}"));
        world.play(definition, work, 50).await;
        let firing = world.tasks(DISPATCH).await.remove(0);
        assert_eq!(firing.status, status, "{:?}", firing.detail);
        let own = world.tasks(KIND).await.remove(0);
        let expected = format!("task {} {said}", own.id);
        assert_eq!(firing.detail.as_deref(), Some(expected.as_str()));
        let followed = world.followed(&firing).await;
        assert_eq!(followed.started_at, own.started_at);
        assert_eq!(followed.ending.unwrap().ended_at, own.finished_at.unwrap());
        let slot = Firing::read(&firing.payload).unwrap().nominal_at;
        let why = world
            .schedules()
            .why(&name(), slot, Lang::English)
            .await
            .unwrap()
            .sentence;
        assert!(why.contains(&expected), "{why}");
        assert!(!why.contains("is running"), "{why}");
    }
}

#[tokio::test(start_paused = true)]
async fn dp_19_failed_work_is_not_handed_over_again() {
    let world = World::new();
    let work = Slow::new(Duration::from_secs(1), Outcome::give_up("no"));
    let definition = Definition {
        retry_for: Some(SignedDuration::from_hours(1)),
        ..Definition::new("0 * * * *", own("report:{slot}"))
    };
    world.play(definition, work, 3_700).await;
    assert_eq!(world.tasks(KIND).await.len(), 1);
}

/// The node dies between the put and the note of it, and between two looks.
#[tokio::test(start_paused = true)]
async fn dp_19_a_node_that_dies_after_the_hand_over_puts_nothing_twice() {
    let world = World::new();
    world
        .put(Definition::new("@30s", own("report:{slot}")))
        .await;
    pause(Duration::from_secs(31)).await;
    let planner = almanack_engine::planner::Planner::new(
        world.store.clone(),
        Arc::new(world.time),
        Arc::new(Zones::default()),
    );
    planner.pass().await.unwrap();
    let claim = |id| almanack_core::store::ClaimRequest {
        claim_id: almanack_core::store::ClaimId(id),
        session: "s".to_owned(),
        node: "n".to_owned(),
        now: world.time.now(),
        lease_until: world.time.now() + SignedDuration::from_secs(30),
        slots: 1,
        limits: vec![(Kind::parse(KIND).unwrap(), 0)],
        kinds: Vec::new(),
        rates: Vec::new(),
        turns: Vec::new(),
    };
    let first = world.store.claim(claim(1)).await.unwrap().tasks.remove(0);
    let firing = Firing::read(&first.payload).unwrap();
    // It has put its task, and dies before it notes that.
    let put = world.launcher().hand_over(&firing, &first).await;
    let own = world.tasks(KIND).await.remove(0);
    assert_eq!(put, HandedOver::Works(Work::Task { task_id: own.id }));
    // Its task runs on another node meanwhile: a second put would replace it.
    let mut request = claim(2);
    request.limits.clear();
    world.store.claim(request).await.unwrap();
    assert_eq!(world.tasks(KIND).await[0].status, Status::Running);
    let again = ClaimedTask {
        term: almanack_core::task::Term(2),
        ..first
    };
    for _ in 0..3 {
        let outcome = world.handler().attempt(&again).await;
        assert_eq!(outcome.name(), "working", "{outcome:?}");
    }
    let rows = world.tasks(KIND).await;
    assert_eq!(rows.len(), 1, "put once");
    assert_eq!((rows[0].id, rows[0].status), (own.id, Status::Running));
}

#[tokio::test(start_paused = true)]
async fn dp_19_a_task_that_is_moved_is_followed_and_one_that_is_cancelled_is_the_end() {
    let world = World::new();
    let work = Slow::new(Duration::from_secs(20), done());
    world
        .put(Definition::new("0 * * * *", own("report:{slot}")))
        .await;
    let stop = CancellationToken::new();
    let node = world.start("node-a", work, &stop).await;
    pause(Duration::from_secs(3_605)).await;
    let first = world.tasks(KIND).await.remove(0);
    assert_eq!(first.status, Status::Running);
    // Moved while it runs: the row is replaced.
    let later = world.time.now() + SignedDuration::from_secs(60);
    let put = Request::Put(Put::at(first.identity.clone(), later));
    world.rescheduler().ask(put, "ada").await.unwrap();
    pause(Duration::from_secs(40)).await;
    let firing = world.tasks(DISPATCH).await.remove(0);
    assert!(firing.is_live(), "it waits for the row that replaced it");
    let second = world.tasks(KIND).await.remove(1);
    let task_id = second.id;
    assert_eq!(world.followed(&firing).await.work, Work::Task { task_id });
    let cancel = Request::Cancel(Cancel {
        identity: first.identity,
        revision: None,
    });
    world.rescheduler().ask(cancel, "ada").await.unwrap();
    pause(Duration::from_secs(20)).await;
    let firing = world.tasks(DISPATCH).await.remove(0);
    assert_eq!((firing.status, firing.due_at), (Status::Fail, None));
    let said = format!("task {task_id} was cancelled by ada");
    assert_eq!(firing.detail, Some(said));
    stop.cancel();
    node.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn dp_19_cancelling_a_firing_withdraws_the_task_it_put() {
    let world = World::new();
    let work = Slow::new(Duration::from_secs(100), done());
    let definition = Definition {
        overlap: Overlap::CancelRunning,
        ..Definition::new("@30s", own("report:{slot}"))
    };
    world.play(definition, work, 70).await;
    let (firings, own) = (world.tasks(DISPATCH).await, world.tasks(KIND).await);
    assert_eq!((firings.len(), own.len()), (2, 2));
    assert_eq!(firings[0].status, Status::Cancelled);
    assert_eq!(own[0].status, Status::Cancelled, "by the usual rules");
    assert!(own[1].is_live(), "the newer firing's goes on");
    let ending = world.followed(&firings[0]).await.ending.unwrap();
    assert_eq!(ending.detail, "its firing was cancelled");
}

#[tokio::test(start_paused = true)]
async fn dp_19_what_never_ends_is_given_up_after_its_time_limit() {
    let world = World::new();
    let work = Slow::new(Duration::from_secs(10_000), done());
    let definition = Definition {
        run_timeout: Some(SignedDuration::from_secs(90)),
        ..Definition::new("0 * * * *", own("report:{slot}"))
    };
    world.play(definition, work, 3_720).await;
    let firing = world.tasks(DISPATCH).await.remove(0);
    assert_eq!((firing.status, firing.due_at), (Status::Fail, None));
    assert_eq!(
        firing.detail.as_deref(),
        Some("its work did not end within 1m 30s and is no longer followed")
    );
}

/// A firing that waits for a report, on a node that goes on.
async fn awaiting(world: &World, stop: &CancellationToken) -> Task {
    let target = reporting(SignedDuration::from_mins(5));
    world.put(Definition::new("0 * * * *", target)).await;
    drop(
        world
            .start("node-a", Slow::new(Duration::ZERO, done()), stop)
            .await,
    );
    pause(Duration::from_secs(3_601)).await;
    world.tasks(DISPATCH).await.remove(0)
}

#[tokio::test(start_paused = true)]
async fn dp_19_a_webhook_reports_its_end_once() {
    let world = World::new();
    let stop = CancellationToken::new();
    let firing = awaiting(&world, &stop).await;
    assert!(firing.is_live());
    let reports = world.reports();
    let text = |text: &str| Report {
        outcome: None,
        text: Some(text.to_owned()),
    };
    let take = async |stage, report| reports.take(firing.id, stage, &report).await;
    take(Stage::Start, Report::default()).await.unwrap();
    // Every report renews the time for the next.
    for _ in 0..3 {
        pause(Duration::from_secs(200)).await;
        let next = take(Stage::Progress, text("at it")).await.unwrap();
        let expected = world.time.now() + SignedDuration::from_mins(5);
        assert_eq!(next, Some(expected));
    }
    let early = take(Stage::Progress, finish(Reported::Done, "x")).await;
    assert!(matches!(early, Err(Error::Invalid(_))), "{early:?}");
    let both = tokio::join!(
        take(Stage::Finish, finish(Reported::Failed, "no paper")),
        take(Stage::Finish, finish(Reported::Done, "printed")),
    );
    assert!(
        both.0.is_ok() != both.1.is_ok(),
        "one of two counts: {both:?}"
    );
    let late = take(Stage::Progress, text("still there"))
        .await
        .unwrap_err();
    assert!(matches!(late, Error::Ended { .. }), "{late}");
    pause(Duration::from_secs(1)).await;
    let ended = world.tasks(DISPATCH).await.remove(0);
    assert_eq!(
        (ended.status, ended.due_at),
        (Status::Fail, None),
        "at once"
    );
    assert_eq!(
        ended.detail.as_deref(),
        Some("reported as failed: no paper")
    );
    stop.cancel();
}

#[tokio::test(start_paused = true)]
async fn dp_19_a_report_that_does_not_come_is_a_failure_and_comes_too_late_after_it() {
    let world = World::new();
    let stop = CancellationToken::new();
    let firing = awaiting(&world, &stop).await;
    pause(Duration::from_secs(302)).await;
    let ended = world.tasks(DISPATCH).await.remove(0);
    assert_eq!((ended.status, ended.due_at), (Status::Fail, None));
    assert_eq!(
        ended.detail.as_deref(),
        Some("accepted (HTTP 202), but no report came within 5m")
    );
    let report = finish(Reported::Done, "late");
    let late = world
        .reports()
        .take(firing.id, Stage::Finish, &report)
        .await;
    assert!(matches!(late, Err(Error::Ended { .. })), "{late:?}");
    assert_eq!(
        world.tasks(DISPATCH).await.remove(0),
        ended,
        "changes nothing"
    );
    stop.cancel();
}

#[tokio::test(start_paused = true)]
async fn dp_19_a_report_about_a_cancelled_firing_is_refused() {
    let world = World::new();
    let stop = CancellationToken::new();
    let firing = awaiting(&world, &stop).await;
    let cancel = Request::Cancel(Cancel {
        identity: firing.identity.clone(),
        revision: None,
    });
    world.rescheduler().ask(cancel, "ada").await.unwrap();
    let report = finish(Reported::Done, "done");
    let refused = world
        .reports()
        .take(firing.id, Stage::Finish, &report)
        .await;
    assert!(matches!(refused, Err(Error::Cancelled(_))), "{refused:?}");
    let unknown = Identity::parse("x", KIND).unwrap();
    let put = Request::Put(Put::at(unknown, world.time.now()));
    let other = world.rescheduler().ask(put, "ada").await.unwrap();
    let (reports, report) = (world.reports(), Report::default());
    let refused = reports.take(other.task_id, Stage::Start, &report).await;
    assert!(matches!(refused, Err(Error::NotExpected(_))));
    stop.cancel();
}

/// The firings whose work is under way.
async fn under_way(world: &World) -> Vec<Task> {
    let mut firings = world.tasks(DISPATCH).await;
    let ids: Vec<_> = firings.iter().map(|firing| firing.id).collect();
    let mut found = world.store.load_followed(&ids).await.unwrap();
    found.retain(|followed| followed.ending.is_none());
    firings.retain(|firing| found.iter().any(|followed| followed.task_id == firing.id));
    firings
}

/// Looks at work that takes long are further apart than a permit holds by itself.
#[tokio::test(start_paused = true)]
async fn dp_19_a_cap_counts_work_that_is_followed_until_it_ends() {
    let world = World::new();
    let stop = CancellationToken::new();
    let definition = Definition {
        firings_max: Some(1),
        overlap: Overlap::Allow,
        ..Definition::new("*/5 * * * *", reporting(SignedDuration::from_hours(2)))
    };
    world.put(definition).await;
    drop(
        world
            .start("node-a", Slow::new(Duration::ZERO, done()), &stop)
            .await,
    );
    pause(Duration::from_secs(301)).await;
    let first = under_way(&world).await.remove(0);
    for _ in 0..90 {
        pause(Duration::from_secs(10)).await;
        assert_eq!(under_way(&world).await.len(), 1, "at {}", world.time.now());
    }
    let report = finish(Reported::Done, "printed");
    let reports = world.reports();
    let ended = reports.take(first.id, Stage::Finish, &report).await;
    ended.unwrap();
    pause(Duration::from_secs(5)).await;
    let second = under_way(&world).await;
    assert_eq!(second.len(), 1, "an end makes room at once");
    assert_ne!(second[0].id, first.id);
    pause(Duration::from_secs(500)).await;
    let identity = second[0].identity.clone();
    let cancel = Request::Cancel(Cancel {
        identity,
        revision: None,
    });
    world.rescheduler().ask(cancel, "ada").await.unwrap();
    pause(Duration::from_secs(15)).await;
    let third = under_way(&world).await;
    assert_eq!(third.len(), 1, "so does a withdrawal");
    assert_ne!(third[0].id, second[0].id);
    stop.cancel();
}
