//! Quiet hours: when only urgent alerts are sent.
//!
//! They are wall time in their own zone, and may pass midnight. Where clocks change they begin and
//! end when the clock on the wall says so; an end that the clock skips is the first instant after
//! the gap, and one that it shows twice ends them twice.

use jiff::{
    SignedDuration, Timestamp,
    civil::{Date, Time},
    tz::{AmbiguousOffset, TimeZone},
};

use super::Severity;

/// Days looked ahead for an end: one would do, the second bears with any change of clocks.
const DAYS_AHEAD: i64 = 2;

/// From when to when, every day.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quiet {
    /// The first quiet minute.
    pub from: Time,
    /// The first that is not; the next day's where it is not after `from`.
    pub until: Time,
    pub zone: TimeZone,
    /// What is sent anyway: this severity and above. Nothing where there is none.
    pub except: Option<Severity>,
}

impl Quiet {
    /// When an alert of this severity may be sent: now, or when the quiet hours end.
    pub fn notify_at(&self, severity: Severity, now: Timestamp) -> Timestamp {
        let breaks_through = self.except.is_some_and(|except| severity >= except);
        if breaks_through || !self.covers(now) {
            return now;
        }
        self.end_after(now)
    }

    fn covers(&self, now: Timestamp) -> bool {
        let time = self.zone.to_datetime(now).time();
        if self.from <= self.until {
            self.from <= time && time < self.until
        } else {
            time >= self.from || time < self.until
        }
    }

    /// The first end after `now`. INVARIANT: later than `now`, or what waits for it would be sent
    /// at once, over and over.
    fn end_after(&self, now: Timestamp) -> Timestamp {
        let today = self.zone.to_datetime(now).date();
        let days = (0..=DAYS_AHEAD).filter_map(|days| {
            let hours = SignedDuration::from_hours(24 * days);
            today.checked_add(hours).ok()
        });
        let ends = days.flat_map(|day| self.ends_on(day));
        let fallback = now.saturating_add(SignedDuration::from_hours(1));
        let fallback = fallback.unwrap_or(now);
        // Where a change of the clocks skips all that is not quiet, that day has no end.
        let mut ends = ends.filter(|end| *end > now && !self.covers(*end));
        ends.next().unwrap_or(fallback)
    }

    /// When the clock on the wall shows the end on that day: twice where the hour is repeated, the
    /// same twice where it is not.
    fn ends_on(&self, day: Date) -> impl Iterator<Item = Timestamp> {
        let shown = self
            .zone
            .to_ambiguous_timestamp(day.to_datetime(self.until));
        let skipped = matches!(shown.offset(), AmbiguousOffset::Gap { .. });
        let both = [shown.earlier(), shown.later()];
        both.into_iter()
            .filter_map(move |end| {
                let end = end.ok()?;
                // The earlier one lies before the gap.
                let gap = || self.zone.following(end).next();
                let after = skipped.then(gap).flatten().map(|gap| gap.timestamp());
                Some(after.unwrap_or(end))
            })
            .take(if skipped { 1 } else { 2 })
    }
}

#[cfg(test)]
mod tests {
    use jiff::civil::time;
    use proptest::prelude::*;

    use super::*;

    fn quiet(from: Time, until: Time, zone: &str) -> Quiet {
        Quiet {
            from,
            until,
            zone: TimeZone::get(zone).unwrap(),
            except: Some(Severity::Critical),
        }
    }

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    #[test]
    fn what_can_wait_waits_for_the_end() {
        let night = quiet(time(22, 0, 0, 0), time(7, 0, 0, 0), "Europe/Berlin");
        let noon = quiet(time(12, 0, 0, 0), time(13, 30, 0, 0), "UTC");
        for (hours, now, sent_at, why) in [
            (&night, "2026-01-05T20:59:59Z", None, "21:59 on the wall"),
            (
                &night,
                "2026-01-05T21:00:00Z",
                Some("2026-01-06T06:00:00Z"),
                "22:00",
            ),
            (
                &night,
                "2026-01-06T05:59:59Z",
                Some("2026-01-06T06:00:00Z"),
                "06:59",
            ),
            (&night, "2026-01-06T06:00:00Z", None, "07:00"),
            (
                &night,
                "2026-03-28T23:00:00Z",
                Some("2026-03-29T05:00:00Z"),
                "clocks go forward",
            ),
            (
                &night,
                "2026-10-24T21:00:00Z",
                Some("2026-10-25T06:00:00Z"),
                "and back",
            ),
            (
                &noon,
                "2026-01-05T12:00:00Z",
                Some("2026-01-05T13:30:00Z"),
                "within a day",
            ),
            (
                &noon,
                "2026-01-05T23:00:00Z",
                None,
                "no quiet hours at night",
            ),
        ] {
            let expected = sent_at.map_or(at(now), at);
            assert_eq!(
                hours.notify_at(Severity::Warning, at(now)),
                expected,
                "{why}"
            );
            assert_eq!(
                hours.notify_at(Severity::Critical, at(now)),
                at(now),
                "{why}"
            );
        }
    }

    #[test]
    fn an_end_that_the_clock_shows_twice_ends_it_twice() {
        // Clocks go back from 03:00 to 02:00 at 01:00 UTC.
        let night = quiet(time(22, 0, 0, 0), time(2, 30, 0, 0), "Europe/Berlin");
        for (now, sent_at) in [
            ("2026-10-24T22:00:00Z", "2026-10-25T00:30:00Z"),
            ("2026-10-25T00:45:00Z", "2026-10-25T00:45:00Z"),
            ("2026-10-25T01:15:00Z", "2026-10-25T01:30:00Z"),
        ] {
            let found = night.notify_at(Severity::Warning, at(now));
            assert_eq!(found, at(sent_at), "{now}");
        }
    }

    #[test]
    fn a_day_without_the_hour_that_is_not_quiet_is_quiet_throughout() {
        // Clocks go from 02:00 to 03:00 at 07:00 UTC.
        let day = quiet(time(3, 0, 0, 0), time(2, 30, 0, 0), "America/New_York");
        let sent_at = day.notify_at(Severity::Warning, at("2026-03-08T06:59:59Z"));
        assert_eq!(sent_at, at("2026-03-09T06:30:00Z"));
    }

    #[test]
    fn nothing_breaks_through_where_nothing_may() {
        let mute = Quiet {
            except: None,
            ..quiet(time(22, 0, 0, 0), time(7, 0, 0, 0), "UTC")
        };
        let sent_at = mute.notify_at(Severity::Critical, at("2026-01-05T23:00:00Z"));
        assert_eq!(sent_at, at("2026-01-06T07:00:00Z"));
    }

    /// Any, and more often one of a day on which clocks change.
    fn moment() -> impl Strategy<Value = i64> {
        let new_york = [1_772_953_200, 1_793_512_800];
        let lord_howe = [1_775_314_800, 1_791_041_400];
        let changes = prop::sample::select([new_york, lord_howe].concat());
        let near = (changes, -86_400_i64..86_400).prop_map(|(change, apart)| change + apart);
        prop_oneof![near, 1_700_000_000_i64..1_900_000_000]
    }

    proptest! {
        #[test]
        fn what_waits_is_reported_at_the_first_moment_outside_the_quiet_hours(
            from in 0_i8..24, until in 0_i8..24, second in moment(),
            zone in prop::sample::select(vec!["UTC", "America/New_York", "Asia/Shanghai", "Australia/Lord_Howe"]),
        ) {
            let hours = quiet(time(from, 0, 0, 0), time(until, 30, 0, 0), zone);
            let now = Timestamp::from_second(second).unwrap();
            let sent_at = hours.notify_at(Severity::Warning, now);
            prop_assert!(sent_at >= now);
            // A day, and another one where the clocks skip the hours that are not quiet.
            prop_assert!(sent_at <= now + SignedDuration::from_hours(50));
            prop_assert!(!hours.covers(sent_at));
            // The first instant at which it may be sent: a minute before, it is quiet.
            let minutes = (sent_at.as_second() - now.as_second()) / 60;
            for minute in 0..minutes {
                let meanwhile = now + SignedDuration::from_mins(minute);
                prop_assert!(hours.covers(meanwhile), "{meanwhile} was not quiet, and it was sent at {sent_at}");
            }
        }
    }
}
