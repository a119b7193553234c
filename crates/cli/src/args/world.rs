//! `almanack world …`: simulated upstreams.

use std::path::PathBuf;

use almanack_lab::demo;
use clap::{Args, Subcommand};

use crate::when::parse_duration;

#[derive(Debug, Subcommand)]
pub(crate) enum WorldCommand {
    /// Run the reference article service: a business service that reschedules its tasks
    ArticleService(ArticleServiceArguments),
    /// Simulate GitHub: refs, files, workflows, rate limits, faults
    Github(GithubArguments),
    /// Simulate thousands of feeds with different rhythms and faults, and hostile documents
    Feeds(FeedsArguments),
    /// Simulate a news site for editions: lists, search, comments, good and bad pages
    News(NewsArguments),
    /// Simulate a language model: translates titles, summarises, and fails on demand
    Model(ModelArguments),
    /// Simulate Telegram: one channel, its text rules, limits and faults
    Telegram(TelegramArguments),
}

/// Options of the news site.
#[derive(Debug, Args)]
pub(crate) struct NewsArguments {
    /// Address to listen on; 0.0.0.0 gives each page its own host under 127.0.0.0/8 and accepts
    /// only this machine; port 0 picks a free port
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "0.0.0.0:8093")]
    pub(crate) listen: std::net::SocketAddr,
    /// Seed: another number generates other stories
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    /// Stories submitted each day (at most 5000)
    #[arg(
        long,
        value_name = "NUMBER",
        default_value_t = 1000,
        value_parser = clap::value_parser!(u32).range(..=5000)
    )]
    pub(crate) stories_per_day: u32,
    /// Delay before every response, like 200ms or 2s
    #[arg(long, value_name = "DURATION", default_value = "0s", value_parser = latency)]
    pub(crate) latency: std::time::Duration,
    /// Serve only good article pages: none blocked, empty or missing
    #[arg(long)]
    pub(crate) quiet: bool,
}

fn latency(text: &str) -> Result<std::time::Duration, String> {
    let parsed = parse_duration(text).map_err(|unclear| format!("{unclear}: {}", unclear.hint))?;
    parsed
        .try_into()
        .map_err(|_| "latency must not be negative".to_owned())
}

/// Options of the feeds.
#[derive(Debug, Args)]
pub(crate) struct FeedsArguments {
    /// Address to listen on; 0.0.0.0 makes every address under 127.0.0.0/8 a separate host and
    /// accepts only this machine; port 0 picks a free port
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "0.0.0.0:8092")]
    pub(crate) listen: std::net::SocketAddr,
    /// Number of feeds
    #[arg(long, value_name = "NUMBER", default_value_t = 1000)]
    pub(crate) feeds: u32,
    /// Feeds per host
    #[arg(long, value_name = "NUMBER", default_value_t = 4)]
    pub(crate) feeds_per_host: u32,
    /// Seed: another number generates other feeds
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    /// Inject no faults: no slow, failing, limiting or hanging host, no moved or removed feed
    #[arg(long)]
    pub(crate) quiet: bool,
}

/// Options of the simulated GitHub.
#[derive(Debug, Args)]
pub(crate) struct GithubArguments {
    /// Address to listen on; port 0 picks a free port
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:8091")]
    pub(crate) listen: std::net::SocketAddr,
    /// Tokens and repositories to start with, as JSON [default: none]
    #[arg(long, value_name = "FILE")]
    pub(crate) setup: Option<PathBuf>,
}

/// Options of the article service.
#[derive(Debug, Args)]
pub(crate) struct ArticleServiceArguments {
    /// The service's SQLite file
    #[arg(long, value_name = "FILE", default_value = "articles.db")]
    pub(crate) articles: PathBuf,
    /// Address to listen on; port 0 picks a free port
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:8090")]
    pub(crate) listen: std::net::SocketAddr,
    /// Base URL of Almanack
    #[arg(long, value_name = "URL", default_value = "http://127.0.0.1:8080")]
    pub(crate) almanack_url: String,
    /// Send events to these Kafka brokers instead of over HTTP
    #[arg(long, value_name = "HOST:PORT,…", conflicts_with = "nats_server")]
    pub(crate) kafka_brokers: Option<String>,
    /// Kafka topic
    #[arg(long, value_name = "TOPIC", default_value = "articles")]
    pub(crate) kafka_topic: String,
    /// Send events to this NATS server instead of over HTTP
    #[arg(long, value_name = "URL")]
    pub(crate) nats_server: Option<String>,
    /// NATS subject; a stream must store it
    #[arg(long, value_name = "SUBJECT", default_value = "articles.changed")]
    pub(crate) nats_subject: String,
    /// Send no callback URL; Almanack's configuration must then set a url for the kinds
    /// `ARTICLE_AUDIT` and `ARTICLE_PUBLISH`
    #[arg(long)]
    pub(crate) no_callback_url: bool,
    /// `max_retry` of every task [default: Almanack's]
    #[arg(long, value_name = "NUMBER")]
    pub(crate) max_retry: Option<u32>,
}

/// Options of the simulated model.
#[derive(Debug, Args)]
pub(crate) struct ModelArguments {
    /// Address to listen on; port 0 picks a free port
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:8094")]
    pub(crate) listen: std::net::SocketAddr,
    /// API key it accepts
    #[arg(long, value_name = "KEY", default_value = demo::KEY)]
    pub(crate) key: String,
    /// Delay before every response
    #[arg(long, value_name = "MILLISECONDS", default_value_t = 0)]
    pub(crate) latency_ms: u64,
}

/// Options of the simulated Telegram.
#[derive(Debug, Args)]
pub(crate) struct TelegramArguments {
    /// Address to listen on; port 0 picks a free port
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:8095")]
    pub(crate) listen: std::net::SocketAddr,
    /// Token of its bot
    #[arg(long, value_name = "TOKEN", default_value = demo::BOT_TOKEN)]
    pub(crate) token: String,
    /// Channel the bot may post to
    #[arg(long, value_name = "@NAME", default_value = "@almanack")]
    pub(crate) channel: String,
    /// Messages per minute the channel accepts [default: unlimited]
    #[arg(long, value_name = "NUMBER")]
    pub(crate) messages_per_minute: Option<u32>,
    /// Delay before every response
    #[arg(long, value_name = "MILLISECONDS", default_value_t = 0)]
    pub(crate) latency_ms: u64,
}
