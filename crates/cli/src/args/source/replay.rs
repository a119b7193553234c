//! The arguments of `almanack source replay`.

use clap::Args;

/// Shown below the options of `source replay`.
pub(super) const REPLAY_HELP: &str = "\
Each line of a trace is a source's id, a tab, and a publication time in seconds
since 1970. Replay decides checks with the code that a node uses; it calls
nothing and writes nothing.

Policies: adaptive, classic, miniflux, fixed:1h, or a schedule expression.";

/// What to replay, and how.
#[derive(Debug, Args)]
pub(crate) struct ReplayArguments {
    /// Policy to replay; repeat to compare
    #[arg(long, value_name = "POLICY", default_value = "adaptive")]
    pub(crate) policy: Vec<String>,
    /// File of publication times, plain or gzipped, or - for standard input; repeatable
    #[arg(long, value_name = "FILE", required = true)]
    pub(crate) trace: Vec<String>,
    /// Checks per source and day for each policy, or a policy to take the number from
    /// [default: each policy's own number]
    #[arg(long, value_name = "NUMBER|POLICY")]
    pub(crate) budget: Option<String>,
    /// Shortest gap between two checks
    #[arg(long, value_name = "DURATION", default_value = "5m")]
    pub(crate) floor: String,
    /// Longest gap of the policies that learn
    #[arg(long, value_name = "DURATION", default_value = "24h")]
    pub(crate) ceiling: String,
    /// Fewest entries per day that the adaptive policy assumes of a slow source
    #[arg(long, value_name = "NUMBER")]
    pub(crate) rate_min: Option<f64>,
    /// Checks that slow sources get at least, in percent of an even spread; needs --budget
    #[arg(long, value_name = "PERCENT", requires = "budget", default_value_t = 0,
          value_parser = clap::value_parser!(u8).range(0..=100))]
    pub(crate) slow_percent: u8,
}
