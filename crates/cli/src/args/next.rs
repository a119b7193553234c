//! The arguments of `almanack next`.

use clap::{Args, ValueEnum};

/// Shown below the options.
pub(crate) const NEXT_HELP: &str = "\
Expressions:
  0 8 * * 1-5             minute, hour, day of month, month, day of week
  30 0 8 * * *            with the second first; with a year last there are seven
  @daily  @10s            nicknames; seconds counted from the epoch
  H H * * *               some minute of the day, always the same for a --name

A batch is JSON Lines on standard input; each line is answered by one on standard output:
  {\"id\":1,\"expr\":\"0 8 * * 1-5\",\"tz\":\"Europe/Berlin\",\"from\":\"2026-01-05T00:00Z\",\"count\":3}";

/// Which expression, and how much of it.
#[derive(Debug, Args)]
pub(crate) struct NextArguments {
    /// The expression, in quotes
    #[arg(
        value_name = "EXPR",
        required_unless_present = "batch",
        conflicts_with = "batch",
        allow_hyphen_values = true
    )]
    pub(crate) expression: Option<String>,
    /// Time zone, like Europe/Berlin
    #[arg(
        long,
        value_name = "ZONE",
        default_value = "UTC",
        conflicts_with = "batch"
    )]
    pub(crate) tz: String,
    /// Occurrences after this time; as for `task put --at`
    #[arg(
        long,
        value_name = "TIME",
        default_value = "now",
        conflicts_with = "batch",
        allow_hyphen_values = true
    )]
    pub(crate) from: String,
    /// How many occurrences
    #[arg(
        long,
        value_name = "NUMBER",
        default_value_t = 5,
        conflicts_with = "batch"
    )]
    pub(crate) count: usize,
    /// The schedule's name, which `H` depends on
    #[arg(long, default_value = "", conflicts_with = "batch")]
    pub(crate) name: String,
    /// Also read what imports may say: 5/20, FRI-MON, L-3, `CRON_TZ`=…
    #[arg(long, conflicts_with = "batch")]
    pub(crate) lenient: bool,
    /// Language of the words
    #[arg(long, value_enum, default_value_t = Words::En, conflicts_with = "batch")]
    pub(crate) lang: Words,
    /// Answer JSON Lines from standard input
    #[arg(long)]
    pub(crate) batch: bool,
}

/// A language to say it in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Words {
    /// English
    En,
    /// Simplified Chinese
    Zh,
}
