//! What is to be done next.
