//! Days: which edition is today's, and which instants its stories are from.
//!
//! A day belongs to the edition's own zone, and is as long as that zone makes it: 23 or 25 hours
//! where clocks change, and beginning at one o'clock where midnight is skipped.

use jiff::{Timestamp, civil::Date, tz::TimeZone};

/// Earlier days are a mistake: there are no stories of them, and no clock of ours was there.
pub const FIRST_DAY: Date = jiff::civil::date(1970, 1, 1);

/// The day of an instant.
pub fn day_of(now: Timestamp, zone: &TimeZone) -> Date {
    zone.to_datetime(now).date()
}

/// The first instant of a day; the last representable one where the calendar ends.
pub fn start_of(date: Date, zone: &TimeZone) -> Timestamp {
    let midnight = date.to_zoned(zone.clone());
    midnight.map_or(Timestamp::MAX, |midnight| midnight.timestamp())
}

/// The day before a day, as instants: from the first to the first that is no longer part of it. An
/// edition covers the day before its own (FACTS §1.4).
pub fn day_before(date: Date, zone: &TimeZone) -> (Timestamp, Timestamp) {
    let before = date.yesterday().unwrap_or(date);
    (start_of(before, zone), start_of(date, zone))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn zone(name: &str) -> TimeZone {
        TimeZone::get(name).unwrap()
    }

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    #[test]
    fn ed_20_the_day_changes_at_the_editions_own_midnight() {
        for (name, now, day) in [
            ("UTC", "2026-01-04T23:59:59.999999Z", "2026-01-04"),
            ("UTC", "2026-01-05T00:00:00Z", "2026-01-05"),
            ("Asia/Shanghai", "2026-01-04T15:59:59Z", "2026-01-04"),
            ("Asia/Shanghai", "2026-01-04T16:00:00Z", "2026-01-05"),
            ("America/New_York", "2026-01-05T04:59:59Z", "2026-01-04"),
            // In Samoa the 30th of December 2011 did not exist.
            ("Pacific/Apia", "2011-12-30T10:00:00Z", "2011-12-31"),
        ] {
            let expected: Date = day.parse().unwrap();
            assert_eq!(day_of(at(now), &zone(name)), expected, "{now} in {name}");
        }
    }

    #[test]
    fn a_day_is_as_long_as_its_zone_makes_it() {
        for (name, date, hours) in [
            ("UTC", "2026-03-09", 24),
            // Clocks went forward on the 8th of March, and back on the 1st of November.
            ("America/New_York", "2026-03-09", 23),
            ("America/New_York", "2026-11-02", 25),
            // Midnight itself is skipped: the day begins at one o'clock.
            ("America/Santiago", "2026-09-07", 23),
        ] {
            let (start, end) = day_before(date.parse().unwrap(), &zone(name));
            assert_eq!(
                end.duration_since(start).as_hours(),
                hours,
                "{date} in {name}"
            );
            assert_eq!(day_of(end, &zone(name)), date.parse().unwrap());
            let last = end
                .checked_sub(jiff::SignedDuration::from_micros(1))
                .unwrap();
            assert_eq!(day_of(last, &zone(name)), day_of(start, &zone(name)));
        }
    }
}
