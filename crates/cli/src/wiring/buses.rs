//! Message buses beside a node: their events go to the same intake as those of the API.

use std::{sync::Arc, time::Duration};

use almanack_bus::{Ports, kafka, nats};
use almanack_core::{
    event::incoming::{envelope::Reading, intake::Links},
    event::outgoing::{EventPublisher, Mode},
};
use almanack_engine::{intake::Events, reschedule::Rescheduler};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::{Timing, entropy};
use crate::{
    config::Settings,
    failure::{Failure, Result},
};

/// How long buses may take to sign off. A lost cluster does not answer, and uncommitted messages
/// are redelivered.
const LEAVE_WITHIN: Duration = Duration::from_secs(5);

/// The buses that a node listens to.
pub(crate) struct Buses {
    kafka: Option<kafka::Consumer>,
    nats: Option<nats::Consumer>,
}

impl Buses {
    /// Those that are configured.
    pub(crate) fn of(
        settings: &Settings,
        (rescheduler, links): (Arc<Rescheduler>, Arc<dyn Links>),
        timing: &Timing,
    ) -> Self {
        let ports = Ports {
            intake: Arc::new(Events(rescheduler)),
            links,
            clock: timing.clock.clone(),
            sleeper: timing.sleeper.clone(),
            entropy: entropy(),
        };
        let payload_bytes = settings.limits.payload_bytes;
        let within = |reading: Reading| Reading {
            payload_bytes,
            ..reading
        };
        let kafka = settings.events.kafka.as_ref();
        let kafka = kafka.and_then(|kafka| kafka.consumer.clone());
        let nats = settings.events.nats.as_ref();
        let nats = nats.and_then(|nats| nats.consumer.clone());
        Self {
            kafka: kafka.map(|mut settings| {
                settings.reading = within(settings.reading);
                kafka::Consumer::new(settings, ports.clone())
            }),
            nats: nats.map(|mut settings| {
                settings.reading = within(settings.reading);
                nats::Consumer::new(settings, ports.clone())
            }),
        }
    }

    /// Listens until `stop`, and signs off. Each bus has a separate task: a slow client delays
    /// neither the other nor the caller.
    pub(crate) async fn run(self, stop: CancellationToken) {
        let mut listening = JoinSet::new();
        if let Some(kafka) = self.kafka {
            listening.spawn(kafka.run(stop.clone()));
        }
        if let Some(nats) = self.nats {
            listening.spawn(nats.run(stop.clone()));
        }
        let ended = async {
            while let Some(ended) = listening.join_next().await {
                if let Err(error) = ended {
                    tracing::error!(%error, "the connection to a message bus broke off");
                }
            }
        };
        let too_late = async {
            stop.cancelled().await;
            almanack_adapters::clock::pause(LEAVE_WITHIN).await;
        };
        tokio::select! {
            () = ended => {}
            () = too_late => tracing::warn!("left a message bus without signing off; uncommitted messages will be redelivered"),
        }
    }
}

/// Delivers events to a topic of the cluster in `[events.kafka]`.
pub(crate) fn kafka_publisher(
    settings: &Settings,
    topic: &str,
    mode: Mode,
) -> Result<Arc<dyn EventPublisher>> {
    let Some(kafka) = &settings.events.kafka else {
        return Err(nowhere("kafka_topic", "events.kafka", "brokers"));
    };
    let publisher = kafka::KafkaEventPublisher::new(&kafka.connection, topic, mode);
    match publisher {
        Ok(publisher) => Ok(Arc::new(publisher)),
        Err(error) => Err(Failure::usage(error)),
    }
}

/// Delivers events to a subject of the server in `[events.nats]`.
pub(crate) fn nats_publisher(
    settings: &Settings,
    subject: &str,
    mode: Mode,
) -> Result<Arc<dyn EventPublisher>> {
    let Some(nats) = &settings.events.nats else {
        return Err(nowhere("nats_subject", "events.nats", "servers"));
    };
    let connection = nats.connection.clone();
    let publisher = nats::NatsEventPublisher::new(connection, subject, mode);
    Ok(Arc::new(publisher))
}

fn nowhere(key: &str, section: &str, name: &str) -> Failure {
    let what = format!("{key} needs [{section}], which is not configured");
    Failure::usage(what).hint(format!("set {name} in [{section}]"))
}
