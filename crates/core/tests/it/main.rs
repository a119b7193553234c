//! Schedule expressions as their users meet them (cases, laws, another implementation), and the wire.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail their test")]

mod cases;
mod differential;
mod laws;
mod random;
mod slow;
mod wire;
