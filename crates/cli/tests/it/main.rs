//! The binary as its users meet it: real arguments, real files, real exit codes.

mod check;
mod harness;
mod put;
mod surface;
mod task;
mod token;
