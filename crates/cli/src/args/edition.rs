//! The arguments of `almanack edition`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

const RUN_HELP: &str = "\
It begins wherever the edition stands and ends when it is published, or when something outside must be waited for. Each
step spends at most edition.budget requests. It may run beside a node: whoever is faster works, the other waits.

Ctrl-C ends the run after the present step; whoever runs it again goes on from there.";

const RESEND_HELP: &str = "\
Sends what did not arrive, and what may not have arrived; a message of which nobody knows can arrive twice. What the
destination has confirmed is never sent again.";

const SHOW_HELP: &str = "\
--rebuild prints the edition again from what was kept of it, and fails if a single byte differs.
--template prints it with another template, and shows what would change.";

/// What to do with editions.
#[derive(Debug, Subcommand)]
pub(crate) enum EditionCommand {
    /// Take an edition to its end, now
    #[command(after_help = RUN_HELP)]
    Run(EditionArguments),
    /// Show how an edition stands: stories, batches, deliveries, what is expected
    Status(EditionArguments),
    /// Print an edition as it was made
    #[command(after_help = SHOW_HELP)]
    Show(EditionShowArguments),
    /// Publish what is completed, without the rest
    Publish(EditionArguments),
    /// Put failed stories back
    Retry {
        #[command(flatten)]
        edition: EditionArguments,
        /// Only those that were put back less often than this [default: edition.retries]
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=5))]
        max: Option<u32>,
    },
    /// Begin an edition anew, with the stories it has
    Reset {
        #[command(flatten)]
        edition: EditionArguments,
        /// Do not ask
        #[arg(long)]
        yes: bool,
    },
    /// Send what a destination lacks again
    #[command(after_help = RESEND_HELP)]
    Resend(RedeliveryArguments),
    /// Skip what a destination lacks, so that it no longer holds up the edition
    Skip(RedeliveryArguments),
    /// Print what an edition would be if it were made of what is completed now; nothing is kept
    Preview(EditionArguments),
    /// List editions, newest day first
    List {
        /// Most editions to show
        #[arg(long, value_name = "N", default_value_t = 30, value_parser = super::some)]
        limit: usize,
    },
}

/// Which edition.
#[derive(Debug, Args)]
pub(crate) struct EditionArguments {
    /// Its day, like 2026-01-31 [default: today, in edition.tz]
    #[arg(value_name = "DATE")]
    pub(crate) date: Option<String>,
}

/// Which deliveries.
#[derive(Debug, Args)]
pub(crate) struct RedeliveryArguments {
    /// Where to: github, telegram, directory or webhook
    #[arg(value_name = "DESTINATION")]
    pub(crate) destination: String,
    #[command(flatten)]
    pub(crate) edition: EditionArguments,
    /// One message of several [default: all that it lacks]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) part: Option<u32>,
}

/// What to print.
#[derive(Debug, Args)]
pub(crate) struct EditionShowArguments {
    #[command(flatten)]
    pub(crate) edition: EditionArguments,
    /// Print it again from what was kept, and compare
    #[arg(long)]
    pub(crate) rebuild: bool,
    /// Which making of it [default: the newest]
    #[arg(long, value_name = "N")]
    pub(crate) revision: Option<u32>,
    /// Show what another template would change
    #[arg(long, value_name = "FILE", conflicts_with = "rebuild")]
    pub(crate) template: Option<PathBuf>,
}
