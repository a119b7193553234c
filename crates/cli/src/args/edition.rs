//! The arguments of `almanack edition`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

const RUN_HELP: &str = "\
A run continues from the edition's current state. It ends when the edition is
published, or when it must wait for an outside service. Each step spends at most
edition.budget requests. You can run it beside a node: one of them works, the
other waits.

Ctrl-C ends the run after the current step; the next run continues from there.";

const RESEND_HELP: &str = "\
Sends what did not arrive and what may not have arrived; an unconfirmed message
can arrive twice. What the destination has confirmed is never sent again.";

const CORRECT_HELP: &str = "\
Makes a new revision with your name. It goes to the destinations that can
replace what they have. An edition that waits for approval goes on waiting, and
links to earlier revisions stop working.";

const SHOW_HELP: &str = "\
--rebuild renders the edition again, and fails if a single byte differs.
--template renders it with another template, and shows the difference.
--page-template does the same with its page for readers.";

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
    /// Approve an edition that waits for a person; it is published
    Approve(DecisionArguments),
    /// Reject an edition that waits for a person; nothing of it is sent
    Reject(DecisionArguments),
    /// Drop a story from a finished edition
    #[command(after_help = CORRECT_HELP)]
    Drop(CorrectionArguments),
    /// Move a story of a finished edition to another place
    #[command(after_help = CORRECT_HELP)]
    Move {
        /// Its new place, from 1
        #[arg(long, value_name = "PLACE", value_parser = clap::value_parser!(u32).range(1..))]
        to: u32,
        #[command(flatten)]
        of: CorrectionArguments,
    },
    /// Edit the title or the text of a story of a finished edition
    #[command(
        after_help = CORRECT_HELP,
        override_usage = "almanack edition edit <STORY> [EDITION] <--title|--summary|--comments>"
    )]
    Edit(EditArguments),
    /// Retract an edition: its page says so, feeds leave it out
    Retract {
        #[command(flatten)]
        edition: EditionArguments,
        /// Note to readers [default: only that it was retracted]
        #[arg(long, value_name = "TEXT")]
        note: Option<String>,
        /// Do not ask for confirmation
        #[arg(long)]
        yes: bool,
    },
    /// Restore a retracted edition
    Restore(EditionArguments),
    /// List the revisions of an edition: who made each, and what it changed
    History(EditionArguments),
    /// Print the edition that the completed stories would make; stores nothing
    Preview(EditionArguments),
    /// Show what models cost in a month, by day, and the caps on it
    Usage {
        /// Name of the edition [default: the one without a name]
        #[arg(value_name = "NAME")]
        name: Option<String>,
        /// Month, like 2026-01 [default: this month in edition.tz]
        #[arg(long, value_name = "MONTH")]
        month: Option<String>,
    },
    /// Show the prompts that models get, with a version of each prompt
    Prompts {
        /// Name of the edition [default: the one without a name]
        #[arg(value_name = "NAME")]
        name: Option<String>,
    },
    /// Show how far the mailing of an edition is, and what became of each message
    Mailing {
        #[command(flatten)]
        edition: EditionArguments,
        /// Only messages in this state: intended, sent, confirmed, unknown, failed or skipped
        #[arg(long, value_name = "STATE")]
        state: Option<String>,
        /// Most messages to show
        #[arg(long, value_name = "N", default_value_t = 50, value_parser = super::some)]
        limit: usize,
    },
    /// Take a mail that says that a message could not be delivered
    #[command(after_help = BOUNCE_HELP)]
    Bounce {
        /// The mail; `-` is standard input
        #[arg(value_name = "FILE", default_value = "-")]
        file: String,
    },
    /// Manage the subscribers of the newsletter
    #[command(subcommand)]
    Subscriber(SubscriberCommand),
    /// List editions, newest day first
    List {
        /// Only editions of this name; `default` is the one without a name
        #[arg(value_name = "NAME")]
        name: Option<String>,
        /// Most editions to show
        #[arg(long, value_name = "N", default_value_t = 30, value_parser = super::some)]
        limit: usize,
    },
}

/// Which edition.
#[derive(Debug, Args)]
pub(crate) struct EditionArguments {
    /// Day of the edition, like 2026-01-31; NAME or NAME@2026-01-31 for one with a name
    /// [default: today in edition.tz]
    #[arg(value_name = "EDITION")]
    pub(crate) date: Option<String>,
}

/// Which document to decide about.
#[derive(Debug, Args)]
pub(crate) struct DecisionArguments {
    #[command(flatten)]
    pub(crate) edition: EditionArguments,
    /// Only if this is still the newest revision [default: the newest]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) revision: Option<u32>,
}

/// Which story of which edition.
#[derive(Debug, Args)]
pub(crate) struct CorrectionArguments {
    /// Rank of the story in the newest document, or its key, like hn:42
    #[arg(value_name = "STORY")]
    pub(crate) story: String,
    #[command(flatten)]
    pub(crate) edition: EditionArguments,
    /// Only if this is still the newest revision [default: the newest]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) revision: Option<u32>,
}

/// What to write.
#[derive(Debug, Args)]
#[group(id = "text", required = true, multiple = true, args = ["title", "summary", "comments"])]
pub(crate) struct EditArguments {
    #[command(flatten)]
    pub(crate) of: CorrectionArguments,
    /// New title
    #[arg(long, value_name = "TEXT")]
    pub(crate) title: Option<String>,
    /// New summary; empty removes it
    #[arg(long, value_name = "TEXT")]
    pub(crate) summary: Option<String>,
    /// New summary of the comments; empty removes it
    #[arg(long, value_name = "TEXT")]
    pub(crate) comments: Option<String>,
}

/// Which deliveries.
#[derive(Debug, Args)]
pub(crate) struct RedeliveryArguments {
    /// Destination, such as github, telegram, directory, webhook or mail
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
    /// Show the difference that another template makes on readers' pages
    #[arg(long, value_name = "FILE", conflicts_with_all = ["rebuild", "template"])]
    pub(crate) page_template: Option<PathBuf>,
}

const SUBSCRIBER_IMPORT_HELP: &str = "\
The first line may name the columns: email, and optionally language and state.
Import only people who agreed to get mail from you: no confirmation is sent.
Importing twice adds nobody twice, and whoever unsubscribed stays unsubscribed.";

const BOUNCE_HELP: &str = "\
Let your mail server pipe what arrives at the sender's address into this command.
A report of a failed delivery (RFC 3464) counts against the address, once for
each message. Any other mail changes nothing, and is no error.";

/// What to do with subscribers.
#[derive(Debug, Subcommand)]
pub(crate) enum SubscriberCommand {
    /// List subscribers, oldest first
    List {
        #[command(flatten)]
        which: SubscriberFilterArguments,
        /// Most subscribers to show
        #[arg(long, value_name = "N", default_value_t = 50, value_parser = super::some)]
        limit: usize,
    },
    /// Show subscribers by state, and how far mailings are
    Status,
    /// Add somebody who agreed to get mail from you
    Add {
        #[arg(value_name = "ADDRESS")]
        address: String,
        /// Name of the edition [default: the default edition]
        #[arg(long, value_name = "NAME")]
        edition: Option<String>,
        /// Language of the words around editions, like en or zh-CN [default: the edition's]
        #[arg(long, value_name = "TAG")]
        language: Option<String>,
        /// Send a mail with a link first; nothing else is mailed before it is confirmed
        #[arg(long)]
        confirm: bool,
    },
    /// Show a subscriber, and what became of each message to them
    Show {
        /// Number of the subscriber, as `list` shows it
        #[arg(value_name = "ID")]
        id: i64,
        /// Most messages to show
        #[arg(long, value_name = "N", default_value_t = 50, value_parser = super::some)]
        limit: usize,
    },
    /// Send a subscriber another mail with a link to confirm
    Ask {
        /// Number of the subscriber, as `list` shows it
        #[arg(value_name = "ID")]
        id: i64,
    },
    /// Delete a subscriber and everything kept about them
    Remove {
        /// Number of the subscriber, as `list` shows it
        #[arg(value_name = "ID")]
        id: i64,
    },
    /// Stop mail to a subscriber
    Unsubscribe {
        /// Number of the subscriber, as `list` shows it
        #[arg(value_name = "ID")]
        id: i64,
    },
    /// Add the subscribers of a CSV file
    #[command(after_help = SUBSCRIBER_IMPORT_HELP)]
    Import {
        /// The file; `-` is standard input
        #[arg(value_name = "FILE")]
        file: String,
        /// Name of the edition [default: the default edition]
        #[arg(long, value_name = "NAME")]
        edition: Option<String>,
    },
    /// Write subscribers as CSV
    Export {
        /// The file [default: standard output]
        #[arg(value_name = "FILE")]
        file: Option<PathBuf>,
        #[command(flatten)]
        which: SubscriberFilterArguments,
    },
}

/// Which subscribers.
#[derive(Debug, Args)]
pub(crate) struct SubscriberFilterArguments {
    /// Only of the edition with this name
    #[arg(long, value_name = "NAME")]
    pub(crate) edition: Option<String>,
    /// Only in this state: pending, confirmed, unsubscribed or bounced
    #[arg(long, value_name = "STATE")]
    pub(crate) state: Option<String>,
}
