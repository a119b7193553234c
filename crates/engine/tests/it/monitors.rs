//! Pings and the verdict that one is missing, on both databases (DP-23).

use std::{
    collections::BTreeSet,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use almanack_core::{
    event::outgoing::{self, CloudEvent, Name, Subscription, Subscriptions, Wants},
    lang::Lang,
    plan::{
        Arrival, Definition, Edited, Monitor, MonitorStatus, PingKind, ScheduleWrite, Slot, State,
    },
    store::{self, Applied, LedgerPage, MonitorKey, MonitorKeys, Store, TaskFilter},
    target::Target,
    task::Kind,
};
use almanack_engine::{
    planner::Planner,
    reloadable::Reloadable,
    schedules::{Error, Overlapping, Schedules, Watched},
    zones::Zones,
};
use almanack_testkit::{
    fixture::{START, at},
    layer::{Layer, Layered},
};
use async_trait::async_trait;
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;
use tokio::sync::Barrier;

use crate::fixture::{Fixture, HOUR, hourly, on_both};

on_both!(
    dp_23_a_ping_is_answered_kept_and_meets_its_slot,
    dp_23_a_missed_ping_is_a_slot_with_a_reason_and_the_next_ping_is_up,
    dp_23_a_ping_and_its_verdict_meet_and_one_comes_first,
    dp_23_pings_that_meet_are_all_kept_and_numbered,
    dp_23_a_key_stops_working_with_its_monitor,
    dp_23_a_change_settles_what_was_expected_and_forgets_nothing_heard,
    dp_23_a_ping_ends_a_pause_that_has_ended_and_no_other,
    dp_23_a_monitor_has_nothing_to_fire,
    dp_23_subscribers_hear_once_that_a_monitor_is_down_and_that_it_is_up,
);

const GRACE: i64 = 600;

fn key() -> MonitorKey {
    MonitorKey::Ping("hash".to_owned())
}

fn arrival(kind: PingKind) -> Arrival {
    Arrival {
        kind,
        exit_status: None,
        rid: None,
        method: "GET".to_owned(),
        body: Some(kind.to_string()),
    }
}

fn monitor(expression: &str) -> Definition {
    Definition {
        grace: Some(SignedDuration::from_secs(GRACE)),
        ..Definition::new(expression, Target::Ping { note: None })
    }
}

impl Fixture {
    /// The monitor `nightly`, with its key.
    async fn watch(&self, expression: &str) {
        self.put(monitor(expression)).await.unwrap();
        let keys = MonitorKeys {
            ping_hash: Some("hash".to_owned()),
            badge: None,
        };
        let schedule = self.schedules.load(&self.nightly).await.unwrap();
        assert!(self.schedules.save_keys(&schedule, &keys).await.unwrap());
    }

    async fn ping_at(&self, now: Timestamp, kind: PingKind) -> bool {
        self.clock.set(now);
        let heard = self.schedules.ping(&key(), &arrival(kind)).await;
        heard.unwrap().is_some()
    }

    async fn look(&self, now: Timestamp) {
        self.clock.set(now);
        self.planner.pass().await.unwrap();
    }

    async fn watched(&self) -> Watched {
        let schedule = self.schedules.load(&self.nightly).await.unwrap();
        self.schedules.watched(schedule).await.unwrap().unwrap()
    }

    /// Events that are delivered, oldest first: what, and since when it was down.
    async fn events(&self) -> Vec<String> {
        let filter = TaskFilter {
            kind: Kind::parse(outgoing::KIND).ok(),
            limit: 99,
            ..TaskFilter::default()
        };
        let found = self.store.list_tasks(&filter).await.unwrap().rows;
        let shown = found.iter().rev().map(|task| {
            let event: CloudEvent = serde_json::from_str(task.payload.as_str()).unwrap();
            let data: Value = serde_json::from_str(event.data.get()).unwrap();
            let what = event.r#type.split('.').nth(2).unwrap();
            let since: Timestamp = data["down_since"].as_str().unwrap().parse().unwrap();
            assert_eq!(event.subject, format!("monitor:{}", self.nightly));
            format!("{what} {}", since.strftime("%H:%M"))
        });
        shown.collect()
    }

    async fn rows(&self) -> Vec<String> {
        let id = self.schedules.load(&self.nightly).await.unwrap().id;
        let before = Timestamp::MAX;
        let page = LedgerPage { before, limit: 99 };
        let rows = self.store.load_slots(id, page).await.unwrap();
        let short = |row: &Slot| {
            let clock = row.slot_at.strftime("%H:%M");
            format!("{clock} {} x{}", row.verdict.as_str(), row.slots)
        };
        rows.iter().rev().map(short).collect()
    }
}

async fn dp_23_a_ping_is_answered_kept_and_meets_its_slot(fixture: Fixture) {
    fixture.watch("0 * * * *").await;
    assert_eq!(fixture.watched().await.status, MonitorStatus::New);
    assert!(fixture.ping_at(at(60), PingKind::Success).await);
    let watched = fixture.watched().await;
    assert_eq!(watched.status, MonitorStatus::Up);
    assert_eq!(watched.expected_at, Some(at(HOUR)));
    assert_eq!(watched.missing_at, Some(at(HOUR + GRACE)));
    assert!(fixture.ping_at(at(HOUR + 5), PingKind::Start).await);
    assert!(fixture.ping_at(at(HOUR + 65), PingKind::Success).await);
    assert_eq!(fixture.rows().await, ["09:00 pinged x1"]);
    let pings = fixture.store.load_pings(watched.schedule.id, 99, 99).await;
    let pings = pings.unwrap();
    let kinds: Vec<&str> = pings.iter().map(|ping| ping.kind.as_str()).collect();
    assert_eq!(kinds, ["success", "start", "success"]);
    assert_eq!(pings[0].took, Some(SignedDuration::from_mins(1)));
    let why = fixture
        .schedules
        .why(&fixture.nightly, at(HOUR), Lang::English)
        .await;
    let sentence = why.unwrap().sentence;
    assert!(
        sentence.contains("was pinged 65 s after its time"),
        "{sentence}"
    );
    let unknown = MonitorKey::Ping("other".to_owned());
    let success = arrival(PingKind::Success);
    let heard = fixture.schedules.ping(&unknown, &success);
    assert_eq!(heard.await.unwrap(), None);
}

async fn dp_23_a_missed_ping_is_a_slot_with_a_reason_and_the_next_ping_is_up(fixture: Fixture) {
    fixture.watch("@every 1h").await;
    fixture.ping_at(START, PingKind::Success).await;
    fixture.look(at(HOUR + GRACE - 1)).await;
    assert_eq!(fixture.watched().await.status, MonitorStatus::Late);
    assert_eq!(fixture.rows().await, ["08:00 pinged x1"]);
    fixture.look(at(HOUR + GRACE)).await;
    assert_eq!(fixture.watched().await.status, MonitorStatus::Down);
    assert_eq!(
        fixture.rows().await,
        ["08:00 pinged x1", "09:00 no_ping x1"]
    );
    let why = fixture
        .schedules
        .why(&fixture.nightly, at(HOUR), Lang::English)
        .await;
    let sentence = why.unwrap().sentence;
    assert!(
        sentence.contains("was missed: no ping came within its grace"),
        "{sentence}"
    );
    fixture
        .ping_at(at(HOUR + GRACE + 9), PingKind::Success)
        .await;
    let watched = fixture.watched().await;
    assert_eq!(watched.status, MonitorStatus::Up);
    assert_eq!(watched.expected_at, Some(at(2 * HOUR + GRACE + 9)));
}

/// Lets none of the first writers write before all of them have read. Whoever was second reads and
/// writes again without waiting.
struct Meet {
    writers: usize,
    came: AtomicUsize,
    all: Barrier,
}

impl Meet {
    fn of(writers: usize) -> Self {
        Self {
            writers,
            came: AtomicUsize::new(0),
            all: Barrier::new(writers),
        }
    }
}

#[async_trait]
impl Layer for Meet {
    async fn write_schedules(
        &self,
        below: &dyn Store,
        writes: Vec<ScheduleWrite>,
    ) -> store::Result<Vec<Applied>> {
        if self.came.fetch_add(1, Ordering::SeqCst) < self.writers {
            self.all.wait().await;
        }
        below.write_schedules(writes).await
    }
}

/// A ping a moment before its grace has passed, and planners a moment after: all have read the slot
/// as undecided before the first of them writes.
async fn dp_23_a_ping_and_its_verdict_meet_and_one_comes_first(fixture: Fixture) {
    fixture.watch("0 * * * *").await;
    fixture.ping_at(at(60), PingKind::Success).await;
    let meet = Layered::over(fixture.store.clone(), Meet::of(4));
    let clock_at = |seconds| Arc::new(almanack_testkit::clock::ManualClock::at(at(seconds)));
    let zones = Arc::new(Zones::default());
    let schedules = Schedules::new(meet.clone(), clock_at(HOUR + GRACE - 1), zones.clone());
    let planners: Vec<Planner> = (0..3)
        .map(|_| Planner::new(meet.clone(), clock_at(HOUR + GRACE), zones.clone()))
        .collect();
    let (key, success) = (key(), arrival(PingKind::Success));
    let looked = futures_util::future::join_all(planners.iter().map(Planner::pass));
    let (heard, looked) = tokio::join!(schedules.ping(&key, &success), looked);
    assert!(heard.unwrap().is_some(), "the ping was heard");
    for planned in looked {
        planned.unwrap();
    }
    fixture.clock.set(at(HOUR + GRACE));
    let rows = fixture.rows().await;
    let watched = fixture.watched().await;
    assert_eq!(rows.len(), 1, "one verdict: {rows:?}");
    assert!(
        rows[0] == "09:00 pinged x1" || rows[0] == "09:00 no_ping x1",
        "{rows:?}"
    );
    assert_eq!(
        watched.status,
        MonitorStatus::Up,
        "and the ping counts in any case"
    );
    assert_eq!(watched.monitor.pings, 2);
}

async fn dp_23_pings_that_meet_are_all_kept_and_numbered(fixture: Fixture) {
    fixture.watch("@every 1h").await;
    let meet = Layered::over(fixture.store.clone(), Meet::of(6));
    let zones = Arc::new(Zones::default());
    let nodes: Vec<Schedules> = (0..6)
        .map(|_| Schedules::new(meet.clone(), fixture.clock.clone(), zones.clone()))
        .collect();
    let success = arrival(PingKind::Success);
    let key = key();
    let pings = nodes.iter().map(|node| node.ping(&key, &success));
    for heard in futures_util::future::join_all(pings).await {
        assert!(heard.unwrap().is_some());
    }
    let id = fixture.schedules.load(&fixture.nightly).await.unwrap().id;
    let kept = fixture.store.load_pings(id, 99, 99).await.unwrap();
    let numbers: BTreeSet<u64> = kept.iter().map(|ping| ping.number).collect();
    assert_eq!(numbers, (1..=6).collect());
    assert_eq!(fixture.watched().await.monitor.pings, 6);
}

async fn dp_23_a_key_stops_working_with_its_monitor(fixture: Fixture) {
    fixture.watch("@every 1h").await;
    assert!(fixture.ping_at(at(1), PingKind::Success).await);
    fixture
        .schedules
        .remove(&fixture.nightly, "ada")
        .await
        .unwrap();
    assert!(!fixture.ping_at(at(2), PingKind::Success).await, "removed");
    fixture.put(hourly()).await.unwrap();
    assert!(
        !fixture.ping_at(at(3), PingKind::Success).await,
        "no monitor"
    );
    fixture.put(monitor("@every 2h")).await.unwrap();
    assert!(
        fixture.ping_at(at(4), PingKind::Success).await,
        "a monitor again"
    );
}

async fn dp_23_a_change_settles_what_was_expected_and_forgets_nothing_heard(fixture: Fixture) {
    fixture.watch("0 * * * *").await;
    fixture.ping_at(at(60), PingKind::Success).await;
    fixture.clock.set(at(2 * HOUR + 60));
    let edited = fixture.put(monitor("30 * * * *")).await.unwrap();
    assert_eq!(edited, Some(Edited::Changed));
    assert_eq!(
        fixture.rows().await,
        ["09:00 no_ping x1", "10:00 changed x1"]
    );
    let watched = fixture.watched().await;
    assert_eq!(
        watched.status,
        MonitorStatus::Down,
        "what was missed stays missed"
    );
    assert_eq!(watched.monitor.last_ping_at, Some(at(60)));
    assert_eq!(watched.expected_at, Some(at(2 * HOUR + 1_800)));
    assert!(fixture.ping_at(at(2 * HOUR + 90), PingKind::Success).await);
}

async fn dp_23_a_ping_ends_a_pause_that_has_ended_and_no_other(fixture: Fixture) {
    fixture.watch("0 * * * *").await;
    fixture.ping_at(at(60), PingKind::Success).await;
    let pause = async |until| {
        let paused = fixture
            .schedules
            .pause(&fixture.nightly, until, None, "ada");
        paused.await.unwrap();
    };
    pause(None).await;
    assert!(fixture.ping_at(at(HOUR + 60), PingKind::Fail).await);
    let watched = fixture.watched().await;
    assert_eq!(watched.status, MonitorStatus::Paused);
    assert_eq!(fixture.rows().await, [""; 0]);
    pause(Some(at(2 * HOUR - 60))).await;
    assert!(fixture.ping_at(at(2 * HOUR + 60), PingKind::Success).await);
    let watched = fixture.watched().await;
    assert_eq!(watched.schedule.state, State::Active);
    assert_eq!(watched.status, MonitorStatus::Up);
    assert_eq!(fixture.rows().await, ["09:00 paused x1", "10:00 pinged x1"]);
    let edits = fixture.store.load_edits(watched.schedule.id, 9).await;
    let last = edits.unwrap().pop().unwrap();
    assert_eq!(last.edited, Edited::Resumed);
}

async fn dp_23_a_monitor_has_nothing_to_fire(fixture: Fixture) {
    fixture.watch("0 * * * *").await;
    let fired = fixture
        .schedules
        .fire(&fixture.nightly, Overlapping::Forced, "ada");
    let refused = fired.await.unwrap_err();
    assert!(
        matches!(
            refused,
            Error::NotNow {
                request: ("fired", _),
                ..
            }
        ),
        "{refused}"
    );
    fixture.look(at(5 * HOUR)).await;
    assert_eq!(
        fixture.rows().await,
        [""; 0],
        "before the first ping nothing is expected"
    );
    assert_eq!(fixture.watched().await.monitor, Monitor::default());
}

async fn dp_23_subscribers_hear_once_that_a_monitor_is_down_and_that_it_is_up(fixture: Fixture) {
    let subscription = Subscription {
        name: Name::parse("audit").unwrap(),
        wants: Wants::default(),
        batch: None,
    };
    let subscriptions = Reloadable::new(Subscriptions {
        source: "/almanack".to_owned(),
        all: vec![subscription],
    });
    let fixture = Fixture {
        planner: fixture.planner.reporting_to(subscriptions.clone()),
        schedules: fixture.schedules.reporting_to(subscriptions),
        ..fixture
    };
    fixture.watch("@every 1h").await;
    fixture.ping_at(START, PingKind::Success).await;
    assert_eq!(fixture.events().await, [""; 0]);
    let missing_at = HOUR + GRACE;
    for later in [0, 60, HOUR, 2 * HOUR] {
        fixture.look(at(missing_at + later)).await;
    }
    assert_eq!(fixture.events().await, ["down 09:10"]);
    fixture.ping_at(at(4 * HOUR), PingKind::Success).await;
    fixture.ping_at(at(4 * HOUR + 60), PingKind::Success).await;
    let up = ["down 09:10", "up 09:10"];
    assert_eq!(fixture.events().await, up);
    // Late, but no node had noticed: it was never seen down.
    fixture.ping_at(at(8 * HOUR), PingKind::Success).await;
    assert_eq!(fixture.events().await, up);
    fixture.ping_at(at(8 * HOUR + 60), PingKind::Fail).await;
    fixture.ping_at(at(8 * HOUR + 90), PingKind::Fail).await;
    fixture.ping_at(at(8 * HOUR + 99), PingKind::Success).await;
    let found = fixture.events().await;
    assert_eq!(found[2..], ["down 16:01", "up 16:01"]);
}
