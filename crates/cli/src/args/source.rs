//! The arguments of `almanack source`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::HowMany;

mod replay;

pub(crate) use replay::ReplayArguments;

const ADD_HELP: &str = "\
An address is a feed, or a page that names its feed:
  almanack source add https://example.org/feed.xml
  almanack source add example.org --category news/world

What has no feed is read by rules of your own:
  … --as html --item 'article.post' --title 'h2' --link 'h2 a' --date 'time'
  … --as json --item '$.posts[*]' --title '$.headline' --link '$.url' --date '$.published'
  … --as sitemap --containing /blog/
  … --rules rules.json          the same as JSON: {\"how\":\"html\",\"item\":\"article\",\"title\":\"h2\"}

--dry-run shows the entries that would be read, and stores nothing.";

/// What to do with sources.
#[derive(Debug, Subcommand)]
pub(crate) enum SourceCommand {
    /// Add a feed, a site that has one, or a page read by rules
    #[command(after_help = ADD_HELP)]
    Add(Box<SourceAddArguments>),
    /// List sources by number
    List(SourceListArguments),
    /// Show a source: what is known of it, its last checks, its next check and why then
    Show(SourceArguments),
    /// Check a source as soon as a node has room
    Check {
        #[command(flatten)]
        source: SourceArguments,
        /// Wait until a node has looked, and tell what came
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
    /// Do not check a source until it is resumed
    Pause {
        #[command(flatten)]
        source: SourceArguments,
        /// Why, for the others
        #[arg(long)]
        note: Option<String>,
    },
    /// Check a paused or ended source again, from now on
    Resume(SourceArguments),
    /// Change what a source is called, where it is put or how it is checked
    Set(SourceSetArguments),
    /// Forget a source and its entries
    Remove {
        #[command(flatten)]
        source: SourceArguments,
        /// Do not ask
        #[arg(long)]
        yes: bool,
    },
    /// List entries, newest first
    Entries(EntriesArguments),
    /// Count sources: by cadence, due, failing, and how often checks find something
    Stats {
        /// Only of this type
        #[arg(long = "type", value_name = "TYPE", value_parser = ["rss", "custom"])]
        source_type: Option<String>,
    },
    /// Show how fast policies would have found recorded entries, and with how many checks
    #[command(after_help = replay::REPLAY_HELP)]
    Replay(ReplayArguments),
    /// Add the feeds of an OPML file
    Import {
        /// The file, or - for standard input
        file: String,
    },
    /// Write the feeds as OPML
    Export {
        /// The file [default: standard output]
        file: Option<PathBuf>,
    },
    /// Tell what is believed of a source's rhythm, and why its next check is when it is
    Why {
        #[command(flatten)]
        source: SourceArguments,
        /// Draw its week into this file
        #[arg(long, value_name = "FILE")]
        svg: Option<PathBuf>,
    },
}

/// Which source.
#[derive(Debug, Args)]
pub(crate) struct SourceArguments {
    /// Its number, like 17, or its address
    #[arg(value_name = "SOURCE")]
    pub(crate) id: String,
}

/// What to add.
#[derive(Debug, Args)]
pub(crate) struct SourceAddArguments {
    /// Where it is: a feed, a site, or what the rules are for
    pub(crate) address: String,
    /// What to call it [default: what it calls itself]
    #[arg(long)]
    pub(crate) name: Option<String>,
    /// Where to put it; folders are joined by /
    #[arg(long, default_value = "", hide_default_value = true)]
    pub(crate) category: String,
    /// When to check it: adaptive, classic, fixed:30m or a schedule like "0 8 * * 1-5" [default: sources.policy]
    #[arg(long)]
    pub(crate) policy: Option<String>,
    /// Check it at a fixed pace: P0 (15m), P1 (30m), P2 (1h), P3 (2h), P4 (4h), P5 (8h), P6 (24h)
    #[arg(long, value_name = "P0…P7")]
    pub(crate) cadence: Option<String>,
    /// Take the address as it is: do not look for a feed there
    #[arg(long)]
    pub(crate) no_discover: bool,
    /// Show what would be read, and store nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) rules: RuleArguments,
}

/// How it is read, if not as a feed.
#[derive(Debug, Args)]
#[command(next_help_heading = "Rules")]
pub(crate) struct RuleArguments {
    /// What the address shows [default: feed]
    #[arg(long = "as", value_name = "FORMAT", value_parser = ["feed", "html", "json", "sitemap"])]
    pub(crate) format: Option<String>,
    /// What is one entry: a CSS selector, or a JSON path to all of them
    #[arg(long, value_name = "SELECTOR")]
    pub(crate) item: Option<String>,
    /// Its title, inside the entry
    #[arg(long, value_name = "SELECTOR")]
    pub(crate) title: Option<String>,
    /// Its link
    #[arg(long, value_name = "SELECTOR")]
    pub(crate) link: Option<String>,
    /// When it was published
    #[arg(long, value_name = "SELECTOR")]
    pub(crate) date: Option<String>,
    /// What it is about
    #[arg(long, value_name = "SELECTOR")]
    pub(crate) summary: Option<String>,
    /// What it is known by (JSON) [default: its link]
    #[arg(long, value_name = "PATH")]
    pub(crate) id: Option<String>,
    /// Only pages whose address contains this (sitemap)
    #[arg(long, value_name = "TEXT")]
    pub(crate) containing: Option<String>,
    /// All rules in one file, as JSON; - for standard input
    #[arg(long, value_name = "FILE", conflicts_with_all = [
        "format", "item", "title", "link", "date", "summary", "id", "containing",
    ])]
    pub(crate) rules: Option<String>,
}

/// Which sources.
#[derive(Debug, Args)]
pub(crate) struct SourceListArguments {
    /// Only of this type
    #[arg(long = "type", value_name = "TYPE", value_parser = ["rss", "custom"])]
    pub(crate) source_type: Option<String>,
    /// Only in this state
    #[arg(long, value_parser = ["active", "paused", "ended"])]
    pub(crate) state: Option<String>,
    /// Only of this cadence
    #[arg(long, value_name = "P0…P7")]
    pub(crate) cadence: Option<String>,
    /// Only those that need a person, for this or for any reason
    #[arg(
        long,
        value_name = "REASON",
        num_args = 0..=1,
        default_missing_value = "any",
        value_parser = ["any", "silent", "failing", "duplicate", "credentials"]
    )]
    pub(crate) attention: Option<String>,
    /// Only those whose name or address contains this
    #[arg(long, value_name = "TEXT")]
    pub(crate) containing: Option<String>,
    /// Only those whose time has come, longest waiting first
    #[arg(long, conflicts_with_all = ["state", "cadence", "attention", "containing", "all"])]
    pub(crate) due: bool,
    #[command(flatten)]
    pub(crate) many: HowMany,
}

/// What to change. What is left out stays.
#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("changes").required(true).multiple(true))]
pub(crate) struct SourceSetArguments {
    #[command(flatten)]
    pub(crate) source: SourceArguments,
    /// What to call it
    #[arg(long, group = "changes")]
    pub(crate) name: Option<String>,
    /// Where to put it; "" for the top
    #[arg(long, group = "changes")]
    pub(crate) category: Option<String>,
    /// When to check it; `auto` goes back to sources.policy
    #[arg(long, group = "changes")]
    pub(crate) policy: Option<String>,
    /// Check it at a fixed pace, P0 to P6; P7 pauses it; `auto` takes it back
    #[arg(long, value_name = "P0…P7", group = "changes")]
    pub(crate) cadence: Option<String>,
}

/// Which entries.
#[derive(Debug, Args)]
pub(crate) struct EntriesArguments {
    /// Only of this source: its number or its address
    #[arg(value_name = "SOURCE")]
    pub(crate) id: Option<String>,
    /// Only first seen since then: 2h, 7d, or a time as for `task put --at`
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) since: Option<String>,
    #[command(flatten)]
    pub(crate) many: HowMany,
}
