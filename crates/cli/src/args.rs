//! The command line.
//!
//! Only shapes are checked here; what a value means is checked where it is used, so that a time or
//! a kind is refused with the same words whether it came from a flag or from a file.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use serde::Serialize;

use crate::{config::environment::SET, failure::EXIT_CODES, when::parse_duration};

#[cfg(feature = "lab")]
mod bench;
mod calendar;
mod chain;
#[cfg(feature = "lab")]
mod chaos;
#[cfg(feature = "lab")]
mod demo;
mod edition;
mod examples;
mod help;
mod import;
mod init;
mod kind;
mod monitor;
mod next;
mod operations;
mod radar;
mod schedule;
mod search;
mod simulate;
mod source;
mod task;
mod user;
mod work;
#[cfg(feature = "lab")]
mod world;

#[cfg(feature = "lab")]
pub(crate) use self::{bench::*, chaos::*, demo::*, world::*};
pub(crate) use self::{
    calendar::*, chain::*, edition::*, help::command, import::*, init::*, kind::*, monitor::*,
    next::*, operations::*, radar::*, schedule::*, search::*, simulate::*, source::*, task::*,
    user::*, work::*,
};

// Described by the package, as everything is in which it is installed.
#[derive(Debug, Parser)]
#[command(name = "almanack", version, about, after_help = EXIT_CODES, propagate_version = true)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
    #[command(flatten)]
    pub(crate) global: Global,
}

/// Flags that every command takes.
#[derive(Debug, Args)]
#[command(next_help_heading = "Global options")]
pub(crate) struct Global {
    /// Configuration file [default: `almanack.toml`, if it exists]
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Database to use: sqlite:FILE or postgres://… [default: database.url]
    #[arg(long, global = true, value_name = "URL")]
    pub(crate) database: Option<String>,
    /// Override any configuration key, like node.lease=10s; repeatable
    #[arg(long, global = true, value_name = "KEY=VALUE", value_parser = key_and_value)]
    pub(crate) set: Vec<(String, String)>,
    #[arg(
        long,
        global = true,
        value_name = "URL",
        conflicts_with = "database",
        help = "Use this node's API, not the database [env: ALMANACK_SERVER, ALMANACK_TOKEN]"
    )]
    pub(crate) server: Option<String>,
    /// Print JSON
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Print lists as JSON Lines, one item per line
    #[arg(long, global = true)]
    pub(crate) json_lines: bool,
}

impl Global {
    /// The flags as settings: the flag, the key, the value.
    pub(crate) fn settings(&self) -> Vec<(String, String, String)> {
        let set = self.set.iter().map(|(key, value)| (SET, &**key, value));
        let database = self.database.iter();
        let database = database.map(|url| ("--database", "database.url", url));
        owned(set.chain(database))
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
    /// Write a first configuration by asking five questions
    #[command(after_help = init::INIT_HELP)]
    Init(InitArguments),
    #[cfg(feature = "lab")]
    /// Run Almanack and simulated services on this machine, to see every feature at work
    Demo(DemoArguments),
    /// Run a node: execute due tasks and serve the HTTP API and the dashboard
    Serve(ServeArguments),
    /// Check the configuration and show each effective value with its origin
    Check,
    /// Print a JSON Schema for editors
    #[command(subcommand)]
    Schema(SchemaCommand),
    /// Create, show, list and cancel tasks
    #[command(subcommand)]
    Task(TaskCommand),
    /// List, pause and resume kinds of tasks
    #[command(subcommand)]
    Kind(KindCommand),
    /// Create, show, pause and fire schedules
    #[command(subcommand)]
    Schedule(ScheduleCommand),
    /// Watch jobs that run elsewhere, by the pings they send
    #[command(subcommand)]
    Monitor(MonitorCommand),
    /// List, show and write calendars: days on which schedules do not fire
    #[command(subcommand)]
    Calendar(CalendarCommand),
    /// Add, show and check sources: feeds, pages, sitemaps
    #[command(subcommand)]
    Source(SourceCommand),
    /// Create, show and publish editions: the daily digest
    #[command(subcommand)]
    Edition(EditionCommand),
    /// List event subscriptions
    #[command(subcommand)]
    Subscription(SubscriptionCommand),
    /// List alerts and test the notification channels
    #[command(subcommand)]
    Alert(AlertCommand),
    /// Show the state of the machine's clock, or accept it after it was set
    #[command(subcommand)]
    Clock(ClockCommand),
    /// Explain why a schedule fired or did not, or when a source is checked
    Why(WhyArguments),
    /// Show the load of the coming hours, and spread what starts at once
    #[command(after_help = radar::RADAR_HELP)]
    Radar(RadarArguments),
    /// Find tasks, schedules, sources, entries, editions, settings and pages by name
    Search(SearchArguments),
    /// Run everything that is due once, then exit
    Tick(TickArguments),
    /// Run a program for each task of pulled kinds
    #[command(after_help = work::WORK_HELP)]
    Work(WorkArguments),
    /// Explain a schedule expression and list its next times
    #[command(after_help = next::NEXT_HELP)]
    Next(NextArguments),
    /// Simulate the configured schedules without firing them
    #[command(after_help = simulate::SIMULATE_HELP)]
    Simulate(SimulateArguments),
    /// Convert schedules of other programs, and report what differs
    #[command(after_help = import::IMPORT_HELP)]
    Import(ImportArguments),
    /// Run the schedules of DISPATCH without a database, as one of two chains on GitHub Actions
    #[command(after_help = chain::CHAIN_HELP)]
    Chain(ChainArguments),
    /// Find dead chains and restart them
    Guard(GuardArguments),
    /// Create, list and revoke access tokens
    #[command(subcommand)]
    Token(TokenCommand),
    /// Create, list and remove users of the dashboard
    #[command(subcommand)]
    User(UserCommand),
    /// Back up the store to a file while nodes run, and verify the copy
    Backup(BackupArguments),
    /// Restore the store from a backup
    Restore(RestoreArguments),
    /// Move the store from SQLite to PostgreSQL, or back
    #[command(after_help = operations::MIGRATE_HELP)]
    Migrate(MigrateArguments),
    /// Check whether the node of this configuration is up
    Health(HealthArguments),
    /// Wait for a while: `sleep` for images that have none
    Idle(IdleArguments),
    /// Check everything a node depends on, and print how to fix what is wrong
    #[command(after_help = operations::DOCTOR_HELP)]
    Doctor(DoctorArguments),
    #[cfg(feature = "lab")]
    /// Run a simulated outside service
    #[command(subcommand)]
    World(WorldCommand),
    #[cfg(feature = "lab")]
    /// Benchmark the engine on a scratch store
    #[command(subcommand)]
    Bench(BenchCommand),
    #[cfg(feature = "lab")]
    /// Run a scratch copy of the configuration, inject faults, and check the results
    #[command(after_help = chaos::CHAOS_HELP)]
    Chaos(ChaosArguments),
    #[cfg(not(feature = "lab"))]
    /// The lab's commands in a build without it
    #[command(name = "lab", aliases = ["demo", "world", "bench", "chaos"], hide = true)]
    WithoutLab {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        rest: Vec<std::ffi::OsString>,
    },
    /// Print a completion script for a shell
    Completions {
        /// Shell to complete for
        shell: Shell,
    },
    /// Write the manual, a page per command: for packages
    #[command(hide = true)]
    Manual {
        /// Folder that exists
        folder: PathBuf,
    },
}

/// How to serve.
#[derive(Debug, Args)]
pub(crate) struct ServeArguments {
    /// Address to listen on [default: server.listen]
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub(crate) listen: Option<String>,
    /// Name of this node [default: node.name]
    #[arg(long, value_name = "NAME")]
    pub(crate) node_name: Option<String>,
}

impl ServeArguments {
    /// The flags as settings: the flag, the key, the value.
    pub(crate) fn settings(&self) -> Vec<(String, String, String)> {
        let listen = self.listen.iter();
        let listen = listen.map(|value| ("--listen", "server.listen", value));
        let name = self.node_name.iter();
        let name = name.map(|value| ("--node-name", "node.name", value));
        owned(listen.chain(name))
    }
}

fn owned<'a>(
    settings: impl Iterator<Item = (&'a str, &'a str, &'a String)>,
) -> Vec<(String, String, String)> {
    let owned = settings.map(|(flag, key, value)| (flag.to_owned(), key.to_owned(), value.clone()));
    owned.collect()
}

/// A count; zero is refused.
fn some(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) | Err(_) => Err("write a whole number, 1 or more".to_owned()),
        Ok(number) => Ok(number),
    }
}

/// What to do with tasks.
#[derive(Debug, Subcommand)]
pub(crate) enum TaskCommand {
    /// Create or reschedule a task
    #[command(after_help = PUT_HELP)]
    Put(PutArguments),
    /// Show a task
    Get(IdentityArguments),
    /// List tasks, newest first
    List(ListArguments),
    /// Count tasks
    Count(CountArguments),
    /// Cancel, retry or move all tasks that match a filter
    #[command(subcommand)]
    Bulk(BulkCommand),
    /// Cancel a task
    Cancel {
        #[command(flatten)]
        identity: IdentityArguments,
        /// Your revision of this change; an older one never overrides a newer one
        #[arg(long, value_name = "NUMBER")]
        revision: Option<i64>,
    },
    /// Run a failed task again now, with the same payload
    Retry(IdentityArguments),
    /// Show what happened to a task
    History(HistoryArguments),
    /// Explain why a task waits, runs or ended
    Why(IdentityArguments),
}

const PUT_HELP: &str = "\
Times:
  now                               immediately
  +10m, +1h30m, +7d                 from now
  2026-01-05T08:00Z                 an instant, with Z or an offset
  \"2026-01-05 08:00 Europe/Berlin\"  local time in a zone

A batch is JSON Lines: each line is a task as in the API, its time as above:
  {\"kind\":\"MAIL_SEND\",\"subject\":\"user:7\",\"execute_at\":\"+10m\",\"payload\":{\"n\":1}}";

/// A duration of whole seconds, as the API takes it.
fn whole_seconds(text: &str) -> Result<i64, String> {
    let parsed = parse_duration(text).map_err(|unclear| format!("{unclear}: {}", unclear.hint))?;
    if parsed.subsec_nanos() != 0 {
        return Err("must be whole seconds".to_owned());
    }
    Ok(parsed.as_secs())
}

/// What to put.
#[derive(Debug, Args)]
pub(crate) struct PutArguments {
    /// Kind of the task, like `ARTICLE_PUBLISH`
    #[arg(required_unless_present = "batch")]
    pub(crate) kind: Option<String>,
    /// Subject of the task, like `article:42`
    #[arg(required_unless_present = "batch")]
    pub(crate) subject: Option<String>,
    /// When to run; a past time means now
    #[arg(
        long,
        value_name = "TIME",
        required_unless_present = "batch",
        allow_hyphen_values = true
    )]
    pub(crate) at: Option<String>,
    /// Payload for the handler: JSON, @FILE, or - for standard input
    #[arg(long, value_name = "JSON", allow_hyphen_values = true)]
    pub(crate) payload: Option<String>,
    /// Address to call [default: the kind's url]
    #[arg(long, value_name = "URL")]
    pub(crate) callback_url: Option<String>,
    /// Method of the call: POST, PUT, PATCH, DELETE or GET (without a body) [default: POST]
    #[arg(long, value_name = "METHOD")]
    pub(crate) callback_method: Option<String>,
    /// How long the call may take, like `30s` [default: the kind's `timeout`]
    #[arg(long, value_name = "DURATION", value_parser = whole_seconds)]
    pub(crate) callback_timeout: Option<i64>,
    /// Header of the call, like `X-Tenant: 9` or `Authorization: Bearer env:TOKEN`; may be repeated
    #[arg(long, value_name = "HEADER")]
    pub(crate) callback_header: Vec<String>,
    /// Do not start it from this time on; stays when the task is moved
    #[arg(long, value_name = "TIME", conflicts_with = "expires_after")]
    pub(crate) expires_at: Option<String>,
    /// Do not start it so long after its time, like `1h`; `0s`: never expires [default: the kind's `expires_after`]
    #[arg(long, value_name = "DURATION", value_parser = whole_seconds)]
    pub(crate) expires_after: Option<i64>,
    /// Retries after the first attempt [default: the kind's `max_retry`, or 3]
    #[arg(long, value_name = "COUNT")]
    pub(crate) max_retry: Option<i64>,
    /// Priority, 0 to 9; 9 runs first [default: 5]
    #[arg(long, value_name = "LEVEL")]
    pub(crate) priority: Option<i64>,
    /// Your revision of this change; an older one never overrides a newer one
    #[arg(long, value_name = "NUMBER")]
    pub(crate) revision: Option<i64>,
    /// Tag to find it by; repeat for several, or give "" for none
    #[arg(long, value_name = "TAG")]
    pub(crate) tag: Vec<String>,
    /// Apply this at most once: a repeated call with this key returns the first result
    #[arg(long, value_name = "KEY")]
    pub(crate) idempotency_key: Option<String>,
    /// Create many: a file of JSON Lines, or - for standard input
    #[arg(long, value_name = "FILE", conflicts_with_all = [
        "kind", "subject", "at", "payload", "callback_url", "callback_method", "callback_timeout",
        "callback_header", "expires_at", "expires_after", "max_retry", "priority", "revision", "tag",
        "idempotency_key",
    ])]
    pub(crate) batch: Option<String>,
}

/// Whose history, and how much of it.
#[derive(Debug, Args)]
pub(crate) struct HistoryArguments {
    #[command(flatten)]
    pub(crate) identity: IdentityArguments,
    /// Most decisions and attempts to show, newest first
    #[arg(long, value_name = "COUNT", default_value_t = 200, value_parser = clap::value_parser!(u16).range(1..=500))]
    pub(crate) limit: u16,
    /// Show older ones: the cursor at the end of an earlier answer
    #[arg(long, value_name = "CURSOR")]
    pub(crate) before: Option<String>,
}

/// Which task.
#[derive(Debug, Args)]
pub(crate) struct IdentityArguments {
    /// Kind of the task, like `ARTICLE_PUBLISH`
    pub(crate) kind: String,
    /// Subject of the task, like `article:42`
    pub(crate) subject: String,
}

/// How much of a list is shown.
#[derive(Debug, Args)]
pub(crate) struct HowMany {
    /// Most rows to show
    #[arg(
        long,
        value_name = "COUNT",
        default_value_t = 50,
        value_parser = some,
        conflicts_with = "all"
    )]
    limit: usize,
    /// Show all rows
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
    /// Create a token; it is shown only once
    Create {
        /// Name of the token; the history shows it
        name: String,
        /// What it allows; operate and admin include the ones before them
        #[arg(long, value_enum)]
        scope: ScopeName,
        /// Lifetime, like 90d [default: until revoked]
        #[arg(long, value_name = "DURATION")]
        expires: Option<String>,
    },
    /// List tokens
    List,
    /// Revoke a token
    Revoke {
        /// Name of the token
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ScopeName {
    /// Take tasks as a worker, and nothing else
    Work,
    /// Read everything
    Read,
    /// Also create, cancel and retry tasks, and send events
    Operate,
    /// Everything
    Admin,
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
            "the dedicated flag comes last and wins"
        );
    }
}
