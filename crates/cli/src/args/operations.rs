//! `almanack backup`, `restore`, `migrate`, `health`, `idle` and `doctor`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

pub(super) const MIGRATE_HELP: &str = "\
Databases:
  sqlite:FILE           a SQLite file
  postgres://…          a PostgreSQL database
  env:NAME              the variable NAME holds one of these, password and all

  almanack migrate sqlite:almanack.db env:NEW_DATABASE

Stop all nodes first. The new database must be empty, or not there yet; it gets everything or nothing.";

pub(super) const DOCTOR_HELP: &str = "\
Exit codes here:
  0  all is well
  1  something wants a look
  2  something is wrong

For a cron job that watches the watcher:
  almanack doctor --expect schedule=nightly,within=25h";

/// What to back up.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(crate) struct BackupArguments {
    #[command(subcommand)]
    pub(crate) command: Option<BackupCommand>,
    /// Where to write the backup
    #[arg(required = true)]
    pub(crate) file: Option<PathBuf>,
    /// Replace the file if it exists
    #[arg(long)]
    pub(crate) force: bool,
    /// Do not read the backup from end to end before it gets its name
    #[arg(long)]
    pub(crate) no_verify: bool,
}

/// What to do with a backup.
#[derive(Debug, Subcommand)]
pub(crate) enum BackupCommand {
    /// Read a backup from end to end and tell what it holds
    Verify {
        /// The backup
        file: PathBuf,
        /// Ignore its checksum, or that it has none: check its structure alone
        #[arg(long)]
        no_checksum: bool,
    },
}

/// What to restore.
#[derive(Debug, Args)]
pub(crate) struct RestoreArguments {
    /// The backup
    pub(crate) file: PathBuf,
    /// Put a store that is not empty aside, under its name and `.replaced`
    #[arg(long)]
    pub(crate) force: bool,
    /// Ignore the backup's checksum, or that it has none: check its structure alone
    #[arg(long)]
    pub(crate) no_checksum: bool,
}

/// What to move where.
#[derive(Debug, Args)]
pub(crate) struct MigrateArguments {
    /// The database to read
    pub(crate) from: String,
    /// The database to fill
    pub(crate) to: String,
    /// Copy although nodes are at work: what they do from now on stays behind; for a simulation
    #[arg(long)]
    pub(crate) force: bool,
}

/// What to ask.
#[derive(Debug, Args)]
pub(crate) struct HealthArguments {
    /// Ask whether it can work: its database answers and takes writes, and it was not told to stop
    #[arg(long)]
    pub(crate) ready: bool,
}

/// How long to do nothing.
#[derive(Debug, Args)]
pub(crate) struct IdleArguments {
    /// How long, like 10s or 30m
    pub(crate) duration: String,
}

/// What to look at.
#[derive(Debug, Args)]
pub(crate) struct DoctorArguments {
    /// Fail unless a schedule fired lately: schedule=NAME,within=PERIOD; may be repeated
    #[arg(long, value_name = "EXPECTATION")]
    pub(crate) expect: Vec<String>,
    /// Do not connect to what callbacks and schedules call
    #[arg(long)]
    pub(crate) offline: bool,
    /// Read the whole store and hold it against its rules; takes as long as it is large
    #[arg(long)]
    pub(crate) deep: bool,
}
