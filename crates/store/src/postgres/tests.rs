//! Checks on the plans of statements, and on which callers block others.

mod plans;
mod readers;
