//! An expression written out in its plainest form, which reads back to the same expression.

use std::fmt;

use super::{
    expression::{Every, Expression, Fields, List, Rule, Term},
    field::Field,
};

impl fmt::Display for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(zone) = &self.zone {
            write!(f, "CRON_TZ={zone} ")?;
        }
        match &self.rule {
            Rule::Every(every) => every.fmt(f),
            Rule::Fields(fields) => fields.fmt(f),
        }
    }
}

impl fmt::Display for Every {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.phase_s {
            0 => write!(f, "@{}s", self.period_s),
            phase_s => write!(f, "@every {}s/{phase_s}s", self.period_s),
        }
    }
}

impl fmt::Display for Fields {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let with_year = !self.list(Field::Year).is_open();
        let seconds = self.list(Field::Second);
        let on_the_minute =
            matches!(seconds.items.as_slice(), [item] if item.term == Term::Value(0));
        let first = usize::from(on_the_minute && !with_year);
        let last = if with_year { 7 } else { 6 };
        for (place, field) in Field::ALL[first..last].iter().copied().enumerate() {
            if place > 0 {
                f.write_str(" ")?;
            }
            if field == Field::Weekday && self.both_days {
                f.write_str("+")?;
            }
            self.list(field).write(field, f)?;
        }
        Ok(())
    }
}

impl List {
    fn write(&self, field: Field, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, item) in self.items.iter().enumerate() {
            if place > 0 {
                f.write_str(",")?;
            }
            item.term.write(field, f)?;
        }
        Ok(())
    }
}

impl Term {
    fn write(self, field: Field, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let whole = |first, last| first == field.min() && last == field.hash_max();
        match self {
            Self::All => f.write_str("*"),
            Self::AllStep(step) => write!(f, "*/{step}"),
            Self::Value(value) => write!(f, "{value}"),
            Self::Range {
                first,
                last,
                step: 1,
            } => write!(f, "{first}-{last}"),
            Self::Range { first, last, step } => write!(f, "{first}-{last}/{step}"),
            Self::From { first, step } => write!(f, "{first}/{step}"),
            Self::Hash { first, last } if whole(first, last) => f.write_str("H"),
            Self::Hash { first, last } => write!(f, "H({first}-{last})"),
            Self::HashStep { first, last, step } if whole(first, last) => write!(f, "H/{step}"),
            Self::HashStep { first, last, step } => write!(f, "H({first}-{last})/{step}"),
            Self::LastDay { before: 0 } => f.write_str("L"),
            Self::LastDay { before } => write!(f, "L-{before}"),
            Self::LastWorkday => f.write_str("LW"),
            Self::NearestWorkday(day) => write!(f, "{day}W"),
            Self::Nth { weekday, nth } => write!(f, "{weekday}#{nth}"),
            Self::LastWeekday(weekday) => write!(f, "{weekday}L"),
            Self::NthWorkday(0) => f.write_str("W#L"),
            Self::NthWorkday(nth) => write!(f, "W#{nth}"),
        }
    }
}
