//! `almanack alert`.

use clap::Subcommand;

/// What to do with alerts.
#[derive(Debug, Subcommand)]
pub(crate) enum AlertCommand {
    /// List open alerts
    List {
        /// Include closed alerts, kept for 30 days
        #[arg(long)]
        all: bool,
    },
    /// Send a test message through the configured channels and show each result
    Test {
        /// Only through this channel: webhook, telegram, smtp, ntfy, slack or exec
        channel: Option<String>,
    },
}
