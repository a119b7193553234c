//! What can go wrong with a wish about an edition, as callers meet it.

use almanack_engine::editions::Error;

use super::internal;
use crate::prelude::*;

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        let told = error.to_string();
        match error {
            Error::Unknown(_) => Self::new(Code::NoSuchEdition, told),
            Error::Future { .. } => Self::new(Code::InvalidValue, told).at("date"),
            Error::NotNow(_) => Self::new(Code::WrongState, told),
            Error::NoDocument(_) => Self::new(Code::NoSuchDocument, told),
            Error::Template(_) => {
                tracing::error!(error = told, "the template of editions cannot be printed");
                Self::new(Code::BadTemplate, told)
            }
            Error::Contended(_) => Self::new(Code::Contended, told),
            Error::NotQueued(error) => error.into(),
            Error::Unnamed(_) => {
                tracing::error!(error = told, "an edition could not be queued");
                internal()
            }
            Error::Store(error) => error.into(),
        }
    }
}
