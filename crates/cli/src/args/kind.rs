//! The arguments of `almanack kind`.

use clap::{Args, Subcommand};

/// What to do with kinds of tasks.
#[derive(Debug, Subcommand)]
pub(crate) enum KindCommand {
    /// List kinds: what waits and runs, what is paused, and rates
    List,
    /// Show a kind
    Show(KindArguments),
    /// Pause a kind until you resume it, or until a time; waiting tasks stay, running ones end
    Pause {
        #[command(flatten)]
        kind: KindArguments,
        /// Resume automatically at this time; as for `task put --at`
        #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
        until: Option<String>,
        /// Reason to show to others
        #[arg(long)]
        note: Option<String>,
    },
    /// Resume a paused kind
    Resume(KindArguments),
}

/// Which kind.
#[derive(Debug, Args)]
pub(crate) struct KindArguments {
    /// Kind of tasks, like `ARTICLE_PUBLISH`
    pub(crate) kind: String,
}
