//! `almanack world …`: pieces of the simulated outside.

use std::path::PathBuf;

use almanack_lab::demo;
use clap::{Args, Subcommand};

use crate::when::parse_duration;

/// Which piece.
#[derive(Debug, Subcommand)]
pub(crate) enum WorldCommand {
    /// The reference article service: the other half of rescheduling
    ArticleService(ArticleServiceArguments),
    /// A GitHub to call: refs, files, workflows, rate limits, faults
    Github(GithubArguments),
    /// Thousands of feeds to check, each with a rhythm and a temper, and documents made to hurt
    Feeds(FeedsArguments),
    /// A news site to make editions from: lists, search, comments, and pages good and bad
    News(NewsArguments),
    /// A language model to ask: translates titles, summarises, and errs when told to
    Model(ModelArguments),
    /// A Telegram to post to: one channel, Telegram's rules of text, limits, faults
    Telegram(TelegramArguments),
}

/// How to run the news site.
#[derive(Debug, Args)]
pub(crate) struct NewsArguments {
    /// Address to listen at; 0.0.0.0 gives pages hosts of their own under 127.0.0.0/8, and lets
    /// only this machine in; port 0 takes a free one
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "0.0.0.0:8093")]
    pub(crate) listen: std::net::SocketAddr,
    /// Another number gives other stories
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    /// Stories submitted each day, 5000 at most
    #[arg(
        long,
        value_name = "NUMBER",
        default_value_t = 1000,
        value_parser = clap::value_parser!(u32).range(..=5000)
    )]
    pub(crate) stories_per_day: u32,
    /// How long every answer takes: 200ms, 2s
    #[arg(long, value_name = "DURATION", default_value = "0s", value_parser = latency)]
    pub(crate) latency: std::time::Duration,
    /// Every page is an article: none is blocked, empty, missing or anything else
    #[arg(long)]
    pub(crate) quiet: bool,
}

fn latency(text: &str) -> Result<std::time::Duration, String> {
    let parsed = parse_duration(text).map_err(|unclear| format!("{unclear}: {}", unclear.hint))?;
    parsed
        .try_into()
        .map_err(|_| "a latency is not negative".to_owned())
}

/// How to run the feeds.
#[derive(Debug, Args)]
pub(crate) struct FeedsArguments {
    /// Address to listen at; 0.0.0.0 makes every address under 127.0.0.0/8 a host of its own, and
    /// lets only this machine in; port 0 takes a free one
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "0.0.0.0:8092")]
    pub(crate) listen: std::net::SocketAddr,
    /// How many feeds
    #[arg(long, value_name = "NUMBER", default_value_t = 1000)]
    pub(crate) feeds: u32,
    /// How many feeds share a host
    #[arg(long, value_name = "NUMBER", default_value_t = 4)]
    pub(crate) feeds_per_host: u32,
    /// Another number gives other feeds
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    /// No host is slow, fails, limits or hangs, and no feed has moved or gone
    #[arg(long)]
    pub(crate) quiet: bool,
}

/// How to run the simulated GitHub.
#[derive(Debug, Args)]
pub(crate) struct GithubArguments {
    /// Address to listen at; port 0 takes a free one
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:8091")]
    pub(crate) listen: std::net::SocketAddr,
    /// Tokens and repositories to start with, as JSON [default: none]
    #[arg(long, value_name = "FILE")]
    pub(crate) setup: Option<PathBuf>,
}

/// How to run the article service.
#[derive(Debug, Args)]
pub(crate) struct ArticleServiceArguments {
    /// Its own SQLite file
    #[arg(long, value_name = "FILE", default_value = "articles.db")]
    pub(crate) articles: PathBuf,
    /// Address to listen at; port 0 takes a free one
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:8090")]
    pub(crate) listen: std::net::SocketAddr,
    /// Where Almanack answers
    #[arg(long, value_name = "URL", default_value = "http://127.0.0.1:8080")]
    pub(crate) almanack_url: String,
    /// Brokers of a Kafka cluster to send events to, instead of HTTP
    #[arg(long, value_name = "HOST:PORT,…", conflicts_with = "nats_server")]
    pub(crate) kafka_brokers: Option<String>,
    /// The topic there
    #[arg(long, value_name = "TOPIC", default_value = "articles")]
    pub(crate) kafka_topic: String,
    /// A NATS server to send events to, instead of HTTP
    #[arg(long, value_name = "URL")]
    pub(crate) nats_server: Option<String>,
    /// The subject there; a stream must keep it
    #[arg(long, value_name = "SUBJECT", default_value = "articles.changed")]
    pub(crate) nats_subject: String,
    /// Do not tell Almanack where to call; its configuration must then have a url for the kinds
    /// `ARTICLE_AUDIT` and `ARTICLE_PUBLISH`
    #[arg(long)]
    pub(crate) no_callback_url: bool,
    /// Retries to ask for with every task
    #[arg(long, value_name = "NUMBER")]
    pub(crate) max_retry: Option<u32>,
}

/// How to run the simulated model.
#[derive(Debug, Args)]
pub(crate) struct ModelArguments {
    /// Address to listen at; port 0 takes a free one
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:8094")]
    pub(crate) listen: std::net::SocketAddr,
    /// The key it accepts
    #[arg(long, value_name = "KEY", default_value = demo::KEY)]
    pub(crate) key: String,
    /// Time every answer takes
    #[arg(long, value_name = "MILLISECONDS", default_value_t = 0)]
    pub(crate) latency_ms: u64,
}

/// How to run the simulated Telegram.
#[derive(Debug, Args)]
pub(crate) struct TelegramArguments {
    /// Address to listen at; port 0 takes a free one
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:8095")]
    pub(crate) listen: std::net::SocketAddr,
    /// The token of its bot
    #[arg(long, value_name = "TOKEN", default_value = demo::BOT_TOKEN)]
    pub(crate) token: String,
    /// The channel the bot may post to
    #[arg(long, value_name = "@NAME", default_value = "@almanack")]
    pub(crate) channel: String,
    /// Messages a minute that the channel takes [default: any number]
    #[arg(long, value_name = "NUMBER")]
    pub(crate) messages_per_minute: Option<u32>,
    /// Time every answer takes
    #[arg(long, value_name = "MILLISECONDS", default_value_t = 0)]
    pub(crate) latency_ms: u64,
}
