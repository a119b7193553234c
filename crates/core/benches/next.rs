//! How long the next occurrence takes, beside croner, cron and saffron, in one run.
//!
//! Each implementation walks from occurrence to occurrence; the best of several rounds counts,
//! because a round can only be disturbed to the slow side. The column `scattered` is ours from
//! instants all over ten years, where nothing is where the last search left it. A dash means that
//! the implementation cannot read the expression, or knows no zones.

#![expect(
    clippy::unwrap_used,
    reason = "a measurement that cannot begin has failed"
)]

use std::{
    hint::black_box,
    io::{self, Write},
    time::{Duration, Instant},
};

use almanack_core::schedule::{Expression, Mode, Timetable, Zone};
use chrono::{DateTime, Utc};
use jiff::{Timestamp, tz::TimeZone};

const EXPRESSIONS: [&str; 10] = [
    "*/5 * * * *",
    "0 9 * * 1-5",
    "30 4 1,15 * *",
    "0 0 29 2 *",
    "15 */2 * * *",
    "0 0 13 * 5",
    "0 0 L * *",
    "0 0 * * 5#2",
    "*/10 * * * * *",
    "@10s",
];
const ZONES: [(&str, chrono_tz::Tz); 2] = [
    ("UTC", chrono_tz::UTC),
    ("America/New_York", chrono_tz::America::New_York),
];
/// 2024-01-01T00:00:00Z
const BEGIN_S: i64 = 1_704_067_200;
const ROUNDS: usize = 7;
const ROUND_LENGTH: Duration = Duration::from_millis(30);
/// Walks begin again after so many steps, before they leave the century.
const STEPS: usize = 16;

/// One line of the table, in nanoseconds.
struct Row {
    ours: f64,
    scattered: f64,
    croner: Option<f64>,
    cron: Option<f64>,
    saffron: Option<f64>,
}

fn main() -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "compiled schedule: {} bytes", size_of::<Timetable>())?;
    for (name, tz) in ZONES {
        writeln!(out, "\n{name}: ns per next occurrence (times ours)")?;
        writeln!(
            out,
            "{:<16}{:>8}{:>11}{:>18}{:>18}{:>18}",
            "expression", "ours", "scattered", "croner", "cron", "saffron"
        )?;
        for text in EXPRESSIONS {
            let row = measure(text, name, tz);
            let beside = |other: Option<f64>| match other {
                Some(ns) => format!("{ns:.0} ({:.0}x)", ns / row.ours),
                None => "-".to_owned(),
            };
            writeln!(
                out,
                "{text:<16}{:>8.1}{:>11.1}{:>18}{:>18}{:>18}",
                row.ours,
                row.scattered,
                beside(row.croner),
                beside(row.cron),
                beside(row.saffron),
            )?;
        }
    }
    Ok(())
}

fn measure(text: &str, name: &str, tz: chrono_tz::Tz) -> Row {
    let (ours, scattered) = ours(text, name);
    Row {
        ours,
        scattered,
        croner: croner(text, name),
        cron: cron(text, tz),
        saffron: if name == "UTC" { saffron(text) } else { None },
    }
}

/// The best time of one step. `walk` makes [`STEPS`] steps.
#[expect(
    clippy::disallowed_methods,
    reason = "a measurement is about the machine's time"
)]
fn best(mut walk: impl FnMut()) -> f64 {
    let mut best = f64::MAX;
    for _ in 0..ROUNDS {
        let (begun, mut walks) = (Instant::now(), 0_u32);
        while begun.elapsed() < ROUND_LENGTH {
            // Few enough looks at the clock that they do not count.
            for _ in 0..64 {
                walk();
            }
            walks += 64;
        }
        let steps = f64::from(walks) * 16.0;
        best = best.min(begun.elapsed().as_secs_f64() * 1e9 / steps);
    }
    best
}

fn ours(text: &str, name: &str) -> (f64, f64) {
    let timetable = Expression::parse(text, Mode::Strict).unwrap().compile("x");
    let zone = Zone::new(TimeZone::get(name).unwrap());
    let begin = Timestamp::from_second(BEGIN_S).unwrap();
    let walked = best(|| {
        let mut at = begin;
        for _ in 0..STEPS {
            at = black_box(timetable.next_after(black_box(at), &zone)).unwrap();
        }
    });
    // Steps of a prime number of seconds visit all hours, days and months.
    let instants = (0..1_024).map(|number| BEGIN_S + number * 307_691);
    let instants: Vec<Timestamp> = instants
        .map(|second| Timestamp::from_second(second).unwrap())
        .collect();
    let mut first = 0;
    let scattered = best(|| {
        for at in &instants[first..first + STEPS] {
            black_box(timetable.next_after(black_box(*at), &zone));
        }
        first = (first + STEPS) % instants.len();
    });
    (walked, scattered)
}

fn croner(text: &str, name: &str) -> Option<f64> {
    let parser = croner::parser::CronParser::builder()
        .seconds(croner::parser::Seconds::Optional)
        .build();
    let cron = parser.parse(text).ok()?;
    let zone = TimeZone::get(name).unwrap();
    let begin = Timestamp::from_second(BEGIN_S).unwrap().to_zoned(zone);
    Some(best(|| {
        let mut at = begin.clone();
        for _ in 0..STEPS {
            at = black_box(cron.find_next_occurrence(black_box(&at), false)).unwrap();
        }
    }))
}

/// It wants seconds, and counts weekdays from 1; how long it takes does not depend on that.
fn cron(text: &str, tz: chrono_tz::Tz) -> Option<f64> {
    let fields = text.split(' ').count();
    let text = if fields == 5 {
        format!("0 {text}")
    } else {
        text.to_owned()
    };
    let schedule: cron::Schedule = text.parse().ok()?;
    let begin = DateTime::<Utc>::from_timestamp(BEGIN_S, 0)
        .unwrap()
        .with_timezone(&tz);
    Some(best(|| {
        let mut at = begin;
        for _ in 0..STEPS {
            at = black_box(schedule.after(black_box(&at)).next()).unwrap();
        }
    }))
}

fn saffron(text: &str) -> Option<f64> {
    let cron: saffron::Cron = text.parse().ok()?;
    let begin = DateTime::<Utc>::from_timestamp(BEGIN_S, 0).unwrap();
    Some(best(|| {
        let mut at = begin;
        for _ in 0..STEPS {
            at = black_box(cron.next_after(black_box(at))).unwrap();
        }
    }))
}
