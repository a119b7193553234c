//! One line, from words to a definition.

use std::collections::BTreeMap;

use super::{Fault, Reason, Zones, extra};
use crate::{
    place::Token,
    plan::{Definition, ScheduleName},
    schedule::{self, Expression, Mode, Span},
    target::{Target, Unusable},
};

/// Minute, hour, day, month, weekday.
const FIELDS: usize = 5;

/// What a line requests.
pub(super) struct ChangeRequest {
    pub(super) definition: Definition,
    /// The name, if one was written.
    pub(super) name: Option<(ScheduleName, Span)>,
    /// Where `overlap=` was written, if it was.
    pub(super) overlap: Option<Span>,
}

/// Reads the words of a line; there is at least one.
pub(super) fn line(tokens: &[Token<'_>], zones: &Zones) -> Result<ChangeRequest, Fault> {
    let (when, at_what) = tokens.split_at(count_fields(tokens)?);
    let [repository, workflow, extras @ ..] = at_what else {
        return Err(incomplete(at_what, tokens));
    };
    let refused = |error: Unusable, elsewhere: Span| {
        let span = match error {
            Unusable::Repository => repository.span(),
            Unusable::Workflow => workflow.span(),
            _ => elsewhere,
        };
        Fault::new(span, error)
    };
    let target = |git_ref: String, inputs: BTreeMap<String, String>| Target::Workflow {
        repository: repository.text.to_owned(),
        workflow: workflow.text.to_owned(),
        git_ref,
        inputs,
    };
    // Before the expression: where no repository follows it, one may be inside it.
    let plain = target("main".to_owned(), BTreeMap::new());
    plain.check().map_err(|it| refused(it, workflow.span()))?;
    let expression = expression(when)?;
    let extras = extra::read(extras, zones)?;
    let git_ref = extras.git_ref.unwrap_or_else(|| "main".to_owned());
    let target = target(git_ref, extras.inputs);
    target.check().map_err(|it| refused(it, extras.span))?;
    let mut definition = Definition::new(expression, target);
    definition.tz = extras.tz.unwrap_or(definition.tz);
    definition.catch_up = extras.catch_up.unwrap_or_default();
    definition.overlap = extras
        .overlap
        .map(|(overlap, _)| overlap)
        .unwrap_or_default();
    let unfit = |unfit| Fault::new(extras.span, Reason::Unfit(unfit));
    definition.check().map_err(unfit)?;
    Ok(ChangeRequest {
        definition,
        name: extras.name,
        overlap: extras.overlap.map(|(_, span)| span),
    })
}

/// How many words the expression has. A wrong number of fields is found before any field is read,
/// so that no refusal of a field quotes a repository.
fn count_fields(tokens: &[Token<'_>]) -> Result<usize, Fault> {
    match tokens.first().map_or("", |first| first.text) {
        "@every" if tokens.get(1).is_some_and(names_repository) => return Ok(1),
        "@" | "@every" => return Ok(tokens.len().min(2)),
        first if first.starts_with('@') => return Ok(1),
        _ => {}
    }
    let found = match tokens.iter().position(names_repository) {
        Some(found) if found < FIELDS + 3 => found,
        None if tokens.len() < FIELDS => tokens.len(),
        _ => FIELDS,
    };
    if found == FIELDS {
        return Ok(FIELDS);
    }
    let start = tokens.first().map_or(0, |first| first.start);
    let last = tokens.get(found.saturating_sub(1));
    let span = Span::new(start, last.map_or(start, |last| last.span().end));
    Err(Fault::new(span, Reason::FieldCount { found }))
}

/// Whether a word can only be a repository. `MON/2` and `0/15` are fields, however wrong, and a
/// repository with a number for a name is one only where it is looked for.
fn names_repository(token: &Token<'_>) -> bool {
    let shaped = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    token.text.split_once('/').is_some_and(|(owner, name)| {
        let named = |text: &str| !text.is_empty() && text.chars().all(shaped);
        named(owner) && named(name) && name.contains(|c: char| !c.is_ascii_digit())
    })
}

/// What to say about a line that ends too soon: the place is right behind it.
fn incomplete(at_what: &[Token<'_>], tokens: &[Token<'_>]) -> Fault {
    let end = tokens.last().map_or(0, |last| last.span().end);
    let reason = match at_what {
        [] => Reason::NoRepository,
        _ => Reason::NoWorkflow,
    };
    Fault::new(Span::new(end, end), reason)
}

/// The expression with single spaces, read strictly.
fn expression(when: &[Token<'_>]) -> Result<String, Fault> {
    let words: Vec<&str> = when.iter().map(|token| token.text).collect();
    let text = words.join(" ");
    let whole = Span::new(0, text.len());
    let refused = |error: schedule::Error| {
        let span = written_at(when, error.span);
        Fault::new(span, Reason::Expression(Box::new(error)))
    };
    let expression = Expression::parse(&text, Mode::Strict).map_err(refused)?;
    // A name moves only what is hashed; whether anything fits does not depend on it.
    if expression.compile("").never_fires() {
        return Err(Fault::new(written_at(when, whole), Reason::NeverFires));
    }
    Ok(text)
}

/// The position of a part of the single-spaced expression in the line.
fn written_at(when: &[Token<'_>], part: Span) -> Span {
    let place = |byte: usize| {
        let mut begins = 0;
        for token in when {
            if byte <= begins + token.text.len() {
                return token.start + byte.saturating_sub(begins);
            }
            begins += token.text.len() + 1;
        }
        when.last().map_or(0, |last| last.span().end)
    };
    let start = place(part.start);
    Span::new(start, place(part.end).max(start))
}
