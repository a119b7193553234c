//! The arguments of `almanack import`.

use clap::{Args, ValueEnum};
use serde::Serialize;

/// Shown below the options.
pub(crate) const IMPORT_HELP: &str = "\
Prints the schedules as [[schedule]] tables for a configuration file.
Differences in meaning, and lines that cannot be converted, are reported on
standard error. The exit code is 2 if a line cannot. With --apply, the schedules
are written to the node instead; doing so again changes nothing.

The API of Healthchecks gives its checks:
  curl -H \"X-Api-Key: $KEY\" https://healthchecks.io/api/v3/checks/ > checks.json";

/// What to import, and what the text itself does not contain.
#[derive(Debug, Args)]
pub(crate) struct ImportArguments {
    /// Format of the file
    #[arg(value_enum)]
    pub(crate) format: ImportFormat,
    /// File to read, or - for standard input
    pub(crate) file: String,
    /// Print the schedules and change nothing; the default
    #[arg(long, conflicts_with = "apply")]
    pub(crate) dry_run: bool,
    /// Create or change the schedules on the node, or in its database
    #[arg(long)]
    pub(crate) apply: bool,
    /// Time zone for schedules without one, like Europe/Berlin
    #[arg(long, value_name = "ZONE")]
    pub(crate) tz: Option<String>,
    /// Repository of the workflow, like owner/repo
    #[arg(long, value_name = "OWNER/REPO")]
    pub(crate) repository: Option<String>,
    /// Read a crontab with a user before each command, like /etc/crontab
    #[arg(long)]
    pub(crate) system: bool,
    /// File name of standard input; required for timers and workflows
    #[arg(long = "as", value_name = "NAME")]
    pub(crate) file_name: Option<String>,
}

/// The format of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ImportFormat {
    /// DISPATCH lines: crontab fields or @Ns, repository, workflow
    Dispatch,
    /// A user's crontab, or the system's with --system
    Crontab,
    /// A systemd timer unit
    SystemdTimer,
    /// A scheduled GitHub Actions workflow
    GithubWorkflow,
    /// The checks of a Healthchecks project: the answer of its API's /api/v3/checks/
    Healthchecks,
}
