//! The arguments of `almanack simulate`.

use std::path::PathBuf;

use clap::Args;

/// Shown below the options.
pub(crate) const SIMULATE_HELP: &str = "\
Nothing is called and nothing is written: the planner works on a store in memory, by a clock that
jumps. The schedules are those of the configuration file and of DISPATCH.

  almanack simulate --for 24h
  almanack simulate --from 2026-03-29T00:00Z --for 24h --outage 02:00-05:00 --svg night.svg";

/// What to simulate.
#[derive(Debug, Args)]
pub(crate) struct SimulateArguments {
    /// How long, like 24h or 7d
    #[arg(long = "for", value_name = "PERIOD", default_value = "24h")]
    pub(crate) period: String,
    /// From when; as for `task put --at`
    #[arg(long, value_name = "TIME", default_value = "now")]
    pub(crate) from: String,
    /// No node is there between these times of every day, in UTC; may be repeated
    #[arg(long, value_name = "HH:MM-HH:MM")]
    pub(crate) outage: Vec<String>,
    /// How long each firing takes
    #[arg(long, value_name = "DURATION", default_value = "1s")]
    pub(crate) takes: String,
    /// Show so many lines at most; --json shows all
    #[arg(long, value_name = "COUNT", default_value_t = 200)]
    pub(crate) limit: usize,
    /// Draw a timeline into this file
    #[arg(long, value_name = "FILE")]
    pub(crate) svg: Option<PathBuf>,
}
