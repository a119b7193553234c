//! Who is told when something is wrong, and who hears that a node lives.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use almanack_adapters::{
    alert::{Channel, Channels, Language, Telling, Wants, Way, exec::Program, mail::Mailer},
    command,
    heartbeat::HttpListener,
    telegram::Bot,
};
use almanack_core::{
    alert::{Severity, decide::Manner, port::Messenger},
    edition::{
        self,
        port::{Notice, Teller},
    },
    time::Clock,
};
use almanack_engine::{
    live::Live,
    node::AdmittedNode,
    pulse::Heartbeat,
    watch::{Watch, WatchSettings, Watching},
};
use async_trait::async_trait;
use jiff::Timestamp;

use super::{Outbound, timeout};
use crate::{
    config::{
        Settings,
        settings::{AlertChannel, AlertWay, CHANNEL_TIMEOUT},
    },
    failure::Failure,
};

/// How long whoever hears heartbeats may take.
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
    let telling = Telling {
        language: language(settings),
        timeout: CHANNEL_TIMEOUT,
    };
    let channels = Channels::new(outbound.client(), Arc::clone(clock), telling, all?);
    Ok(Arc::new(channels))
}

/// By which channels people are told, and in which hours.
pub(crate) struct Voice {
    pub(super) channels: Arc<Channels>,
    manner: Manner,
}

impl Voice {
    /// As these settings say.
    pub(crate) fn new(settings: &Settings, channels: Arc<Channels>) -> Self {
        Self {
            channels,
            manner: settings.alerts.manner.clone(),
        }
    }
}

/// Tells of editions, by the voice in force.
pub(crate) struct EditionTeller(pub(crate) Live<Voice>);

#[async_trait]
impl Teller for EditionTeller {
    async fn tell(&self, notice: &Notice<'_>) -> Result<(), edition::port::Failure> {
        let voice = self.0.get();
        Teller::tell(voice.channels.as_ref(), notice).await
    }

    fn tell_at(&self, severity: Severity, now: Timestamp) -> Timestamp {
        self.0.get().manner.tell_at(severity, now)
    }
}

/// Whoever reads editions in a language reads of trouble in it, unless they say otherwise.
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

/// The same node, which looks for what people should hear about, and tells somebody outside that it lives.
pub(crate) fn watched(
    node: AdmittedNode,
    settings: &Settings,
    clock: &Arc<dyn Clock>,
    (outbound, watch): (&Outbound, Watch),
) -> AdmittedNode {
    let node = node.watching(watch);
    match heartbeat(settings, outbound, clock) {
        Some(heartbeat) => node.beating(heartbeat),
        None => node,
    }
}

/// What people should hear about, and how.
pub(super) fn watching(settings: &Settings, voice: &Voice) -> Watching {
    let alerts = &settings.alerts;
    Watching {
        settings: WatchSettings {
            every: alerts.every,
            bounds: alerts.bounds.clone(),
            manner: voice.manner.clone(),
            checks_per_day: f64::from(settings.sources.checks_per_day),
        },
        messenger: Arc::clone(&voice.channels) as Arc<dyn Messenger>,
    }
}

/// Who tells somebody outside that the node lives, where somebody listens.
fn heartbeat(
    settings: &Settings,
    outbound: &Outbound,
    clock: &Arc<dyn Clock>,
) -> Option<Heartbeat> {
    let heartbeat = &settings.heartbeat;
    let url = heartbeat.url.as_ref()?.expose().to_owned();
    let listener = HttpListener::new(outbound.client(), url, heartbeat.method, HEARTBEAT_TIMEOUT);
    Some(Heartbeat {
        listener: Arc::new(listener),
        every: heartbeat.every,
        clock: Arc::clone(clock),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Inputs, Need, load};

    fn voice(quiet: Option<&str>) -> Voice {
        let set = |hours: &str| {
            (
                "--set".to_owned(),
                "alerts.quiet".to_owned(),
                hours.to_owned(),
            )
        };
        let inputs = Inputs {
            flags: quiet.map(set).into_iter().collect(),
            ..Inputs::default()
        };
        let settings = load(&inputs, Need::Everything).settings.unwrap();
        let outbound = Outbound::new(&settings).unwrap();
        let clock = crate::wiring::machine_clock();
        let channels = channels(&settings, &BTreeMap::new(), &outbound, &clock).unwrap();
        Voice::new(&settings, channels)
    }

    #[test]
    fn editions_keep_the_quiet_hours_in_force() {
        let live = Live::new(voice(None));
        let teller = EditionTeller(live.clone());
        let noon: Timestamp = "2026-01-05T12:00:00Z".parse().unwrap();
        let evening: Timestamp = "2026-01-05T18:00:00Z".parse().unwrap();
        assert_eq!(teller.tell_at(Severity::Warning, noon), noon);
        live.put(voice(Some("09:00-18:00")));
        assert_eq!(teller.tell_at(Severity::Warning, noon), evening);
        assert_eq!(teller.tell_at(Severity::Critical, noon), noon);
    }
}
