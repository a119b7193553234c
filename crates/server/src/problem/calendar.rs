//! Errors of requests about calendars as problems.

use almanack_core::lang::Say;
use almanack_engine::calendars::Error;

use crate::prelude::*;

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        let text = error.both();
        match error {
            Error::Unknown { .. } => Self::new(Code::NoSuchCalendar, text),
            Error::Unfit(unfit) => Self::new(Code::InvalidValue, text).at(unfit.path()),
            Error::Unreachable(_) => Self::new(Code::InvalidValue, text).at("url"),
            Error::Managed { .. } => Self::new(Code::ManagedCalendar, text),
            Error::InUse { .. } => Self::new(Code::CalendarInUse, text),
            Error::Contended { .. } => Self::new(Code::Contended, text),
            Error::Schedules(error) => (*error).into(),
            Error::Store(error) => error.into(),
        }
    }
}
