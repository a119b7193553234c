//! `almanack world`: pieces of the simulated outside, as processes of their own.

mod edition;

use std::{collections::BTreeMap, error::Error, fs, path::Path};

use almanack_lab::{
    article::{self, relay::Bus},
    feeds::{self, fleet::Fleet},
    github::{self, setup::Setup},
    news::{self, page, site::Site},
};

use crate::{
    args::{ArticleServiceArguments, FeedsArguments, GithubArguments, NewsArguments, WorldCommand},
    commands::runtime,
    config::settings::{Log, LogFormat},
    failure::{Exit, Failure},
    log,
    output::Output,
    process::stop_signal,
};

/// The token the service shows to Almanack.
const TOKEN_VARIABLE: &str = "ALMANACK_TOKEN";
/// The secret Almanack's calls are signed with.
const SECRET_VARIABLE: &str = "ALMANACK_WEBHOOK_SECRET";

/// Runs a piece of the world until SIGTERM or Ctrl-C.
pub(super) fn run(
    command: &WorldCommand,
    environment: &BTreeMap<String, String>,
    output: &mut Output,
) -> Result<Exit, Failure> {
    match command {
        WorldCommand::ArticleService(arguments) => article_service(arguments, environment, output),
        WorldCommand::Github(arguments) => github(arguments, output),
        WorldCommand::Feeds(arguments) => feeds(arguments, output),
        WorldCommand::News(arguments) => news(arguments, output),
        WorldCommand::Model(arguments) => edition::model(arguments, output),
        WorldCommand::Telegram(arguments) => edition::telegram(arguments, output),
    }
}

/// Runs the article service until SIGTERM or Ctrl-C.
fn article_service(
    arguments: &ArticleServiceArguments,
    environment: &BTreeMap<String, String>,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let mut config = article::Config::new(
        arguments.articles.clone(),
        arguments.listen,
        arguments.almanack_url.clone(),
    );
    config.almanack_token = environment.get(TOKEN_VARIABLE).cloned();
    config.webhook_secret = environment.get(SECRET_VARIABLE).cloned();
    config.bus = bus(arguments);
    config.wishes.callback_url = !arguments.no_callback_url;
    config.wishes.max_retry = arguments.max_retry;
    start_plain_log(output)?;
    runtime()?.block_on(async {
        let stop = stop_signal()?;
        let running = article::start(config, stop)
            .await
            .map_err(|error| failed(&error))?;
        output.note(&greeting(&running.url(), arguments));
        let ended = running.join.await;
        ended
            .map_err(|error| Failure::new(Exit::Failed, error.to_string()))?
            .map_err(|error| failed(&error))?;
        Ok(Exit::Ok)
    })
}

/// Runs the simulated GitHub until SIGTERM or Ctrl-C.
fn github(arguments: &GithubArguments, output: &mut Output) -> Result<Exit, Failure> {
    let mut config = github::Config::new(arguments.listen);
    if let Some(file) = &arguments.setup {
        config.setup = read_setup(file)?;
    }
    start_plain_log(output)?;
    runtime()?.block_on(async {
        let stop = stop_signal()?;
        let running = github::start(config, stop)
            .await
            .map_err(|error| told("GitHub", &error))?;
        let url = running.url();
        output.note(&format!(
            "a simulated GitHub at {url}; set it up and look inside:\n\n  curl {url}/_world\n\n"
        ));
        let ended = running.join.await;
        ended
            .map_err(|error| Failure::new(Exit::Failed, error.to_string()))?
            .map_err(|error| told("GitHub", &error))?;
        Ok(Exit::Ok)
    })
}

/// Runs the feeds until SIGTERM or Ctrl-C.
fn feeds(arguments: &FeedsArguments, output: &mut Output) -> Result<Exit, Failure> {
    let mut fleet = Fleet::new(arguments.seed, arguments.feeds);
    fleet.feeds_per_host = arguments.feeds_per_host.max(1);
    let config = feeds::Config {
        listen: arguments.listen,
        calm: arguments.calm,
        ..feeds::Config::new(fleet)
    };
    start_plain_log(output)?;
    runtime()?.block_on(async {
        let stop = stop_signal()?;
        let running = feeds::start(config, stop)
            .await
            .map_err(|error| told("feeds", &error))?;
        let (url, count) = (running.url(), arguments.feeds);
        let first = running.handle.feed_url(0);
        output.note(&format!(
            "{count} feeds, the first at {first}\nall of them as OPML, documents made to hurt, and \
             how to disturb and look inside:\n\n  curl {url}/opml\n  curl {url}/hostile\n  \
             curl {url}/_world\n\n"
        ));
        let ended = running.join.await;
        ended
            .map_err(|error| Failure::new(Exit::Failed, error.to_string()))?
            .map_err(|error| told("feeds", &error))?;
        Ok(Exit::Ok)
    })
}

/// Runs the news site until SIGTERM or Ctrl-C.
fn news(arguments: &NewsArguments, output: &mut Output) -> Result<Exit, Failure> {
    let mut site = Site::new(arguments.seed, arguments.stories_per_day);
    if !arguments.calm {
        site.shares = page::Shares::usual();
    }
    let config = news::Config {
        latency: arguments.latency,
        ..news::Config::new(arguments.listen, site)
    };
    start_plain_log(output)?;
    runtime()?.block_on(async {
        let stop = stop_signal()?;
        let running = news::start(config, stop)
            .await
            .map_err(|error| told("news", &error))?;
        let url = running.url();
        output.note(&format!(
            "a simulated news site at {url}\nlists under {url}/v0, the search under {url}/api/v1; \
             everything else, and how to disturb and look inside:\n\n  \
             curl {url}/v0/beststories.json\n  curl '{url}/api/v1/search?tags=story'\n  \
             curl {url}/_world\n\n"
        ));
        let ended = running.join.await;
        ended
            .map_err(|error| Failure::new(Exit::Failed, error.to_string()))?
            .map_err(|error| told("news", &error))?;
        Ok(Exit::Ok)
    })
}

/// Errors name the file and the place in it, never what stands there: the file holds secrets.
fn read_setup(file: &Path) -> Result<Setup, Failure> {
    let shown = file.display();
    let text = fs::read_to_string(file)
        .map_err(|error| Failure::new(Exit::Usage, format!("read `{shown}`: {error}")))?;
    serde_json::from_str(&text).map_err(|error| {
        let (line, column) = (error.line(), error.column());
        let said = format!("`{shown}` is not a setup: line {line}, column {column}");
        Failure::new(Exit::Usage, said)
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
    told("article service", error)
}

/// What failed, with all its causes.
pub(super) fn told(what: &str, error: &dyn Error) -> Failure {
    Failure::caused(what, error)
}
