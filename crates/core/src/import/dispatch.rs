//! DISPATCH texts that were written for the scheduler the format comes from.
//!
//! Read by [`crate::dispatch`], which also serves files that stay in DISPATCH. Here the lines were
//! written for another scheduler, so the days they fired on are kept.

use super::{Besides, Difference, Import, Imported, Options, Problem, expression::with_both_days};
use crate::{
    dispatch::{self, Line, ROUND_S},
    plan::Definition,
    schedule::{Expression, Mode},
};

/// Reads a DISPATCH text for what it meant there.
pub fn read(text: &str, options: &Options<'_>) -> Import {
    let read = dispatch::parse(text);
    let problems = read.problems.into_iter().map(|problem| Problem {
        place: problem.place,
        reason: problem.reason.into(),
    });
    let schedules = read.lines.into_iter().map(|line| imported(line, options));
    let mut import = Import {
        schedules: schedules.collect(),
        problems: problems.collect(),
        differences: Vec::new(),
    };
    if !import.schedules.is_empty() {
        import.differ(Difference::CaughtUp);
    }
    import
}

fn imported(line: Line, options: &Options<'_>) -> Imported {
    let Line {
        place,
        name,
        definition,
        commented,
        ..
    } = line;
    let mut imported = Imported {
        name,
        definition,
        place,
        differences: Vec::new(),
        besides: Besides::default(),
    };
    let Definition { expression, tz, .. } = &mut imported.definition;
    if let Some(zone) = options.zone().filter(|_| tz == "UTC") {
        *tz = zone;
    }
    if commented {
        imported.differences.push(Difference::Dropped);
    }
    let Ok(read) = Expression::parse(expression, Mode::Strict) else {
        return imported;
    };
    if read.day_lint().is_some() {
        *expression = with_both_days(expression);
        imported.differences.push(Difference::BothDays);
    }
    if let Some(period_s) = read.period_s().filter(|period_s| *period_s < ROUND_S) {
        imported.differences.push(Difference::Round { period_s });
    }
    if names_seven(expression) {
        imported.differences.push(Difference::NeverSunday);
    }
    imported
}

/// Whether the weekdays hold a 7, alone or at the end of a range.
fn names_seven(expression: &str) -> bool {
    let weekdays = expression.split(' ').nth(4).unwrap_or_default();
    let numbers = weekdays.split(|c: char| !c.is_ascii_digit());
    !weekdays.contains(['/', '#', 'L']) && numbers.into_iter().any(|number| number == "7")
}
