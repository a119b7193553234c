//! Looking at sources over HTTP: the world's feeds, the hostile ones by name, and polite behaviour.

mod article;
mod by_name;
mod discovery;
mod fetching;
mod hostile;
mod looking;

use std::{net::IpAddr, sync::Arc, time::Duration};

use almanack_adapters::{
    feed::checker::FeedChecker,
    http::{Client, Limits, NoName, Resolve, Settings, host_paces::HostPaces},
};
use almanack_core::{
    address::{Guard, parse_net},
    host_pace::Pace,
    source::{
        check::{Ask, Checker, Document, Failure, Look},
        reading::Reading,
    },
    time::Clock,
};
use almanack_lab::feeds::{Config, Running, fleet::Fleet, start};
use async_trait::async_trait;
use jiff::Timestamp;
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::fixture::Fixed;

/// Knows no names at all.
struct Nameless;

#[async_trait]
impl Resolve for Nameless {
    async fn resolve(&self, _host: &str) -> Result<Vec<IpAddr>, NoName> {
        let why = "no such name".to_owned();
        Err(NoName { why })
    }
}

/// A client that may go to 127.0.0.0/8 and knows no names.
fn client() -> Client {
    let guard = Guard::new(vec![parse_net("127.0.0.0/8").unwrap()], "sources.allow");
    Client::new(&Settings {
        resolver: Arc::new(Nameless),
        ..Settings::new(guard)
    })
    .unwrap()
}

fn now() -> Timestamp {
    Fixed.now()
}

/// A checker with the default pace.
fn checker(client: &Client) -> FeedChecker {
    checker_within(client, Limits::default())
}

fn checker_within(client: &Client, limits: Limits) -> FeedChecker {
    let host_paces = HostPaces::new(Pace::default(), Arc::new(Fixed));
    let checker = FeedChecker::with_limits(client.clone(), host_paces, limits);
    // Builds for tests are slow, and so are machines that run many tests at once.
    checker.reading_within(Duration::from_mins(10))
}

fn ask(address: &str) -> Ask {
    Ask {
        address: address.to_owned(),
        reading: Reading::Feed,
        ..Ask::default()
    }
}

/// A check with separate host paces.
async fn look(client: &Client, address: &str) -> Result<Document, Failure> {
    outcome(checker(client).look(&ask(address), now()).await)
}

fn outcome(look: Look) -> Result<Document, Failure> {
    match look {
        Look::Document(document) => Ok(*document),
        Look::Failed(failure) => Err(failure),
        other => panic!("{other:?}"),
    }
}

/// A small world whose clock is stopped, until the guard goes.
async fn world() -> (Running, DropGuard) {
    let cancel = CancellationToken::new();
    let config = Config {
        clock: Arc::new(now),
        ..Config::new(Fleet::new(7, 40))
    };
    let running = start(config, cancel.clone()).await.unwrap();
    (running, cancel.drop_guard())
}
