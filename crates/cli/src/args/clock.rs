//! `almanack clock`.

use clap::Subcommand;

/// What to do about the machine's clock.
#[derive(Debug, Subcommand)]
pub(crate) enum ClockCommand {
    /// Show the state of the machine's clock, and what is held if it cannot be trusted
    Show,
    /// Use the machine's clock from now on, although it differs from what Almanack expects
    Accept,
}
