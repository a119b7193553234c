//! The flags of `demo`.

use std::path::PathBuf;

use almanack_adapters::{alert::Language, clock::Speed};
use clap::{
    Args,
    builder::{PossibleValuesParser, TypedValueParser as _},
};

/// Options of `demo`.
#[derive(Debug, Args)]
pub(crate) struct DemoArguments {
    /// Stop after this long, like 30s [default: until Ctrl-C]
    #[arg(long = "for", value_name = "PERIOD")]
    pub(crate) period: Option<String>,
    /// Clock speed, from 1 (real time) to 3600
    #[arg(long, value_name = "TIMES", default_value = "60", value_parser = speed)]
    pub(crate) speed: Speed,
    /// Start at once, without simulating yesterday first
    #[arg(long)]
    pub(crate) no_warm_up: bool,
    /// Language of the edition and of what is printed here
    #[arg(long, value_name = "LANGUAGE", default_value = "en",
        value_parser = PossibleValuesParser::new(["en", "zh-CN"]).map(|tag| Language::of(&tag)))]
    pub(crate) lang: Language,
    /// Walk through five pages of the dashboard, one for each press of Enter
    #[arg(long)]
    pub(crate) tour: bool,
    /// Print every event, not only the first of each kind
    #[arg(long)]
    pub(crate) verbose: bool,
    /// Keep the files in this folder [default: a temporary folder, removed at the end]
    #[arg(long, value_name = "FOLDER")]
    pub(crate) keep: Option<PathBuf>,
    /// Seed: another number gives another run
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    /// Address of the dashboard and the API; port 0 picks a free port
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:0")]
    pub(crate) listen: String,
}

/// At the maximum, a week takes three minutes; faster, nothing has time to run.
fn speed(text: &str) -> Result<Speed, String> {
    let times = text
        .parse()
        .ok()
        .filter(|times| (1.0..=3_600.0).contains(times));
    times
        .and_then(Speed::new)
        .ok_or_else(|| "write a number from 1 to 3600, like 60".to_owned())
}
