//! What is wrong with a schedule, and where in a value.

use std::ops::Range;

use almanack_core::{lang::Lang, plan::Unfit, schedule::Span};

use super::super::report::Problem;
use crate::suggest;

/// What makes a schedule unfit, in the words of the file.
pub(in super::super) fn problem(unfit: &Unfit) -> Problem {
    match unfit {
        Unfit::Expression { error, .. } => Problem {
            hint: error.hint(Lang::English),
            ..Problem::error(format!("expression: {error}"), None)
        },
        Unfit::NeverFires { .. } => Problem::new(
            "expression: it never fires",
            "no date matches; see `almanack next`",
        ),
        Unfit::Zone { tz } => {
            let what = format!("tz: there is no time zone `{tz}`");
            Problem::new(what, suggest::zone(tz))
        }
        _ => Problem::error(unfit.to_string(), None),
    }
}

/// The bytes of the file for a part of a text, if the text is written there literally: an escape in
/// it would shift everything after it.
pub(super) fn inside(
    file: &str,
    value: &Range<usize>,
    text: &str,
    part: Span,
) -> Option<Range<usize>> {
    let start = [1, 3]
        .into_iter()
        .map(|quotes| value.start + quotes)
        .find(|start| {
            file.get(*start..)
                .is_some_and(|rest| rest.starts_with(text))
        })?;
    Some(start + part.start..start + part.end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_a_text_is_found_between_its_quotes() {
        for (file, expected) in [
            ("\"0 25 * * *\"", Some(3..5)),
            ("'0 25 * * *'", Some(3..5)),
            ("'''0 25 * * *'''", Some(5..7)),
            ("\"0\\t25 * * *\"", None),
        ] {
            let found = inside(file, &(0..file.len()), "0 25 * * *", Span::new(2, 4));
            assert_eq!(found, expected, "{file}");
        }
    }
}
