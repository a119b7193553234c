//! What a simulation reports is what the planner does (DP-14).

use std::sync::Arc;

use almanack_core::{
    calendar,
    plan::{Also, CatchUp, Definition, Origin, Overlap, Quiet, ScheduleName, Slot},
    store::{LedgerPage, ScheduleStore, TaskStore},
    target::Target,
    time::Clock,
};
use almanack_engine::{
    calendars::Calendars,
    planner::Planner,
    schedules::{Schedules, Wanted},
    simulation::{Simulation, simulate},
    zones::Zones,
};
use almanack_store::sqlite::SqliteStore;
use almanack_testkit::{
    clock::ManualClock,
    fixture::{START, at, claim_request},
};
use jiff::{SignedDuration, Timestamp};

const HOUR: i64 = 3_600;

fn wanted(name: &str, expression: &str, catch_up: CatchUp) -> Wanted {
    let url = "https://example.org/hook".to_owned();
    Wanted {
        name: ScheduleName::parse(name).unwrap(),
        definition: Definition {
            catch_up,
            // What runs on a normal store here never ends, so that nothing may depend on it.
            overlap: Overlap::Allow,
            ..Definition::new(expression, Target::webhook(url))
        },
    }
}

fn day() -> Vec<Wanted> {
    vec![
        wanted("ten", "@600s", CatchUp::Latest),
        wanted("hourly", "7 * * * *", CatchUp::All),
        wanted("none", "*/20 * * * *", CatchUp::None),
        wanted("nightly", "30 2 * * *", CatchUp::Latest),
        with("left-out", "*/30 * * * *", |it| {
            it.except = vec!["mondays".to_owned()];
        }),
        with("quiet", "@900s", |it| {
            it.quiet = Quiet::parse("22:00-03:30").into_iter().collect();
        }),
        with("twice", "@hourly", |it| it.runs = Some(2)),
        with("once", "at 2026-01-05 12:00", |_| {}),
        with("jitter", "@hourly", |it| {
            it.jitter = SignedDuration::from_mins(9);
        }),
        with("bounded", "@600s", |it| it.ends_at = Some(at(HOUR))),
        with("two", "@hourly", |it| {
            let expression = "30 * * * *".to_owned();
            it.also = vec![Also {
                expression,
                tz: None,
            }];
        }),
    ]
}

fn with(name: &str, expression: &str, change: impl Fn(&mut Definition)) -> Wanted {
    let mut wanted = wanted(name, expression, CatchUp::Latest);
    change(&mut wanted.definition);
    wanted
}

fn of_mondays() -> calendar::Definition {
    calendar::Definition {
        weekdays: vec![calendar::Weekday::Monday],
        ..calendar::Definition::default()
    }
}

fn mondays() -> calendar::Calendars {
    let compiled = calendar::Calendar::new("mondays", &of_mondays(), None).map(Arc::new);
    std::iter::once(("mondays".to_owned(), compiled)).collect()
}

fn simulation() -> Simulation {
    Simulation {
        from: START,
        until: at(24 * HOUR),
        takes: SignedDuration::from_secs(1),
        outages: vec![(at(3 * HOUR + 90), at(7 * HOUR + 11))],
    }
}

async fn ledger(store: &SqliteStore, schedules: &Schedules, name: &ScheduleName) -> Vec<Slot> {
    let page = LedgerPage {
        before: Timestamp::MAX,
        limit: 10_000,
    };
    let id = schedules.load(name).await.unwrap().id;
    let mut rows = store.load_slots(id, page).await.unwrap();
    rows.reverse();
    rows
}

#[tokio::test]
async fn dp_14_a_simulation_lists_what_the_planner_does() {
    let simulation = simulation();
    let simulated = simulate(&Zones::with_calendars(mondays()), day(), &simulation);
    let store = Arc::new(SqliteStore::in_memory().unwrap());
    let clock = Arc::new(ManualClock::at(START - SignedDuration::from_micros(1)));
    let zones = Arc::new(Zones::default());
    let planner = Planner::new(store.clone(), clock.clone(), zones.clone());
    let schedules = Schedules::new(store.clone(), clock.clone(), zones);
    Calendars::new(
        store.clone(),
        clock.clone(),
        Arc::new(Schedules::new(store.clone(), clock.clone(), Arc::default())),
    )
    .put("mondays", of_mondays(), Origin::Api)
    .await
    .unwrap();
    for Wanted { name, definition } in day() {
        let put = schedules.put(&name, definition, Origin::Api, "ada");
        put.await.unwrap();
    }
    // Every second of the day but those of the outage, as a node that polls would.
    clock.set(START);
    while clock.now() < simulation.until {
        let (gone, back) = simulation.outages[0];
        if !(gone..back).contains(&clock.now()) {
            planner.pass().await.unwrap();
        }
        clock.advance(SignedDuration::from_secs(1));
    }
    assert_eq!(simulated.parts.len(), 11);
    assert!(simulated.refused.is_empty(), "{:?}", simulated.refused);
    let mut slots = 0;
    for part in &simulated.parts {
        let done = ledger(&store, &schedules, &part.name).await;
        assert_eq!(part.rows, done, "{}", part.name);
        slots += part.rows.iter().map(|row| row.slots).sum::<u64>();
    }
    assert_eq!(
        slots,
        144 + 24 + 72 + 1 + 48 + 96 + 2 + 1 + 24 + 7 + 48,
        "every slot of the day is simulated"
    );
    let (fired, skipped) = simulated.counts();
    assert_eq!(fired + skipped, slots);
    assert!(skipped > 20, "the outage shows: {skipped}");
    let claimed = store.claim(claim_request(1, simulation.until, 1_000)).await;
    assert_eq!(claimed.unwrap().tasks.len() as u64, fired);
}

#[test]
fn dp_14_a_slow_firing_overlaps_in_a_simulation_too() {
    let mut slow = simulation();
    slow.outages.clear();
    slow.takes = SignedDuration::from_mins(25);
    let mut skips = wanted("ten", "@600s", CatchUp::Latest);
    skips.definition.overlap = Overlap::Skip;
    let simulated = simulate(&Zones::default(), vec![skips], &slow);
    assert_eq!(simulated.counts(), (48, 96), "one in three fires");
}
