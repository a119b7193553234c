//! The next and the previous occurrence in a zone: where wall clock and instants meet.
//!
//! Each span of a zone shows a stretch of the wall clock, from `local_start` to before `local_end`.
//! If a span begins later on the wall clock than the one before it ended, the clocks skip a *gap*;
//! if it begins earlier, they show an *overlap* twice. A search runs along the wall clock of one
//! span; only when what it finds lies beyond the span's end does the rule for changes matter.

use jiff::Timestamp;

use super::{
    expression::Every,
    search::{END, NEVER, NEVER_BEFORE},
    timetable::{Pace, Plan, Table, Timetable},
    zone::{Stretch, Zone},
};

/// A larger jump is not daylight saving: a zone has changed sides of the date line.
pub(super) const GAP_MAX_S: i64 = 3 * 3_600;

impl Timetable {
    /// The first occurrence strictly after an instant, or none before the year 2200.
    #[inline]
    pub fn next_after(&self, at: Timestamp, zone: &Zone) -> Option<Timestamp> {
        let second = floor(at);
        let next = match &self.plan {
            Plan::Every(every) => every.next(second),
            Plan::Table(table) => match table.pace {
                Pace::Fixed => table.next_fixed(second, zone),
                Pace::Interval => table.next_interval(second, zone),
            },
        };
        next.and_then(|second| Timestamp::from_second(second).ok())
    }

    /// The last occurrence strictly before an instant, or none since 1970.
    pub fn previous_before(&self, at: Timestamp, zone: &Zone) -> Option<Timestamp> {
        // The last whole second before the instant.
        let second = floor(at) - i64::from(at.subsec_nanosecond() == 0);
        let previous = match &self.plan {
            Plan::Every(every) => every.previous(second),
            Plan::Table(table) => match table.pace {
                Pace::Fixed => table.previous_fixed(second, zone),
                Pace::Interval => table.previous_interval(second, zone),
            },
        };
        previous.and_then(|second| Timestamp::from_second(second).ok())
    }

    /// Whether an instant is an occurrence.
    pub fn matches(&self, at: Timestamp, zone: &Zone) -> bool {
        let before = Timestamp::from_second(floor(at) - 1);
        before.is_ok_and(|before| self.next_after(before, zone) == Some(at))
    }

    /// Whether no date of the supported years fits, like the 30th of February.
    pub fn never_fires(&self) -> bool {
        match &self.plan {
            Plan::Every(_) => false,
            Plan::Table(table) => table.at_or_after(0) == NEVER,
        }
    }
}

/// The whole second at or before an instant.
#[inline]
fn floor(at: Timestamp) -> i64 {
    // jiff rounds towards zero, so before the epoch a fraction is negative.
    at.as_second() - i64::from(at.subsec_nanosecond() < 0)
}

impl Every {
    #[inline]
    fn next(self, second: i64) -> Option<i64> {
        let (period, phase) = (i64::from(self.period_s), i64::from(self.phase_s));
        let slot = (second - phase).div_euclid(period) + 1;
        let next = (slot * period + phase).max(phase);
        (next < END).then_some(next)
    }

    fn previous(self, second: i64) -> Option<i64> {
        let (period, phase) = (i64::from(self.period_s), i64::from(self.phase_s));
        let slot = (second.min(END - 1) - phase).div_euclid(period);
        (slot >= 0).then_some(slot * period + phase)
    }
}

impl Table {
    /// A time that falls into a gap is due at its end; of an overlap only the first pass counts.
    #[inline]
    fn next_fixed(&self, second: i64, zone: &Zone) -> Option<i64> {
        let spans = zone.spans();
        let mut place = zone.place(second);
        let mut span = *spans.get(place)?;
        let shown = second.saturating_add(span.offset).saturating_add(1);
        // What the previous span has shown already has had its turn.
        let seen = before(spans, place).map_or(i64::MIN, Stretch::local_end);
        let mut found = self.at_or_after(shown.max(seen));
        while found >= span.local_end() {
            let ended = span.local_end();
            place += 1;
            span = *spans.get(place)?;
            let begins = span.local_start();
            if found < begins {
                if begins - ended <= GAP_MAX_S {
                    return Some(span.start);
                }
                found = self.at_or_after(begins);
            }
        }
        (found != NEVER).then(|| found - span.offset)
    }

    /// Follows the clock: nothing in a gap, everything twice in an overlap.
    #[inline]
    fn next_interval(&self, second: i64, zone: &Zone) -> Option<i64> {
        let spans = zone.spans();
        let mut place = zone.place(second);
        let mut span = *spans.get(place)?;
        let mut from = second.saturating_add(span.offset).saturating_add(1);
        // INVARIANT: nothing matches from `from` to before `found`.
        let mut found = self.at_or_after(from);
        while found >= span.local_end() {
            place += 1;
            span = *spans.get(place)?;
            let begins = span.local_start();
            if found < begins || begins < from {
                from = begins;
                found = self.at_or_after(from);
            }
        }
        (found != NEVER).then(|| found - span.offset)
    }

    fn previous_fixed(&self, second: i64, zone: &Zone) -> Option<i64> {
        let spans = zone.spans();
        let mut place = zone.place(second);
        let mut span = *spans.get(place)?;
        let mut earlier = before(spans, place);
        let shown = second.saturating_add(span.offset);
        // In the second pass of an overlap all of the first has had its turn.
        let seen = earlier.map_or(i64::MIN, |it| it.local_end() - 1);
        let mut found = self.at_or_before(shown.max(seen));
        loop {
            let ended = earlier.map_or(i64::MIN, Stretch::local_end);
            if found == NEVER_BEFORE {
                return None;
            }
            if found >= ended.max(span.local_start()) {
                return Some(found - span.offset);
            }
            if found >= ended {
                if span.local_start() - ended <= GAP_MAX_S {
                    return Some(span.start);
                }
                found = self.at_or_before(ended - 1);
            }
            span = earlier?;
            place -= 1;
            earlier = before(spans, place);
        }
    }

    fn previous_interval(&self, second: i64, zone: &Zone) -> Option<i64> {
        let spans = zone.spans();
        let mut place = zone.place(second);
        let mut span = *spans.get(place)?;
        let mut from = second.saturating_add(span.offset);
        // INVARIANT: nothing matches from after `found` to `from`.
        let mut found = self.at_or_before(from);
        while found < span.local_start() {
            place = place.checked_sub(1)?;
            span = *spans.get(place)?;
            let last = span.local_end() - 1;
            if found > last || last > from {
                from = last;
                found = self.at_or_before(from);
            }
        }
        (found != NEVER_BEFORE).then(|| found - span.offset)
    }
}

/// The span before a place.
#[inline]
fn before(spans: &[Stretch], place: usize) -> Option<Stretch> {
    spans.get(place.checked_sub(1)?).copied()
}
