//! The arguments of `almanack edition`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

const RUN_HELP: &str = "\
A run continues from the edition's current state. It ends when the edition is published, or when it
must wait for an outside service. Each step spends at most edition.budget requests. You can run it
beside a node: one of them works, the other waits.

Ctrl-C ends the run after the current step; the next run continues from there.";

const RESEND_HELP: &str = "\
Sends what did not arrive and what may not have arrived; an unconfirmed message can arrive twice.
What the destination has confirmed is never sent again.";

const SHOW_HELP: &str = "\
--rebuild renders the edition again from stored data, and fails if a single byte differs.
--template renders it with another template, and shows the difference.";

/// What to do with editions.
#[derive(Debug, Subcommand)]
pub(crate) enum EditionCommand {
    /// Run an edition now, until it is published
    #[command(after_help = RUN_HELP)]
    Run(EditionArguments),
    /// Show the status of an edition: stories, batches, deliveries, forecast
    Status(EditionArguments),
    /// Print a published edition
    #[command(after_help = SHOW_HELP)]
    Show(EditionShowArguments),
    /// Publish the completed stories, without the rest
    Publish(EditionArguments),
    /// Retry failed stories
    Retry {
        #[command(flatten)]
        edition: EditionArguments,
        /// Only stories retried fewer times than this [default: edition.retries]
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=5))]
        max: Option<u32>,
    },
    /// Restart an edition with the stories it has
    Reset {
        #[command(flatten)]
        edition: EditionArguments,
        /// Do not ask for confirmation
        #[arg(long)]
        yes: bool,
    },
    /// Send again what a destination lacks
    #[command(after_help = RESEND_HELP)]
    Resend(RedeliveryArguments),
    /// Skip what a destination lacks, so that the edition can complete
    Skip(RedeliveryArguments),
    /// Print the edition that the completed stories would make; stores nothing
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
    /// Day of the edition, like 2026-01-31 [default: today in edition.tz]
    #[arg(value_name = "DATE")]
    pub(crate) date: Option<String>,
}

/// Which deliveries.
#[derive(Debug, Args)]
pub(crate) struct RedeliveryArguments {
    /// Destination: github, telegram, directory or webhook
    #[arg(value_name = "DESTINATION")]
    pub(crate) destination: String,
    #[command(flatten)]
    pub(crate) edition: EditionArguments,
    /// Number of one message [default: all that it lacks]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) part: Option<u32>,
}

/// What to print.
#[derive(Debug, Args)]
pub(crate) struct EditionShowArguments {
    #[command(flatten)]
    pub(crate) edition: EditionArguments,
    /// Render it again from stored data, and compare
    #[arg(long)]
    pub(crate) rebuild: bool,
    /// Revision to show [default: latest]
    #[arg(long, value_name = "N")]
    pub(crate) revision: Option<u32>,
    /// Show the difference that another template makes
    #[arg(long, value_name = "FILE", conflicts_with = "rebuild")]
    pub(crate) template: Option<PathBuf>,
}
