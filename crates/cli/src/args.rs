//! The command line.
//!
//! Only shapes are checked here; what a value means is checked where it is used, so that a time or
//! a kind is refused with the same words whether it came from a flag or from a file.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

use crate::{config::environment::SET, failure::EXIT_CODES, output::Json};

mod alert;
#[cfg(feature = "lab")]
mod bench;
mod chain;
#[cfg(feature = "lab")]
mod chaos;
mod clock;
#[cfg(feature = "lab")]
mod demo;
mod edition;
mod import;
mod next;
mod operations;
mod schedule;
mod simulate;
mod source;
mod subscription;
mod user;
#[cfg(feature = "lab")]
mod world;

pub(crate) use self::{
    alert::*, chain::*, clock::*, edition::*, import::*, next::*, operations::*, schedule::*,
    simulate::*, source::*, subscription::*, user::*,
};
#[cfg(feature = "lab")]
pub(crate) use self::{bench::*, chaos::*, demo::*, world::*};

/// Tries things at their time: tasks that can be moved at any moment.
#[derive(Debug, Parser)]
#[command(name = "almanack", version, after_help = EXIT_CODES, propagate_version = true)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
    #[command(flatten)]
    pub(crate) global: Global,
}

/// Flags that every command takes.
#[derive(Debug, Args)]
#[command(next_help_heading = "Options of every command")]
pub(crate) struct Global {
    /// Configuration file [default: `almanack.toml`, if it exists]
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Database, over what the configuration says: sqlite:FILE or postgres://…
    #[arg(long, global = true, value_name = "URL")]
    pub(crate) database: Option<String>,
    /// Set any key of the configuration, like node.lease=10s; may be repeated
    #[arg(long, global = true, value_name = "KEY=VALUE", value_parser = key_and_value)]
    pub(crate) set: Vec<(String, String)>,
    #[arg(
        long,
        global = true,
        value_name = "URL",
        conflicts_with = "database",
        help = "Ask this node, not the database [env: ALMANACK_SERVER, ALMANACK_TOKEN]"
    )]
    pub(crate) server: Option<String>,
    /// Write data as JSON
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Write lists as JSON, one item per line
    #[arg(long, global = true)]
    pub(crate) json_lines: bool,
}

impl Global {
    /// Whether data is for programs.
    pub(crate) fn json(&self) -> Json {
        match (self.json, self.json_lines) {
            (_, true) => Json::Lines,
            (true, false) => Json::Document,
            (false, false) => Json::No,
        }
    }

    /// The flags as settings: the flag, the key, the value.
    pub(crate) fn settings(&self) -> Vec<(String, String, String)> {
        let database = self.database.iter().map(|url| {
            (
                "--database".to_owned(),
                "database.url".to_owned(),
                url.clone(),
            )
        });
        let set = self
            .set
            .iter()
            .map(|(key, value)| (SET.to_owned(), key.clone(), value.clone()));
        set.chain(database).collect()
    }
}

fn key_and_value(text: &str) -> Result<(String, String), String> {
    pair(text).ok_or_else(|| "write KEY=VALUE, like node.lease=10s".to_owned())
}

/// An input of a workflow.
fn input(text: &str) -> Result<(String, String), String> {
    pair(text).ok_or_else(|| "write KEY=VALUE, like edition=morning".to_owned())
}

fn pair(text: &str) -> Option<(String, String)> {
    let (key, value) = text.split_once('=')?;
    (!key.is_empty()).then(|| (key.trim().to_owned(), value.to_owned()))
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    #[cfg(feature = "lab")]
    /// Show everything at work on this machine alone: Almanack and a simulated world around it
    Demo(DemoArguments),
    /// Run a node: try tasks at their time and answer the HTTP API
    Serve(ServeArguments),
    /// Check the configuration and show what is in force, and why
    Check,
    /// Print a JSON Schema, for editors that check and complete as you type
    #[command(subcommand)]
    Schema(SchemaCommand),
    /// Put, look at and withdraw tasks
    #[command(subcommand)]
    Task(TaskCommand),
    /// Put, look at, pause and fire schedules
    #[command(subcommand)]
    Schedule(ScheduleCommand),
    /// Add, look at and check sources: feeds, pages, sitemaps
    #[command(subcommand)]
    Source(SourceCommand),
    /// Make, look at and publish editions: the daily digest
    #[command(subcommand)]
    Edition(EditionCommand),
    /// Look at who is told of what happens
    #[command(subcommand)]
    Subscription(SubscriptionCommand),
    /// List what is wrong, and try the channels that tell people of it
    #[command(subcommand)]
    Alert(AlertCommand),
    /// Show whether the machine's clock can be trusted, and accept it where it was set
    #[command(subcommand)]
    Clock(ClockCommand),
    /// Tell why a schedule fired or did not, or why a source is checked when it is
    Why(WhyArguments),
    /// Make one pass of everything that is due, and leave
    Tick(TickArguments),
    /// Show when a schedule expression fires, in words and in times
    #[command(after_help = next::NEXT_HELP)]
    Next(NextArguments),
    /// Show what the configured schedules would do, without doing it
    #[command(after_help = simulate::SIMULATE_HELP)]
    Simulate(SimulateArguments),
    /// Show schedules of other programs as Almanack's, and what differs
    #[command(after_help = import::IMPORT_HELP)]
    Import(ImportArguments),
    /// Keep the schedules of DISPATCH without a database, as one of two chains on GitHub Actions
    #[command(after_help = chain::CHAIN_HELP)]
    Chain(ChainArguments),
    /// Find dead chains and start them again
    Guard(GuardArguments),
    /// Create, list and revoke access tokens
    #[command(subcommand)]
    Token(TokenCommand),
    /// Make, list and remove those who sign in to the dashboard
    #[command(subcommand)]
    User(UserCommand),
    /// Copy the store into a file while a node works, and prove the copy
    Backup(BackupArguments),
    /// Make a backup the store
    Restore(RestoreArguments),
    /// Move the store from SQLite to PostgreSQL, or back
    #[command(after_help = operations::MIGRATE_HELP)]
    Migrate(MigrateArguments),
    /// Ask the node of this configuration whether it is up
    Health(HealthArguments),
    /// Do nothing for a while: a `sleep` for images that have none
    Idle(IdleArguments),
    /// Look at everything a node depends on, and tell what to do about what is wrong
    #[command(after_help = operations::DOCTOR_HELP)]
    Doctor(DoctorArguments),
    #[cfg(feature = "lab")]
    /// Run a piece of the simulated outside world
    #[command(subcommand)]
    World(WorldCommand),
    #[cfg(feature = "lab")]
    /// Measure the engine on a scratch store of its own
    #[command(subcommand)]
    Bench(BenchCommand),
    #[cfg(feature = "lab")]
    /// Run a scratch copy of the configuration while things go wrong, and check
    #[command(after_help = chaos::CHAOS_HELP)]
    Chaos(ChaosArguments),
    #[cfg(not(feature = "lab"))]
    /// What a build without the lab answers to its commands
    #[command(name = "lab", aliases = ["demo", "world", "bench", "chaos"], hide = true)]
    WithoutLab {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        rest: Vec<std::ffi::OsString>,
    },
    /// Write a completion script for a shell
    Completions {
        /// Which shell
        shell: Shell,
    },
}

/// How to serve.
#[derive(Debug, Args)]
pub(crate) struct ServeArguments {
    /// Address to listen at, over what the configuration says
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub(crate) listen: Option<String>,
    /// What to call this node, over what the configuration says
    #[arg(long, value_name = "NAME")]
    pub(crate) node_name: Option<String>,
}

impl ServeArguments {
    /// The flags as settings: the flag, the key, the value.
    pub(crate) fn settings(&self) -> Vec<(String, String, String)> {
        let given = [
            ("--listen", "server.listen", &self.listen),
            ("--node-name", "node.name", &self.node_name),
        ];
        let set = given.into_iter().filter_map(|(flag, key, value)| {
            Some((flag.to_owned(), key.to_owned(), value.clone()?))
        });
        set.collect()
    }
}

/// Nothing takes no time, and says nothing about something.
fn some(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) | Err(_) => Err("write a whole number, 1 or more".to_owned()),
        Ok(number) => Ok(number),
    }
}

/// What to do with tasks.
#[derive(Debug, Subcommand)]
pub(crate) enum TaskCommand {
    /// Create a task or change its time
    #[command(after_help = PUT_HELP)]
    Put(PutArguments),
    /// Show a task
    Get(IdentityArguments),
    /// List tasks, newest first
    List(ListArguments),
    /// Withdraw a task
    Cancel {
        #[command(flatten)]
        identity: IdentityArguments,
        /// Your own number for this change; an older one never overrides a newer one
        #[arg(long, value_name = "NUMBER")]
        revision: Option<i64>,
    },
    /// Try a task again now, with the payload it had
    Retry(IdentityArguments),
    /// Tell what happened to a task
    History(HistoryArguments),
}

const PUT_HELP: &str = "\
Times:
  now                               at once
  +10m, +1h30m, +7d                 from now
  2026-01-05T08:00Z                 an instant, with Z or an offset
  \"2026-01-05 08:00 Europe/Berlin\"  a wall clock in a zone

A batch is JSON Lines; each line as for the API, its time as above:
  {\"kind\":\"ARTICLE_PUBLISH\",\"subject\":\"article:42\",\"execute_at\":\"+10m\",\"payload\":{\"lang\":\"en\"}}";

/// What to put.
#[derive(Debug, Args)]
pub(crate) struct PutArguments {
    /// What is tried, like `ARTICLE_PUBLISH`
    #[arg(required_unless_present = "batch", conflicts_with = "batch")]
    pub(crate) kind: Option<String>,
    /// What it is about, like `article:42`
    #[arg(required_unless_present = "batch", conflicts_with = "batch")]
    pub(crate) subject: Option<String>,
    /// When to try; a past time means now
    #[arg(
        long,
        value_name = "TIME",
        required_unless_present = "batch",
        conflicts_with = "batch",
        allow_hyphen_values = true
    )]
    pub(crate) at: Option<String>,
    /// What the handler needs to know: JSON, @FILE, or - for standard input
    #[arg(
        long,
        value_name = "JSON",
        conflicts_with = "batch",
        allow_hyphen_values = true
    )]
    pub(crate) payload: Option<String>,
    /// Where to call, if not where the configuration says
    #[arg(long, value_name = "URL", conflicts_with = "batch")]
    pub(crate) callback_url: Option<String>,
    /// Retries after the first attempt
    #[arg(long, value_name = "COUNT", conflicts_with = "batch")]
    pub(crate) max_retry: Option<i64>,
    /// 0 to 9; 9 goes first
    #[arg(long, value_name = "LEVEL", conflicts_with = "batch")]
    pub(crate) priority: Option<i64>,
    /// Your own number for this change; an older one never overrides a newer one
    #[arg(long, value_name = "NUMBER", conflicts_with = "batch")]
    pub(crate) revision: Option<i64>,
    /// Carry this out at most once: asked again with this key, answer what was answered before
    #[arg(long, value_name = "KEY", conflicts_with = "batch")]
    pub(crate) idempotency_key: Option<String>,
    /// Put many: a file of JSON Lines, or - for standard input
    #[arg(long, value_name = "FILE")]
    pub(crate) batch: Option<String>,
}

/// Whose history, and how much of it.
#[derive(Debug, Args)]
pub(crate) struct HistoryArguments {
    #[command(flatten)]
    pub(crate) identity: IdentityArguments,
    /// Show at most this many decisions and attempts, the newest
    #[arg(long, value_name = "COUNT", default_value_t = 200, value_parser = clap::value_parser!(u16).range(1..=500))]
    pub(crate) limit: u16,
    /// Show what happened before: what the end of an earlier answer says
    #[arg(long, value_name = "CURSOR")]
    pub(crate) before: Option<String>,
}

/// Which task.
#[derive(Debug, Args)]
pub(crate) struct IdentityArguments {
    /// What is tried, like `ARTICLE_PUBLISH`
    pub(crate) kind: String,
    /// What it is about, like `article:42`
    pub(crate) subject: String,
}

/// Which tasks.
#[derive(Debug, Args)]
pub(crate) struct ListArguments {
    /// Only this kind
    #[arg(long)]
    pub(crate) kind: Option<String>,
    /// Only this status: INIT, RUNNING, SUCCESS, FAIL or CANCELLED
    #[arg(long)]
    pub(crate) status: Option<String>,
    /// Only subjects that start so
    #[arg(long, value_name = "PREFIX")]
    pub(crate) subject: Option<String>,
    #[command(flatten)]
    pub(crate) many: HowMany,
}

/// How much of a list is shown.
#[derive(Debug, Args)]
pub(crate) struct HowMany {
    /// How many at most
    #[arg(
        long,
        value_name = "COUNT",
        default_value_t = 50,
        value_parser = some,
        conflicts_with = "all"
    )]
    limit: usize,
    /// All of them
    #[arg(long)]
    all: bool,
}

impl HowMany {
    pub(crate) fn limit(&self) -> usize {
        if self.all { usize::MAX } else { self.limit }
    }
}

/// What to do with tokens.
#[derive(Debug, Subcommand)]
pub(crate) enum TokenCommand {
    /// Make a token; it is shown this once
    Create {
        /// What to call it; the history shows this name
        name: String,
        /// What it allows; a larger scope includes the smaller ones
        #[arg(long, value_enum)]
        scope: ScopeName,
        /// How long it works, like 90d [default: until it is revoked]
        #[arg(long, value_name = "DURATION")]
        expires: Option<String>,
    },
    /// List tokens
    List,
    /// Take a token back
    Revoke {
        /// Its name
        name: String,
    },
}

/// What a schema describes.
#[derive(Debug, Subcommand)]
pub(crate) enum SchemaCommand {
    /// Describe the configuration file, almanack.toml
    Config,
}

/// What a token or a user is allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ScopeName {
    /// Look at anything
    Read,
    /// Also put, cancel and retry tasks, and send events
    Operate,
    /// Everything
    Admin,
}

impl ScopeName {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Operate => "operate",
            Self::Admin => "admin",
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_well_formed() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn flags_become_settings_in_the_order_of_their_strength() {
        let line = [
            "almanack",
            "check",
            "--database",
            "sqlite:a",
            "--set",
            "database.url=sqlite:b",
        ];
        let arguments = Arguments::try_parse_from(line).unwrap();
        let urls: Vec<String> = arguments
            .global
            .settings()
            .into_iter()
            .map(|set| set.2)
            .collect();
        assert_eq!(
            urls,
            ["sqlite:b", "sqlite:a"],
            "the flag of its own comes last and wins"
        );
    }
}
