//! `almanack clock`.

use clap::Subcommand;

/// What to do about the machine's clock.
#[derive(Debug, Subcommand)]
pub(crate) enum ClockCommand {
    /// Show whether the machine's clock can be trusted, and what is held if it cannot
    Show,
    /// Go by the machine's clock from now on, although it differs from what Almanack expects
    Accept,
}
