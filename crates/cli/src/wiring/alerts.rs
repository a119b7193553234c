//! Alert channels, and the outbound heartbeat.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use almanack_adapters::{
    alert::{Channels, Language, Reporting, ReviewLinks, Way},
    command,
    heartbeat::HttpHeartbeat,
};
use almanack_core::{alert::facts::Bounds, time::Clock};
use almanack_engine::{
    heartbeat::Heartbeat,
    watch::{WatchSettings, Watching},
};

use super::Outbound;
use crate::{
    config::{Settings, settings::CHANNEL_TIMEOUT},
    failure::{Failure, Result},
};

/// How long the monitor may take to answer a heartbeat.
const HEARTBEAT_TIMEOUT: Duration = Duration::from_secs(10);

/// Every address that the operator named for alerts and heartbeats.
pub(crate) fn addresses(settings: &Settings) -> Vec<String> {
    let channels = settings.alerts.channels.iter();
    let mut named: Vec<String> = channels
        .filter_map(|channel| match &channel.way {
            Way::Webhook { url, .. } | Way::Ntfy { url, .. } => Some(url.clone()),
            Way::Telegram(bot) => Some(bot.api_url.clone()),
            Way::Slack { url } => Some(url.expose().to_owned()),
            Way::Mail(_) | Way::Exec(_) => None,
        })
        .collect();
    let heard = settings.heartbeat.url.as_ref();
    named.extend(heard.map(|url| url.expose().to_owned()));
    named
}

pub(crate) fn channels(
    settings: &Settings,
    environment: &BTreeMap<String, String>,
    outbound: &Outbound,
    clock: &Arc<dyn Clock>,
) -> Result<Arc<Channels>> {
    let mut all = settings.alerts.channels.clone();
    for channel in &mut all {
        if let Way::Exec(program) = &mut channel.way {
            let lookup = |name: &str| environment.get(name).cloned();
            program.environment = command::environment(&settings.command.environment, lookup);
            program.directory.clone_from(&settings.command.directory);
        }
    }
    let reporting = Reporting {
        language: language(settings),
        timeout: CHANNEL_TIMEOUT,
    };
    let channels = Channels::new(outbound.client(), Arc::clone(clock), reporting, all);
    let refused = |error| Failure::usage(error).during("prepare alerts.smtp");
    let channels = channels.map_err(refused)?;
    Ok(Arc::new(channels.with_links(review_links(settings))))
}

/// Links need an address to lead to, and a secret that signs them.
fn review_links(settings: &Settings) -> Option<ReviewLinks> {
    let base = settings.server.public_url.as_ref()?;
    let key = settings.callback.secret.clone()?;
    Some(ReviewLinks::new(base.as_str(), key))
}

/// Alerts have the language of editions, unless configured otherwise.
fn language(settings: &Settings) -> Language {
    let of_editions = || {
        settings
            .editions
            .any()
            .map(|edition| edition.keys.language.clone())
    };
    let tag = settings.alerts.language.clone().or_else(of_editions);
    Language::of(tag.as_deref().unwrap_or("en"))
}

/// The alert rules and channels.
pub(crate) fn watching(
    settings: &Settings,
    environment: &BTreeMap<String, String>,
    outbound: &Outbound,
    clock: &Arc<dyn Clock>,
) -> Result<Watching> {
    let alerts = &settings.alerts;
    // One bound for all: the most patient edition decides.
    let overdue = settings.editions.all();
    let overdue = overdue
        .map(|(_, edition)| edition.rules.overdue_after)
        .max();
    Ok(Watching {
        settings: WatchSettings {
            every: alerts.every,
            bounds: Bounds {
                overdue,
                ..alerts.bounds.clone()
            },
            behaviour: alerts.behaviour.clone(),
            checks_per_day: f64::from(settings.sources.checks_per_day),
        },
        notifier: channels(settings, environment, outbound, clock)?,
    })
}

/// Sends outbound heartbeats, if configured.
pub(crate) fn heartbeat(
    settings: &Settings,
    outbound: &Outbound,
    clock: &Arc<dyn Clock>,
) -> Option<Heartbeat> {
    let heartbeat = &settings.heartbeat;
    let url = heartbeat.url.as_ref()?.expose().to_owned();
    let monitor = HttpHeartbeat::new(outbound.client(), url, heartbeat.method, HEARTBEAT_TIMEOUT);
    Some(Heartbeat {
        monitor: Arc::new(monitor),
        every: heartbeat.every,
        clock: Arc::clone(clock),
    })
}
