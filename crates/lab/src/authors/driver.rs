//! Carries out the authors' actions over HTTP and reports the results.

use std::time::Duration;

use jiff::Timestamp;
use reqwest::{RequestBuilder, StatusCode};
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::{Action, Habits, Manuscripts, Move, next_action};
use crate::{
    client,
    clock::{self, Clock},
};

/// Why the authors could not start.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The article service's address cannot be used.
    #[error(transparent)]
    Client(#[from] client::Error),
}

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
        /// Number of its newest change.
        revision: i64,
    },
    /// Refused, for example because the article was published in the meantime.
    Refused { status: u16, code: String },
    /// No response, or an unexpected one.
    Unanswered { reason: String },
}

/// Acts until `cancel`, until `actions_max`, or until `events` has no receiver.
pub async fn run(
    config: Config,
    events: mpsc::Sender<AuthorActivity>,
    cancel: CancellationToken,
) -> Result<(), Error> {
    let service_url = client::base_url(&config.service_url)?;
    let http_client = client::build()?;
    let mut manuscripts = Manuscripts::new(config.seed, config.habits);
    let acting = async {
        let mut acted = 0;
        while config.actions_max.is_none_or(|most| acted < most) {
            let at = (config.clock)();
            let action = next_action(&mut manuscripts, at);
            let outcome = ask(request(&http_client, &service_url, &action)).await;
            if let (Action::Write { publish_at, .. }, Outcome::Accepted { article_id, .. }) =
                (&action, &outcome)
            {
                manuscripts.wrote(*article_id, *publish_at);
            }
            if events
                .send(AuthorActivity {
                    at,
                    action,
                    outcome,
                })
                .await
                .is_err()
            {
                return;
            }
            acted += 1;
            clock::pause(config.every).await;
        }
    };
    cancel.run_until_cancelled(acting).await;
    Ok(())
}

/// An editor, who reschedules articles.
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

    /// Reschedules an article.
    pub async fn move_article(&self, change: Move) -> Outcome {
        let action = Action::MoveLater(change);
        ask(request(&self.http_client, &self.service_url, &action)).await
    }
}

fn request(http_client: &reqwest::Client, service_url: &str, action: &Action) -> RequestBuilder {
    match action {
        Action::Write {
            title,
            body,
            publish_at,
        } => http_client
            .post(format!("{service_url}/articles"))
            .json(&json!({ "title": title, "body": body, "publish_at": publish_at })),
        Action::MoveEarlier(Move {
            article_id,
            publish_at,
            ..
        })
        | Action::MoveLater(Move {
            article_id,
            publish_at,
            ..
        }) => http_client
            .patch(format!("{service_url}/articles/{article_id}"))
            .json(&json!({ "publish_at": publish_at })),
        Action::Withdraw { article_id } => {
            http_client.post(format!("{service_url}/articles/{article_id}/withdraw"))
        }
    }
}

async fn ask(request: RequestBuilder) -> Outcome {
    let answer = async {
        let response = request.send().await?;
        let status = response.status();
        Ok::<_, reqwest::Error>((status, response.json::<Value>().await?))
    };
    match answer.await {
        Ok((status, body)) => read(status, &body),
        Err(error) => Outcome::Unanswered {
            reason: error.without_url().to_string(),
        },
    }
}

fn read(status: StatusCode, body: &Value) -> Outcome {
    let number = |name: &str| body.get(name).and_then(Value::as_i64);
    match (status.is_success(), number("id"), number("revision")) {
        (true, Some(article_id), Some(revision)) => Outcome::Accepted {
            article_id,
            revision,
        },
        (true, ..) => Outcome::Unanswered {
            reason: "the response is not an article".to_owned(),
        },
        (false, ..) => {
            let code = body.get("code").and_then(Value::as_str).unwrap_or("none");
            Outcome::Refused {
                status: status.as_u16(),
                code: code.to_owned(),
            }
        }
    }
}
