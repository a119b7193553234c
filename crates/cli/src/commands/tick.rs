//! `almanack tick`: one pass of everything that is due, without a node that stays.
//!
//! It is a short-lived node: admitted under its own name, so that ticks may overlap with each other
//! and with running nodes. It reads the schedules as `serve` does, plans, runs, drains and exits.

use std::sync::Arc;

use almanack_engine::{
    calendars::Calendars,
    node::AdmittedNode,
    sources::keeper::Walk,
    tick::{Ticked, Ticker},
};
use tokio_util::sync::CancellationToken;

use crate::{
    commands::prelude::*,
    log, process,
    reload::Files,
    when::Relative,
    wiring::{Equipment, Ground, Timing},
};

pub(super) fn run(
    settings: &Settings,
    inputs: &Inputs,
    arguments: &TickArguments,
    output: &mut Output,
) -> Done {
    let budget = duration("--budget", &arguments.budget)?;
    log::start(&settings.log, output.notes_coloured())?;
    let ticked = runtime()?.block_on(tick(settings, inputs, budget))?;
    report(&ticked, output)
}

/// What traces there are leave before the process does, or are given up after a while.
async fn tick(settings: &Settings, inputs: &Inputs, budget: SignedDuration) -> Result<Ticked> {
    let store = wiring::open_store(&settings.database).await?;
    let timing = Timing::of_machine(store.as_ref()).await?;
    let environment = &inputs.environment;
    let chance = wiring::entropy().next_u64();
    let name = process::node_name(&settings.node, environment, chance);
    let name = format!("{name}-tick-{:06x}", chance >> 40);
    let outbound = wiring::Outbound::new(settings)?;
    let (equipment, telemetry) = Equipment::new(Ground {
        settings,
        environment,
        outbound: &outbound,
        store: &store,
        changes: &store,
        pages: &store,
        timing: &timing,
        node: &name,
        paper: Box::new(std::io::stderr()),
    })?;
    let node = process::admit(&equipment, settings, name).await?;
    let subscriptions = equipment.subscriptions();
    let schedules = wiring::schedules(
        store.clone(),
        timing.clock.clone(),
        outbound.reach(),
        subscriptions.clone(),
    );
    let calendars = wiring::calendars(&store, &timing.clock, &schedules, &outbound);
    let sources = equipment.sources().sources.clone();
    let defined = (schedules, sources, calendars.clone());
    let files = Files::new(inputs.clone(), defined, outbound);
    let passes = wiring::ticker(store, &timing, node.counters())
        .running(equipment.runner())
        .reporting_to(subscriptions);
    let ticked = Box::pin(pass(
        settings,
        (equipment, node),
        (files, calendars),
        (passes, budget),
    ));
    let ticked = ticked.await;
    telemetry.finish().await;
    ticked
}

async fn pass(
    settings: &Settings,
    (equipment, node): (Equipment, AdmittedNode),
    (mut files, calendars): (Files, Arc<Calendars>),
    (passes, budget): (Ticker, SignedDuration),
) -> Result<Ticked> {
    let sources = equipment.sources();
    sources.hear().await?;
    // One round, before the pass: what it finds lost is due in it.
    if let Err(error) = sources.keeper().round(&mut Walk::whole()).await {
        tracing::warn!(%error, "could not check sources; the next tick tries again");
    }
    let mut alerts = equipment.watch();
    files.sync(settings).await?;
    // Addresses that are due, of the API's calendars too: the slots of this pass depend on them.
    if let Err(error) = calendars.pass().await {
        tracing::warn!(%error, "could not read the calendars; the next tick tries again");
    }
    let stop = process::stop_signal()?;
    let done = CancellationToken::new();
    let running = node.run_planned(done.clone());
    let ticking = async {
        let ticked = tokio::select! {
            ticked = passes.tick(budget) => ticked.map_err(Failure::from),
            () = stop.cancelled() => Err(Failure::failed("stopped before it was done")),
        };
        done.cancel();
        ticked
    };
    let ((), ticked) = tokio::join!(running, ticking);
    // Uncounted checks would make the fleet look cheaper than it is.
    sources.report().await?;
    // With ticks only, no other process evaluates the alert rules.
    if let Err(error) = alerts.round().await {
        tracing::warn!(
            error = error.chain(),
            "could not evaluate the alert rules; the next tick tries again"
        );
    }
    ticked
}

fn report(ticked: &Ticked, output: &mut Output) -> Done {
    let view = json!({
        "ticked_at": ticked.ticked_at,
        "fired": ticked.fired,
        "skipped": ticked.skipped,
        "attempts": ticked.attempts,
        "complete": ticked.complete,
        "next_due_at": ticked.next_due_at,
    });
    output.print(&view, |output| show(ticked, output))
}

fn show(ticked: &Ticked, output: &mut Output) -> Result<()> {
    let attempts = ticked.attempts.iter();
    let attempts = joined(attempts.map(|(outcome, count)| format!("{count} {outcome}")));
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
        output.note("the time budget ended before everything was done; the next tick continues\n");
    }
    Ok(())
}
