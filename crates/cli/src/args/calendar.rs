//! The arguments of `almanack calendar`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// What to do with calendars.
#[derive(Debug, Subcommand)]
pub(crate) enum CalendarCommand {
    /// List calendars by name
    List,
    /// Show a calendar: its next days, and the schedules that use it
    Show(CalendarArguments),
    /// Create or change a calendar that is not in a configuration file
    #[command(
        override_usage = "almanack calendar put [OPTIONS] <NAME> <--date|--weekday|--ical|--url>"
    )]
    Put(CalendarPutArguments),
    /// Remove a calendar that no schedule uses
    Remove(CalendarArguments),
}

/// Which calendar.
#[derive(Debug, Args)]
pub(crate) struct CalendarArguments {
    /// Name of the calendar
    pub(crate) name: String,
}

/// What to put.
#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("days").required(true).multiple(true))]
pub(crate) struct CalendarPutArguments {
    /// Name of the calendar
    pub(crate) name: String,
    /// A day, with its name if it has one: 2026-12-24 or '2026-12-24=Christmas Eve'; repeatable
    #[arg(long, value_name = "DATE[=NAME]", group = "days")]
    pub(crate) date: Vec<String>,
    /// A day of every week, like saturday; repeatable
    #[arg(long, value_name = "DAY", group = "days")]
    pub(crate) weekday: Vec<String>,
    /// iCalendar file whose all-day events are its days
    #[arg(long, value_name = "FILE", group = "days", conflicts_with = "url")]
    pub(crate) ical: Option<PathBuf>,
    /// Address of an iCalendar file, read again every 6 hours
    #[arg(long, group = "days")]
    pub(crate) url: Option<String>,
}
