//! The arguments of `almanack import`.

use clap::{Args, ValueEnum};

/// Shown below the options.
pub(crate) const IMPORT_HELP: &str = "\
Schedules are written as [[schedule]] to standard output, ready for a configuration file; what differs in
meaning and what could not be read is reported beside it. The exit code is 2 if something could not.

Examples:
  crontab -l | almanack import crontab - --tz Europe/Berlin
  almanack import crontab /etc/crontab --system
  almanack import systemd-timer /etc/systemd/system/backup.timer --json
  almanack import github-workflow .github/workflows/daily.yml --repository owner/repo";

/// What to import, and what it does not say about itself.
#[derive(Debug, Args)]
pub(crate) struct ImportArguments {
    /// What wrote it
    #[arg(value_enum)]
    pub(crate) format: ImportFormat,
    /// The file, or - for standard input
    pub(crate) file: String,
    /// Show what would be imported and change nothing; so far that is all there is
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Time zone where the text names none, like Europe/Berlin
    #[arg(long, value_name = "ZONE")]
    pub(crate) tz: Option<String>,
    /// Repository of a workflow, like owner/repo
    #[arg(long, value_name = "OWNER/REPO")]
    pub(crate) repository: Option<String>,
    /// A crontab with a user before each command, like /etc/crontab
    #[arg(long)]
    pub(crate) system: bool,
    /// What the file is called, if it comes from standard input; timers and workflows need it
    #[arg(long = "as", value_name = "NAME")]
    pub(crate) file_name: Option<String>,
}

/// What a text was written for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ImportFormat {
    /// The DISPATCH text: crontab fields or @Ns, repository, workflow
    Dispatch,
    /// Cron, a user's or with --system the machine's
    Crontab,
    /// A timer unit of systemd
    SystemdTimer,
    /// A scheduled workflow of GitHub Actions
    GithubWorkflow,
}

impl ImportFormat {
    /// Its name on the command line.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Dispatch => "dispatch",
            Self::Crontab => "crontab",
            Self::SystemdTimer => "systemd-timer",
            Self::GithubWorkflow => "github-workflow",
        }
    }
}
