//! The publishers of the configured destinations.

use std::{io::Write, sync::Arc};

use almanack_adapters::{
    github::{Github, GithubSettings, Token},
    publish::{
        directory::DirectoryPublisher,
        github::GithubPublisher,
        post::{PostPublisher, PostSettings},
        telegram::{TelegramPublisher, TelegramPublisherSettings},
        terminal::TerminalPublisher,
        webhook::WebhookPublisher,
    },
    telegram::Bot,
};
use almanack_core::{
    edition::{delivery::TEST_DESTINATION, port::Publisher},
    secret::Secret,
};

use super::{Workshop, newsletter};
use crate::{
    config::{
        Settings,
        settings::{
            Edition,
            edition::{TIMEOUT, TelegramForm},
        },
    },
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
        return Ok(vec![Arc::new(TerminalPublisher::new(
            TEST_DESTINATION,
            paper,
        ))]);
    }
    let to = &edition.destinations;
    let around = || (workshop.outbound.client(), Arc::clone(&workshop.clock));
    let mut publishers: Vec<Arc<dyn Publisher>> = Vec::new();
    if let Some((file, token)) = &to.github {
        let github = github(workshop, token)?;
        publishers.push(Arc::new(GithubPublisher::new(github, file.clone())));
    }
    let pages_url = pages_url(workshop.settings, edition);
    if let Some(to) = &to.telegram {
        let (client, clock) = around();
        let bot = Bot::new(client, clock, to.bot.clone()).silent(to.silent);
        let link = pages_url.clone().filter(|_| to.form == TelegramForm::Link);
        let messages = TelegramPublisherSettings {
            link,
            ..to.messages.clone()
        };
        publishers.push(Arc::new(TelegramPublisher::new(bot, messages)));
    }
    if let Some(to) = &to.directory {
        let publisher = DirectoryPublisher::new(to.clone(), entropy());
        publishers.push(Arc::new(publisher));
    }
    if let Some(to) = &to.webhook {
        let (client, clock) = around();
        publishers.push(Arc::new(WebhookPublisher::new(client, clock, to.clone())));
    }
    for (service, on_unknown) in &edition.posts {
        let (client, clock) = around();
        let settings = PostSettings {
            service: service.clone(),
            pages_url: pages_url.clone(),
            on_unknown: *on_unknown,
            timeout: TIMEOUT,
        };
        publishers.push(Arc::new(PostPublisher::new(client, clock, settings)));
    }
    if edition.newsletter.is_some() {
        publishers.push(Arc::new(newsletter::publisher(workshop)));
    }
    Ok(publishers)
}

/// Where readers find editions, if they may.
fn pages_url(settings: &Settings, edition: &Edition) -> Option<String> {
    let url = settings.server.public_url.as_ref()?;
    let url = url.as_str().trim_end_matches('/').to_owned();
    edition.keys.public.then_some(url)
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
