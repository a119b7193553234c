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
use crate::{
    commands::prelude::*,
    failure::chain,
    wiring::{called, hooks},
};

/// How long one probe may take.
const WAIT_MAX: Duration = Duration::from_secs(10);
/// Probes at a time.
const AT_ONCE: usize = 8;

/// Whether a node could listen, or does.
pub(super) async fn port(settings: &Settings) -> Result<Finding> {
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
pub(super) async fn targets(settings: &Settings, schedules: &[Wanted]) -> Result<Vec<Finding>> {
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
    let targets = schedules.iter().filter_map(|wanted| {
        let url = match &wanted.definition.target {
            Target::Webhook { url, .. } => url,
            Target::Workflow { .. } => &settings.github.api_url,
            _ => return None,
        };
        Some((url.clone(), format!("schedule {}", wanted.name)))
    });
    let mut found = BTreeMap::new();
    for (url, who) in called(settings).into_iter().chain(targets) {
        if let Ok(url) = Url::parse(&url) {
            let origin = url.origin().ascii_serialization();
            found.entry(origin).or_insert(who);
        }
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
        Err(error) => Finding::failed(check, chain(&error)).hint(
            "check that it runs and the name is right, and check firewalls and outbound.allow",
        ),
    }
}

fn limits() -> Limits {
    Limits {
        total: WAIT_MAX,
        ..Limits::default()
    }
}
