//! A year of editions per seed, every one of them accounted for (ED-08, ED-12…ED-16, ED-20, ED-32).

mod teeth;

use super::{no_seed_breaks, open, seeds};
use crate::simulator::editions::{EditionOptions, EditionSummary, simulate_editions};

/// Fixed seeds of a deep run, each a year.
const SEEDS: u64 = 9;

#[test]
fn ed_12_no_seed_loses_or_doubles_an_edition() {
    // What goes wrong in a year is looked for below, in more seeds of fewer days.
    no_seed_breaks(&seeds("editions", SEEDS), &[], |seed| {
        simulate_editions(seed, &EditionOptions::default(), open).map(|story| story.log)
    });
}

/// Whatever is approved, rejected, corrected, taken back or left unanswered while nodes die: nothing
/// leaves that nobody let out, and what is let out arrives once.
#[test]
fn ed_42_no_seed_lets_out_what_nobody_approved() {
    let options = EditionOptions {
        approving: true,
        days: 40,
        ..EditionOptions::default()
    };
    no_seed_breaks(&seeds("editions", 36), &[], |seed| {
        simulate_editions(seed, &options, open).map(|story| story.log)
    });
}

fn story(seed: u64, days: u32) -> EditionSummary {
    let options = EditionOptions {
        days,
        ..EditionOptions::default()
    };
    let result = simulate_editions(seed, &options, open);
    result.unwrap_or_else(|broken| panic!("{broken}"))
}

#[test]
fn one_seed_is_one_story() {
    for seed in 0..3 {
        let (once, again) = (story(seed, 30), story(seed, 30));
        assert_eq!(once, again, "seed {seed} ran in two ways");
    }
    assert_ne!(story(0, 30), story(1, 30));
}

/// What goes wrong, by a piece of the line that reports it.
const TROUBLES: [&str; 45] = [
    "dies at Tick",
    "dies at Run",
    "dies at Step",
    "is away for",
    "no node is running",
    "github is down",
    "writer is down",
    "notifier is down",
    "refused",
    "reply lost",
    "s back",
    "another node was faster",
    "recover",
    "put_back",
    "process+process",
    "init -> archived",
    "aggregating -> archived",
    "processing -> empty",
    "empty -> archived",
    "archived -> list_fetched",
    "archived -> aggregating",
    "published -> list_fetched",
    "published -> aggregating",
    "are sent again",
    "are skipped",
    "forced, it is published",
    "ran until published",
    "stories put back",
    "nothing to publish",
    "PrunedStories",
    "wave",
    "improve",
    "judge",
    "no page and no model answers",
    "approved: true",
    "rejected: true",
    "is revision",
    "retracted by revision",
    "restored as revision",
    "nobody answered: it is let out",
    "nobody answered: it is dropped",
    "a cap refuses a request this day",
    "a cap refuses a request this month",
    "a text is shared",
    "leaves out what was published lately",
];

/// A simulation in which nothing goes wrong proves nothing: seeds are run until they have met all of it.
#[test]
fn the_seeds_meet_every_kind_of_trouble() {
    let mut unmet = TROUBLES.to_vec();
    let (mut published, mut alerted, mut messages) = (0, 0, 0);
    for seed in 0..30 {
        let result = story(seed, 60);
        published += result.published;
        alerted += result.alerted;
        messages += result.messages;
        unmet.retain(|trouble| !result.log.iter().any(|line| line.contains(trouble)));
        if unmet.is_empty() && published > 500 && alerted > 10 {
            break;
        }
    }
    assert_eq!(unmet, [""; 0], "30 seeds without lines like these");
    assert!(published > 500, "only {published} editions in 30 seeds");
    assert!(alerted > 10, "only {alerted} of them were not published");
    assert!(messages > published, "only {messages} messages");
}
