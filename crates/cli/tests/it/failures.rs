//! What fails, by name: each failure says what it is, and work goes on once it has passed.

mod callback;
mod database;
pub(crate) mod hanging;
pub(crate) mod postgres;
mod start;
