//! A year of editions per seed, every one of them accounted for (ED-08, ED-12…ED-16, ED-20, ED-32).

use almanack_testkit::simulator::editions::{EditionOptions, simulate_editions};

use super::{no_seed_breaks, open, seeds};

/// Fixed seeds that run unless the environment says otherwise.
const SEEDS: u64 = 30;

#[test]
fn ed_12_no_seed_loses_or_doubles_an_edition() {
    no_seed_breaks(&seeds(SEEDS), |seed| {
        simulate_editions(seed, &EditionOptions::default(), open).map(drop)
    });
}
