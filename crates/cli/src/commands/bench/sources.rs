//! `almanack bench sources`: on two scratch stores that are removed afterwards.

use almanack_store::{Location, scratch::Scratch};

use super::{failed, megabytes, report};
use crate::{
    args::SourceLoadArguments,
    bench::{self, PhaseFigures, Places, SourceFigures, StoreFigures},
    config::Settings,
    failure::{Done, Failure},
    output::Output,
    process::stop_signal,
    wiring,
};

pub(super) async fn run(
    location: &Location,
    settings: &Settings,
    arguments: &SourceLoadArguments,
    output: &mut Output,
) -> Done {
    let unique = wiring::entropy().next_u64();
    let large = Scratch::create(location, &format!("almanack_bench_{unique:x}")).await?;
    let small = Scratch::create(location, &format!("almanack_bench_{unique:x}_small")).await?;
    let places = Places {
        large: large.location(),
        small: small.location(),
        durability: settings.database.durability,
    };
    let stop = stop_signal()?;
    let report_step = |doing: &str| output.note(&format!("{doing}\n"));
    // Stopped in the middle, it leaves neither feeds nor stores behind.
    let measured = tokio::select! {
        measured = bench::sources(places, settings, arguments, report_step) => measured.map_err(failed),
        () = stop.cancelled() => Err(Failure::failed("measure: stopped")),
    };
    large.remove().await?;
    small.remove().await?;
    show(&measured?, output)
}

fn show(figures: &SourceFigures, output: &mut Output) -> Done {
    let stores = [&figures.small, &figures.large].into_iter().flat_map(named);
    let compared = &figures.compared;
    let of_both = [
        ("same number due at once", String::new()),
        ("  small store", phase(&compared.small)),
        ("  large store", phase(&compared.large)),
        ("  large to small", compared.cost_ratio.to_string()),
        ("nodes", figures.nodes.to_string()),
        ("memory", megabytes(figures.rss_kb)),
    ];
    report(figures, stores.chain(of_both), output)
}

fn named(store: &StoreFigures) -> [(&'static str, String); 5] {
    let growth = store.growth_bytes;
    let bytes = format!(
        "{:.0} per source added, {:.0} with its entries, {:.1} per later check",
        growth.added_source, growth.source, growth.check
    );
    let added = format!("{:.0} per second", store.added_per_second);
    [
        ("sources", store.sources.to_string()),
        ("  added", added),
        ("  first checks", phase(&store.first)),
        ("  later checks", phase(&store.later)),
        ("  bytes", bytes),
    ]
}

fn phase(figures: &PhaseFigures) -> String {
    format!(
        "{:.0} per second, {:.0} µs of CPU time each; {} checks, {} not modified, {} failed",
        figures.per_second, figures.processor_us, figures.checks, figures.unchanged, figures.failed
    )
}
