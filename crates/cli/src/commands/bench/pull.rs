//! `almanack bench phase pull`: a whole node with its API, and workers on loopback.

use std::{sync::Arc, time::Duration};

use almanack_store::{Location, sqlite::Durability};
use tokio_util::sync::CancellationToken;

use super::{failed, readers::node_inputs};
use crate::{
    args::LoadArguments,
    bench::{self, Measured},
    client::Connector,
    commands::{DatabaseNeed, checked},
    config::{self, Need},
    failure::{Failure, Result},
    process,
    wiring::Time,
};

pub(super) async fn run(
    location: &Location,
    durability: Durability,
    load: &LoadArguments,
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
    let stop = CancellationToken::new();
    let node = tokio::spawn(process.run(stop.clone()));
    let measured = bench::pull(Arc::new(client), Duration::from_secs(load.cap_s)).await;
    stop.cancel();
    node.await.map_err(Failure::failed)??;
    measured.map_err(failed)
}
