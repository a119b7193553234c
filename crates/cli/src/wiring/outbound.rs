//! The HTTP client of a process, and which addresses it may call.
//!
//! Addresses in the configuration come from the operator, and most of them are in the operator's
//! own network: the service that publishes, the hook of a schedule. Those origins are trusted.
//! Addresses from the API, from events or from a feed are not, and need `outbound.allow` or
//! `sources.allow`.

use std::{collections::BTreeSet, sync::Arc};

use almanack_adapters::{
    call::Caller,
    http::{Client, HostLimiter, Settings as ClientSettings},
};
use almanack_core::{
    address::{Guard, IpNet, Origin, Reach},
    target::Target,
    time::Clock,
};
use almanack_engine::{reloadable::Reloadable, schedules::Wanted};
use almanack_server::{
    StatusPage,
    about::{ABOUT_PATH, About},
};
use url::Url;

use super::{alerts, editions, share};
use crate::{
    config::{Settings, settings::Way},
    failure::{Failure, Result},
};

/// The setting that lets callbacks and webhooks into a network.
const OUTBOUND_ALLOW: &str = "outbound.allow";
/// The setting that lets sources be in a network.
const SOURCES_ALLOW: &str = "sources.allow";

/// Makes callbacks, fires webhooks and asks GitHub.
#[derive(Clone)]
pub(crate) struct Outbound {
    client: Client,
    /// Trusted as long as the process runs: services of kinds, GitHub, subscribers, the services of
    /// editions, and alert channels.
    services: BTreeSet<Origin>,
    guard: Guard,
    /// The same check for the intake: an address that would be refused here is refused there.
    reach: Reloadable<Reach>,
    hosts: HostLimiter,
}

impl Outbound {
    /// A client that trusts the configured services.
    pub(crate) fn new(settings: &Settings) -> Result<Self> {
        let outbound = &settings.outbound;
        let client = client(&outbound.allow, OUTBOUND_ALLOW, outbound.contact.as_deref())?;
        let (guard, services) = (guard(settings), services(settings));
        let made = Self {
            client,
            reach: Reloadable::new(Reach::new(guard.clone(), services.clone())),
            services,
            guard,
            hosts: HostLimiter::new(share(settings.node.slots)),
        };
        made.trust(&BTreeSet::new());
        Ok(made)
    }

    /// The client; all of them share connections and trust.
    pub(crate) fn client(&self) -> Client {
        self.client.clone()
    }

    /// Calls within the hosts' limits.
    pub(crate) fn caller(&self, clock: Arc<dyn Clock>) -> Caller {
        Caller {
            client: self.client(),
            clock,
            hosts: Some(self.hosts.clone()),
        }
    }

    /// Trusts only the services and these hooks.
    pub(crate) fn trust(&self, hooks: &BTreeSet<Origin>) {
        let trusted: BTreeSet<Origin> = self.services.union(hooks).cloned().collect();
        self.client.trust(trusted.clone());
        self.reach.put(Reach::new(self.guard.clone(), trusted));
    }

    /// The check of addresses, for the intake.
    pub(crate) fn reach(&self) -> Reloadable<Reach> {
        self.reach.clone()
    }

    /// Replaces another outbound client, whose check others already use.
    pub(crate) fn take_over(&mut self, from: &Self, hooks: &BTreeSet<Origin>) {
        self.reach = from.reach();
        self.trust(hooks);
    }
}

/// The trusted origins of these settings and of the schedules of their file.
pub(crate) fn reach(settings: &Settings, schedules: &[Wanted]) -> Reach {
    let trusted = services(settings).into_iter().chain(hooks(schedules));
    Reach::new(guard(settings), trusted.collect())
}

fn guard(settings: &Settings) -> Guard {
    Guard::new(settings.outbound.allow.clone(), OUTBOUND_ALLOW)
}

fn services(settings: &Settings) -> BTreeSet<Origin> {
    let called = called(settings);
    let named = called.iter().map(|(url, _)| url.as_str());
    let all = named.chain([settings.github.api_url.as_str()]);
    all.filter_map(origin).collect()
}

/// Every address that the operator configured, and what calls it. GitHub's is not among them: it
/// is called only where a schedule or an edition says so.
pub(crate) fn called(settings: &Settings) -> Vec<(String, String)> {
    let mut called = Vec::new();
    let mut note = |url: String, who: String| called.push((url, who));
    for (kind, of_kind) in &settings.kinds {
        if let Some(url) = &of_kind.url {
            note(url.to_string(), format!("kind {kind}"));
        }
    }
    for url in editions::addresses(settings) {
        note(url, "editions".to_owned());
    }
    for subscriber in &settings.event_delivery.subscribers {
        if let Way::Webhook { url, .. } = &subscriber.way {
            let name = subscriber.subscription.name.as_str();
            note(url.to_string(), format!("subscription {name}"));
        }
    }
    for url in alerts::addresses(settings) {
        note(url, "alerts and heartbeats".to_owned());
    }
    if let Some(url) = &settings.telemetry.otlp_endpoint {
        note(url.to_string(), "telemetry".to_owned());
    }
    called
}

/// The client that checks sources. It trusts no origin: sources come from everywhere. It keeps no
/// connections: checks are minutes apart, and there may be as many hosts as sources.
pub(super) fn fetching(settings: &Settings) -> Result<Client> {
    make(&ClientSettings {
        contact: contact(settings),
        idle_max: 0,
        ..ClientSettings::new(sources_guard(settings))
    })
}

/// Whom to ask about checks, in the User-Agent: the contact, and the page about our requests.
fn contact(settings: &Settings) -> Option<String> {
    let contact = settings.outbound.contact.clone();
    let page = settings.server.public_url.as_ref().map(|url| {
        let base = url.as_str().trim_end_matches('/');
        format!("{base}{ABOUT_PATH}")
    });
    match (contact, page) {
        (Some(contact), Some(page)) => Some(format!("{contact}; +{page}")),
        (contact, page) => contact.or(page),
    }
}

/// What the page about our requests says.
pub(crate) fn about(settings: &Settings) -> About {
    About {
        contact: settings.outbound.contact.clone(),
        pace: settings.sources.pace(),
    }
}

/// What everybody may see, if anything.
pub(crate) fn status_page(settings: &Settings) -> Option<StatusPage> {
    let page = &settings.status_page;
    page.enabled.then(|| StatusPage {
        title: page.title.clone(),
        schedules: page.schedules.clone(),
        tags: page.tags.clone(),
        editions: page.editions.clone(),
    })
}

/// What sources, their entries and the stories of editions may lead to.
pub(super) fn sources_guard(settings: &Settings) -> Guard {
    Guard::new(settings.sources.allow.clone(), SOURCES_ALLOW)
}

/// A client that may go into these networks; `key` is the setting that holds them.
pub(super) fn client(allow: &[IpNet], key: &'static str, contact: Option<&str>) -> Result<Client> {
    make(&ClientSettings {
        contact: contact.map(str::to_owned),
        ..ClientSettings::new(Guard::new(allow.to_vec(), key))
    })
}

fn make(settings: &ClientSettings) -> Result<Client> {
    let made = Client::new(settings);
    made.map_err(Failure::failed)
}

/// A client for GitHub alone, at an address that the operator gave.
pub(crate) fn client_of(api_url: &str) -> Result<Client> {
    let client = client(&[], OUTBOUND_ALLOW, None)?;
    client.trust(origin(api_url));
    Ok(client)
}

/// The origins of the hooks that these schedules fire at.
pub(crate) fn hooks(schedules: &[Wanted]) -> impl Iterator<Item = Origin> {
    schedules.iter().flat_map(|wanted| {
        let definition = &wanted.definition;
        let hook = match &definition.target {
            Target::Webhook { url, .. } => origin(url),
            _ => None,
        };
        let addresses = definition.pings.addresses();
        hook.into_iter()
            .chain(addresses.filter_map(|(_, address)| origin(address)))
    })
}

fn origin(url: &str) -> Option<Origin> {
    Origin::of(&Url::parse(url).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{self, Inputs, Need};

    #[test]
    fn ss_26_the_user_agent_of_checks_leads_to_the_page_about_them() {
        let (us, page) = ("ada@news.example", "https://news.example/base");
        for (given, expected) in [
            (&[][..], None),
            (&[("outbound.contact", us)], Some("ada@news.example")),
            (
                &[("server.public_url", page)],
                Some("https://news.example/base/about-requests"),
            ),
            (
                &[("outbound.contact", us), ("server.public_url", page)],
                Some("ada@news.example; +https://news.example/base/about-requests"),
            ),
        ] {
            let flag = |(key, value): &(&str, &str)| {
                ("--set".to_owned(), (*key).to_owned(), (*value).to_owned())
            };
            let inputs = Inputs {
                flags: given.iter().map(flag).collect(),
                ..Inputs::default()
            };
            let settings = config::load(&inputs, Need::Everything).settings.unwrap();
            assert_eq!(contact(&settings).as_deref(), expected);
        }
    }
}
