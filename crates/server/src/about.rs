//! The public page about our requests: where it is, and what it needs to know.
//!
//! The page itself is among the dashboard's (`ui`); it needs no sign-in.

use almanack_core::host_pace::Pace;

/// Where it is.
pub const ABOUT_PATH: &str = "/about-requests";

/// What the page says besides what the node knows.
#[derive(Debug, Clone, Default)]
pub struct About {
    /// Whom to write to: a web address or a mailbox.
    pub contact: Option<String>,
    /// How often one host is asked.
    pub pace: Pace,
}
