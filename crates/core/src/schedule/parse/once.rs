//! Reading a single time: `at 2026-12-24 18:00`. It is seven fields with one value each.

use jiff::civil::{Date, Time};

use super::Token;
use crate::schedule::{
    error::{Error, Problem, Span},
    expression::{Fields, List, Term},
    field::Field,
};

pub(super) fn fields(tokens: &[Token<'_>]) -> Result<Fields, Error> {
    let start = tokens.first().map_or(0, |first| first.start);
    let end = tokens.last().map_or(0, |last| last.span().end);
    let unreadable = || Error::new(Span::new(start, end), Problem::Instant);
    let (date, time) = match tokens {
        [_, date, time] => (*date, *time),
        [_, both] => both.split_once('T').ok_or_else(unreadable)?,
        _ => return Err(unreadable()),
    };
    if let Some(offset) = time.text.find(['Z', 'z', '+', '-', '[']) {
        let found = time.text.get(offset..).unwrap_or_default().to_owned();
        return Err(Error::new(time.span(), Problem::Offset { found }));
    }
    let on = date.text.parse::<Date>().map_err(|_| unreadable())?;
    let at = time.text.parse::<Time>().map_err(|_| unreadable())?;
    let year = Field::Year.min()..=Field::Year.max();
    if !u16::try_from(on.year()).is_ok_and(|it| year.contains(&it)) {
        let (field, found) = (Field::Year, on.year().to_string());
        return Err(Error::new(
            date.span(),
            Problem::OutOfRange { field, found },
        ));
    }
    let value = |value: i16| Term::Value(u16::try_from(value).unwrap_or(0));
    let term = |field| match field {
        Field::Second => value(at.second().into()),
        Field::Minute => value(at.minute().into()),
        Field::Hour => value(at.hour().into()),
        Field::Day => value(on.day().into()),
        Field::Month => value(on.month().into()),
        // The date alone says on which day.
        Field::Weekday => Term::All,
        Field::Year => value(on.year()),
    };
    let lists = Field::ALL.map(|field| List::implied(term(field)));
    Ok(Fields::new(lists, false))
}
