//! A worker on the database itself, without a node.
//!
//! The API runs in this process. Nodes take back what dead workers left behind; where there is no
//! node, nobody would, so the worker does it too. Two that do it at once are harmless.

use std::{sync::Arc, time::Duration};

use almanack_adapters::clock::pause;
use almanack_core::secret::Secret;
use almanack_engine::keeper::{correct_clock, return_expired};
use futures_util::future::BoxFuture;
use tokio::task::JoinHandle;

use crate::{
    commands::prelude::*,
    wiring::{Equipment, Ground, Timing},
};

/// How often expired leases are looked for.
const LOOK_EVERY: Duration = Duration::from_secs(2);

/// Keeps expired claims coming back as long as it is held.
pub(super) struct Keeping(pub(super) JoinHandle<()>);

impl Drop for Keeping {
    fn drop(&mut self) {
        self.0.abort();
    }
}

pub(super) type Opened = (Client, Vec<Secret>, Option<BoxFuture<'static, ()>>);

pub(super) async fn open(inputs: &Inputs) -> Result<Opened> {
    let context = CommandContext::open_for(inputs, DatabaseNeed::Existing, Need::Everything);
    let context = context.await?;
    let (settings, store) = (context.settings.clone(), Arc::clone(&context.store));
    let timing = Timing::of_machine(store.as_ref()).await?;
    let outbound = wiring::Outbound::new(&settings)?;
    let (equipment, telemetry) = Equipment::new(Ground {
        settings: &settings,
        environment: &inputs.environment,
        outbound: &outbound,
        store: &store,
        changes: &store,
        pages: &store,
        timing: &timing,
        node: "work",
        paper: Box::new(std::io::stderr()),
    })?;
    let ports = equipment.ports();
    correct_clock(&*ports.store, &ports.clock).await?;
    let client = Client::working(context, equipment.work()).await?;
    let secrets = settings.secrets().collect();
    let keeping = async move {
        // Its exporter lives as long as the worker does.
        let _telemetry = telemetry;
        loop {
            pause(LOOK_EVERY).await;
            let looked = async {
                correct_clock(&*ports.store, &ports.clock).await?;
                return_expired(&ports, &equipment.runner()).await
            };
            if let Err(error) = looked.await {
                let error = error.chain();
                tracing::warn!(error, "could not look for expired leases; will retry");
            }
        }
    };
    Ok((client, secrets, Some(Box::pin(keeping))))
}
