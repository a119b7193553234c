//! The radar and its spreads, on both databases.

use std::sync::Arc;

use almanack_core::{
    plan::{Definition, Origin, ScheduleName},
    radar::{AppliedSpread, HERD_DEFAULT, HOURS_DEFAULT, Herd, Radar as Shown},
    reschedule::{Cancel, Put, Request},
    target::Target,
    task::{Expires, Identity, Status},
};
use almanack_engine::{
    radar::{Error, Mode, Radar, Requested},
    reschedule::{Kinds, Rescheduler},
    schedules::Schedules,
    zones::Zones,
};
use almanack_testkit::fixture::{PUBLISH, START, at, kind, put};
use jiff::{SignedDuration, Timestamp};

use crate::fixture::{Fixture, HOUR, hourly, on_both};

/// A radar, and the ways in that it changes by.
struct Scope {
    radar: Radar,
    schedules: Arc<Schedules>,
    rescheduler: Arc<Rescheduler>,
    fixture: Fixture,
}

impl Scope {
    fn on(fixture: Fixture) -> Self {
        let (store, clock) = (fixture.store.clone(), fixture.clock.clone());
        let zones = Arc::new(Zones::default());
        let schedules = Arc::new(Schedules::new(store.clone(), clock.clone(), zones));
        let kinds = Kinds {
            accept_any: true,
            addresses: [(kind(PUBLISH), "https://cms.example/publish".to_owned())].into(),
            ..Kinds::default()
        };
        let rescheduler = Arc::new(Rescheduler::new(store.clone(), clock.clone(), kinds));
        let radar = Radar::new(store, clock, schedules.clone(), rescheduler.clone());
        Self {
            radar,
            schedules,
            rescheduler,
            fixture,
        }
    }

    async fn plant(&self, tasks: u32, due: Timestamp) {
        let puts = (0..tasks).map(|n| Request::Put(put(&format!("article:{n}"), PUBLISH, due)));
        let answers = self.rescheduler.ask_all(puts.collect(), "test").await;
        assert!(answers.unwrap().iter().all(Result::is_ok));
    }

    async fn schedule(&self, name: &str, definition: Definition, origin: Origin) {
        let name = ScheduleName::parse(name).unwrap();
        let put = self.schedules.put(&name, definition, origin, "ada");
        put.await.unwrap();
    }

    async fn look(&self) -> Shown {
        let read = self.radar.read(HOURS_DEFAULT, HERD_DEFAULT);
        read.await.unwrap()
    }

    async fn spread(&self, at: Timestamp, mode: Mode) -> Result<AppliedSpread, Error> {
        let requested = Requested {
            at,
            splay_s: None,
            mode,
            by: "grace",
            origin: "api:grace",
        };
        self.radar.spread(requested).await
    }
}

fn herd_at(shown: &Shown, at: Timestamp) -> &Herd {
    let found = shown.herds.iter().find(|herd| herd.at == at);
    found.unwrap()
}

async fn wk_09_a_proposed_spread_removes_the_herd_when_applied(fixture: Fixture) {
    let scope = Scope::on(fixture);
    scope.plant(200, at(HOUR)).await;
    for n in 0..30 {
        let origin = if n < 25 { Origin::Api } else { Origin::File };
        scope.schedule(&format!("job-{n}"), hourly(), origin).await;
    }
    let before = scope.look().await;
    let herd = herd_at(&before, at(HOUR));
    assert_eq!(herd.count, 230);
    let proposed = herd.spread.unwrap();
    let load: Vec<(&str, u64)> = before
        .hosts
        .iter()
        .map(|it| (&*it.name, it.total))
        .collect();
    assert_eq!(load, [("example.org", 23 * 30), ("cms.example", 200)]);

    let dry = scope.spread(at(HOUR), Mode::DryRun).await.unwrap();
    assert_eq!(
        (dry.schedules.len(), dry.tasks, dry.tasks_left),
        (25, 200, 0)
    );
    assert_eq!(scope.look().await, before, "a dry run changes nothing");

    let done = scope.spread(at(HOUR), Mode::Apply).await.unwrap();
    assert_eq!(done.splay_s, proposed.splay_s);
    assert_eq!(
        (done.schedules.len(), done.tasks, done.tasks_left),
        (25, 200, 0)
    );
    assert_eq!(done.managed.len(), 5, "five belong to a file");
    let first = &done.managed[0];
    assert!(first.write.starts_with("splay = \""), "{}", first.write);

    let after = scope.look().await;
    assert_eq!(after.herds, [], "no second of the day has a herd");
    let total = |shown: &Shown| shown.kinds.iter().map(|it| it.total).sum::<u64>();
    assert_eq!(total(&after), total(&before), "nothing is lost");
    let last = at(HOUR) + SignedDuration::from_secs(done.splay_s.into());
    let tasks = scope.fixture.store.load_upcoming(START, last, 1_000).await;
    assert!(tasks.unwrap().len() >= 199, "all within the window");

    let edits = scope
        .fixture
        .store
        .load_schedules(&done.schedules[..1])
        .await;
    let id = edits.unwrap()[0].as_ref().unwrap().id;
    let edits = scope.fixture.store.load_edits(id, 10).await.unwrap();
    assert_eq!(
        edits.last().unwrap().by,
        "grace",
        "its history names who did it"
    );
}

async fn wk_09_what_would_expire_at_its_new_time_is_refused_and_not_left_for_another_call(
    fixture: Fixture,
) {
    let scope = Scope::on(fixture);
    scope.plant(30, at(HOUR)).await;
    let expiring = Put {
        expires: Some(Expires::At(at(HOUR + 1))),
        ..Put::at(Identity::parse("article:8", PUBLISH).unwrap(), at(HOUR))
    };
    let expiring = scope.rescheduler.ask(Request::Put(expiring), "test");
    expiring.await.unwrap();
    let done = scope.spread(at(HOUR), Mode::Apply).await.unwrap();
    assert_eq!(
        (done.tasks, done.tasks_refused, done.tasks_left),
        (29, 1, 0)
    );
}

async fn wk_09_a_spread_leaves_alone_what_is_not_there_any_more(fixture: Fixture) {
    let scope = Scope::on(fixture);
    scope.plant(30, at(HOUR)).await;
    let identity = Identity::parse("article:7", PUBLISH).unwrap();
    let withdrawn = Request::Cancel(Cancel {
        identity: identity.clone(),
        revision: None,
    });
    scope.rescheduler.ask(withdrawn, "test").await.unwrap();
    let moved = Put::at(Identity::parse("article:8", PUBLISH).unwrap(), at(30));
    let moved = scope.rescheduler.ask(Request::Put(moved), "test");
    moved.await.unwrap();
    let done = scope.spread(at(HOUR), Mode::Apply).await.unwrap();
    assert_eq!((done.tasks, done.tasks_left), (28, 0));
    let row = scope.fixture.store.load_current(&[identity]).await.unwrap();
    assert_eq!(row[0].as_ref().unwrap().status, Status::Cancelled);
    let again = scope.spread(at(HOUR), Mode::Apply).await.unwrap_err();
    assert!(matches!(again, Error::NothingThere { .. }), "{again}");
}

async fn a_spread_of_a_time_that_is_out_of_reach_is_refused(fixture: Fixture) {
    let scope = Scope::on(fixture);
    scope.plant(30, at(HOUR)).await;
    for out in [at(-1), at(-5), at(49 * HOUR)] {
        let refused = scope.spread(out, Mode::Apply).await.unwrap_err();
        assert!(matches!(refused, Error::OutOfReach), "{refused}");
    }
    let requested = Requested {
        at: at(HOUR),
        splay_s: Some(0),
        mode: Mode::Apply,
        by: "grace",
        origin: "api:grace",
    };
    let refused = scope.radar.spread(requested).await.unwrap_err();
    assert!(matches!(refused, Error::Splay), "{refused}");
    assert_eq!(scope.look().await.herds[0].count, 30, "nothing was moved");
}

async fn what_rests_is_not_on_the_radar(fixture: Fixture) {
    let scope = Scope::on(fixture);
    let to = |host: &str| {
        let target = Target::webhook(format!("https://{host}.example/"));
        Definition::new("0 * * * *", target)
    };
    for name in ["busy", "paused", "resumes"] {
        scope.schedule(name, to(name), Origin::Api).await;
    }
    let name = |name: &str| ScheduleName::parse(name).unwrap();
    let pause = |of: &str, until: Option<Timestamp>| {
        let of = name(of);
        let schedules = scope.schedules.clone();
        async move { schedules.pause(&of, until, None, "ada").await.unwrap() }
    };
    pause("paused", None).await;
    pause("resumes", Some(at(20 * HOUR))).await;
    let shown = scope.look().await;
    let hosts: Vec<(&str, u64)> = shown.hosts.iter().map(|it| (&*it.name, it.total)).collect();
    assert_eq!(hosts, [("busy.example", 23), ("resumes.example", 4)]);
}

on_both!(
    wk_09_a_proposed_spread_removes_the_herd_when_applied,
    wk_09_what_would_expire_at_its_new_time_is_refused_and_not_left_for_another_call,
    wk_09_a_spread_leaves_alone_what_is_not_there_any_more,
    a_spread_of_a_time_that_is_out_of_reach_is_refused,
    what_rests_is_not_on_the_radar,
);
