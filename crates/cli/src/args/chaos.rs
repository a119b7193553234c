//! `almanack chaos`.

use std::{path::PathBuf, time::Duration};

use almanack_lab::chaos::plan::Fault;
use clap::Args;

/// What `--help` says below everything else.
pub(super) const CHAOS_HELP: &str = "\
Runs real nodes of a scratch copy of your configuration while they are killed, frozen, cut off from the
database and told a wrong time, and holds what became of every slot, every task and every article against
what was promised. Nothing outside this machine is called, and your database is not touched: a scratch one
is made beside it and removed. Exit code 1 means that a promise was broken.

  almanack chaos --minutes 5 --set node.lease=5s
  almanack chaos --database postgres://localhost/almanack --nodes 3 --picture chaos.svg
  almanack chaos --minutes 10 --faults none --rate 800 --picture soak.svg     # a soak";

/// How bad, for how long.
#[derive(Debug, Args)]
pub(crate) struct ChaosArguments {
    /// How long things go wrong; may be a part of a minute, like 0.5
    #[arg(long, value_name = "NUMBER", default_value = "2", value_parser = minutes)]
    pub(crate) minutes: Duration,
    /// Nodes [default: 3 on PostgreSQL; SQLite has one]
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u64).range(1..=16))]
    pub(crate) nodes: Option<u64>,
    /// What goes wrong: kill, freeze, cut, clock, start, or none [default: all that this machine can make]
    #[arg(long, value_name = "FAULT,…", value_parser = faults)]
    pub(crate) faults: Option<Faults>,
    /// Tasks put each second, beside authors and schedules
    #[arg(long, value_name = "NUMBER", default_value_t = 20, value_parser = clap::value_parser!(u32).range(0..=100_000))]
    pub(crate) rate: u32,
    /// Another number draws other injections
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    /// Draw lateness, calls, memory and injections over time into this file
    #[arg(long, value_name = "FILE.svg")]
    pub(crate) picture: Option<PathBuf>,
}

/// From a few seconds, which is enough for a injection or two, to a day.
fn minutes(text: &str) -> Result<Duration, String> {
    let minutes = text.parse::<f64>().ok();
    let minutes = minutes.filter(|minutes| (0.1..=1_440.0).contains(minutes));
    minutes
        .map(|minutes| Duration::from_secs_f64(minutes * 60.0))
        .ok_or_else(|| "write a number of minutes from 0.1 to 1440".to_owned())
}

/// Faults that were asked for.
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
