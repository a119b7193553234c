//! Alert channels, and the outbound heartbeat.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use almanack_adapters::{
    alert::{Channel, Channels, Language, Reporting, Wants, Way, exec::Program, mail::Mailer},
    command,
    heartbeat::HttpHeartbeat,
    telegram::Bot,
};
use almanack_core::{alert::facts::Bounds, time::Clock};
use almanack_engine::{
    heartbeat::Heartbeat,
    watch::{WatchSettings, Watching},
};

use super::{Outbound, timeout};
use crate::{
    config::{
        Settings,
        settings::{AlertChannel, AlertWay, CHANNEL_TIMEOUT},
    },
    failure::Failure,
};

/// How long the monitor may take to answer a heartbeat.
const HEARTBEAT_TIMEOUT: Duration = Duration::from_secs(10);

/// Every address that the operator named for alerts and heartbeats.
pub(crate) fn addresses(settings: &Settings) -> Vec<String> {
    let channels = settings.alerts.channels.iter();
    let mut named: Vec<String> = channels
        .filter_map(|channel| match &channel.way {
            AlertWay::Webhook { url, .. } | AlertWay::Ntfy { url, .. } => Some(url.clone()),
            AlertWay::Telegram(bot) => Some(bot.api_url.clone()),
            AlertWay::Slack { url } => Some(url.expose().to_owned()),
            AlertWay::Smtp(_) | AlertWay::Exec { .. } => None,
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
) -> Result<Arc<Channels>, Failure> {
    let make = |channel: &AlertChannel| {
        Ok(Channel {
            name: channel.name.to_owned(),
            way: way(&channel.way, settings, environment, (outbound, clock))?,
            wants: Wants {
                rules: channel.rules.clone(),
                severity: channel.severity,
            },
        })
    };
    let all: Result<Vec<Channel>, Failure> = settings.alerts.channels.iter().map(make).collect();
    let reporting = Reporting {
        language: language(settings),
        timeout: CHANNEL_TIMEOUT,
    };
    let channels = Channels::new(outbound.client(), Arc::clone(clock), reporting, all?);
    Ok(Arc::new(channels))
}

/// Alerts have the language of editions, unless configured otherwise.
fn language(settings: &Settings) -> Language {
    let of_editions = || {
        settings
            .editions
            .on()
            .map(|edition| edition.keys.language.clone())
    };
    let tag = settings.alerts.language.clone().or_else(of_editions);
    Language::of(tag.as_deref().unwrap_or("en"))
}

fn way(
    way: &AlertWay,
    settings: &Settings,
    environment: &BTreeMap<String, String>,
    (outbound, clock): (&Outbound, &Arc<dyn Clock>),
) -> Result<Way, Failure> {
    Ok(match way {
        AlertWay::Webhook { url, key } => Way::Webhook {
            url: url.clone(),
            key: key.clone(),
        },
        AlertWay::Telegram(bot) => {
            Way::Telegram(Bot::new(outbound.client(), Arc::clone(clock), bot.clone()))
        }
        AlertWay::Ntfy { url, token } => Way::Ntfy {
            url: url.clone(),
            token: token.clone(),
        },
        AlertWay::Slack { url } => Way::Slack {
            url: url.expose().to_owned(),
        },
        AlertWay::Smtp(mail) => Way::Mail(
            Mailer::new(mail.clone())
                .map_err(|error| Failure::usage(error).during("prepare alerts.smtp"))?,
        ),
        AlertWay::Exec {
            argv,
            timeout: time,
        } => {
            let lookup = |name: &str| environment.get(name).cloned();
            Way::Exec(Program {
                argv: argv.clone(),
                environment: command::environment(&settings.command.environment, lookup),
                directory: settings.command.directory.clone(),
                timeout: timeout(*time),
            })
        }
    })
}

/// The alert rules and channels.
pub(crate) fn watching(
    settings: &Settings,
    environment: &BTreeMap<String, String>,
    outbound: &Outbound,
    clock: &Arc<dyn Clock>,
) -> Result<Watching, Failure> {
    let alerts = &settings.alerts;
    let edition = settings.editions.on();
    Ok(Watching {
        settings: WatchSettings {
            every: alerts.every,
            bounds: Bounds {
                overdue: edition.map(|edition| edition.rules.overdue_after),
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
