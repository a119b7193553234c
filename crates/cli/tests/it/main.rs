//! The binary as its users meet it: real arguments, real files, real exit codes.

mod business;
mod check;
mod drain;
mod failures;
mod harness;
mod kill;
mod process;
mod put;
mod surface;
mod task;
mod token;
