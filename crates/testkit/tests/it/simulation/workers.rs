//! Workers that pull, under everything that goes wrong (WK-01), and the teeth of that.

use almanack_core::store::{ClaimId, Result, Store};
use almanack_testkit::{
    fixture::{PUBLISH, kind},
    layer::{Layer, Layered},
};
use async_trait::async_trait;
use jiff::Timestamp;

use super::{SEEDS, no_seed_breaks, open, seeds};
use crate::simulator::{Options, simulate};

/// Seeds within which every missing safeguard must be noticed.
const NOTICED_WITHIN: u64 = 60;

/// What goes wrong with workers, by a piece of the line that says so.
const TROUBLES: [&str; 7] = [
    "dies with task",
    "freezes with task",
    "goes away while it waits",
    "lost a lease",
    "reported handed_back: applied",
    "reported done: late",
    "crashes",
];

/// Nodes run two kinds, workers take the third.
fn house() -> Options {
    Options {
        workers: 4,
        pulled: [kind(PUBLISH)].into(),
        ..Options::default()
    }
}

/// Nothing is lost, nothing is ended twice or by an old term, no two work at the same task while
/// both are awake, and everything comes to its end.
#[test]
fn wk_01_no_seed_loses_or_doubles_pulled_work() {
    no_seed_breaks(&seeds("workers", SEEDS / 5), &TROUBLES, |seed| {
        simulate(seed, &house(), open).map(|story| story.log)
    });
}

/// Says that leases were extended, and extends none.
struct ExtendsNothing;

#[async_trait]
impl Layer for ExtendsNothing {
    async fn extend_claims(
        &self,
        _: &dyn Store,
        claims: &[ClaimId],
        _: Timestamp,
        _: Timestamp,
    ) -> Result<Vec<ClaimId>> {
        Ok(claims.to_vec())
    }
}

#[test]
fn leases_that_are_not_extended_are_noticed() {
    let sabotaged = || Layered::over(open(), ExtendsNothing);
    let found = (0..NOTICED_WITHIN).find_map(|seed| simulate(seed, &house(), sabotaged).err());
    let broken = found.expect("a seed must notice");
    assert!(broken.what.contains("term"), "{broken}");
}
