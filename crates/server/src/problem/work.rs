//! What can go wrong with the requests of workers.

use almanack_core::lang::Say;
use almanack_core::work::Invalid;
use almanack_engine::work::Error;

use crate::prelude::*;

impl From<Invalid> for Problem {
    fn from(invalid: Invalid) -> Self {
        Self::new(Code::InvalidValue, invalid.both()).at(invalid.path)
    }
}

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        match error {
            Error::Reserved { .. } => Self::invalid("kinds", error.both()),
            Error::NotPulled { .. } => Self::new(Code::NotPulled, error.both()).at("kinds"),
            Error::TooManyWaiting => Self::new(Code::TooManyWaiting, error.both()),
            Error::Store(error) => error.into(),
        }
    }
}
