//! Whether called services can be reached, and what holds our port.
//!
//! A probe is a connection and a HEAD request to the root of an origin, by the client that makes
//! the calls, with its rules about addresses. Any answer counts as reachable. Message buses are
//! checked in `buses.rs`. Nothing is fired.

use std::{
    collections::BTreeMap,
    net::{SocketAddr, TcpListener},
    time::Duration,
};

use almanack_adapters::http::{Client, Error, Limits, Request};
use almanack_core::target::Target;
use almanack_engine::schedules::Wanted;
use almanack_store::Location;
use futures_util::{StreamExt as _, stream};
use url::Url;

use super::{
    super::{
        alive::{Known, known},
        health::{Answer, Question, ask},
    },
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
        Answer::Yes(state) => match state.node {
            Some(name) => whose(listen, &name, known_here(settings, &name).await),
            None => Finding::warning(check, format!("a node answers at {listen}, without a name"))
                .hint("it is of an older version; whether it is one of this database's is unknown"),
        },
        Answer::NotReady(_) | Answer::Other { .. } | Answer::Unreachable(_) => {
            Finding::failed(check, format!("{listen}: {taken}"))
                .hint("another program listens there, or this user may not; set server.listen")
        }
    })
}

/// What our database knows of the node that holds our port; nothing if it cannot be asked.
async fn known_here(settings: &Settings, name: &str) -> Option<Known> {
    if wiring::missing_file(&settings.database).is_some() {
        return Some(Known::No);
    }
    let location = Location::parse(settings.database.url.expose()).ok()?;
    known(&location, settings.node.lease, name).await.ok()
}

/// A node on our port is right only if it works on our database: otherwise commands that go to the
/// address and commands that go to the database would see two different worlds.
fn whose(listen: SocketAddr, name: &str, known: Option<Known>) -> Finding {
    let check = "port";
    let answers = format!("node `{name}` answers at {listen}");
    match known {
        Some(Known::Alive) => Finding::ok(check, answers),
        Some(Known::Silent) => {
            let what = format!("{answers}, but has sent no heartbeat to this database for a lease");
            Finding::warning(check, what).hint("see its log: can it write to the database?")
        }
        Some(Known::No) => {
            let what = format!("{answers}, but is no node of this database");
            Finding::failed(check, what)
                .hint("set another server.listen, or name that node's database: database.url")
        }
        None => Finding::warning(
            check,
            format!("{answers}; the database cannot say whose it is"),
        )
        .hint("correct what is wrong with the database first"),
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::doctor::Verdict;

    #[test]
    fn a_node_on_our_port_is_right_only_on_our_database() {
        let listen = SocketAddr::from(([127, 0, 0, 1], 8080));
        for (known, verdict, why) in [
            (Some(Known::Alive), Verdict::Ok, "one of ours"),
            (
                Some(Known::Silent),
                Verdict::Warning,
                "ours, but it does not write",
            ),
            (Some(Known::No), Verdict::Failed, "another database's"),
            (None, Verdict::Warning, "nobody can say"),
        ] {
            let found = whose(listen, "news-1", known);
            assert_eq!(found.verdict, verdict, "{why}: {found:?}");
            assert!(found.what.contains("`news-1`"), "{found:?}");
        }
    }
}
