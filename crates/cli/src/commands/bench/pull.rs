//! Phases of `almanack bench` on a whole node with its API: workers on loopback, and a service that
//! writes into the inbox.

use std::{sync::Arc, time::Duration};

use almanack_core::store::Store;
use almanack_store::{Location, scratch::InboxClient, sqlite::Durability};
use tokio_util::sync::CancellationToken;

use super::{failed, readers::node_inputs};
use crate::{
    args::LoadArguments,
    bench::{self, Bench, Measured},
    client::{Client, Connector},
    commands::{DatabaseNeed, checked},
    config::{self, Need},
    failure::{Failure, Result},
    process,
    wiring::Time,
};

/// Workers that take and finish everything that is due.
pub(super) async fn run(
    location: &Location,
    durability: Durability,
    load: &LoadArguments,
) -> Result<Measured> {
    let cap = Duration::from_secs(load.cap_s);
    let measured = on_node(location, durability, async |client, _| {
        bench::pull(client, cap).await
    });
    Box::pin(measured).await
}

/// Workers that wait for tasks at distinct instants.
pub(super) async fn long_poll(
    location: &Location,
    durability: Durability,
    load: &LoadArguments,
) -> Result<Measured> {
    let measured = on_node(location, durability, async |client, store| {
        let bench = Bench::new(store, *load).await?;
        bench::long_poll(&bench, client).await
    });
    Box::pin(measured).await
}

/// A service that writes requests in its own transactions.
pub(super) async fn inbox(
    location: &Location,
    durability: Durability,
    load: &LoadArguments,
) -> Result<Measured> {
    let Location::Postgres(url) = location else {
        return Err(Failure::usage(
            "only a database on PostgreSQL has an inbox: name one with --database",
        ));
    };
    let cap = Duration::from_secs(load.cap_s);
    let measured = on_node(location, durability, async |_, _| {
        let service = InboxClient::connect(url).await?;
        bench::inbox(&service, load.late_tasks, cap).await
    });
    Box::pin(measured).await
}

/// Measures while a node runs that hands the measured kind to workers.
async fn on_node(
    location: &Location,
    durability: Durability,
    measure: impl AsyncFnOnce(Arc<Client>, Arc<dyn Store>) -> Result<Measured, bench::Error>,
) -> Result<Measured> {
    let pulled = format!("kinds.{}.deliver", bench::KIND);
    let inputs = node_inputs(location, durability, (&pulled, "pull"));
    let settings = checked(config::load(&inputs, Need::Everything))?;
    let process = process::start(&settings, &inputs, &Time::Machine, None).await?;
    let connector = Connector {
        server: Some(format!("http://{}", process.address)),
        inputs: &inputs,
    };
    let client = connector.open(DatabaseNeed::Existing).await?;
    let store = process.store();
    let stop = CancellationToken::new();
    let node = tokio::spawn(process.run(stop.clone()));
    let measured = measure(Arc::new(client), store).await;
    stop.cancel();
    node.await.map_err(Failure::failed)??;
    measured.map_err(failed)
}
