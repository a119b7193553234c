//! Why the next check is when it is, in a sentence a person understands.

use std::fmt;

use jiff::SignedDuration;

use super::{cadence::Cadence, classic::PublishHour};
use crate::{
    lang::{Lang, Say},
    say,
};

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

impl Say for Reason {
    fn say(&self, lang: Lang) -> String {
        match self {
            Self::Interval(wait) => {
                let wait = span(*wait, lang);
                say!(lang, "every {wait}", "每 {wait}一次")
            }
            Self::Cadence(cadence) => {
                let wait = span(cadence.interval().unwrap_or_default(), lang);
                say!(lang; "cadence {cadence}: about every {wait}", "检查频率 {cadence}：约每 {wait}一次")
            }
            Self::PublishHour(hour) => {
                let at = clock(hour.mean);
                say!(
                    lang,
                    "usually publishes around {at}",
                    "通常在 {at} 前后更新"
                )
            }
            Self::BeforePublishHour(hour) => {
                let at = clock(hour.mean);
                say!(lang;
                    "usually publishes around {at}, but its cadence requires an earlier check",
                    "通常在 {at} 前后更新，但按其检查频率需要更早检查")
            }
            Self::Schedule => say!(lang, "set by its schedule", "由其日程指定"),
            Self::ScheduleOver(wait) => {
                let wait = span(*wait, lang);
                say!(lang;
                    "its schedule has no further time, so it is checked every {wait}",
                    "其日程没有后续时间，因此每 {wait}检查一次")
            }
            Self::Expected(expected) => expected.say(lang),
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.say(Lang::English))
    }
}

impl Say for Expected {
    fn say(&self, lang: Lang) -> String {
        let rate = rate(self.per_day, lang);
        let basis = match self.basis {
            Basis::Nothing => {
                say!(lang; "no new entry to learn from yet", "还没有可供学习的新条目")
            }
            Basis::Published => say!(lang, "publishes {rate}", "{rate}"),
            Basis::FirstSeen => say!(lang;
                "publishes {rate} without times, by when they were first seen",
                "{rate}，没有发布时间，按首次出现的时间推算"),
        };
        let mostly = match (self.peak_hour, self.weekdays_only) {
            (Some(hour), true) => say!(lang;
                ", mostly on weekdays around {hour:02}:00 UTC", "，多在工作日 {hour:02}:00 UTC 前后"),
            (Some(hour), false) => say!(lang;
                ", mostly around {hour:02}:00 UTC", "，多在 {hour:02}:00 UTC 前后"),
            (None, true) => say!(lang, ", mostly on weekdays", "，多在工作日"),
            (None, false) => String::new(),
        };
        let bound = match self.bound {
            Some(Bound::Floor) => {
                lang.pick(", which is as soon as allowed", "，已是允许的最早时间")
            }
            Some(Bound::Ceiling) => {
                lang.pick(", which is as late as allowed", "，已是允许的最晚时间")
            }
            None => "",
        };
        let entries = entries(self.entries, lang);
        say!(lang;
            "{basis}{mostly}; {entries} expected before the check{bound}",
            "{basis}{mostly}；检查前预计有{entries}{bound}")
    }
}

/// A length of time in its largest fitting unit.
fn span(length: SignedDuration, lang: Lang) -> String {
    let s = length.as_secs();
    let (minutes, hours) = (s / 60, s / 3_600);
    match s {
        s if s >= 7_200 && s % 3_600 == 0 => say!(lang, "{hours} hours", "{hours} 小时"),
        3_600 => say!(lang, "hour", "小时"),
        60 => say!(lang, "minute", "分钟"),
        s if s >= 120 => say!(lang, "{minutes} minutes", "{minutes} 分钟"),
        s => say!(lang, "{s} seconds", "{s} 秒"),
    }
}

/// An hour of the day as a clock shows it.
fn clock(hour: f64) -> String {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "an hour of the day"
    )]
    let minutes = (hour * 60.0).round() as u32 % 1_440;
    format!("{:02}:{:02} UTC", minutes / 60, minutes % 60)
}

fn rate(day: f64, lang: Lang) -> String {
    let (week, month) = (day * 7.0, day * 30.0);
    match day {
        day if day >= 9.5 => say!(lang, "about {day:.0} entries a day", "每天约 {day:.0} 条"),
        day if day >= 0.95 => say!(lang, "about {day:.1} entries a day", "每天约 {day:.1} 条"),
        _ if week >= 0.95 => say!(
            lang,
            "about {week:.1} entries a week",
            "每周约 {week:.1} 条"
        ),
        _ if month >= 0.95 => say!(
            lang,
            "about {month:.1} entries a month",
            "每月约 {month:.1} 条"
        ),
        _ => say!(lang, "less than one entry a month", "每月不到一条"),
    }
}

fn entries(count: f64, lang: Lang) -> String {
    match count {
        n if n >= 0.95 => say!(lang, "{n:.1} entries", " {n:.1} 条"),
        n if n >= 0.0095 => say!(lang, "{n:.2} entries", " {n:.2} 条"),
        _ => say!(lang, "hardly any", "极少条目"),
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
