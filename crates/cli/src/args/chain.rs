//! The arguments of `almanack chain` and `almanack guard`.

use std::path::PathBuf;

use clap::Args;

/// Shown below the options of `chain`.
pub(crate) const CHAIN_HELP: &str = "\
Environment, as GitHub Actions sets it:
  GITHUB_REPOSITORY, GITHUB_RUN_ID, GITHUB_SHA, GITHUB_WORKFLOW, GITHUB_API_URL
Environment that the workflow must set:
  GH_TOKEN   the repository's token for locks and runs, with contents: write and
             actions: write
  PAT        token that starts workflows elsewhere [default: GH_TOKEN]
  DISPATCH   the schedules
  TZ_OFFSET  hours to shift the times in the log by";

/// How to run the schedules.
#[derive(Debug, Args)]
pub(crate) struct ChainArguments {
    /// Name of this chain: its workflow file without .yml [default: `GITHUB_WORKFLOW`]
    #[arg(long = "self", value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Time between two rounds, 100ms to 10s
    #[arg(long, value_name = "PERIOD", default_value = "10s")]
    pub(crate) round: String,
    /// How long to run [default: by the chain's last letter: 5h for a, 30m more for each next]
    #[arg(long = "for", value_name = "PERIOD")]
    pub(crate) length: Option<String>,
    /// Run one round, then exit
    #[arg(long)]
    pub(crate) once: bool,
    /// File with the schedules [default: the variable DISPATCH]
    #[arg(long, value_name = "FILE")]
    pub(crate) dispatch: Option<PathBuf>,
    /// Where locks are kept: github, or git:URL for any Git server
    #[arg(long, value_name = "WHERE", default_value = "github")]
    pub(crate) lock: String,
    /// Address of GitHub's API [default: `GITHUB_API_URL`]
    #[arg(long, value_name = "URL")]
    pub(crate) api_url: Option<String>,
    /// Shift this process's clock, for simulations with clocks that differ
    #[arg(long, value_name = "PERIOD", hide = true, allow_hyphen_values = true)]
    pub(crate) clock_offset: Option<String>,
}

/// What to watch.
#[derive(Debug, Args)]
pub(crate) struct GuardArguments {
    /// Chain to watch; repeatable
    #[arg(long, value_name = "NAME", default_values = ["tick-a", "tick-b"])]
    pub(crate) chain: Vec<String>,
    /// Run that is about to end, though GitHub still shows it as running
    #[arg(long, value_name = "RUN_ID")]
    pub(crate) ended: Option<u64>,
    /// Branch to start chains on [default: `GITHUB_REF_NAME`, or main]
    #[arg(long = "ref", value_name = "BRANCH")]
    pub(crate) git_ref: Option<String>,
    /// Address of GitHub's API [default: `GITHUB_API_URL`]
    #[arg(long, value_name = "URL")]
    pub(crate) api_url: Option<String>,
}
