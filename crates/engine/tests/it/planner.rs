//! The planner and the way in for people, on both databases, by a clock that a test moves.

mod beside;

use std::{collections::BTreeSet, sync::Arc};

use almanack_core::{
    lang::Lang,
    plan::{
        Definition, Edited, Firing, Origin, Overlap, ScheduleName, ScheduleWrite, Slot, State,
        Trigger, Verdict,
    },
    store::{self, Applied, LedgerPage, Store, TaskFilter},
    task::{Status, Task},
};
use almanack_engine::{
    planner::{Planned, Planner},
    schedules::{Backfill, Error, Overlapping, Wanted},
    zones::Zones,
};
use almanack_testkit::{
    fixture::{START, at, claim_request},
    layer::{Layer, Layered},
};
use async_trait::async_trait;
use jiff::{SignedDuration, Timestamp};
use tokio::sync::Barrier;

use crate::fixture::{Fixture, HOUR, hourly, on_both};

on_both!(
    dp_17_a_pause_of_very_many_slots_ends_when_it_is_reported_to,
    dp_16_a_parked_schedule_goes_on_where_it_stopped,
    dp_17_a_pause_that_cannot_be_computed_stays_a_pause,
    dp_05_a_slot_fires_once_however_many_planners_look,
    dp_16_slots_that_passed_while_nothing_ran_are_in_the_ledger,
    a_change_settles_what_was_due_and_keeps_the_history,
    dp_17_a_pause_is_recorded_with_its_note_when_it_ends,
    dp_17_a_firing_that_has_not_ended_is_not_overlapped,
    dp_17_cancel_running_takes_the_predecessor_back,
    a_backfill_fires_what_did_not_fire_once_and_at_a_pace,
    dp_18_a_schedule_that_cannot_be_computed_is_parked_alone,
    dp_18_a_file_with_one_bad_schedule_still_loads_the_others,
    dp_08_verdicts_report_fired_from_caught_up,
    dp_05_a_slower_clock_does_not_decide_a_slot_again,
);

fn name(text: &str) -> ScheduleName {
    ScheduleName::parse(text).unwrap()
}

impl Fixture {
    async fn pass_at(&self, now: Timestamp) -> Planned {
        self.clock.set(now);
        self.planner.pass().await.unwrap()
    }

    /// The ledger in short, oldest first.
    async fn ledger(&self) -> Vec<String> {
        let id = self.schedules.load(&name("nightly")).await.unwrap().id;
        let page = LedgerPage {
            before: Timestamp::MAX,
            limit: 1_000,
        };
        let rows = self.store.load_slots(id, page).await.unwrap();
        rows.iter().rev().map(report).collect()
    }

    async fn firings(&self) -> Vec<Task> {
        let filter = TaskFilter {
            limit: 100,
            ..TaskFilter::default()
        };
        let mut tasks = self.store.list_tasks(&filter).await.unwrap().rows;
        tasks.reverse();
        tasks
    }
}

fn report(row: &Slot) -> String {
    let clock = row.slot_at.strftime("%H:%M");
    match row.slots {
        1 => format!("{clock} {}", row.verdict.as_str()),
        slots => format!("{clock} {} x{slots}", row.verdict.as_str()),
    }
}

/// Planners that look at one slot at the same moment.
const PLANNERS: usize = 8;

/// Lets no node write before all have read.
struct Meet(Barrier);

#[async_trait]
impl Layer for Meet {
    async fn write_schedules(
        &self,
        below: &dyn Store,
        writes: Vec<ScheduleWrite>,
    ) -> store::Result<Vec<Applied>> {
        self.0.wait().await;
        below.write_schedules(writes).await
    }
}

async fn dp_05_a_slot_fires_once_however_many_planners_look(fixture: Fixture) {
    fixture.put(hourly()).await.unwrap();
    fixture.clock.set(at(HOUR));
    // All have read the slot as undecided before the first of them writes: on SQLite, whose calls
    // end at once here, they would come one after the other and never meet.
    let meet = Layered::over(fixture.store.clone(), Meet(Barrier::new(PLANNERS)));
    let planners = (0..PLANNERS).map(|_| {
        let (clock, zones) = (fixture.clock.clone(), Arc::new(Zones::default()));
        let planner = Planner::new(meet.clone(), clock, zones);
        tokio::spawn(async move { planner.pass().await.unwrap() })
    });
    let (mut fired, mut lost) = (0, 0);
    for planner in planners.collect::<Vec<_>>() {
        let planned = planner.await.unwrap();
        fired += planned.fired;
        lost += planned.lost;
    }
    let others = u64::try_from(PLANNERS - 1).unwrap();
    assert_eq!(
        (fired, lost),
        (1, others),
        "one fires, the others have lost"
    );
    assert_eq!(fixture.ledger().await, ["09:00 fired"]);
    let firings = fixture.firings().await;
    assert_eq!(firings.len(), 1);
    let subject = firings[0].identity.to_string();
    assert_eq!(subject, "(schedule:nightly@2026-01-05T09:00:00Z, DISPATCH)");
    let firing = Firing::read(&firings[0].payload).unwrap();
    assert_eq!(firing.nominal_at, at(HOUR));
    assert_eq!(firing.trigger, Trigger::Schedule);
    assert!(!firing.caught_up);
}

async fn dp_16_slots_that_passed_while_nothing_ran_are_in_the_ledger(fixture: Fixture) {
    fixture.put(hourly()).await.unwrap();
    let planned = fixture.pass_at(at(5 * HOUR + 60)).await;
    assert_eq!((planned.fired, planned.skipped), (1, 4));
    assert_eq!(planned.next_look_at, Some(at(6 * HOUR)));
    assert_eq!(
        fixture.ledger().await,
        ["09:00 too_late x4", "13:00 caught_up"]
    );
    let night = name("nightly");
    let why = |h| fixture.schedules.why(&night, at(h * HOUR), Lang::English);
    let lost = why_of(why(2).await);
    assert!(
        lost.contains("was skipped: no node planned it until 2026-01-05T13:01:00Z"),
        "{lost}"
    );
    let won = why_of(why(5).await);
    assert!(
        won.contains("was missed and caught up 60 s after its time"),
        "{won}"
    );
    let to_come = why_of(why(6).await);
    assert!(to_come.contains("is still to come"), "{to_come}");
}

fn why_of(answer: Result<almanack_engine::schedules::Answer, Error>) -> String {
    answer.unwrap().sentence
}

async fn a_change_settles_what_was_due_and_keeps_the_history(fixture: Fixture) {
    assert_eq!(fixture.put(hourly()).await.unwrap(), Some(Edited::Created));
    assert_eq!(fixture.put(hourly()).await.unwrap(), None, "already so");
    fixture.clock.set(at(HOUR));
    let daily = Definition {
        expression: "30 12 * * *".to_owned(),
        ..hourly()
    };
    assert_eq!(fixture.put(daily).await.unwrap(), Some(Edited::Changed));
    assert_eq!(
        fixture.ledger().await,
        ["09:00 fired"],
        "due by the old definition"
    );
    let schedule = fixture.schedules.load(&name("nightly")).await.unwrap();
    assert_eq!(schedule.revision, 2);
    assert_eq!(schedule.next_at, Some(at(4 * HOUR + 1_800)));
    let edits = fixture.store.load_edits(schedule.id, 10).await.unwrap();
    let reported: Vec<_> = edits
        .iter()
        .map(|edit| (edit.revision, edit.edited))
        .collect();
    assert_eq!(reported, [(1, Edited::Created), (2, Edited::Changed)]);
    let before = why_of(
        fixture
            .schedules
            .why(&name("nightly"), at(HOUR), Lang::English)
            .await,
    );
    assert!(
        before.contains("fired"),
        "asked by the rule of then: {before}"
    );
}

async fn dp_17_a_pause_is_recorded_with_its_note_when_it_ends(fixture: Fixture) {
    fixture.put(hourly()).await.unwrap();
    let night = name("nightly");
    let note = Some("moving house".to_owned());
    fixture
        .schedules
        .pause(&night, None, note.clone(), "ada")
        .await
        .unwrap();
    let again = fixture
        .schedules
        .pause(&night, None, note, "ada")
        .await
        .unwrap();
    assert_eq!(again.edited, None, "already so");
    assert_eq!(fixture.pass_at(at(3 * HOUR + 60)).await.fired, 0);
    let during = why_of(
        fixture
            .schedules
            .why(&night, at(2 * HOUR), Lang::English)
            .await,
    );
    assert!(during.contains("paused by ada: moving house"), "{during}");
    fixture.schedules.resume(&night, "bob").await.unwrap();
    assert_eq!(fixture.ledger().await, ["09:00 paused x3"]);
    assert_eq!(fixture.pass_at(at(4 * HOUR)).await.fired, 1);
    let after = why_of(
        fixture
            .schedules
            .why(&night, at(2 * HOUR), Lang::English)
            .await,
    );
    assert!(after.contains("paused by ada: moving house"), "{after}");
}

async fn dp_17_a_firing_that_has_not_ended_is_not_overlapped(fixture: Fixture) {
    fixture.put(hourly()).await.unwrap();
    fixture.pass_at(at(HOUR)).await;
    fixture.pass_at(at(2 * HOUR)).await;
    assert_eq!(fixture.ledger().await, ["09:00 fired", "10:00 overlap"]);
    let refused = fixture
        .schedules
        .fire(&name("nightly"), Overlapping::AsPlanned, "ada")
        .await;
    assert!(
        matches!(refused, Err(Error::Overlaps { .. })),
        "by hand neither"
    );
    let forced = fixture
        .schedules
        .fire(&name("nightly"), Overlapping::Forced, "ada")
        .await
        .unwrap();
    assert_eq!(forced.nominal_at, at(2 * HOUR));
    let schedule = fixture.schedules.load(&name("nightly")).await.unwrap();
    assert_eq!(schedule.next_at, Some(at(3 * HOUR)), "the cursor stays");
    assert_eq!(fixture.ledger().await.len(), 2, "and so does the ledger");
    let firing = Firing::read(&fixture.firings().await[1].payload).unwrap();
    assert_eq!(firing.trigger, Trigger::Manual);
    let asked_at = at(2 * HOUR + 90) + SignedDuration::from_millis(250);
    fixture.clock.set(asked_at);
    let nightly = name("nightly");
    let fire = fixture.schedules.fire(&nightly, Overlapping::Forced, "bob");
    fire.await.unwrap();
    for shown in [asked_at, at(2 * HOUR + 90)] {
        let sentence = why_of(
            fixture
                .schedules
                .why(&name("nightly"), shown, Lang::English)
                .await,
        );
        let said = format!("bob fired it by hand at {asked_at}, and task");
        assert!(sentence.starts_with(&said), "{sentence}");
    }
}

async fn dp_17_cancel_running_takes_the_predecessor_back(fixture: Fixture) {
    let definition = Definition {
        overlap: Overlap::CancelRunning,
        ..hourly()
    };
    fixture.put(definition).await.unwrap();
    fixture.pass_at(at(HOUR)).await;
    let claimed = fixture
        .store
        .claim(claim_request(1, at(HOUR), 10))
        .await
        .unwrap();
    assert_eq!(claimed.tasks.len(), 1);
    fixture.pass_at(at(2 * HOUR)).await;
    let statuses: Vec<Status> = fixture
        .firings()
        .await
        .iter()
        .map(|task| task.status)
        .collect();
    assert_eq!(statuses, [Status::Cancelled, Status::Init]);
}

async fn a_backfill_fires_what_did_not_fire_once_and_at_a_pace(fixture: Fixture) {
    fixture.put(hourly()).await.unwrap();
    fixture.pass_at(at(3 * HOUR)).await;
    assert_eq!(fixture.ledger().await, ["09:00 too_late x2", "11:00 fired"]);
    let request = Backfill {
        from: at(HOUR),
        to: at(3 * HOUR),
        pace: SignedDuration::from_secs(30),
    };
    let night = name("nightly");
    let planned = fixture
        .schedules
        .plan_backfill(&night, request)
        .await
        .unwrap();
    assert_eq!((planned.slots.len(), planned.fires()), (2, 2));
    assert_eq!(fixture.firings().await.len(), 1, "a dry run fires nothing");
    let done = fixture
        .schedules
        .backfill(&night, request, "ada")
        .await
        .unwrap();
    let times: Vec<_> = done
        .slots
        .iter()
        .filter_map(|slot| slot.execute_at)
        .collect();
    assert_eq!(times, [at(3 * HOUR), at(3 * HOUR + 30)]);
    let again = fixture
        .schedules
        .backfill(&night, request, "ada")
        .await
        .unwrap();
    assert_eq!(again.fires(), 0, "asking twice fires once");
    let reported = why_of(fixture.schedules.why(&night, at(HOUR), Lang::English).await);
    assert!(
        reported.contains("it was fired by hand later, by ada at "),
        "{reported}"
    );
    for (from, to) in [(3, 3), (4, 9), (5, 4)] {
        let request = Backfill {
            from: at(from * HOUR),
            to: at(to * HOUR),
            ..request
        };
        let refused = fixture.schedules.backfill(&night, request, "ada").await;
        assert!(matches!(refused, Err(Error::Range { .. })));
    }
}

async fn dp_18_a_schedule_that_cannot_be_computed_is_parked_alone(fixture: Fixture) {
    fixture.put(hourly()).await.unwrap();
    let other = name("other");
    fixture
        .schedules
        .put(&other, hourly(), Origin::Api, "ada")
        .await
        .unwrap();
    let mut broken = fixture.schedules.load(&name("nightly")).await.unwrap();
    broken.definition = broken.definition.replace("UTC", "Mars/Olympus").into();
    broken.version += 1;
    let write = almanack_core::plan::ScheduleWrite {
        seen: Some(broken.version - 1),
        decided_at: START,
        schedule: broken,
        takes_back: None,
        slots: Vec::new(),
        fires: Vec::new(),
        cancels: Vec::new(),
        edit: None,
        monitor: None,
        event_tasks: Vec::new(),
    };
    fixture.store.write_schedules(vec![write]).await.unwrap();
    assert_eq!(fixture.pass_at(at(HOUR)).await.fired, 1, "the other one");
    let parked = fixture.schedules.load(&name("nightly")).await.unwrap();
    assert!(
        matches!(&parked.state, State::Parked { reason, .. } if reason.to_string().contains("unknown time zone `Mars/Olympus`")),
        "{:?}",
        parked.state
    );
    let why = why_of(
        fixture
            .schedules
            .why(&name("nightly"), at(2 * HOUR), Lang::English)
            .await,
    );
    assert!(why.contains("unknown time zone `Mars/Olympus`"), "{why}");
    assert!(why.contains("parked since 2026-01-05T09:00:00Z"), "{why}");
    assert_eq!(fixture.put(hourly()).await.unwrap(), Some(Edited::Changed));
    let planned = fixture.pass_at(at(2 * HOUR)).await;
    assert_eq!(planned.fired, 1, "mended by a change; the other still runs");
}

async fn dp_18_a_file_with_one_bad_schedule_still_loads_the_others(fixture: Fixture) {
    let want = |name_: &str, expression: &str| Wanted {
        name: name(name_),
        definition: Definition {
            expression: expression.to_owned(),
            ..hourly()
        },
    };
    let none = BTreeSet::new();
    let wanted = vec![
        want("good", "0 8 * * *"),
        want("never", "0 0 30 2 *"),
        want("late", "0 9 * * *"),
    ];
    let synced = fixture
        .schedules
        .sync(Origin::File, wanted, &none, "file")
        .await
        .unwrap();
    assert_eq!(synced.created, [name("good"), name("late")]);
    assert_eq!(synced.refused.len(), 1);
    assert_eq!(
        synced.refused[0].1.to_string(),
        "expression `0 0 30 2 *` never fires"
    );
    let refused = fixture
        .schedules
        .put(&name("good"), hourly(), Origin::Api, "ada")
        .await;
    assert!(
        matches!(refused, Err(Error::Managed { .. })),
        "it is the file's"
    );
    let wanted = vec![want("good", "0 8 * * *")];
    let synced = fixture
        .schedules
        .sync(Origin::File, wanted, &none, "file")
        .await
        .unwrap();
    assert_eq!((synced.unchanged, synced.removed), (1, vec![name("late")]));
    let gone = fixture.schedules.load(&name("late")).await;
    assert!(matches!(gone, Err(Error::Unknown { .. })));
    let again = fixture
        .schedules
        .put(&name("late"), hourly(), Origin::Api, "ada")
        .await
        .unwrap();
    assert_eq!(
        again.edited,
        Some(Edited::Created),
        "a removed name is free again"
    );
}

async fn dp_08_verdicts_report_fired_from_caught_up(fixture: Fixture) {
    fixture.put(hourly()).await.unwrap();
    fixture.pass_at(at(HOUR + 20 * 60)).await;
    let answer = fixture
        .schedules
        .why(&name("nightly"), at(HOUR), Lang::English)
        .await
        .unwrap();
    assert_eq!(answer.verdict, Some(Verdict::CaughtUp));
    assert!(
        Firing::read(&fixture.firings().await[0].payload)
            .unwrap()
            .caught_up
    );
}

async fn dp_05_a_slower_clock_does_not_decide_a_slot_again(fixture: Fixture) {
    fixture.put(hourly()).await.unwrap();
    fixture.pass_at(at(HOUR)).await;
    // A node whose clock is two seconds behind changes the schedule.
    fixture.clock.set(at(HOUR - 2));
    let giving_way = Definition {
        overlap: Overlap::CancelRunning,
        ..hourly()
    };
    fixture.put(giving_way).await.unwrap();
    fixture.pass_at(at(HOUR)).await;
    assert_eq!(fixture.ledger().await, ["09:00 fired"]);
    let firings = fixture.firings().await;
    assert_eq!(
        firings[0].status,
        Status::Init,
        "it does not give way to itself"
    );
    assert_eq!(fixture.pass_at(at(2 * HOUR)).await.fired, 1);
}

async fn dp_17_a_pause_of_very_many_slots_ends_when_it_is_reported_to(fixture: Fixture) {
    let secondly = Definition {
        expression: "@1s".to_owned(),
        ..hourly()
    };
    fixture.put(secondly).await.unwrap();
    let night = name("nightly");
    fixture
        .schedules
        .pause(&night, None, None, "ada")
        .await
        .unwrap();
    fixture.clock.set(at(12 * HOUR));
    let resumed = fixture.schedules.resume(&night, "bob").await.unwrap();
    assert_eq!(resumed.schedule.state, State::Active);
    assert_eq!(fixture.ledger().await, ["08:00 paused x43200"]);
    let edits = fixture
        .store
        .load_edits(resumed.schedule.id, 9)
        .await
        .unwrap();
    let last = edits.last().unwrap();
    assert_eq!((last.edited, last.by.as_str()), (Edited::Resumed, "bob"));
    assert_eq!(fixture.pass_at(at(12 * HOUR + 1)).await.fired, 1);
}

/// Makes the schedule one that cannot be computed, or one that can again.
async fn rewrite(fixture: &Fixture, from: &str, to: &str) {
    let mut schedule = fixture.schedules.load(&name("nightly")).await.unwrap();
    schedule.definition = schedule.definition.replace(from, to).into();
    schedule.look_at = Some(START);
    schedule.version += 1;
    let write = almanack_core::plan::ScheduleWrite {
        seen: Some(schedule.version - 1),
        decided_at: START,
        schedule,
        takes_back: None,
        slots: Vec::new(),
        fires: Vec::new(),
        cancels: Vec::new(),
        edit: None,
        monitor: None,
        event_tasks: Vec::new(),
    };
    fixture.store.write_schedules(vec![write]).await.unwrap();
}

async fn dp_16_a_parked_schedule_goes_on_where_it_stopped(fixture: Fixture) {
    fixture.put(hourly()).await.unwrap();
    rewrite(&fixture, "UTC", "Mars/Olympus").await;
    fixture.pass_at(at(HOUR)).await;
    rewrite(&fixture, "Mars/Olympus", "UTC").await;
    assert_eq!(
        fixture.put(hourly()).await.unwrap(),
        None,
        "the same definition"
    );
    fixture.pass_at(at(3 * HOUR + 60)).await;
    assert_eq!(
        fixture.ledger().await,
        ["09:00 too_late x2", "11:00 caught_up"]
    );
}

async fn dp_17_a_pause_that_cannot_be_computed_stays_a_pause(fixture: Fixture) {
    fixture.put(hourly()).await.unwrap();
    let night = name("nightly");
    let until = Some(at(2 * HOUR + 60));
    fixture
        .schedules
        .pause(&night, until, None, "ada")
        .await
        .unwrap();
    rewrite(&fixture, "UTC", "Mars/Olympus").await;
    fixture.pass_at(at(3 * HOUR)).await;
    let seen = fixture.schedules.load(&night).await.unwrap();
    assert!(matches!(seen.state, State::Paused(_)), "{:?}", seen.state);
    rewrite(&fixture, "Mars/Olympus", "UTC").await;
    fixture.pass_at(at(3 * HOUR)).await;
    assert_eq!(fixture.ledger().await, ["09:00 paused x2", "11:00 fired"]);
}
