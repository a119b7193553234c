//! Whether the credentials of editions and of GitHub are accepted by their services.
//!
//! Each probe is one request that costs and changes nothing: GitHub's repository or limit,
//! Telegram's `getMe`, the model's list of models, a sign-in to the mail server. So a wrong token is found now, not by the next
//! edition.

use std::time::Duration;

use almanack_adapters::{
    alert::Way,
    github::{Access, Error, Github, GithubSettings, Repository, Token},
    http::Client,
    model::{self, Probed},
    newsletter::smtp::{SmtpServer, SmtpSettings},
    telegram::{Bot, BotSettings},
};
use almanack_core::{
    edition::{EditionName, port::Failure as Refusal},
    newsletter::port::MailServer as _,
    secret::Secret,
};

use super::Finding;
use crate::{commands::prelude::*, config::settings::edition::table_of};

/// How long one probe may take.
const WAIT_MAX: Duration = Duration::from_secs(10);
/// Where tokens of GitHub come from.
const GITHUB_HINT: &str =
    "create a token with \"contents: write\" for the repository and set edition.github.token";

/// Asks for everything that has credentials.
pub(super) async fn look(settings: &Settings) -> Result<Vec<Finding>> {
    let client = wiring::Outbound::new(settings)?.client();
    let mut findings = Vec::new();
    if let Some(token) = &settings.github.token {
        findings.push(of_token(settings, &client, token).await);
    }
    for (name, edition) in settings.editions.all() {
        if let Some((file, token)) = &edition.destinations.github {
            findings.push(github(settings, &client, (&file.repository, token)).await);
        }
        if let Some(to) = &edition.destinations.telegram {
            findings.push(of_bot("edition.telegram", &client, &to.bot).await);
        }
        if let Some(of) = &edition.model {
            findings.push(model("edition.model", &client, of).await);
        }
        for of in &edition.fallback {
            findings.push(model("edition.model.fallback", &client, of).await);
        }
        if let Some(newsletter) = &edition.newsletter {
            findings.push(mail(name, &newsletter.smtp).await);
        }
    }
    for channel in &settings.alerts.channels {
        if let Way::Telegram(bot) = &channel.way {
            findings.push(of_bot("alerts.telegram", &client, bot).await);
        }
    }
    Ok(findings)
}

fn github_client(settings: &Settings, client: &Client, token: &Secret) -> Option<Github> {
    let of = GithubSettings {
        base_url: settings.github.api_url.clone(),
        token: Token::new(token.expose()),
        timeout: WAIT_MAX,
    };
    Github::new(client.clone(), wiring::machine_clock(), &of).ok()
}

async fn of_token(settings: &Settings, client: &Client, token: &Secret) -> Finding {
    let check = "github.token";
    let Some(github) = github_client(settings, client, token) else {
        return Finding::failed(check, "the token contains invalid characters");
    };
    match github.check_token().await {
        Ok(()) => Finding::ok(check, "GitHub accepts it"),
        Err(error) => Finding::failed(check, error.to_string())
            .hint("create a new token and set github.token"),
    }
}

async fn github(
    settings: &Settings,
    client: &Client,
    (repository, token): (&Repository, &Secret),
) -> Finding {
    let check = "edition.github";
    let Some(github) = github_client(settings, client, token) else {
        return Finding::failed(check, "the token contains invalid characters");
    };
    judge_github(check, github.access(repository).await)
}

/// Names no repository, as no message about GitHub does: the output may be in a public log.
fn judge_github(check: &str, access: Result<Access, Error>) -> Finding {
    match access {
        Ok(Access::Write) => Finding::ok(check, "the token may write to the repository"),
        Ok(Access::Unsaid) => Finding::ok(check, "the token may read the repository"),
        Ok(Access::Read) => {
            let what = "the token may read the repository, but not write to it";
            Finding::failed(check, what).hint(GITHUB_HINT)
        }
        Err(error) => Finding::failed(check, error.to_string()).hint(GITHUB_HINT),
    }
}

async fn of_bot(check: &str, client: &Client, settings: &BotSettings) -> Finding {
    let settings = BotSettings {
        timeout: WAIT_MAX,
        ..settings.clone()
    };
    let bot = Bot::new(client.clone(), wiring::machine_clock(), settings);
    match bot.reach(None).await {
        Ok(name) => Finding::ok(check, format!("the bot is @{name}")),
        Err(Refusal { detail, .. }) => Finding::failed(check, detail).hint(format!(
            "get the token from @BotFather and set {check}.token"
        )),
    }
}

async fn model(check: &str, client: &Client, of: &model::Settings) -> Finding {
    let settings = model::Settings {
        timeout: WAIT_MAX,
        ..of.clone()
    };
    let clock = wiring::machine_clock();
    match model::probe(client, clock.as_ref(), &settings).await {
        Ok(Probed::Accepted) => Finding::ok(check, "the service accepts the key"),
        Ok(Probed::Unsaid) => Finding::ok(
            check,
            "the service answers; it cannot list models, so the key was not checked",
        ),
        Err(Refusal { detail, .. }) => Finding::failed(check, detail)
            .hint("check the key and the address of the model in the configuration"),
    }
}

/// Signs in to the mail server and says goodbye: nothing is sent.
async fn mail(name: EditionName, smtp: &SmtpSettings) -> Finding {
    let check = format!("{}.mail", table_of(name));
    let settings = SmtpSettings {
        timeout: WAIT_MAX,
        ..smtp.clone()
    };
    let reached = match SmtpServer::new(settings, wiring::machine_clock()) {
        Ok(server) => server.connect().await.map_err(|failure| failure.detail),
        Err(error) => Err(error.to_string()),
    };
    match reached {
        Ok(mut session) => {
            session.quit().await;
            let what = if smtp.login.is_some() {
                "the mail server accepts the sign-in"
            } else {
                "the mail server answers"
            };
            Finding::ok(check, what)
        }
        Err(why) => {
            let hint = format!("check host, port, tls, user and password in [{check}]");
            Finding::failed(check, why).hint(hint)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{super::Verdict, *};

    #[test]
    fn a_token_that_may_only_read_is_reported_before_the_first_edition() {
        for (access, verdict) in [
            (Ok(Access::Write), Verdict::Ok),
            (Ok(Access::Unsaid), Verdict::Ok),
            (Ok(Access::Read), Verdict::Failed),
        ] {
            let finding = judge_github("edition.github", access);
            assert_eq!(finding.verdict, verdict, "{}", finding.what);
        }
    }
}
