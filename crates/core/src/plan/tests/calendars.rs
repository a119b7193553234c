//! Days left out, bounds, runs, several expressions, jitter.

use std::collections::BTreeMap;

use jiff::tz::TimeZone;
use proptest::prelude::*;

use super::*;
use crate::calendar::{self, Calendar, Calendars};

/// Weekends, two holidays around Easter 2026, and the days of a market.
pub(super) struct World;

impl Surroundings for World {
    fn zone(&self, tz: &str) -> Result<Arc<Zone>, Unfit> {
        let zone = TimeZone::get(tz).map_err(|_| Unfit::Zone { tz: tz.to_owned() });
        Ok(Arc::new(Zone::new(zone?)))
    }

    fn calendars(&self) -> Arc<Calendars> {
        let rows = [
            ("weekend", r#"{"weekdays":["saturday","sunday"]}"#),
            (
                "de",
                r#"{"dates":[{"on":"2026-04-03","name":"Karfreitag"},
                    {"on":"2026-04-06","name":"Ostermontag"},{"on":"2026-01-06"}]}"#,
            ),
            ("market", r#"{"weekdays":["monday","tuesday"]}"#),
        ];
        let mut calendars: Calendars = BTreeMap::new();
        for (name, json) in rows {
            let definition: calendar::Definition = serde_json::from_str(json).unwrap();
            let compiled = Calendar::new(name, &definition, None).map(Arc::new);
            calendars.insert(name.to_owned(), compiled);
        }
        calendars.insert("broken".to_owned(), Err(calendar::Unfit::Unread));
        Arc::new(calendars)
    }
}

pub(super) fn ready_in(expression: &str, policies: &str) -> Result<Ready, Unfit> {
    Ready::new(&name(), define(expression, policies), &World)
}

/// The slots of a stretch, each with what becomes of it.
fn slots(ready: &Ready, from: &str, until: &str) -> Vec<String> {
    let zone = ready.zone().time_zone().clone();
    let slots = std::iter::successors(ready.next_from(at(from)), |slot| ready.next_after(*slot));
    slots
        .take_while(|slot| *slot < at(until))
        .map(|slot| {
            let local = slot
                .to_zoned(zone.clone())
                .strftime("%a %d %H:%M")
                .to_string();
            match ready.exclusion(slot) {
                Some(why) => format!("{local}: {why}"),
                None => local,
            }
        })
        .collect()
}

const BERLIN: &str = r#""tz":"Europe/Berlin","except":["weekend","de"]"#;

#[test]
fn dp_21_a_slot_on_a_holiday_is_left_out_by_name() {
    let ready = ready_in("0 8 * * *", &format!("{{{BERLIN}}}")).unwrap();
    let found = slots(&ready, "2026-04-02T00:00:00Z", "2026-04-08T00:00:00Z");
    assert_eq!(
        found,
        [
            "Thu 02 08:00",
            "Fri 03 08:00: holiday Karfreitag (calendar de)",
            "Sat 04 08:00: Saturday (calendar weekend)",
            "Sun 05 08:00: Sunday (calendar weekend)",
            "Mon 06 08:00: holiday Ostermontag (calendar de)",
            "Tue 07 08:00",
        ]
    );
}

#[test]
fn dp_21_a_slot_moves_to_the_workday_after_or_before() {
    let next = format!(r#"{{{BERLIN},"move":"next_workday"}}"#);
    let ready = ready_in("0 8 * * 5", &next).unwrap();
    let found = slots(&ready, "2026-03-28T00:00:00Z", "2026-04-11T00:00:00Z");
    assert_eq!(
        found,
        [
            "Fri 03 08:00: holiday Karfreitag (calendar de), moved to 2026-04-07T06:00:00Z",
            "Tue 07 08:00",
            "Fri 10 08:00",
        ]
    );
    let before = format!(r#"{{{BERLIN},"move":"previous_workday"}}"#);
    let ready = ready_in("0 8 6 * *", &before).unwrap();
    let found = slots(&ready, "2026-04-01T00:00:00Z", "2026-04-30T00:00:00Z");
    assert_eq!(
        found,
        [
            "Thu 02 08:00",
            "Mon 06 08:00: holiday Ostermontag (calendar de), moved to 2026-04-02T06:00:00Z",
        ]
    );
    // Several that move to one time are one slot, and so is one that was there already.
    let ready = ready_in("0 8 * * *", &next).unwrap();
    let found = slots(&ready, "2026-04-07T00:00:00Z", "2026-04-08T00:00:00Z");
    assert_eq!(found, ["Tue 07 08:00"]);
}

#[test]
fn dp_21_business_days_are_counted_by_the_calendars() {
    let by = |expression: &str, policies: &str| {
        let ready = ready_in(expression, policies).unwrap();
        slots(&ready, "2026-01-01T00:00:00Z", "2026-02-28T00:00:00Z")
    };
    assert_eq!(by("0 8 * * W#3", "{}"), ["Mon 05 08:00", "Wed 04 08:00"]);
    let except = r#"{"except":["de"]}"#;
    assert_eq!(by("0 8 * * W#4", "{}"), ["Tue 06 08:00", "Thu 05 08:00"]);
    assert_eq!(by("0 8 * * W#4", except), ["Wed 07 08:00", "Thu 05 08:00"]);
    assert_eq!(by("0 8 * * W#L", "{}"), ["Fri 30 08:00", "Fri 27 08:00"]);
    let third = ready_in("0 8 * * W#3,W#L", "{}").unwrap();
    assert_eq!(
        third.describe(crate::lang::Lang::English),
        "at 08:00 on the last business day of the month and the third business day of the month"
    );
    assert_eq!(by("0 8 L-3 * *", "{}"), ["Wed 28 08:00", "Wed 25 08:00"]);
}

#[test]
fn dp_21_quiet_hours_and_only() {
    let policies = r#"{"tz":"Europe/Berlin","quiet":["22:00-06:00"]}"#;
    let ready = ready_in("0 */6 * * *", policies).unwrap();
    let found = slots(&ready, "2026-01-05T23:00:00Z", "2026-01-06T22:00:00Z");
    assert_eq!(
        found,
        [
            "Tue 06 00:00: quiet hours 22:00-06:00",
            "Tue 06 06:00",
            "Tue 06 12:00",
            "Tue 06 18:00"
        ]
    );
    let ready = ready_in("0 8 * * *", r#"{"only":["market"]}"#).unwrap();
    let found = slots(&ready, "2026-01-05T00:00:00Z", "2026-01-08T00:00:00Z");
    assert_eq!(
        found,
        [
            "Mon 05 08:00",
            "Tue 06 08:00",
            "Wed 07 08:00: 2026-01-07 is not a day of calendar market"
        ]
    );
}

#[test]
fn dp_22_a_schedule_has_several_expressions_and_zones() {
    let policies = r#"{"tz":"Europe/Berlin","also":[
        {"expression":"0 8 * * *","tz":"Asia/Tokyo"},{"expression":"0 8,20 * * *"}]}"#;
    let ready = ready_in("0 8 * * *", policies).unwrap();
    let found = slots(&ready, "2026-01-05T00:00:00Z", "2026-01-06T00:00:00Z");
    assert_eq!(found, ["Mon 05 08:00", "Mon 05 20:00", "Tue 06 00:00"]);
    assert_eq!(
        ready.describe(crate::lang::Lang::English),
        "at 08:00 every day; also at 08:00 every day (Asia/Tokyo); also at 08:00 and 20:00 every day"
    );
}

#[test]
fn dp_22_bounds_and_one_time() {
    let policies = r#"{"starts_at":"2026-01-05T10:00:00Z","ends_at":"2026-01-05T12:00:00Z"}"#;
    let ready = ready_in("@hourly", policies).unwrap();
    let found = slots(&ready, "2026-01-01T00:00:00Z", "2026-02-01T00:00:00Z");
    assert_eq!(found, ["Mon 05 10:00", "Mon 05 11:00", "Mon 05 12:00"]);
    assert_eq!(
        ready.previous_before(at("2027-01-01T00:00:00Z")),
        Some(at("12:00:00"))
    );
    assert_eq!(ready.previous_before(at("10:00:00")), None);
    let once = ready_in("at 2026-12-24 18:00", r#"{"tz":"Europe/Berlin"}"#).unwrap();
    assert_eq!(
        once.next_after(at("10:00:00")),
        Some(at("2026-12-24T17:00:00Z"))
    );
    assert_eq!(once.next_after(at("2026-12-24T17:00:00Z")), None);
}

#[test]
fn dp_21_and_22_what_contradicts_itself_is_refused() {
    for (expression, policies, path) in [
        ("0 8 * * *", r#"{"except":["nowhere"]}"#, "except"),
        ("0 8 * * *", r#"{"only":["broken"]}"#, "except"),
        ("@10s", r#"{"except":["de"],"move":"next_workday"}"#, "move"),
        (
            "*/5 * * * *",
            r#"{"except":["de"],"move":"next_workday"}"#,
            "move",
        ),
        ("0 8 * * *", r#"{"move":"next_workday"}"#, "move"),
        ("0 8 * * *", r#"{"runs":0}"#, "runs"),
        (
            "at 2026-12-24 18:00",
            r#"{"ends_at":"2026-01-01T00:00:00Z"}"#,
            "ends_at",
        ),
        (
            "@daily",
            r#"{"starts_at":"2026-01-02T00:00:00Z","ends_at":"2026-01-01T00:00:00Z"}"#,
            "ends_at",
        ),
        (
            "0 8 * * *",
            r#"{"also":[{"expression":"0 8 W#3 * *"}]}"#,
            "expression",
        ),
        ("at 2026-12-24T18:00Z", "{}", "expression"),
        ("0 8 * * W#24", "{}", "expression"),
    ] {
        let refused = ready_in(expression, policies).unwrap_err();
        assert_eq!(refused.path(), path, "{expression} {policies}: {refused}");
    }
    assert!(Quiet::parse("25:00-06:00").is_none());
    assert!(Quiet::parse("06:00-06:00").is_none());
    assert_eq!(
        Quiet::parse("22:00-06:00").unwrap().to_string(),
        "22:00-06:00"
    );
}

fn looked(ready: &Ready, seen: &Schedule, now: &str) -> Plan {
    plan(Look {
        schedule: seen,
        ready,
        running: None,
        monitor: None,
        now: at(now),
    })
}

#[test]
fn dp_21_what_is_left_out_has_a_row_and_takes_no_part_in_catching_up() {
    let policies = r#"{"except":["weekend"],"grace":"100h"}"#;
    let ready = ready_in("0 8 * * *", policies).unwrap();
    // Thursday to Sunday were missed: Friday is the latest that counts.
    let seen = schedule(&ready, at("2026-01-08T08:00:00Z"));
    let plan = looked(&ready, &seen, "2026-01-11T12:00:00Z");
    let verdicts: Vec<&str> = plan.slots.iter().map(|row| row.verdict.as_str()).collect();
    assert_eq!(
        verdicts,
        ["not_caught_up", "caught_up", "excluded", "excluded"]
    );
    assert_eq!(plan.fires.len(), 1);
    assert_eq!(plan.look_at, Some(at("2026-01-12T08:00:00Z")));
}

#[test]
fn dp_21_slots_left_out_are_recorded_within_an_hour() {
    let ready = ready_in("@10s", r#"{"except":["weekend"]}"#).unwrap();
    let friday = at("2026-01-09T23:59:50Z");
    let plan = looked(&ready, &schedule(&ready, friday), "2026-01-09T23:59:50Z");
    assert_eq!(plan.next_at, Some(at("2026-01-10T00:00:00Z")));
    assert_eq!(
        plan.look_at,
        Some(at("2026-01-10T01:00:00Z")),
        "an hour in one look"
    );
    let sunday = schedule(&ready, at("2026-01-11T23:30:00Z"));
    let plan = looked(&ready, &sunday, "2026-01-11T23:30:00Z");
    assert_eq!(
        plan.look_at,
        Some(at("2026-01-12T00:00:00Z")),
        "Monday is on time"
    );
}

#[test]
fn dp_22_the_last_run_ends_a_schedule() {
    let ready = ready_in("@hourly", r#"{"runs":2,"catch_up":"all","grace":"9h"}"#).unwrap();
    let mut seen = schedule(&ready, at("08:00:00"));
    seen.runs = 1;
    let plan = looked(&ready, &seen, "10:30:00");
    assert_eq!(report(&plan), "08:00:00=caught_up, next -");
    assert_eq!(plan.look_at, None);
    seen.runs = 2;
    assert_eq!(report(&looked(&ready, &seen, "10:30:00")), "next -");
    let once = ready_in("at 2026-01-05 08:00", "{}").unwrap();
    let seen = schedule(&once, at("08:00:00"));
    assert_eq!(
        report(&looked(&once, &seen, "08:00:01")),
        "08:00:00=fired, next -"
    );
}

#[test]
fn dp_22_jitter_is_the_same_for_everyone_and_differs_by_slot() {
    let ready = ready_in("@hourly", r#"{"jitter":"10m"}"#).unwrap();
    let late = |hour: i64| {
        let slot = at("00:00:00") + SignedDuration::from_hours(hour);
        ready.due_at(slot).duration_since(slot).as_secs()
    };
    let all: std::collections::BTreeSet<i64> = (0..24).map(late).collect();
    assert!(all.len() > 12, "{all:?}");
    assert!(all.iter().all(|late| (0..=600).contains(late)));
    let again = ready_in("@hourly", r#"{"jitter":"10m"}"#).unwrap();
    assert_eq!(again.due_at(at("07:00:00")), ready.due_at(at("07:00:00")));
    // Never into the next slot.
    let often = ready_in("@10s", r#"{"jitter":"10m"}"#).unwrap();
    assert!(often.due_at(at("07:00:00")) < at("07:00:10"));
}

fn definitions() -> impl Strategy<Value = (&'static str, String)> {
    let expression = prop::sample::select(vec![
        "0 8 * * *",
        "30 2,14 * * 1-5",
        "0 8 6 * *",
        "0 23 * * W#2",
        "0 0 L-2 * *",
    ]);
    let moves = prop::sample::select(vec![
        "",
        r#","move":"next_workday""#,
        r#","move":"previous_workday""#,
    ]);
    let days = prop::sample::select(vec![
        r#""except":["weekend","de"]"#,
        r#""except":["de"]"#,
        r#""only":["market"]"#,
    ]);
    let also = prop::sample::select(vec![
        "",
        r#","also":[{"expression":"15 3 * * *","tz":"America/New_York"}]"#,
    ]);
    let tz = prop::sample::select(vec!["UTC", "Europe/Berlin", "Australia/Lord_Howe"]);
    (expression, moves, days, also, tz).prop_map(|(expression, moves, days, also, tz)| {
        (
            expression,
            format!(r#"{{"tz":"{tz}",{days}{moves}{also}}}"#),
        )
    })
}

proptest! {
    /// Next and previous mirror each other, moved slots included, and every slot that moves lands
    /// on a slot that fires.
    #[test]
    fn dp_21_slots_are_in_order_and_moved_ones_land((expression, policies) in definitions(), day in 0..400_i64) {
        let ready = ready_in(expression, &policies).unwrap();
        let from = at(CREATED) + SignedDuration::from_hours(24 * day);
        let slots: Vec<Timestamp> =
            std::iter::successors(ready.next_after(from), |slot| ready.next_after(*slot)).take(40).collect();
        for pair in slots.windows(2) {
            prop_assert!(pair[0] < pair[1]);
            prop_assert_eq!(ready.previous_before(pair[1]), Some(pair[0]));
            prop_assert!(ready.matches(pair[0]));
        }
        for slot in slots {
            let Some(why) = ready.exclusion(slot) else { continue };
            if let Some((_, to)) = why.split_once("moved to ") {
                let to: Timestamp = to.parse().unwrap();
                prop_assert!(ready.matches(to), "{slot} moved to {to}, which is no slot");
                prop_assert_eq!(ready.exclusion(to), None, "{} moved to {}", slot, to);
            }
        }
    }
}
