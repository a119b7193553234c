//! The arguments of `almanack simulate`.

use std::path::PathBuf;

use clap::Args;

/// Shown below the options.
pub(crate) const SIMULATE_HELP: &str = "\
Calls nothing and writes nothing: the planner runs on a store in memory with a
simulated clock. The schedules come from the configuration file and from
DISPATCH. Those with errors are named and left out, and the exit code is 2.";

/// What to simulate.
#[derive(Debug, Args)]
pub(crate) struct SimulateArguments {
    /// Period to simulate, like 24h or 7d
    #[arg(long = "for", value_name = "PERIOD", default_value = "24h")]
    pub(crate) period: String,
    /// Start of the period; as for `task put --at`
    #[arg(long, value_name = "TIME", default_value = "now")]
    pub(crate) from: String,
    /// No node runs between these times of each day, in UTC; repeatable
    #[arg(long, value_name = "HH:MM-HH:MM")]
    pub(crate) outage: Vec<String>,
    /// Duration of each firing
    #[arg(long, value_name = "DURATION", default_value = "1s")]
    pub(crate) takes: String,
    /// Most lines to show; --json shows all
    #[arg(long, value_name = "COUNT", default_value_t = 200)]
    pub(crate) limit: usize,
    /// Write a timeline as SVG to this file
    #[arg(long, value_name = "FILE")]
    pub(crate) svg: Option<PathBuf>,
}
