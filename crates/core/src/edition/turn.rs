//! Turns: how an account changes.
