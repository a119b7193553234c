//! Errors of the radar as problems.

use almanack_core::lang::Say;
use almanack_engine::radar::Error;

use crate::prelude::*;

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        let text = error.both();
        match error {
            Error::OutOfReach => Self::new(Code::InvalidTime, text).at("at"),
            Error::Splay => Self::new(Code::InvalidValue, text).at("splay_s"),
            Error::NothingThere { .. } | Error::NoProposal { .. } => {
                Self::new(Code::NothingToSpread, text)
            }
            Error::Schedules(error) => (*error).into(),
            Error::Reschedule(error) => (*error).into(),
            Error::Store(error) => error.into(),
        }
    }
}
