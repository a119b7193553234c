//! Which instants are a schedule's slots, and which of them are left out.
//!
//! A schedule has one expression with its zone, and perhaps more of them; its slots are the slots
//! of all. Bounds cut them off. Days that calendars leave out and quiet hours take no slot away:
//! such a slot is skipped with its reason, so the ledger says why nothing ran (DP-21). What moves
//! to a workday adds a slot there.

use std::{fmt, sync::Arc};

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{
    definition::{Definition, Move, ScheduleName},
    ready::compile,
    unfit::Unfit,
};
use crate::{
    both,
    calendar::{Calendars, DayFilter, Left},
    lang::reader::refuse,
    schedule::{Moves, Timetable, Zone},
};

/// Slots looked through for one that fires. Whole days are passed at once, so this is decades.
const LOOKED_THROUGH_MAX: usize = 20_000;
const MINUTES: u16 = 24 * 60;

/// What a schedule needs beside its definition; every node must know the same.
pub trait Surroundings {
    /// The zone of this IANA name.
    fn zone(&self, tz: &str) -> Result<Arc<Zone>, Unfit>;
    /// The calendars there are.
    fn calendars(&self) -> Arc<Calendars>;
}

/// One zone and no calendars.
impl Surroundings for Arc<Zone> {
    fn zone(&self, _: &str) -> Result<Arc<Zone>, Unfit> {
        Ok(Self::clone(self))
    }

    fn calendars(&self) -> Arc<Calendars> {
        Arc::default()
    }
}

/// A stretch of the wall clock in which nothing fires: `22:00-06:00`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quiet {
    /// Minutes of the day.
    from: u16,
    /// The minute after the last.
    until: u16,
}

impl Quiet {
    /// Reads two times of day; the second may be on the next day.
    pub fn parse(text: &str) -> Option<Self> {
        let minutes = |text: &str| {
            let (hour, minute) = text.trim().split_once(':')?;
            let shaped = hour.len() == 2 && minute.len() == 2;
            let (hour, minute): (u16, u16) = (hour.parse().ok()?, minute.parse().ok()?);
            let whole = hour * 60 + minute;
            (shaped && minute < 60 && whole <= MINUTES).then_some(whole)
        };
        let (from, until) = text.split_once('-')?;
        let (from, until) = (minutes(from)?, minutes(until)?);
        (from != until && from < MINUTES).then_some(Self { from, until })
    }

    fn covers(self, minute: u16) -> bool {
        if self.from < self.until {
            (self.from..self.until).contains(&minute)
        } else {
            minute >= self.from || minute < self.until
        }
    }
}

impl fmt::Display for Quiet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { from, until } = self;
        let [from, until] = [from, until].map(|at| format!("{:02}:{:02}", at / 60, at % 60));
        write!(f, "{from}-{until}")
    }
}

impl Serialize for Quiet {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Quiet {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| {
            refuse(&both!(
                "quiet hours are written like \"22:00-06:00\", not `{text}`",
                "静默时段写作 \"22:00-06:00\"，而不是 `{text}`"
            ))
        })
    }
}

/// An expression with its zone.
#[derive(Debug, Clone)]
pub(super) struct Rule {
    pub(super) expression: String,
    pub(super) timetable: Timetable,
    pub(super) zone: Arc<Zone>,
}

/// The slots of a schedule.
#[derive(Debug, Clone)]
pub(super) struct Slots {
    pub(super) first: Rule,
    pub(super) also: Vec<Rule>,
    days: DayFilter,
    towards: Option<Left>,
    quiet: Vec<Quiet>,
    starts_at: Option<Timestamp>,
    ends_at: Option<Timestamp>,
}

impl Slots {
    pub(super) fn new(
        name: &ScheduleName,
        definition: &Definition,
        around: &dyn Surroundings,
    ) -> Result<Self, Unfit> {
        let days = day_filter(definition, around)?;
        let rule = |expression: &str, tz: &str| -> Result<Rule, Unfit> {
            let timetable = compile(name, expression)?.counting_by(&days);
            if definition.moves.is_some() && !timetable.is_fixed_time() {
                let expression = expression.to_owned();
                return Err(Unfit::CannotMove { expression });
            }
            Ok(Rule {
                expression: expression.to_owned(),
                timetable,
                zone: around.zone(tz)?,
            })
        };
        let tz = &definition.tz;
        let also = definition.also.iter();
        let also = also.map(|it| rule(&it.expression, it.tz.as_ref().unwrap_or(tz)));
        let slots = Self {
            first: rule(&definition.expression, tz)?,
            also: also.collect::<Result<_, _>>()?,
            days,
            towards: definition.moves.map(|moves| match moves {
                Move::NextWorkday => Left::Later,
                Move::PreviousWorkday => Left::Earlier,
            }),
            quiet: definition.quiet.clone(),
            starts_at: definition.starts_at,
            ends_at: definition.ends_at,
        };
        match slots.next_after(Timestamp::MIN) {
            Some(_) => Ok(slots),
            None => Err(Unfit::OutOfTime),
        }
    }

    /// The period, where that is all there is to it.
    pub(super) fn period_s(&self) -> Option<u32> {
        let alone = self.also.is_empty();
        self.first.timetable.period_s().filter(|_| alone)
    }

    pub(super) fn rules(&self) -> impl Iterator<Item = &Rule> {
        std::iter::once(&self.first).chain(&self.also)
    }

    fn moves(&self) -> Option<Moves<'_>> {
        let (days, towards) = (&self.days, self.towards?);
        Some(Moves { days, towards })
    }

    #[inline]
    pub(super) fn next_after(&self, at: Timestamp) -> Option<Timestamp> {
        let at = match self.starts_at {
            Some(from) if at < from => just_before(from),
            _ => at,
        };
        let mut next = self.next_of(&self.first, at);
        for rule in &self.also {
            next = match (next, self.next_of(rule, at)) {
                (Some(one), Some(other)) => Some(one.min(other)),
                (one, other) => one.or(other),
            };
        }
        next.filter(|next| self.ends_at.is_none_or(|end| *next <= end))
    }

    #[inline]
    fn next_of(&self, rule: &Rule, at: Timestamp) -> Option<Timestamp> {
        match self.moves() {
            None => rule.timetable.next_after(at, &rule.zone),
            Some(moves) => rule.timetable.next_moved(at, &rule.zone, moves),
        }
    }

    pub(super) fn previous_before(&self, at: Timestamp) -> Option<Timestamp> {
        let at = match self.ends_at {
            Some(end) if at > end => just_after(end),
            _ => at,
        };
        let previous = self.rules().filter_map(|rule| match self.moves() {
            None => rule.timetable.previous_before(at, &rule.zone),
            Some(moves) => rule.timetable.previous_moved(at, &rule.zone, moves),
        });
        let previous = previous.max();
        previous.filter(|previous| self.starts_at.is_none_or(|from| *previous >= from))
    }

    pub(super) fn matches(&self, at: Timestamp) -> bool {
        self.next_after(just_before(at)) == Some(at)
    }

    /// Whether some slots may be left out.
    pub(super) fn leaves_out(&self) -> bool {
        !self.days.is_open() || !self.quiet.is_empty()
    }

    /// Why a slot is left out, if it is: because of its day, by every rule that names it, or of its
    /// time of day.
    pub(super) fn exclusion(&self, slot: Timestamp) -> Option<String> {
        if !self.leaves_out() {
            return None;
        }
        let mut off = None;
        let mut fires = false;
        for rule in self.rules() {
            if rule.timetable.matches(slot, &rule.zone) {
                match self.days.off_day(rule.zone.day_of(slot)) {
                    None => fires = true,
                    Some(day) => {
                        off.get_or_insert_with(|| day.why + &self.moved_note(rule, slot));
                    }
                }
            }
            let is_moved = |moves| rule.timetable.is_moved(slot, &rule.zone, moves);
            fires |= self.moves().is_some_and(is_moved);
        }
        off.filter(|_| !fires).or_else(|| self.quiet_note(slot))
    }

    fn moved_note(&self, rule: &Rule, slot: Timestamp) -> String {
        let Some(moves) = self.moves() else {
            return String::new();
        };
        match rule.timetable.moves_to(slot, &rule.zone, moves) {
            Some(to) => format!(", moved to {to}"),
            None => ", and there is no workday near it".to_owned(),
        }
    }

    fn quiet_note(&self, slot: Timestamp) -> Option<String> {
        let (_, second) = self.first.zone.shown(slot);
        let minute = u16::try_from(second / 60).unwrap_or(0);
        let quiet = self.quiet.iter().find(|quiet| quiet.covers(minute))?;
        Some(format!("quiet hours {quiet}"))
    }

    /// The first slot from an instant on that is not left out, if one is near.
    pub(super) fn next_left_in(&self, from: Timestamp) -> Option<Timestamp> {
        let mut slot = self.next_after(just_before(from))?;
        for _ in 0..LOOKED_THROUGH_MAX {
            if self.exclusion(slot).is_none() {
                return Some(slot);
            }
            slot = self.next_after(self.passed(slot).unwrap_or(slot))?;
        }
        None
    }

    /// Until when nothing fires for the same reason, where one wall clock decides.
    fn passed(&self, slot: Timestamp) -> Option<Timestamp> {
        let zone = &self.first.zone;
        let (day, second) = zone.shown(slot);
        let minute = u16::try_from(second / 60).unwrap_or(0);
        let end = if self.also.is_empty() && self.days.is_off(day) {
            zone.instant_of(day + 1, 0)
        } else {
            let quiet = self.quiet.iter().find(|quiet| quiet.covers(minute))?;
            let day = day + u32::from(quiet.until <= minute);
            zone.instant_of(day, u32::from(quiet.until) * 60)
        };
        // Clocks that are set back show the end twice.
        end.map(just_before).filter(|end| *end > slot)
    }
}

fn day_filter(definition: &Definition, around: &dyn Surroundings) -> Result<DayFilter, Unfit> {
    if definition.except.is_empty() && definition.only.is_empty() {
        return Ok(DayFilter::default());
    }
    let known = around.calendars();
    let find = |calendar: &String| match known.get(calendar) {
        Some(Ok(found)) => Ok(Arc::clone(found)),
        Some(Err(unfit)) => Err(Unfit::UnreadableCalendar {
            calendar: calendar.clone(),
            why: Box::new(unfit.clone()),
        }),
        None => Err(Unfit::Calendar {
            calendar: calendar.clone(),
        }),
    };
    Ok(DayFilter {
        except: definition
            .except
            .iter()
            .map(find)
            .collect::<Result<_, _>>()?,
        only: definition.only.iter().map(find).collect::<Result<_, _>>()?,
    })
}

fn just_before(at: Timestamp) -> Timestamp {
    let before = at.saturating_sub(SignedDuration::from_micros(1));
    before.unwrap_or(at)
}

fn just_after(at: Timestamp) -> Timestamp {
    let after = at.saturating_add(SignedDuration::from_micros(1));
    after.unwrap_or(at)
}
