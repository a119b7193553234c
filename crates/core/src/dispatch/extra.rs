//! What may follow the workflow: `ref=…`, `tz=…`, `input.NAME=…`, `catch_up=…`, `overlap=…`,
//! `name=…`.

use std::collections::BTreeMap;

use super::{
    Fault, Reason, Zones,
    token::{closing, quote_in},
};
use crate::{
    place::Token,
    plan::{CatchUp, Overlap, ScheduleName},
    schedule::Span,
};

const KEYS: [&str; 5] = ["name", "tz", "ref", "catch_up", "overlap"];

/// The settings of a line.
#[derive(Default)]
pub(super) struct Extras {
    pub(super) name: Option<(ScheduleName, Span)>,
    pub(super) tz: Option<String>,
    pub(super) git_ref: Option<String>,
    pub(super) inputs: BTreeMap<String, String>,
    pub(super) catch_up: Option<CatchUp>,
    pub(super) overlap: Option<(Overlap, Span)>,
    pub(super) span: Span,
}

/// `key=value`, taken apart.
struct Setting<'a> {
    key: &'a str,
    key_span: Span,
    value: String,
    value_span: Span,
}

/// Reads what follows the workflow.
pub(super) fn read(tokens: &[Token<'_>], zones: &Zones) -> Result<Extras, Fault> {
    let mut extras = Extras::default();
    if let (Some(first), Some(last)) = (tokens.first(), tokens.last()) {
        extras.span = Span::new(first.start, last.span().end);
    }
    for token in tokens {
        let Some((key, _)) = token.text.split_once('=') else {
            return Err(Fault::new(token.span(), Reason::Unexpected));
        };
        let setting = Setting {
            key,
            key_span: token.part(0, key.len()).span(),
            value: value(*token, key)?,
            value_span: token.part(key.len() + 1, token.text.len()).span(),
        };
        match key.strip_prefix("input.") {
            Some(input) => extras.add_input(input, setting)?,
            None => extras.set(setting, zones)?,
        }
    }
    Ok(extras)
}

/// The value of a setting, without its quotes.
fn value(token: Token<'_>, key: &str) -> Result<String, Fault> {
    let plain = token.text.get(key.len() + 1..).unwrap_or_default();
    let Some(open) = quote_in(token.text) else {
        return Ok(plain.to_owned());
    };
    let close = closing(token.text, open);
    let Some(close) = close.filter(|close| close + 1 == token.text.len()) else {
        let after = close.map_or(open, |close| close + 1);
        let span = token.part(after, token.text.len()).span();
        return Err(Fault::new(span, Reason::AfterQuote));
    };
    let inside = token.text.get(open + 1..close).unwrap_or_default();
    if plain.starts_with('\'') {
        return Ok(inside.to_owned());
    }
    let mut bare = String::new();
    let mut characters = inside.chars();
    while let Some(c) = characters.next() {
        bare.push(match c {
            '\\' => characters.next().unwrap_or('\\'),
            c => c,
        });
    }
    Ok(bare)
}

impl Extras {
    fn add_input(&mut self, name: &str, setting: Setting<'_>) -> Result<(), Fault> {
        let span = setting.key_span;
        let shaped = |c: char| c.is_ascii_alphanumeric() || "_-".contains(c);
        if name.is_empty() || !name.chars().all(shaped) {
            return Err(Fault::new(span, Reason::InputName));
        }
        match self.inputs.insert(name.to_owned(), setting.value) {
            None => Ok(()),
            Some(_) => Err(Fault::new(span, Reason::Repeated { key: "input" })),
        }
    }

    fn set(&mut self, setting: Setting<'_>, zones: &Zones) -> Result<(), Fault> {
        let Setting {
            key_span,
            value,
            value_span,
            ..
        } = setting;
        let Some(key) = KEYS.into_iter().find(|known| *known == setting.key) else {
            return Err(Fault::new(key_span, Reason::UnknownKey));
        };
        if value.is_empty() {
            return Err(Fault::new(key_span, Reason::NoValue { key }));
        }
        let refused = |reason: Reason| Fault::new(value_span, reason);
        let again = match key {
            "name" => {
                let name = ScheduleName::parse(&value).map_err(|unfit| refused(unfit.into()))?;
                self.name.replace((name, value_span)).is_some()
            }
            "tz" => {
                let known = zones.0.get(&value).map_err(|_| refused(Reason::Zone))?;
                let tz = known.iana_name().map_or(value, str::to_owned);
                self.tz.replace(tz).is_some()
            }
            "ref" => self.git_ref.replace(value).is_some(),
            "catch_up" => {
                let choices = CatchUp::ALL.map(CatchUp::as_str).to_vec();
                let choice = || refused(Reason::Choice { key, choices });
                let chosen = CatchUp::parse(&value).ok_or_else(choice)?;
                self.catch_up.replace(chosen).is_some()
            }
            _ => {
                let choices = Overlap::ALL.map(Overlap::as_str).to_vec();
                let choice = || refused(Reason::Choice { key, choices });
                let chosen = Overlap::parse(&value).ok_or_else(choice)?;
                let whole = Span::new(key_span.start, value_span.end);
                self.overlap.replace((chosen, whole)).is_some()
            }
        };
        if again {
            return Err(Fault::new(key_span, Reason::Repeated { key }));
        }
        Ok(())
    }
}
