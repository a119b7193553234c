//! `almanack alert`.

use clap::Subcommand;

/// What to do with alerts.
#[derive(Debug, Subcommand)]
pub(crate) enum AlertCommand {
    /// List what is wrong now
    List {
        /// Also what is over, as long as it is kept: thirty days
        #[arg(long)]
        all: bool,
    },
    /// Send a test message by the configured channels and show what each answered
    Test {
        /// Only by this channel: webhook, telegram, smtp, ntfy, slack or exec
        channel: Option<String>,
    },
}
