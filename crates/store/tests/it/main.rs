//! The stores against the one conformance suite.

mod sqlite;
