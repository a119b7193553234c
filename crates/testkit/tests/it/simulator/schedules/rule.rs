//! Rules as the oracle knows them, and a slow, plain list of the instants they name.
//!
//! Nothing here is shared with the product but the calendar: a rule is drawn as a value, printed as
//! an expression for the product to read, and listed by asking about each day of the civil calendar
//! and each minute of it. The DST rule is that of CRON.md: a job at fixed times runs once after a
//! gap and once in an overlap, a job at intervals runs whenever its local time is shown.

use std::collections::BTreeSet;

use jiff::{
    SignedDuration, Timestamp, ToSpan,
    civil::{Date, DateTime, Weekday},
    tz::{AmbiguousOffset, TimeZone},
};

use almanack_core::plan::{Definition, Move};

use super::super::dice::Dice;

/// Zones with a change of the clocks in the ninety days, forward or back, by an hour or by half of
/// one.
const ZONES: [&str; 7] = [
    "UTC",
    "Europe/Berlin",
    "America/New_York",
    "Australia/Sydney",
    "Australia/Lord_Howe",
    "America/Santiago",
    "Asia/Shanghai",
];

/// Which values of a field.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Any,
    Step(i8),
    Range(i8, i8),
    Values(Vec<i8>),
}

impl Part {
    fn has(&self, value: i8) -> bool {
        match self {
            Self::Any => true,
            Self::Step(step) => value % step == 0,
            Self::Range(low, high) => (*low..=*high).contains(&value),
            Self::Values(values) => values.contains(&value),
        }
    }

    fn print(&self) -> String {
        match self {
            Self::Any => "*".to_owned(),
            Self::Step(step) => format!("*/{step}"),
            Self::Range(low, high) => format!("{low}-{high}"),
            Self::Values(values) => {
                let texts: Vec<String> = values.iter().map(ToString::to_string).collect();
                texts.join(",")
            }
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Form {
    /// Every so many seconds since the epoch.
    Every(i64),
    /// Minutes and hours on some days of the month or of the week, never both.
    Fields {
        minute: Part,
        hour: Part,
        day: Part,
        weekday: Part,
    },
}

/// When a schedule fires.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Rule {
    form: Form,
    pub(super) tz: &'static str,
}

/// The calendar of weekends, as the product has it.
pub(super) const WEEKEND: &str = "weekend";
/// The quiet hours that are drawn.
pub(super) const QUIET: &str = "01:00-03:30";

/// Whether a calendar or quiet hours leave a slot out, by the civil calendar alone.
pub(super) fn is_left_out(definition: &Definition, slot: Timestamp) -> bool {
    let tz = TimeZone::get(&definition.tz).expect("a zone of the zone database");
    let local = tz.to_datetime(slot);
    let minute = i32::from(local.hour()) * 60 + i32::from(local.minute());
    let quiet = !definition.quiet.is_empty() && (60..210).contains(&minute);
    quiet || is_off(definition, local.date())
}

/// Whether a calendar leaves a day out.
fn is_off(definition: &Definition, date: Date) -> bool {
    let weekend = matches!(date.weekday(), Weekday::Saturday | Weekday::Sunday);
    let off = |calendars: &[String], on: bool| !calendars.is_empty() && on;
    off(&definition.except, weekend) || off(&definition.only, !weekend)
}

/// How much later than its slot a firing may be due.
pub(super) fn spread(definition: &Definition) -> SignedDuration {
    definition.splay + definition.jitter
}

impl Rule {
    /// A rule of at most some hundred slots in ninety days.
    pub(super) fn draw(dice: &Dice) -> Self {
        if dice.hits(150) {
            let seconds = *dice.pick(&[14_400, 21_600, 40_000, 43_200]);
            let form = Form::Every(seconds);
            return Self { form, tz: "UTC" };
        }
        let small = |low, high| i8::try_from(dice.between(low, high)).unwrap_or(0);
        let minute = *dice.pick(&[0, 0, 15, 30, 59]);
        let one = Part::Values(vec![minute]);
        // The clocks change between midnight and four.
        let hour = if dice.hits(600) {
            small(0, 4)
        } else {
            small(0, 23)
        };
        let (minute, hour, day, weekday) = match dice.below(9) {
            0 | 1 => (one, Part::Values(vec![hour]), Part::Any, Part::Any),
            2 => (one, Part::Values(vec![2, 14]), Part::Any, Part::Any),
            3 => (one, Part::Step(6), Part::Any, Part::Any),
            4 => (Part::Step(20), Part::Values(vec![2]), Part::Any, Part::Any),
            5 => (one, Part::Any, Part::Any, Part::Values(vec![small(0, 6)])),
            6 => (one, Part::Range(9, 11), Part::Any, Part::Range(1, 5)),
            7 => (
                one,
                Part::Values(vec![hour]),
                Part::Values(vec![small(1, 28)]),
                Part::Any,
            ),
            _ => (
                one,
                Part::Values(vec![hour]),
                Part::Any,
                Part::Values(vec![0]),
            ),
        };
        let form = Form::Fields {
            minute,
            hour,
            day,
            weekday,
        };
        let tz = dice.pick(&ZONES);
        Self { form, tz }
    }

    /// A rule of some hundred slots a day, for a schedule that does not live long.
    pub(super) fn draw_dense(dice: &Dice) -> Self {
        if dice.hits(500) {
            let form = Form::Every(*dice.pick(&[60, 90, 300]));
            return Self { form, tz: "UTC" };
        }
        let form = Form::Fields {
            minute: Part::Step(5),
            hour: Part::Any,
            day: Part::Any,
            weekday: Part::Any,
        };
        let tz = dice.pick(&ZONES);
        Self { form, tz }
    }

    /// A second rule by the same clock.
    pub(super) fn another(&self, dice: &Dice) -> Self {
        Self {
            tz: self.tz,
            ..Self::draw(dice)
        }
    }

    /// What it is found by.
    pub(super) fn key(&self) -> (String, String) {
        (self.expression(), self.tz.to_owned())
    }

    /// What the product reads.
    pub(super) fn expression(&self) -> String {
        match &self.form {
            Form::Every(seconds) => format!("@{seconds}s"),
            Form::Fields {
                minute,
                hour,
                day,
                weekday,
            } => {
                let [minute, hour] = [minute.print(), hour.print()];
                format!("{minute} {hour} {} * {}", day.print(), weekday.print())
            }
        }
    }

    /// Every slot after `from`, up to and including `to`, in order.
    pub(super) fn slots(&self, from: Timestamp, to: Timestamp) -> Vec<Timestamp> {
        let mut slots = BTreeSet::new();
        match &self.form {
            Form::Every(seconds) => {
                let first = from.as_second().div_euclid(*seconds);
                let last = to.as_second().div_euclid(*seconds);
                let whole = |n: i64| Timestamp::from_second(n * seconds);
                slots.extend((first..=last).filter_map(|n| whole(n).ok()));
            }
            Form::Fields { .. } => self.list_days(from, to, &mut slots),
        }
        let within = |slot: &Timestamp| *slot > from && *slot <= to;
        slots.into_iter().filter(within).collect()
    }

    /// The slots that move away from days that are left out, each at the same time of the nearest
    /// day that is not. Every run of days off here is shorter than a week.
    pub(super) fn moved_slots(
        &self,
        definition: &Definition,
        (from, to): (Timestamp, Timestamp),
    ) -> Vec<Timestamp> {
        let Some(moves) = definition.moves else {
            return Vec::new();
        };
        let tz = TimeZone::get(self.tz).expect("a zone of the zone database");
        let mut slots = BTreeSet::new();
        for date in days(&tz, (from, to), 8) {
            if !self.has_day(date) || !is_off(definition, date) {
                continue;
            }
            let step = match moves {
                Move::NextWorkday => 1.day(),
                Move::PreviousWorkday => -1.day(),
            };
            let near = std::iter::successors(Some(date), |date| date.checked_add(step).ok());
            let lands = near.take(8).find(|date| !is_off(definition, *date));
            self.list_day(lands.expect("a day in a week"), &tz, &mut slots);
        }
        let within = |slot: &Timestamp| *slot > from && *slot <= to;
        slots.into_iter().filter(within).collect()
    }

    /// Whether it names fixed times of day: others cannot move.
    pub(super) fn is_fixed(&self) -> bool {
        let plain = |part: &Part| matches!(part, Part::Values(_));
        match &self.form {
            Form::Every(_) => false,
            Form::Fields { minute, hour, .. } => plain(minute) && plain(hour),
        }
    }

    fn list_days(&self, from: Timestamp, to: Timestamp, slots: &mut BTreeSet<Timestamp>) {
        let tz = TimeZone::get(self.tz).expect("a zone of the zone database");
        // A day more at either end: a gap may push a slot over midnight.
        for date in days(&tz, (from, to), 1) {
            if self.has_day(date) {
                self.list_day(date, &tz, slots);
            }
        }
    }

    fn has_day(&self, date: Date) -> bool {
        let Form::Fields { day, weekday, .. } = &self.form else {
            return false;
        };
        let number = match date.weekday() {
            Weekday::Sunday => 0,
            other => other.to_monday_one_offset(),
        };
        day.has(date.day()) && weekday.has(number)
    }

    fn list_day(&self, date: Date, tz: &TimeZone, slots: &mut BTreeSet<Timestamp>) {
        let Form::Fields { minute, hour, .. } = &self.form else {
            return;
        };
        let fixed = self.is_fixed();
        for h in (0..24).filter(|h| hour.has(*h)) {
            for m in (0..60).filter(|m| minute.has(*m)) {
                slots.extend(instants(date.at(h, m, 0, 0), tz, fixed));
            }
        }
    }
}

/// The days between two instants, and so many more at either end.
fn days(
    tz: &TimeZone,
    (from, to): (Timestamp, Timestamp),
    more: i64,
) -> impl Iterator<Item = Date> {
    let first = tz.to_datetime(from).date().saturating_sub(more.days());
    let last = tz.to_datetime(to).date().saturating_add(more.days());
    let days = std::iter::successors(Some(first), |date| date.tomorrow().ok());
    days.take_while(move |date| *date <= last)
}

/// When a local time is shown, and when a job at that time runs.
fn instants(local: DateTime, tz: &TimeZone, fixed: bool) -> Vec<Timestamp> {
    let by = |offset: jiff::tz::Offset| offset.to_timestamp(local).expect("a date of this century");
    match tz.to_ambiguous_timestamp(local).offset() {
        AmbiguousOffset::Unambiguous { offset } => vec![by(offset)],
        AmbiguousOffset::Gap { .. } if !fixed => Vec::new(),
        AmbiguousOffset::Gap { before, .. } => {
            // By the old offset the skipped time lies just after the change.
            let after = by(before) + SignedDuration::from_nanos(1);
            let change = tz.preceding(after).next();
            change
                .map(|change| change.timestamp())
                .into_iter()
                .collect()
        }
        AmbiguousOffset::Fold { before, .. } if fixed => vec![by(before)],
        AmbiguousOffset::Fold { before, after } => vec![by(before), by(after)],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn daily(minute: Part, hour: Part, tz: &'static str) -> Rule {
        let form = Form::Fields {
            minute,
            hour,
            day: Part::Any,
            weekday: Part::Any,
        };
        Rule { form, tz }
    }

    fn list(rule: &Rule, from: &str, to: &str) -> Vec<String> {
        let [from, to] = [from, to].map(|text| text.parse().unwrap());
        let slots = rule.slots(from, to);
        slots.iter().map(ToString::to_string).collect()
    }

    /// By hand: Saturday the 3rd and Sunday the 4th of January 2026.
    #[test]
    fn the_oracle_knows_where_slots_move() {
        let rule = daily(Part::Values(vec![0]), Part::Values(vec![8]), "UTC");
        let target = almanack_core::target::Target::Ping { note: None };
        let moved = |moves, except: &[&str]| {
            let definition = Definition {
                except: except.iter().map(|it| (*it).to_owned()).collect(),
                moves,
                ..Definition::new(rule.expression(), target.clone())
            };
            let range = ["2026-01-01T00:00:00Z", "2026-01-07T00:00:00Z"];
            let [from, to] = range.map(|text| text.parse().unwrap());
            let slots = rule.moved_slots(&definition, (from, to));
            slots.iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        let (next, previous) = (Some(Move::NextWorkday), Some(Move::PreviousWorkday));
        assert_eq!(moved(next, &[WEEKEND]), ["2026-01-05T08:00:00Z"]);
        assert_eq!(moved(previous, &[WEEKEND]), ["2026-01-02T08:00:00Z"]);
        assert_eq!(moved(next, &[]), [""; 0], "no day is left out");
        assert_eq!(moved(None, &[WEEKEND]), [""; 0]);
    }

    /// By hand, from the table of Berlin and of Sydney: the oracle must not be wrong in the
    /// product's way.
    #[test]
    fn the_oracle_knows_gaps_and_overlaps() {
        let fixed = daily(
            Part::Values(vec![30]),
            Part::Values(vec![2]),
            "Europe/Berlin",
        );
        assert_eq!(
            list(&fixed, "2026-03-28T00:00:00Z", "2026-03-30T23:00:00Z"),
            [
                "2026-03-28T01:30:00Z",
                "2026-03-29T01:00:00Z",
                "2026-03-30T00:30:00Z"
            ]
        );
        let interval = daily(Part::Values(vec![30]), Part::Range(1, 3), "Europe/Berlin");
        assert_eq!(
            list(&interval, "2026-03-28T23:00:00Z", "2026-03-29T12:00:00Z"),
            ["2026-03-29T00:30:00Z", "2026-03-29T01:30:00Z"]
        );
        let twice = daily(Part::Step(30), Part::Values(vec![2]), "Australia/Sydney");
        assert_eq!(
            list(&twice, "2026-04-04T12:00:00Z", "2026-04-05T12:00:00Z").len(),
            4
        );
        let once = daily(
            Part::Values(vec![30]),
            Part::Values(vec![2]),
            "Australia/Sydney",
        );
        assert_eq!(
            list(&once, "2026-04-04T12:00:00Z", "2026-04-05T12:00:00Z"),
            ["2026-04-04T15:30:00Z"]
        );
    }
}
