//! `almanack bench readers`: on a scratch store that is removed afterwards.

use std::{collections::BTreeMap, path::PathBuf};

use almanack_adapters::clock::SystemClock;
use almanack_core::time::Clock as _;
use almanack_lab::hooks;
use almanack_store::{Location, scratch, sqlite::Durability};
use tokio_util::sync::CancellationToken;

use super::{FAR_US, failed, on_scratch, report, spread};
use crate::{
    args::ReaderLoadArguments,
    bench::{self, READERS_KIND, ReaderFigures},
    commands::checked,
    config::{self, Inputs, Need},
    failure::{Done, Failure, Result},
    output::Output,
    process,
    wiring::Time,
};

/// The node reads no configuration file.
const NO_FILE: &str = "/dev/null";

pub(super) async fn run(
    location: &Location,
    durability: Durability,
    arguments: &ReaderLoadArguments,
    output: &mut Output,
) -> Done {
    let measured = on_scratch(location, async |at| {
        Box::pin(measure(at, durability, arguments, output)).await
    });
    show(arguments.tasks, &measured.await?, output)
}

async fn measure(
    location: &Location,
    durability: Durability,
    arguments: &ReaderLoadArguments,
    output: &mut Output,
) -> Result<ReaderFigures> {
    output.note(&format!("writing {} tasks\n", arguments.tasks));
    drop(almanack_store::open(location, durability).await?);
    let first = SystemClock.now().as_microsecond() + FAR_US;
    scratch::load_far(location, first, arguments.tasks).await?;
    // It accepts every call, and runs until the node has stopped.
    let service_stop = CancellationToken::new();
    let _stops = service_stop.clone().drop_guard();
    let here = hooks::Config::new(([127, 0, 0, 1], 0).into());
    let service = hooks::start(here, service_stop).await;
    let service = service.map_err(|error| Failure::caused("measure", &error))?;
    let called = format!("kinds.{READERS_KIND}.url");
    let inputs = node_inputs(location, durability, (&called, &service.hook_url("due")));
    let settings = checked(config::load(&inputs, Need::Everything))?;
    let process = process::start(&settings, &inputs, &Time::Machine, None).await?;
    let (store, address) = (process.store(), process.address);
    let stop = CancellationToken::new();
    let node = tokio::spawn(process.run(stop.clone()));
    output.note(&format!("aborting {} list requests\n", arguments.lists));
    let measured = bench::readers(&store, address, &service.handle, arguments).await;
    stop.cancel();
    node.await.map_err(Failure::failed)??;
    measured.map_err(failed)
}

/// The configuration of a node on the scratch store, with one more key.
pub(super) fn node_inputs(
    location: &Location,
    durability: Durability,
    further: (&str, &str),
) -> Inputs {
    let url = match location {
        Location::Sqlite(path) => format!("sqlite:{}", path.display()),
        Location::Postgres(url) => url.clone(),
    };
    let durability = match durability {
        Durability::Full => "full",
        Durability::Normal => "normal",
    };
    let flags = [
        ("database.url", url.as_str()),
        ("database.durability", durability),
        ("server.listen", "127.0.0.1:0"),
        further,
    ];
    let flags = flags.map(|(key, value)| ("bench".to_owned(), key.to_owned(), value.to_owned()));
    Inputs {
        environment: BTreeMap::new(),
        file: Some(PathBuf::from(NO_FILE)),
        flags: flags.into(),
    }
}

fn show(tasks: i64, figures: &ReaderFigures, output: &mut Output) -> Done {
    let abandoned = format!("{} in {:.1} s", figures.abandoned, figures.abandoned_s);
    let due = format!(
        "{}, of which {} done after {} calls",
        figures.due, figures.done, figures.calls
    );
    let changes = format!("{}, of which {} refused", figures.changes, figures.refused);
    let named = [
        ("tasks in the store", tasks.to_string()),
        ("lists aborted", abandoned),
        ("tasks due meanwhile", due),
        ("lateness at start", spread(figures.late_ms)),
        ("changes meanwhile", changes),
        ("time per change", spread(figures.change_ms)),
        ("leases lost", figures.leases_lost.to_string()),
    ];
    report(figures, named, output)
}
