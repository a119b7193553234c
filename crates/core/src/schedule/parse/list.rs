//! Reading a field: items between commas.

use super::{Mode, Token, item};
use crate::schedule::{
    error::{Error, Problem},
    expression::{Item, List, Term},
    field::Field,
};

pub(super) fn read(field: Field, token: Token<'_>, mode: Mode) -> Result<List, Error> {
    let mut items = Vec::new();
    let mut rest = Some(token);
    while let Some(current) = rest {
        let (text, after) = match current.split_once(',') {
            Some((text, after)) => (text, Some(after)),
            None => (current, None),
        };
        let term = item::read(field, text, mode)?;
        items.push(Item {
            span: text.span(),
            term,
        });
        rest = after;
    }
    refuse_question_in_list(field, token, &items)?;
    Ok(List {
        span: token.span(),
        items,
    })
}

/// `?` means "the other day field decides", which it cannot while a list decides too.
fn refuse_question_in_list(field: Field, token: Token<'_>, items: &[Item]) -> Result<(), Error> {
    let alone = items.len() == 1;
    let question = |item: &&Item| {
        let start = item.span.start - token.start;
        item.term == Term::All && token.text[start..].starts_with('?')
    };
    match items.iter().find(question) {
        Some(item) if !alone => {
            let found = token.text.to_owned();
            let modifier = '?';
            Err(Error::new(
                item.span,
                Problem::Modifier {
                    field,
                    modifier,
                    found,
                },
            ))
        }
        _ => Ok(()),
    }
}
