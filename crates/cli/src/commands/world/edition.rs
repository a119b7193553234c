//! What an edition meets on its way out: a language model and a Telegram.

use std::time::Duration;

use almanack_lab::{
    model,
    telegram::{self, state::Chat},
};

use super::{start_plain_log, told};
use crate::{
    args::{ModelArguments, TelegramArguments, WORLD_BOT_TOKEN, WORLD_KEY},
    commands::runtime,
    failure::{Exit, Failure},
    output::Output,
    process::stop_signal,
};

/// The id of the one channel; Telegram's channels have such numbers.
const CHANNEL_ID: i64 = -1_001_000_000_001;

/// Runs the simulated model until SIGTERM or Ctrl-C.
pub(crate) fn model(arguments: &ModelArguments, output: &mut Output) -> Result<Exit, Failure> {
    let config = model::Config {
        latency: Duration::from_millis(arguments.latency_ms),
        ..model::Config::new(arguments.listen, &arguments.key)
    };
    start_plain_log(output)?;
    runtime()?.block_on(async {
        let stop = stop_signal()?;
        let running = model::start(config, stop)
            .await
            .map_err(|error| told("model", &error))?;
        let (url, key) = (running.url(), shown(&arguments.key, WORLD_KEY));
        output.note(&format!(
            "a simulated language model at {url}/v1\nask it, disturb it and look inside:\n\n  \
             curl {url}/v1/chat/completions -H 'authorization: Bearer {key}' \\\n    \
             -H 'content-type: application/json' \\\n    \
             -d '{{\"model\": \"world\", \"messages\": [{{\"role\": \"user\", \"content\": \
             \"[\\\"Why tides matter\\\"]\"}}]}}'\n  curl {url}/_world\n\n"
        ));
        let ended = running.join.await;
        ended
            .map_err(|error| Failure::new(Exit::Failed, error.to_string()))?
            .map_err(|error| told("model", &error))?;
        Ok(Exit::Ok)
    })
}

/// Runs the simulated Telegram until SIGTERM or Ctrl-C.
pub(crate) fn telegram(
    arguments: &TelegramArguments,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let channel = Chat::channel(CHANNEL_ID, &arguments.channel);
    let config = telegram::Config {
        messages_per_minute: arguments.messages_per_minute,
        latency: Duration::from_millis(arguments.latency_ms),
        ..telegram::Config::new(arguments.listen, &arguments.token, vec![channel])
    };
    start_plain_log(output)?;
    runtime()?.block_on(async {
        let stop = stop_signal()?;
        let running = telegram::start(config, stop)
            .await
            .map_err(|error| told("Telegram", &error))?;
        let (url, token) = (running.url(), shown(&arguments.token, WORLD_BOT_TOKEN));
        let name = arguments.channel.trim_start_matches('@');
        output.note(&format!(
            "a simulated Telegram at {url} with the channel @{name}\npost to it, read it, disturb it \
             and look inside:\n\n  \
             curl {url}/bot{token}/sendMessage -d chat_id=@{name} -d text=Tides\n  \
             curl {url}/_world/messages/@{name}\n  curl {url}/_world\n\n"
        ));
        let ended = running.join.await;
        ended
            .map_err(|error| Failure::new(Exit::Failed, error.to_string()))?
            .map_err(|error| told("Telegram", &error))?;
        Ok(Exit::Ok)
    })
}

/// The well-known secret is no secret; another one may be, and is not repeated.
fn shown<'a>(secret: &'a str, known: &str) -> &'a str {
    if secret == known { secret } else { "…" }
}
