//! The client against a node that answers as the test wants: away, refusing, late.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail their test")]

mod calls;
mod node;
mod worker;
