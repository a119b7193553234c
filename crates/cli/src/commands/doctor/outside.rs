//! Whether called services can be reached, and what holds our port.
//!
//! A probe is a connection and a HEAD request to the root of an origin, by the client that makes
//! the calls, with its rules about addresses. Any answer counts as reachable. Message buses are
//! checked in `buses.rs`. Nothing is fired.

use std::{collections::BTreeMap, net::TcpListener, time::Duration};

use almanack_adapters::http::{Client, Error, Limits, Request};
use almanack_core::target::Target;
use almanack_engine::schedules::Wanted;
use futures_util::{StreamExt as _, stream};
use url::Url;

use super::{
    super::health::{Answer, Question, ask},
    Finding,
};
use crate::{commands::prelude::*, config::settings::Way, wiring::hooks};

/// How long one probe may take.
const WAIT_MAX: Duration = Duration::from_secs(10);
/// Probes at a time.
const AT_ONCE: usize = 8;

/// Whether a node could listen, or does.
pub(super) async fn port(settings: &Settings) -> Result<Finding, Failure> {
    let listen = settings.server.listen;
    let check = "port";
    let Err(taken) = TcpListener::bind(listen) else {
        return Ok(Finding::ok(
            check,
            format!("{listen} is free: no node runs here"),
        ));
    };
    Ok(match ask(listen, Question::Up).await? {
        Answer::Yes(_) => Finding::ok(check, format!("a node answers at {listen}")),
        Answer::NotReady(_) | Answer::Other { .. } | Answer::Unreachable(_) => {
            Finding::failed(check, format!("{listen}: {taken}"))
                .hint("another program listens there, or this user may not; set server.listen")
        }
    })
}

/// Looks whether everything that is called can be reached.
pub(super) async fn targets(
    settings: &Settings,
    schedules: &[Wanted],
) -> Result<Vec<Finding>, Failure> {
    let outbound = wiring::Outbound::new(settings)?;
    outbound.trust(&hooks(schedules).collect());
    let client = outbound.client();
    let probes = origins(settings, schedules).into_iter();
    let probes = probes.map(|(origin, who)| probe(client.clone(), origin, who));
    let mut findings: Vec<Finding> = stream::iter(probes)
        .buffer_unordered(AT_ONCE)
        .collect()
        .await;
    findings.sort_by(|a, b| a.check.cmp(&b.check));
    Ok(findings)
}

/// What is called, by origin, and one that calls it. Addresses may hold secrets; origins do not.
fn origins(settings: &Settings, schedules: &[Wanted]) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut note = |url: &str, who: String| {
        if let Ok(url) = Url::parse(url) {
            found
                .entry(url.origin().ascii_serialization())
                .or_insert(who);
        }
    };
    for (kind, of_kind) in &settings.kinds {
        if let Some(url) = &of_kind.url {
            note(url.as_str(), format!("kind {kind}"));
        }
    }
    for wanted in schedules {
        let who = format!("schedule {}", wanted.name);
        match &wanted.definition.target {
            Target::Webhook { url, .. } => note(url, who),
            Target::Workflow { .. } => note(&settings.github.api_url, who),
            _ => {}
        }
    }
    for url in wiring::editions::addresses(settings) {
        note(&url, "editions".to_owned());
    }
    for subscriber in &settings.event_delivery.subscribers {
        if let Way::Webhook { url, .. } = &subscriber.way {
            let name = subscriber.subscription.name.as_str();
            note(url.as_str(), format!("subscription {name}"));
        }
    }
    for url in wiring::alerts::addresses(settings) {
        note(&url, "alerts and heartbeats".to_owned());
    }
    if let Some(url) = &settings.telemetry.otlp_endpoint {
        note(url.as_str(), "telemetry".to_owned());
    }
    found
}

async fn probe(client: Client, origin: String, who: String) -> Finding {
    let request = Request::head(format!("{origin}/")).limits(limits());
    judge(&origin, &who, client.open(request).await.map(|_| ()))
}

fn judge(origin: &str, who: &str, answered: Result<(), Error>) -> Finding {
    let check = format!("{origin} ({who})");
    match answered {
        Ok(()) => Finding::ok(check, "answers"),
        Err(error) => {
            let mut text = error.to_string();
            let mut cause = std::error::Error::source(&error);
            while let Some(next) = cause {
                text = format!("{text}: {next}");
                cause = next.source();
            }
            Finding::failed(check, text).hint(
                "check that it runs and the name is right, and check firewalls and outbound.allow",
            )
        }
    }
}

fn limits() -> Limits {
    Limits {
        total: WAIT_MAX,
        ..Limits::default()
    }
}
