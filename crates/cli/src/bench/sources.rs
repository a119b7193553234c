//! What many sources cost: adding them, the first look at each, and looks that bring nothing new.
//!
//! The feeds are served by a process of their own, so that neither their processor time nor their memory counts
//! as ours. Two stores are filled, a small one and a large one, and looked after in turns: what a
//! check costs in the large one compared with the small one says more than any figure of one machine.
//!
//! Everything is real but two things: sources come due again after a second, and publishers' wishes
//! for longer pauses are not heard.

mod field;
mod meter;
mod outside;

use std::time::Duration;

use almanack_adapters::clock::{Stopwatch, pause};
use almanack_core::{lane::Pace, source::policy::Policy};
use almanack_store::{Location, sqlite::Durability};
use jiff::SignedDuration;
use serde::Serialize;

use super::{Error, rss_kb};
use crate::config::Settings;
use field::Field;
use meter::{Brought, Span};
use outside::Outside;

/// Turns of the small and the large store. More than one, because other work on the machine comes and goes.
const TURNS: u32 = 3;
/// After a node was started, before its checks are counted.
const WARM_UP: Duration = Duration::from_secs(1);
/// Between two looks at how far the first checks are.
const GLANCE: Duration = Duration::from_millis(20);
/// The shortest interval there is.
const INTERVAL: SignedDuration = SignedDuration::from_secs(1);

/// How much of everything.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SourceLoad {
    /// Sources in the large store.
    pub(crate) sources: usize,
    /// Sources in the small one.
    pub(crate) beside: usize,
    /// Nodes that look.
    pub(crate) nodes: usize,
    /// Seconds to look for, in each store.
    pub(crate) seconds: u64,
}

/// What it came to.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct SourceFigures {
    /// Nodes that looked.
    pub(crate) nodes: usize,
    /// The large store.
    pub(crate) large: StoreFigures,
    /// The small one.
    pub(crate) small: StoreFigures,
    /// Processor time of a check in the large store, as a multiple of that in the small one: the middle one of
    /// the turns.
    pub(crate) cost_ratio: f64,
    /// The most memory that was resident after a turn of the large store.
    pub(crate) rss_kb: Option<u64>,
}

/// What one store's sources cost.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct StoreFigures {
    /// How many there are.
    pub(crate) sources: usize,
    /// Sources added per second, with their tasks.
    pub(crate) added_per_second: f64,
    /// The first look at each: a document, and all its entries are new.
    pub(crate) first: PhaseFigures,
    /// Later looks, most of which find nothing changed.
    pub(crate) steady: PhaseFigures,
    /// What the database grew by.
    pub(crate) growth: Growth,
}

/// What checks cost.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct PhaseFigures {
    /// Checks made.
    pub(crate) checks: u64,
    /// Of these, answered "not modified".
    pub(crate) unchanged: u64,
    /// Of these, failed.
    pub(crate) failed: u64,
    /// Checks per second, over all nodes.
    pub(crate) per_second: f64,
    /// Processor time per check, of this process.
    pub(crate) processor_us: f64,
}

/// Bytes of the database.
#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct Growth {
    /// Per source that was added.
    pub(crate) bytes_per_source_added: f64,
    /// Per source, after its first look: with its entries.
    pub(crate) bytes_per_source: f64,
    /// Per later look.
    pub(crate) bytes_per_check: f64,
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

/// Fills both stores and measures; `tell` hears what is being done.
pub(crate) async fn sources(
    places: Places,
    settings: &Settings,
    load: SourceLoad,
    mut tell: impl FnMut(&str),
) -> Result<SourceFigures, Error> {
    let settings = hurried(settings);
    let outside = Outside::start(load.sources.max(load.beside)).await?;
    let mut small = Field::open(places.small, places.durability, &settings, load.nodes).await?;
    let mut large = Field::open(places.large, places.durability, &settings, load.nodes).await?;
    let mut results = Vec::new();
    for (field, count) in [(&mut small, load.beside), (&mut large, load.sources)] {
        tell(&format!("adding {count} sources"));
        results.push(begin(field, &outside, count, &mut tell).await?);
    }
    tell("looking at them again");
    let turn = Duration::from_secs(load.seconds) / TURNS;
    let mut ratios = Vec::new();
    let mut rss = None;
    for _ in 0..TURNS {
        let mut costs = [0.0; 2];
        for (place, field) in [&mut small, &mut large].into_iter().enumerate() {
            let span = look(field, turn).await?;
            if let (Some(cost), Some(result)) = (costs.get_mut(place), results.get_mut(place)) {
                *cost = span.processor_us();
                result.steady.push(span);
            }
        }
        rss = rss.max(rss_kb());
        ratios.push(costs[1] / costs[0].max(f64::MIN_POSITIVE));
    }
    let mut figures = Vec::new();
    for (field, result) in [&small, &large].into_iter().zip(results) {
        figures.push(result.figures(field.bytes().await?));
    }
    let (Some(large), Some(small)) = (figures.pop(), figures.pop()) else {
        return Err(Error::Wrong("a store was not measured".to_owned()));
    };
    Ok(SourceFigures {
        nodes: load.nodes,
        large,
        small,
        cost_ratio: rounded(middle(ratios)),
        rss_kb: rss,
    })
}

/// The same settings for sources on loopback that are looked at as often as can be.
fn hurried(settings: &Settings) -> Settings {
    let mut settings = settings.clone();
    settings.sources.allow = outside::networks();
    settings.sources.policy = Policy::Fixed(INTERVAL);
    settings.sources.floor = INTERVAL;
    settings.sources.pace = Pace {
        at_once: 100,
        requests: 10_000,
        per: INTERVAL,
    };
    settings
}

/// What was measured of a store so far.
struct Begun {
    sources: usize,
    added_s: f64,
    bytes: [u64; 3],
    first: Span,
    steady: Vec<Span>,
}

/// Adds sources and looks at each of them once.
async fn begin(
    field: &mut Field,
    outside: &Outside,
    count: usize,
    tell: &mut impl FnMut(&str),
) -> Result<Begun, Error> {
    let empty = field.bytes().await?;
    let watch = Stopwatch::start();
    field.add(outside.feeds(count)).await?;
    let added_s = watch.seconds();
    let added = field.bytes().await?;
    tell(&format!("looking at {count} sources for the first time"));
    let meter = field.start().await?;
    let start = meter.mark();
    while start.until(&meter.mark()).brought.checks < count as u64 {
        pause(GLANCE).await;
    }
    let first = start.until(&meter.mark());
    field.stop().await?;
    Ok(Begun {
        sources: count,
        added_s,
        bytes: [empty, added, field.bytes().await?],
        first,
        steady: Vec::new(),
    })
}

/// Looks at sources for a while.
async fn look(field: &mut Field, period: Duration) -> Result<Span, Error> {
    let meter = field.start().await?;
    pause(WARM_UP).await;
    let start = meter.mark();
    pause(period).await;
    let span = start.until(&meter.mark());
    field.stop().await?;
    Ok(span)
}

impl Begun {
    fn figures(self, bytes_now: u64) -> StoreFigures {
        let [empty, added, first] = self.bytes;
        let steady = Span::sum(&self.steady);
        #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
        let per = |bytes: u64, count: u64| rounded(bytes as f64 / count.max(1) as f64);
        let sources = self.sources as u64;
        #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
        let added_per_second = rounded(self.sources as f64 / self.added_s);
        StoreFigures {
            sources: self.sources,
            added_per_second,
            growth: Growth {
                bytes_per_source_added: per(added.saturating_sub(empty), sources),
                bytes_per_source: per(first.saturating_sub(empty), sources),
                bytes_per_check: per(bytes_now.saturating_sub(first), steady.brought.checks),
            },
            first: phase(&self.first),
            steady: phase(&steady),
        }
    }
}

fn phase(span: &Span) -> PhaseFigures {
    let Brought {
        checks,
        unchanged,
        failed,
    } = span.brought;
    PhaseFigures {
        checks,
        unchanged,
        failed,
        per_second: rounded(span.per_second()),
        processor_us: rounded(span.processor_us()),
    }
}

fn middle(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers.get(numbers.len() / 2).copied().unwrap_or_default()
}

fn rounded(number: f64) -> f64 {
    (number * 1_000.0).round() / 1_000.0
}
