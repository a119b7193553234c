//! A source's week in the terminal: a row per day, a mark per hour, the taller the more is
//! expected.

use crate::commands::prelude::*;

const DAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
const MARKS: [char; 9] = ['·', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// Rows for a table. `week` holds what is expected in each hour, from Monday 00:00 UTC.
pub(super) fn rows(week: &[f64]) -> Vec<Vec<Cell>> {
    let most = week.iter().copied().fold(0.0, f64::max);
    let days = DAYS.iter().zip(week.chunks(24));
    let mut rows: Vec<Vec<Cell>> = days
        .map(|(day, hours)| {
            let marks: String = hours.iter().map(|expected| mark(*expected, most)).collect();
            let sum: f64 = hours.iter().sum();
            vec![faint(day), Cell::new(marks), Cell::new(format!("{sum:.1}"))]
        })
        .collect();
    rows.push(vec![
        faint("UTC"),
        faint("0     6     12    18    "),
        faint("a day"),
    ]);
    rows
}

fn faint(text: &str) -> Cell {
    Cell::new(text).ink(Ink::Faint)
}

/// The mark of an hour, by its share of the busiest one.
fn mark(expected: f64, most: f64) -> char {
    if most <= 0.0 || expected <= 0.0 {
        return MARKS[0];
    }
    let top = MARKS.len() - 1;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "a share of a handful of marks"
    )]
    let step = (expected / most * top as f64).round() as usize;
    MARKS[step.min(top)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_busiest_hour_is_full_and_a_silent_one_is_a_dot() {
        for (expected, most, wanted) in [
            (0.0, 0.0, '·'),
            (0.0, 3.0, '·'),
            (3.0, 3.0, '█'),
            (1.5, 3.0, '▄'),
            (0.01, 3.0, '·'),
            (-1.0, 3.0, '·'),
        ] {
            assert_eq!(mark(expected, most), wanted, "{expected} of {most}");
        }
    }

    #[test]
    fn a_week_has_seven_days_of_24_hours() {
        let mut week = [0.0; 168];
        week[24 + 8] = 2.0;
        let rows = rows(&week);
        assert_eq!(rows.len(), 8);
        let text = format!("{:?}", rows[1]);
        assert!(text.contains("········█···············"), "{text}");
        assert!(text.contains("2.0"), "{text}");
    }
}
