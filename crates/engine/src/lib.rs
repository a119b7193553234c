//! Almanack's duties and the way in for changes of intent.
//!
//! Each duty is one file: the [`runner`] tries what is due, the [`keeper`] keeps leases and nodes
//! honest. [`reschedule`] is how a wish from outside becomes a change in the store. None of them
//! sees SQL, reads a clock or rolls dice on its own; what they need comes in as ports.

pub mod reschedule;
