//! Delivers events to subscribers, by this node's configuration.
//!
//! Each subscription has a publisher: a webhook, or a message bus if one is configured. To add a
//! way to deliver, add a variant to [`Way`] and an arm to [`publisher`].

use std::sync::Arc;

use almanack_adapters::event_publisher::{WebhookEventPublisher, WebhookEventPublisherSettings};
use almanack_core::{
    backoff::Backoff,
    event::outgoing::{EventPublisher, KIND},
};
use almanack_engine::{event_delivery::EventDeliveryHandler, handlers::Handlers};

use super::{buses, own_kind, targets::Own, timeout};
use crate::{
    config::{
        Settings,
        settings::{Subscriber, Way},
    },
    failure::Result,
};

/// The subscriptions, without secrets.
pub(crate) fn subscriptions(settings: &Settings) -> Vec<almanack_server::Subscription> {
    let subscribers = settings.event_delivery.subscribers.iter();
    let shown = subscribers.map(|it| {
        let wants = &it.subscription.wants;
        almanack_server::Subscription {
            name: it.subscription.name.to_string(),
            to: Some(it.way.shown()),
            events: wants
                .types
                .iter()
                .map(|it| it.as_str().to_owned())
                .collect(),
            kinds: wants.kinds.iter().map(ToString::to_string).collect(),
            categories: wants.categories.clone(),
            subject_prefix: wants.subject_prefix.clone(),
        }
    });
    shown.collect()
}

/// The same handlers, plus the one that delivers events.
pub(super) fn reporting(handlers: Handlers, own: Own<'_>) -> Result<Handlers> {
    let mut handler = EventDeliveryHandler::new(Arc::clone(&own.lasting.store));
    for subscriber in &own.settings.event_delivery.subscribers {
        let name = subscriber.subscription.name.as_str();
        let publisher = publisher(subscriber, own)
            .map_err(|failure| failure.during(&format!("set up subscription `{name}`")))?;
        handler = handler.with(name, publisher);
    }
    let kind = own_kind(KIND)?;
    Ok(handlers
        .with(kind.clone(), Arc::new(handler))
        .waiting(kind, backoff(own.settings.retry)))
}

/// A subscriber may be away for a day: a shorter `retry.cap` does not shorten the time of retries.
fn backoff(retry: Backoff) -> Backoff {
    let cap = retry.cap.max(Backoff::default().cap);
    Backoff { cap, ..retry }
}

fn publisher(subscriber: &Subscriber, own: Own<'_>) -> Result<Arc<dyn EventPublisher>> {
    let mode = subscriber.mode;
    match &subscriber.way {
        Way::Webhook {
            url,
            key,
            timeout: wait_max,
        } => {
            let settings = WebhookEventPublisherSettings {
                url: url.to_string(),
                key: key.as_deref().cloned(),
                timeout: timeout(*wait_max),
                mode,
            };
            let caller = own.outbound.caller(own.lasting.timing.clock.clone());
            Ok(Arc::new(WebhookEventPublisher { caller, settings }))
        }
        Way::Kafka { topic } => buses::kafka_publisher(own.settings, topic, mode),
        Way::Nats { subject } => buses::nats_publisher(own.settings, subject, mode),
    }
}

#[cfg(test)]
mod tests {
    use jiff::SignedDuration;

    use super::*;

    #[test]
    fn a_short_cap_does_not_shorten_the_reporting() {
        let hours = SignedDuration::from_hours;
        let capped = |cap| Backoff {
            cap,
            ..Backoff::default()
        };
        let second = SignedDuration::from_secs(1);
        assert_eq!(backoff(capped(second)).cap, hours(1));
        assert_eq!(backoff(capped(hours(3))).cap, hours(3));
    }
}
