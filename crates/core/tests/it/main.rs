//! Schedule expressions as their users meet them: cases, laws, and another implementation.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail their test")]

mod cases;
mod differential;
mod laws;
mod random;
mod slow;
