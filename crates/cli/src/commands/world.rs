//! `almanack world`: pieces of the simulated outside, as processes of their own.

use std::{collections::BTreeMap, error::Error, fs, path::Path, time::Duration};

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

/// The token the service shows to Almanack.
const TOKEN_VARIABLE: &str = "ALMANACK_TOKEN";
/// The secret Almanack's calls are signed with.
const SECRET_VARIABLE: &str = "ALMANACK_WEBHOOK_SECRET";
/// The id of the one channel; Telegram's channels have such numbers.
const CHANNEL_ID: i64 = -1_001_000_000_001;

/// Runs a piece of the world until SIGTERM or Ctrl-C.
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
    runtime()?.block_on(async {
        let started = article::start(config, stop_signal()?).await;
        let running = started.map_err(|error| failed(&error))?;
        output.note(&greeting(&running.url(), arguments));
        let ended = running.join.await;
        ended
            .map_err(Failure::failed)?
            .map_err(|error| failed(&error))?;
        Ok(Exit::Ok)
    })
}

/// Runs an upstream until SIGTERM or Ctrl-C; says where it is and what to try.
fn serve<S: Upstream>(
    config: Config<S>,
    greeting: impl FnOnce(&Running<S>) -> String,
    output: &mut Output,
) -> Done {
    start_plain_log(output)?;
    runtime()?.block_on(async {
        let running = stand::start(config, stop_signal()?).await;
        let running = running.map_err(|error| reported(S::NAME, &error))?;
        output.note(&greeting(&running));
        let ended = running.join.await;
        ended
            .map_err(Failure::failed)?
            .map_err(|error| reported(S::NAME, &error))?;
        Ok(Exit::Ok)
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
            "a simulated GitHub at {url}; set it up and look inside:\n\n  curl {url}/_world\n\n"
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
            running.handle.make_usual_trouble();
        }
        let (url, count) = (running.url(), arguments.feeds);
        let first = running.handle.feed_url(0);
        format!(
            "{count} feeds, the first at {first}\nall of them as OPML, documents made to hurt, and \
             how to disturb and look inside:\n\n  curl {url}/opml\n  curl {url}/hostile\n  \
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
            "a simulated news site at {url}\nlists under {url}/v0, the search under {url}/api/v1; \
             everything else, and how to disturb and look inside:\n\n  \
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
            "a simulated language model at {url}/v1\nask it, disturb it and look inside:\n\n  \
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
            "a simulated Telegram at {url} with the channel @{name}\npost to it, read it, disturb it \
             and look inside:\n\n  \
             curl {url}/bot{token}/sendMessage -d chat_id=@{name} -d text=Tides\n  \
             curl {url}/_world/messages/@{name}\n  curl {url}/_world\n\n"
        )
    };
    serve(config, greeting, output)
}

/// The well-known secret is no secret; another one may be, and is not repeated.
fn shown<'a>(secret: &'a str, known: &str) -> &'a str {
    if secret == known { secret } else { "…" }
}

/// Errors name the file and the place in it, never what stands there: the file holds secrets.
fn read_setup(file: &Path) -> Result<Setup, Failure> {
    let shown = file.display();
    let text = fs::read_to_string(file)
        .map_err(|error| Failure::usage(format!("read `{shown}`: {error}")))?;
    serde_json::from_str(&text).map_err(|error| {
        let (line, column) = (error.line(), error.column());
        let said = format!("`{shown}` is not a setup: line {line}, column {column}");
        Failure::usage(said)
    })
}

fn start_plain_log(output: &Output) -> Result<(), Failure> {
    let log = Log {
        format: LogFormat::Text,
        level: "info".to_owned(),
    };
    log::start(&log, output.notes_coloured()).map(drop)
}

/// The message bus that events go to, where one is named.
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

/// Where it is, and what to do next.
fn greeting(url: &str, arguments: &ArticleServiceArguments) -> String {
    let almanack = match bus(arguments) {
        Some(bus) => format!("over {}", bus.place()),
        None => format!("at {}", arguments.almanack_url),
    };
    let calls = if arguments.no_callback_url {
        format!(
            "Almanack's configuration must say where to call:\n\n  \
             [kinds.ARTICLE_AUDIT]\n  url = \"{url}/callbacks/audit\"\n  \
             [kinds.ARTICLE_PUBLISH]\n  url = \"{url}/callbacks/publish\"\n"
        )
    } else {
        "It tells Almanack with every task where to call, and Almanack must be allowed to call there:\n\n  \
         [outbound]\n  allow = [\"127.0.0.1\"]\n"
            .to_owned()
    };
    format!(
        "article service at {url}, tells its changes to Almanack {almanack}\n{calls}\n\
         Write an article, and watch it being audited and published:\n\n  \
         curl -X POST {url}/articles -H 'content-type: application/json' \\\n    \
         -d '{{\"title\": \"Tides\", \"publish_at\": \"2026-01-05T08:00:00Z\"}}'\n  \
         curl {url}/articles\n\n"
    )
}

pub(super) fn failed(error: &article::Error) -> Failure {
    reported("article service", error)
}

/// What failed, with all its causes.
pub(super) fn reported(what: &str, error: &dyn Error) -> Failure {
    Failure::caused(what, error)
}
