//! The table of cases in `tests/cases/cron.jsonl`, each in every mode its profile names.

use almanack_core::schedule::{Expression, Mode, Timetable, Zone};
use jiff::{Timestamp, tz::TimeZone};
use serde::Deserialize;

const CASES: &str = include_str!("../cases/cron.jsonl");

#[derive(Debug, Deserialize)]
struct Case {
    id: String,
    #[serde(default)]
    expr: String,
    tz: String,
    from: Timestamp,
    #[serde(default)]
    next: Vec<Timestamp>,
    prev: Option<Vec<Timestamp>>,
    #[serde(default)]
    exhausted: bool,
    stage: Option<String>,
    profile: Profile,
}

/// In which modes a case holds.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Profile {
    Core,
    Ocps,
    Lenient,
    Almanack,
}

/// What happened to a case: the stage at which it was refused, or its instants.
#[derive(Debug, PartialEq, Eq)]
enum Verdict {
    Refused(&'static str),
    Fires(Vec<Timestamp>),
}

fn cases() -> Vec<Case> {
    let lines = CASES
        .lines()
        .map(|line| serde_json::from_str(line).unwrap());
    lines.collect()
}

impl Profile {
    fn modes(self) -> &'static [Mode] {
        match self {
            Self::Core => &[Mode::Strict, Mode::Import],
            Self::Ocps | Self::Almanack => &[Mode::Strict],
            Self::Lenient => &[Mode::Import],
        }
    }
}

fn walk(
    step: impl Fn(Timestamp) -> Option<Timestamp>,
    from: Timestamp,
    count: usize,
) -> Vec<Timestamp> {
    std::iter::successors(step(from), |at| step(*at))
        .take(count)
        .collect()
}

fn open(case: &Case, mode: Mode) -> Result<(Timetable, Zone), &'static str> {
    let expression = Expression::parse(&case.expr, mode).map_err(|_| "parse")?;
    let zone = TimeZone::get(expression.zone().unwrap_or(&case.tz)).map_err(|_| "tz")?;
    Ok((expression.compile(&case.id), Zone::new(zone)))
}

fn run(case: &Case, mode: Mode) -> Verdict {
    let (timetable, zone) = match open(case, mode) {
        Ok(opened) => opened,
        Err(stage) => return Verdict::Refused(stage),
    };
    let previous = |at| timetable.previous_before(at, &zone);
    if let Some(expected) = &case.prev {
        let instants = walk(previous, case.from, expected.len());
        assert_eq!(
            &instants, expected,
            "{}: {} before {}",
            case.id, case.expr, case.from
        );
    }
    // One more than listed shows whether the list is complete.
    let count = case.next.len() + usize::from(case.exhausted);
    let instants = walk(
        |at| timetable.next_after(at, &zone),
        case.from,
        count.max(1),
    );
    if instants.is_empty() {
        return Verdict::Refused("next");
    }
    Verdict::Fires(instants)
}

/// Runs the cases that a promise is about; returns how many there were.
fn check(picked: impl Fn(&Case) -> bool) -> usize {
    let cases: Vec<Case> = cases().into_iter().filter(picked).collect();
    for case in &cases {
        for mode in case.profile.modes() {
            let verdict = run(case, *mode);
            let expected = match case.stage.as_deref() {
                Some("parse") => Verdict::Refused("parse"),
                Some("next") => Verdict::Refused("next"),
                Some("tz") => Verdict::Refused("tz"),
                _ => Verdict::Fires(case.next.clone()),
            };
            assert_eq!(verdict, expected, "{} ({mode:?}): {}", case.id, case.expr);
        }
    }
    cases.len()
}

#[test]
fn every_case_holds_in_every_mode_it_names() {
    assert_eq!(check(|_| true), 652);
}

#[test]
fn dp_02_fields_lists_ranges_steps_and_names_mean_what_they_do_elsewhere() {
    let kinds = [
        "basic",
        "list",
        "range",
        "step",
        "names",
        "sunday",
        "malformed",
    ];
    let about = |case: &Case| kinds.iter().any(|kind| case.id.starts_with(kind));
    assert!(check(about) > 100);
}

#[test]
fn dp_03_seconds_are_aligned_to_the_epoch() {
    assert_eq!(check(|case| case.id.starts_with("at-seconds")), 14);
}

#[test]
fn dp_04_gaps_and_overlaps_follow_the_written_rule() {
    assert!(check(|case| case.id.starts_with("dst") || case.id.starts_with("tz")) > 90);
}
