//! Instants in the reader's zone: in words, and as the ticks of an axis.
//!
//! Ticks are at round wall-clock times. A day with a clock change has 23 or 25 hours: an hour that
//! does not exist has no tick, and a repeated hour has two ticks if every hour has one, otherwise
//! one. Ticks are found by walking through instants and keeping those with a round wall-clock time:
//! walking along the wall clock would miss the second of two equal hours.

use jiff::civil;

use super::prelude::*;

const MINUTE: i64 = 60;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;
/// Clock changes and zone offsets are multiples of this.
const GRAIN: i64 = 15 * MINUTE;
/// Tick distances within a day, in seconds.
const WITHIN: [i64; 16] = [
    1, 2, 5, 10, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 10_800, 21_600, 43_200,
];
/// Tick distances in days; those of 7 and 14 start on Mondays. The last ones are for extremely long
/// windows.
const DAYS: [i64; 10] = [1, 2, 7, 14, 28, 91, 364, 3_640, 36_400, 364_000];

/// One named instant of an axis.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Tick {
    pub(crate) at: Timestamp,
    /// Its label.
    pub(crate) label: String,
    /// Whether a day starts here.
    pub(crate) midnight: bool,
}

/// The ticks of a window, at most as many as requested (plus one or two on a day with a repeated
/// hour).
pub(crate) fn ticks(
    from: Timestamp,
    until: Timestamp,
    zone: &TimeZone,
    lang: Lang,
    most: usize,
) -> Vec<Tick> {
    let window = until.duration_since(from).as_secs();
    let most = i64::try_from(most.max(1)).unwrap_or(i64::MAX);
    let fits = |step: &i64| window / step < most;
    let of_seconds = WITHIN.into_iter().find(fits);
    let of_days = DAYS.into_iter().find(|days| fits(&(days * DAY)));
    let (found, step) = match (of_seconds, of_days) {
        (Some(step), _) => (within(from, until, zone, step), step),
        (None, Some(step)) => (days(from, until, zone, step), DAY),
        // A window of more than all of history has no round times.
        (None, None) => (Vec::new(), DAY),
    };
    let ticks = found.into_iter().map(|at| tick(at, zone, lang, step));
    ticks.collect()
}

impl Tick {
    /// Its class in the style sheet.
    pub(crate) fn class(&self) -> &'static str {
        if self.midnight { "hour day" } else { "hour" }
    }
}

fn within(from: Timestamp, until: Timestamp, zone: &TimeZone, step: i64) -> Vec<Timestamp> {
    let mut found: Vec<(civil::DateTime, Timestamp)> = Vec::new();
    let mut next = Some(floor(from, zone, step.min(GRAIN)));
    while let Some(at) = next.filter(|at| *at <= until) {
        let local = zone.to_datetime(at);
        let again = step > HOUR && found.last().is_some_and(|(last, _)| *last == local);
        if at >= from && second_of_day(local) % step == 0 && !again {
            found.push((local, at));
        }
        next = at
            .checked_add(SignedDuration::from_secs(step.min(GRAIN)))
            .ok();
    }
    found.into_iter().map(|(_, at)| at).collect()
}

/// The last instant not after `at` at which the wall clock showed a multiple of `step`.
fn floor(at: Timestamp, zone: &TimeZone, step: i64) -> Timestamp {
    let over = second_of_day(zone.to_datetime(at)) % step;
    let whole = Timestamp::from_second(at.as_second()).unwrap_or(at);
    whole
        .checked_sub(SignedDuration::from_secs(over))
        .unwrap_or(at)
}

fn second_of_day(local: civil::DateTime) -> i64 {
    i64::from(local.hour()) * HOUR + i64::from(local.minute()) * MINUTE + i64::from(local.second())
}

fn days(from: Timestamp, until: Timestamp, zone: &TimeZone, step: i64) -> Vec<Timestamp> {
    // A Monday, so that weeks start on one.
    let monday = civil::date(1970, 1, 5);
    let first = zone.to_datetime(from).date();
    let gone = i64::from((first - monday).get_days());
    let mut found = Vec::new();
    let mut next = first
        .checked_sub(SignedDuration::from_hours(24 * gone.rem_euclid(step)))
        .ok();
    while let Some(at) = next.and_then(|date| zone.to_timestamp(date.at(0, 0, 0, 0)).ok()) {
        if at > until {
            break;
        }
        if at >= from {
            found.push(at);
        }
        let ahead = SignedDuration::from_secs(step.saturating_mul(DAY));
        next = next.and_then(|date| date.checked_add(ahead).ok());
    }
    found
}

fn tick(at: Timestamp, zone: &TimeZone, lang: Lang, step: i64) -> Tick {
    let local = zone.to_datetime(at);
    let midnight = second_of_day(local) == 0 || step >= DAY;
    let label = match step {
        _ if midnight => date(at, zone, lang),
        ..MINUTE => local.strftime("%H:%M:%S").to_string(),
        _ => time(at, zone),
    };
    Tick {
        at,
        label,
        midnight,
    }
}

/// `13:05`.
pub(crate) fn time(at: Timestamp, zone: &TimeZone) -> String {
    zone.to_datetime(at).strftime("%H:%M").to_string()
}

/// `5 Jan`.
pub(crate) fn date(at: Timestamp, zone: &TimeZone, lang: Lang) -> String {
    let format = lang.pick("%-d %b", "%-m月%-d日");
    zone.to_datetime(at).strftime(format).to_string()
}

/// `5 Jan, 13:05:09`; seconds only where there are some.
pub(crate) fn moment(at: Timestamp, zone: &TimeZone, lang: Lang) -> String {
    let local = zone.to_datetime(at);
    let format = match local.second() {
        0 => lang.pick("%-d %b, %H:%M", "%-m月%-d日 %H:%M"),
        _ => lang.pick("%-d %b, %H:%M:%S", "%-m月%-d日 %H:%M:%S"),
    };
    local.strftime(format).to_string()
}

/// The name of the zone.
pub(crate) fn zone_name(zone: &TimeZone) -> &str {
    zone.iana_name().unwrap_or("UTC")
}

#[cfg(test)]
mod tests;
