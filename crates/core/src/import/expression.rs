//! Expressions from elsewhere, in the form that Almanack reads strictly.

use super::{Fault, Reason};
use crate::schedule::{Expression, Mode, Repair, Span};

/// More repairs than an expression has items that need one.
const REPAIRS_MAX: usize = 64;

/// Reads an expression as other programs do and writes it as Almanack does: `0/15` becomes
/// `0-59/15`. Single spaces separate its fields.
pub(super) fn rewrite(text: &str) -> Result<(String, Expression), Fault> {
    let refused = |error: crate::schedule::Error| Fault::new(error.span, error);
    Expression::parse(text, Mode::Import).map_err(refused)?;
    let mut strict = text.to_owned();
    for _ in 0..REPAIRS_MAX {
        match Expression::parse(&strict, Mode::Strict) {
            Ok(expression) => return fires(&strict, expression),
            Err(error) => match &error.repair {
                Some(repair) => strict = repair.apply(&strict),
                None => return Err(refused(error)),
            },
        }
    }
    Err(Fault::new(
        Span::new(0, text.len()),
        Reason::Calendar {
            piece: text.to_owned(),
        },
    ))
}

fn fires(strict: &str, expression: Expression) -> Result<(String, Expression), Fault> {
    if expression.compile("").never_fires() {
        return Err(Fault::new(Span::new(0, strict.len()), Reason::NeverFires));
    }
    let fields: Vec<&str> = strict.split_ascii_whitespace().collect();
    Ok((fields.join(" "), expression))
}

/// The expression with a `+` before its weekdays: a day must fit both day fields.
pub(super) fn with_both_days(expression: &str) -> String {
    let fields = expression.split(' ').count();
    let weekday = if fields == 7 {
        5
    } else {
        fields.saturating_sub(1)
    };
    let start: usize = expression
        .split(' ')
        .take(weekday)
        .map(|field| field.len() + 1)
        .sum();
    let (span, text) = (Span::new(start, start), "+".to_owned());
    Repair { span, text }.apply(expression)
}
