//! Reading nicknames and periods: `@daily`, `@10s`, `@every 1h30m/5m`.

use super::{Mode, Token, fields, words};
use crate::schedule::{
    error::{Error, Problem, Span},
    expression::{Every, Rule},
};

/// Nicknames are exact times. Elsewhere some of them are hashed; we have `H` for that.
const NICKNAMES: [(&str, &str); 7] = [
    ("@yearly", "0 0 1 1 *"),
    ("@annually", "0 0 1 1 *"),
    ("@monthly", "0 0 1 * *"),
    ("@weekly", "0 0 * * 0"),
    ("@daily", "0 0 * * *"),
    ("@midnight", "0 0 * * *"),
    ("@hourly", "0 * * * *"),
];

const PERIOD_MAX_S: u32 = 366 * 86_400;

pub(super) fn rule(tokens: &[Token<'_>]) -> Result<Rule, Error> {
    let Some((name, rest)) = tokens.split_first() else {
        return Err(Error::new(Span::default(), Problem::Empty));
    };
    let (rule, rest) = match (name.text, rest) {
        ("@reboot", _) => return Err(Error::new(name.span(), Problem::Reboot)),
        ("@every", [period, rest @ ..]) => (Rule::Every(every(*period)?), rest),
        ("@", [period, ..]) if seconds(*period).is_ok() => {
            let span = Span::new(name.start, period.span().end);
            let found = "@".to_owned();
            let written = format!("@{}", period.text);
            return Err(Error::new(span, Problem::Nickname { found }).write(written));
        }
        _ => (named(*name)?, rest),
    };
    match rest.first() {
        None => Ok(rule),
        Some(more) => {
            let nickname = name.text.to_owned();
            let span = Span::new(more.start, rest.last().map_or(0, |last| last.span().end));
            Err(Error::new(span, Problem::Trailing { nickname }))
        }
    }
}

fn named(name: Token<'_>) -> Result<Rule, Error> {
    let known = NICKNAMES.iter().find(|known| known.0 == name.text);
    if let Some((_, expression)) = known {
        let fields = fields(&words(expression), Mode::Strict)?;
        return Ok(Rule::Fields(Box::new(fields)));
    }
    let period = name.part(1, name.text.len());
    if period.text.ends_with('s') && period.text.starts_with(|c: char| !c.is_alphabetic()) {
        let period_s = seconds(period)?;
        return Ok(Rule::Every(Every {
            period_s,
            phase_s: 0,
        }));
    }
    let found = name.text.to_owned();
    let error = Error::new(name.span(), Problem::Nickname { found });
    Err(match likely(name.text) {
        Some(written) => error.write(written),
        None => error,
    })
}

/// What a word that is no nickname most likely wants to be.
fn likely(name: &str) -> Option<String> {
    let lower = name.to_ascii_lowercase();
    if let Some(known) = NICKNAMES.iter().find(|known| known.0 == lower) {
        return Some(known.0.to_owned());
    }
    let period = name.strip_prefix('@')?;
    let token = Token {
        text: period,
        start: 0,
    };
    if token.is_number() {
        let written = format!("{period}s");
        let token = Token {
            text: &written,
            start: 0,
        };
        return seconds(token).ok().map(|seconds| format!("@{seconds}s"));
    }
    duration(token).ok().map(|seconds| format!("@{seconds}s"))
}

/// `10s`: whole seconds, as in front of a DISPATCH line.
fn seconds(period: Token<'_>) -> Result<u32, Error> {
    let number = period.strip_suffix("s").filter(|number| number.is_number());
    let seconds = number.and_then(|number| number.text.parse().ok());
    let bounded = seconds.filter(|seconds| (1..=PERIOD_MAX_S).contains(seconds));
    bounded.ok_or_else(|| not_a_period(period))
}

/// `1h30m`, with a phase behind a slash: `1h30m/5m`.
fn every(token: Token<'_>) -> Result<Every, Error> {
    let (period, phase) = match token.split_once('/') {
        Some((period, phase)) => (period, Some(phase)),
        None => (token, None),
    };
    let period_s = duration(period)?;
    let phase_s = match phase {
        Some(phase) => Some(duration(phase)?).filter(|phase| *phase < period_s),
        None => Some(0),
    };
    match phase_s {
        Some(phase_s) => Ok(Every { period_s, phase_s }),
        None => Err(not_a_period(token)),
    }
}

fn duration(token: Token<'_>) -> Result<u32, Error> {
    let mut total: u32 = 0;
    let mut rest = token.text;
    let mut larger = u32::MAX;
    while !rest.is_empty() {
        let step = take_unit(rest).filter(|(_, unit, _)| *unit < larger);
        let Some((count, unit, after)) = step else {
            return Err(not_a_period(token));
        };
        total = total.saturating_add(count.saturating_mul(unit));
        (larger, rest) = (unit, after);
    }
    match total {
        1..=PERIOD_MAX_S => Ok(total),
        _ => Err(not_a_period(token)),
    }
}

/// A number and the seconds of its unit, and what follows.
fn take_unit(text: &str) -> Option<(u32, u32, &str)> {
    let digits = text.find(|c: char| !c.is_ascii_digit())?;
    let count = text.get(..digits)?.parse().ok()?;
    let unit = match text.as_bytes().get(digits)? {
        b'd' => 86_400,
        b'h' => 3_600,
        b'm' => 60,
        b's' => 1,
        _ => return None,
    };
    Some((count, unit, text.get(digits + 1..)?))
}

fn not_a_period(token: Token<'_>) -> Error {
    let found = token.text.to_owned();
    Error::new(token.span(), Problem::Period { found })
}
