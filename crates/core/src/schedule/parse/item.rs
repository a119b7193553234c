//! Reading one item of a list.
//!
//! ```text
//! item    := "*" ["/" n] | "?" | value | value "-" value ["/" n] | hash | modifier
//! hash    := "H" ["(" value "-" value ")"] ["/" n] | value "~" value
//! day     := "L" ["-" n] | "LW" | n "W"
//! weekday := value "#" (1-5 | "L") | value "L" | "W#" (1-23 | "L")
//! ```
//!
//! Imports also read `value "/" n` and ranges that run backwards.

use super::{Mode, Token, value};
use crate::schedule::{
    compile,
    error::{Error, Problem, Span},
    expression::Term,
    field::Field,
};

pub(super) fn read(field: Field, token: Token<'_>, mode: Mode) -> Result<Term, Error> {
    match token.text {
        "" => return Err(Error::new(token.span(), Problem::Missing { field })),
        "*" => return Ok(Term::All),
        "?" if field.is_day() => return Ok(Term::All),
        "?" => return Err(misplaced(field, '?', token)),
        _ => {}
    }
    if let Some(term) = modifier(field, token)? {
        return Ok(term);
    }
    if let Some(after) = token.text.strip_prefix('H') {
        return hash(field, token, token.part(1, 1 + after.len()));
    }
    if let Some((first, last)) = token.split_once('~') {
        return between(field, token, first, last);
    }
    match token.split_once('/') {
        Some((base, step)) => stepped(field, token, base, value::read_step(field, step)?, mode),
        None => plain(field, token, mode),
    }
}

fn plain(field: Field, token: Token<'_>, mode: Mode) -> Result<Term, Error> {
    match token.split_once('-') {
        Some((first, last)) => range(field, token, (first, last), 1, mode),
        None => value::read(field, token).map(Term::Value),
    }
}

fn stepped(
    field: Field,
    token: Token<'_>,
    base: Token<'_>,
    step: u16,
    mode: Mode,
) -> Result<Term, Error> {
    if base.text == "*" {
        return Ok(Term::AllStep(step));
    }
    if let Some(ends) = base.split_once('-') {
        return range(field, token, ends, step, mode);
    }
    let first = value::read(field, base)?;
    // A Sunday written 7 begins the week like one written 0.
    let first = if first > field.last() {
        field.min()
    } else {
        first
    };
    match mode {
        Mode::Import => Ok(Term::From { first, step }),
        Mode::Strict => {
            let found = token.text.to_owned();
            let written = format!("{first}-{}/{step}", field.last());
            Err(Error::new(token.span(), Problem::StepWithoutRange { field, found }).write(written))
        }
    }
}

fn range(
    field: Field,
    token: Token<'_>,
    (first, last): (Token<'_>, Token<'_>),
    step: u16,
    mode: Mode,
) -> Result<Term, Error> {
    let same_name = !first.is_number() && first.text.eq_ignore_ascii_case(last.text);
    let first = value::read(field, first)?;
    let last = if same_name {
        first
    } else {
        value::read_end(field, last)?
    };
    let term = Term::Range { first, last, step };
    if first <= last || mode == Mode::Import {
        return Ok(term);
    }
    let found = token.text.to_owned();
    let problem = Problem::Backwards { field, found };
    Err(Error::new(token.span(), problem).write(forwards(field, term, step)))
}

/// A range that runs backwards, written as two that do not. In a time of day both stay ranges, or
/// an interval would become a list of fixed times, which a change of the clocks treats otherwise.
fn forwards(field: Field, term: Term, step: u16) -> String {
    let values: Vec<u16> = compile::values(field, term, 0).collect();
    let turn = values.windows(2).position(|pair| pair[1] < pair[0]);
    let (before, after) = values.split_at(turn.map_or(values.len(), |last| last + 1));
    let parts: Vec<String> = [before, after]
        .into_iter()
        .filter_map(|part| Some((*part.first()?, *part.last()?)))
        .map(|(first, last)| match step {
            _ if first == last && !field.is_time() => first.to_string(),
            1 => format!("{first}-{last}"),
            _ => format!("{first}-{last}/{step}"),
        })
        .collect();
    parts.join(",")
}

fn hash(field: Field, token: Token<'_>, after: Token<'_>) -> Result<Term, Error> {
    if field == Field::Year {
        return Err(misplaced(field, 'H', token));
    }
    let (bounds, after) = match after
        .text
        .strip_prefix('(')
        .and_then(|_| after.split_once(')'))
    {
        Some((inside, rest)) => (Some(inside.part(1, inside.text.len())), rest),
        None => (None, after),
    };
    let (first, last) = match bounds {
        Some(inside) => match inside.split_once('-') {
            Some((first, last)) => ordered(field, inside, first, last)?,
            None => return Err(misplaced(field, 'H', token)),
        },
        None => (field.min(), field.hash_max()),
    };
    if after.text.is_empty() {
        return Ok(Term::Hash { first, last });
    }
    match after.text.strip_prefix('/') {
        Some(_) => {
            let step = value::read_step(field, after.part(1, after.text.len()))?;
            Ok(Term::HashStep { first, last, step })
        }
        None => Err(misplaced(field, 'H', token)),
    }
}

fn between(
    field: Field,
    token: Token<'_>,
    first: Token<'_>,
    last: Token<'_>,
) -> Result<Term, Error> {
    let error = misplaced(field, '~', token);
    if field == Field::Year {
        return Err(error);
    }
    // An open end means the field's own to those who know it.
    match (first.text, last.text) {
        ("", "") => return Err(error.write("H")),
        ("", _) => return Err(error.write(format!("{}~{}", field.min(), last.text))),
        (_, "") => return Err(error.write(format!("{}~{}", first.text, field.last()))),
        _ => {}
    }
    let (first, last) = ordered(field, token, first, last)?;
    Ok(Term::Hash { first, last })
}

/// Two bounds to pick between. No implementation wraps these around.
fn ordered(
    field: Field,
    whole: Token<'_>,
    first: Token<'_>,
    last: Token<'_>,
) -> Result<(u16, u16), Error> {
    let (first, last) = (value::read(field, first)?, value::read_end(field, last)?);
    if first <= last {
        return Ok((first, last));
    }
    let found = whole.text.to_owned();
    Err(Error::new(
        whole.span(),
        Problem::Backwards { field, found },
    ))
}

fn modifier(field: Field, token: Token<'_>) -> Result<Option<Term>, Error> {
    refuse_lower_case(field, token)?;
    match field {
        Field::Day => day_modifier(token),
        Field::Weekday => weekday_modifier(token),
        _ => Ok(None),
    }
}

fn day_modifier(token: Token<'_>) -> Result<Option<Term>, Error> {
    let field = Field::Day;
    if token.text.starts_with("W#") {
        return Err(Error::new(token.span(), Problem::WorkdayOfMonth));
    }
    match token.text {
        "L" => return Ok(Some(Term::LastDay { before: 0 })),
        "LW" => return Ok(Some(Term::LastWorkday)),
        "WL" => return Err(misplaced(field, 'W', token).write("LW")),
        _ => {}
    }
    if let Some(("L", before)) = token.text.split_once('-') {
        let before = token.part(2, 2 + before.len());
        return before_last(token, before).map(Some);
    }
    match token.strip_suffix("W") {
        Some(day) if day.is_number() => Ok(Some(Term::NearestWorkday(value::read(field, day)?))),
        Some(_) => Err(misplaced(field, 'W', token)),
        None if token.text.contains('L') => Err(misplaced(field, 'L', token)),
        None => Ok(None),
    }
}

fn before_last(token: Token<'_>, before: Token<'_>) -> Result<Term, Error> {
    match value::read(Field::Day, before)? {
        before @ 1..=30 if !token.text.ends_with('W') => Ok(Term::LastDay { before }),
        _ => Err(misplaced(Field::Day, 'L', token)),
    }
}

fn weekday_modifier(token: Token<'_>) -> Result<Option<Term>, Error> {
    let field = Field::Weekday;
    if token.text == "L" {
        return Err(Error::new(token.span(), Problem::BareLast));
    }
    let (base, nth, modifier) = match (token.split_once('#'), token.strip_suffix("L")) {
        (Some((base, nth)), _) => (base, Some(nth), '#'),
        (None, Some(base)) => (base, None, 'L'),
        (None, None) => return Ok(None),
    };
    if base.text.contains(['-', '/', '*', '?', 'L']) {
        return Err(misplaced(field, modifier, token));
    }
    if let ("W", Some(nth)) = (base.text, nth) {
        return nth_workday(nth).map(Some);
    }
    let weekday = value::read(field, base)?;
    let Some(nth) = nth.filter(|nth| nth.text != "L") else {
        return Ok(Some(Term::LastWeekday(weekday)));
    };
    match nth.text.parse::<u16>() {
        Ok(number @ 1..=5) if nth.is_number() => Ok(Some(Term::Nth {
            weekday,
            nth: number,
        })),
        _ => {
            let found = nth.text.to_owned();
            Err(Error::new(nth.span(), Problem::Nth { found }))
        }
    }
}

/// `W#3`, `W#L`: a month has at most 23 business days.
fn nth_workday(nth: Token<'_>) -> Result<Term, Error> {
    match nth.text.parse::<u16>() {
        _ if nth.text == "L" => Ok(Term::NthWorkday(0)),
        Ok(number @ 1..=23) if nth.is_number() => Ok(Term::NthWorkday(number)),
        _ => {
            let found = nth.text.to_owned();
            Err(Error::new(nth.span(), Problem::NthWorkday { found }))
        }
    }
}

/// `15w` is a slip; what it means is clear.
fn refuse_lower_case(field: Field, token: Token<'_>) -> Result<(), Error> {
    let bare = token.text.trim_start_matches(|c: char| c.is_ascii_digit());
    let slip = match field {
        Field::Day => matches!(bare, "l" | "w" | "lw" | "Lw" | "lW") && token.text != "w",
        Field::Weekday => matches!(bare, "l" | "#l") && bare.len() < token.text.len(),
        _ => false,
    };
    if slip
        || field != Field::Year
            && matches!(bare.split(['(', '/']).next(), Some("h"))
            && bare == token.text
    {
        let (found, written) = (token.text.to_owned(), token.text.to_ascii_uppercase());
        return Err(Error::new(token.span(), Problem::LowerCase { field, found }).write(written));
    }
    Ok(())
}

fn misplaced(field: Field, modifier: char, token: Token<'_>) -> Error {
    let found = token.text.to_owned();
    let span: Span = token.span();
    Error::new(
        span,
        Problem::Modifier {
            field,
            modifier,
            found,
        },
    )
}
