//! A wall-clock time in a zone, which is one instant, or none, or two.
//!
//! Some wall-clock times do not exist when clocks go forward, and some exist twice when they go
//! back. A scheduler for programs picks one by a written rule; a person can be asked, so here both
//! instants are offered.

use almanack_core::time::to_micros;
use jiff::civil::DateTime;
use jiff::tz::{AmbiguousOffset, Offset};

use super::viewer::parse_zone;
use crate::ui::prelude::*;

/// The meaning of a wall-clock time in a zone.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Moment {
    One(Timestamp),
    /// The clock skips it: the two likely instants, the earlier first.
    Skipped([Timestamp; 2]),
    /// The clock shows it twice: both instants, the earlier first.
    Twice([Timestamp; 2]),
}

/// Why a wall-clock time cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unreadable {
    /// Not a date and a time.
    Time,
    /// Not a known zone.
    Zone,
    /// Outside the supported range.
    Year,
}

impl Unreadable {
    pub(crate) fn both(self) -> Sentence {
        let [english, chinese] = Lang::ALL.map(|lang| self.words(lang));
        Sentence::new(english, chinese)
    }

    pub(crate) fn words(self, lang: Lang) -> &'static str {
        words! { lang, self;
            Self::Time => "Enter a date and a time.", "请填写日期和时间。";
            Self::Zone => "Unknown time zone; use an IANA name such as Europe/Berlin or UTC.",
                "未知时区；请使用 IANA 名称，例如 Asia/Shanghai 或 UTC。";
            Self::Year => "This year is out of range.", "年份超出范围。";
        }
    }
}

/// Parses a wall-clock time as a browser sends it (`2026-01-05T08:00` or with seconds), and the
/// name of its zone.
pub(crate) fn read(clock: &str, zone: &str) -> Result<(Moment, TimeZone), Unreadable> {
    let zone = parse_zone(zone.trim()).ok_or(Unreadable::Zone)?;
    let plain = |c: char| c.is_ascii_digit() || "-T:. ".contains(c);
    let clock = clock.trim();
    let shaped = clock.starts_with(|c: char| c.is_ascii_digit()) && clock.contains([':']);
    let clock = Some(clock).filter(|text| shaped && text.chars().all(plain));
    let clock: DateTime = clock
        .and_then(|text| text.parse().ok())
        .ok_or(Unreadable::Time)?;
    let moment = mean(clock, &zone).ok_or(Unreadable::Year)?;
    Ok((moment, zone))
}

/// Every instant that such a time may mean.
pub(crate) fn instants(clock: &str, zone: &str) -> Vec<Timestamp> {
    match read(clock, zone) {
        Ok((Moment::One(at), _)) => vec![at],
        Ok((Moment::Skipped(both) | Moment::Twice(both), _)) => both.to_vec(),
        Err(_) => Vec::new(),
    }
}

/// The one instant of a wall-clock time in the field `field`, whose zone is in the field `zone`.
pub(crate) fn one(field: &str, clock: &str, zone: &str) -> Result<Timestamp, Fault> {
    match read(clock, zone) {
        Ok((Moment::One(at), _)) => Ok(at),
        Ok((Moment::Skipped(_) | Moment::Twice(_), _)) => Err(Fault::at(
            field,
            both!(
                "The clocks change at this time. Choose a slightly earlier or later time.",
                "该时间正值时钟调整，请选择稍早或稍晚的时间。"
            ),
        )),
        Err(unreadable) => {
            let field = if unreadable == Unreadable::Zone {
                "zone"
            } else {
                field
            };
            Err(Fault::at(field, unreadable.both()))
        }
    }
}

fn mean(clock: DateTime, zone: &TimeZone) -> Option<Moment> {
    let at = |offset: Offset| offset.to_timestamp(clock).ok().map(to_micros);
    let both = |a: Offset, b: Offset| {
        let (a, b) = (at(a)?, at(b)?);
        Some([a.min(b), a.max(b)])
    };
    match zone.to_ambiguous_timestamp(clock).offset() {
        AmbiguousOffset::Unambiguous { offset } => at(offset).map(Moment::One),
        AmbiguousOffset::Gap { before, after } => both(before, after).map(Moment::Skipped),
        AmbiguousOffset::Fold { before, after } => both(before, after).map(Moment::Twice),
    }
}

/// An instant as the value of a form field: the wall-clock time in a zone, to the second.
pub(crate) fn write(at: Timestamp, zone: &TimeZone) -> String {
    let local = zone.to_datetime(at);
    local.strftime("%Y-%m-%dT%H:%M:%S").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    #[test]
    fn a_wall_clock_is_one_instant_none_or_two() {
        for (clock, zone, expected) in [
            (
                "2026-01-05T08:00",
                "UTC",
                Moment::One(at("2026-01-05T08:00:00Z")),
            ),
            (
                "2026-01-05T08:00:30",
                "Asia/Shanghai",
                Moment::One(at("2026-01-05T00:00:30Z")),
            ),
            (
                " 2026-01-05 08:00 ",
                "Europe/Berlin",
                Moment::One(at("2026-01-05T07:00:00Z")),
            ),
            (
                "2026-03-29T02:30",
                "Europe/Berlin",
                Moment::Skipped([at("2026-03-29T00:30:00Z"), at("2026-03-29T01:30:00Z")]),
            ),
            (
                "2026-10-25T02:30",
                "Europe/Berlin",
                Moment::Twice([at("2026-10-25T00:30:00Z"), at("2026-10-25T01:30:00Z")]),
            ),
            (
                "2026-10-04T02:15",
                "Australia/Lord_Howe",
                Moment::Skipped([at("2026-10-03T15:15:00Z"), at("2026-10-03T15:45:00Z")]),
            ),
        ] {
            let (moment, _) = read(clock, zone).unwrap();
            assert_eq!(moment, expected, "{clock} {zone}");
        }
    }

    #[test]
    fn what_is_no_wall_clock_is_refused() {
        for (clock, zone, why) in [
            ("", "UTC", Unreadable::Time),
            ("tomorrow", "UTC", Unreadable::Time),
            ("2026-01-05", "UTC", Unreadable::Time),
            ("2026-02-30T08:00", "UTC", Unreadable::Time),
            ("2026-01-05T08:00Z", "UTC", Unreadable::Time),
            ("-000001-01-05T08:00", "UTC", Unreadable::Time),
            ("2026-01-05T08:00", "Mars/Olympus", Unreadable::Zone),
            ("2026-01-05T08:00", "", Unreadable::Zone),
            ("9999-12-31T23:59:59", "America/New_York", Unreadable::Year),
        ] {
            assert_eq!(read(clock, zone).unwrap_err(), why, "{clock} {zone}");
        }
    }

    #[test]
    fn what_is_written_reads_as_the_same_second() {
        let zone = TimeZone::get("Asia/Kolkata").unwrap();
        let instant = at("2026-01-05T08:00:07.5Z");
        assert_eq!(write(instant, &zone), "2026-01-05T13:30:07");
        let (moment, _) = read(&write(instant, &zone), "Asia/Kolkata").unwrap();
        assert_eq!(moment, Moment::One(at("2026-01-05T08:00:07Z")));
    }
}
