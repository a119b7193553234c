//! Almanack's events over message buses: Kafka and NATS.
//!
//! Inward, a consumer brings what services tell to
//! [`almanack_core::event::incoming::intake::Intake`]. The one promise: a message is forgotten (its
//! offset committed, its delivery acknowledged) only after the store has its effect or the dead
//! letters have the message. So nothing is lost, everything may come twice, and twice is harmless
//! because revisions decide (RS-10). Whatever does not answer, a broker or the store, is waited for
//! and never stops the node.
//!
//! ```text
//!   messages ─► batch ─► understand (core) ─► intake ─► taken ─────────► settled ─► commit or acknowledge
//!                             │                 ├─────► not now ─► wait, the same batch again
//!                             └── makes no sense ┴────► dead letter, confirmed ─► settled
//! ```
//!
//! Outward, a publisher hands Almanack's own events to a topic or a subject.
//!
//! [`batch`](self) and longest wait are shared; [`kafka`] and [`nats`] differ only in how messages
//! come and how they are forgotten.

mod batch;
pub mod kafka;
mod measures;
pub mod nats;
mod settings;
mod wait_backoff;

use std::sync::Arc;

use almanack_core::{
    event::incoming::intake::{Intake, Links},
    time::{Clock, Entropy, Sleeper},
};

pub use settings::{Error, Tls};

/// What a consumer works with.
#[derive(Clone)]
pub struct Ports {
    pub intake: Arc<dyn Intake>,
    /// Hears whether buses are connected.
    pub links: Arc<dyn Links>,
    pub clock: Arc<dyn Clock>,
    pub sleeper: Arc<dyn Sleeper>,
    pub entropy: Arc<dyn Entropy>,
}
