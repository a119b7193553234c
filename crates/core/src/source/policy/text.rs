//! Policies as text: `adaptive`, `classic`, `miniflux`, `fixed:1h`, or a schedule expression.

use std::{fmt, str::FromStr};

use jiff::{SignedDuration, tz::TimeZone};

use super::{Policy, Written};
use crate::{
    lang::{Lang, Say},
    say,
    schedule::{self, Expression, Mode, Zone},
};

/// A text that names no policy.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{}", self.say(Lang::English))]
pub enum UnknownPolicy {
    /// `fixed:` is followed by something that is no length of time, or by none that passes.
    Interval(String),
    /// The expression names an unknown zone.
    Zone(String),
    /// It is none of the words, and no schedule either.
    Expression {
        text: String,
        /// Why it is no schedule.
        #[source]
        source: schedule::Error,
    },
}

impl Say for UnknownPolicy {
    fn say(&self, lang: Lang) -> String {
        match self {
            Self::Interval(it) => say!(lang;
                "`{it}` is not an interval; write it like fixed:30m, fixed:1h or fixed:2h30m",
                "`{it}` 不是间隔；请写成 fixed:30m、fixed:1h 或 fixed:2h30m 的形式"),
            Self::Zone(it) => say!(lang;
                "`{it}` is not a time zone; write it like Europe/Berlin",
                "`{it}` 不是时区；请写成 Europe/Berlin 的形式"),
            Self::Expression { text, .. } => say!(lang;
                "`{text}` is not a policy; write adaptive, classic, miniflux, fixed:1h or a schedule",
                "`{text}` 不是策略；请写 adaptive、classic、miniflux、fixed:1h 或一个日程"),
        }
    }
}

impl FromStr for Policy {
    type Err = UnknownPolicy;

    fn from_str(text: &str) -> Result<Self, UnknownPolicy> {
        let text = text.trim();
        match text {
            "adaptive" => return Ok(Self::Adaptive),
            "classic" => return Ok(Self::Classic),
            "miniflux" => return Ok(Self::Miniflux),
            _ => {}
        }
        match text.strip_prefix("fixed:") {
            Some(interval) => fixed(interval),
            None => written(text),
        }
    }
}

fn fixed(text: &str) -> Result<Policy, UnknownPolicy> {
    let interval: Option<SignedDuration> = text.trim().parse().ok();
    let interval = interval.filter(|interval| *interval >= SignedDuration::from_secs(1));
    let interval = interval.ok_or_else(|| UnknownPolicy::Interval(text.to_owned()))?;
    Ok(Policy::Fixed(interval))
}

/// A zone in front (`CRON_TZ=Europe/Berlin 0 8 * * *`) is what imports know, so it is read as they
/// are; without one the expression means UTC and is read strictly.
fn written(text: &str) -> Result<Policy, UnknownPolicy> {
    let mode = if text.starts_with("CRON_TZ=") {
        Mode::Import
    } else {
        Mode::Strict
    };
    let expression = Expression::parse(text, mode).map_err(|source| UnknownPolicy::Expression {
        text: text.to_owned(),
        source,
    })?;
    let name = expression.zone().unwrap_or("UTC");
    let zone = TimeZone::get(name).map_err(|_| UnknownPolicy::Zone(name.to_owned()))?;
    Ok(Policy::Schedule(Box::new(Written {
        text: text.to_owned(),
        timetable: expression.compile("source"),
        zone: Zone::new(zone),
    })))
}

impl fmt::Display for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Adaptive => f.write_str("adaptive"),
            Self::Classic => f.write_str("classic"),
            Self::Miniflux => f.write_str("miniflux"),
            Self::Fixed(interval) => write!(f, "fixed:{interval:#}").map(|()| ()),
            Self::Schedule(written) => f.write_str(&written.text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn policies_are_read_and_written() {
        for (text, written) in [
            ("adaptive", "adaptive"),
            (" classic ", "classic"),
            ("miniflux", "miniflux"),
            ("fixed:1h", "fixed:1h"),
            ("fixed:90m", "fixed:1h 30m"),
            ("0 8 * * 1-5", "0 8 * * 1-5"),
            ("@hourly", "@hourly"),
            (
                "CRON_TZ=Europe/Berlin 0 8 * * *",
                "CRON_TZ=Europe/Berlin 0 8 * * *",
            ),
        ] {
            let policy: Policy = text.parse().unwrap();
            assert_eq!(policy.to_string(), written, "{text}");
            assert_eq!(
                policy.to_string().parse::<Policy>().unwrap().to_string(),
                written
            );
        }
    }

    #[test]
    fn what_is_no_policy_is_refused_with_a_hint() {
        for (text, message) in [
            (
                "fixed:",
                "`` is not an interval; write it like fixed:30m, fixed:1h or fixed:2h30m",
            ),
            (
                "fixed:-1h",
                "`-1h` is not an interval; write it like fixed:30m, fixed:1h or fixed:2h30m",
            ),
            (
                "fixed:0s",
                "`0s` is not an interval; write it like fixed:30m, fixed:1h or fixed:2h30m",
            ),
            (
                "CRON_TZ=Mars/Base 0 8 * * *",
                "`Mars/Base` is not a time zone; write it like Europe/Berlin",
            ),
            (
                "clasic",
                "`clasic` is not a policy; write adaptive, classic, miniflux, fixed:1h or a schedule",
            ),
            (
                "",
                "`` is not a policy; write adaptive, classic, miniflux, fixed:1h or a schedule",
            ),
        ] {
            let refused = text.parse::<Policy>().unwrap_err();
            assert_eq!(refused.to_string(), message, "{text}");
        }
    }
}
