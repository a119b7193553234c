//! Newsletters: editions by mail, to people who asked for them.
//!
//! ```text
//!              confirmed by its link          unsubscribed
//!   pending ───────────────────────► confirmed ──────────► unsubscribed
//!      ▲                                 │ N refusals           │
//!      │                                 ▼                      │
//!      └──────── asked again ───────  bounced ◄─────────────────┘ (asked again)
//! ```
//!
//! A **subscriber** is one address of one edition ([`subscriber`]). A **mailing** is one edition on
//! its way to its subscribers, with a ledger row for each of them ([`mailing`]): thousands of them
//! must not be part of the edition's one version. The edition's delivery to `mail` is confirmed
//! when the mailing is written; from there on a task of kind [`EDITION_MAIL`] sends, a bounded step
//! at a time.
//!
//! What must stay true (ED-43):
//!
//! - Nobody gets mail who did not ask for it: only a confirmed subscriber gets an edition, and only
//!   the holder of a signed link ([`link`]) confirms.
//! - Nobody gets an edition twice. A mailing exists once per edition, a row once per subscriber,
//!   and a message is handed over only by whoever wrote `sent` into its row.
//! - Whoever unsubscribed is not subscribed again by anybody else, imports included.

pub mod address;
pub mod bounce;
pub mod csv;
pub mod link;
pub mod mailing;
pub mod port;
pub mod subscriber;

pub use address::Address;
pub use mailing::Mailing;
pub use subscriber::{Subscriber, SubscriberId};

/// The kind of the tasks that send newsletters and confirmation mails.
pub const EDITION_MAIL: &str = "EDITION_MAIL";
/// The destination's name in the configuration and in the edition's deliveries.
pub const MAIL: &str = "mail";
