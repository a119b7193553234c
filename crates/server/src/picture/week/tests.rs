use insta::assert_snapshot;

use super::*;
use crate::picture::hours::MARKS_MAX;

fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

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
    let svg = svg.replace("><", ">\n<");
    let hour = [
        "<g",
        "<rect class=\"cell",
        "<rect class=\"heat",
        "</",
        "<style>",
    ];
    let is_left_out = |line: &&str| {
        hour.iter().any(|start| line.starts_with(start))
            || (line.starts_with("<title>") && line.ends_with("entries</title>"))
    };
    let lines = svg.lines().filter(|line| !is_left_out(line));
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn the_picture_says_in_words_what_it_shows() {
    let svg = draw(&Week {
        name: "Example",
        expected: &weekdays(),
        checks: &[at("2026-01-05T09:30:00Z")],
        entries: &[at("2026-01-11T23:59:00Z")],
    });
    assert_snapshot!(frame(&svg), @r#"
    <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 806 310" role="img" aria-labelledby="title">
    <title id="title">Example: expected: about 10 entries a week, most on Monday at 09:00 UTC</title>
    <desc>Entries expected, in UTC.
    Monday 2.0 entries: 08:00 0.40, 09:00 0.80, 10:00 0.40.
    Tuesday 2.0 entries: 08:00 0.40, 09:00 0.80, 10:00 0.40.
    Wednesday 2.0 entries: 08:00 0.40, 09:00 0.80, 10:00 0.40.
    Thursday 2.0 entries: 08:00 0.40, 09:00 0.80, 10:00 0.40.
    Friday 2.0 entries: 08:00 0.40, 09:00 0.80, 10:00 0.40.
    Saturday 0 entries.
    Sunday 0 entries.</desc>
    <rect class="paper" x="0" y="0" width="806" height="310" rx="8">
    <text class="title" x="20" y="28">Example</text>
    <text class="faint" x="20" y="46">expected: about 10 entries a week, most on Monday at 09:00 UTC</text>
    <text class="faint" x="66" y="68">00:00</text>
    <text class="faint" x="156" y="68">03:00</text>
    <text class="faint" x="246" y="68">06:00</text>
    <text class="faint" x="336" y="68">09:00</text>
    <text class="faint" x="426" y="68">12:00</text>
    <text class="faint" x="516" y="68">15:00</text>
    <text class="faint" x="606" y="68">18:00</text>
    <text class="faint" x="696" y="68">21:00</text>
    <text class="faint" x="20" y="93">Mon</text>
    <text class="faint" x="20" y="119">Tue</text>
    <text class="faint" x="20" y="145">Wed</text>
    <text class="faint" x="20" y="171">Thu</text>
    <text class="faint" x="20" y="197">Fri</text>
    <text class="faint" x="20" y="223">Sat</text>
    <text class="faint" x="20" y="249">Sun</text>
    <path class="check" d="M350 76V85">
    <title>checked 2026-01-05T09:30:00Z</title>
    <circle class="entry" cx="783.5" cy="250" r="3">
    <title>published 2026-01-11T23:59:00Z</title>
    <text class="faint" x="184" y="290">0 to 0.80 entries an hour, UTC</text>
    <path class="check" d="M416 281V290">
    <text class="faint" x="424" y="290">checked</text>
    <circle class="entry" cx="516" cy="286" r="3">
    <text class="faint" x="524" y="290">published</text>
    "#);
    let busiest = "<g fill-opacity=\"1.00\"><rect class=\"heat\" x=\"336\" y=\"76\" width=\"28\" \
                   height=\"24\" rx=\"3\"></rect></g><title>Monday 09:00: 0.80 entries</title>";
    assert!(svg.contains(busiest), "{svg}");
    let quiet = "<rect class=\"cell\" x=\"336\" y=\"232\" width=\"28\" height=\"24\" rx=\"3\"></rect>\
                 <title>Sunday 09:00: 0 entries</title>";
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
    assert!(!svg.contains("<script"), "{svg}");
    assert!(svg.contains("&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;&amp;lt;'"));
    let allowed = |c: char| c == '\n' || !(c.is_control() || c == '\u{fffe}');
    assert!(svg.chars().all(allowed), "no XML may hold these");
    let long = "x".repeat(1000);
    let svg = draw(&Week {
        name: &long,
        expected: &weekdays(),
        checks: &[],
        entries: &[],
    });
    assert!(
        !svg.contains(&"x".repeat(NAME_COLUMNS)),
        "long names are cut"
    );
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
