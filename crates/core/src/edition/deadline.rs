//! Deadlines: when an edition must begin so that readers find it at the time they expect (ED-38).
//!
//! An edition learns from those before it: how long each took from its beginning until readers had
//! it. One that was ready only at the last moment was hurried, and says that it would have taken
//! longer. The longest of the last few counts, but for one: a single bad night does not make a week
//! of editions begin hours too early, with the news of hours before.

use jiff::{
    SignedDuration, Timestamp,
    civil::{Date, Time},
    tz::TimeZone,
};

use super::{
    Edition,
    ladder::{BATCH_GUESSED, Rung},
    rules::{Rules, WAVE_BATCHES_MAX},
};

/// How many editions are learnt from.
pub const LEARNT_FROM: usize = 7;
/// From so many on, the longest is an exception.
const EXCEPTION_AMONG: usize = 3;
/// What is added to what it took before, in parts of four: outsides have slow days.
const MARGIN_QUARTERS: i32 = 1;

/// When readers expect the edition of a day: never before the day begins, and an hour that the
/// zone's clocks leave out is the one after it.
pub fn due_at(date: Date, ready_by: Time, zone: &TimeZone) -> Option<Timestamp> {
    let expected = zone.to_ambiguous_zoned(date.to_datetime(ready_by));
    Some(expected.compatible().ok()?.timestamp())
}

/// When the edition must begin that is due then.
pub fn start_at(due_at: Timestamp, past: &[Edition], rules: &Rules) -> Timestamp {
    let took = learnt(past, rules).unwrap_or_else(|| expected(rules));
    let margin = took / 4 * MARGIN_QUARTERS;
    // A tick comes up to an interval after the instant at which it is wanted.
    let ahead = [took, margin, rules.interval, rules.delivery_time];
    let ahead = ahead
        .into_iter()
        .fold(SignedDuration::ZERO, SignedDuration::saturating_add);
    due_at.saturating_sub(ahead).unwrap_or(Timestamp::MIN)
}

/// What the editions before it took; none without any.
fn learnt(past: &[Edition], rules: &Rules) -> Option<SignedDuration> {
    let mut took: Vec<SignedDuration> = past.iter().filter_map(|it| took(it, rules)).collect();
    took.sort_unstable();
    if took.len() >= EXCEPTION_AMONG {
        took.pop();
    }
    took.pop()
}

/// What one took until readers had it; twice that, if it was hurried.
fn took(edition: &Edition, rules: &Rules) -> Option<SignedDuration> {
    let ready_at = edition.ready_at?;
    let took = ready_at.duration_since(edition.created_at);
    let late = |due_at: Timestamp| {
        let hurry_at = due_at.saturating_sub(rules.delivery_time);
        hurry_at.is_ok_and(|hurry_at| ready_at >= hurry_at)
    };
    let hurried = edition.due_at.is_some_and(late);
    took.is_positive()
        .then(|| if hurried { took * 2 } else { took })
}

/// What an edition is expected to take by its plan: the list and its batches.
fn expected(rules: &Rules) -> SignedDuration {
    let batches = rules.stories.div_ceil(Rung::Full.batch_size(rules));
    let (each, steps) = if rules.chain {
        (BATCH_GUESSED, 1 + batches.div_ceil(WAVE_BATCHES_MAX))
    } else {
        (rules.interval, 1 + batches)
    };
    each.saturating_mul(i32::try_from(steps).unwrap_or(i32::MAX))
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;

    use super::*;
    use crate::edition::fixture::NOW;

    const MINUTE: SignedDuration = SignedDuration::from_mins(1);

    fn minutes_ahead(past: &[Edition], rules: &Rules) -> i64 {
        NOW.duration_since(start_at(NOW, past, rules)).as_mins()
    }

    fn after(minutes: i64) -> Edition {
        let mut edition = Edition::new(date(2026, 1, 3), NOW);
        edition.ready_at = Some(NOW + SignedDuration::from_mins(minutes));
        edition
    }

    #[test]
    fn ed_38_an_edition_begins_when_its_history_says_it_must() {
        let rules = Rules {
            chain: true,
            ..Rules::default()
        };
        let ahead = |took: &[i64]| {
            let past: Vec<Edition> = took.iter().copied().map(after).collect();
            minutes_ahead(&past, &rules)
        };
        assert_eq!(ahead(&[20]), 20 + 5 + 12);
        assert_eq!(ahead(&[20, 40]), 40 + 10 + 12, "the longer of two");
        assert_eq!(ahead(&[20, 300, 40]), 40 + 10 + 12, "one bad night is none");
    }

    #[test]
    fn ed_38_the_first_edition_begins_by_its_plan() {
        assert_eq!(minutes_ahead(&[], &Rules::default()), 60 + 15 + 10 + 2);
        let chained = Rules {
            chain: true,
            ..Rules::default()
        };
        assert_eq!(
            minutes_ahead(&[], &chained),
            13,
            "a minute, and the margins"
        );
    }

    #[test]
    fn ed_38_one_that_was_hurried_begins_earlier_the_next_time() {
        let mut hurried = after(20);
        hurried.due_at = Some(NOW + MINUTE * 21);
        let rules = Rules {
            chain: true,
            ..Rules::default()
        };
        assert_eq!(minutes_ahead(&[hurried.clone()], &rules), 40 + 10 + 12);
        hurried.due_at = Some(NOW + MINUTE * 60);
        assert_eq!(minutes_ahead(&[hurried], &rules), 20 + 5 + 12, "it was not");
    }

    #[test]
    fn a_deadline_is_in_the_zone_of_the_edition() {
        let new_york = TimeZone::get("America/New_York").unwrap();
        for (day, expected) in [
            (date(2026, 1, 4), "2026-01-04T12:00:00Z"),
            (date(2026, 7, 4), "2026-07-04T11:00:00Z"),
        ] {
            let due = due_at(day, jiff::civil::time(7, 0, 0, 0), &new_york);
            assert_eq!(due, Some(expected.parse().unwrap()));
        }
        let skipped = due_at(date(2026, 3, 8), jiff::civil::time(2, 30, 0, 0), &new_york);
        assert_eq!(skipped, Some("2026-03-08T07:30:00Z".parse().unwrap()));
    }
}
