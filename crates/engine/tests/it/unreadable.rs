//! Rows that cannot be read, under a planner and under people: the others go on (SF-06).

use std::sync::Arc;

use almanack_core::{
    plan::{Definition, Origin, Overlap, ScheduleName, State},
    reschedule::{Request, Rule},
    store::{self, Store},
    target::Target,
};
use almanack_engine::{
    planner::Planner,
    reschedule::{Error, Kinds, Rescheduler},
    schedules::Schedules,
    zones::Zones,
};
use almanack_store::postgres::PostgresStore;
use almanack_testkit::{
    clock::ManualClock,
    fixture::{PUBLISH, START, at, put},
    postgres::Schema,
};

struct Fixture {
    schema: Schema,
    store: Arc<dyn Store>,
    clock: Arc<ManualClock>,
    planner: Planner,
    schedules: Schedules,
}

impl Fixture {
    /// Three schedules that all fire every ten seconds.
    async fn new(overlap: Overlap) -> Self {
        let schema = Schema::create().await;
        let store: Arc<dyn Store> = Arc::new(PostgresStore::connect(schema.url()).await.unwrap());
        let clock = Arc::new(ManualClock::at(START));
        let zones = Arc::new(Zones::default());
        let fixture = Self {
            schedules: Schedules::new(store.clone(), clock.clone(), zones.clone()),
            planner: Planner::new(store.clone(), clock.clone(), zones),
            schema,
            store,
            clock,
        };
        for name in ["a", "bad", "c"] {
            fixture.put(name, overlap).await;
        }
        fixture
    }

    async fn put(&self, name: &str, overlap: Overlap) {
        let url = "https://example.org/hook".to_owned();
        let definition = Definition {
            overlap,
            ..Definition::new("@10s", Target::webhook(url))
        };
        let name = ScheduleName::parse(name).unwrap();
        let put = self.schedules.put(&name, definition, Origin::Api, "ada");
        put.await.unwrap();
    }

    async fn fired_at(&self, seconds: i64) -> u64 {
        self.clock.set(at(seconds));
        self.planner.pass().await.unwrap().fired
    }
}

#[tokio::test]
async fn sf_06_dp_18_an_unreadable_schedule_stops_no_other() {
    let fixture = Fixture::new(Overlap::Allow).await;
    let damage = "update schedule set last_subject = ' ' where name = 'bad'";
    fixture.schema.run(damage).await;
    assert_eq!(fixture.fired_at(10).await, 2);
    assert_eq!(fixture.fired_at(20).await, 2);
    let bad = ScheduleName::parse("bad").unwrap();
    let shown = fixture.schedules.load(&bad).await.unwrap();
    assert!(matches!(shown.state, State::Parked { .. }), "{shown:?}");
    fixture.put("bad", Overlap::Skip).await;
    let healed = fixture.schedules.load(&bad).await.unwrap();
    assert_eq!(healed.state, State::Active, "written anew it is whole");
    assert_eq!(fixture.fired_at(30).await, 2, "left alone for a while");
    assert!(fixture.fired_at(100).await > 2, "and then planned again");
}

#[tokio::test]
async fn sf_06_an_unreadable_firing_keeps_no_schedule_waiting() {
    let fixture = Fixture::new(Overlap::Skip).await;
    assert_eq!(fixture.fired_at(10).await, 3);
    let damage = "update task set status = 'DREAMING' where subject like 'schedule:bad@%'";
    fixture.schema.run(damage).await;
    let planned = {
        fixture.clock.set(at(20));
        fixture.planner.pass().await.unwrap()
    };
    assert_eq!((planned.fired, planned.skipped), (1, 2));
}

#[tokio::test]
async fn sf_06_one_unreadable_task_fails_its_own_change_alone() {
    let fixture = Fixture::new(Overlap::Skip).await;
    let kinds = Kinds {
        accept_any: true,
        ..Kinds::default()
    };
    let rescheduler = Rescheduler::new(fixture.store.clone(), fixture.clock.clone(), kinds);
    let requests = |at| -> Vec<Request> {
        let subjects = ["article:1", "article:2", "article:3"];
        let request = |subject: &&str| Request::Put(put(subject, PUBLISH, at));
        subjects.iter().map(request).collect()
    };
    rescheduler.ask_all(requests(START), "test").await.unwrap();
    let damage = "update task set status = 'DREAMING' where subject = 'article:2'";
    fixture.schema.run(damage).await;
    let answers = rescheduler.ask_all(requests(at(9)), "test").await.unwrap();
    let rules: Vec<Option<Rule>> = answers
        .iter()
        .map(|answer| Some(answer.as_ref().ok()?.rule))
        .collect();
    assert_eq!(rules, [Some(Rule::Updated), None, Some(Rule::Updated)]);
    let alone = &answers[1];
    assert!(
        matches!(alone, Err(Error::Store(store::Error::Unreadable { .. }))),
        "{alone:?}"
    );
}
