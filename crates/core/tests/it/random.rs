//! Random expressions that know what they mean.
//!
//! Each one is built from its parts and written out as text; the parts answer whether a value
//! fits, so nothing here relies on our parser or our bit sets.

use std::ops::RangeInclusive;

use jiff::civil::{Date, DateTime};
use proptest::{collection::vec, prelude::*};

/// One item of a list.
#[derive(Debug, Clone)]
pub(crate) enum Piece {
    All,
    Step(i64),
    Value(i64),
    Range(i64, i64),
    RangeStep(i64, i64, i64),
    /// `L`, `LW`, `nW`; `d#n`, `dL`.
    LastDay,
    LastWorkday,
    Nearest(i64),
    Nth(i64, i64),
    LastWeekday(i64),
}

/// A list of items over a field's values.
#[derive(Debug, Clone)]
pub(crate) struct List {
    pieces: Vec<Piece>,
    bounds: RangeInclusive<i64>,
}

#[derive(Debug, Clone)]
pub(crate) struct Job {
    pub(crate) second: Option<List>,
    pub(crate) minute: List,
    pub(crate) hour: List,
    pub(crate) day: List,
    pub(crate) month: List,
    pub(crate) weekday: List,
    pub(crate) both_days: bool,
}

impl Piece {
    fn text(&self) -> String {
        match self {
            Self::All => "*".to_owned(),
            Self::Step(step) => format!("*/{step}"),
            Self::Value(value) => value.to_string(),
            Self::Range(first, last) => format!("{first}-{last}"),
            Self::RangeStep(first, last, step) => format!("{first}-{last}/{step}"),
            Self::LastDay => "L".to_owned(),
            Self::LastWorkday => "LW".to_owned(),
            Self::Nearest(day) => format!("{day}W"),
            Self::Nth(weekday, nth) => format!("{weekday}#{nth}"),
            Self::LastWeekday(weekday) => format!("{weekday}L"),
        }
    }

    fn has(&self, value: i64, min: i64) -> bool {
        match self {
            Self::All => true,
            Self::Step(step) => (value - min) % step == 0,
            Self::Value(only) => value == *only,
            Self::Range(first, last) => (*first..=*last).contains(&value),
            Self::RangeStep(first, last, step) => {
                (*first..=*last).contains(&value) && (value - first) % step == 0
            }
            _ => false,
        }
    }

    fn has_date(&self, date: Date) -> bool {
        match self {
            Self::LastDay => date == date.last_of_month(),
            Self::LastWorkday => date == nearest_workday(date.last_of_month()),
            Self::Nearest(day) => {
                let day = i8::try_from(*day).unwrap();
                let named = Date::new(date.year(), date.month(), day);
                named.is_ok_and(|named| date == nearest_workday(named))
            }
            Self::Nth(weekday, nth) => {
                weekday_of(date) == *weekday && (i64::from(date.day()) - 1) / 7 + 1 == *nth
            }
            Self::LastWeekday(weekday) => {
                weekday_of(date) == *weekday && date.day() + 7 > date.days_in_month()
            }
            _ => false,
        }
    }
}

/// By trying the days around it, nearest first.
fn nearest_workday(date: Date) -> Date {
    let offsets = [0, -1, 1, -2, 2];
    let days = offsets.map(|offset| {
        let day = date.day() + offset;
        Date::new(date.year(), date.month(), day)
    });
    let mut days = days.into_iter().filter_map(Result::ok);
    days.find(|date| (1..=5).contains(&weekday_of(*date)))
        .unwrap()
}

fn weekday_of(date: Date) -> i64 {
    date.weekday().to_sunday_zero_offset().into()
}

impl List {
    fn text(&self) -> String {
        let pieces: Vec<String> = self.pieces.iter().map(Piece::text).collect();
        pieces.join(",")
    }

    fn has(&self, value: i64) -> bool {
        let min = *self.bounds.start();
        self.pieces.iter().any(|piece| piece.has(value, min))
    }

    fn is_open(&self) -> bool {
        matches!(self.pieces.as_slice(), [Piece::All])
    }

    fn is_fixed(&self) -> bool {
        self.pieces
            .iter()
            .all(|piece| matches!(piece, Piece::Value(_)))
    }
}

impl Job {
    pub(crate) fn text(&self) -> String {
        let plus = if self.both_days { "+" } else { "" };
        let second = self.second.as_ref().map(|list| list.text() + " ");
        format!(
            "{}{} {} {} {} {plus}{}",
            second.unwrap_or_default(),
            self.minute.text(),
            self.hour.text(),
            self.day.text(),
            self.month.text(),
            self.weekday.text(),
        )
    }

    pub(crate) fn is_fixed(&self) -> bool {
        let second = self.second.as_ref().is_none_or(List::is_fixed);
        second && self.minute.is_fixed() && self.hour.is_fixed()
    }

    pub(crate) fn has(&self, at: DateTime) -> bool {
        let second = match &self.second {
            Some(list) => list.has(at.second().into()),
            None => at.second() == 0,
        };
        second
            && self.minute.has(at.minute().into())
            && self.hour.has(at.hour().into())
            && self.has_date(at.date())
    }

    pub(crate) fn has_date(&self, date: Date) -> bool {
        if !self.month.has(date.month().into()) {
            return false;
        }
        let modified = |list: &List| list.pieces.iter().any(|piece| piece.has_date(date));
        let day = self.day.has(date.day().into()) || modified(&self.day);
        let weekday = self.weekday.has(weekday_of(date)) || modified(&self.weekday);
        let restricted = !self.day.is_open() && !self.weekday.is_open();
        if restricted && !self.both_days {
            day || weekday
        } else {
            day && weekday
        }
    }
}

fn piece(bounds: RangeInclusive<i64>) -> impl Strategy<Value = Piece> {
    let (min, max) = (*bounds.start(), *bounds.end());
    let pair = (bounds.clone(), bounds.clone());
    let ordered = pair.prop_map(|(a, b)| (a.min(b), a.max(b)));
    prop_oneof![
        4 => bounds.prop_map(Piece::Value),
        1 => (1..=max).prop_map(Piece::Step),
        2 => ordered.clone().prop_map(|(first, last)| Piece::Range(first, last)),
        1 => (ordered, 1..=(max - min)).prop_map(|((first, last), step)| {
            Piece::RangeStep(first, last, step)
        }),
    ]
}

fn list(bounds: RangeInclusive<i64>) -> impl Strategy<Value = List> {
    let listed = vec(piece(bounds.clone()), 1..4);
    let pieces = prop_oneof![1 => Just(vec![Piece::All]), 2 => listed];
    pieces.prop_map(move |pieces| List {
        pieces,
        bounds: bounds.clone(),
    })
}

/// Plain values alone, as fixed times have them.
fn values(bounds: RangeInclusive<i64>) -> impl Strategy<Value = List> {
    let pieces = vec(bounds.clone().prop_map(Piece::Value), 1..3);
    pieces.prop_map(move |pieces| List {
        pieces,
        bounds: bounds.clone(),
    })
}

fn days() -> impl Strategy<Value = List> {
    let special = prop_oneof![
        Just(Piece::LastDay),
        Just(Piece::LastWorkday),
        (1..=31_i64).prop_map(Piece::Nearest),
    ];
    let listed = vec(prop_oneof![special, piece(1..=31)], 1..3).prop_map(|pieces| List {
        pieces,
        bounds: 1..=31,
    });
    prop_oneof![2 => list(1..=31), 1 => listed]
}

fn weekdays() -> impl Strategy<Value = List> {
    let special = prop_oneof![
        (0..=6_i64, 1..=5_i64).prop_map(|(weekday, nth)| Piece::Nth(weekday, nth)),
        (0..=6_i64).prop_map(Piece::LastWeekday),
    ];
    let listed = vec(prop_oneof![special, piece(0..=6)], 1..3).prop_map(|pieces| List {
        pieces,
        bounds: 0..=6,
    });
    prop_oneof![2 => list(0..=6), 1 => listed]
}

fn open(bounds: RangeInclusive<i64>) -> List {
    List {
        pieces: vec![Piece::All],
        bounds,
    }
}

/// Any date, at noon.
pub(crate) fn dates() -> impl Strategy<Value = Job> {
    (days(), list(1..=12), weekdays(), any::<bool>()).prop_map(
        |(day, month, weekday, both_days)| {
            let at = |value, bounds| List {
                pieces: vec![Piece::Value(value)],
                bounds,
            };
            Job {
                second: None,
                minute: at(0, 0..=59),
                hour: at(12, 0..=23),
                day,
                month,
                weekday,
                both_days,
            }
        },
    )
}

/// Any time of day, on many days.
pub(crate) fn times() -> impl Strategy<Value = Job> {
    let minute = prop_oneof![values(0..=59), list(0..=59)];
    let hour = prop_oneof![values(0..=23), values(0..=3), list(0..=23)];
    let weekday = prop_oneof![3 => Just(open(0..=6)), 1 => list(0..=6)];
    (minute, hour, weekday).prop_map(|(minute, hour, weekday)| Job {
        second: None,
        minute,
        hour,
        day: open(1..=31),
        month: open(1..=12),
        weekday,
        both_days: false,
    })
}

/// The same with seconds.
pub(crate) fn seconds() -> impl Strategy<Value = Job> {
    let second = prop_oneof![values(0..=59), list(0..=59)];
    (second, times()).prop_map(|(second, job)| Job {
        second: Some(second),
        ..job
    })
}
