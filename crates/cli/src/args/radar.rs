//! The arguments of `almanack radar`.

use clap::{Args, Subcommand};

pub(super) const RADAR_HELP: &str = "\
A herd is a second in which many things start. `radar spread` gives its
schedules a splay and moves its waiting tasks.";

/// What to show, or what to spread.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct RadarArguments {
    #[command(subcommand)]
    pub(crate) command: Option<RadarCommand>,
    /// Hours to look ahead, at most 48
    #[arg(long, value_name = "COUNT", default_value_t = 24)]
    pub(crate) hours: u32,
    /// How many starts in one second are a herd
    #[arg(long, value_name = "COUNT", default_value_t = 20)]
    pub(crate) herd: u64,
}

/// What to do with a herd.
#[derive(Debug, Subcommand)]
pub(crate) enum RadarCommand {
    /// Spread what starts in one second; shows what would change unless you add --yes
    Spread(SpreadArguments),
}

/// What to spread.
#[derive(Debug, Args)]
pub(crate) struct SpreadArguments {
    /// The second, as `almanack radar` shows it, or as for `task put --at`
    #[arg(value_name = "AT")]
    pub(crate) at: String,
    /// Over how long [default: as proposed]
    #[arg(long, value_name = "DURATION")]
    pub(crate) splay: Option<String>,
    /// Change it
    #[arg(long)]
    pub(crate) yes: bool,
}
