//! Occurrences that move to another day: away from days that a schedule leaves out.
//!
//! On a day that is left in, the times of day of the days in a row that are left out before it (or
//! after it, if occurrences move back) take place, too. The occurrence itself stays where it was
//! named, and its ledger row says where it went; so nothing is decided out of order.

use jiff::Timestamp;

use super::{
    civil::DAY_S,
    search::END,
    timetable::{Pace, Plan, Table, Timetable},
    zone::Zone,
};
use crate::calendar::{DayFilter, Left};

/// Which days are left out, and where their occurrences move.
#[derive(Debug, Clone, Copy)]
pub struct Moves<'a> {
    pub days: &'a DayFilter,
    pub towards: Left,
}

impl Timetable {
    /// The first occurrence after an instant, moved ones included.
    pub fn next_moved(&self, at: Timestamp, zone: &Zone, moves: Moves<'_>) -> Option<Timestamp> {
        let nominal = self.next_after(at, zone);
        let near = match moves.towards {
            // What moves to a later day was named before.
            Left::Later => Some(at),
            Left::Earlier => nominal,
        };
        let shifted = near.map_or_else(Vec::new, |near| self.moved_near(near, zone, moves));
        let shifted = shifted.into_iter().find(|shifted| *shifted > at);
        match (nominal, shifted) {
            (Some(nominal), Some(shifted)) => Some(nominal.min(shifted)),
            (one, other) => one.or(other),
        }
    }

    /// The last occurrence before an instant, moved ones included.
    pub fn previous_moved(
        &self,
        at: Timestamp,
        zone: &Zone,
        moves: Moves<'_>,
    ) -> Option<Timestamp> {
        let nominal = self.previous_before(at, zone);
        let just_before = at.as_second() - i64::from(at.subsec_nanosecond() == 0);
        let near = match moves.towards {
            Left::Later => nominal,
            Left::Earlier => Timestamp::from_second(just_before).ok(),
        };
        let shifted = near.map_or_else(Vec::new, |near| self.moved_near(near, zone, moves));
        let shifted = shifted.into_iter().rfind(|shifted| *shifted < at);
        nominal.max(shifted)
    }

    /// Whether an instant is an occurrence that has moved there.
    pub fn is_moved(&self, at: Timestamp, zone: &Zone, moves: Moves<'_>) -> bool {
        let day = zone.day_of(at);
        !moves.days.is_off(day) && self.moved_to(day, zone, moves).contains(&at)
    }

    /// Where an occurrence on a day that is left out goes.
    pub fn moves_to(&self, at: Timestamp, zone: &Zone, moves: Moves<'_>) -> Option<Timestamp> {
        let (day, shown) = zone.shown(at);
        let day = moves.days.first_left(day, moves.towards)?;
        // What the clocks had moved to the end of a gap has its own time on other days.
        let time = self.fixed()?.time_at_or_before(shown).unwrap_or(shown);
        zone.instant_of(day, time)
    }

    /// What moves to the nearest day that is left in.
    fn moved_near(&self, near: Timestamp, zone: &Zone, moves: Moves<'_>) -> Vec<Timestamp> {
        let day = moves.days.first_left(zone.day_of(near), moves.towards);
        day.map_or_else(Vec::new, |day| self.moved_to(day, zone, moves))
    }

    /// What moves to a day that is left in, in order.
    fn moved_to(&self, day: u32, zone: &Zone, moves: Moves<'_>) -> Vec<Timestamp> {
        let Some(table) = self.fixed() else {
            return Vec::new();
        };
        let mut run = moves.days.run_of(day, moves.towards.back());
        if !run.any(|day| table.has_day(day)) {
            return Vec::new();
        }
        let first = table.time_at_or_after(0);
        let times = std::iter::successors(first, |time| table.time_at_or_after(time + 1));
        times
            .filter_map(|time| zone.instant_of(day, time))
            .collect()
    }

    fn fixed(&self) -> Option<&Table> {
        match &self.plan {
            Plan::Table(table) if table.pace == Pace::Fixed => Some(table),
            _ => None,
        }
    }
}

impl Zone {
    /// The day that the wall clock shows.
    pub fn day_of(&self, at: Timestamp) -> u32 {
        self.shown(at).0
    }

    /// The day and the second of it that the wall clock shows.
    pub fn shown(&self, at: Timestamp) -> (u32, u32) {
        let second = at.as_second() - i64::from(at.subsec_nanosecond() < 0);
        let spans = self.spans();
        let offset = spans.get(self.place(second)).map_or(0, |span| span.offset);
        let local = second.saturating_add(offset).clamp(0, END - 1);
        let part = |number: i64| u32::try_from(number).unwrap_or(0);
        (part(local / DAY_S), part(local % DAY_S))
    }

    /// When the wall clock shows this: the first time if it does so twice, the end of the gap if
    /// it never does.
    pub fn instant_of(&self, day: u32, second: u32) -> Option<Timestamp> {
        let local = i64::from(day) * DAY_S + i64::from(second);
        let near = self.place(local).saturating_sub(1);
        let span = self.spans().get(near..)?;
        let span = span.iter().find(|span| local < span.local_end())?;
        let instant = (local - span.offset).max(span.start);
        Timestamp::from_second(instant).ok()
    }
}
