//! `almanack subscription`.

use clap::Subcommand;

/// What to do with subscriptions. They are made in the configuration.
#[derive(Debug, Subcommand)]
pub(crate) enum SubscriptionCommand {
    /// List subscriptions, and how much is to be told to each or could not be
    List,
}
