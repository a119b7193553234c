//! A whole node on a machine whose clock is set (DP-24).

use std::{
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::Duration,
};

use almanack_core::{
    alert::{
        About, Alert, Key, Rule, Severity,
        port::{Answer, Notice, Notifier},
    },
    clock::{GuardedClock, Mark, Reading, TimeSource},
    lang::Lang,
    plan::{Definition, Origin, Overlap, Slot, Verdict},
    reschedule::Request,
    store::{AlertFilter, LedgerPage, NodeStore as _, Store},
    target::Target,
    task::Status,
    time::{Clock, CorrectedClock, LATEST, Sleeper},
};
use almanack_engine::{
    node::{self, Ports},
    reloadable::Reloadable,
    reschedule::{Kinds, Rescheduler},
    schedules::Schedules,
    watch::{Watch, WatchSettings, Watching},
    zones::Zones,
};
use almanack_store::sqlite::SqliteStore;
use almanack_testkit::{
    clock::ManualTime,
    fixture::{PUBLISH, START, identity, put, schedule_name},
};
use async_trait::async_trait;
use jiff::{SignedDuration, Timestamp};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::{
    node::{ports, settings},
    virtual_time::{VirtualTime, pause},
};

const DAY: SignedDuration = SignedDuration::from_hours(24);
const NAP_MAX: Duration = Duration::from_secs(1);

/// A machine: time passes, and its wall clock is set.
struct Machine {
    time: VirtualTime,
    set_by_us: AtomicI64,
    boot: &'static str,
}

impl Machine {
    fn new(time: VirtualTime, set_by: SignedDuration, boot: &'static str) -> Arc<Self> {
        let set_by_us = AtomicI64::new(i64::try_from(set_by.as_micros()).unwrap());
        Arc::new(Self {
            time,
            set_by_us,
            boot,
        })
    }

    fn set(&self, by: SignedDuration) {
        let us = i64::try_from(by.as_micros()).unwrap();
        self.set_by_us.store(us, Ordering::SeqCst);
    }
}

impl TimeSource for Machine {
    fn read(&self) -> Reading {
        let truth = self.time.now();
        let set_by = SignedDuration::from_micros(self.set_by_us.load(Ordering::SeqCst));
        Reading {
            wall: truth + set_by,
            uptime: truth.duration_since(Timestamp::UNIX_EPOCH),
        }
    }

    fn boot(&self) -> &str {
        self.boot
    }
}

/// Waits by the node's clock, and no longer than it seemed at first, as nodes do.
struct ByClock(Arc<CorrectedClock>);

#[async_trait]
impl Sleeper for ByClock {
    async fn until(&self, at: Timestamp) {
        let left = |sleeper: &Self| Duration::try_from(at.duration_since(sleeper.0.now()));
        let mut allowed = left(self).unwrap_or_default();
        while let Ok(left) = left(self) {
            let nap = left.min(allowed).min(NAP_MAX);
            if nap.is_zero() {
                return;
            }
            pause(nap).await;
            allowed = allowed.saturating_sub(nap);
        }
    }
}

struct NoChannel;

#[async_trait]
impl Notifier for NoChannel {
    async fn notify(&self, _: &[Notice]) -> Vec<Answer> {
        Vec::new()
    }
}

/// A store, and the one schedule on it.
struct House {
    store: Arc<SqliteStore>,
    time: VirtualTime,
}

/// A node at work.
struct Running {
    clock: Arc<CorrectedClock>,
    machine: Arc<Machine>,
    stop: CancellationToken,
    ended: JoinHandle<()>,
}

impl Running {
    async fn stop(self) {
        self.stop.cancel();
        self.ended.await.unwrap();
    }
}

impl House {
    async fn new() -> Self {
        let house = Self {
            store: Arc::new(SqliteStore::in_memory().unwrap()),
            time: VirtualTime::start(),
        };
        let url = "https://example.org/hook".to_owned();
        let mut definition = Definition::new("@10s", Target::webhook(url));
        definition.overlap = Overlap::Allow;
        let schedules = house.schedules(Arc::new(house.time));
        let often = schedule_name("often");
        let put = schedules.put(&often, definition, Origin::Api, "ada");
        put.await.unwrap();
        house
    }

    fn schedules(&self, clock: Arc<dyn Clock>) -> Schedules {
        Schedules::new(self.store.clone(), clock, Arc::new(Zones::default()))
    }

    async fn start(&self, machine: &Arc<Machine>) -> Running {
        let mark = self.store.load_clock().await.unwrap();
        let guard = GuardedClock::start(machine.clone(), mark.as_ref());
        let clock = Arc::new(CorrectedClock::guarded(Arc::new(guard)));
        let ports = Ports {
            clock: clock.clone(),
            sleeper: Arc::new(ByClock(clock.clone())),
            ..ports(self.store.clone(), self.time, 1, Duration::ZERO)
        };
        let node = node::admit(ports, settings(SignedDuration::ZERO)).await;
        let stop = CancellationToken::new();
        Running {
            ended: tokio::spawn(node.unwrap().run(stop.clone())),
            clock,
            machine: machine.clone(),
            stop,
        }
    }

    /// Rows of the ledger, oldest first.
    async fn ledger(&self) -> Vec<Slot> {
        let schedules = self.schedules(Arc::new(self.time));
        let schedule = schedules.load(&schedule_name("often")).await.unwrap();
        let page = LedgerPage {
            before: LATEST,
            limit: 10_000,
        };
        let store: &dyn Store = self.store.as_ref();
        let mut rows = store.load_slots(schedule.id, page).await.unwrap();
        rows.reverse();
        rows
    }

    async fn put_due_at(&self, subject: &str, at: Timestamp) {
        let kinds = Kinds {
            accept_any: true,
            ..Kinds::default()
        };
        let rescheduler = Rescheduler::new(self.store.clone(), Arc::new(self.time), kinds);
        let request = Request::Put(put(subject, PUBLISH, at));
        rescheduler.ask(request, "test").await.unwrap();
    }

    async fn status(&self, subject: &str) -> Option<Status> {
        let store: &dyn Store = self.store.as_ref();
        let found = store.load_current(&[identity(subject, PUBLISH)]).await;
        found.unwrap().remove(0).map(|task| task.status)
    }

    /// The rules of alerts that are open after a round of the watch.
    async fn alerts(&self, clock: &Arc<CorrectedClock>) -> Vec<Rule> {
        let watching = Watching {
            settings: WatchSettings::default(),
            notifier: Arc::new(NoChannel),
        };
        let mut watch = Watch::new(self.store.clone(), clock.clone(), Reloadable::new(watching));
        watch.round().await.unwrap();
        let filter = AlertFilter {
            closed_from: Timestamp::MAX,
            limit: 100,
        };
        let store: &dyn Store = self.store.as_ref();
        let open = store.load_alerts(filter).await.unwrap();
        open.iter().map(|alert| alert.key.rule).collect()
    }
}

fn fired(rows: &[Slot]) -> usize {
    let fired = rows.iter().filter(|row| row.verdict == Verdict::Fired);
    fired.count()
}

fn secs(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

#[tokio::test(start_paused = true)]
async fn dp_24_a_clock_that_is_set_a_day_ahead_and_back_silences_no_node() {
    let house = House::new().await;
    let machine = Machine::new(house.time, SignedDuration::ZERO, "first");
    let node = house.start(&machine).await;
    pause(secs(61)).await;
    node.machine.set(DAY);
    house
        .put_due_at(
            "article:1",
            house.time.now() + SignedDuration::from_hours(1),
        )
        .await;
    pause(secs(45)).await;
    assert_eq!(house.alerts(&node.clock).await, [Rule::Clock]);
    node.machine.set(SignedDuration::ZERO);
    pause(secs(60)).await;
    let rows = house.ledger().await;
    assert_eq!(
        (rows.len(), fired(&rows)),
        (16, 16),
        "every slot, on time: {rows:?}"
    );
    let early = house.status("article:1").await;
    assert_eq!(early, Some(Status::Init), "nothing starts early");
    node.stop().await;
}

#[tokio::test(start_paused = true)]
async fn dp_24_a_clock_forty_days_ahead_deletes_nothing() {
    let house = House::new().await;
    let machine = Machine::new(house.time, SignedDuration::ZERO, "first");
    house.put_due_at("article:1", house.time.now()).await;
    let node = house.start(&machine).await;
    pause(secs(61)).await;
    assert_eq!(house.status("article:1").await, Some(Status::Success));
    node.machine.set(40 * DAY);
    // The node forgets after an hour, and looks every ten minutes: nothing goes even by the time
    // that it counts itself.
    pause(secs(90 * 60)).await;
    assert_eq!(house.status("article:1").await, Some(Status::Success));
    assert_eq!(house.alerts(&node.clock).await, [Rule::Clock]);
    assert_eq!(fired(&house.ledger().await), 6 + 90 * 6, "and it goes on");
    node.machine.set(SignedDuration::ZERO);
    pause(secs(15 * 60)).await;
    assert_eq!(house.status("article:1").await, None, "now it may go");
    node.stop().await;
}

#[tokio::test(start_paused = true)]
async fn dp_24_what_is_due_before_a_step_back_waits_and_is_caught_up_once_it_is_undone() {
    let house = House::new().await;
    let machine = Machine::new(house.time, SignedDuration::ZERO, "first");
    let node = house.start(&machine).await;
    pause(secs(61)).await;
    node.machine.set(SignedDuration::from_mins(-10));
    pause(secs(60)).await;
    assert_eq!(house.ledger().await.len(), 6, "nothing is planned");
    assert_eq!(house.alerts(&node.clock).await, [Rule::Clock]);
    node.machine.set(SignedDuration::ZERO);
    pause(secs(60)).await;
    let rows = house.ledger().await;
    let slots: u64 = rows.iter().map(|row| row.slots).sum();
    assert_eq!(slots, 18, "each slot has one row: {rows:?}");
    assert!(fired(&rows) >= 11, "it fires again: {rows:?}");
    node.stop().await;
}

#[tokio::test(start_paused = true)]
async fn dp_24_a_step_back_that_lasts_is_believed_and_no_slot_fires_twice() {
    let house = House::new().await;
    let machine = Machine::new(house.time, SignedDuration::ZERO, "first");
    let node = house.start(&machine).await;
    pause(secs(61)).await;
    let back = SignedDuration::from_mins(-10);
    node.machine.set(back);
    pause(secs(11 * 60)).await;
    assert_eq!(node.clock.now(), house.time.now() + back, "the machine's");
    pause(secs(60)).await;
    let rows = house.ledger().await;
    assert!(rows.len() > 6 + 8, "it goes on by that time: {rows:?}");
    assert_eq!(rows.len(), fired(&rows), "{rows:?}");
    node.stop().await;
}

#[tokio::test(start_paused = true)]
async fn dp_24_a_machine_that_starts_a_year_ahead_does_nothing_until_a_person_accepts() {
    let house = House::new().await;
    let right = Machine::new(house.time, SignedDuration::ZERO, "first");
    house.put_due_at("article:1", house.time.now()).await;
    let node = house.start(&right).await;
    pause(secs(61)).await;
    node.stop().await;
    let ahead = Machine::new(house.time, 365 * DAY, "second");
    house.put_due_at("article:2", house.time.now()).await;
    let node = house.start(&ahead).await;
    pause(secs(30 * 60)).await;
    assert_eq!(
        house.status("article:2").await,
        Some(Status::Init),
        "not started"
    );
    assert_eq!(
        house.status("article:1").await,
        Some(Status::Success),
        "not deleted"
    );
    assert_eq!(house.ledger().await.len(), 6, "not planned");
    assert!(house.alerts(&node.clock).await.contains(&Rule::Clock));
    let known = house.store.load_clock().await.unwrap();
    let accepted = Mark::accept(ahead.as_ref(), known.as_ref());
    assert!(house.store.save_clock(&accepted).await.unwrap());
    pause(secs(60)).await;
    assert_eq!(node.clock.now(), house.time.now() + 365 * DAY);
    assert_eq!(house.status("article:2").await, Some(Status::Success));
    assert!(house.ledger().await.len() > 6, "planned");
    node.stop().await;
}

/// How long something was over is a matter of the clock.
#[tokio::test]
async fn dp_24_no_alert_is_forgotten_by_a_clock_in_doubt() {
    let store: Arc<dyn Store> = Arc::new(SqliteStore::in_memory().unwrap());
    let machine = Arc::new(ManualTime::boot(START, "first"));
    let clock = Arc::new(GuardedClock::start(machine.clone(), None));
    let closed_at = Some(START - 31 * DAY);
    let over = Alert {
        key: Key {
            rule: Rule::Gone,
            about: About::Node("a".to_owned()),
        },
        severity: Severity::Critical,
        detail: "last heard of a month ago".to_owned().into(),
        opened_at: START - 32 * DAY,
        cool_down_since: None,
        closed_at,
        returns: 0,
        open_notified_at: closed_at,
        close_notified_at: closed_at,
        notify_at: None,
        taken_by: Vec::new(),
        version: 0,
    };
    store.write_alerts(vec![over]).await.unwrap();
    let watching = Watching {
        settings: WatchSettings::default(),
        notifier: Arc::new(NoChannel),
    };
    let mut watch = Watch::new(store.clone(), clock, Reloadable::new(watching));
    let filter = AlertFilter {
        closed_from: Timestamp::MIN,
        limit: 100,
    };
    for (step, kept) in [(DAY, true), (-DAY, false)] {
        machine.step(step);
        watch.round().await.unwrap();
        let alerts = store.load_alerts(filter).await.unwrap();
        let is_kept = alerts.iter().any(|alert| alert.key.rule == Rule::Gone);
        assert_eq!(is_kept, kept, "{step:?}");
    }
}

/// What an older version, or a clock that could not be checked, left behind.
#[tokio::test(start_paused = true)]
async fn dp_24_any_change_takes_a_schedule_back_that_was_planned_ahead() {
    for change in ["put", "pause", "resume", "remove", "put again", "rewind"] {
        let house = House::new().await;
        let often = schedule_name("often");
        let planner = |ahead| {
            let machine = Machine::new(house.time, ahead, "first");
            let clock = Arc::new(GuardedClock::start(machine, None));
            let zones = Arc::new(Zones::default());
            almanack_engine::planner::Planner::new(house.store.clone(), clock, zones)
        };
        pause(secs(15)).await;
        planner(SignedDuration::ZERO).pass().await.unwrap();
        planner(DAY).pass().await.unwrap();
        let schedules = house.schedules(Arc::new(house.time));
        let found = schedules.load(&often).await.unwrap();
        assert!(schedules.is_ahead(&found), "{change}");
        let slot = house.time.now() + SignedDuration::from_secs(5);
        let why = schedules.why(&often, slot, Lang::English).await;
        let sentence = why.unwrap().sentence;
        assert!(
            sentence.contains("a clock that was 24 h 0 min ahead of now"),
            "{sentence}"
        );
        let ahead = Machine::new(house.time, DAY, "first");
        let ahead = house.schedules(Arc::new(GuardedClock::start(ahead, None)));
        match change {
            "put" => {
                let mut definition = found.definition.read().unwrap().clone();
                definition.expression = "@20s".to_owned();
                let put = schedules.put(&often, definition, Origin::Api, "ada");
                put.await.unwrap();
            }
            "pause" => {
                schedules.pause(&often, None, None, "ada").await.unwrap();
                schedules.resume(&often, "ada").await.unwrap();
            }
            // The first half was done by the clock that was ahead, too.
            "resume" => {
                ahead.pause(&often, None, None, "ada").await.unwrap();
                schedules.resume(&often, "ada").await.unwrap();
            }
            "put again" => {
                ahead.remove(&often, "ada").await.unwrap();
                let definition = found.definition.read().unwrap().clone();
                let put = schedules.put(&often, definition, Origin::Api, "ada");
                put.await.unwrap();
            }
            "remove" => {
                schedules.remove(&often, "ada").await.unwrap();
                let definition = found.definition.read().unwrap().clone();
                let put = schedules.put(&often, definition, Origin::Api, "ada");
                put.await.unwrap();
            }
            _ => {
                let rewound = schedules.rewind(&often, "ada").await.unwrap();
                assert!(rewound.edited.is_some());
            }
        }
        pause(secs(60)).await;
        let before = fired(&house.ledger().await);
        planner(SignedDuration::ZERO).pass().await.unwrap();
        pause(secs(20)).await;
        planner(SignedDuration::ZERO).pass().await.unwrap();
        let rows = house.ledger().await;
        assert!(fired(&rows) > before, "{change}: it fires again: {rows:?}");
        let latest = rows.iter().map(|row| row.last_at).max().unwrap();
        assert!(latest <= house.time.now(), "{change}: {latest}");
        assert!(
            rows.is_sorted_by(|a, b| a.last_at < b.slot_at),
            "{change}: {rows:?}"
        );
    }
}
