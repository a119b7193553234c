//! The arguments of `almanack source replay`.

use clap::Args;

/// Shown below the options of `source replay`.
pub(super) const REPLAY_HELP: &str = "\
A trace is lines of a source's id, a tab and the seconds since 1970 at which it published. Each source
is checked as a node would check it, by the same decision; nothing is called and nothing is written.

Policies: adaptive, classic, miniflux, fixed:1h, or a schedule expression.

  almanack source replay --policy adaptive --policy classic --budget classic --trace history.tsv.gz
  almanack source replay --policy adaptive --budget 24 --floor 15m --trace - --json < history.tsv";

/// What to replay, and how.
#[derive(Debug, Args)]
pub(crate) struct ReplayArguments {
    /// Policy to replay; may be repeated to compare
    #[arg(long, value_name = "POLICY", default_value = "adaptive")]
    pub(crate) policy: Vec<String>,
    /// Recorded publication times, plain or gzipped; `-` is standard input; may be repeated
    #[arg(long, value_name = "FILE", required = true)]
    pub(crate) trace: Vec<String>,
    /// Checks a day and source that each policy may make, or a policy that says how many
    /// [default: what each makes by itself]
    #[arg(long, value_name = "NUMBER|POLICY")]
    pub(crate) budget: Option<String>,
    /// The shortest gap between two checks
    #[arg(long, value_name = "DURATION", default_value = "5m")]
    pub(crate) floor: String,
    /// The longest gap of the policies that learn
    #[arg(long, value_name = "DURATION", default_value = "24h")]
    pub(crate) ceiling: String,
    /// Entries a day that a slow source counts for at least, with the adaptive policy
    #[arg(long, value_name = "NUMBER")]
    pub(crate) rate_min: Option<f64>,
}
