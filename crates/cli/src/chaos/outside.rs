//! Everything around the nodes of a chaos run, on this machine: clients, called services, and the
//! connections to the database.

use std::{
    io,
    net::{Ipv4Addr, SocketAddr},
    sync::Arc,
    time::Duration,
};

use almanack_core::{
    plan::{Origin, Ready, ScheduleName, Unfit},
    store::Store,
};
use almanack_engine::{
    schedules::{Schedules, Wanted},
    zones::Zones,
};
use almanack_lab::{
    article,
    chaos::{
        fleet::Member,
        wire::{Wire, through, wire_target},
    },
    customer, hooks,
};
use almanack_store::Location;
use tokio_util::sync::CancellationToken;

use super::{
    configuration::{self, Places},
    stage::Run,
};
use crate::{
    failure::{Failure, Result},
    wiring,
};

/// How far ahead the customer schedules tasks.
const AHEAD: Duration = Duration::from_secs(3);
/// More retries than a run can use up.
const MAX_RETRY: u32 = 100;

pub(super) async fn member(number: usize, location: &Location, wired: bool) -> io::Result<Member> {
    let url = match location {
        Location::Sqlite(path) => format!("sqlite:{}", path.display()),
        Location::Postgres(url) => url.clone(),
    };
    let Some(target) = wire_target(&url).filter(|_| wired) else {
        return Member::new(number, url, None);
    };
    let wire = Wire::lay(target).await?;
    let near = through(&url, wire.address).unwrap_or(url);
    Member::new(number, near, Some(wire))
}

fn here() -> SocketAddr {
    SocketAddr::from((Ipv4Addr::LOCALHOST, 0))
}

pub(super) async fn start_customer(
    run: &Run<'_>,
    world: &CancellationToken,
) -> Result<customer::Handle> {
    let setup = customer::Setup {
        seed: run.arguments.seed,
        rate: run.arguments.rate,
        ahead: AHEAD,
    };
    let started = customer::start(customer::Config::of(here(), setup), world.clone()).await;
    Ok(started.map_err(failed)?.handle)
}

pub(super) async fn start_articles(
    run: &Run<'_>,
    almanack: &str,
    world: &CancellationToken,
) -> Result<article::Running> {
    let database = run.folder.join("articles.db");
    let mut config = article::Config::new(database, here(), almanack);
    config.requests.callback_url = false;
    config.requests.max_retry = Some(MAX_RETRY);
    article::start(config, world.clone()).await.map_err(failed)
}

pub(super) async fn start_hooks(world: &CancellationToken) -> Result<hooks::Running> {
    let started = hooks::start(hooks::Config::new(here()), world.clone()).await;
    started.map_err(failed)
}

pub(super) async fn put_schedules(
    own: &[Wanted],
    places: &Places,
    store: &Arc<dyn Store>,
) -> Result<Vec<(ScheduleName, Ready)>> {
    let unfit = |error: Unfit| Failure::usage(error);
    let clock = wiring::clock(store.as_ref()).await?;
    let zones = Zones::default();
    // Its hooks are on this machine; the nodes' configuration allows them.
    let schedules = Schedules::new(store.clone(), clock, Arc::default());
    let mut ready = Vec::new();
    for Wanted { name, definition } in configuration::schedules(own, places).map_err(unfit)? {
        let planned = zones.ready(&name, definition.clone()).map_err(unfit)?;
        let put = schedules.put(&name, definition, Origin::Api, "chaos");
        put.await?;
        ready.push((name, planned));
    }
    Ok(ready)
}

pub(super) fn failed(error: impl std::error::Error) -> Failure {
    Failure::caused("chaos", &error)
}
