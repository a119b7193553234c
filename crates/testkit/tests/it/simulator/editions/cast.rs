//! What a seed decides once: how editions are made, and where they go.

use almanack_core::edition::{
    EditionName,
    allowance::Caps,
    batch::estimate,
    delivery::{OnRevision, OnUnknown},
    hold::{Approval, Deadline, OnSilence},
    port::Sensitivity,
    quality::Quality,
    rules::Rules,
};
use almanack_engine::editions::Settings;
use almanack_testkit::edition_harness::Place;
use jiff::{SignedDuration, civil::Time, tz::TimeZone};

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
/// When readers expect editions, where they do.
const READY_BY: Time = Time::constant(12, 0, 0, 0);
/// Days within which a story is not repeated, by seed.
const REPEAT_AFTER: [u32; 4] = [0, 1, 2, 3];
/// How wrong clocks may be, by seed.
const SKEWS_MS: [i64; 3] = [0, 50, 2_000];

/// The decisions of one seed.
pub(super) struct Cast {
    /// The editions that are made side by side.
    pub(super) names: Vec<EditionName>,
    pub(super) settings: Settings,
    pub(super) places: Vec<Place>,
    pub(super) skew: SignedDuration,
    /// How often people have a request, per thousand moments.
    pub(super) requests: u64,
    /// How often people correct an edition or take it back, per thousand moments.
    pub(super) corrections: u64,
    /// How often a call ends in death, per thousand.
    pub(super) deaths: u64,
}

impl Cast {
    /// What the desk decides, what deadlines and quality there are, and what models may cost come
    /// from dice of their own, so that seeds that need none of it run as they always did.
    pub(super) fn draw(
        (seed, dice): (u64, &Dice),
        (desk, standards, costs): (&Dice, &Dice, &Dice),
        approving: bool,
    ) -> Self {
        let zone =
            TimeZone::get(dice.pick::<&str>(&ZONES)).expect("a zone that every database has");
        Self {
            settings: Settings {
                name: EditionName::default(),
                rules: Rules {
                    approval: approval(desk, if approving { 1_000 } else { 330 }),
                    quality: quality(standards),
                    repeat_after_days: *costs.pick(&REPEAT_AFTER),
                    ..rules(dice)
                },
                zone,
                title: "Daily".to_owned(),
                language: "zh-CN".to_owned(),
                caps: caps(costs),
                filter: dice.hits(250).then_some(Sensitivity::Medium),
                ready_by: standards.hits(400).then_some(READY_BY),
                ticks: None,
                node: "node".to_owned(),
            },
            names: names(seed),
            places: places(dice),
            skew: SignedDuration::from_millis(*dice.pick(&SKEWS_MS)),
            corrections: if desk.hits(500) { 0 } else { desk.below(80) },
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
        // Destinations are asked whether they are ready out of the same budget.
        let asked = if rules.quality.destinations {
            self.places.len()
        } else {
            0
        };
        let asked = u32::try_from(asked).unwrap_or(u32::MAX);
        let rounds = (messages + asked).div_ceil(rules.budget) as usize;
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

/// In so many seeds of a thousand a person approves every edition, or the time set for that does.
fn approval(dice: &Dice, of_thousand: u64) -> Option<Approval> {
    let deadline = match dice.below(3) {
        0 => None,
        1 => Some(Deadline::By(jiff::civil::time(7, 0, 0, 0))),
        _ => Some(Deadline::Within(SignedDuration::from_mins(
            dice.between(5, 600),
        ))),
    };
    let on_silence = *dice.pick(&[OnSilence::Publish, OnSilence::Drop]);
    dice.hits(of_thousand).then_some(Approval {
        deadline,
        on_silence,
    })
}

/// In some seeds a model may cost so much in a day, in some in a month; some editions need more.
fn caps(dice: &Dice) -> Caps {
    let drawn = |of_thousand, most| dice.hits(of_thousand).then(|| 500 + dice.below(most));
    Caps {
        tokens_per_day: drawn(300, 6_000),
        tokens_per_month: drawn(200, 100_000),
        ..Caps::default()
    }
}

/// In some seeds an edition must have texts, and its destinations ready.
fn quality(dice: &Dice) -> Quality {
    let stated = dice.hits(400);
    Quality {
        text_percent_min: if stated { 50 } else { 0 },
        stories_min: usize::from(stated),
        destinations: stated && dice.hits(300),
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

/// One to three editions. Decided by the seed alone, so that a story with one is what it was before
/// there were several.
fn names(seed: u64) -> Vec<EditionName> {
    let beside = usize::try_from(seed % 3).unwrap_or(0);
    let named = ["tech", "weekly"].into_iter().take(beside);
    let named = named.map(|name| EditionName::parse(name).expect("a name"));
    [EditionName::default()].into_iter().chain(named).collect()
}
