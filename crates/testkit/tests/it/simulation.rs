//! The simulator's seeds: those that run always, those that once found something, and fresh ones
//! with every commit.
//!
//! `ALMANACK_SIM_SEED=7` runs one seed, `ALMANACK_SIM_SEEDS=100000` that many fixed ones and a
//! tenth as many fresh ones, `ALMANACK_SIM_DEEP=1` (`dev/check deep`) three times as many as
//! otherwise.

mod editions;
mod limits;
mod operators;
mod pace;
mod pings;
mod schedules;
mod teeth;
mod workers;

use std::{
    collections::BTreeSet,
    process::Command,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

use almanack_core::store::Store;
use almanack_store::sqlite::SqliteStore;

use crate::simulator::{Broken, Options, Summary, simulate};

/// Fixed seeds of a deep run.
const SEEDS: u64 = 500;
/// One of so many runs otherwise.
const DEEP_PER_SHALLOW: u64 = 3;
/// One fresh seed for so many fixed ones.
const FIXED_PER_FRESH: u64 = 10;
const THREADS: usize = 2;
/// Seeds that once found something, kept beside the code.
const ONCE_BROKEN: &str = include_str!("../../seeds.txt");

fn open() -> Arc<dyn Store> {
    Arc::new(SqliteStore::in_memory().expect("memory is always there"))
}

#[expect(
    clippy::disallowed_methods,
    reason = "how a person asks a test for a seed; product code has a configuration"
)]
fn asked_for(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok()?;
    Some(text.parse().expect("a number of seeds or a seed"))
}

/// Those that once broke a promise of this simulation.
fn once_broken(simulation: &str) -> impl Iterator<Item = u64> {
    let lines = ONCE_BROKEN.lines().filter(|line| !line.starts_with('#'));
    let lines = lines.map(|line| line.split_once(' ').unwrap_or_default());
    let own = lines.filter(move |(_, found)| found.split(':').next() == Some(simulation));
    own.map(|(seed, _)| seed.parse().expect("a line of seeds.txt opens with a seed"))
}

/// Where this commit's fresh seeds begin: far from the fixed ones, and repeatable from the commit.
fn fresh_from() -> u64 {
    let head = Command::new("git").args(["rev-parse", "HEAD"]).output();
    let head = head.map_or_else(|_| Vec::new(), |output| output.stdout);
    let digits = String::from_utf8_lossy(&head);
    let digits = digits.get(..12).unwrap_or("1000000");
    u64::from_str_radix(digits, 16).expect("a commit is named in hexadecimal")
}

/// Every seed once: a simulated year costs seconds.
fn seeds(simulation: &str, fixed: u64) -> Vec<u64> {
    if let Some(seed) = asked_for("ALMANACK_SIM_SEED") {
        return vec![seed];
    }
    let is_deep = asked_for("ALMANACK_SIM_DEEP").is_some();
    let fixed = asked_for("ALMANACK_SIM_SEEDS").unwrap_or(if is_deep {
        fixed
    } else {
        fixed / DEEP_PER_SHALLOW
    });
    let fresh = fresh_from();
    let fresh = fresh..fresh + fixed / FIXED_PER_FRESH;
    let all: BTreeSet<u64> = once_broken(simulation)
        .chain(0..fixed)
        .chain(fresh)
        .collect();
    all.into_iter().collect()
}

/// What a seed's story says, line by line.
type Story = Result<Vec<String>, Broken>;

/// Runs seeds on a few threads, in order, until one breaks a promise; the troubles none of them
/// met.
fn run(
    seeds: &[u64],
    troubles: &[&'static str],
    story: impl Fn(u64) -> Story + Sync,
) -> Result<BTreeSet<&'static str>, Broken> {
    let next = AtomicUsize::new(0);
    let missed = Mutex::new(Ok(troubles.iter().copied().collect::<BTreeSet<_>>()));
    let work = || {
        while let Some(seed) = seeds.get(next.fetch_add(1, Ordering::Relaxed)) {
            let result = story(*seed);
            let mut missed = missed.lock().unwrap_or_else(PoisonError::into_inner);
            match (result, missed.as_mut()) {
                (Ok(log), Ok(missed)) => {
                    missed.retain(|trouble| !log.iter().any(|line| line.contains(trouble)));
                }
                (Err(broken), Ok(_)) => {
                    next.store(seeds.len(), Ordering::Relaxed);
                    *missed = Err(broken);
                }
                (_, Err(_)) => {}
            }
        }
    };
    thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(work);
        }
    });
    missed.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// What goes wrong, by a piece of the line that says so.
const TROUBLES: [&str; 17] = [
    "crashes",
    "is frozen",
    "is asked to stop",
    "is cut off",
    "refused",
    "reply lost",
    "hears nothing",
    "decides again",
    "cancelled_and_inserted",
    "reinserted",
    "ignored_stale",
    "ignored_done",
    "lease_expired Applied",
    "handed_back",
    "done Late",
    "answers panic",
    "attempt 4",
];

#[test]
fn no_seed_breaks_a_promise() {
    no_seed_breaks(&seeds("tasks", SEEDS), &TROUBLES, |seed| {
        simulate(seed, &Options::default(), open).map(|story| story.log)
    });
}

/// A simulation in which nothing goes wrong proves nothing, so all seeds together must meet every
/// trouble.
#[track_caller]
#[expect(clippy::panic, reason = "a broken promise fails its test")]
fn no_seed_breaks(seeds: &[u64], troubles: &[&'static str], story: impl Fn(u64) -> Story + Sync) {
    match (run(seeds, troubles, story), seeds) {
        // A run of a single seed shows everything about it.
        (Err(broken), [_]) => panic!("{broken:#}"),
        (Err(broken), _) => panic!("{broken}"),
        (Ok(_), [_]) => {}
        (Ok(missed), _) => assert!(missed.is_empty(), "no seed has a line like {missed:?}"),
    }
}

#[test]
fn one_seed_is_one_story() {
    let story = |seed| -> Summary {
        simulate(seed, &Options::default(), open).unwrap_or_else(|broken| panic!("{broken}"))
    };
    for seed in 0..5 {
        assert_eq!(story(seed), story(seed), "seed {seed} ran in two ways");
    }
    assert_ne!(story(0), story(1));
}
