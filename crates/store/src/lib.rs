//! The store ports on SQLite and PostgreSQL. All SQL lives here, one file per aggregate.
//!
//! `task`, `claim`, `history` and `register` hold the statements, `row` reads what they return, and
//! `sqlite` and `postgres` carry the ports out. One conformance suite proves the two equal.

mod claim;
mod depth;
mod history;
mod lanes;
mod migrate;
mod nudge;
mod register;
mod row;
pub mod sqlite;
mod task;
