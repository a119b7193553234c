//! `almanack world`: simulated upstreams, each as a separate process.

use std::{collections::BTreeMap, fs, path::Path, time::Duration};

use almanack_lab::{
    article::{self, relay::Bus},
    demo,
    feeds::{self, fleet::Fleet},
    github::{self, setup::Setup},
    model,
    news::{self, site::Site},
    stand::{self, Config, Running, Upstream},
    telegram::{self, state::Chat},
};

use crate::{
    commands::prelude::*,
    config::settings::{Log, LogFormat},
    log,
    process::stop_signal,
};

/// The token the service sends to Almanack.
const TOKEN_VARIABLE: &str = "ALMANACK_TOKEN";
/// The secret Almanack's calls are signed with.
const SECRET_VARIABLE: &str = "ALMANACK_WEBHOOK_SECRET";
/// The id of the channel, in the form of Telegram's channel ids.
const CHANNEL_ID: i64 = -1_001_000_000_001;

/// Runs one upstream until SIGTERM or Ctrl-C.
pub(super) fn run(
    command: &WorldCommand,
    environment: &BTreeMap<String, String>,
    output: &mut Output,
) -> Done {
    match command {
        WorldCommand::ArticleService(arguments) => article_service(arguments, environment, output),
        WorldCommand::Github(arguments) => github(arguments, output),
        WorldCommand::Feeds(arguments) => feeds(arguments, output),
        WorldCommand::News(arguments) => news(arguments, output),
        WorldCommand::Model(arguments) => model(arguments, output),
        WorldCommand::Telegram(arguments) => telegram(arguments, output),
    }
}

/// Runs the article service until SIGTERM or Ctrl-C.
fn article_service(
    arguments: &ArticleServiceArguments,
    environment: &BTreeMap<String, String>,
    output: &mut Output,
) -> Done {
    let mut config = article::Config::new(
        arguments.articles.clone(),
        arguments.listen,
        arguments.almanack_url.clone(),
    );
    config.almanack_token = environment.get(TOKEN_VARIABLE).cloned();
    config.webhook_secret = environment.get(SECRET_VARIABLE).cloned();
    config.bus = bus(arguments);
    config.requests.callback_url = !arguments.no_callback_url;
    config.requests.max_retry = arguments.max_retry;
    start_plain_log(output)?;
    let failed = |error: article::Error| Failure::caused("article service", &error);
    runtime()?.block_on(async {
        let running = article::start(config, stop_signal()?).await;
        let running = running.map_err(failed)?;
        output.note(&greeting(&running.url(), arguments));
        let ended = running.join.await.map_err(Failure::failed)?;
        ended.map(|()| Exit::Ok).map_err(failed)
    })
}

/// Runs an upstream until SIGTERM or Ctrl-C; prints its address and what to try.
fn serve<S: Upstream>(
    config: Config<S>,
    greeting: impl FnOnce(&Running<S>) -> String,
    output: &mut Output,
) -> Done {
    start_plain_log(output)?;
    let failed = |error: stand::Error| Failure::caused(S::NAME, &error);
    runtime()?.block_on(async {
        let running = stand::start(config, stop_signal()?).await;
        let running = running.map_err(failed)?;
        output.note(&greeting(&running));
        let ended = running.join.await.map_err(Failure::failed)?;
        ended.map(|()| Exit::Ok).map_err(failed)
    })
}

fn github(arguments: &GithubArguments, output: &mut Output) -> Done {
    let mut config = github::Config::new(arguments.listen);
    if let Some(file) = &arguments.setup {
        config.setup = read_setup(file)?;
    }
    let greeting = |running: &github::Running| {
        let url = running.url();
        format!(
            "Simulated GitHub listening on {url}\nSet it up and inspect it:\n\n  \
             curl {url}/_world\n\n"
        )
    };
    serve(config, greeting, output)
}

fn feeds(arguments: &FeedsArguments, output: &mut Output) -> Done {
    let mut fleet = Fleet::new(arguments.seed, arguments.feeds);
    fleet.feeds_per_host = arguments.feeds_per_host.max(1);
    let config = feeds::Config::of(arguments.listen, fleet);
    let greeting = |running: &feeds::Running| {
        if !arguments.quiet {
            running.handle.inject_usual_faults();
        }
        let (url, count) = (running.url(), arguments.feeds);
        let first = running.handle.feed_url(0);
        format!(
            "{count} simulated feeds, the first at {first}\n\
             List them as OPML, list hostile documents, \
             inject faults and inspect:\n\n  curl {url}/opml\n  curl {url}/hostile\n  \
             curl {url}/_world\n\n"
        )
    };
    serve(config, greeting, output)
}

fn news(arguments: &NewsArguments, output: &mut Output) -> Done {
    let mut site = Site::new(arguments.seed, arguments.stories_per_day);
    site.quiet = arguments.quiet;
    let config = news::Config {
        latency: arguments.latency,
        ..news::Config::new(arguments.listen, site)
    };
    let greeting = |running: &news::Running| {
        let url = running.url();
        format!(
            "Simulated news site listening on {url}\nLists: {url}/v0, search: {url}/api/v1. \
             Inject faults and inspect:\n\n  \
             curl {url}/v0/beststories.json\n  curl '{url}/api/v1/search?tags=story'\n  \
             curl {url}/_world\n\n"
        )
    };
    serve(config, greeting, output)
}

fn model(arguments: &ModelArguments, output: &mut Output) -> Done {
    let config = model::Config {
        latency: Duration::from_millis(arguments.latency_ms),
        ..model::Config::new(arguments.listen, &arguments.key)
    };
    let greeting = |running: &model::Running| {
        let (url, key) = (running.url(), shown(&arguments.key, demo::KEY));
        format!(
            "Simulated language model listening on {url}/v1\n\
             Call it, inject faults and inspect:\n\n  \
             curl {url}/v1/chat/completions -H 'authorization: Bearer {key}' \\\n    \
             -H 'content-type: application/json' \\\n    \
             -d '{{\"model\": \"world\", \"messages\": [{{\"role\": \"user\", \"content\": \
             \"[\\\"Why tides matter\\\"]\"}}]}}'\n  curl {url}/_world\n\n"
        )
    };
    serve(config, greeting, output)
}

fn telegram(arguments: &TelegramArguments, output: &mut Output) -> Done {
    let channel = Chat::channel(CHANNEL_ID, &arguments.channel);
    let mut config = telegram::Config::new(arguments.listen, &arguments.token, vec![channel]);
    config.setup.messages_per_minute = arguments.messages_per_minute;
    config.latency = Duration::from_millis(arguments.latency_ms);
    let greeting = |running: &telegram::Running| {
        let (url, token) = (running.url(), shown(&arguments.token, demo::BOT_TOKEN));
        let name = arguments.channel.trim_start_matches('@');
        format!(
            "Simulated Telegram listening on {url}, channel @{name}\n\
             Post to it, read it, inject faults \
             and inspect:\n\n  \
             curl {url}/bot{token}/sendMessage -d chat_id=@{name} -d text=Tides\n  \
             curl {url}/_world/messages/@{name}\n  curl {url}/_world\n\n"
        )
    };
    serve(config, greeting, output)
}

/// Prints the default secret, which is public; any other is hidden.
fn shown<'a>(secret: &'a str, known: &str) -> &'a str {
    if secret == known { secret } else { "…" }
}

/// Errors name the file and the position, never the content: the file contains secrets.
fn read_setup(file: &Path) -> Result<Setup> {
    let shown = file.display();
    let text = fs::read_to_string(file)
        .map_err(|error| Failure::usage(format!("read `{shown}`: {error}")))?;
    serde_json::from_str(&text).map_err(|error| {
        let (line, column) = (error.line(), error.column());
        let message = format!("`{shown}` is not a valid setup: line {line}, column {column}");
        Failure::usage(message)
    })
}

fn start_plain_log(output: &Output) -> Result<()> {
    let log = Log {
        format: LogFormat::Text,
        level: "info".to_owned(),
    };
    log::start(&log, output.notes_coloured()).map(drop)
}

/// The message bus for events, if configured.
fn bus(arguments: &ArticleServiceArguments) -> Option<Bus> {
    let kafka = arguments.kafka_brokers.clone().map(|brokers| Bus::Kafka {
        brokers,
        topic: arguments.kafka_topic.clone(),
    });
    kafka.or_else(|| {
        let server = arguments.nats_server.clone()?;
        let subject = arguments.nats_subject.clone();
        Some(Bus::Nats { server, subject })
    })
}

/// The address and the next steps.
fn greeting(url: &str, arguments: &ArticleServiceArguments) -> String {
    let almanack = match bus(arguments) {
        Some(bus) => format!("over {}", bus.place()),
        None => format!("at {}", arguments.almanack_url),
    };
    let calls = if arguments.no_callback_url {
        format!(
            "Set the callback addresses in Almanack's configuration:\n\n  \
             [kinds.ARTICLE_AUDIT]\n  url = \"{url}/callbacks/audit\"\n  \
             [kinds.ARTICLE_PUBLISH]\n  url = \"{url}/callbacks/publish\"\n"
        )
    } else {
        "Every task contains a callback URL. Allow Almanack to call it:\n\n  \
         [outbound]\n  allow = [\"127.0.0.1\"]\n"
            .to_owned()
    };
    format!(
        "Article service listening on {url}, sends its changes to Almanack {almanack}\n{calls}\n\
         Create an article and watch it being audited and published:\n\n  \
         curl -X POST {url}/articles -H 'content-type: application/json' \\\n    \
         -d '{{\"title\": \"Tides\", \"publish_at\": \"2026-01-05T08:00:00Z\"}}'\n  \
         curl {url}/articles\n\n"
    )
}
