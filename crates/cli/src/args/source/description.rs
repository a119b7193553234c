//! How a source is requested and read: the same flags for `add`, `set` and `try`.

use clap::Args;

/// How a source is requested and read.
#[derive(Debug, Args)]
pub(crate) struct DescriptionArguments {
    #[command(flatten)]
    pub(crate) rules: RuleArguments,
    #[command(flatten)]
    pub(crate) options: OptionArguments,
}

/// How to read it, if not as a feed.
#[derive(Debug, Args)]
#[command(next_help_heading = "Rules")]
pub(crate) struct RuleArguments {
    /// Format of the address's content [default: feed]
    #[arg(long = "as", value_name = "FORMAT", value_parser = ["feed", "html", "json", "sitemap"])]
    pub(crate) format: Option<String>,
    /// Entries: a CSS selector, or a JSON path to all of them
    #[arg(long, value_name = "SELECTOR")]
    pub(crate) item: Option<String>,
    /// Title, inside the entry
    #[arg(long, value_name = "SELECTOR")]
    pub(crate) title: Option<String>,
    /// Link, inside the entry
    #[arg(long, value_name = "SELECTOR")]
    pub(crate) link: Option<String>,
    /// Publication time, inside the entry
    #[arg(long, value_name = "SELECTOR")]
    pub(crate) date: Option<String>,
    /// Summary, inside the entry
    #[arg(long, value_name = "SELECTOR")]
    pub(crate) summary: Option<String>,
    /// Id, inside the entry (JSON) [default: its link]
    #[arg(long, value_name = "PATH")]
    pub(crate) id: Option<String>,
    /// Only pages whose address contains this (sitemap)
    #[arg(long, value_name = "TEXT")]
    pub(crate) containing: Option<String>,
    /// File with all rules as JSON, or - for standard input
    #[arg(long, value_name = "FILE", conflicts_with_all = [
        "format", "item", "title", "link", "date", "summary", "id", "containing",
    ])]
    pub(crate) rules: Option<String>,
}

/// Everything else about it. An empty text resets an option.
#[derive(Debug, Args)]
#[command(next_help_heading = "Request and entries")]
pub(crate) struct OptionArguments {
    /// Further header; secrets as `env:NAME` or `file:PATH`; `NAME:` removes it
    #[arg(long = "header", value_name = "NAME: VALUE")]
    pub(crate) headers: Vec<String>,
    /// Bearer token: where it is kept, as `env:NAME` or `file:PATH`
    #[arg(long, value_name = "REFERENCE")]
    pub(crate) bearer: Option<String>,
    /// Basic authentication: user name, and where the password is kept
    #[arg(long, value_name = "USER:REFERENCE")]
    pub(crate) basic: Option<String>,
    /// Proxy to request it through
    #[arg(long, value_name = "URL")]
    pub(crate) proxy: Option<String>,
    /// User-Agent to send [default: the node's]
    #[arg(long, value_name = "TEXT")]
    pub(crate) user_agent: Option<String>,
    /// Respect robots.txt [default: for pages only]
    #[arg(long, value_name = "SWITCH", value_parser = ["on", "off", "auto"])]
    pub(crate) robots: Option<String>,
    /// Keep or block entries, like 'block title contains "sponsored"'; give all rules at once
    #[arg(long = "filter", value_name = "RULE")]
    pub(crate) filters: Vec<String>,
    /// Text that makes a response a failure although its status is 200; give all at once
    #[arg(long = "error-text", value_name = "TEXT")]
    pub(crate) error_texts: Vec<String>,
    /// Fetch the whole text of new entries from their links
    #[arg(long, value_name = "SWITCH", value_parser = ["on", "off"])]
    pub(crate) full_text: Option<String>,
    /// Page that people read it at
    #[arg(long, value_name = "URL")]
    pub(crate) site: Option<String>,
}
