//! The arguments of `almanack init`.

use clap::{Args, ValueEnum};

use super::PasswordArguments;

pub(super) const INIT_HELP: &str = "\
Writes almanack.toml, or the file that --config names, and never overwrites one.
On a terminal it asks for what no option says; --yes takes the defaults instead.";

/// The answers that are known already.
#[derive(Debug, Args)]
pub(crate) struct InitArguments {
    /// Address to listen on [default: 127.0.0.1:8080]
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub(crate) listen: Option<String>,
    /// What to run, separated by commas [default: tasks,schedules]
    #[arg(long, value_name = "JOB,…", value_enum, value_delimiter = ',')]
    pub(crate) run: Option<Vec<Job>>,
    /// Where editions go: a folder, or the address of a webhook [default: editions]
    #[arg(long, value_name = "FOLDER|URL")]
    pub(crate) editions_to: Option<String>,
    /// Create this user of the dashboard, who may do everything
    #[arg(long, value_name = "NAME", conflicts_with = "token")]
    pub(crate) user: Option<String>,
    #[command(flatten)]
    pub(crate) password: PasswordArguments,
    /// Create an access token of this name, which allows everything, and print it
    #[arg(long, value_name = "NAME")]
    pub(crate) token: Option<String>,
    /// Ask nothing: the default is the answer to every question that no option answers
    #[arg(long)]
    pub(crate) yes: bool,
}

/// What a node is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Job {
    /// Tasks of your services
    Tasks,
    /// Work at fixed times
    Schedules,
    /// Feeds and pages
    Sources,
    /// A daily digest
    Editions,
}
