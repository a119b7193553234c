//! `almanack world`: pieces of the simulated outside, as processes of their own.

use std::collections::BTreeMap;

use almanack_world::article;

use crate::{
    args::ArticleServiceArguments,
    commands::{runtime, serve::start_log},
    config::settings::{Log, LogFormat},
    failure::{Exit, Failure},
    output::Output,
    process::stop_signal,
};

/// The token the service shows to Almanack.
const TOKEN_VARIABLE: &str = "ALMANACK_TOKEN";
/// The secret Almanack's calls are signed with.
const SECRET_VARIABLE: &str = "ALMANACK_WEBHOOK_SECRET";

/// Runs the article service until SIGTERM or Ctrl-C.
pub(super) fn article_service(
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
    config.wishes.callback_url = !arguments.no_callback_url;
    config.wishes.max_retry = arguments.max_retry;
    let log = Log {
        format: LogFormat::Text,
        level: "info".to_owned(),
    };
    start_log(&log, output.notes_coloured())?;
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

/// Where it is, and what to do next.
fn greeting(url: &str, arguments: &ArticleServiceArguments) -> String {
    let almanack = &arguments.almanack_url;
    let calls = if arguments.no_callback_url {
        format!(
            "Almanack's configuration must say where to call:\n\n  \
             [kinds.ARTICLE_AUDIT]\n  url = \"{url}/callbacks/audit\"\n  \
             [kinds.ARTICLE_PUBLISH]\n  url = \"{url}/callbacks/publish\"\n"
        )
    } else {
        "It tells Almanack with every task where to call.\n".to_owned()
    };
    format!(
        "article service at {url}, tells its changes to Almanack at {almanack}\n{calls}\n\
         Write an article, and watch it being audited and published:\n\n  \
         curl -X POST {url}/articles -H 'content-type: application/json' \\\n    \
         -d '{{\"title\": \"Tides\", \"publish_at\": \"2026-01-05T08:00:00Z\"}}'\n  \
         curl {url}/articles\n\n"
    )
}

pub(super) fn failed(error: &article::Error) -> Failure {
    let mut told = format!("article service: {error}");
    let mut source = std::error::Error::source(error);
    while let Some(cause) = source {
        told = format!("{told}: {cause}");
        source = cause.source();
    }
    Failure::new(Exit::Failed, told)
}
