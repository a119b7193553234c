//! From what was written to sets of numbers.

use super::{
    YEAR_MIN,
    expression::{Expression, Fields, Rule, Term},
    field::Field,
    hash,
    timetable::{DayRule, EVERY, LAST, Pace, Plan, Table, Timetable},
};

impl Expression {
    /// The instants this expression names for the schedule of this name; `H` depends on the name,
    /// and nothing else does.
    pub fn compile(&self, name: &str) -> Timetable {
        let plan = match &self.rule {
            Rule::Every(every) => Plan::Every(*every),
            Rule::Fields(fields) => Plan::Table(table(fields, name)),
        };
        Timetable { plan }
    }
}

fn table(fields: &Fields, name: &str) -> Table {
    let bits = |field| bits(fields, field, name);
    let mut table = Table {
        seconds: bits(Field::Second),
        minutes: bits(Field::Minute),
        weekdays: bits(Field::Weekday) << (7 * EVERY),
        years: years(fields),
        workdays: None,
        hours: narrow(bits(Field::Hour)),
        days: narrow(bits(Field::Day) >> 1),
        nearest: 0,
        from_end: 0,
        months: u16::try_from(bits(Field::Month) >> 1).unwrap_or(0),
        last_workday: false,
        weekly: false,
        rule: day_rule(fields),
        pace: if fields.is_fixed_time() {
            Pace::Fixed
        } else {
            Pace::Interval
        },
    };
    for field in [Field::Day, Field::Weekday] {
        for item in &fields.list(field).items {
            add_modifier(&mut table, item.term);
        }
    }
    table.weekly = is_weekly(&table);
    table
}

fn is_weekly(table: &Table) -> bool {
    let every_date = table.days == u32::MAX >> 1 && table.months == 0xfff && table.years.is_none();
    // In the case of `either`, every date is enough, whatever the weekdays.
    every_date && table.rule != DayRule::Either && !table.has_weekday_modifiers()
}

fn day_rule(fields: &Fields) -> DayRule {
    let open = |field| fields.list(field).is_open();
    match (open(Field::Day), open(Field::Weekday)) {
        (true, true) => DayRule::Any,
        (false, false) if !fields.both_days => DayRule::Either,
        _ => DayRule::Both,
    }
}

fn add_modifier(table: &mut Table, term: Term) {
    let weekday_bit = |weekday: u16, group: u32| 1 << (u32::from(weekday % 7) + 7 * group);
    match term {
        Term::LastDay { before } => table.from_end |= 1 << before,
        Term::LastWorkday => table.last_workday = true,
        Term::NearestWorkday(day) => table.nearest |= 1 << (day - 1),
        Term::Nth { weekday, nth } => table.weekdays |= weekday_bit(weekday, nth.into()),
        Term::LastWeekday(weekday) => table.weekdays |= weekday_bit(weekday, LAST),
        Term::NthWorkday(nth) => table.workdays.get_or_insert_default().nth |= 1 << nth,
        _ => {}
    }
}

/// The plain values of every field but the year.
fn bits(fields: &Fields, field: Field, name: &str) -> u64 {
    let hash = hash::of(name, field);
    let items = fields.list(field).items.iter();
    items
        .flat_map(|item| values(field, item.term, hash))
        .fold(0, |bits, value| bits | 1 << value)
}

fn years(fields: &Fields) -> Option<Box<[u64; 4]>> {
    let list = fields.list(Field::Year);
    if list.is_open() {
        return None;
    }
    let mut years = Box::new([0; 4]);
    for value in list
        .items
        .iter()
        .flat_map(|item| values(Field::Year, item.term, 0))
    {
        let bit = value - YEAR_MIN;
        years[usize::from(bit / 64)] |= 1 << (bit % 64);
    }
    Some(years)
}

fn narrow(bits: u64) -> u32 {
    u32::try_from(bits).unwrap_or(u32::MAX)
}

/// The values a term lists, in the order it lists them; Sunday is 0. Modifiers list none.
pub(super) fn values(field: Field, term: Term, hash: u64) -> impl Iterator<Item = u16> {
    let (first, last, step) = match term {
        Term::All => (field.min(), field.last(), 1),
        Term::AllStep(step) => (field.min(), field.last(), step),
        Term::From { first, step } => (first, field.last(), step),
        Term::Value(value) => (value, value, 1),
        Term::Range { first, last, step } => (first, last, step),
        Term::Hash { first, last } => {
            let value = hash::pick(hash, first, last);
            (value, value, 1)
        }
        Term::HashStep { first, last, step } => {
            let reach = (step - 1).min(last - first);
            (hash::pick(hash, first, first + reach), last, step)
        }
        // An empty range.
        _ => (1, 0, 0),
    };
    let choices = field.last() - field.min() + 1;
    // A range that runs backwards continues at the beginning of the field. From Sunday, written 7,
    // it has not even begun to.
    let first = if first > last && first > field.last() {
        field.min()
    } else {
        first
    };
    let length = match step {
        0 => 0,
        _ if first <= last => last - first + 1,
        _ => choices - (first - last) + 1,
    };
    (0..length)
        .step_by(usize::from(step.max(1)))
        .map(move |offset| {
            let value = first - field.min() + offset;
            field.min() + value % choices
        })
}
