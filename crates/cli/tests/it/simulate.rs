//! `almanack simulate`: the planner itself shows what the configuration would do (DP-14).

use std::{
    io::{Read as _, Write as _},
    net::TcpListener,
    thread,
};

use serde_json::Value;

use crate::harness::Home;

const CONFIGURATION: &str = r#"
[[schedule]]
name = "digest"
expression = "0 */2 * * *"
target = { type = "webhook", url = "https://example.org/digest" }

[[schedule]]
name = "probe"
expression = "@900s"
catch_up = "none"
target = { type = "webhook", url = "https://example.org/probe" }
"#;

const NIGHT: [&str; 7] = [
    "simulate",
    "--from",
    "2026-01-05T00:00Z",
    "--for",
    "6h",
    "--outage",
    "01:50-04:10",
];

fn home() -> Home {
    Home::with(CONFIGURATION)
}

#[test]
fn dp_14_every_firing_and_every_skipped_range_is_listed() {
    let ran = home().run(&NIGHT);
    insta::assert_snapshot!(ran.expect_data(), @"
    SLOT                                                    SCHEDULE  VERDICT        DECIDED
    2026-01-05 00:00:00Z                                    digest    fired          on time
    2026-01-05 00:00:00Z                                    probe     fired          on time
    2026-01-05 00:15:00Z                                    probe     fired          on time
    2026-01-05 00:30:00Z                                    probe     fired          on time
    2026-01-05 00:45:00Z                                    probe     fired          on time
    2026-01-05 01:00:00Z                                    probe     fired          on time
    2026-01-05 01:15:00Z                                    probe     fired          on time
    2026-01-05 01:30:00Z                                    probe     fired          on time
    2026-01-05 01:45:00Z                                    probe     fired          on time
    2026-01-05 02:00:00Z                                    digest    too_late       2h 10m later
    2026-01-05 02:00:00Z to 2026-01-05 04:00:00Z (9 slots)  probe     not_caught_up  10m later
    2026-01-05 04:00:00Z                                    digest    caught_up      10m later
    2026-01-05 04:15:00Z                                    probe     fired          on time
    2026-01-05 04:30:00Z                                    probe     fired          on time
    2026-01-05 04:45:00Z                                    probe     fired          on time
    2026-01-05 05:00:00Z                                    probe     fired          on time
    2026-01-05 05:15:00Z                                    probe     fired          on time
    2026-01-05 05:30:00Z                                    probe     fired          on time
    2026-01-05 05:45:00Z                                    probe     fired          on time
    ");
}

#[test]
fn dp_14_programs_get_every_line_and_a_summary() {
    let line: Vec<&str> = NIGHT.iter().copied().chain(["--json"]).collect();
    let data = home().run(&line).expect_data();
    let lines: Vec<Value> = data
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let (summary, rows) = lines.split_last().unwrap();
    let sum = |fired: bool| -> u64 {
        let verdicts = ["fired", "caught_up"];
        let of = |row: &&Value| verdicts.contains(&row["verdict"].as_str().unwrap()) == fired;
        rows.iter()
            .filter(of)
            .map(|row| row["slots"].as_u64().unwrap())
            .sum()
    };
    assert_eq!(summary["fired"], sum(true));
    assert_eq!(summary["skipped"], sum(false));
    assert_eq!(
        sum(true) + sum(false),
        3 + 24,
        "every slot of the six hours"
    );
}

#[test]
fn a_timeline_is_drawn() {
    let home = home();
    let line: Vec<&str> = NIGHT
        .iter()
        .copied()
        .chain(["--svg", "night.svg"])
        .collect();
    home.run(&line).expect_data();
    let drawn = std::fs::read_to_string(home.path().join("night.svg")).unwrap();
    let drawn = drawn.replace("><", ">\n<");
    let left_out = |line: &str| {
        let ends = line.starts_with("</") && line != "</svg>";
        ends || line == "<g>" || line.contains('{') || line.starts_with("<path class=\"line")
    };
    let marks: Vec<&str> = drawn.lines().filter(|line| !left_out(line)).collect();
    insta::assert_snapshot!(marks.join("\n"), @r#"
    <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 960 168" role="img" aria-labelledby="title">
    <title id="title">2 schedules, 2026-01-05 00:00 to 2026-01-05 06:00 UTC</title>
    <rect class="paper" x="0" y="0" width="960" height="168" rx="8">
    <text class="title" x="24" y="30">2 schedules, 2026-01-05 00:00 to 2026-01-05 06:00 UTC</text>
    <rect class="away" x="427.7" y="64" width="284.7" height="52">
    <title>no node from 2026-01-05T01:50:00Z to 2026-01-05T04:10:00Z</title>
    <text class="faint middle" x="204" y="54">00:00</text>
    <text class="faint middle" x="326" y="54">01:00</text>
    <text class="faint middle" x="448" y="54">02:00</text>
    <text class="faint middle" x="570" y="54">03:00</text>
    <text class="faint middle" x="692" y="54">04:00</text>
    <text class="faint middle" x="814" y="54">05:00</text>
    <text class="faint middle" x="936" y="54">06:00</text>
    <text x="24" y="81">digest</text>
    <circle class="fired" cx="204" cy="77" r="3.5">
    <rect class="skipped" x="446.5" y="74" width="3" height="6">
    <title>1 slots from 2026-01-05T02:00:00Z: too_late</title>
    <path class="caught_up" d="M692 71.5l5.5 5.5l-5.5 5.5l-5.5 -5.5z">
    <title>2026-01-05T04:00:00Z caught up</title>
    <title>digest: 2 of 3 slots fired</title>
    <text x="24" y="107">probe</text>
    <circle class="fired" cx="204" cy="103" r="3.5">
    <circle class="fired" cx="234.5" cy="103" r="3.5">
    <circle class="fired" cx="265" cy="103" r="3.5">
    <circle class="fired" cx="295.5" cy="103" r="3.5">
    <circle class="fired" cx="326" cy="103" r="3.5">
    <circle class="fired" cx="356.5" cy="103" r="3.5">
    <circle class="fired" cx="387" cy="103" r="3.5">
    <circle class="fired" cx="417.5" cy="103" r="3.5">
    <rect class="skipped" x="446.5" y="100" width="247" height="6">
    <title>9 slots from 2026-01-05T02:00:00Z: not_caught_up</title>
    <circle class="fired" cx="722.5" cy="103" r="3.5">
    <circle class="fired" cx="753" cy="103" r="3.5">
    <circle class="fired" cx="783.5" cy="103" r="3.5">
    <circle class="fired" cx="814" cy="103" r="3.5">
    <circle class="fired" cx="844.5" cy="103" r="3.5">
    <circle class="fired" cx="875" cy="103" r="3.5">
    <circle class="fired" cx="905.5" cy="103" r="3.5">
    <title>probe: 15 of 24 slots fired</title>
    <g aria-hidden="true">
    <circle class="fired" cx="30" cy="146" r="3.5">
    <text class="faint" x="40" y="150">fired</text>
    <path class="caught_up" d="M94 140.5l5.5 5.5l-5.5 5.5l-5.5 -5.5z">
    <text class="faint" x="106" y="150">caught up</text>
    <rect class="skipped" x="182" y="143" width="14" height="6">
    <text class="faint" x="204" y="150">skipped</text>
    <rect class="away" x="272" y="140" width="14" height="12">
    <text class="faint" x="294" y="150">no node</text>
    </svg>
    "#);
}

#[test]
fn what_cannot_be_simulated_is_refused() {
    let unclear = home().run(&["simulate", "--outage", "two to five"]);
    insta::assert_snapshot!(unclear, @"
    error: --outage: `two to five` is not a span of a day
    hint: write 02:00-05:00, or 23:00-01:00 across midnight
    exit 2
    ");
    let nothing = Home::new().run(&["simulate"]);
    insta::assert_snapshot!(nothing, @"
    error: no schedules to simulate
    hint: write `[[schedule]]` tables into the configuration, or a DISPATCH file
    exit 3
    ");
}

/// An address that answers with an iCalendar file: the 6th of January 2026.
fn published_calendar() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/school.ics", listener.local_addr().unwrap());
    thread::spawn(move || {
        let text = "BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nDTSTART;VALUE=DATE:20260106\r\n\
                    SUMMARY:Epiphany\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n";
        let mut request = [0; 4_096];
        for mut caller in listener.incoming().flatten() {
            let read = caller.read(&mut request).unwrap_or_default();
            assert!(read > 0, "a request");
            let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n", text.len());
            let _ = write!(caller, "{head}Connection: close\r\n\r\n{text}");
        }
    });
    url
}

/// Two schedules, of which one leaves out the days of a calendar at an address.
fn with_a_calendar_at(url: &str) -> Home {
    Home::with(&format!(
        r#"
[outbound]
allow = ["127.0.0.1"]

[[calendar]]
name = "school"
url = "{url}"

[[schedule]]
name = "lesson"
expression = "0 8 * * *"
except = ["school"]
target = {{ type = "webhook", url = "https://example.org/lesson" }}

[[schedule]]
name = "other"
expression = "0 9 * * *"
target = {{ type = "webhook", url = "https://example.org/other" }}
"#
    ))
}

/// Nodes read addresses; commands go by what a node has read, and say so where none has.
#[test]
fn dp_21_calendars_by_address_count_once_a_node_has_read_them() {
    let home = with_a_calendar_at(&published_calendar());
    let simulate = ["simulate", "--from", "2026-01-05T00:00Z", "--for", "2d"];
    let next = [
        "next",
        "0 8 * * *",
        "--except",
        "school",
        "--from",
        "2026-01-05T00:00Z",
    ];
    let before = home.run(&simulate);
    let left_out = "warning: skipped `lesson`: the days of calendar `school` are at an address: no database at";
    assert!(before.notes.contains(left_out), "{before}");
    assert!(
        before
            .notes
            .contains("hint: nodes read the addresses of calendars"),
        "{before}"
    );
    assert_eq!(before.code, 2, "{before}");
    assert!(
        before.data.contains("other") && !before.data.contains("lesson"),
        "{before}"
    );
    let before = home.run(&next);
    assert!(
        before
            .notes
            .contains("the days of calendar `school` are at an address"),
        "{before}"
    );
    assert_eq!(before.code, 2, "{before}");
    home.run(&["tick"]).expect_data();
    let read = home.run(&simulate);
    assert_eq!(read.code, 0, "{read}");
    assert!(
        read.data
            .contains("excluded: holiday Epiphany (calendar school)"),
        "{read}"
    );
    let read = home.run(&next).expect_data();
    assert!(
        read.contains("2026-01-06 08:00:00Z  skipped: holiday Epiphany (calendar school)"),
        "{read}"
    );
    let known = home.path().join("almanack.toml");
    std::fs::remove_file(known).unwrap();
    let stored = home.run(&[&next[..], &["--database", "sqlite:almanack.db"]].concat());
    assert!(stored.data.contains("Epiphany"), "{stored}");
}
