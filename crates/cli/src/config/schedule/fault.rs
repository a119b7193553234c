//! Which value of a schedule is at fault, and where in it.

use std::ops::Range;

use almanack_core::{plan::Unfit, schedule::Span, target::Unusable, task::Invalid};

use super::super::value::Complaint;
use crate::suggest;

/// The path of the value that makes a schedule unfit, and what to say about it, its name included.
pub(in super::super) fn complaint(unfit: &Unfit) -> (&'static str, Complaint) {
    let plain = |hint: Option<String>| Complaint {
        what: unfit.to_string(),
        hint,
        span: None,
    };
    match unfit {
        Unfit::Name { .. } => ("name", plain(None)),
        Unfit::Expression { error, .. } => {
            let what = format!("expression: {error}");
            let complaint = Complaint {
                what,
                ..plain(error.hint())
            };
            ("expression", complaint)
        }
        Unfit::NeverFires { .. } => {
            let complaint = Complaint::new(
                "expression: it never fires",
                "no date matches; see `almanack next`",
            );
            ("expression", complaint)
        }
        Unfit::Zone { tz } => {
            let what = format!("tz: there is no time zone `{tz}`");
            ("tz", Complaint::new(what, suggest::zone(tz)))
        }
        Unfit::Target(unusable) => (part_of_target(unusable), plain(None)),
        Unfit::OutOfBounds { what, .. } => (what, plain(None)),
        Unfit::MaxCatchUp(_) => ("max_catch_up", plain(None)),
        Unfit::Priority(_) => ("priority", plain(None)),
        Unfit::CancelsItself => ("overlap", plain(None)),
        Unfit::Unreadable { .. } => ("definition", plain(None)),
    }
}

fn part_of_target(unusable: &Unusable) -> &'static str {
    match unusable {
        Unusable::Url => "target.url",
        Unusable::Repository => "target.repository",
        Unusable::Workflow => "target.workflow",
        Unusable::Ref => "target.ref",
        Unusable::Inputs(_) => "target.inputs",
        Unusable::Argv => "target.argv",
        Unusable::Timeout => "target.timeout",
        Unusable::Reserved | Unusable::Task(Invalid::Kind { .. }) => "target.kind",
        Unusable::Placeholder | Unusable::Task(_) => "target.subject",
        Unusable::Body(_) => "target.body",
        Unusable::Payload(_) => "target.payload",
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
