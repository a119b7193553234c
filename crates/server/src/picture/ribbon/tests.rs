use insta::assert_snapshot;
use jiff::{ToSpan, tz::TimeZone};
use proptest::prelude::*;

use super::*;
use almanack_core::lang::Lang;

const FRAME: Frame<'static> = Frame {
    id: "r",
    caption: "Today",
    lang: Lang::English,
    zone: &TimeZone::UTC,
};

fn noon() -> Timestamp {
    "2026-01-05T12:00:00Z".parse().unwrap()
}

fn day(lanes: &[Lane]) -> String {
    let ribbon = Ribbon {
        from: noon() - 12.hours(),
        until: noon() + 12.hours(),
        now: noon(),
        lanes,
    };
    draw(&ribbon, &FRAME).into_string()
}

fn mark_at(minute: i64, outcome: Outcome) -> Mark {
    Mark {
        at: noon() + minute.minutes(),
        until: None,
        outcome,
        label: format!("at {minute} \"<&\""),
        href: Some(format!("/tasks/{minute}")),
    }
}

fn lane(marks: Vec<Mark>) -> Lane {
    Lane {
        name: "Example".to_owned(),
        href: "/sources/1".to_owned(),
        marks,
    }
}

/// The drawing alone, without its background.
fn marks(html: &str) -> &str {
    let (_, rest) = html.split_once("<g aria-hidden=\"true\">").unwrap();
    rest.split_once("</svg>").unwrap().0
}

#[test]
fn marks_are_links_with_words() {
    let html = day(&[lane(vec![
        mark_at(-60, Outcome::Failed),
        mark_at(60, Outcome::Planned),
    ])]);
    assert_snapshot!(marks(&html).replace("><", ">\n<"), @r##"
    <a href="/tasks/-60" tabindex="-1">
    <path d="M391 45h0h0" marker-mid="url(#r-failed)">
    </path>
    <title>at -60 &quot;&lt;&amp;&quot;</title>
    </a>
    <a href="/tasks/60" tabindex="-1">
    <path d="M459 45h0h0" marker-mid="url(#r-planned)">
    </path>
    <title>at 60 &quot;&lt;&amp;&quot;</title>
    </a>
    </g>
    "##);
    assert_snapshot!(html.split_once("<details").unwrap().1.replace("><", ">\n<"), @r##"
     class="data">
    <summary>As a table</summary>
    <div class="scroll" tabindex="0" role="group" aria-label="Table: Today">
    <table>
    <caption>Today</caption>
    <thead>
    <tr>
    <th scope="col">Name</th>
    <th scope="col">planned</th>
    <th scope="col">failed</th>
    <th scope="col">next</th>
    </tr>
    </thead>
    <tbody>
    <tr>
    <th scope="row">
    <a href="/sources/1">Example</a>
    </th>
    <td>1</td>
    <td>1</td>
    <td>5 Jan, 13:00</td>
    </tr>
    </tbody>
    </table>
    </div>
    </details>
    </figure>
    "##);
}

#[test]
fn crowded_marks_are_described_together() {
    let checks = (0..14_i64).map(|n| {
        let outcome = if n.rem_euclid(7) == 3 {
            Outcome::Failed
        } else {
            Outcome::Done
        };
        mark_at(n - 200, outcome)
    });
    let html = day(&[lane(checks.collect())]);
    assert!(
        html.contains("<title>08:40–08:42: 3 done</title>"),
        "{html}"
    );
    let checks = (-700_i64..0).map(|n| {
        mark_at(
            n,
            if n.rem_euclid(7) == 3 {
                Outcome::Failed
            } else {
                Outcome::Done
            },
        )
    });
    let html = day(&[lane(checks.collect())]);
    assert!(
        html.contains("<title>00:20–11:59: 600 done, 100 failed</title>"),
        "{html}"
    );
}

#[test]
fn what_lies_outside_of_the_window_is_not_shown() {
    let html = day(&[lane(vec![
        mark_at(-721, Outcome::Done),
        mark_at(721, Outcome::Planned),
    ])]);
    assert_eq!(marks(&html), "</g>");
    // What is planned next is said even so.
    assert!(html.contains("<td>6 Jan, 00:01</td>"), "{html}");
}

/// Forty feeds of different rhythms, of which some fail now and then.
fn forty_feeds() -> Vec<Lane> {
    let rhythms = [15, 30, 60, 60, 120, 240, 360, 720].into_iter().cycle();
    let feeds = (0..40_i64).zip(rhythms).map(|(number, every)| {
        let times = (0..1_440 / every).map(|n| n * every - 720 + number);
        let marks = times.map(|minute| match minute {
            0.. => mark_at(minute, Outcome::Planned),
            _ if (minute * 31 + number * 7) % 97 == 0 => mark_at(minute, Outcome::Failed),
            _ => mark_at(minute, Outcome::Done),
        });
        lane(marks.collect())
    });
    feeds.collect()
}

/// Lanes of five hundred marks of all outcomes.
fn crowd() -> Vec<Lane> {
    let outcome = |n: i64| Outcome::ALL[usize::try_from(n.rem_euclid(11) % 7).unwrap()];
    let lanes = (0..40_i64).map(|number| {
        let marks = (0..500).map(|n| mark_at(n * 1_440 / 500 - 720, outcome(n * 7 + number * 3)));
        lane(marks.collect())
    });
    lanes.collect()
}

#[test]
fn the_bytes_of_a_ribbon_are_bounded_by_its_lanes() {
    let typical = day(&forty_feeds());
    assert!(typical.len() < 25_000, "forty feeds: {}", typical.len());
    let crowded = day(&crowd());
    assert!(crowded.len() < 60_000, "20,000 marks: {}", crowded.len());
}

#[test]
fn an_empty_ribbon_is_a_picture() {
    let html = day(&[]);
    assert!(html.contains("none."), "{html}");
    let turned = Ribbon {
        from: noon(),
        until: noon() - 1.hours(),
        now: noon(),
        lanes: &[lane(vec![mark_at(-30, Outcome::Done)])],
    };
    assert!(!draw(&turned, &FRAME).into_string().contains("NaN"));
}

proptest! {
    #[test]
    fn whatever_happens_there_is_a_picture_of_it(
        marks in prop::collection::vec((-900..900_i64, -30..90_i64, prop::sample::select(Outcome::ALL.to_vec())), 0..300),
    ) {
        let marks = marks.into_iter().map(|(minute, length, outcome)| Mark {
            until: (length > 0 || minute % 2 == 0).then(|| noon() + (minute + length).minutes()),
            ..mark_at(minute, outcome)
        });
        let html = day(&[lane(marks.collect())]);
        prop_assert!(!html.contains("NaN") && !html.contains("inf\""));
        prop_assert!(!html.contains("width=\"-"), "{}", html);
        let beyond = html.split(" x=\"").skip(1).filter_map(|rest| rest.split('"').next());
        let beyond = beyond.filter(|x| !(0.0..=WIDTH).contains(&x.parse::<f64>().unwrap()));
        prop_assert_eq!(beyond.count(), 0);
    }
}
