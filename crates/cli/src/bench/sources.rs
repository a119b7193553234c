//! Measures what many sources cost: adding them, the first check of each, and checks without new
//! entries.
//!
//! A separate process serves the feeds, so that neither their CPU time nor their memory is counted.
//! Two stores are filled, a small one and a large one, and measured alternately: the cost of a
//! check in the large one relative to the small one says more than any absolute figure of one
//! machine.
//!
//! Everything is real except two things: sources become due again after a second, and publishers'
//! requests for longer pauses are ignored.

mod field;
mod meter;
mod outside;

use std::time::Duration;

use almanack_adapters::clock::{Stopwatch, SystemClock, pause};
use almanack_core::{host_pace::Pace, source::policy::Policy, time::Clock};
use almanack_lab::figures;
use almanack_store::{Location, sqlite::Durability};
use jiff::{SignedDuration, Timestamp};
use serde::Serialize;

use super::{Error, Memory, Result};
use crate::{
    args::SourceLoadArguments,
    config::{Settings, settings::Rate},
};
use field::Field;
use meter::{Meter, Span};
use outside::Outside;

/// Minimum rounds per store. More than one, because other load on the machine varies.
const TURNS_MIN: usize = 3;
/// Warm-up of a node before its checks are counted.
const WARM_UP: Duration = Duration::from_secs(1);
/// Interval between two checks of the progress of first checks.
const GLANCE: Duration = Duration::from_millis(20);
/// Beyond the end of every measurement.
const FAR: SignedDuration = SignedDuration::from_hours(10);
/// One check in this many may fail: the machine is busy.
const FAILED_SHARE: u64 = 100;
/// The shortest interval there is.
const INTERVAL: SignedDuration = SignedDuration::from_secs(1);

/// The results.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct SourceFigures {
    pub(crate) nodes: usize,
    pub(crate) large: StoreFigures,
    pub(crate) small: StoreFigures,
    /// Both with the same work.
    pub(crate) compared: Compared,
    /// The highest resident memory while the large store was measured.
    pub(crate) rss_kb: Option<u64>,
}

/// Cost of checks in both stores with the same number of sources due at once.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Compared {
    /// In the large store.
    pub(crate) large: PhaseFigures,
    /// In the small one.
    pub(crate) small: PhaseFigures,
    /// CPU time of a check in the large store, as a multiple of that in the small one: the median
    /// of the rounds.
    pub(crate) cost_ratio: f64,
}

/// What one store's sources cost.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct StoreFigures {
    /// How many there are.
    pub(crate) sources: usize,
    /// Sources added per second, with their tasks.
    pub(crate) added_per_second: f64,
    /// The first check of each: a document, and all its entries are new.
    pub(crate) first: PhaseFigures,
    /// Later checks, as many as possible; most find nothing changed. A source is checked once a
    /// second at most, which limits the figure of a small store.
    pub(crate) later: PhaseFigures,
    /// What the database grew by.
    pub(crate) growth_bytes: Growth,
}

#[derive(Debug, Clone, Serialize)]
pub(crate) struct PhaseFigures {
    pub(crate) checks: u64,
    /// Of these, answered "not modified".
    pub(crate) unchanged: u64,
    pub(crate) failed: u64,
    /// Checks per second, over all nodes.
    pub(crate) per_second: f64,
    /// CPU time per check, of this process.
    pub(crate) processor_us: f64,
}

/// Bytes of the database, each.
#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct Growth {
    /// A source that was added, with its task.
    pub(crate) added_source: f64,
    /// A source after its first check, with its entries.
    pub(crate) source: f64,
    pub(crate) check: f64,
}

/// Where to measure: two empty stores.
pub(crate) struct Places {
    /// For the large one.
    pub(crate) large: Location,
    /// For the small one.
    pub(crate) small: Location,
    /// What a commit survives.
    pub(crate) durability: Durability,
}

/// Fills both stores and measures; calls `report` with the current step.
pub(crate) async fn sources(
    places: Places,
    settings: &Settings,
    load: &SourceLoadArguments,
    report: impl FnMut(&str),
) -> Result<SourceFigures> {
    let mut outside = Outside::start(load.sources.max(load.beside)).await?;
    let measured = measure(places, &hurried(settings), load, &outside, report).await;
    measured.map_err(|error| outside.explain(error))
}

async fn measure(
    places: Places,
    settings: &Settings,
    load: &SourceLoadArguments,
    outside: &Outside,
    mut report: impl FnMut(&str),
) -> Result<SourceFigures> {
    let mut small = Field::open(places.small, places.durability, settings, load.nodes).await?;
    let mut large = Field::open(places.large, places.durability, settings, load.nodes).await?;
    let period = Duration::from_secs(load.seconds as u64);
    let mut fill = async |field: &mut Field, count: usize| {
        report(&format!("adding {count} sources and checking them"));
        fill(field, outside, count, period).await
    };
    let small_figures = fill(&mut small, load.beside).await?;
    let large_figures = fill(&mut large, load.sources).await?;
    let rss = Memory::now().rss_kb;
    report("checking the same number in each");
    Ok(SourceFigures {
        nodes: load.nodes,
        large: large_figures,
        small: small_figures,
        compared: compare(&mut small, &mut large, period).await?,
        rss_kb: rss.max(Memory::now().rss_kb),
    })
}

/// Has the same number of sources due at once in both, alternately. The cost of a check depends on
/// how many share a commit; with the same work in both, only the number of sources differs.
async fn compare(small: &mut Field, large: &mut Field, period: Duration) -> Result<Compared> {
    for field in [&mut *small, &mut *large] {
        field.come_again_after(FAR);
        field.put(field.len(), from_now(FAR)).await?;
    }
    let count = small.len().min(large.len());
    let mut ratios = Vec::new();
    let (mut in_small, mut in_large) = (Span::default(), Span::default());
    let watch = Stopwatch::start();
    while ratios.len() < TURNS_MIN || watch.seconds() < period.as_secs_f64() {
        small.put(count, SystemClock.now()).await?;
        let one = look_at_each(small, count).await?;
        large.put(count, SystemClock.now()).await?;
        let other = look_at_each(large, count).await?;
        ratios.push(other.processor_us() / one.processor_us().max(f64::MIN_POSITIVE));
        in_small = in_small + one;
        in_large = in_large + other;
    }
    Ok(Compared {
        large: phase(&in_large),
        small: phase(&in_small),
        cost_ratio: figures::half_most_all(ratios, 3)[0],
    })
}

fn from_now(wait: SignedDuration) -> Timestamp {
    let now = SystemClock.now();
    now.saturating_add(wait).unwrap_or(now)
}

/// The same settings, for sources on loopback that are checked as often as possible.
fn hurried(settings: &Settings) -> Settings {
    let mut settings = settings.clone();
    settings.sources.allow = outside::networks();
    settings.sources.policy = Policy::Fixed(INTERVAL);
    settings.sources.floor = INTERVAL;
    settings.sources.host_concurrency = 100;
    settings.sources.host_pace = Rate(Pace {
        at_once: 100,
        requests: 10_000,
        per: INTERVAL,
    });
    settings
}

/// Adds sources, checks each of them once, and then as many as possible for a while.
async fn fill(
    field: &mut Field,
    outside: &Outside,
    count: usize,
    period: Duration,
) -> Result<StoreFigures> {
    let empty = field.bytes().await?;
    let watch = Stopwatch::start();
    field.add(outside.feeds(count)).await?;
    let added_s = watch.seconds();
    let added = field.bytes().await?;
    let first = look_at_each(field, count).await?;
    let looked_at = field.bytes().await?;
    let later = look(field, async |meter| {
        pause(WARM_UP).await;
        meter.restart();
        pause(period).await;
    });
    let later = later.await?;
    let after = field.bytes().await?;
    #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
    let real = |count: u64| count as f64;
    let per = |bytes: u64, count: u64| rounded(real(bytes) / real(count.max(1)));
    let sources = count as u64;
    Ok(StoreFigures {
        sources: count,
        added_per_second: rounded(real(sources) / added_s),
        growth_bytes: Growth {
            added_source: per(added.saturating_sub(empty), sources),
            source: per(looked_at.saturating_sub(empty), sources),
            check: per(after.saturating_sub(looked_at), later.checks),
        },
        first: phase(&first),
        later: phase(&later),
    })
}

/// Checks until there are as many checks as sources: those never checked are the most overdue.
async fn look_at_each(field: &mut Field, count: usize) -> Result<Span> {
    let all = async |meter: &Meter| {
        while meter.span().checks < count as u64 {
            pause(GLANCE).await;
        }
    };
    look(field, all).await
}

/// Checks sources until `enough` returns. Refuses figures with too many failed checks: they would
/// look fast and mean nothing.
async fn look(field: &mut Field, enough: impl AsyncFnOnce(&Meter)) -> Result<Span> {
    let meter = field.meter();
    // The first node checks while the others start.
    meter.restart();
    field.start().await?;
    enough(&meter).await;
    let span = meter.span();
    field.stop().await?;
    let Span { checks, failed, .. } = span;
    if failed <= checks / FAILED_SHARE {
        return Ok(span);
    }
    let last = meter.last_failure();
    let what = format!("{failed} of {checks} checks failed, the last one: {last}");
    Err(Error::Wrong(what))
}

fn phase(span: &Span) -> PhaseFigures {
    PhaseFigures {
        checks: span.checks,
        unchanged: span.unchanged,
        failed: span.failed,
        per_second: rounded(span.per_second()),
        processor_us: rounded(span.processor_us()),
    }
}

fn rounded(number: f64) -> f64 {
    figures::rounded(number, 3)
}
