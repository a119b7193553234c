//! What fails, by name: each failure says what it is, and work goes on once it has passed.

mod callback;
mod database;
mod hanging;
mod postgres;
mod start;
