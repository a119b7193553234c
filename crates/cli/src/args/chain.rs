//! The arguments of `almanack chain` and `almanack guard`.

use std::path::PathBuf;

use clap::Args;

/// Shown below the options of `chain`.
pub(crate) const CHAIN_HELP: &str = "\
Environment, as GitHub Actions sets it:
  GITHUB_REPOSITORY, GITHUB_RUN_ID, GITHUB_SHA, GITHUB_WORKFLOW, GITHUB_API_URL
And as the workflow must:
  GH_TOKEN   the repository's own token: locks and runs; contents and actions: write
  PAT        the token that starts workflows elsewhere [default: GH_TOKEN]
  DISPATCH   the schedules
  TZ_OFFSET  hours that the times in the log are shifted by";

/// How to keep the schedules.
#[derive(Debug, Args)]
pub(crate) struct ChainArguments {
    /// Which chain this is: its workflow's file without .yml [default: what `GITHUB_WORKFLOW` says]
    #[arg(long = "self", value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// How often to look, 100ms to 10s
    #[arg(long, value_name = "PERIOD", default_value = "10s")]
    pub(crate) round: String,
    /// How long to work [default: by the chain's last letter, 5h for a, half an hour more for each]
    #[arg(long = "for", value_name = "PERIOD")]
    pub(crate) length: Option<String>,
    /// Work for one round only
    #[arg(long)]
    pub(crate) once: bool,
    /// File with the schedules [default: what DISPATCH says]
    #[arg(long, value_name = "FILE")]
    pub(crate) dispatch: Option<PathBuf>,
    /// Where locks are kept: github, or git:URL for any Git server
    #[arg(long, value_name = "WHERE", default_value = "github")]
    pub(crate) lock: String,
    /// Where GitHub's API lives [default: what `GITHUB_API_URL` says]
    #[arg(long, value_name = "URL")]
    pub(crate) api_url: Option<String>,
    /// Shift this process's clock, for rehearsals with clocks that differ
    #[arg(long, value_name = "PERIOD", hide = true, allow_hyphen_values = true)]
    pub(crate) clock_offset: Option<String>,
}

/// What to watch.
#[derive(Debug, Args)]
pub(crate) struct GuardArguments {
    /// A chain to watch; may be repeated
    #[arg(long, value_name = "NAME", default_values = ["tick-a", "tick-b"])]
    pub(crate) chain: Vec<String>,
    /// A run that is about to end, though GitHub still shows it at work
    #[arg(long, value_name = "RUN_ID")]
    pub(crate) ended: Option<u64>,
    /// Branch to start chains on [default: what `GITHUB_REF_NAME` says, or main]
    #[arg(long = "ref", value_name = "BRANCH")]
    pub(crate) git_ref: Option<String>,
    /// Where GitHub's API lives [default: what `GITHUB_API_URL` says]
    #[arg(long, value_name = "URL")]
    pub(crate) api_url: Option<String>,
}
