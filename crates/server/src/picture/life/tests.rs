use insta::assert_snapshot;
use jiff::tz::TimeZone;

use super::*;
use crate::picture::tests as gallery;

const FRAME: Frame<'static> = Frame {
    id: "li",
    caption: "Timeline",
    lang: Lang::English,
    zone: &TimeZone::UTC,
};

fn at(text: &str) -> Timestamp {
    format!("2026-01-05T{text}Z").parse().unwrap()
}

fn event(when: &str, until: Option<&str>, kind: Kind) -> Event {
    Event {
        at: at(when),
        until: until.map(at),
        kind,
        label: "a < b".to_owned(),
    }
}

#[test]
fn a_life_is_drawn_and_described() {
    let events = [
        event(
            "10:00:00",
            None,
            Kind::Created {
                due_at: at("12:00:00"),
            },
        ),
        event(
            "12:00:00",
            Some("12:00:30"),
            Kind::Attempt {
                number: 1,
                outcome: Outcome::Done,
            },
        ),
    ];
    assert_snapshot!(gallery::lines(draw(&events, at("13:00:00"), &FRAME)), @r##"
    <figure class="picture">
    <figcaption>
    <strong>Timeline</strong> <span class="summary" id="li-summary">Attempts: 1; rescheduled: 0; now done.</span>
    <div class="scroll" tabindex="0" role="group" aria-label="Timeline">
    <svg class="wide" viewBox="0 0 640 112" role="img" aria-labelledby="li-t li-d">
    <title id="li-t">Timeline</title>
    <desc id="li-d">Attempts: 1; rescheduled: 0; now done.</desc>
    <path class="rail" d="M8 72H632">
    <text class="hour" x="28" y="102">10:00</text>
    <text class="hour" x="125.3" y="102">10:30</text>
    <text class="hour" x="222.7" y="102">11:00</text>
    <text class="hour" x="320" y="102">11:30</text>
    <text class="hour" x="417.3" y="102">12:00</text>
    <text class="hour" x="514.7" y="102">12:30</text>
    <text class="hour" x="612" y="102">13:00</text>
    <path class="now" d="M612 18V84">
    <text class="now" x="612" y="12">now</text>
    <g>
    <path class="birth" d="M28 65v14">
    <path class="due" d="M413.8 57h7l-3.5 6z">
    <title>5 Jan, 10:00: created, due 5 Jan, 12:00</title>
    <g>
    <g transform="translate(418.1 72)">
    <path class="o done" d="M-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0">
    <title>5 Jan, 12:00: attempt 1: done</title>
    <ol class="life">
    <li>
    <svg class="icon" viewBox="-7 -7 14 14" aria-hidden="true">
    <path class="o planned" d="M-3.5 0a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0-7 0">
    <time datetime="2026-01-05T10:00:00Z">5 Jan, 10:00</time> <span class="name">created, due 5 Jan, 12:00</span> <span class="detail">a &lt; b</span>
    <li class="wait">2 h later</li>
    <li>
    <svg class="icon" viewBox="-7 -7 14 14" aria-hidden="true">
    <path class="o done" d="M-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0">
    <time datetime="2026-01-05T12:00:00Z">5 Jan, 12:00</time> <span class="name">attempt 1: done</span> <span class="detail">took 30 s</span> <span class="detail">a &lt; b</span>
    "##);
}

#[test]
fn clocks_that_differ_do_not_break_it() {
    let attempt = Kind::Attempt {
        number: 1,
        outcome: Outcome::Failed,
    };
    let events = [
        event(
            "12:00:00",
            None,
            Kind::Created {
                due_at: at("11:00:00"),
            },
        ),
        event("11:59:58", Some("11:59:57"), attempt),
        event("11:59:57", Some("11:59:57"), attempt),
        event(
            "11:59:57",
            None,
            Kind::Moved {
                from: at("11:00:00"),
                to: at("11:00:00"),
            },
        ),
        event("11:00:00", None, Kind::Replaced),
    ];
    let html = draw(&events, at("09:00:00"), &FRAME).into_string();
    for shown in ["−2 s later", "took −1 s", "took 0 ms", "replaced"] {
        assert!(html.contains(shown), "{shown}: {html}");
    }
    assert!(
        !html.contains("NaN") && !html.contains("width=\"-"),
        "{html}"
    );
}

#[test]
fn lives_of_one_instant_and_of_none_are_drawn() {
    let now = at("12:00:00");
    let none = draw(&[], now, &FRAME).into_string();
    assert!(none.contains("No events."), "{none}");
    for instant in [Timestamp::MIN, Timestamp::MAX, now] {
        let events = [Event {
            at: instant,
            until: Some(Timestamp::MIN),
            kind: Kind::Cancelled,
            label: String::new(),
        }];
        let html = draw(&events, now, &FRAME).into_string();
        assert!(!html.contains("NaN") && !html.contains("inf"), "{html}");
    }
}

#[test]
fn a_long_life_keeps_its_beginning() {
    let mut events = vec![event(
        "10:00:00",
        None,
        Kind::Created {
            due_at: at("12:00:00"),
        },
    )];
    events.extend((1..=1_000).map(|number| {
        let outcome = Outcome::Failed;
        event("12:00:00", None, Kind::Attempt { number, outcome })
    }));
    let kept = newest(&events);
    assert_eq!(kept.len(), EVENTS_MAX + 1);
    assert_eq!(kept[0].kind, events[0].kind);
    assert_eq!(kept[EVENTS_MAX].kind, events[1_000].kind);
}
