//! Ninety days of schedules per seed, every slot accounted for (DP-05, DP-08, DP-16, DP-17).

use almanack_testkit::simulator::schedules::{
    ScheduleOptions, ScheduleSummary, simulate_schedules,
};

use super::{no_seed_breaks, open, seeds};

/// Fixed seeds that run unless the environment says otherwise.
const SEEDS: u64 = 200;

#[test]
fn dp_16_no_seed_loses_or_doubles_a_slot() {
    no_seed_breaks(&seeds(SEEDS), |seed| {
        simulate_schedules(seed, &ScheduleOptions::default(), open).map(drop)
    });
}

fn story(seed: u64) -> ScheduleSummary {
    let told = simulate_schedules(seed, &ScheduleOptions::default(), open);
    told.unwrap_or_else(|broken| panic!("{broken}"))
}

#[test]
fn one_seed_is_one_story() {
    for seed in 0..2 {
        assert_eq!(story(seed), story(seed), "seed {seed} was told in two ways");
    }
    assert_ne!(story(0), story(1));
}

/// A simulation in which nothing goes wrong proves nothing.
#[test]
fn the_seeds_meet_every_kind_of_trouble() {
    let mut log = Vec::new();
    let mut slots = 0;
    for seed in 0..20 {
        let told = story(seed);
        slots += told.slots;
        log.extend(told.log);
    }
    assert!(slots > 5_000, "only {slots} slots in 20 seeds");
    for trouble in [
        "crashes",
        "is frozen",
        "all nodes go away",
        "refused",
        "reply lost",
        "somebody else was faster",
        "gives way",
        " fired",
        " caught_up",
        " paused",
        " too_late",
        " not_caught_up",
        " over_cap",
        " overlap",
        " changed",
        "resumed by planner",
        "resumed by ada",
        "removed by ada",
        "is still running",
    ] {
        let met = log.iter().any(|line| line.contains(trouble));
        assert!(met, "20 seeds without a line like `{trouble}`");
    }
}
