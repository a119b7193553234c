//! The consumer that nodes share, as the server keeps it: created if it is missing, updated to the
//! configuration if it exists.

use async_nats::jetstream::consumer::{
    self, AckPolicy, DeliverPolicy, FromConsumer as _, PullConsumer, pull,
};

use super::{connection::Link, consumer::Settings};
use crate::{Error, batch::MESSAGES_MAX};

/// The consumer that nodes share, as configured.
pub(super) async fn prepare(settings: &Settings, link: &Link) -> Result<PullConsumer, Error> {
    let unavailable = |what| {
        move |why: String| Error::Unavailable {
            what,
            why: link.describe(why),
        }
    };
    let Settings {
        stream, durable, ..
    } = settings;
    let context = link.context().map_err(unavailable("connect"))?;
    let found = context.get_stream(stream).await;
    let found = found.map_err(|error| unavailable("find the stream")(error.to_string()))?;
    let wanted = config(settings);
    let made = found.get_or_create_consumer(durable, wanted.clone()).await;
    let made = made.map_err(|error| unavailable("create the consumer")(error.to_string()))?;
    let renewed = renewed(&made.cached_info().config, &wanted);
    let Some(config) = renewed.map_err(unavailable("use the consumer"))? else {
        return Ok(made);
    };
    let updated = found.update_consumer(config).await;
    let updated = updated.map_err(|error| unavailable("change the consumer")(error.to_string()))?;
    tracing::info!(events.bus = "nats", events.stream = %stream, events.durable = durable, "consumer updated to the configuration");
    Ok(updated)
}

fn config(settings: &Settings) -> pull::Config {
    let subject = settings.subject.as_str();
    pull::Config {
        durable_name: Some(settings.durable.clone()),
        deliver_policy: DeliverPolicy::All,
        ack_policy: AckPolicy::Explicit,
        ack_wait: settings.ack_within,
        filter_subject: if subject == ">" {
            String::new()
        } else {
            subject.to_owned()
        },
        max_ack_pending: i64::try_from(MESSAGES_MAX * 8).unwrap_or(i64::MAX),
        ..pull::Config::default()
    }
}

/// What a consumer that was made earlier, by other settings, should be; `None` if it is. Only our
/// own settings are changed.
///
/// Its subject is not: the server has passed over what did not match until now, and would never
/// deliver it.
fn renewed(
    found: &consumer::Config,
    wanted: &pull::Config,
) -> Result<Option<pull::Config>, String> {
    if found.filter_subject != wanted.filter_subject || !found.filter_subjects.is_empty() {
        return Err(
            "the consumer was created for another subject and has skipped the others; choose another `durable`, or delete this one"
                .to_owned(),
        );
    }
    if found.ack_wait == wanted.ack_wait && found.max_ack_pending == wanted.max_ack_pending {
        return Ok(None);
    }
    let found = pull::Config::try_from_consumer_config(found.clone());
    let found = found.map_err(|error| error.to_string())?;
    Ok(Some(pull::Config {
        ack_wait: wanted.ack_wait,
        max_ack_pending: wanted.max_ack_pending,
        ..found
    }))
}
