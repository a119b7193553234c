//! `almanack backup`, `restore`, `migrate`, `health`, `idle`, `doctor`, `clock`, `alert` and
//! `subscription`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

pub(super) const MIGRATE_HELP: &str = "\
Databases:
  sqlite:FILE           a SQLite file
  postgres://…          a PostgreSQL database
  env:NAME              one of these, password included, in the variable NAME

Stop all nodes first. The new database must be empty or missing; it gets
everything or nothing.";

pub(super) const DOCTOR_HELP: &str = "\
Exit codes here:
  0  all checks passed
  1  at least one warning
  2  at least one error

With --expect, a cron job can watch Almanack itself.";

/// What to back up.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(crate) struct BackupArguments {
    #[command(subcommand)]
    pub(crate) command: Option<BackupCommand>,
    /// File to write the backup to
    #[arg(required = true)]
    pub(crate) file: Option<PathBuf>,
    /// Replace the file if it exists
    #[arg(long)]
    pub(crate) force: bool,
    /// Do not verify the backup after it was written
    #[arg(long)]
    pub(crate) no_verify: bool,
}

/// What to do with a backup.
#[derive(Debug, Subcommand)]
pub(crate) enum BackupCommand {
    /// Verify a backup and print what it contains
    Verify {
        /// Backup file
        file: PathBuf,
        /// Ignore a wrong or missing checksum: check the structure only
        #[arg(long)]
        no_checksum: bool,
    },
}

/// What to restore.
#[derive(Debug, Args)]
pub(crate) struct RestoreArguments {
    /// Backup file
    pub(crate) file: PathBuf,
    /// Move an existing store aside, to its name plus `.replaced`
    #[arg(long)]
    pub(crate) force: bool,
    /// Ignore a wrong or missing checksum: check the structure only
    #[arg(long)]
    pub(crate) no_checksum: bool,
}

/// What to move where.
#[derive(Debug, Args)]
pub(crate) struct MigrateArguments {
    /// Database to copy from
    pub(crate) from: String,
    /// Database to copy to
    pub(crate) to: String,
    /// Copy while nodes are running, as a trial: what they do from now on is not copied
    #[arg(long)]
    pub(crate) force: bool,
}

/// What to check.
#[derive(Debug, Args)]
pub(crate) struct HealthArguments {
    /// Check readiness: the database answers and accepts writes, and the node is not stopping
    #[arg(long)]
    pub(crate) ready: bool,
}

/// How long to do nothing.
#[derive(Debug, Args)]
pub(crate) struct IdleArguments {
    /// How long to wait, like 10s or 30m
    pub(crate) duration: String,
}

/// What to check.
#[derive(Debug, Args)]
pub(crate) struct DoctorArguments {
    /// Fail unless a schedule fired recently: schedule=NAME,within=PERIOD; repeatable
    #[arg(long, value_name = "EXPECTATION")]
    pub(crate) expect: Vec<String>,
    /// Do not connect to the services that callbacks and schedules call
    #[arg(long)]
    pub(crate) offline: bool,
    /// Read the whole store and check its rules; slow on a large store
    #[arg(long)]
    pub(crate) deep: bool,
}

/// What to do about the machine's clock.
#[derive(Debug, Subcommand)]
pub(crate) enum ClockCommand {
    /// Show the state of the machine's clock, and what is held if it cannot be trusted
    Show,
    /// Use the machine's clock from now on, although it differs from what Almanack expects
    Accept,
}

/// What to do with alerts.
#[derive(Debug, Subcommand)]
pub(crate) enum AlertCommand {
    /// List open alerts
    List {
        /// Include closed alerts, kept for 30 days
        #[arg(long)]
        all: bool,
    },
    /// Send a test message through the configured channels and show each result
    Test {
        /// Only through this channel: webhook, telegram, smtp, ntfy, slack or exec
        channel: Option<String>,
    },
}

/// What to do with subscriptions. They are defined in the configuration.
#[derive(Debug, Subcommand)]
pub(crate) enum SubscriptionCommand {
    /// List subscriptions with their waiting and failed deliveries
    List,
}
