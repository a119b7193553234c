//! Calendars: kept whole, written by one, found by the schedules that name them.

use std::sync::Arc;

use almanack_core::{
    calendar::{CalendarRecord, Copy, Definition, NamedDate, Reading, Weekday},
    plan::{Origin, ScheduleName, State},
    store::{Applied, Store},
};
use almanack_testkit::fixture::{START, at, new_schedule, next_write};
use jiff::civil::date;

use almanack_core::plan::Schedule;
use almanack_testkit::fixture::schedule;

fn new(name: &str) -> Schedule {
    schedule(name, at(10))
}

const DONE: Applied = Applied::Done { inserted: None };

fn calendar(name: &str) -> CalendarRecord {
    CalendarRecord {
        name: name.to_owned(),
        origin: Origin::Api,
        definition: Definition {
            dates: vec![NamedDate {
                on: date(2026, 4, 3),
                name: Some("Karfreitag 「静」".to_owned()),
            }],
            weekdays: vec![Weekday::Sunday],
            ical: None,
            url: Some("https://example.org/de.ics".to_owned()),
        },
        copy: Some(Copy {
            text: "BEGIN:VCALENDAR\r\n".to_owned(),
            etag: Some("\"1\"".to_owned()),
            last_modified: None,
        }),
        reading: Reading {
            checked_at: None,
            read_at: Some(START),
            failures: 2,
            error: Some("HTTP 500".to_owned()),
        },
        version: 1,
        applied: 0,
        created_at: START,
        changed_at: at(1),
    }
}

pub(crate) async fn dp_21_a_calendar_is_kept_with_every_field(store: Arc<dyn Store>) {
    for name in ["fr", "de"] {
        let written = store.write_calendar(&calendar(name), None).await.unwrap();
        assert_eq!(written, DONE);
    }
    let found = store.load_calendars().await.unwrap();
    assert_eq!(found, [calendar("de"), calendar("fr")]);
    let versions = store.load_calendar_versions().await.unwrap();
    let versions: Vec<_> = versions
        .iter()
        .map(|it| {
            (
                it.name.as_str(),
                it.version,
                it.applied,
                it.reading.failures,
            )
        })
        .collect();
    assert_eq!(versions, [("de", 1, 0, 2), ("fr", 1, 0, 2)]);
}

pub(crate) async fn dp_21_of_writers_that_saw_the_same_calendar_one_writes(store: Arc<dyn Store>) {
    store.write_calendar(&calendar("de"), None).await.unwrap();
    let taken = store.write_calendar(&calendar("de"), None).await.unwrap();
    assert_eq!(taken, Applied::Lost, "the name is taken");
    let mut changed = calendar("de");
    changed.version = 2;
    changed.copy = None;
    assert_eq!(store.write_calendar(&changed, Some(1)).await.unwrap(), DONE);
    assert_eq!(
        store.write_calendar(&changed, Some(1)).await.unwrap(),
        Applied::Lost
    );
    store.note_calendar_applied("de", 2).await.unwrap();
    store.note_calendar_applied("de", 1).await.unwrap();
    assert_eq!(store.load_calendar_versions().await.unwrap()[0].applied, 2);
    assert!(
        !store.remove_calendar("de", 1).await.unwrap(),
        "changed since"
    );
    assert!(store.remove_calendar("de", 2).await.unwrap());
    assert!(store.load_calendars().await.unwrap().is_empty());
}

pub(crate) async fn dp_21_one_node_takes_a_calendar_to_read(store: Arc<dyn Store>) {
    store.write_calendar(&calendar("de"), None).await.unwrap();
    let take = |seen, now| store.take_calendar_check("de", seen, now);
    assert!(take(None, at(1)).await.unwrap());
    assert!(!take(None, at(2)).await.unwrap(), "taken");
    let seen = store.load_calendars().await.unwrap()[0].reading.checked_at;
    assert_eq!(seen, Some(at(1)));
    assert!(take(seen, at(9)).await.unwrap());
    assert!(!store.take_calendar_check("fr", None, at(1)).await.unwrap());
}

pub(crate) async fn dp_21_schedules_are_found_by_the_calendar_they_name(store: Arc<dyn Store>) {
    let mut writes = Vec::new();
    for (name, except) in [("a", "de_x"), ("b", "deux"), ("c", "de_x"), ("d", "de_x")] {
        let mut schedule = new(name);
        let text = schedule.definition.as_str().trim_end_matches('}');
        schedule.definition = format!("{text},\"except\":[\"{except}\"]}}").into();
        writes.push(new_schedule(schedule));
    }
    store.write_schedules(writes).await.unwrap();
    let d = ScheduleName::parse("d").unwrap();
    let found = store.load_schedules(&[d]).await.unwrap().remove(0).unwrap();
    let removed = next_write(&found, |it| it.state = State::Removed { since: START });
    store.write_schedules(vec![removed]).await.unwrap();
    let naming = async |after, limit| {
        let found = store
            .load_schedules_naming("de_x", after, limit)
            .await
            .unwrap();
        found.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(naming(None, 9).await, ["a", "c"]);
    assert_eq!(naming(None, 1).await, ["a"]);
    assert_eq!(naming(ScheduleName::parse("a").ok(), 9).await, ["c"]);
}

pub(crate) async fn dp_22_a_schedule_keeps_its_runs_and_its_end(store: Arc<dyn Store>) {
    let mut schedule = new("done");
    schedule.runs = 3;
    schedule.state = State::Done { since: at(5) };
    store
        .write_schedules(vec![new_schedule(schedule)])
        .await
        .unwrap();
    let name = ScheduleName::parse("done").unwrap();
    let load = async || {
        store
            .load_schedules(std::slice::from_ref(&name))
            .await
            .unwrap()
            .remove(0)
            .unwrap()
    };
    let found = load().await;
    assert_eq!(
        (found.runs, &found.state),
        (3, &State::Done { since: at(5) })
    );
    let again = next_write(&found, |it| (it.runs, it.state) = (0, State::Active));
    store.write_schedules(vec![again]).await.unwrap();
    assert_eq!((load().await.runs, load().await.state), (0, State::Active));
}
