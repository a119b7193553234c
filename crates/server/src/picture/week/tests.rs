use insta::assert_snapshot;

use super::*;

fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

/// Weekdays, around nine.
fn weekdays() -> [f64; HOURS] {
    std::array::from_fn(|hour| match (hour / 24, hour % 24) {
        (0..=4, 9) => 0.8,
        (0..=4, 8 | 10) => 0.4,
        (0..=4, _) => 0.02,
        _ => 0.0,
    })
}

/// The picture without its 168 hours, each of which looks like the others.
fn frame(svg: &str) -> String {
    let lines = svg.lines().filter(|line| !line.starts_with("<g>"));
    let lines: Vec<&str> = lines.filter(|line| !line.starts_with("<style>")).collect();
    lines.join("\n")
}

#[test]
fn the_picture_says_in_words_what_it_shows() {
    let svg = draw(&Week {
        name: "Example",
        expected: &weekdays(),
        checks: &[at("2026-01-05T09:30:00Z")],
        entries: &[at("2026-01-11T23:59:00Z")],
    });
    assert_snapshot!(frame(&svg), @"");
    assert_eq!(svg.matches("<g><title>").count(), HOURS);
    let busiest = "<g><title>Monday 09:00: 0.800 entries</title><rect class=\"cell\" x=\"336\" y=\"76\" \
                   width=\"28\" height=\"24\" rx=\"3\"/><rect class=\"heat\" fill-opacity=\"1.00\" ";
    assert!(svg.contains(busiest), "{svg}");
    let quiet = "<g><title>Sunday 09:00: 0 entries</title><rect class=\"cell\" x=\"336\" y=\"232\" \
                 width=\"28\" height=\"24\" rx=\"3\"/></g>";
    assert!(svg.contains(quiet), "{svg}");
    assert!(!svg.contains("<script"), "no script");
}

#[test]
fn what_a_publisher_calls_itself_cannot_leave_its_place() {
    let hostile = "\"><script>alert(1)</script>&lt;'\u{0}\u{b}\u{fffe}";
    let svg = draw(&Week {
        name: hostile,
        expected: &weekdays(),
        checks: &[],
        entries: &[],
    });
    assert!(!svg.contains("<script") && !svg.contains("\"><"), "{svg}");
    assert!(svg.contains("&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;&amp;lt;&#39;"));
    let allowed = |c: char| c == '\n' || !(c.is_control() || c == '\u{fffe}');
    assert!(svg.chars().all(allowed), "no XML may hold these");
    let long = "x".repeat(1000);
    let svg = draw(&Week {
        name: &long,
        expected: &weekdays(),
        checks: &[],
        entries: &[],
    });
    assert!(!svg.contains(&"x".repeat(NAME_CHARS)), "long names are cut");
}

#[test]
fn a_history_that_believes_nonsense_still_makes_a_picture() {
    for nonsense in [0.0, f64::NAN, f64::INFINITY, -1.0, f64::MIN_POSITIVE] {
        let svg = draw(&Week {
            name: "Example",
            expected: &[nonsense; HOURS],
            checks: &[Timestamp::MIN, Timestamp::MAX],
            entries: &vec![at("2026-01-05T09:30:00Z"); 10_000],
        });
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        assert_eq!(svg.matches("class=\"entry\"").count(), MARKS_MAX + 1);
    }
}
