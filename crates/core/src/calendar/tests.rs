use super::*;

fn text(events: &str) -> String {
    format!("BEGIN:VCALENDAR\r\nVERSION:2.0\r\n{events}END:VCALENDAR\r\n")
}

fn event(lines: &str) -> String {
    let lines: Vec<&str> = lines.lines().map(str::trim).collect();
    let lines = lines.join("\r\n");
    format!("BEGIN:VEVENT\r\nUID:1\r\n{lines}\r\nEND:VEVENT\r\n")
}

fn read(events: &str) -> Result<Calendar, Unfit> {
    let definition = Definition {
        ical: Some(text(events)),
        ..Definition::default()
    };
    Calendar::new("de", &definition, None)
}

/// The days from 2026 on, at most six of them.
fn days(events: &str) -> Vec<String> {
    let calendar = read(events).unwrap();
    let days = calendar.days_from(Date::constant(2026, 1, 1));
    days.take(6).map(|(on, _)| on.to_string()).collect()
}

#[test]
fn dp_21_all_day_events_are_days() {
    let rows: [(&str, &[&str], &str); 9] = [
        (
            "DTSTART;VALUE=DATE:20260403\nSUMMARY:Karfreitag",
            &["2026-04-03"],
            "one",
        ),
        (
            "DTSTART;VALUE=DATE:20261224\nDTEND;VALUE=DATE:20261227",
            &["2026-12-24", "2026-12-25", "2026-12-26"],
            "the end is exclusive",
        ),
        (
            "DTSTART:20260101\nDURATION:P2D",
            &["2026-01-01", "2026-01-02"],
            "a duration",
        ),
        (
            "DTSTART:20260105\nRRULE:FREQ=WEEKLY;COUNT=3;BYDAY=MO,WE\nEXDATE:20260107",
            &["2026-01-05", "2026-01-12"],
            "an exception",
        ),
        (
            "DTSTART:20260101\nRRULE:FREQ=MONTHLY;BYDAY=-1FR;UNTIL=20260401",
            &["2026-01-01", "2026-01-30", "2026-02-27", "2026-03-27"],
            "the last Friday, and the first day itself",
        ),
        (
            "DTSTART:20261126\nRRULE:FREQ=YEARLY;BYMONTH=11;BYDAY=4TH;COUNT=2",
            &["2026-11-26", "2027-11-25"],
            "Thanksgiving",
        ),
        (
            "DTSTART:20240229\nRRULE:FREQ=YEARLY;COUNT=3",
            &["2028-02-29", "2032-02-29"],
            "a day that most years do not have",
        ),
        (
            "DTSTART:20260131\nRRULE:FREQ=MONTHLY;BYMONTHDAY=-1;COUNT=2",
            &["2026-01-31", "2026-02-28"],
            "the last of the month",
        ),
        (
            "DTSTART:20260130\nRRULE:FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1;COUNT=2",
            &["2026-01-30", "2026-02-27"],
            "the last weekday",
        ),
    ];
    for (lines, expected, why) in rows {
        assert_eq!(days(&event(lines)), expected, "{why}");
    }
}

#[test]
fn dp_21_what_is_no_day_is_passed_over_and_what_is_unclear_is_refused() {
    let day = event("DTSTART;VALUE=DATE:20260403");
    let timed = event("DTSTART:20260101T090000Z");
    assert_eq!(days(&format!("{day}{timed}")), ["2026-04-03"]);
    let cancelled = event("DTSTART:20260101\nSTATUS:CANCELLED");
    assert_eq!(days(&format!("{cancelled}{day}")), ["2026-04-03"]);
    let moved = event("DTSTART:20260403\nRECURRENCE-ID:20260102");
    let weekly = event("DTSTART:20260102\nRRULE:FREQ=DAILY;COUNT=2");
    assert_eq!(
        days(&format!("{weekly}{moved}")),
        ["2026-01-03", "2026-04-03"]
    );
    for (lines, why) in [
        (
            "DTSTART:20260101\nRRULE:FREQ=HOURLY",
            "line 5: RRULE: `FREQ=HOURLY` is not supported",
        ),
        (
            "DTSTART:2026-01-01",
            "line 5: DTSTART: a date is written like 20261224",
        ),
        (
            "DTSTART:20260101\nRRULE:FREQ=YEARLY;BYWEEKNO=1",
            "line 6: RRULE: `BYWEEKNO=1` is not supported",
        ),
        ("DTSTART:20260101T090000", "there is no all-day event"),
    ] {
        let refused = read(&event(lines)).unwrap_err().to_string();
        let why = why.replace("line 5: RRULE", "line 6: RRULE");
        assert_eq!(refused, format!("iCalendar, {why}"), "{lines}");
    }
    let definition = Definition {
        ical: Some("<html>".to_owned()),
        ..Definition::default()
    };
    assert!(
        definition
            .check()
            .unwrap_err()
            .to_string()
            .contains("BEGIN:VCALENDAR")
    );
}

#[test]
fn dp_21_names_survive_folding_and_escapes() {
    let folded =
        "BEGIN:VEVENT\r\nDTSTART:20260403\r\nSUMMARY:Kar\r\n freitag\\, ruhig\r\nEND:VEVENT\r\n";
    let calendar = read(folded).unwrap();
    let day = number_of(Date::constant(2026, 4, 3)).unwrap();
    assert_eq!(calendar.called(day).unwrap(), "holiday Karfreitag, ruhig");
    assert_eq!(date_of(day), Date::constant(2026, 4, 3));
}

#[test]
fn dp_21_an_address_without_a_copy_is_no_calendar() {
    let definition = Definition {
        url: Some("https://example.org/de.ics".to_owned()),
        ..Definition::default()
    };
    assert_eq!(definition.check(), Ok(()), "it can be written");
    assert_eq!(Calendar::new("de", &definition, None), Err(Unfit::Unread));
    let copy = text(&event("DTSTART:20260403"));
    assert_eq!(
        Calendar::new("de", &definition, Some(&copy)).unwrap().len(),
        1
    );
    assert_eq!(Definition::default().check(), Err(Unfit::Empty));
}

proptest::proptest! {
    #[test]
    fn dp_21_no_text_makes_the_reader_fail(lines in "[A-Z;:=,0-9\n\r -]{0,200}") {
        let _ = read(&event(&lines));
    }
}
