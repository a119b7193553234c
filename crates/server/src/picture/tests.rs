//! Every picture once, in both languages and schemes: the rules that hold for all of them, and a
//! gallery page.
//!
//! The page is written to `target/tmp/gallery-*.html`; open it in a browser after a change here.

mod scheme;

use std::{fs, path::Path};

use jiff::{SignedDuration, Timestamp, ToSpan, tz::TimeZone};
use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::{
    against, burn, figure::Frame, grid, heat, histogram, life, outcome::Outcome, ribbon, spark,
    steps, strip,
};
use almanack_core::lang::Lang;

/// A picture in lines, for snapshots: without the ends of elements, and without the ticks and
/// tables that others test.
pub(super) fn lines(markup: Markup) -> String {
    let html = markup.into_string().replace("><", ">\n<");
    let shown = html.split("<details").next().unwrap_or_default();
    let left_out = [
        "</",
        "<path class=\"tick",
        "<text class=\"value",
        "<rect class=\"hit",
    ];
    let lines = shown
        .lines()
        .filter(|line| !left_out.iter().any(|start| line.starts_with(start)));
    lines.collect::<Vec<_>>().join("\n")
}

/// The style of all pictures.
const STYLE: &str = include_str!("picture.css");

/// A name that tries to break out of its context.
const HOSTILE: &str = "<script>alert(\"1\")</script> & 'co' style=";

fn now() -> Timestamp {
    "2026-01-05T13:07:30Z".parse().unwrap()
}

fn minutes(n: i64) -> Timestamp {
    now() + n.minutes()
}

/// A pseudo-random number between 0 and `below`.
fn chance(n: i64, below: i64) -> i64 {
    (n.wrapping_mul(6_364_136_223_846_793_005)
        .wrapping_add(1_442_695_040_888_963_407)
        >> 33)
        .rem_euclid(below)
}

fn outcome(n: i64) -> Outcome {
    match chance(n, 40) {
        0 | 1 => Outcome::Failed,
        2 => Outcome::Skipped,
        3 => Outcome::Unknown,
        4 => Outcome::Cancelled,
        _ => Outcome::Done,
    }
}

fn lane(number: i64, every: i64) -> ribbon::Lane {
    let marks = (-720 / every..=720 / every).map(|n| {
        let at = n * every + chance(number, 60);
        ribbon::Mark {
            at: minutes(at),
            until: None,
            outcome: if at > 0 {
                Outcome::Planned
            } else {
                outcome(n * 41 + number)
            },
            label: format!("check {n}, because"),
            href: Some(format!("/tasks/{number}-{n}")),
        }
    });
    ribbon::Lane {
        name: format!("Feed number {number}"),
        href: format!("/sources/{number}"),
        marks: marks.collect(),
    }
}

pub(super) fn lanes() -> Vec<ribbon::Lane> {
    let every = [5, 10, 15, 30, 60, 60, 120, 360, 720];
    let mut lanes: Vec<_> = (0..40)
        .zip(every.into_iter().cycle())
        .map(|(n, every)| lane(n, every))
        .collect();
    lanes.insert(0, edition());
    lanes
}

fn edition() -> ribbon::Lane {
    let mark = |from, until: Option<i64>, outcome| ribbon::Mark {
        at: minutes(from),
        until: until.map(minutes),
        outcome,
        label: HOSTILE.to_owned(),
        href: Some("/editions/1".to_owned()),
    };
    ribbon::Lane {
        name: HOSTILE.to_owned(),
        href: "/editions".to_owned(),
        marks: vec![
            mark(-500, Some(-440), Outcome::Done),
            mark(-400, Some(-350), Outcome::Failed),
            mark(-300, Some(-250), Outcome::Skipped),
            mark(-200, Some(-150), Outcome::Unknown),
            mark(-100, None, Outcome::Cancelled),
            mark(-30, Some(0), Outcome::Running),
            mark(60, Some(110), Outcome::Planned),
            mark(300, None, Outcome::Planned),
        ],
    }
}

fn beats() -> Vec<strip::Beat> {
    let beat = |n: i64| strip::Beat {
        at: minutes(n * 30 - 1_800),
        outcome: if n == 59 {
            Outcome::Running
        } else {
            outcome(n + 7)
        },
        why: if n % 9 == 0 {
            HOSTILE.to_owned()
        } else {
            String::new()
        },
        href: Some(format!("/slots/{n}")),
    };
    (0..60).map(beat).collect()
}

fn runs() -> Vec<against::Run> {
    let run = |n: i64| against::Run {
        at: minutes(n * 60 - 3_600),
        late: SignedDuration::from_millis(2 + chance(n, 80) * chance(n + 1, 9)),
        took: (n != 30)
            .then(|| SignedDuration::from_millis(200 + chance(n, 900) * chance(n + 3, 40))),
        outcome: outcome(n + 7),
        href: Some(format!("/slots/{n}")),
    };
    (0..60).map(run).collect()
}

fn lengths() -> Vec<SignedDuration> {
    let length = |n: i64| {
        SignedDuration::from_millis(1 + chance(n, 30) * chance(n + 1, 30) * chance(n + 2, 30) / 8)
    };
    (0..500).map(length).collect()
}

fn spent(over: u64) -> Vec<burn::Batch> {
    let batch = |n: u64| burn::Batch {
        name: format!("batch {n}"),
        spent: 6 + n * 3 % 7 + over,
        href: Some(format!("#batch-{n}")),
    };
    (1..=6).map(batch).collect()
}

fn squares() -> Vec<grid::Square> {
    let square = |n: i64| grid::Square {
        name: format!("story {n} {HOSTILE}"),
        outcome: match n {
            31.. => Outcome::Planned,
            30 => Outcome::Running,
            _ => outcome(n),
        },
        href: Some(format!("#story-{n}")),
    };
    (0..36).map(square).collect()
}

pub(super) fn events() -> Vec<life::Event> {
    use life::Kind::{Attempt, Created, Moved, Planned};
    let event = |at, until: Option<i64>, kind, label: &str| life::Event {
        at: minutes(at),
        until: until.map(minutes),
        kind,
        label: label.to_owned(),
    };
    let (failed, running) = (Outcome::Failed, Outcome::Running);
    vec![
        event(
            -300,
            None,
            Created {
                due_at: minutes(-120),
            },
            "by the author",
        ),
        event(
            -250,
            None,
            Moved {
                from: minutes(-120),
                to: minutes(-20),
            },
            HOSTILE,
        ),
        event(
            -200,
            None,
            Moved {
                from: minutes(-20),
                to: minutes(-90),
            },
            "rule RS-04",
        ),
        event(
            -90,
            Some(-80),
            Attempt {
                number: 1,
                outcome: failed,
            },
            "503 from the callback",
        ),
        event(
            -60,
            Some(-60),
            Attempt {
                number: 2,
                outcome: failed,
            },
            "timed out",
        ),
        event(
            -5,
            Some(0),
            Attempt {
                number: 3,
                outcome: running,
            },
            "",
        ),
        event(45, None, Planned, "if this one fails, too"),
    ]
}

fn state() -> Vec<steps::Step> {
    let step = |name: &str, detail: &str, stage| steps::Step {
        name: name.to_owned(),
        detail: detail.to_owned(),
        stage,
    };
    vec![
        step("init", "", Outcome::Done),
        step("list_fetched", "30", Outcome::Done),
        step("processing", "3/5", Outcome::Running),
        step("aggregating", "", Outcome::Planned),
        step("published", "", Outcome::Planned),
        step("archived", "", Outcome::Skipped),
    ]
}

fn week() -> [f64; super::week::HOURS] {
    std::array::from_fn(|hour| match (hour / 24, hour % 24) {
        (0..=4, 8..=10) => 0.8,
        (0..=4, 6..=18) => 0.3,
        (_, 12..=20) => 0.1,
        _ => 0.0,
    })
}

fn outcomes(lang: Lang, zone: &TimeZone) -> Vec<(&'static str, Markup)> {
    let frame = |id, english, chinese| frame(id, lang.pick(english, chinese), lang, zone);
    let ribbon = ribbon::Ribbon {
        from: minutes(-720),
        until: minutes(720),
        now: now(),
        lanes: &lanes(),
    };
    let (last, few) = (beats(), &beats()[30..]);
    vec![
        (
            "steps",
            steps::draw(&state(), &frame("st", "State", "状态")),
        ),
        (
            "ribbon",
            ribbon::draw(&ribbon, &frame("r", "Today", "今天")),
        ),
        (
            "strip",
            strip::draw(&last, &frame("o", "Last outcomes", "最近结果")),
        ),
        (
            "inline",
            strip::inline(few, &frame("i", "Last outcomes", "最近结果")),
        ),
        (
            "life",
            life::draw(&events(), now(), &frame("li", "Timeline", "时间线")),
        ),
        (
            "grid",
            grid::draw(&squares(), &frame("g", "Stories", "条目")),
        ),
    ]
}

fn measures(lang: Lang, zone: &TimeZone) -> Vec<(&'static str, Markup)> {
    let frame = |id, english, chinese| frame(id, lang.pick(english, chinese), lang, zone);
    let counts: Vec<u64> = (0..60)
        .map(|n| u64::try_from(chance(n, 14)).unwrap())
        .collect();
    let spark = spark::Spark {
        from: minutes(-60),
        step: SignedDuration::from_mins(1),
        counts: &counts,
    };
    let interval = Some(SignedDuration::from_hours(1));
    let burn = |limit, batches: &[burn::Batch], id| {
        burn::draw(limit, batches, &frame(id, "Budget", "预算"))
    };
    vec![
        (
            "spark",
            spark::draw(&spark, &frame("s", "Attempts per minute", "每分钟尝试")),
        ),
        (
            "histogram",
            histogram::draw(&lengths(), &frame("l", "Lateness", "延迟")),
        ),
        (
            "against",
            against::draw(interval, &runs(), &frame("a", "Runs", "运行")),
        ),
        ("burn", burn(80, &spent(0), "b")),
        ("over", burn(60, &spent(3), "bo")),
    ]
}

fn a_week(lang: Lang, zone: &TimeZone) -> Markup {
    let checks: Vec<_> = (0..40).map(|n| minutes(-n * 211)).collect();
    let entries: Vec<_> = (0..30).map(|n| minutes(-n * 307)).collect();
    let heat = heat::Heat {
        expected: &week(),
        checks: &checks,
        entries: &entries,
        now: now(),
    };
    heat::draw(
        &heat,
        &frame("h", lang.pick("Weekly rhythm", "每周规律"), lang, zone),
    )
}

fn frame<'a>(id: &'a str, caption: &'a str, lang: Lang, zone: &'a TimeZone) -> Frame<'a> {
    Frame {
        id,
        caption,
        lang,
        zone,
    }
}

/// Every picture, by its name.
fn pictures(lang: Lang) -> Vec<(&'static str, Markup)> {
    let zone = TimeZone::get("Europe/Berlin").unwrap();
    let mut pictures = outcomes(lang, &zone);
    pictures.extend(measures(lang, &zone));
    pictures.push(("heat", a_week(lang, &zone)));
    pictures
}

fn page(lang: Lang, theme: &str) -> Markup {
    let around = "body{margin:1.5rem;font:16px/1.5 system-ui,sans-serif;background:var(--pic-paper);color:var(--pic-ink)}";
    html! {
        (DOCTYPE)
        html lang=(lang.tag()) data-theme=(theme) {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width";
                style { (PreEscaped(STYLE)) (around) }
            }
            body { @for (_, picture) in pictures(lang) { (picture) } }
        }
    }
}

#[test]
fn there_is_a_page_to_look_at() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/tmp");
    fs::create_dir_all(&folder).unwrap();
    for lang in Lang::ALL {
        for theme in ["light", "dark"] {
            let name = format!("gallery-{}-{theme}.html", lang.tag());
            fs::write(folder.join(name), page(lang, theme).into_string()).unwrap();
        }
    }
}

#[test]
fn the_content_policy_lets_every_picture_be() {
    for lang in Lang::ALL {
        for (name, picture) in pictures(lang) {
            let html = picture.into_string();
            // The hostile name contains one; it must stay text.
            let markup = html
                .replace("style=</", "</")
                .replace(" style=\"", "\"")
                .replace("style=:", ":");
            assert!(
                !markup.contains("<style") && !markup.contains("<script"),
                "{name}"
            );
            assert!(!tags(&html).any(|tag| tag.contains(" style=")), "{name}");
            assert!(!tags(&html).any(|tag| tag.contains(" on")), "{name}");
            assert!(!html.contains("NaN") && !html.contains("inf\""), "{name}");
        }
    }
}

/// The tags of a markup, without quoted attribute values.
fn tags(html: &str) -> impl Iterator<Item = String> {
    html.split('<').skip(1).map(|tag| {
        let tag = tag.split('>').next().unwrap_or_default();
        tag.split('"').step_by(2).collect()
    })
}

#[test]
fn names_are_unique_on_a_page() {
    let all: String = pictures(Lang::English)
        .into_iter()
        .map(|(_, picture)| picture.into_string())
        .collect();
    let mut ids: Vec<&str> = all
        .split(" id=\"")
        .skip(1)
        .filter_map(|rest| rest.split('"').next())
        .collect();
    ids.sort_unstable();
    let count = ids.len();
    ids.dedup();
    assert_eq!(ids.len(), count, "{ids:?}");
    for referred in all
        .split("url(#")
        .skip(1)
        .filter_map(|rest| rest.split(')').next())
    {
        assert!(ids.binary_search(&referred).is_ok(), "{referred}");
    }
}
