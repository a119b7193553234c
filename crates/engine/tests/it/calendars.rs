//! Calendars on both databases: what they leave out, what their change does, how addresses are
//! read; and schedules that end.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex},
};

use almanack_core::{
    calendar::{Copy, Definition as Days, Fetched, Fetcher},
    lang::{Lang, Sentence},
    plan::{Definition, Edited, Origin, ScheduleName, Slot, State},
    store::LedgerPage,
};
use almanack_engine::{
    calendars::{Calendars, Change, Error},
    schedules::{self, Schedules},
    zones::Zones,
};
use almanack_testkit::fixture::{START, at};
use async_trait::async_trait;
use jiff::{SignedDuration, Timestamp};

use crate::fixture::{Fixture, HOUR, hourly, on_both};

on_both!(
    dp_21_a_holiday_is_in_the_ledger_by_its_name,
    dp_21_a_changed_calendar_moves_the_cursor_and_rewrites_nothing,
    dp_21_a_change_that_nobody_applied_is_applied_by_a_pass,
    dp_21_a_calendar_in_use_is_not_removed_and_a_missing_one_parks,
    dp_21_an_address_that_fails_keeps_its_last_copy,
    dp_21_of_two_nodes_one_reads_an_address,
    dp_22_a_schedule_ends_after_its_runs_and_stays_so,
    dp_22_one_time_ends_as_done_and_what_has_passed_is_refused,
);

/// 08:00 on Monday the fifth is the start.
const DAY: i64 = 24 * HOUR;

fn days(json: &str) -> Days {
    serde_json::from_str(json).unwrap()
}

fn calendars(fixture: &Fixture) -> Calendars {
    let (store, clock) = (fixture.store.clone(), fixture.clock.clone());
    let schedules = Schedules::new(store.clone(), clock.clone(), Arc::new(Zones::default()));
    Calendars::new(store, clock, Arc::new(schedules))
}

fn daily(policies: &str) -> Definition {
    let mut whole = serde_json::to_value(hourly()).unwrap();
    whole["expression"] = "0 9 * * *".into();
    let given: serde_json::Map<String, serde_json::Value> = serde_json::from_str(policies).unwrap();
    whole.as_object_mut().unwrap().extend(given);
    serde_json::from_value(whole).unwrap()
}

async fn rows(fixture: &Fixture) -> Vec<Slot> {
    let id = fixture.schedules.load(&fixture.nightly).await.unwrap().id;
    let page = LedgerPage {
        before: Timestamp::MAX,
        limit: 1_000,
    };
    let mut rows = fixture.store.load_slots(id, page).await.unwrap();
    rows.reverse();
    rows
}

/// The ledger in short.
async fn ledger(fixture: &Fixture) -> Vec<String> {
    let report = |row: &Slot| {
        let detail = row.detail.as_deref().map(|it| format!(": {it}"));
        let day = row.slot_at.strftime("%d %H:%M");
        format!(
            "{day} {}{}",
            row.verdict.as_str(),
            detail.unwrap_or_default()
        )
    };
    rows(fixture).await.iter().map(report).collect()
}

async fn live(fixture: &Fixture, until: i64) {
    let mut now = fixture.clock.now_at();
    while now < at(until) {
        now += SignedDuration::from_mins(30);
        fixture.clock.set(now);
        fixture.planner.pass().await.unwrap();
    }
}

trait NowAt {
    fn now_at(&self) -> Timestamp;
}

impl<T: almanack_core::time::Clock> NowAt for T {
    fn now_at(&self) -> Timestamp {
        self.now()
    }
}

async fn state(fixture: &Fixture) -> State {
    fixture
        .schedules
        .load(&fixture.nightly)
        .await
        .unwrap()
        .state
}

async fn dp_21_a_holiday_is_in_the_ledger_by_its_name(fixture: Fixture) {
    let calendars = calendars(&fixture);
    let holiday = days(r#"{"dates":[{"on":"2026-01-06","name":"Dreikönig"}]}"#);
    let (_, change) = calendars
        .put("de", holiday.clone(), Origin::Api)
        .await
        .unwrap();
    assert_eq!(change, Change::Created);
    let (_, change) = calendars.put("de", holiday, Origin::Api).await.unwrap();
    assert_eq!(change, Change::Unchanged);
    fixture
        .put(daily(r#"{"except":["de"],"overlap":"allow"}"#))
        .await
        .unwrap();
    live(&fixture, 3 * DAY).await;
    assert_eq!(
        ledger(&fixture).await,
        [
            "05 09:00 fired",
            "06 09:00 excluded: holiday Dreikönig (calendar de)",
            "07 09:00 fired"
        ]
    );
    let slot = at(DAY + HOUR);
    let why = fixture
        .schedules
        .why(&fixture.nightly, slot, Lang::English)
        .await
        .unwrap();
    assert_eq!(
        why.sentence,
        "2026-01-06T09:00:00Z was skipped: holiday Dreikönig (calendar de)."
    );
    let refused = fixture
        .put(daily(r#"{"except":["fr"]}"#))
        .await
        .unwrap_err();
    assert!(
        refused.to_string().contains("unknown calendar `fr`"),
        "{refused}"
    );
}

async fn dp_21_a_changed_calendar_moves_the_cursor_and_rewrites_nothing(fixture: Fixture) {
    let calendars = calendars(&fixture);
    let ninth = r#"{"dates":[{"on":"2026-01-09"}]}"#;
    calendars.put("de", days(ninth), Origin::Api).await.unwrap();
    let friday = r#"{"expression":"0 9 * * 5","except":["de"],"move":"previous_workday"}"#;
    fixture.put(daily(friday)).await.unwrap();
    let next = |fixture: &Fixture| {
        let name = fixture.nightly.clone();
        let schedules =
            Schedules::new(fixture.store.clone(), fixture.clock.clone(), Arc::default());
        async move { schedules.load(&name).await.unwrap().next_at.unwrap() }
    };
    assert_eq!(next(&fixture).await.to_string(), "2026-01-08T09:00:00Z");
    // The eighth goes, too: the slot moves to the seventh, before what was next.
    let both = r#"{"dates":[{"on":"2026-01-08"},{"on":"2026-01-09"}]}"#;
    calendars.put("de", days(both), Origin::Api).await.unwrap();
    assert_eq!(next(&fixture).await.to_string(), "2026-01-07T09:00:00Z");
    live(&fixture, 5 * DAY).await;
    let decided = ledger(&fixture).await;
    assert_eq!(
        decided,
        [
            "07 09:00 fired",
            "09 09:00 excluded: 2026-01-09 (calendar de), moved to 2026-01-07T09:00:00Z"
        ]
    );
    calendars
        .put(
            "de",
            days(r#"{"dates":[{"on":"2026-03-01"}]}"#),
            Origin::Api,
        )
        .await
        .unwrap();
    assert_eq!(ledger(&fixture).await, decided, "what is decided stays");
}

async fn dp_21_a_change_that_nobody_applied_is_applied_by_a_pass(fixture: Fixture) {
    let calendars = calendars(&fixture);
    calendars
        .put(
            "de",
            days(r#"{"dates":[{"on":"2026-01-09"}]}"#),
            Origin::Api,
        )
        .await
        .unwrap();
    let friday = r#"{"expression":"0 9 * * 5","except":["de"],"move":"previous_workday"}"#;
    fixture.put(daily(friday)).await.unwrap();
    // Its writer died between the write and the schedules.
    let mut record = calendars.load("de").await.unwrap();
    record.definition = days(r#"{"dates":[{"on":"2026-01-08"},{"on":"2026-01-09"}]}"#);
    record.version += 1;
    fixture
        .store
        .write_calendar(&record, Some(1))
        .await
        .unwrap();
    calendars.pass().await.unwrap();
    let next = fixture
        .schedules
        .load(&fixture.nightly)
        .await
        .unwrap()
        .next_at;
    assert_eq!(next.unwrap().to_string(), "2026-01-07T09:00:00Z");
    let versions = fixture.store.load_calendar_versions().await.unwrap();
    assert_eq!((versions[0].version, versions[0].applied), (2, 2));
}

async fn dp_21_a_calendar_in_use_is_not_removed_and_a_missing_one_parks(fixture: Fixture) {
    let calendars = calendars(&fixture);
    calendars
        .put("de", days(r#"{"weekdays":["sunday"]}"#), Origin::Api)
        .await
        .unwrap();
    fixture.put(daily(r#"{"except":["de"]}"#)).await.unwrap();
    let refused = calendars.remove("de", Origin::Api).await.unwrap_err();
    assert!(matches!(refused, Error::InUse { .. }), "{refused}");
    let managed = calendars
        .put("de", days(r#"{"weekdays":["monday"]}"#), Origin::File)
        .await;
    assert!(matches!(managed.unwrap_err(), Error::Managed { .. }));
    // Gone all the same, as after a restored backup.
    assert!(fixture.store.remove_calendar("de", 1).await.unwrap());
    fixture.clock.set(at(HOUR));
    fixture.planner.pass().await.unwrap();
    let parked = state(&fixture).await;
    let says = |reason: &Sentence| reason.to_string().contains("unknown calendar `de`");
    assert!(
        matches!(&parked, State::Parked { reason, .. } if says(reason)),
        "it guessed: {parked:?}"
    );
    calendars
        .put("de", days(r#"{"weekdays":["monday"]}"#), Origin::Api)
        .await
        .unwrap();
    fixture.planner.pass().await.unwrap();
    assert_eq!(state(&fixture).await, State::Active);
    assert_eq!(
        ledger(&fixture).await,
        ["05 09:00 excluded: Monday (calendar de)"]
    );
}

/// Answers by a script, and counts.
#[derive(Default)]
struct Script(Mutex<(VecDeque<Result<Fetched, String>>, usize)>);

impl Script {
    fn of(answers: impl IntoIterator<Item = Result<Fetched, String>>) -> Arc<Self> {
        Arc::new(Self(Mutex::new((answers.into_iter().collect(), 0))))
    }
}

#[async_trait]
impl Fetcher for Script {
    async fn fetch(&self, _: &str, _: Option<&Copy>) -> Result<Fetched, String> {
        let mut script = self.0.lock().unwrap();
        script.1 += 1;
        script.0.pop_front().unwrap_or(Ok(Fetched::Unchanged))
    }
}

fn ical(day: &str) -> Fetched {
    let text = format!(
        "BEGIN:VCALENDAR\nBEGIN:VEVENT\nDTSTART;VALUE=DATE:{day}\nSUMMARY:Ruhe\nEND:VEVENT\nEND:VCALENDAR\n"
    );
    Fetched::Text(Copy {
        text,
        ..Copy::default()
    })
}

async fn dp_21_an_address_that_fails_keeps_its_last_copy(fixture: Fixture) {
    let broken = Fetched::Text(Copy {
        text: "<html>".to_owned(),
        ..Copy::default()
    });
    let script = Script::of([
        Err("HTTP 500".to_owned()),
        Ok(ical("20260106")),
        Ok(broken),
        Ok(ical("20260107")),
    ]);
    let calendars = calendars(&fixture).reading_by(script.clone());
    let url = days(r#"{"url":"https://example.org/de.ics"}"#);
    calendars.put("de", url, Origin::Api).await.unwrap();
    let unread = fixture
        .put(daily(r#"{"except":["de"]}"#))
        .await
        .unwrap_err();
    assert!(
        unread.to_string().contains("has not been read yet"),
        "{unread}"
    );
    let pass = async |minutes: i64| {
        fixture
            .clock
            .set(START + SignedDuration::from_mins(minutes));
        calendars.pass().await.unwrap();
        calendars.load("de").await.unwrap()
    };
    let failed = pass(0).await;
    assert_eq!(
        (failed.reading.failures, failed.reading.error.as_deref()),
        (1, Some("HTTP 500"))
    );
    assert_eq!(pass(1).await.reading.failures, 1, "not asked again so soon");
    let read = pass(6).await;
    assert_eq!((read.reading.failures, read.version), (0, 2));
    fixture.put(daily(r#"{"except":["de"]}"#)).await.unwrap();
    let broken = pass(6 + 361).await;
    assert_eq!(broken.copy, read.copy, "the last good copy goes on");
    let error = broken.reading.error.unwrap();
    assert!(error.contains("BEGIN:VCALENDAR"), "{error}");
    let healed = pass(6 + 361 + 6).await;
    assert_eq!((healed.version, healed.reading.error), (3, None));
    assert_eq!(script.0.lock().unwrap().1, 4);
}

async fn dp_21_of_two_nodes_one_reads_an_address(fixture: Fixture) {
    let script = Script::of([Ok(ical("20260106")), Ok(ical("20260106"))]);
    let [one, other] = [(); 2].map(|()| calendars(&fixture).reading_by(script.clone()));
    let url = days(r#"{"url":"https://example.org/de.ics"}"#);
    one.put("de", url, Origin::Api).await.unwrap();
    let (a, b) = tokio::join!(one.pass(), other.pass());
    a.and(b).unwrap();
    assert_eq!(script.0.lock().unwrap().1, 1);
    let taken = fixture
        .store
        .take_calendar_check("de", None, START)
        .await
        .unwrap();
    assert!(!taken, "seen before another took it");
}

async fn dp_22_a_schedule_ends_after_its_runs_and_stays_so(fixture: Fixture) {
    let twice = daily(r#"{"runs":2,"overlap":"allow"}"#);
    fixture.put(twice.clone()).await.unwrap();
    live(&fixture, 5 * DAY).await;
    assert_eq!(ledger(&fixture).await, ["05 09:00 fired", "06 09:00 fired"]);
    assert!(matches!(state(&fixture).await, State::Done { .. }));
    let found = fixture.schedules.load(&fixture.nightly).await.unwrap();
    assert_eq!(
        (found.runs, found.next_at, found.look_at),
        (2, None, None),
        "it costs nothing"
    );
    let edits = fixture.store.load_edits(found.id, 10).await.unwrap();
    let last = edits.last().unwrap();
    assert_eq!(
        (last.edited, last.note.as_deref()),
        (Edited::Done, Some("2 of 2 runs"))
    );
    let why = fixture
        .schedules
        .why(&fixture.nightly, at(2 * DAY + HOUR), Lang::English)
        .await
        .unwrap();
    assert!(
        why.sentence.contains("the schedule was done at"),
        "{}",
        why.sentence
    );
    // The same again changes nothing; more runs go on; removed and written anew it begins anew.
    assert_eq!(fixture.put(twice).await.unwrap(), None);
    let refused = fixture
        .schedules
        .pause(&fixture.nightly, None, None, "ada")
        .await;
    assert!(matches!(
        refused.unwrap_err(),
        schedules::Error::NotNow {
            state: ("done", _),
            ..
        }
    ));
    let thrice = daily(r#"{"runs":3,"overlap":"allow"}"#);
    fixture.put(thrice.clone()).await.unwrap();
    live(&fixture, 8 * DAY).await;
    assert_eq!(rows(&fixture).await.len(), 3);
    fixture
        .schedules
        .remove(&fixture.nightly, "ada")
        .await
        .unwrap();
    assert_eq!(fixture.put(thrice).await.unwrap(), Some(Edited::Created));
    assert_eq!(
        fixture.schedules.load(&fixture.nightly).await.unwrap().runs,
        0
    );
}

async fn dp_22_one_time_ends_as_done_and_what_has_passed_is_refused(fixture: Fixture) {
    let once = daily(r#"{"expression":"at 2026-01-06 10:00","tz":"Europe/Berlin"}"#);
    fixture.put(once.clone()).await.unwrap();
    live(&fixture, 2 * DAY).await;
    assert_eq!(ledger(&fixture).await, ["06 09:00 fired"]);
    assert!(matches!(state(&fixture).await, State::Done { .. }));
    let other = ScheduleName::parse("other").unwrap();
    let refused = fixture
        .schedules
        .put(&other, once.clone(), Origin::Api, "ada")
        .await;
    let refused = refused.unwrap_err().to_string();
    assert_eq!(
        refused,
        "it would never fire: its last time was 2026-01-06T09:00:00Z"
    );
    // A file keeps what it has.
    let kept = fixture
        .schedules
        .put(&other, once, Origin::File, "file")
        .await
        .unwrap();
    assert!(matches!(kept.schedule.state, State::Done { .. }));
}
