//! What a seed decides once: how editions are made, and where they go.

use almanack_core::edition::{
    batch::estimate,
    delivery::{OnRevision, OnUnknown},
    port::Sensitivity,
    rules::Rules,
};
use almanack_engine::editions::Settings;
use almanack_testkit::edition_harness::Place;
use jiff::{SignedDuration, tz::TimeZone};

use super::super::dice::Dice;

/// Zones whose days are 23 to 25 hours long, one without its midnight on one day, and some that are
/// always the same.
const ZONES: [&str; 6] = [
    "UTC",
    "Asia/Shanghai",
    "America/New_York",
    "America/Santiago",
    "Australia/Lord_Howe",
    "Pacific/Apia",
];
/// How wrong clocks may be, by seed.
const SKEWS_MS: [i64; 3] = [0, 50, 2_000];

/// The decisions of one seed.
pub(super) struct Cast {
    pub(super) settings: Settings,
    pub(super) places: Vec<Place>,
    pub(super) skew: SignedDuration,
    /// How often people have a request, per thousand moments.
    pub(super) requests: u64,
    /// How often a call ends in death, per thousand.
    pub(super) deaths: u64,
}

impl Cast {
    pub(super) fn draw(dice: &Dice) -> Self {
        let zone =
            TimeZone::get(dice.pick::<&str>(&ZONES)).expect("a zone that every database has");
        Self {
            settings: Settings {
                rules: rules(dice),
                zone,
                title: "Daily".to_owned(),
                language: "zh-CN".to_owned(),
                filter: dice.hits(250).then_some(Sensitivity::Medium),
                ticks: None,
                node: "node".to_owned(),
            },
            places: places(dice),
            skew: SignedDuration::from_millis(*dice.pick(&SKEWS_MS)),
            requests: dice.below(150),
            deaths: dice.below(80),
        }
    }

    pub(super) fn place(&self, name: &str) -> Option<&Place> {
        self.places.iter().find(|place| place.name == name)
    }

    /// Ticks within which an edition is published when nothing goes wrong: its list, its batches,
    /// and its messages where they did not fit into the last of these.
    pub(super) fn ticks_needed(&self) -> usize {
        let rules = &self.settings.rules;
        let messages: u32 = self.places.iter().map(|place| place.parts).sum();
        let rounds = messages.div_ceil(rules.budget) as usize;
        1 + rules.stories.div_ceil(rules.batch_size) + rounds
    }
}

fn number(dice: &Dice, low: i64, high: i64) -> usize {
    usize::try_from(dice.between(low, high)).unwrap_or(1)
}

fn rules(dice: &Dice) -> Rules {
    let many = dice.hits(60);
    let stories = if many { 30 } else { number(dice, 2, 9) };
    let batch_size = number(dice, if many { 5 } else { 1 }, 9);
    // In one seed of three there is no room for anything that is tried twice.
    let least = estimate(batch_size);
    let budget = if dice.hits(330) { least } else { least.max(45) };
    Rules {
        stories,
        batch_size,
        budget,
        retries_by_itself: u32::try_from(dice.below(3)).unwrap_or(0),
        chain: dice.hits(200),
        ..Rules::default()
    }
}

/// One that can be looked at, one that cannot, and perhaps one that is anyhow.
fn places(dice: &Dice) -> Vec<Place> {
    let github = Place::named("github");
    let telegram = Place {
        parts: if dice.hits(500) { 2 } else { 1 },
        can_look: false,
        on_revision: OnRevision::Skip,
        on_unknown: unknown(dice),
        ..Place::named("telegram")
    };
    let other = Place {
        parts: if dice.hits(300) { 3 } else { 1 },
        can_look: dice.hits(300),
        on_unknown: unknown(dice),
        on_revision: if dice.hits(500) {
            OnRevision::Skip
        } else {
            OnRevision::Replace
        },
        ..Place::named("webhook")
    };
    match dice.below(4) {
        0 => vec![github],
        1 => vec![github, telegram, other],
        2 => vec![telegram, other],
        _ => vec![github, telegram],
    }
}

fn unknown(dice: &Dice) -> OnUnknown {
    if dice.hits(500) {
        OnUnknown::Repeat
    } else {
        OnUnknown::Skip
    }
}
