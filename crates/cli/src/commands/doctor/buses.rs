//! Message buses: whether sign-in works and the configured names exist. Nothing is created or read.

use almanack_bus::{Error, kafka, nats};

use super::Finding;
use crate::config::{Settings, settings::Way};

/// Checks the configured ones.
pub(super) async fn look(settings: &Settings) -> Vec<Finding> {
    let mut findings = Vec::new();
    if let Some(kafka) = &settings.events.kafka {
        let read = kafka.consumer.iter().map(|it| it.topic.as_str());
        let destinations = destinations(settings, |way| match way {
            Way::Kafka { topic } => Some(topic.as_str()),
            _ => None,
        });
        // Dead letters are left out: many clusters make such a topic with the first message.
        let topics: Vec<&str> = read.chain(destinations).collect();
        let found = kafka::look(&kafka.connection, &topics).await;
        let create = "create it: kafka-topics.sh --create --topic NAME; or correct its name";
        findings.extend(judge("events.kafka", found, create));
    }
    if let Some(nats) = &settings.events.nats {
        let streams: Vec<&str> = nats.consumer.iter().map(|it| it.stream.as_str()).collect();
        let subjects: Vec<&str> = destinations(settings, |way| match way {
            Way::Nats { subject } => Some(subject.as_str()),
            _ => None,
        })
        .collect();
        let found = nats::look(&nats.connection, &streams, &subjects).await;
        let create = "create it: nats stream add NAME --subjects SUBJECT; or correct its name";
        findings.extend(judge("events.nats", found, create));
    }
    findings
}

/// The topics or subjects that events are delivered to.
fn destinations<'a>(
    settings: &'a Settings,
    place: impl Fn(&'a Way) -> Option<&'a str>,
) -> impl Iterator<Item = &'a str> {
    let subscribers = settings.event_delivery.subscribers.iter();
    subscribers.filter_map(move |subscriber| place(&subscriber.way))
}

fn judge(check: &str, found: Result<Vec<String>, Error>, create: &str) -> Vec<Finding> {
    match found {
        Err(error) => {
            let hint = "a node reads nothing until it can connect; check the keys named above";
            vec![Finding::failed(check, error.to_string()).hint(hint)]
        }
        Ok(missing) if missing.is_empty() => {
            vec![Finding::ok(check, "connected; all configured names exist")]
        }
        Ok(missing) => {
            let failed = |what: String| Finding::failed(check, what).hint(create);
            missing.into_iter().map(failed).collect()
        }
    }
}
