//! Checks on the plans of statements, and on who keeps whom waiting.

mod plans;
mod readers;
