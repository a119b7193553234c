//! Reading an expression: the outer shape. The inside of a field is read in [`list`].
//!
//! ```text
//! expression := [zone] (nickname | fields | once) zone in imports only
//! once       := "at" date time
//! fields     := [second] minute hour day month weekday [year]
//! zone       := ("CRON_TZ=" | "TZ=") name
//! ```

use super::{
    error::{Error, Problem, Span},
    expression::{Expression, Fields, List, Rule, Term},
    field::Field,
};
use crate::place::{Token, words};

mod item;
mod list;
mod nickname;
mod once;
mod value;

/// How much an expression may take for granted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// What every careful implementation reads alike. For whatever people write for Almanack.
    Strict,
    /// Also `5/20`, `FRI-MON` and `CRON_TZ=`, in their usual meaning. For what comes from
    /// elsewhere and cannot be asked.
    Import,
}

pub(super) fn parse(text: &str, mode: Mode) -> Result<Expression, Error> {
    check_characters(text)?;
    let mut tokens = words(text);
    let zone = take_zone(&mut tokens, mode)?;
    let Some(first) = tokens.first().copied() else {
        return Err(Error::new(Span::new(0, text.len()), Problem::Empty));
    };
    let rule = if first.text.starts_with('@') {
        nickname::rule(&tokens)?
    } else if first.text.eq_ignore_ascii_case("at") {
        Rule::Fields(Box::new(once::fields(&tokens)?))
    } else {
        Rule::Fields(Box::new(fields(&tokens, mode)?))
    };
    Ok(Expression { zone, rule })
}

/// Characters that look right and are not get a better answer here than any field could give.
fn check_characters(text: &str) -> Result<(), Error> {
    for (start, found) in text.char_indices() {
        let span = Span::new(start, start + found.len_utf8());
        if found.is_whitespace() && found != ' ' && found != '\t' {
            return Err(Error::new(span, Problem::Blank { found }).write(" "));
        }
        if !found.is_ascii_graphic() && !found.is_ascii_whitespace() {
            let error = Error::new(span, Problem::Character { found });
            return Err(match narrow(found) {
                Some(narrow) => error.write(narrow),
                None => error,
            });
        }
    }
    Ok(())
}

/// The plain form of a full-width character, as East Asian keyboards write them.
fn narrow(found: char) -> Option<char> {
    let wide = u32::from(found).checked_sub(u32::from('！'))?;
    let narrow = char::from_u32(u32::from('!') + wide)?;
    narrow.is_ascii_graphic().then_some(narrow)
}

fn take_zone(tokens: &mut Vec<Token<'_>>, mode: Mode) -> Result<Option<String>, Error> {
    let Some(first) = tokens.first().copied() else {
        return Ok(None);
    };
    let prefixes = ["CRON_TZ=", "TZ="];
    let Some(name) = prefixes.iter().find_map(|it| first.text.strip_prefix(it)) else {
        return Ok(None);
    };
    if mode == Mode::Strict {
        return Err(Error::new(first.span(), Problem::ZonePrefix));
    }
    if name.is_empty() {
        return Err(Error::new(first.span(), Problem::ZoneMissing));
    }
    tokens.remove(0);
    Ok(Some(name.to_owned()))
}

fn fields(tokens: &[Token<'_>], mode: Mode) -> Result<Fields, Error> {
    check_count(tokens)?;
    let written = match tokens.len() {
        5 => &Field::ALL[1..6],
        6 => &Field::ALL[..6],
        _ => &Field::ALL[..],
    };
    let mut lists = [
        Term::Value(0),
        Term::All,
        Term::All,
        Term::All,
        Term::All,
        Term::All,
        Term::All,
    ]
    .map(List::implied);
    let mut both_days = false;
    for (field, token) in written.iter().copied().zip(tokens) {
        let mut token = *token;
        if field == Field::Weekday && token.text.starts_with('+') {
            both_days = true;
            token = token.part(1, token.text.len());
        }
        lists[usize::from(field.index())] = list::read(field, token, mode)?;
    }
    Ok(Fields::new(lists, both_days))
}

fn check_count(tokens: &[Token<'_>]) -> Result<(), Error> {
    let (Some(first), Some(last)) = (tokens.first(), tokens.last()) else {
        return Ok(());
    };
    let found = tokens.len();
    if found == 6 && looks_like_years(last.text) {
        let front = Span::new(first.start, first.start);
        return Err(Error::new(last.span(), Problem::YearLast).replace(front, "0 "));
    }
    if (5..=7).contains(&found) {
        return Ok(());
    }
    let span = Span::new(first.start, last.span().end);
    Err(Error::new(span, Problem::FieldCount { found }))
}

/// Whether no weekday is meant: some dialects put the year last of six.
fn looks_like_years(text: &str) -> bool {
    let mut numbers = text.split([',', '-']);
    numbers.all(|number| {
        let year = number.parse::<u16>();
        year.is_ok_and(|year| (Field::Year.min()..=Field::Year.max()).contains(&year))
    })
}

impl<'a> Token<'a> {
    /// The parts before and after the first of these characters.
    fn split_once(self, at: char) -> Option<(Self, Self)> {
        let found = self.text.find(at)?;
        let after = self.part(found + at.len_utf8(), self.text.len());
        Some((self.part(0, found), after))
    }

    /// The part before the ending.
    fn strip_suffix(self, ending: &str) -> Option<Self> {
        let text: &'a str = self.text.strip_suffix(ending)?;
        Some(Self { text, ..self })
    }

    fn is_number(self) -> bool {
        !self.text.is_empty() && self.text.bytes().all(|byte| byte.is_ascii_digit())
    }
}

#[cfg(test)]
mod tests;
