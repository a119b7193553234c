//! `almanack chaos`.

use std::{path::PathBuf, time::Duration};

use almanack_lab::chaos::plan::Fault;
use clap::Args;

/// Shown at the end of `--help`.
pub(super) const CHAOS_HELP: &str = "\
Runs real nodes on a scratch copy of your configuration. Kills them, freezes
them, disconnects them from the database and sets their clocks wrong. Then
checks every slot, task and article against what Almanack promises. Calls
nothing outside this machine and does not touch your database: it creates a
scratch database beside it and removes it afterwards. Exit code 1 means that a
promise was broken.";

/// Options of `chaos`.
#[derive(Debug, Args)]
pub(crate) struct ChaosArguments {
    /// Minutes to inject faults; fractions are allowed, like 0.5
    #[arg(long, value_name = "NUMBER", default_value = "2", value_parser = minutes)]
    pub(crate) minutes: Duration,
    /// Number of nodes [default: 3 on PostgreSQL, 1 on SQLite]
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u64).range(1..=16))]
    pub(crate) nodes: Option<u64>,
    /// Faults to inject: kill, freeze, cut, clock, start, or none [default: all that work on this
    /// machine]
    #[arg(long, value_name = "FAULT,…", value_parser = faults)]
    pub(crate) faults: Option<Faults>,
    /// Tasks created per second, in addition to authors and schedules
    #[arg(
        long,
        value_name = "NUMBER",
        default_value_t = 20,
        value_parser = clap::value_parser!(u32).range(0..=100_000)
    )]
    pub(crate) rate: u32,
    /// Seed: another number draws other injections
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    /// Write a chart of lateness, calls, memory and injections to this file
    #[arg(long, value_name = "FILE.svg")]
    pub(crate) picture: Option<PathBuf>,
}

/// From a few seconds, enough for an injection or two, to a day.
fn minutes(text: &str) -> Result<Duration, String> {
    let minutes = text.parse::<f64>().ok();
    let minutes = minutes.filter(|minutes| (0.1..=1_440.0).contains(minutes));
    minutes
        .map(|minutes| Duration::from_secs_f64(minutes * 60.0))
        .ok_or_else(|| "write a number of minutes from 0.1 to 1440".to_owned())
}

/// The requested faults.
#[derive(Debug, Clone)]
pub(crate) struct Faults(pub(crate) Vec<Fault>);

fn faults(text: &str) -> Result<Faults, String> {
    if text == "none" {
        return Ok(Faults(Vec::new()));
    }
    let read = |name: &str| {
        Fault::parse(name.trim()).ok_or_else(|| {
            format!("`{name}` is none of kill, freeze, cut, clock, start; or write none")
        })
    };
    text.split(',')
        .map(read)
        .collect::<Result<_, _>>()
        .map(Faults)
}
