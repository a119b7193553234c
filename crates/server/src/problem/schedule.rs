//! Errors of requests about schedules as problems.

use almanack_core::{
    both,
    lang::{Lang, Say, Sentence},
    plan::Unfit,
    schedule,
};
use almanack_engine::schedules::Error;

use super::{Misread, internal};
use crate::prelude::*;

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        let text = error.both();
        match error {
            Error::Unknown { .. } => Self::new(Code::NoSuchSchedule, text),
            Error::Unfit(unfit) => unfit.into(),
            Error::Unreachable { path, .. } => Self::new(Code::InvalidValue, text).at(path),
            Error::Managed { .. } => Self::new(Code::ManagedSchedule, text),
            Error::Moved { .. } => Self::new(Code::RevisionMismatch, text),
            Error::Overlaps { .. } => {
                let [english, chinese] = Lang::ALL.map(|lang| text.for_reader(lang).0);
                let detail = both!(
                    "{english}; set `force` to fire anyway",
                    "{chinese}；设置 `force` 可强制触发"
                );
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
        let text = unfit.both();
        match &unfit {
            Unfit::Expression { expression, error } => refused(text, misread(expression, error)),
            Unfit::NeverFires { .. } => refused(text, never_fires()),
            Unfit::Unreadable { why } => {
                tracing::error!(why, "a stored schedule is invalid");
                internal()
            }
            _ => Self::new(Code::InvalidValue, text).at(unfit.path()),
        }
    }
}

fn refused(text: Sentence, misread: Misread) -> Problem {
    Problem {
        expression: Some(Box::new(misread)),
        ..Problem::new(Code::InvalidExpression, text).at("expression")
    }
}

pub(super) fn misread(expression: &str, error: &schedule::Error) -> Misread {
    let repair = error.repair.as_ref();
    let hint = |lang| error.hint(lang).unwrap_or_default();
    let [english, chinese] = Lang::ALL.map(hint);
    Misread {
        message: error.both(),
        span: Some([error.span.start, error.span.end]),
        hint: (!english.is_empty()).then(|| Sentence::new(english, chinese)),
        repaired: repair.map(|repair| repair.apply(expression)),
    }
}

fn never_fires() -> Misread {
    Misread {
        message: both!(
            "no date fits: this never fires",
            "没有符合的日期：永远不会触发"
        ),
        span: None,
        hint: None,
        repaired: None,
    }
}
