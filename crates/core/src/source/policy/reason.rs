//! Why the next check is when it is, in a sentence a person understands.

use std::fmt;

use jiff::SignedDuration;

use super::{cadence::Cadence, classic::PublishHour};

/// What decided.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Reason {
    Interval(SignedDuration),
    /// The base interval of a cadence, scattered a little.
    Cadence(Cadence),
    /// The source usually publishes at about this hour.
    PublishHour(PublishHour),
    /// It usually does, but that is too far ahead for its cadence.
    BeforePublishHour(PublishHour),
    /// An occurrence of the configured schedule.
    Schedule,
    /// The schedule has no further occurrence, so the fixed interval takes over.
    ScheduleOver(SignedDuration),
    /// The adaptive policy: what it expects pays for a check.
    Expected(Expected),
}

/// Which times something was learned from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Basis {
    /// None: the source has shown nothing to learn from yet.
    Nothing,
    /// Those that the publisher gave.
    Published,
    /// Those at which entries without times were first seen.
    FirstSeen,
}

/// What the adaptive policy expects at the time it chose.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Expected {
    /// What it goes by.
    pub basis: Basis,
    /// Entries expected until the check.
    pub entries: f64,
    /// Entries that the source publishes on an average day lately.
    pub per_day: f64,
    /// The busiest hour of the source's day, UTC, if it stands out.
    pub peak_hour: Option<u8>,
    /// Whether it keeps to Monday to Friday.
    pub weekdays_only: bool,
    /// What the time was bounded by, if the expectation alone would have chosen another.
    pub bound: Option<Bound>,
}

/// A limit that decided instead of the expectation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bound {
    /// The shortest gap allowed.
    Floor,
    /// The longest gap allowed.
    Ceiling,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Interval(wait) => write!(f, "every {}", Span(*wait)),
            Self::Cadence(cadence) => {
                let wait = cadence.interval().unwrap_or_default();
                write!(f, "cadence {cadence}: about every {}", Span(wait))
            }
            Self::PublishHour(hour) => write!(f, "usually publishes around {}", Clock(hour.mean)),
            Self::BeforePublishHour(hour) => write!(
                f,
                "usually publishes around {}, but its cadence requires an earlier check",
                Clock(hour.mean)
            ),
            Self::Schedule => f.write_str("set by its schedule"),
            Self::ScheduleOver(wait) => write!(
                f,
                "its schedule has no further time, so it is checked every {}",
                Span(*wait)
            ),
            Self::Expected(expected) => expected.fmt(f),
        }
    }
}

impl fmt::Display for Expected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.basis {
            Basis::Nothing => f.write_str("no new entry to learn from yet")?,
            Basis::Published => write!(f, "publishes {}", Rate(self.per_day))?,
            Basis::FirstSeen => {
                let rate = Rate(self.per_day);
                write!(
                    f,
                    "publishes {rate} without times, by when they were first seen"
                )?;
            }
        }
        match (self.peak_hour, self.weekdays_only) {
            (Some(hour), true) => write!(f, ", mostly on weekdays around {hour:02}:00 UTC")?,
            (Some(hour), false) => write!(f, ", mostly around {hour:02}:00 UTC")?,
            (None, true) => f.write_str(", mostly on weekdays")?,
            (None, false) => {}
        }
        write!(f, "; {} expected before the check", Entries(self.entries))?;
        match self.bound {
            Some(Bound::Floor) => f.write_str(", which is as soon as allowed"),
            Some(Bound::Ceiling) => f.write_str(", which is as late as allowed"),
            None => Ok(()),
        }
    }
}

/// A length of time in its largest fitting unit.
struct Span(SignedDuration);

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.as_secs() {
            s if s >= 7_200 && s % 3_600 == 0 => write!(f, "{} hours", s / 3_600),
            3_600 => f.write_str("hour"),
            60 => f.write_str("minute"),
            s if s >= 120 => write!(f, "{} minutes", s / 60),
            s => write!(f, "{s} seconds"),
        }
    }
}

/// An hour of the day as a clock shows it.
struct Clock(f64);

impl fmt::Display for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "an hour of the day"
        )]
        let minutes = (self.0 * 60.0).round() as u32 % 1_440;
        write!(f, "{:02}:{:02} UTC", minutes / 60, minutes % 60)
    }
}

struct Rate(f64);

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            day if day >= 9.5 => write!(f, "about {day:.0} entries a day"),
            day if day >= 0.95 => write!(f, "about {day:.1} entries a day"),
            day if day * 7.0 >= 0.95 => write!(f, "about {:.1} entries a week", day * 7.0),
            day if day * 30.0 >= 0.95 => write!(f, "about {:.1} entries a month", day * 30.0),
            _ => f.write_str("less than one entry a month"),
        }
    }
}

struct Entries(f64);

impl fmt::Display for Entries {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            n if n >= 0.95 => write!(f, "{n:.1} entries"),
            n if n >= 0.0095 => write!(f, "{n:.2} entries"),
            _ => f.write_str("hardly any"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_sentences() {
        let hour = PublishHour {
            mean: 8.166_7,
            spread: 1.0,
            is_pattern: true,
        };
        let expected = Expected {
            basis: Basis::Published,
            entries: 0.314,
            per_day: 2.13,
            peak_hour: Some(8),
            weekdays_only: true,
            bound: None,
        };
        for (reason, sentence) in [
            (
                Reason::Interval(SignedDuration::from_hours(1)),
                "every hour",
            ),
            (
                Reason::Interval(SignedDuration::from_mins(90)),
                "every 90 minutes",
            ),
            (
                Reason::Cadence(Cadence::P4),
                "cadence P4: about every 4 hours",
            ),
            (
                Reason::PublishHour(hour),
                "usually publishes around 08:10 UTC",
            ),
            (
                Reason::Expected(expected),
                "publishes about 2.1 entries a day, mostly on weekdays around 08:00 UTC; \
                 0.31 entries expected before the check",
            ),
            (
                Reason::Expected(Expected {
                    basis: Basis::FirstSeen,
                    peak_hour: None,
                    ..expected
                }),
                "publishes about 2.1 entries a day without times, by when they were first seen, \
                 mostly on weekdays; 0.31 entries expected before the check",
            ),
            (
                Reason::Expected(Expected {
                    basis: Basis::Nothing,
                    peak_hour: None,
                    weekdays_only: false,
                    ..expected
                }),
                "no new entry to learn from yet; 0.31 entries expected before the check",
            ),
            (
                Reason::Expected(Expected {
                    basis: Basis::Published,
                    entries: 0.0,
                    per_day: 0.04,
                    peak_hour: None,
                    weekdays_only: false,
                    bound: Some(Bound::Ceiling),
                }),
                "publishes about 1.2 entries a month; hardly any expected before the check, \
                 which is as late as allowed",
            ),
        ] {
            assert_eq!(reason.to_string(), sentence);
        }
    }
}
