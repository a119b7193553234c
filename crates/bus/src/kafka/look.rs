//! Whether a cluster would serve a node: a check before one is started. Nothing is created, changed
//! or read.

use std::time::Duration;

use rdkafka::consumer::{BaseConsumer, Consumer as _};

use super::{connection::created, context::Writing, settings::Connection};
use crate::Error;

/// How long one question may take.
const WITHIN: Duration = Duration::from_secs(10);
/// How often the client is asked why it failed: its errors come one by one.
const EXPLANATIONS: usize = 20;

/// Signs in, and looks for topics. Returns what is missing, a sentence each.
pub async fn look(connection: &Connection, topics: &[&str]) -> Result<Vec<String>, Error> {
    let connection = connection.clone();
    let topics: Vec<String> = topics.iter().map(|topic| (*topic).to_owned()).collect();
    let looked = tokio::task::spawn_blocking(move || missing(&connection, &topics)).await;
    looked.unwrap_or_else(|error| Err(unavailable(error.to_string())))
}

/// A consumer's client: a producer's would create the topics it asks about.
fn missing(connection: &Connection, topics: &[String]) -> Result<Vec<String>, Error> {
    let heard = Writing::default();
    let client: BaseConsumer<Writing> =
        created(connection.client().create_with_context(heard.clone()))?;
    let ask = |topic: Option<&str>| {
        client.fetch_metadata(topic, WITHIN).map_err(|error| {
            for _ in 0..EXPLANATIONS {
                drop(client.poll(Duration::ZERO));
            }
            unavailable(heard.reason(&error))
        })
    };
    if topics.is_empty() {
        ask(None)?;
    }
    let mut missing = Vec::new();
    for topic in topics {
        let describe = ask(Some(topic))?;
        let found = describe.topics().iter().find(|it| it.name() == topic);
        if found.is_none_or(|it| it.error().is_some() || it.partitions().is_empty()) {
            missing.push(format!("there is no topic `{topic}`"));
        }
    }
    Ok(missing)
}

fn unavailable(why: String) -> Error {
    Error::Unavailable {
        what: "ask the brokers",
        why,
    }
}
