//! Errors of requests about sources as problems.

use almanack_core::lang::{Say, Sentence};
use almanack_core::source::{check::FailureClass, filter::BadRule, policy::UnknownPolicy};
use almanack_engine::sources::Error;

use super::{Misread, schedule::misread};
use crate::prelude::*;

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        let label = error.both();
        match error {
            Error::Unknown { .. } => Self::new(Code::NoSuchSource, label),
            Error::TooLong { what, .. } | Error::Unprintable { what } => {
                Self::new(Code::InvalidValue, label).at(what)
            }
            Error::UnknownEntry { .. } => Self::new(Code::NoSuchEntry, label),
            Error::Policy(unknown) => unknown.into(),
            Error::Filter(bad) => misruled(bad, label),
            Error::Unreadable { .. } => Self::new(Code::InvalidValue, label),
            // Trying again would not make the address an allowed one.
            Error::Unreachable(failure) if failure.class == FailureClass::Refused => {
                Self::new(Code::InvalidValue, label).at("address")
            }
            Error::Unreachable(failure) if failure.class == FailureClass::NotAFeed => {
                Self::new(Code::NotAFeed, label).at("address")
            }
            Error::Unreachable(_) => Self::new(Code::Unreachable, label),
            Error::NotActive { .. } => Self::new(Code::SourceNotActive, label),
            Error::Managed { .. } => Self::new(Code::ManagedSource, label),
            Error::Options(unfit) => {
                Self::new(Code::InvalidValue, label).at(format!("options.{}", unfit.path))
            }
            Error::AddressTaken { .. } => Self::new(Code::AddressTaken, label),
            Error::Contended { .. } => Self::new(Code::Contended, label),
            Error::Reschedule(error) => error.into(),
            Error::Invalid(invalid) => invalid.into(),
            Error::Store(error) => error.into(),
        }
    }
}

/// A rule that cannot be read, with the place of the mistake in it.
fn misruled(bad: BadRule, label: Sentence) -> Problem {
    let path = format!("options.filters[{}]", bad.number - 1);
    Problem {
        expression: Some(Box::new(Misread {
            message: bad.what,
            span: Some([bad.span.start, bad.span.end]),
            hint: Some(bad.hint.both()),
            repaired: None,
        })),
        ..Problem::new(Code::InvalidValue, label).at(path)
    }
}

impl From<UnknownPolicy> for Problem {
    fn from(unknown: UnknownPolicy) -> Self {
        let problem = Self::new(Code::InvalidValue, unknown.both()).at("policy");
        match unknown {
            // Several words are a malformed schedule, a single one is an unknown policy.
            UnknownPolicy::Expression { text, source } if text.contains(' ') => Self {
                expression: Some(Box::new(misread(&text, &source))),
                ..problem
            },
            _ => problem,
        }
    }
}
