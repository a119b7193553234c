//! The watch on real stores: of several nodes one opens, notifies and closes.

use std::{
    future::pending,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
};

use almanack_core::{
    alert::{
        News, Rule,
        port::{Answer, Notice, Notifier, Outcome},
    },
    backoff::Backoff,
    calendar::{Copy, Fetched, Fetcher},
    finish::{Outcome as Ending, finish},
    plan::{Arrival, Definition, Origin, Overlap, PingKind, Schedule},
    store::{AlertFilter, ClaimId, MonitorKey, MonitorKeys, Store},
    target::Target,
    task::ClaimedTask,
};
use almanack_engine::{
    calendars::Calendars,
    health::Health,
    reloadable::Reloadable,
    schedules::Schedules,
    watch::{Watch, WatchSettings, Watching},
    zones::Zones,
};
use almanack_store::postgres::PostgresStore;
use almanack_testkit::{
    clock::ManualClock,
    fixture::{START, at, claim_request, fires, new_schedule, node, schedule, schedule_name},
    postgres::Schema,
};
use async_trait::async_trait;
use jiff::{SignedDuration, Timestamp};
use tokio::sync::Notify;

use crate::fixture::{Fixture, hourly, on_both};

on_both!(
    of_two_nodes_one_reports_when_a_node_is_gone_and_when_it_is_back,
    dp_21_a_calendar_that_cannot_be_read_is_one_alert_until_it_can,
    dp_23_a_missed_ping_is_one_alert_until_the_next_ping,
    a_schedule_that_fails_again_and_again_is_one_alert_until_it_works,
    a_schedules_alerts_go_where_it_says,
    a_channel_that_failed_is_asked_again_after_a_while,
    what_a_node_died_reporting_another_reports,
    what_a_node_says_of_itself_every_node_reports_once,
    that_nothing_can_be_written_is_reported_without_a_row,
    a_schedule_of_seconds_that_nothing_planned_for_a_minute_is_reported,
    dp_24_a_schedule_that_a_clock_planned_ahead_is_reported,
);

/// Remembers its notifications, and answers as it is set.
#[derive(Default)]
struct Ears {
    heard: Mutex<Vec<(News, Rule, String)>>,
    /// The channels that the last notices named.
    routes: Mutex<Vec<Option<Vec<String>>>>,
    fails: Mutex<bool>,
    hangs: Mutex<bool>,
    asked: Notify,
}

impl Ears {
    fn take(&self) -> Vec<(News, Rule, String)> {
        std::mem::take(&mut self.heard.lock().unwrap())
    }

    fn set(flag: &Mutex<bool>, value: bool) {
        *flag.lock().unwrap() = value;
    }
}

#[async_trait]
impl Notifier for Ears {
    async fn notify(&self, notices: &[Notice]) -> Vec<Answer> {
        self.asked.notify_one();
        if *self.hangs.lock().unwrap() {
            pending::<()>().await;
        }
        let keys = notices.iter().map(|it| it.alert.key.clone()).collect();
        let routes = notices.iter().map(|it| it.channels.clone());
        *self.routes.lock().unwrap() = routes.collect();
        if *self.fails.lock().unwrap() {
            let outcome = Outcome::Failed("no route".to_owned());
            let channel = "chat".to_owned();
            return vec![Answer {
                channel,
                keys,
                outcome,
            }];
        }
        let mut heard = self.heard.lock().unwrap();
        for notice in notices {
            let key = &notice.alert.key;
            heard.push((notice.news, key.rule, key.about.to_string()));
        }
        vec![Answer {
            channel: "chat".to_owned(),
            keys,
            outcome: Outcome::Taken(String::new()),
        }]
    }
}

struct World {
    store: Arc<dyn Store>,
    clock: Arc<ManualClock>,
    ears: Arc<Ears>,
}

impl World {
    fn on(fixture: &Fixture) -> Self {
        Self {
            store: Arc::clone(&fixture.store),
            clock: Arc::clone(&fixture.clock),
            ears: Arc::default(),
        }
    }

    fn watch(&self) -> Watch {
        let (store, clock) = (Arc::clone(&self.store), Arc::clone(&self.clock));
        let watching = Watching {
            settings: WatchSettings::default(),
            notifier: self.ears.clone(),
        };
        Watch::new(store, clock, Reloadable::new(watching))
    }

    async fn rounds(&self, watches: &mut [Watch], seconds: i64) {
        for _ in 0..seconds / 20 {
            self.clock.advance(SignedDuration::from_secs(20));
            for watch in &mut *watches {
                watch.round().await.unwrap();
            }
        }
    }

    async fn beat(&self, name: &str, seen_at: Timestamp) {
        let mut node = node(name, name);
        node.seen_at = seen_at;
        self.store.save_node(&node).await.unwrap();
    }
}

/// Every ten seconds; the node was down for a minute and fires again since, all before the first
/// round of its watch.
async fn a_schedule_of_seconds_that_nothing_planned_for_a_minute_is_reported(fixture: Fixture) {
    let often = Definition {
        expression: "@10s".to_owned(),
        overlap: Overlap::Allow,
        ..hourly()
    };
    fixture.put(often).await.unwrap();
    let world = World::on(&fixture);
    for second in [10, 20, 85, 90, 100] {
        world.clock.set(START + SignedDuration::from_secs(second));
        fixture.planner.pass().await.unwrap();
    }
    let mut watch = [world.watch()];
    world.rounds(&mut watch, 20).await;
    let about = "schedule:nightly".to_owned();
    assert_eq!(world.ears.take(), [(News::Opened, Rule::Missing, about)]);
}

/// Nothing is visibly wrong with it, except that it does not fire before that time.
async fn dp_24_a_schedule_that_a_clock_planned_ahead_is_reported(fixture: Fixture) {
    fixture.put(hourly()).await.unwrap();
    let world = World::on(&fixture);
    world.clock.set(at(3_600));
    fixture.planner.pass().await.unwrap();
    world.clock.set(START);
    world.rounds(&mut [world.watch()], 20).await;
    let about = "schedule:nightly".to_owned();
    assert_eq!(world.ears.take(), [(News::Opened, Rule::Clock, about)]);
}

/// Whatever the monitor is down for, and for however long: one alert, until the next ping.
/// Fails until it is set not to.
struct Address(Mutex<bool>);

#[async_trait]
impl Fetcher for Address {
    async fn fetch(&self, _: &str, _: Option<&Copy>) -> Result<Fetched, String> {
        if *self.0.lock().unwrap() {
            return Err("HTTP 500".to_owned());
        }
        let text = "BEGIN:VCALENDAR\nBEGIN:VEVENT\nDTSTART;VALUE=DATE:20260106\nEND:VEVENT\nEND:VCALENDAR\n";
        let text = text.to_owned();
        Ok(Fetched::Text(Copy {
            text,
            ..Copy::default()
        }))
    }
}

async fn dp_21_a_calendar_that_cannot_be_read_is_one_alert_until_it_can(fixture: Fixture) {
    let world = World::on(&fixture);
    let schedules = Schedules::new(
        Arc::clone(&world.store),
        world.clock.clone(),
        Arc::new(Zones::default()),
    );
    let address = Arc::new(Address(Mutex::new(true)));
    let calendars = Calendars::new(
        Arc::clone(&world.store),
        world.clock.clone(),
        Arc::new(schedules),
    )
    .reading_by(address.clone());
    let url = serde_json::from_str(r#"{"url":"https://example.org/de.ics"}"#).unwrap();
    calendars.put("de", url, Origin::Api).await.unwrap();
    let mut both = [world.watch(), world.watch()];
    let mut pass = async |minutes: i64| {
        for _ in 0..minutes {
            calendars.pass().await.unwrap();
            world.rounds(&mut both, 60).await;
        }
        world.ears.take()
    };
    let about = || "calendar:de".to_owned();
    assert_eq!(pass(14).await, [], "two failures may be an accident");
    assert_eq!(pass(20).await, [(News::Opened, Rule::Failing, about())]);
    Ears::set(&address.0, false);
    assert_eq!(pass(120).await, [(News::Closed, Rule::Failing, about())]);
}

async fn dp_23_a_missed_ping_is_one_alert_until_the_next_ping(fixture: Fixture) {
    let target = Target::Ping { note: None };
    let backup = Definition {
        grace: Some(SignedDuration::from_mins(10)),
        ..Definition::new("@every 1h", target)
    };
    fixture.put(backup).await.unwrap();
    let world = World::on(&fixture);
    let schedule = fixture.schedules.load(&fixture.nightly).await.unwrap();
    let keys = MonitorKeys {
        ping_hash: Some("hash".to_owned()),
        badge: None,
    };
    fixture.schedules.save_keys(&schedule, &keys).await.unwrap();
    let mut both = [world.watch(), world.watch()];
    let ping = async |kind| {
        let arrival = Arrival {
            kind,
            exit_status: None,
            rid: None,
            method: "GET".to_owned(),
            body: None,
        };
        let key = MonitorKey::Ping("hash".to_owned());
        fixture
            .schedules
            .ping(&key, &arrival)
            .await
            .unwrap()
            .unwrap();
    };
    let mut pass = async |minutes: i64| {
        for _ in 0..minutes {
            world.rounds(&mut both, 60).await;
            fixture.planner.pass().await.unwrap();
        }
        world.ears.take()
    };
    let about = || "schedule:nightly".to_owned();
    assert_eq!(
        pass(10).await,
        [],
        "nothing is expected before the first ping"
    );
    ping(PingKind::Success).await;
    assert_eq!(pass(69).await, [], "late, and within its grace");
    let opened = (News::Opened, Rule::Missing, about());
    assert_eq!(pass(80).await, [opened], "however long it is missing");
    ping(PingKind::Success).await;
    let closed = (News::Closed, Rule::Missing, about());
    assert_eq!(pass(20).await, [closed]);
    ping(PingKind::Fail).await;
    assert_eq!(pass(75).await, [(News::Opened, Rule::Failing, about())]);
    ping(PingKind::Success).await;
    assert_eq!(pass(20).await, [(News::Closed, Rule::Failing, about())]);
    ping(PingKind::Start).await;
    assert_eq!(pass(20).await, [(News::Opened, Rule::Stuck, about())]);
}

async fn of_two_nodes_one_reports_when_a_node_is_gone_and_when_it_is_back(fixture: Fixture) {
    let world = World::on(&fixture);
    let mut both = [world.watch(), world.watch()];
    world.clock.set(START);
    world.beat("a", START).await;
    world.rounds(&mut both, 100).await;
    assert_eq!(world.ears.take(), []);
    world.rounds(&mut both, 400).await;
    let about = || "node:a".to_owned();
    assert_eq!(world.ears.take(), [(News::Opened, Rule::Gone, about())]);
    world.beat("a", at(500)).await;
    world.rounds(&mut both, 100).await;
    assert_eq!(world.ears.take(), [(News::Closed, Rule::Gone, about())]);
    let all = AlertFilter {
        closed_from: Timestamp::MIN,
        limit: 9,
    };
    let kept = world.store.load_alerts(all).await.unwrap();
    assert_eq!(kept.len(), 1, "it can be looked up");
    assert!(!kept[0].is_open() && kept[0].notify_at.is_none());
}

async fn load(world: &World, name: &str) -> Schedule {
    let names = [schedule_name(name)];
    let loaded = world.store.load_schedules(&names).await.unwrap();
    loaded.into_iter().next().flatten().unwrap()
}

/// Fires the next slot and ends it so.
async fn fire(world: &World, number: i64, ending: Ending) {
    let schedule = load(world, "beat").await;
    let slot_at = schedule.next_at.unwrap();
    world.clock.set(slot_at + SignedDuration::from_secs(1));
    world
        .store
        .write_schedules(vec![fires(&schedule)])
        .await
        .unwrap();
    let now = slot_at + SignedDuration::from_secs(1);
    let claimed = world
        .store
        .claim(claim_request(number, now, 9))
        .await
        .unwrap();
    let end = |task: &ClaimedTask| finish(task, &ending, &Backoff::default(), now, 0);
    let ends = claimed.tasks.iter().map(end).collect();
    world.store.finish(ends).await.unwrap();
    // As a keeper does.
    world
        .store
        .release_claims(&[ClaimId(number)])
        .await
        .unwrap();
}

async fn a_schedule_that_fails_again_and_again_is_one_alert_until_it_works(fixture: Fixture) {
    let world = World::on(&fixture);
    let mut watch = world.watch();
    let beat = new_schedule(schedule("beat", START));
    world.store.write_schedules(vec![beat]).await.unwrap();
    let failed = || Ending::GiveUp {
        error: "HTTP 500".to_owned(),
    };
    for number in 0..6 {
        fire(&world, number, failed()).await;
        watch.round().await.unwrap();
        let opened = usize::from(number == 2);
        assert_eq!(world.ears.take().len(), opened, "after {number}");
    }
    for number in 6..16 {
        fire(&world, number, Ending::Done { detail: None }).await;
        watch.round().await.unwrap();
    }
    let about = "schedule:beat".to_owned();
    assert_eq!(world.ears.take(), [(News::Closed, Rule::Failing, about)]);
}

async fn a_schedules_alerts_go_where_it_says(fixture: Fixture) {
    let world = World::on(&fixture);
    let mut watch = world.watch();
    let mut beat = schedule("beat", START);
    let mut definition = beat.definition.read().unwrap().clone();
    definition.alerts = Some(vec!["ntfy".to_owned()]);
    beat.definition = definition.into();
    let beat = new_schedule(beat);
    world.store.write_schedules(vec![beat]).await.unwrap();
    for number in 0..3 {
        let error = "HTTP 500".to_owned();
        fire(&world, number, Ending::GiveUp { error }).await;
        watch.round().await.unwrap();
    }
    assert_eq!(world.ears.take().len(), 1);
    let routes = world.ears.routes.lock().unwrap().clone();
    assert_eq!(routes, [Some(vec!["ntfy".to_owned()])]);
}

async fn a_channel_that_failed_is_asked_again_after_a_while(fixture: Fixture) {
    let world = World::on(&fixture);
    let mut watch = [world.watch()];
    world.clock.set(START);
    world.beat("a", at(-110)).await;
    Ears::set(&world.ears.fails, true);
    world.rounds(&mut watch, 20).await;
    Ears::set(&world.ears.fails, false);
    world.rounds(&mut watch, 40).await;
    assert_eq!(world.ears.take(), [], "not before a minute has passed");
    world.rounds(&mut watch, 40).await;
    assert_eq!(world.ears.take().len(), 1);
}

async fn what_a_node_died_reporting_another_reports(fixture: Fixture) {
    let world = World::on(&fixture);
    let (mut dying, mut other) = (world.watch(), [world.watch()]);
    world.clock.set(START);
    world.beat("a", at(-200)).await;
    Ears::set(&world.ears.hangs, true);
    tokio::select! {
        round = dying.round() => panic!("it must hang: {round:?}"),
        () = world.ears.asked.notified() => {}
    }
    Ears::set(&world.ears.hangs, false);
    world.rounds(&mut other, 100).await;
    assert_eq!(world.ears.take(), [], "its lease holds");
    world.rounds(&mut other, 40).await;
    assert_eq!(world.ears.take().len(), 1);
}

/// A row that cannot be read is nothing that a page shows by chance: people are notified, and when
/// it is over.
#[tokio::test]
async fn sf_06_an_unreadable_schedule_is_an_alert_until_its_row_is_right() {
    let schema = Schema::create().await;
    let store = PostgresStore::connect(schema.url()).await.unwrap();
    let world = World::on(&Fixture::on(Arc::new(store)));
    for name in ["a", "bad"] {
        let new = new_schedule(schedule(name, at(3_600)));
        world.store.write_schedules(vec![new]).await.unwrap();
    }
    let mut watch = [world.watch()];
    let damage = "update schedule set origin = 'galaxy', look_at_us = 0 where name = 'bad'";
    schema.run(damage).await;
    world.rounds(&mut watch, 100).await;
    let about = || "schedule:bad".to_owned();
    assert_eq!(world.ears.take(), [(News::Opened, Rule::Parked, about())]);
    let repair = "update schedule set origin = 'api', look_at_us = next_at_us";
    schema.run(repair).await;
    world.rounds(&mut watch, 400).await;
    assert_eq!(world.ears.take(), [(News::Closed, Rule::Parked, about())]);
}

async fn what_a_node_says_of_itself_every_node_reports_once(fixture: Fixture) {
    let world = World::on(&fixture);
    let (health, free) = (Arc::new(Health::default()), Arc::new(AtomicU64::new(1)));
    let measured = Arc::clone(&free);
    let own = world.watch().of_node("a".to_owned(), Arc::clone(&health));
    let own = own.measuring(Arc::new(move || Some(measured.load(Ordering::SeqCst))));
    let mut both = [own, world.watch()];
    world.clock.set(START);
    world.beat("a", at(1_000)).await;
    let publish = async |watch: &mut Watch| {
        watch.look_at_itself().await;
        let troubles = health.troubles();
        world.store.save_troubles("a", &troubles).await.unwrap();
    };
    publish(&mut both[0]).await;
    world.rounds(&mut both, 100).await;
    let about = || "node:a".to_owned();
    assert_eq!(world.ears.take(), [(News::Opened, Rule::Disk, about())]);
    free.store(u64::MAX, Ordering::SeqCst);
    publish(&mut both[0]).await;
    world.rounds(&mut both, 200).await;
    assert_eq!(world.ears.take(), [(News::Closed, Rule::Disk, about())]);
}

async fn that_nothing_can_be_written_is_reported_without_a_row(fixture: Fixture) {
    let world = World::on(&fixture);
    let health = Arc::new(Health::of_beat(SignedDuration::from_secs(5)));
    let mut watch = world.watch().of_node("a".to_owned(), Arc::clone(&health));
    health.note_written(START);
    let notified = async |watch: &mut Watch, seconds: i64| {
        world.clock.set(at(seconds));
        watch.look_at_itself().await;
        world.ears.take()
    };
    assert_eq!(
        notified(&mut watch, 59).await,
        [],
        "a failover takes as long"
    );
    Ears::set(&world.ears.fails, true);
    assert_eq!(notified(&mut watch, 60).await, []);
    Ears::set(&world.ears.fails, false);
    let about = || "node:a".to_owned();
    let opened = (News::Opened, Rule::Unwritable, about());
    assert_eq!(
        notified(&mut watch, 80).await,
        [opened],
        "tried until heard"
    );
    assert_eq!(notified(&mut watch, 100).await, [], "and once");
    health.note_written(at(110));
    let closed = (News::Closed, Rule::Unwritable, about());
    assert_eq!(notified(&mut watch, 120).await, [closed]);
    assert_eq!(notified(&mut watch, 140).await, []);
}
