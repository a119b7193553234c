//! `almanack bench`: measures throughput, lateness and memory.

mod pull;
mod readers;
mod sources;

use std::sync::Arc;

use almanack_adapters::clock::SystemClock;
use almanack_core::{store::Store, time::Clock};
use almanack_lab::figures::{memory_kb, percentile, rounded};
use almanack_store::{
    Location,
    scratch::{self, Scratch},
    sqlite::Durability,
};
use serde::Serialize;
use serde_json::{Value, json};

use crate::{
    args::{BenchCommand, LoadArguments, Phase, ScheduleLoadArguments},
    bench::{self, Bench, Measured, ScheduleFigures},
    commands::runtime,
    config::Settings,
    failure::{Done, Exit, Failure, Result},
    output::Output,
    wiring,
};

/// Not-yet-due tasks start a day from now.
const FAR_US: i64 = 86_400_000_000;
/// Events per delivery to a subscriber that takes batches.
const EVENTS_PER_BATCH: usize = 100;
/// Ratios of rates of one run: the name, and what is divided by what.
const RATIOS: [(&str, &str, &str); 3] = [
    ("pull_to_drain", "pull_pull", "throughput_drain"),
    ("drain_to_events", "throughput_drain", "events_drain"),
    (
        "drain_to_event_batches",
        "throughput_drain",
        "event_batches_drain",
    ),
];

/// Runs the requested measurement.
pub(super) fn run(command: &BenchCommand, settings: &Settings, output: &mut Output) -> Done {
    let database = &settings.database;
    let location = Location::parse(database.url.expose()).map_err(Failure::usage)?;
    let durability = database.durability;
    runtime()?.block_on(async {
        match command {
            BenchCommand::Tasks(load) => tasks(&location, durability, load, output).await,
            BenchCommand::Schedules(load) => schedules(&location, durability, load, output).await,
            BenchCommand::Sources(load) => sources::run(&location, settings, load, output).await,
            BenchCommand::Readers(load) => {
                Box::pin(readers::run(&location, durability, load, output)).await
            }
            BenchCommand::Phase { phase, load } => {
                let answer = one_phase(&location, durability, *phase, load).await?;
                output.value(&answer)?;
                Ok(Exit::Ok)
            }
        }
    })
}

/// Measures on a scratch store that is removed afterwards.
async fn on_scratch<T>(
    location: &Location,
    measure: impl AsyncFnOnce(&Location) -> Result<T>,
) -> Result<T> {
    let unique = wiring::entropy().next_u64();
    let scratch = Scratch::create(location, &format!("almanack_bench_{unique:x}")).await?;
    let measured = measure(&scratch.location()).await;
    scratch.remove().await?;
    measured
}

/// Writes figures: to programs as they are, to people with their names.
fn report<'a>(
    figures: &impl Serialize,
    named: impl IntoIterator<Item = (&'a str, String)>,
    output: &mut Output,
) -> Done {
    output.print(figures, |output| {
        let mut named = named.into_iter();
        named.try_for_each(|(name, figure)| output.line(&format!("{name:25} {figure}")))
    })
}

fn megabytes(kb: Option<u64>) -> String {
    kb.map_or_else(|| "unknown".to_owned(), |kb| format!("{} MB", kb / 1024))
}

/// Median, 99th percentile and maximum in words.
fn spread([half, most, all]: [f64; 3]) -> String {
    format!("p50 {half} ms, p99 {most} ms, max {all} ms")
}

/// Phases on one scratch store, and the name of their figures.
type Part<'a> = (&'a str, &'a [Phase], LoadArguments);

/// Every phase, each on a scratch store.
async fn tasks(
    location: &Location,
    durability: Durability,
    arguments: &LoadArguments,
    output: &mut Output,
) -> Done {
    let with_events = |events_per_delivery| LoadArguments {
        subscriptions: 1,
        events_per_delivery,
        ..*arguments
    };
    let filled: &[Phase] = &[Phase::Enqueue, Phase::Drain];
    let parts: [Part<'_>; 9] = [
        ("throughput", filled, *arguments),
        ("events", filled, with_events(None)),
        ("event_batches", filled, with_events(Some(EVENTS_PER_BATCH))),
        ("pull", &[Phase::Enqueue, Phase::Pull], *arguments),
        ("lateness", &[Phase::Late], *arguments),
        ("long_poll", &[Phase::LongPoll], *arguments),
        ("inbox", &[Phase::Inbox], *arguments),
        ("reschedule", &[Phase::Resched], *arguments),
        (
            "with_far",
            &[Phase::Far, Phase::Enqueue, Phase::Drain],
            *arguments,
        ),
    ];
    let has_inbox = matches!(location, Location::Postgres(_));
    let mut answers = serde_json::Map::new();
    for (name, phases, load) in parts {
        if phases.contains(&Phase::Inbox) && !has_inbox {
            continue;
        }
        on_scratch(location, async |at| {
            for phase in phases {
                output.note(&format!("{}\n", doing(*phase)));
                let answer = one_phase(at, durability, *phase, &load).await?;
                let key = format!("{name}_{phase:?}").to_lowercase();
                answers.insert(key, summarise(answer));
            }
            Ok(())
        })
        .await?;
    }
    for (key, above, below) in RATIOS {
        let rate = |key: &str| answers.get(key).and_then(|it| it["per_second"].as_f64());
        if let (Some(above), Some(below)) = (rate(above), rate(below)) {
            let ratio = json!({ "ratio": rounded(above / below, 2) });
            answers.insert(key.to_owned(), ratio);
        }
    }
    answers.insert("peak_rss_kb".to_owned(), json!(memory_kb("self", "VmHWM:")));
    show(&Value::Object(answers), output)
}

/// Many schedules on a scratch store.
async fn schedules(
    location: &Location,
    durability: Durability,
    load: &ScheduleLoadArguments,
    output: &mut Output,
) -> Done {
    output.note(&format!("writing {} schedules\n", load.count));
    let measured = on_scratch(location, async |at| {
        let store = almanack_store::open(at, durability).await?;
        bench::schedules(store, load).await.map_err(failed)
    });
    show_schedules(&measured.await?, output)
}

fn show_schedules(figures: &ScheduleFigures, output: &mut Output) -> Done {
    let busy = format!("{} fired in {} ms", figures.fired, figures.busy_ms);
    let named = [
        ("schedules", figures.schedules.to_string()),
        ("written in", format!("{} s", figures.filled_s)),
        ("a quiet second", spread(figures.quiet_ms)),
        ("a busy minute", busy),
        ("memory", megabytes(figures.memory.rss_kb)),
    ];
    report(figures, named, output)
}

/// A phase that needs a node with its API; none for the others.
async fn phase_on_node(
    phase: Phase,
    (location, durability, arguments): (&Location, Durability, &LoadArguments),
) -> Result<Option<Measured>> {
    let measured = match phase {
        Phase::Pull => pull::run(location, durability, arguments).await?,
        Phase::LongPoll => pull::long_poll(location, durability, arguments).await?,
        Phase::Inbox => pull::inbox(location, durability, arguments).await?,
        _ => return Ok(None),
    };
    Ok(Some(measured))
}

async fn one_phase(
    location: &Location,
    durability: Durability,
    phase: Phase,
    arguments: &LoadArguments,
) -> Result<Value> {
    let on_node = (location, durability, arguments);
    if let Some(measured) = Box::pin(phase_on_node(phase, on_node)).await? {
        return written(&measured);
    }
    let store: Arc<dyn Store> = almanack_store::open(location, durability).await?;
    let mut others = Vec::new();
    for _ in 1..arguments.nodes {
        others.push(almanack_store::open(location, durability).await?);
    }
    let bench = Bench::new(store, *arguments).await.map_err(failed)?;
    let bench = bench.beside(others);
    let measured: Measured = match phase {
        Phase::Setup | Phase::Pull | Phase::LongPoll | Phase::Inbox => return Ok(json!({})),
        Phase::Enqueue => bench::enqueue(&bench).await,
        Phase::Drain => {
            scratch::settle(location).await?;
            let due = scratch::due(location, SystemClock.now()).await?;
            bench::drain(&bench, usize::try_from(due).unwrap_or(usize::MAX)).await
        }
        Phase::Late => bench::lateness(&bench).await,
        Phase::Resched => bench::moves(&bench).await,
        Phase::Prune => bench::prune(&bench).await,
        Phase::Far => {
            let first = SystemClock.now().as_microsecond() + FAR_US;
            scratch::load_far(location, first, arguments.far).await?;
            return Ok(json!({"n": arguments.far}));
        }
    }
    .map_err(failed)?;
    written(&measured)
}

fn written(measured: &Measured) -> Result<Value> {
    serde_json::to_value(measured)
        .map_err(|error| Failure::failed(format!("write result: {error}")))
}

fn failed(error: bench::Error) -> Failure {
    match error {
        bench::Error::Store(error) => Failure::from(error).during("measure"),
        other => Failure::failed(format!("measure: {other}")),
    }
}

/// Adds a rate for durations, and percentiles for lateness.
fn summarise(mut answer: Value) -> Value {
    let n = answer["n"].as_f64();
    if let (Some(n), Some(seconds)) = (n, answer["seconds"].as_f64()) {
        answer["per_second"] = json!((n / seconds).round());
    }
    if let Some(late) = answer["late_ms"].as_array() {
        let mut late: Vec<f64> = late.iter().filter_map(Value::as_f64).collect();
        late.sort_by(f64::total_cmp);
        let at = |share: usize| percentile(&late, share);
        answer["late_ms"] = json!({"p50": at(50), "p95": at(95), "p99": at(99), "max": at(100)});
    }
    answer
}

/// The current step, for the user who waits.
fn doing(phase: Phase) -> &'static str {
    match phase {
        Phase::Setup => "creating the schema",
        Phase::Enqueue => "writing tasks",
        Phase::Drain => "running tasks",
        Phase::Pull => "handing tasks to workers",
        Phase::Late => "running tasks at distinct instants",
        Phase::LongPoll => "handing tasks at distinct instants to waiting workers",
        Phase::Inbox => "taking requests in from the inbox",
        Phase::Resched => "rescheduling waiting tasks",
        Phase::Far => "loading tasks that are not due",
        Phase::Prune => "deleting finished tasks",
    }
}

/// The results in order: where each is in the answers, and its name.
const FIGURES: [(&str, &str); 22] = [
    ("/throughput_enqueue", "tasks written"),
    ("/throughput_drain", "tasks run"),
    ("/throughput_drain/rss_kb", "  memory then"),
    ("/throughput_drain/own_kb", "  without pages of files"),
    ("/events_drain", "tasks run, with events"),
    ("/drain_to_events", "  times as long"),
    ("/events_drain/rss_kb", "  memory then"),
    ("/events_drain/own_kb", "  without pages of files"),
    ("/event_batches_drain", "tasks run, batched events"),
    ("/drain_to_event_batches", "  times as long"),
    ("/event_batches_drain/rss_kb", "  memory then"),
    ("/event_batches_drain/own_kb", "  without pages of files"),
    ("/pull_pull", "tasks pulled"),
    ("/pull_to_drain", "  of tasks run"),
    ("/lateness_late", "lateness at start"),
    ("/long_poll_longpoll", "lateness of long polls"),
    ("/inbox_inbox", "commit to receipt"),
    ("/reschedule_resched", "tasks rescheduled"),
    ("/with_far_far", "tasks not due"),
    ("/with_far_enqueue", "  tasks written"),
    ("/with_far_drain", "  tasks run"),
    ("/peak_rss_kb", "peak memory"),
];

fn show(answers: &Value, output: &mut Output) -> Done {
    let found = FIGURES
        .into_iter()
        .filter_map(|(place, name)| Some((name, figure(answers.pointer(place)?)?)));
    report(answers, found, output)
}

/// A result in words.
fn figure(answer: &Value) -> Option<String> {
    if let Some(rate) = answer["per_second"].as_f64() {
        return Some(format!("{rate} per second"));
    }
    if let Some(late) = answer["late_ms"].as_object() {
        let at = |name: &str| late.get(name).and_then(Value::as_f64).unwrap_or_default();
        return Some(format!(
            "p50 {} ms, p95 {} ms, p99 {} ms, max {} ms",
            at("p50"),
            at("p95"),
            at("p99"),
            at("max")
        ));
    }
    if let Some(ratio) = answer["ratio"].as_f64() {
        return Some(ratio.to_string());
    }
    let kilobytes = answer.as_u64();
    let loaded = answer["n"].as_u64().map(|n| n.to_string());
    loaded.or_else(|| kilobytes.map(|kb| megabytes(Some(kb))))
}
