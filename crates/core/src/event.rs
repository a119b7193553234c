//! Events: [`incoming`] ones change tasks, [`outgoing`] ones report what happened.

pub mod incoming;
pub mod outgoing;
