//! The arguments of `almanack next`.

use clap::{Args, ValueEnum};

/// Shown below the options.
pub(crate) const NEXT_HELP: &str = "\
Expressions:
  0 8 * * 1-5             minute, hour, day of month, month, day of week
  30 0 8 * * *            with the second first; a year may come last
  0 8 * * W#3             the third business day by the calendars; W#L the last
  0 8 L-3 * *             three days before the last day of the month
  @daily  @10s            nicknames; every 10 seconds, counted from the epoch
  at 2026-12-24 18:00     once
  H H * * *               a minute of the day that is fixed for each --name

A batch is JSON Lines on standard input; each line gets one line on standard
output:
  {\"id\":1,\"expr\":\"0 8 * * 1-5\",\"tz\":\"Europe/Berlin\",\"count\":3}";

/// Which expression, and how many of its times.
#[derive(Debug, Args)]
pub(crate) struct NextArguments {
    /// Schedule expression, in quotes
    #[arg(
        value_name = "EXPR",
        required_unless_present = "batch",
        allow_hyphen_values = true
    )]
    pub(crate) expression: Option<String>,
    /// Time zone, like Europe/Berlin
    #[arg(long, value_name = "ZONE", default_value = "UTC")]
    pub(crate) tz: String,
    /// Show times after this one; as for `task put --at`
    #[arg(
        long,
        value_name = "TIME",
        default_value = "now",
        allow_hyphen_values = true
    )]
    pub(crate) from: String,
    /// Number of times to show
    #[arg(long, value_name = "NUMBER", default_value_t = 5)]
    pub(crate) count: usize,
    /// Name of the schedule, which `H` depends on
    #[arg(long, default_value = "")]
    pub(crate) name: String,
    /// Leave out the days of this calendar: an iCalendar file, or a name in the configuration
    /// or on the node; repeatable
    #[arg(long, value_name = "CALENDAR", visible_alias = "calendar")]
    pub(crate) except: Vec<String>,
    /// Keep to the days of this calendar; as --except
    #[arg(long, value_name = "CALENDAR")]
    pub(crate) only: Vec<String>,
    /// Where a time goes whose day is left out [default: it is skipped]
    #[arg(long = "move", value_parser = ["next_workday", "previous_workday"])]
    pub(crate) moves: Option<String>,
    /// Leave out these hours, like 22:00-06:00; repeatable
    #[arg(long, value_name = "HOURS")]
    pub(crate) quiet: Vec<String>,
    /// Also accept other programs' syntax: 5/20, FRI-MON, `CRON_TZ`=…
    #[arg(long)]
    pub(crate) lenient: bool,
    /// Language of the description
    #[arg(long, value_enum, default_value_t = Words::En)]
    pub(crate) lang: Words,
    /// Read JSON Lines from standard input
    #[arg(long, conflicts_with_all = ["expression", "tz", "from", "count", "name", "lenient", "lang"])]
    pub(crate) batch: bool,
}

impl NextArguments {
    /// Whether calendars are to be looked up.
    pub(crate) fn names_calendars(&self) -> bool {
        !self.except.is_empty() || !self.only.is_empty()
    }

    /// Whether some times may be left out.
    pub(crate) fn leaves_out(&self) -> bool {
        self.names_calendars() || !self.quiet.is_empty() || self.moves.is_some()
    }
}

/// A language of descriptions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Words {
    /// English
    En,
    /// Simplified Chinese
    Zh,
}
