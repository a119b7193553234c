//! `almanack world`: pieces of the simulated outside, as processes of their own.

use std::collections::BTreeMap;

use almanack_world::article;

use crate::{
    args::ArticleServiceArguments,
    commands::runtime,
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
    config.wishes.callback_url = arguments.name_callback;
    config.wishes.max_retry = arguments.max_retry;
    runtime()?.block_on(async {
        let stop = stop_signal()?;
        let running = article::start(config, stop)
            .await
            .map_err(|error| failed(&error))?;
        output.note(&format!("article service at {}\n", running.url()));
        let ended = running.join.await;
        ended
            .map_err(|error| Failure::new(Exit::Failed, error.to_string()))?
            .map_err(|error| failed(&error))?;
        Ok(Exit::Ok)
    })
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
