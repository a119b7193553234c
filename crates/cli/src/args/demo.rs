//! The flags of `demo`.

use std::path::PathBuf;

use almanack_adapters::clock::Speed;
use clap::Args;

/// How to show it.
#[derive(Debug, Args)]
pub(crate) struct DemoArguments {
    /// Stop after this long, like 30s [default: until Ctrl-C]
    #[arg(long = "for", value_name = "PERIOD")]
    pub(crate) period: Option<String>,
    /// How many times faster than yours the clock runs, 1 to 3600
    #[arg(long, value_name = "TIMES", default_value = "60", value_parser = speed)]
    pub(crate) speed: Speed,
    /// Begin at once, without running through yesterday first
    #[arg(long)]
    pub(crate) no_warm_up: bool,
    /// Keep the files in this folder instead of removing them
    #[arg(long, value_name = "FOLDER")]
    pub(crate) keep: Option<PathBuf>,
    /// Another number tells another story
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    /// Address of the dashboard and the API; port 0 takes a free one
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:0")]
    pub(crate) listen: String,
}

/// Fast enough for a week in three minutes; beyond, nothing would have time to happen.
fn speed(text: &str) -> Result<Speed, String> {
    let times = text
        .parse()
        .ok()
        .filter(|times| (1.0..=3_600.0).contains(times));
    times
        .and_then(Speed::new)
        .ok_or_else(|| "write a number from 1 to 3600, like 60".to_owned())
}
