//! Arguments that find tasks, and change all that are found.

use clap::{Args, Subcommand, ValueEnum};

use super::HowMany;

/// Which tasks.
#[derive(Debug, Args)]
pub(crate) struct FilterArguments {
    /// Only these rows; separate numbers by commas
    #[arg(long, value_name = "NUMBERS")]
    pub(crate) id: Option<String>,
    /// Leave out tasks of Almanack's own kinds
    #[arg(long)]
    pub(crate) no_internal: bool,
    /// Only this kind
    #[arg(long)]
    pub(crate) kind: Option<String>,
    /// Only this status: INIT, RUNNING, SUCCESS, FAIL or CANCELLED
    #[arg(long)]
    pub(crate) status: Option<String>,
    /// Only subjects with this prefix
    #[arg(long, value_name = "PREFIX")]
    pub(crate) subject: Option<String>,
    /// Only subjects that contain this
    #[arg(long, value_name = "TEXT")]
    pub(crate) contains: Option<String>,
    /// Only tasks that wait, will be retried or run
    #[arg(long, conflicts_with = "ended")]
    pub(crate) live: bool,
    /// Only tasks that have ended
    #[arg(long)]
    pub(crate) ended: bool,
    /// Only tasks with this tag; repeat for tasks with all of them
    #[arg(long, value_name = "TAG")]
    pub(crate) tag: Vec<String>,
    /// Only tasks whose time is this or later
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) due_from: Option<String>,
    /// Only tasks whose time is earlier than this
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) due_to: Option<String>,
    /// Only tasks whose last result contains this
    #[arg(long, value_name = "TEXT")]
    pub(crate) error: Option<String>,
}

/// Which tasks, and how many.
#[derive(Debug, Args)]
pub(crate) struct ListArguments {
    #[command(flatten)]
    pub(crate) filter: FilterArguments,
    #[command(flatten)]
    pub(crate) many: HowMany,
}

/// Which tasks, and by what.
#[derive(Debug, Args)]
pub(crate) struct CountArguments {
    #[command(flatten)]
    pub(crate) filter: FilterArguments,
    /// Also count by this
    #[arg(long, value_enum)]
    pub(crate) by: Option<CountedBy>,
}

/// By what tasks are counted.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum CountedBy {
    Kind,
    Status,
    Tag,
}

/// What to do with all tasks that match.
#[derive(Debug, Subcommand)]
pub(crate) enum BulkCommand {
    /// Cancel live tasks
    Cancel(BulkArguments),
    /// Run failed tasks again now
    Retry(BulkArguments),
    /// Move waiting tasks
    Move {
        #[command(flatten)]
        bulk: BulkArguments,
        /// Move each by this long, like 2h or -30m
        #[arg(
            long,
            value_name = "DURATION",
            allow_hyphen_values = true,
            required_unless_present = "to",
            conflicts_with = "to"
        )]
        by: Option<String>,
        /// Move all to this time
        #[arg(
            long,
            visible_alias = "at",
            value_name = "TIME",
            allow_hyphen_values = true
        )]
        to: Option<String>,
    },
    /// List bulk changes, newest first
    List(HowMany),
    /// Show a bulk change and how far it got
    Show(BulkNumber),
    /// Stop a bulk change; what it changed stays changed
    Stop(BulkNumber),
}

/// Which tasks, and how.
#[derive(Debug, Args)]
pub(crate) struct BulkArguments {
    #[command(flatten)]
    pub(crate) filter: FilterArguments,
    /// Only count what would change
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Do not ask for confirmation
    #[arg(long)]
    pub(crate) yes: bool,
    /// Wait until it has ended
    #[arg(long)]
    pub(crate) wait: bool,
}

/// Which bulk change.
#[derive(Debug, Args)]
pub(crate) struct BulkNumber {
    /// Number of the bulk change
    #[arg(value_name = "NUMBER")]
    pub(crate) id: i64,
}
