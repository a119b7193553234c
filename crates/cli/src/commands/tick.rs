//! `almanack tick`: one pass of everything that is due, without a node that stays.
//!
//! It is a node for as long as it takes: admitted under a name of its own, so that ticks may overlap each
//! other and nodes that run; it reads the schedules as `serve` does, plans, runs, drains and leaves.

use std::sync::Arc;

use almanack_core::time::Clock;
use almanack_engine::{sources::keeper::Walk, tick::Ticked};
use jiff::SignedDuration;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::{runtime, serve::start_log};
use crate::{
    args::TickArguments,
    config::{Inputs, Settings},
    failure::{Exit, Failure},
    output::Output,
    process,
    reload::Files,
    when::{self, Relative},
    wiring::{self, Lookout, Timing, editions::Workshop},
};

/// Runs one pass.
pub(super) fn run(
    settings: &Settings,
    inputs: &Inputs,
    arguments: &TickArguments,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let budget = when::parse_duration(&arguments.budget).map_err(|unclear| {
        Failure::new(Exit::Usage, format!("--budget: {}", unclear.what)).hint(unclear.hint)
    })?;
    start_log(&settings.log, output.notes_coloured())?;
    let ticked = runtime()?.block_on(tick(settings, inputs, budget))?;
    tell(&ticked, output)?;
    Ok(Exit::Ok)
}

async fn tick(
    settings: &Settings,
    inputs: &Inputs,
    budget: SignedDuration,
) -> Result<Ticked, Failure> {
    let store = wiring::open_store(&settings.database).await?;
    let timing = Timing::of_machine(store.as_ref()).await?;
    let clock = timing.clock.clone();
    let environment = &inputs.environment;
    let chance = wiring::entropy().next_u64();
    let name = process::node_name(&settings.node, environment, chance);
    let name = format!("{name}-tick-{:06x}", chance >> 40);
    let outbound = wiring::Outbound::new(settings)?;
    let lookout = Lookout::new(settings, &store, &timing)?;
    let ports = wiring::ports(settings, environment, &outbound, store.clone(), &timing)?;
    let ports = lookout.looking(ports)?;
    let told: Arc<dyn Clock> = clock.clone();
    let channels = wiring::alerts::channels(settings, environment, &outbound, &told)?;
    let workshop = Workshop {
        settings,
        outbound: &outbound,
        channels: channels.clone(),
        store: &store,
        clock: clock.clone(),
        sleeper: timing.sleeper.clone(),
        node: &name,
    };
    let (ports, _) = workshop.on_node(ports, Box::new(std::io::stderr()))?;
    let node = process::admit(ports, settings, name).await?;
    lookout.hear().await?;
    // One round, before the pass: what it finds lost is due in it.
    if let Err(error) = lookout.keeper().round(&mut Walk::whole()).await {
        tracing::warn!(%error, "the round of sources failed; the next tick tries again");
    }
    let mut alerts = wiring::alerts::watch(settings, &store, &told, channels);
    let schedules = wiring::schedules(store.clone(), clock.clone());
    Files::new(inputs.clone(), Arc::new(schedules), outbound)
        .sync()
        .await?;
    let passes = wiring::ticker(store, &timing, node.tally());
    let stop = process::stop_signal()?;
    let done = CancellationToken::new();
    let running = node.run_planned(done.clone());
    let ticking = async {
        let ticked = tokio::select! {
            ticked = passes.tick(budget) => ticked.map_err(Failure::from),
            () = stop.cancelled() => Err(Failure::new(Exit::Failed, "stopped before it was done")),
        };
        done.cancel();
        ticked
    };
    let ((), ticked) = tokio::join!(running, ticking);
    // What nobody counts looks like a fleet that may be asked more often.
    lookout.report().await?;
    // Who is only driven from outside has nobody else who would look.
    if let Err(error) = alerts.round().await {
        tracing::warn!(
            error = error.chain(),
            "the watch's round failed; the next tick tries again"
        );
    }
    ticked
}

fn tell(ticked: &Ticked, output: &mut Output) -> Result<(), Failure> {
    if output.json {
        return output.value(&json!({
            "ticked_at": ticked.ticked_at,
            "fired": ticked.fired,
            "skipped": ticked.skipped,
            "attempts": ticked.attempts,
            "complete": ticked.complete,
            "next_due_at": ticked.next_due_at,
        }));
    }
    let attempts: Vec<String> = ticked
        .attempts
        .iter()
        .map(|(outcome, count)| format!("{count} {outcome}"))
        .collect();
    let attempts = if attempts.is_empty() {
        "none".to_owned()
    } else {
        attempts.join(", ")
    };
    let (fired, skipped) = (ticked.fired, ticked.skipped);
    output.line(&format!(
        "slots: {fired} fired, {skipped} skipped; attempts: {attempts}"
    ))?;
    let now = ticked.ticked_at;
    let next = ticked
        .next_due_at
        .map(|at| Relative { at, now }.to_string());
    output.line(&format!(
        "next due: {}",
        next.as_deref().unwrap_or("nothing")
    ))?;
    if !ticked.complete {
        output.note("the budget was spent before everything was done; the next tick goes on\n");
    }
    Ok(())
}
