//! Errors of requests about editions as problems.

use almanack_engine::editions::Error;

use super::internal;
use crate::prelude::*;

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        let reported = error.to_string();
        match error {
            Error::Unknown(_) => Self::new(Code::NoSuchEdition, reported),
            Error::Future { .. } => Self::new(Code::InvalidValue, reported).at("date"),
            Error::NotNow(_) => Self::new(Code::WrongState, reported),
            Error::NoDocument(_) => Self::new(Code::NoSuchDocument, reported),
            Error::Template(_) => {
                tracing::error!(
                    error = reported,
                    "the template of editions cannot be rendered"
                );
                Self::new(Code::BadTemplate, reported)
            }
            Error::Contended(_) => Self::new(Code::Contended, reported),
            Error::NotQueued(error) => error.into(),
            Error::Unnamed(_) => {
                tracing::error!(error = reported, "could not queue an edition");
                internal()
            }
            Error::Store(error) => error.into(),
        }
    }
}
