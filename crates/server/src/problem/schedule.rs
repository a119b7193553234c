//! Errors of requests about schedules as problems.

use almanack_core::{plan::Unfit, schedule, target::Unusable, task::Invalid};
use almanack_engine::schedules::Error;

use super::{Misread, internal};
use crate::prelude::*;

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        let text = error.to_string();
        match error {
            Error::Unknown { .. } => Self::new(Code::NoSuchSchedule, text),
            Error::Unfit(unfit) => unfit.into(),
            Error::Unreachable(_) => Self::new(Code::InvalidValue, text).at("target.url"),
            Error::Managed { .. } => Self::new(Code::ManagedSchedule, text),
            Error::Moved { .. } => Self::new(Code::RevisionMismatch, text),
            Error::Overlaps { .. } => {
                let detail = format!("{text}; set `force` to fire anyway");
                Self::new(Code::StillRunning, detail)
            }
            Error::NotNow { .. } => Self::new(Code::WrongState, text),
            Error::Range { .. } => Self::new(Code::InvalidValue, text),
            Error::Note { .. } => Self::new(Code::InvalidValue, text).at("note"),
            Error::Invalid(invalid) => invalid.into(),
            Error::Contended { .. } => Self::new(Code::Contended, text),
            Error::Store(error) => error.into(),
        }
    }
}

impl From<Unfit> for Problem {
    fn from(unfit: Unfit) -> Self {
        let text = unfit.to_string();
        let invalid = |path: &str| Self::new(Code::InvalidValue, text.clone()).at(path);
        match unfit {
            Unfit::Name { .. } => invalid("name"),
            Unfit::Expression { expression, error } => {
                let misread = misread(&expression, &error);
                refused(&text, misread)
            }
            Unfit::NeverFires { .. } => refused(&text, never_fires()),
            Unfit::Zone { .. } => invalid("tz"),
            Unfit::Target(unusable) => invalid(path_of(&unusable)),
            Unfit::OutOfBounds { what, .. } => invalid(what),
            Unfit::MaxCatchUp(_) => invalid("max_catch_up"),
            Unfit::Priority(_) => invalid("priority"),
            Unfit::CancelsItself => invalid("overlap"),
            Unfit::Unreadable { why } => {
                tracing::error!(why, "a stored schedule is invalid");
                internal()
            }
        }
    }
}

fn refused(text: &str, misread: Misread) -> Problem {
    Problem {
        expression: Some(Box::new(misread)),
        ..Problem::new(Code::InvalidExpression, text).at("expression")
    }
}

pub(super) fn misread(expression: &str, error: &schedule::Error) -> Misread {
    let repair = error.repair.as_ref();
    Misread {
        message: error.to_string(),
        span: Some([error.span.start, error.span.end]),
        hint: error.hint(),
        repaired: repair.map(|repair| repair.apply(expression)),
    }
}

fn never_fires() -> Misread {
    Misread {
        message: "no date fits: this never fires".to_owned(),
        span: None,
        hint: None,
        repaired: None,
    }
}

/// The path of the invalid part of a target.
fn path_of(unusable: &Unusable) -> &'static str {
    match unusable {
        Unusable::Url => "target.url",
        Unusable::Repository => "target.repository",
        Unusable::Workflow => "target.workflow",
        Unusable::Ref => "target.ref",
        Unusable::Inputs(_) => "target.inputs",
        Unusable::Argv => "target.argv",
        Unusable::Timeout => "target.timeout",
        Unusable::Reserved | Unusable::Task(Invalid::Kind { .. }) => "target.kind",
        Unusable::Placeholder | Unusable::Task(Invalid::Subject { .. }) => "target.subject",
        Unusable::Task(_) => "target",
        Unusable::Body(_) => "target.body",
        Unusable::Payload(_) => "target.payload",
    }
}
