//! The publishers of the configured destinations.

use std::{io::Write, sync::Arc, time::Duration};

use almanack_adapters::{
    github::{Github, GithubSettings, Token},
    publish::{
        directory::{DirectoryPublisher, DirectoryPublisherSettings},
        github::{GithubPublisher, GithubPublisherSettings, MESSAGE},
        telegram::{TelegramPublisher, TelegramPublisherSettings},
        template,
        terminal::TerminalPublisher,
        webhook::{WebhookPublisher, WebhookPublisherSettings},
    },
    telegram::{Bot, BotSettings, BotToken},
};
use almanack_core::edition::port::Publisher;

use super::Workshop;
use crate::{
    config::settings::{
        Edition,
        edition::{ToDirectory, ToGithub, ToTelegram, ToWebhook},
    },
    failure::Failure,
    wiring::entropy,
};

/// How long a destination may take to answer.
pub(super) const DESTINATION_TIMEOUT: Duration = Duration::from_secs(30);

/// Who delivers, in the order of the guide; in test mode somebody who prints.
pub(super) fn publishers(
    workshop: &Workshop<'_>,
    edition: &Edition,
    paper: Box<dyn Write + Send>,
) -> Result<Vec<Arc<dyn Publisher>>, Failure> {
    if edition.test_mode {
        return Ok(vec![Arc::new(TerminalPublisher::new("terminal", paper))]);
    }
    let to = &edition.destinations;
    let mut publishers: Vec<Arc<dyn Publisher>> = Vec::new();
    if let Some(to) = &to.github {
        publishers.push(Arc::new(github(workshop, to)?));
    }
    if let Some(to) = &to.telegram {
        publishers.push(Arc::new(telegram(workshop, to)));
    }
    if let Some(to) = &to.directory {
        publishers.push(Arc::new(directory(to)));
    }
    if let Some(to) = &to.webhook {
        publishers.push(Arc::new(webhook(workshop, to)));
    }
    Ok(publishers)
}

fn github(workshop: &Workshop<'_>, to: &ToGithub) -> Result<GithubPublisher, Failure> {
    let failed =
        |error: &dyn std::error::Error| Failure::usage(error).during("prepare edition.github");
    let settings = GithubSettings {
        base_url: workshop.settings.github.api_url.clone(),
        token: Token::new(to.token.expose()),
        timeout: DESTINATION_TIMEOUT,
    };
    let (client, clock) = (workshop.outbound.client(), Arc::clone(&workshop.clock));
    let client = Github::new(client, clock, &settings).map_err(|error| failed(&error))?;
    let file = GithubPublisherSettings {
        destination: "github".to_owned(),
        repository: to.repository.clone(),
        branch: to.branch.clone(),
        path: to.path.clone(),
        message: template::Template::parse(MESSAGE).map_err(|error| failed(&error))?,
    };
    Ok(GithubPublisher::new(Arc::new(client), file))
}

fn telegram(workshop: &Workshop<'_>, to: &ToTelegram) -> TelegramPublisher {
    let bot = bot(workshop, (&to.api_url, &to.token, &to.chat));
    let settings = TelegramPublisherSettings {
        destination: "telegram".to_owned(),
        per_message: to.per_message,
        on_unknown: to.on_unknown,
        on_revision: to.on_revision,
    };
    TelegramPublisher::new(bot, settings)
}

/// A bot that speaks in a chat.
pub(super) fn bot(workshop: &Workshop<'_>, (api_url, token, chat): (&str, &BotToken, &str)) -> Bot {
    let settings = BotSettings {
        api_url: api_url.to_owned(),
        token: token.clone(),
        chat: chat.to_owned(),
        timeout: DESTINATION_TIMEOUT,
    };
    Bot::new(
        workshop.outbound.client(),
        Arc::clone(&workshop.clock),
        settings,
    )
}

fn directory(to: &ToDirectory) -> DirectoryPublisher {
    let settings = DirectoryPublisherSettings {
        destination: "directory".to_owned(),
        root: to.root.clone(),
        path: to.file.clone(),
    };
    DirectoryPublisher::new(settings, entropy())
}

fn webhook(workshop: &Workshop<'_>, to: &ToWebhook) -> WebhookPublisher {
    let settings = WebhookPublisherSettings {
        destination: "webhook".to_owned(),
        url: to.url.clone(),
        key: to.key.clone(),
        timeout: DESTINATION_TIMEOUT,
    };
    let (client, clock) = (workshop.outbound.client(), Arc::clone(&workshop.clock));
    WebhookPublisher::new(client, clock, settings)
}
