//! Changes of the clocks that touch an expression: for people who look at coming times and wonder
//! why one is missing, moved or there twice. Nothing here decides: it describes what
//! `occurrence.rs` does.

use jiff::{Timestamp, civil::DateTime};

use super::{
    occurrence::GAP_MAX_S,
    timetable::{Pace, Plan, Table, Timetable},
    zone::Zone,
};

/// A change of the clocks at which an occurrence is not as the expression reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClockChange {
    /// The instant at which the clocks are changed.
    pub at: Timestamp,
    /// The first time of the wall clock that is touched.
    pub local: DateTime,
    /// What happens to it.
    pub effect: Effect,
}

/// What a change of the clocks does to a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// The clocks skip it, and it takes place when the gap ends.
    Moved,
    /// The clocks skip it, and so does the schedule.
    Skipped,
    /// The clocks show it twice, and it takes place the first time.
    Once,
    /// The clocks show it twice, and it takes place both times.
    Twice,
}

impl Timetable {
    /// The changes of the clocks after `from` up to `until` that touch an occurrence, in order. A
    /// schedule that runs every hour misses nothing worth a warning, and a period does not depend
    /// on the clock.
    pub fn clock_changes(
        &self,
        zone: &Zone,
        from: Timestamp,
        until: Timestamp,
    ) -> Vec<ClockChange> {
        let Plan::Table(table) = &self.plan else {
            return Vec::new();
        };
        if table.pace == Pace::Interval && table.hours.count_ones() == 24 {
            return Vec::new();
        }
        let (from, until) = (from.as_second(), until.as_second());
        let pairs = zone.spans().windows(2);
        let changes = pairs.filter_map(|pair| match pair {
            [before, after] if after.start > from && after.start <= until => {
                table.touched(after.start, before.local_end(), after.local_start())
            }
            _ => None,
        });
        changes.collect()
    }
}

impl Table {
    /// What happens to the first time between what the clock shows before a change and what it
    /// shows after.
    fn touched(&self, at: i64, ended: i64, begins: i64) -> Option<ClockChange> {
        let (first, last) = (ended.min(begins), ended.max(begins));
        let found = self.at_or_after(first);
        let effect = match self.pace {
            Pace::Fixed if begins > ended && begins - ended <= GAP_MAX_S => Effect::Moved,
            _ if begins > ended => Effect::Skipped,
            Pace::Fixed => Effect::Once,
            Pace::Interval => Effect::Twice,
        };
        let local = jiff::tz::Offset::UTC.to_datetime(Timestamp::from_second(found).ok()?);
        (found < last).then_some(ClockChange {
            at: Timestamp::from_second(at).ok()?,
            local,
            effect,
        })
    }
}

#[cfg(test)]
mod tests {
    use jiff::{SignedDuration, tz::TimeZone};

    use super::*;
    use crate::schedule::{Expression, Mode};

    fn changes(text: &str, zone: &str) -> Vec<ClockChange> {
        let expression = Expression::parse(text, Mode::Strict).unwrap();
        let zone = Zone::new(TimeZone::get(zone).unwrap());
        let (from, until) = ("2026-01-01T00:00Z", "2026-12-31T00:00Z");
        let (from, until) = (from.parse().unwrap(), until.parse().unwrap());
        let table = expression.compile("x");
        let found = table.clock_changes(&zone, from, until);
        for change in &found {
            let here = table.matches(change.at, &zone);
            assert!(here || change.effect != Effect::Moved, "{text}: {change:?}");
        }
        found
    }

    #[test]
    fn what_the_clocks_do_is_described() {
        let (spring, autumn) = ("2026-03-29T02:30:00", "2026-10-25T02:30:00");
        for (text, zone, expected, why) in [
            (
                "30 2 * * *",
                "Europe/Berlin",
                &[(spring, Effect::Moved), (autumn, Effect::Once)][..],
                "a plain time happens once",
            ),
            (
                "*/30 2 * * *",
                "Europe/Berlin",
                &[
                    ("2026-03-29T02:00:00", Effect::Skipped),
                    ("2026-10-25T02:00:00", Effect::Twice),
                ],
                "an interval follows the clock",
            ),
            (
                "0 3 * * *",
                "Europe/Berlin",
                &[],
                "the end is not in the gap",
            ),
            ("30 2 * * 1", "Europe/Berlin", &[], "they change on Sundays"),
            (
                "*/5 * * * *",
                "Europe/Berlin",
                &[],
                "every hour: not worth a word",
            ),
            ("30 2 * * *", "Asia/Shanghai", &[], "no change"),
            ("30 2 * * *", "UTC", &[], "no change"),
            (
                "@10s",
                "Europe/Berlin",
                &[],
                "seconds do not look at the clock",
            ),
            (
                "15 2 * * *",
                "Australia/Lord_Howe",
                &[("2026-10-04T02:15:00", Effect::Moved)],
                "half an hour, in the other half of the year",
            ),
        ] {
            let found = changes(text, zone);
            let found: Vec<_> = found
                .iter()
                .map(|c| (c.local.to_string(), c.effect))
                .collect();
            let expected: Vec<_> = expected
                .iter()
                .map(|(at, e)| ((*at).to_owned(), *e))
                .collect();
            assert_eq!(found, expected, "{text} in {zone}: {why}");
        }
    }

    #[test]
    fn what_happens_twice_is_an_occurrence_in_both_passes() {
        let change = changes("*/30 2 * * *", "Europe/Berlin")[1];
        let zone = Zone::new(TimeZone::get("Europe/Berlin").unwrap());
        let table = Expression::parse("*/30 2 * * *", Mode::Strict)
            .unwrap()
            .compile("x");
        let first = change.at - SignedDuration::from_hours(1);
        assert!(table.matches(first, &zone) && table.matches(change.at, &zone));
    }
}
