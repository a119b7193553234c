//! `almanack subscription`.

use clap::Subcommand;

/// What to do with subscriptions. They are defined in the configuration.
#[derive(Debug, Subcommand)]
pub(crate) enum SubscriptionCommand {
    /// List subscriptions with their waiting and failed deliveries
    List,
}
