//! Carries out the authors' actions over HTTP and reports the results.

use std::time::Duration;

use jiff::Timestamp;
use reqwest::RequestBuilder;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::{Action, Habits, Manuscripts, next_action};
use crate::{
    client::{self, Error},
    clock::{self, Clock},
};

/// Configuration of the authors.
#[derive(Clone)]
pub struct Config {
    /// The article service: [`crate::article::Running::url`].
    pub service_url: String,
    /// Seed of the actions.
    pub seed: u64,
    /// How far ahead authors plan.
    pub habits: Habits,
    /// The wait between two actions.
    pub every: Duration,
    /// Stop after this many actions; `None` runs until cancelled.
    pub actions_max: Option<u64>,
    /// What time it is.
    pub clock: Clock,
}

impl Config {
    /// One action per second, by the system clock, without end.
    pub fn new(service_url: impl Into<String>, seed: u64) -> Self {
        Self {
            service_url: service_url.into(),
            seed,
            habits: Habits::default(),
            every: Duration::from_secs(1),
            actions_max: None,
            clock: clock::system(),
        }
    }
}

/// An action and its result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuthorActivity {
    /// When the author acted.
    pub at: Timestamp,
    /// What the author did.
    pub action: Action,
    /// The article service's response.
    pub outcome: Outcome,
}

/// The article service's response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    Accepted {
        article_id: i64,
    },
    /// Refused, for example because the article was published in the meantime.
    Refused {
        status: u16,
        code: String,
    },
    /// No response, or an unexpected one.
    Unanswered {
        reason: String,
    },
}

/// Acts until `cancel`, until `actions_max`, or until `events` has no receiver.
pub async fn run(
    config: Config,
    events: mpsc::Sender<AuthorActivity>,
    cancel: CancellationToken,
) -> Result<(), Error> {
    let editor = Editor::new(&config.service_url)?;
    let mut manuscripts = Manuscripts::new(config.seed, config.habits);
    let acting = async {
        let mut acted = 0;
        while config.actions_max.is_none_or(|most| acted < most) {
            let at = (config.clock)();
            let action = next_action(&mut manuscripts, at);
            let outcome = editor.act(&action).await;
            if let (Action::Write { publish_at, .. }, Outcome::Accepted { article_id }) =
                (&action, &outcome)
            {
                manuscripts.wrote(*article_id, *publish_at);
            }
            let activity = AuthorActivity {
                at,
                action,
                outcome,
            };
            if events.send(activity).await.is_err() {
                return;
            }
            acted += 1;
            clock::pause(config.every).await;
        }
    };
    cancel.run_until_cancelled(acting).await;
    Ok(())
}

/// Carries out actions at an article service.
pub struct Editor {
    http_client: reqwest::Client,
    service_url: String,
}

impl Editor {
    /// An editor at this article service.
    pub fn new(service_url: &str) -> Result<Self, Error> {
        Ok(Self {
            http_client: client::build()?,
            service_url: client::base_url(service_url)?,
        })
    }

    /// Carries out an action.
    pub async fn act(&self, action: &Action) -> Outcome {
        let request = self.request(action);
        let answer = async {
            let response = request.send().await?;
            let status = response.status();
            Ok::<_, reqwest::Error>((status, response.json::<Value>().await?))
        };
        let (status, body) = match answer.await {
            Ok(answer) => answer,
            Err(error) => {
                let reason = error.without_url().to_string();
                return Outcome::Unanswered { reason };
            }
        };
        match (status.is_success(), body["id"].as_i64()) {
            (true, Some(article_id)) => Outcome::Accepted { article_id },
            (true, None) => Outcome::Unanswered {
                reason: "the response is not an article".to_owned(),
            },
            (false, _) => Outcome::Refused {
                status: status.as_u16(),
                code: body["code"].as_str().unwrap_or("none").to_owned(),
            },
        }
    }

    fn request(&self, action: &Action) -> RequestBuilder {
        let (client, articles) = (&self.http_client, format!("{}/articles", self.service_url));
        match action {
            Action::Write {
                title,
                body,
                publish_at,
            } => client
                .post(articles)
                .json(&json!({ "title": title, "body": body, "publish_at": publish_at })),
            Action::Move(change) => client
                .patch(format!("{articles}/{}", change.article_id))
                .json(&json!({ "publish_at": change.publish_at })),
            Action::Withdraw { article_id } => {
                client.post(format!("{articles}/{article_id}/withdraw"))
            }
        }
    }
}
