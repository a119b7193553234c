//! Errors of requests about editions as problems.

use almanack_core::lang::Say;
use almanack_engine::editions::Error;

use super::internal;
use crate::prelude::*;

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        let text = error.both();
        match error {
            Error::Unknown(_) => Self::new(Code::NoSuchEdition, text),
            Error::TooEarly(_) | Error::Future { .. } => {
                Self::new(Code::InvalidValue, text).at("date")
            }
            Error::NotNow(not_now) => match not_now.field() {
                Some(field) => Self::new(Code::InvalidValue, text).at(field),
                None => Self::new(Code::WrongState, text),
            },
            Error::NoDocument(..) => Self::new(Code::NoSuchDocument, text),
            Error::Template(_) => {
                tracing::error!(error = %text, "the template of editions cannot be rendered");
                Self::new(Code::BadTemplate, text)
            }
            Error::Contended(_) => Self::new(Code::Contended, text),
            Error::NotQueued(error) => error.into(),
            Error::Unnamed(_) => {
                tracing::error!(error = %text, "could not queue an edition");
                internal()
            }
            Error::Store(error) => error.into(),
        }
    }
}
