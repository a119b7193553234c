//! When ticks come, and the time zone of the days of editions (ED-01, ED-19).

use almanack_core::{
    edition::{EDITION_TICK, EditionName, rules::INTERVAL_MIN_ADVISED, tick_subject},
    plan::{Definition, Ready, ScheduleName, Unfit},
    target::Target,
};
use almanack_engine::{schedules::Wanted, zones::Zones};
use jiff::{Timestamp, tz::TimeZone};

use super::{
    super::{super::schedule::fault, prelude::*},
    EditionKeys, key,
};

/// Name of the schedule of the ticks.
pub(crate) const SCHEDULE: &str = "edition";
/// Minutes between two ticks by default.
pub(super) const INTERVAL_MINUTES: u32 = 10;
const HOUR_MINUTES: u32 = 60;
pub(super) const DAY_MINUTES: u32 = 24 * HOUR_MINUTES;

/// When ticks come.
#[derive(Debug, Clone)]
pub(crate) struct Ticks {
    /// The schedule; none if it is invalid, which was reported.
    pub(crate) wanted: Option<Wanted>,
    /// The time zone of days.
    pub(crate) days: TimeZone,
    /// The time between two ticks.
    pub(crate) interval: SignedDuration,
}

impl Ticks {
    pub(super) fn of(reader: &mut Reader<'_>, read: &EditionKeys, edition: EditionName) -> Self {
        let (tz, every) = (
            &read.tz,
            SignedDuration::from_mins(i64::from(read.interval_minutes)),
        );
        let schedule = key("schedule");
        let is_set = reader.layer.contains_key(&schedule);
        match ready(edition, &read.schedule, tz) {
            Ok((name, ready)) => {
                let interval = gap(&ready).filter(|_| is_set).unwrap_or(every);
                let path = if is_set {
                    schedule
                } else {
                    key("interval_minutes")
                };
                warn(reader, &path, interval);
                Self {
                    days: TimeZone::get(tz).unwrap_or(TimeZone::UTC),
                    wanted: Some(Wanted {
                        name,
                        definition: ready.definition,
                    }),
                    interval,
                }
            }
            Err(unfit) => {
                complain(reader, &unfit);
                Self {
                    wanted: None,
                    days: TimeZone::UTC,
                    interval: every,
                }
            }
        }
    }
}

/// The schedule of one tick every so many minutes: aligned to the clock if they divide an hour or a
/// day, otherwise a plain interval.
pub(super) fn expression_of(minutes: u32) -> String {
    match minutes {
        1..HOUR_MINUTES if HOUR_MINUTES.is_multiple_of(minutes) => format!("*/{minutes} * * * *"),
        HOUR_MINUTES => "0 * * * *".to_owned(),
        DAY_MINUTES => "0 0 * * *".to_owned(),
        _ if minutes.is_multiple_of(HOUR_MINUTES) && DAY_MINUTES.is_multiple_of(minutes) => {
            format!("0 */{} * * *", minutes / HOUR_MINUTES)
        }
        _ => format!("@every {minutes}m"),
    }
}

/// Name of the schedule of an edition's ticks.
pub(crate) fn schedule_of(edition: EditionName) -> String {
    if edition.is_default() {
        SCHEDULE.to_owned()
    } else {
        format!("{SCHEDULE}-{edition}")
    }
}

fn ready(edition: EditionName, expression: &str, tz: &str) -> Result<(ScheduleName, Ready), Unfit> {
    let name = ScheduleName::parse(&schedule_of(edition))?;
    let target = Target::Task {
        kind: EDITION_TICK.to_owned(),
        subject: tick_subject(edition),
        payload: None,
    };
    let definition = Definition {
        tz: tz.to_owned(),
        ..Definition::new(expression, target)
    };
    let ready = Zones::default().ready(&name, definition)?;
    Ok((name, ready))
}

/// The gap between two slots.
fn gap(ready: &Ready) -> Option<SignedDuration> {
    let first = ready.next_after(Timestamp::UNIX_EPOCH)?;
    let second = ready.next_after(first)?;
    Some(second.duration_since(first))
}

/// ED-19
fn warn(reader: &mut Reader<'_>, path: &KeyPath, interval: SignedDuration) {
    let advised = SignedDuration::from_mins(i64::from(INTERVAL_MIN_ADVISED));
    if interval >= advised {
        return;
    }
    let every = crate::when::show_duration(interval);
    let what = format!("{path}: a tick every {every} uses up quotas quickly");
    let hint = format!("recommended: at least {INTERVAL_MIN_ADVISED} minutes");
    reader.warn(what, path.clone(), hint);
}

fn complain(reader: &mut Reader<'_>, unfit: &Unfit) {
    let name = if unfit.path() == "tz" {
        "tz"
    } else {
        "schedule"
    };
    reader.complain::<()>(&key(name), fault::problem(unfit));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ed_19_an_interval_becomes_a_schedule() {
        for (minutes, expression) in [
            (10, "*/10 * * * *"),
            (5, "*/5 * * * *"),
            (1, "*/1 * * * *"),
            (60, "0 * * * *"),
            (120, "0 */2 * * *"),
            (1_440, "0 0 * * *"),
            // `*/45` would come after 45 minutes and then after 15.
            (45, "@every 45m"),
            (300, "@every 300m"),
        ] {
            assert_eq!(expression_of(minutes), expression, "{minutes}");
            let (_, ready) = ready(EditionName::default(), expression, "UTC").unwrap();
            let every = SignedDuration::from_mins(i64::from(minutes));
            assert_eq!(gap(&ready), Some(every), "{minutes}");
        }
    }
}
