//! Reading a single value: a number or a name.

use super::Token;
use crate::schedule::{
    error::{Error, Problem},
    field::Field,
};

/// A value within the field's bounds.
pub(super) fn read(field: Field, token: Token<'_>) -> Result<u16, Error> {
    if token.text.is_empty() {
        return Err(Error::new(token.span(), Problem::Missing { field }));
    }
    if token.is_number() {
        return number(field, token);
    }
    named(field, token.text).ok_or_else(|| not_a_value(field, token))
}

/// The end of a range, where Sunday is the day after Saturday.
pub(super) fn read_end(field: Field, token: Token<'_>) -> Result<u16, Error> {
    match read(field, token)? {
        0 if field == Field::Weekday && !token.is_number() => Ok(7),
        value => Ok(value),
    }
}

/// A step: any positive number. One larger than the field leaves the first value alone.
pub(super) fn read_step(field: Field, token: Token<'_>) -> Result<u16, Error> {
    let step = token.text.parse().ok().filter(|step| *step > 0);
    step.filter(|_| token.is_number()).ok_or_else(|| {
        let found = token.text.to_owned();
        Error::new(token.span(), Problem::Step { field, found })
    })
}

fn number(field: Field, token: Token<'_>) -> Result<u16, Error> {
    let bounds = field.min()..=field.max();
    let value = token.text.parse().ok();
    value.filter(|value| bounds.contains(value)).ok_or_else(|| {
        let found = token.text.to_owned();
        Error::new(token.span(), Problem::OutOfRange { field, found })
    })
}

fn named(field: Field, text: &str) -> Option<u16> {
    let place = field
        .names()
        .iter()
        .position(|name| name[..3].eq_ignore_ascii_case(text))?;
    Some(field.min() + u16::try_from(place).ok()?)
}

fn not_a_value(field: Field, token: Token<'_>) -> Error {
    let found = token.text.to_owned();
    match spelt_out(field, token.text) {
        Some(name) => Error::new(token.span(), Problem::LongName { field, found }).write(name),
        None => Error::new(token.span(), Problem::NotAValue { field, found }),
    }
}

/// The three letters of a longer spelling, like `Sept` or `MONDAY`.
fn spelt_out(field: Field, text: &str) -> Option<String> {
    let begins = |name: &&&str| {
        let begin = name.get(..text.len()).filter(|begin| begin.len() > 3);
        begin.is_some_and(|begin| begin.eq_ignore_ascii_case(text))
    };
    let name = field.names().iter().find(begins)?;
    Some(name[..3].to_ascii_uppercase())
}
