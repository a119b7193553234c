//! The arguments of `almanack search`.

use clap::Args;

/// What to look for.
#[derive(Debug, Args)]
pub(crate) struct SearchArguments {
    /// What to look for: how a subject or a name begins, an address, words, a day
    #[arg(required = true)]
    pub(crate) words: Vec<String>,
    /// Hits of each type, at most
    #[arg(long, value_name = "COUNT", default_value_t = 5)]
    pub(crate) limit: usize,
}
