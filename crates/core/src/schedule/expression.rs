//! An expression as written: what each field lists, and its position in the text.
//!
//! This is the form that can be printed, explained and warned about. It still says `*/15` and `H`
//! where the compiled [`Timetable`](super::Timetable) only knows minutes.

use super::{
    error::{Error, Span},
    field::Field,
    parse::{self, Mode},
};

/// A schedule's rule, read and found well-formed. It may still never fire.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expression {
    /// The zone named in front of an imported expression.
    pub(super) zone: Option<String>,
    pub(super) rule: Rule,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Rule {
    /// Every so many seconds of the epoch; zones do not matter to it.
    Every(Every),
    /// By the wall clock.
    Fields(Box<Fields>),
}

/// A period counted from 1970-01-01T00:00:00Z, so that every node sees the same slots.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Every {
    pub(super) period_s: u32,
    /// Less than the period.
    pub(super) phase_s: u32,
}

/// The seven fields; those that were not written hold what they mean then.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fields {
    lists: [List; 7],
    /// Whether a `+` in front of the weekdays requires both day fields at once.
    pub(super) both_days: bool,
}

/// What one field lists, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct List {
    pub(super) span: Span,
    pub(super) items: Vec<Item>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Item {
    pub(super) span: Span,
    pub(super) term: Term,
}

/// One item of a list. Weekdays are 0 to 7 here, as written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Term {
    /// `*` or `?`
    All,
    /// `*/n`
    AllStep(u16),
    /// A number or a name.
    Value(u16),
    /// `a-b` or `a-b/n`. In imports it may run backwards, over the end of the field.
    Range { first: u16, last: u16, step: u16 },
    /// `a/n`, in imports: up to the end of the field.
    From { first: u16, step: u16 },
    /// `H`, `H(a-b)` or `a~b`: one value, picked by the schedule's name.
    Hash { first: u16, last: u16 },
    /// `H/n` or `H(a-b)/n`: a step whose beginning is picked.
    HashStep { first: u16, last: u16, step: u16 },
    /// `L`, `L-n`: so many days before the last day of the month.
    LastDay { before: u16 },
    /// `LW`: the last day of the month from Monday to Friday.
    LastWorkday,
    /// `nW`: the day from Monday to Friday nearest to day n, in the same month.
    NearestWorkday(u16),
    /// `d#n`
    Nth { weekday: u16, nth: u16 },
    /// `dL` or `d#L`
    LastWeekday(u16),
    /// `W#n`: the n-th business day of the month; 0 for `W#L`, the last.
    NthWorkday(u16),
}

impl Expression {
    /// Reads an expression.
    pub fn parse(text: &str, mode: Mode) -> Result<Self, Error> {
        parse::parse(text, mode)
    }

    /// The zone in front of an imported expression (`CRON_TZ=Europe/Berlin 0 9 * * *`). It wins
    /// over the zone of the surroundings.
    pub fn zone(&self) -> Option<&str> {
        self.zone.as_deref()
    }

    /// The seconds between two occurrences, for the second-level form `@Ns`.
    pub fn period_s(&self) -> Option<u32> {
        match &self.rule {
            Rule::Every(every) => Some(every.period_s),
            Rule::Fields(_) => None,
        }
    }
}

impl Fields {
    pub(super) fn new(lists: [List; 7], both_days: bool) -> Self {
        Self { lists, both_days }
    }

    pub(super) fn list(&self, field: Field) -> &List {
        &self.lists[usize::from(field.index())]
    }

    /// Whether the time of day is made of plain values alone: the kind of job that a change of the
    /// clocks must neither lose nor repeat.
    pub(super) fn is_fixed_time(&self) -> bool {
        Field::ALL
            .into_iter()
            .filter(|field| field.is_time())
            .all(|field| {
                self.list(field)
                    .items
                    .iter()
                    .all(|item| item.term.is_value())
            })
    }
}

impl List {
    /// A list that was not written.
    pub(super) fn implied(term: Term) -> Self {
        let span = Span::default();
        Self {
            span,
            items: vec![Item { span, term }],
        }
    }

    /// Whether it leaves its field to the others. `*/n` does not, whatever n is.
    pub(super) fn is_open(&self) -> bool {
        matches!(self.items.as_slice(), [item] if item.term == Term::All)
    }
}

impl Term {
    fn is_value(self) -> bool {
        matches!(self, Self::Value(_) | Self::Hash { .. })
    }
}
