//! `almanack chaos`: injects faults and checks the promises.

use std::collections::BTreeMap;

use almanack_adapters::clock::SystemClock;
use almanack_core::time::Clock;
use almanack_lab::chaos::{
    fleet::faketime,
    plan::{Climate, Fault, injections},
    report::{ChaosReport, SlotFigures},
    wire::wire_target,
};
use almanack_store::{Location, scratch::Scratch};
use tokio_util::sync::CancellationToken;

use crate::{
    args::ChaosArguments,
    chaos::{
        picture::{self, Scene},
        stage::{Plan, Run, Stage},
    },
    commands::{checked, runtime},
    config::{self, Inputs, Need, Settings},
    failure::{Done, Exit, Failure, Result},
    output::Output,
    process::stop_signal,
    wiring,
};

/// Default number of nodes on a database that can be shared.
const NODES: usize = 3;

/// Runs it, and reports whether every promise held.
pub(super) fn run(arguments: &ChaosArguments, inputs: &Inputs, output: &mut Output) -> Done {
    let loaded = config::load(inputs, Need::Database);
    let own = loaded.schedules.wanted.clone();
    let settings = checked(loaded)?;
    let location = Location::parse(settings.database.url.expose()).map_err(Failure::usage)?;
    let plan = Plan::new(arguments, &settings, &location)?;
    let report = runtime()?.block_on(async {
        let stop = stop_signal()?;
        let unique = wiring::entropy().next_u64() >> 32;
        let folder = std::env::temp_dir().join(format!("almanack-chaos-{unique:08x}"));
        std::fs::create_dir_all(&folder).map_err(|error| {
            Failure::failed(format!("use folder `{}`: {error}", folder.display()))
        })?;
        let location = match location {
            Location::Sqlite(_) => Location::Sqlite(folder.join("almanack.db")),
            other @ Location::Postgres(_) => other,
        };
        let name = format!("almanack_chaos_{unique:08x}");
        let scratch = Scratch::create(&location, &name).await?;
        let run = Run {
            arguments,
            settings: &settings,
            own: &own,
            plan: &plan,
            folder: &folder,
            scratch: &scratch,
        };
        let report = run.play(&stop, output).await;
        scratch.remove().await?;
        match &report {
            // On failure it stays in the system's temporary folder, which is cleaned up anyway.
            Ok(report) if report.broken.is_empty() => drop(std::fs::remove_dir_all(&folder)),
            // Kept after a broken promise.
            _ => output.note(&format!("Logs of the nodes: {}\n", folder.display())),
        }
        report
    })?;
    show(&report, output)?;
    Ok(Exit::failed_if(!report.broken.is_empty()))
}

impl Plan {
    fn new(arguments: &ChaosArguments, settings: &Settings, location: &Location) -> Result<Self> {
        let shared = matches!(location, Location::Postgres(_));
        let nodes = match arguments.nodes.map(usize::try_from) {
            Some(nodes) => nodes.unwrap_or(NODES),
            None if shared => NODES,
            None => 1,
        };
        if nodes > 1 && !shared {
            let what = "SQLite supports one node; use a PostgreSQL database for more";
            return Err(Failure::usage(what).hint("--database postgres://…"));
        }
        let impossible = impossible(location);
        let asked = arguments.faults.as_ref().map(|faults| faults.0.clone());
        let mut all = asked.iter().flatten();
        if let Some(why) = all.find_map(|it| impossible.get(it.name())) {
            return Err(Failure::usage(format!("--faults: {why}")));
        }
        let left_out = match asked {
            None => impossible,
            Some(_) => BTreeMap::new(),
        };
        let possible = Fault::ALL.into_iter();
        let possible = possible.filter(|fault| !left_out.contains_key(fault.name()));
        let faults = asked.unwrap_or_else(|| possible.collect());
        let period = arguments.minutes;
        let climate = Climate {
            seed: arguments.seed,
            faults: &faults,
            nodes,
            period,
            lease: settings.node.lease.unsigned_abs(),
        };
        Ok(Self {
            nodes,
            period,
            injections: injections(&climate),
            faketime: faketime().filter(|_| faults.iter().any(|fault| fault.sets_clocks())),
            faults,
            left_out,
        })
    }
}

/// Faults that cannot be injected here, with the reason.
fn impossible(location: &Location) -> BTreeMap<&'static str, String> {
    let mut impossible = BTreeMap::new();
    let mut add = |fault: Fault, why: &str| {
        impossible.insert(fault.name(), why.to_owned());
    };
    match location {
        Location::Sqlite(_) => add(Fault::Cut, "cut: SQLite has no connection to cut"),
        Location::Postgres(url) if wire_target(url).is_none() => add(
            Fault::Cut,
            "cut: works only for a single TCP host whose certificate is not verified by name",
        ),
        Location::Postgres(_) => {}
    }
    if faketime().is_none() {
        for fault in Fault::ALL.into_iter().filter(|fault| fault.sets_clocks()) {
            let name = fault.name();
            let why = format!("{name}: libfaketime is not installed (Debian: faketime)");
            add(fault, &why);
        }
    }
    impossible
}

impl Run<'_> {
    async fn play(&self, stop: &CancellationToken, output: &mut Output) -> Result<ChaosReport> {
        output.note(&self.greeting());
        let mut stage = Stage::set(self).await?;
        let report = self.on(&mut stage, stop, output).await;
        stage.clear().await;
        report
    }

    async fn on(
        &self,
        stage: &mut Stage,
        stop: &CancellationToken,
        output: &mut Output,
    ) -> Result<ChaosReport> {
        output.note("All nodes are running\n");
        let played = stage.play(self.plan, stop, |line| output.note(line));
        played.await?;
        if stop.is_cancelled() {
            let what = "stopped before the end; nothing was checked";
            return Err(Failure::failed(what));
        }
        let end = SystemClock.now();
        output.note("No more faults; waiting until all work has finished\n");
        stage.settle(end).await;
        let report = stage.check(end, self).await?;
        if let Some(file) = &self.arguments.picture {
            let (begun, samples) = stage.seen();
            let scene = Scene {
                title: title(&report, self.plan.nodes),
                begun_unix: begun.as_second(),
                period: self.plan.period,
                seconds: &report.customer.seconds,
                samples,
                injections: &self.plan.injections,
                nodes: self.plan.nodes,
            };
            let wrote = std::fs::write(file, picture::draw(&scene));
            let name = file.display();
            wrote.map_err(|error| Failure::failed(format!("write `{name}`: {error}")))?;
        }
        Ok(report)
    }

    fn greeting(&self) -> String {
        let (plan, seconds) = (self.plan, self.arguments.minutes.as_secs());
        // A short run may be too short for some of the requested faults: show the actual counts.
        let counts = plan.faults.iter().map(|fault| {
            let all = plan.injections.iter();
            let count = all.filter(|it| it.fault == *fault).count();
            format!("{count} {}", fault.name())
        });
        let injections = match counted(counts) {
            none if none.is_empty() => "no faults".to_owned(),
            counts => format!("injections: {counts}"),
        };
        let line = |why| format!("  left out: {why}\n");
        let left_out: String = plan.left_out.values().map(line).collect();
        format!(
            "{} node(s) for {seconds} s, seed {}; {injections}\n{left_out}",
            plan.nodes, self.arguments.seed
        )
    }
}

fn counted(counts: impl Iterator<Item = String>) -> String {
    counts.collect::<Vec<_>>().join(", ")
}

fn title(report: &ChaosReport, nodes: usize) -> String {
    let injections: usize = report.injections.values().sum();
    let held = if report.broken.is_empty() {
        "every promise held"
    } else {
        "promises were broken"
    };
    format!(
        "{nodes} node(s), {injections} injections, {} s: {held}",
        report.seconds
    )
}

fn show(report: &ChaosReport, output: &mut Output) -> Result<()> {
    if output.json {
        return output.value(report);
    }
    let customer = &report.customer;
    let articles = &report.articles;
    let injections = report.injections.iter();
    let injections = match counted(injections.map(|(name, count)| format!("{count} {name}"))) {
        none if none.is_empty() => "none".to_owned(),
        injections => injections,
    };
    let tasks = format!(
        "{} acknowledged, {} lost, {} called early, {} called again",
        customer.acknowledged, customer.lost, customer.early, customer.repeated
    );
    let written = format!(
        "{} written, {} published once, {} withheld, {} lost, {} wrong",
        articles.written,
        articles.published,
        articles.withheld,
        articles.lost.len(),
        articles.wrong.len() + articles.early.len()
    );
    let mut lines = vec![
        ("injections", injections),
        ("tasks", tasks),
        ("articles", written),
    ];
    let schedules = report.schedules.iter();
    lines.extend(schedules.map(|slots| ("slots", describe(slots))));
    let memory = report.memory_kb.iter();
    let memory = memory.map(|(node, kb)| format!("{node} {} MB", kb / 1024));
    lines.push(("peak memory", counted(memory)));
    for (name, line) in lines {
        output.line(&format!("{name:16} {line}"))?;
    }
    if report.broken.is_empty() {
        return output.line("every promise held");
    }
    for broken in &report.broken {
        output.line(&format!("BROKEN           {broken}"))?;
    }
    Ok(())
}

fn describe(slots: &SlotFigures) -> String {
    let skipped: u64 = slots.skipped.values().sum();
    format!(
        "{}: {} due, {} fired, {} caught up, {skipped} skipped, {} missing, {} doubled",
        slots.schedule, slots.slots, slots.fired, slots.caught_up, slots.missing, slots.doubled
    )
}
