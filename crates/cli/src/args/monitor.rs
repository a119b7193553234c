//! The arguments of `almanack monitor`.

use clap::{Args, Subcommand};

use super::NameArguments;

const PUT_HELP: &str = "\
A monitor is a schedule with a ping target: `schedule slots`, `schedule rewind`
and `why` work on it. A new one gets a ping address, which is shown once.

A job sends a ping when it has succeeded:
  curl -fsS -m 10 --retry 5 https://almanack.example/ping/KEY";

/// What to do with monitors.
#[derive(Debug, Subcommand)]
pub(crate) enum MonitorCommand {
    /// List monitors with their status
    List,
    /// Show a monitor: status, next expected ping, last pings
    Show(NameArguments),
    /// Create or change a monitor that is not in a configuration file
    #[command(after_help = PUT_HELP)]
    Put(MonitorPutArguments),
    /// List the last pings of a monitor with their bodies, newest first
    Pings {
        #[command(flatten)]
        monitor: NameArguments,
        /// Most pings to show
        #[arg(long, value_name = "COUNT", default_value_t = 20, value_parser = super::some)]
        limit: usize,
    },
    /// Create a ping address, shown once; the one before it stops working
    Key {
        #[command(flatten)]
        monitor: NameArguments,
        /// Keep a UUID that jobs use already, such as that of a check at Healthchecks
        #[arg(long, value_name = "UUID")]
        key: Option<String>,
    },
    /// Show a badge to everybody who knows its address
    Badge {
        #[command(flatten)]
        monitor: NameArguments,
        /// Stop showing it
        #[arg(long)]
        off: bool,
    },
    /// Pause a monitor until you resume it, or until a time
    Pause {
        #[command(flatten)]
        monitor: NameArguments,
        /// Resume automatically at this time; as for `task put --at`
        #[arg(long, value_name = "TIME")]
        until: Option<String>,
        /// Reason to show to others
        #[arg(long)]
        note: Option<String>,
    },
    /// Resume a paused monitor
    Resume(NameArguments),
    /// Remove a monitor; its history stays
    Remove(NameArguments),
}

/// What to put.
#[derive(Debug, Args)]
pub(crate) struct MonitorPutArguments {
    /// Name of the monitor
    pub(crate) name: String,
    /// When pings are expected, in quotes: a cron expression, or `@every PERIOD` after the last ping
    #[arg(value_name = "EXPR", allow_hyphen_values = true)]
    pub(crate) expression: String,
    /// Time zone of the expression [default: UTC]
    #[arg(long, value_name = "ZONE")]
    pub(crate) tz: Option<String>,
    /// How late a ping may be [default: half the time to the next, 15s to 12h]
    #[arg(long, value_name = "DURATION")]
    pub(crate) grace: Option<String>,
    /// What the job does
    #[arg(long)]
    pub(crate) note: Option<String>,
}
