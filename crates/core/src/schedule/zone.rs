//! A time zone as a sorted list of spans with one offset each.
//!
//! Asking the zone database for every occurrence costs more than finding the occurrence. So a zone
//! is unrolled once, up to the last year schedules know, and shared by all schedules that use it: a
//! few kilobytes each. Which span an instant lies in is looked up by a coarse index over time and a
//! step or two from there. There is no hidden cache: the owner of the schedules keeps the zones.

use std::sync::Arc;

use jiff::{Timestamp, tz::TimeZone};

use super::{civil::DAY_S, search::END};

/// A time zone, unrolled.
#[derive(Debug, Clone)]
pub struct Zone {
    rules: TimeZone,
    spans: Arc<[Stretch]>,
    /// The span in which each period of 2^[`INDEX_SHIFT`] seconds begins.
    index: Arc<[u16]>,
}

/// A span of constant offset; it ends where the next one begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stretch {
    /// The first instant, in seconds of the epoch.
    pub(super) start: i64,
    /// What the wall clock shows beyond UTC, in seconds.
    pub(super) offset: i64,
    /// The instant after the last.
    pub(super) end: i64,
}

/// 97 days. Few zones change their clocks more than once in that time.
const INDEX_SHIFT: u32 = 23;
/// Wall clocks are at most this far from UTC; instants beyond it belong to no year we know.
const MARGIN_S: i64 = 2 * DAY_S;

impl Zone {
    /// Unrolls a zone.
    pub fn new(time_zone: TimeZone) -> Self {
        let spans = unroll(&time_zone);
        let index = index(&spans);
        Self {
            rules: time_zone,
            spans: spans.into(),
            index: index.into(),
        }
    }

    /// Coordinated Universal Time.
    pub fn utc() -> Self {
        Self::new(TimeZone::UTC)
    }

    /// The zone this was made from.
    pub fn time_zone(&self) -> &TimeZone {
        &self.rules
    }

    pub(super) fn spans(&self) -> &[Stretch] {
        &self.spans
    }

    /// The place of the span an instant lies in. What lies before the first counts as in it.
    #[inline]
    pub(super) fn place(&self, instant: i64) -> usize {
        if self.spans.len() == 1 {
            return 0;
        }
        let bucket = usize::try_from(instant.max(0) >> INDEX_SHIFT).unwrap_or(usize::MAX);
        let known = self.index.get(bucket).or(self.index.last());
        let mut place = usize::from(known.copied().unwrap_or(0));
        while let Some(span) = self.spans.get(place)
            && span.end <= instant
        {
            place += 1;
        }
        // The index knows nothing of the days before the epoch.
        while place > 0
            && self
                .spans
                .get(place)
                .is_none_or(|span| instant < span.start)
        {
            place -= 1;
        }
        place
    }
}

fn unroll(zone: &TimeZone) -> Vec<Stretch> {
    let begin = Timestamp::from_second(-MARGIN_S).unwrap_or(Timestamp::UNIX_EPOCH);
    let mut spans = vec![Stretch {
        start: i64::MIN,
        offset: zone.to_offset(begin).seconds().into(),
        end: i64::MAX,
    }];
    for change in zone.following(begin) {
        let start = change.timestamp().as_second();
        let offset = i64::from(change.offset().seconds());
        if start > END + MARGIN_S {
            break;
        }
        // Some changes only rename the zone's time.
        if let Some(before) = spans.last_mut().filter(|before| before.offset != offset) {
            before.end = start;
            spans.push(Stretch {
                start,
                offset,
                end: i64::MAX,
            });
        }
    }
    spans
}

fn index(spans: &[Stretch]) -> Vec<u16> {
    if spans.len() == 1 {
        return Vec::new();
    }
    let buckets = 0..=(END + MARGIN_S) >> INDEX_SHIFT;
    let places = buckets.map(|bucket| {
        let begin = bucket << INDEX_SHIFT;
        let place = spans.partition_point(|span| span.end <= begin);
        u16::try_from(place).unwrap_or(u16::MAX)
    });
    places.collect()
}

impl Stretch {
    /// What the wall clock shows at the first instant.
    #[inline]
    pub(super) fn local_start(self) -> i64 {
        self.start.saturating_add(self.offset)
    }

    /// What it would show at the instant after the last.
    #[inline]
    pub(super) fn local_end(self) -> i64 {
        self.end.saturating_add(self.offset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_instant_is_found_in_its_span_wherever_it_lies() {
        for name in [
            "Europe/Berlin",
            "Africa/Casablanca",
            "America/Caracas",
            "UTC",
            "Asia/Tokyo",
        ] {
            let zone = Zone::new(TimeZone::get(name).unwrap());
            let mut instant = -3 * DAY_S;
            while instant < END + 3 * DAY_S {
                let expected = zone.spans.partition_point(|span| span.end <= instant);
                assert_eq!(zone.place(instant), expected, "{name} at {instant}");
                instant += 40_000;
            }
            for (place, span) in zone.spans.iter().enumerate().skip(1) {
                assert_eq!(zone.place(span.start), place, "{name}");
                assert_eq!(zone.place(span.start - 1), place - 1, "{name}");
            }
        }
    }

    #[test]
    fn unrolling_agrees_with_the_zone_database() {
        let zone = Zone::new(TimeZone::get("Australia/Lord_Howe").unwrap());
        assert!(zone.spans.len() > 400, "{}", zone.spans.len());
        for span in zone.spans.iter().skip(1) {
            let at = Timestamp::from_second(span.start).unwrap();
            let offset = zone.time_zone().to_offset(at).seconds();
            assert_eq!(i64::from(offset), span.offset, "{at}");
        }
    }
}
