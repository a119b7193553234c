//! The arguments of `almanack source`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::HowMany;

mod description;
mod replay;

pub(crate) use description::{DescriptionArguments, OptionArguments, RuleArguments};
pub(crate) use replay::ReplayArguments;

const ADD_HELP: &str = "\
The address is that of a feed, or of a page that links to its feed. Without a
feed, write rules:
  … --as html --item 'article.post' --title 'h2' --link 'h2 a' --date 'time'
  … --as json --item '$.posts[*]' --title '$.headline' --link '$.url'
  … --as sitemap --containing /blog/
  … --rules rules.json   as JSON: {\"how\":\"html\",\"item\":\"article\",\"title\":\"h2\"}

--dry-run shows the entries and stores nothing.";
const SET_HELP: &str = "\
Options that you do not name stay; an empty text resets one. Entries, statistics
and rhythm stay. A paused source stays paused.";

/// What to do with sources.
#[derive(Debug, Subcommand)]
pub(crate) enum SourceCommand {
    /// Add a feed, a site with a feed, or a page with rules
    #[command(after_help = ADD_HELP)]
    Add(Box<SourceAddArguments>),
    /// Show what would be read of an address, or of a source with changes, and store nothing
    Try(Box<SourceTryArguments>),
    /// List sources by id
    List(SourceListArguments),
    /// Show a source: its state, its last checks, and the next check with the reason
    Show(SourceArguments),
    /// Check a source as soon as a node has a free slot
    Check {
        #[command(flatten)]
        source: SourceArguments,
        /// Wait for the check, and show its result
        #[arg(long)]
        wait: bool,
        /// How long to wait
        #[arg(
            long,
            value_name = "DURATION",
            default_value = "60s",
            requires = "wait"
        )]
        timeout: String,
    },
    /// Pause a source until you resume it
    Pause {
        #[command(flatten)]
        source: SourceArguments,
        /// Reason to show to others
        #[arg(long)]
        note: Option<String>,
    },
    /// Resume a paused or ended source
    Resume(SourceArguments),
    /// Change a source in place: its address, rules, request, name, category or check policy
    #[command(after_help = SET_HELP)]
    Set(Box<SourceSetArguments>),
    /// Delete a source and its entries
    Remove {
        #[command(flatten)]
        source: SourceArguments,
        /// Do not ask for confirmation
        #[arg(long)]
        yes: bool,
    },
    /// List entries, newest first
    Entries(EntriesArguments),
    /// Count sources by cadence and state, and show how often checks find entries
    Stats {
        /// Only sources of this type
        #[arg(long = "type", value_name = "TYPE", value_parser = ["rss", "custom"])]
        source_type: Option<String>,
    },
    /// Show what was asked of which host, what not-modified answers saved, and whether publishers'
    /// requests were kept
    Courtesy(CourtesyArguments),
    /// Compare how fast policies would have found recorded entries, and with how many checks
    #[command(after_help = replay::REPLAY_HELP)]
    Replay(ReplayArguments),
    /// Add the feeds of an OPML file
    Import {
        /// File to read, or - for standard input
        file: String,
    },
    /// Export the feeds as OPML
    Export {
        /// File to write [default: standard output]
        file: Option<PathBuf>,
    },
    /// Explain what was learned about a source, and the time of its next check
    Why {
        #[command(flatten)]
        source: SourceArguments,
        /// Write its weekly pattern as SVG to this file
        #[arg(long, value_name = "FILE")]
        svg: Option<PathBuf>,
    },
}

/// Which days and hosts.
#[derive(Debug, Args)]
pub(crate) struct CourtesyArguments {
    /// Only this host
    #[arg(long)]
    pub(crate) host: Option<String>,
    /// Number of days, today included
    #[arg(long, value_name = "N", default_value_t = 7, value_parser = clap::value_parser!(i64).range(1..=90))]
    pub(crate) days: i64,
}

/// Which source.
#[derive(Debug, Args)]
pub(crate) struct SourceArguments {
    /// Id of the source, like 17, or its address
    #[arg(id = "source", value_name = "SOURCE")]
    pub(crate) id: String,
}

/// What to add.
#[derive(Debug, Args)]
pub(crate) struct SourceAddArguments {
    /// Address of a feed or a site, or of what the rules read
    pub(crate) address: String,
    /// Name of the source [default: its own title]
    #[arg(long)]
    pub(crate) name: Option<String>,
    /// Category; nested ones are joined by /
    #[arg(long, default_value = "", hide_default_value = true)]
    pub(crate) category: String,
    /// When to check: adaptive, classic, fixed:30m or a schedule like "0 8 * * 1-5"
    /// [default: sources.policy]
    #[arg(long)]
    pub(crate) policy: Option<String>,
    /// Fixed check interval: P0 (15m), P1 (30m), P2 (1h), P3 (2h), P4 (4h), P5 (8h), P6 (24h)
    #[arg(long, value_name = "P0…P7")]
    pub(crate) cadence: Option<String>,
    /// Use the address unchanged: do not look for a feed there
    #[arg(long)]
    pub(crate) no_discover: bool,
    /// Show the entries, and store nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) description: DescriptionArguments,
}

/// What to try.
#[derive(Debug, Args)]
pub(crate) struct SourceTryArguments {
    /// Address of a feed or a site, or id of a source, like 17
    #[arg(id = "source", value_name = "SOURCE")]
    pub(crate) source: String,
    /// Another address for the source
    #[arg(long, value_name = "URL")]
    pub(crate) address: Option<String>,
    /// Use the address unchanged: do not look for a feed there
    #[arg(long)]
    pub(crate) no_discover: bool,
    #[command(flatten)]
    pub(crate) description: DescriptionArguments,
}

/// Which sources.
#[derive(Debug, Args)]
pub(crate) struct SourceListArguments {
    /// Only sources of this type
    #[arg(long = "type", value_name = "TYPE", value_parser = ["rss", "custom"])]
    pub(crate) source_type: Option<String>,
    /// Only sources in this state
    #[arg(long, value_parser = ["active", "paused", "ended"])]
    pub(crate) state: Option<String>,
    /// Only sources of this cadence
    #[arg(long, value_name = "P0…P7")]
    pub(crate) cadence: Option<String>,
    /// Only sources that need attention, for this or for any reason
    #[arg(
        long,
        value_name = "REASON",
        num_args = 0..=1,
        default_missing_value = "any",
        value_parser = [
            "any", "silent", "truncated", "identity", "failing", "duplicate", "credentials", "gone",
        ]
    )]
    pub(crate) attention: Option<String>,
    /// Only sources in this category and below it
    #[arg(long)]
    pub(crate) category: Option<String>,
    /// Only sources whose name or address contains this
    #[arg(long, value_name = "TEXT")]
    pub(crate) containing: Option<String>,
    /// Only due sources, longest waiting first
    #[arg(long, conflicts_with_all = ["state", "cadence", "attention", "category", "containing", "all"])]
    pub(crate) due: bool,
    #[command(flatten)]
    pub(crate) many: HowMany,
}

/// What to change. What is left out stays.
#[derive(Debug, Args)]
pub(crate) struct SourceSetArguments {
    #[command(flatten)]
    pub(crate) source: SourceArguments,
    /// New address; entries, statistics and rhythm stay
    #[arg(long, value_name = "URL")]
    pub(crate) address: Option<String>,
    /// New name
    #[arg(long)]
    pub(crate) name: Option<String>,
    /// New category; "" for none
    #[arg(long)]
    pub(crate) category: Option<String>,
    /// New check policy; `auto` returns to sources.policy
    #[arg(long)]
    pub(crate) policy: Option<String>,
    /// Fixed check interval, P0 to P6; P7 pauses it; `auto` removes the fixed interval
    #[arg(long, value_name = "P0…P7")]
    pub(crate) cadence: Option<String>,
    #[command(flatten)]
    pub(crate) description: DescriptionArguments,
}

/// Which entries.
#[derive(Debug, Args)]
pub(crate) struct EntriesArguments {
    /// Only entries of this source: its id or its address
    #[arg(value_name = "SOURCE")]
    pub(crate) id: Option<String>,
    /// Only entries first seen since: 2h, 7d, or a time as for `task put --at`
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) since: Option<String>,
    /// Only entries with these words, like 'ferry "night train" -strike'
    #[arg(long, value_name = "WORDS", allow_hyphen_values = true)]
    pub(crate) search: Option<String>,
    /// Only entries of sources in this category and below it
    #[arg(long)]
    pub(crate) category: Option<String>,
    /// Fetch the full text of this entry from its link, and store it
    #[arg(long, value_name = "ENTRY", exclusive = true)]
    pub(crate) full_text: Option<i64>,
    #[command(flatten)]
    pub(crate) many: HowMany,
}
