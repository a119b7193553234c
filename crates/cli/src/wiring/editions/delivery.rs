//! The publishers of the configured destinations.

use std::{io::Write, sync::Arc};

use almanack_adapters::{
    github::{Github, GithubSettings, Token},
    publish::{
        directory::DirectoryPublisher, github::GithubPublisher, telegram::TelegramPublisher,
        terminal::TerminalPublisher, webhook::WebhookPublisher,
    },
    telegram::Bot,
};
use almanack_core::{edition::port::Publisher, secret::Secret};

use super::Workshop;
use crate::{
    config::settings::{Edition, edition::TIMEOUT},
    failure::{Failure, Result},
    wiring::entropy,
};

/// The publishers, in the order of the guide; in test mode one that prints.
pub(super) fn publishers(
    workshop: &Workshop<'_>,
    edition: &Edition,
    paper: Box<dyn Write + Send>,
) -> Result<Vec<Arc<dyn Publisher>>> {
    if edition.keys.test_mode {
        return Ok(vec![Arc::new(TerminalPublisher::new("terminal", paper))]);
    }
    let to = &edition.destinations;
    let around = || (workshop.outbound.client(), Arc::clone(&workshop.clock));
    let mut publishers: Vec<Arc<dyn Publisher>> = Vec::new();
    if let Some((file, token)) = &to.github {
        let github = github(workshop, token)?;
        publishers.push(Arc::new(GithubPublisher::new(github, file.clone())));
    }
    if let Some((messages, bot)) = &to.telegram {
        let (client, clock) = around();
        let bot = Bot::new(client, clock, bot.clone());
        publishers.push(Arc::new(TelegramPublisher::new(bot, messages.clone())));
    }
    if let Some(to) = &to.directory {
        let publisher = DirectoryPublisher::new(to.clone(), entropy());
        publishers.push(Arc::new(publisher));
    }
    if let Some(to) = &to.webhook {
        let (client, clock) = around();
        publishers.push(Arc::new(WebhookPublisher::new(client, clock, to.clone())));
    }
    Ok(publishers)
}

fn github(workshop: &Workshop<'_>, token: &Secret) -> Result<Arc<Github>> {
    let settings = GithubSettings {
        base_url: workshop.settings.github.api_url.clone(),
        token: Token::new(token.expose()),
        timeout: TIMEOUT,
    };
    let (client, clock) = (workshop.outbound.client(), Arc::clone(&workshop.clock));
    let client = Github::new(client, clock, &settings);
    let client = client.map_err(|error| Failure::usage(error).during("prepare edition.github"))?;
    Ok(Arc::new(client))
}
