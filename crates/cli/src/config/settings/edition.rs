//! `[edition]`: the daily digest, from its stories to its destinations.
//!
//! Editions are on as soon as somebody says anything about them, in the file or by the variables that the founding
//! setup uses. Some of those variables have names that other programs use as well (`GITHUB_TOKEN`): these turn nothing
//! on, and while editions are off nothing they hold is looked at, so that a stranger's variable never keeps a node from
//! starting.

mod destination;
mod making;
mod model;
mod pages;
mod stories;
mod ticks;

use std::path::PathBuf;

use almanack_core::{
    edition::{port::Sensitivity, rules::Rules},
    secret::COVER,
};
use jiff::SignedDuration;

pub(crate) use destination::{Destinations, ToDirectory, ToGithub, ToTelegram, ToWebhook};
pub(super) use destination::{bot_token, half};
pub(crate) use making::read_template;
pub(crate) use model::Model;
pub(crate) use pages::Pages;
pub(crate) use stories::Stories;
pub(crate) use ticks::{SCHEDULE, Ticks};

use super::{
    super::{
        Need,
        key::{KeyPath, VARIABLE_PREFIX},
        layer::Raw,
        reader::Reader,
        report::{Place, Problem},
        value::{self, Read},
    },
    DAY_S,
};

/// Variables of the founding setup whose names are not its own.
const OTHERS_USE_TOO: &[&str] = &[
    "GITHUB_ENABLED",
    "GITHUB_TOKEN",
    "JINA_API_KEY",
    "LOCAL_TEST_MODE",
    "MAX_RETRY_COUNT",
    "TARGET_BRANCH",
    "TELEGRAM_BOT_TOKEN",
];

/// Variables of the founding setup that change nothing, there or here, and why not.
const WITHOUT_EFFECT: &[(&str, &str)] = &[
    (
        "LLM_BATCH_SIZE",
        "edition.batch_size (or TASK_BATCH_SIZE) says how many stories are written at once",
    ),
    ("CACHE_ENABLED", "what was fetched is kept with its edition"),
    (
        "CACHE_TTL_MINUTES",
        "what was fetched is kept with its edition; edition.keep_days says for how long",
    ),
];

/// Whether there are editions.
#[derive(Debug, Clone)]
pub(crate) enum Editions {
    /// There are, made so.
    On(Box<Edition>),
    /// Somebody says that there are none.
    Off,
    /// Nobody says anything.
    Unsaid,
}

impl Editions {
    /// How they are made, if they are.
    pub(crate) fn on(&self) -> Option<&Edition> {
        match self {
            Self::On(edition) => Some(edition),
            Self::Off | Self::Unsaid => None,
        }
    }

    /// Reads `[edition]`, if there is anything to be read.
    pub(super) fn read(reader: &mut Reader<'_>) -> Self {
        let switch = key("enabled");
        let meant = reader
            .layer
            .iter()
            .any(|(path, given)| is_ours(path) && *path != switch && !is_anybodys(&given.place));
        let said = reader.layer.contains_key(&switch);
        let enabled = reader.value(&switch, meant, value::truth);
        if enabled {
            warn_without_effect(reader);
            return Self::On(Box::new(Edition::read(reader)));
        }
        let foreign = |place: &Place| founding_variable(place).is_some();
        reader
            .layer
            .retain(|path, given| !(is_ours(path) && foreign(&given.place)));
        let other = |path: &KeyPath| *path != switch && is_ours(path);
        if reader.layer.keys().any(other) {
            // Only to find what is wrong with it.
            Edition::read(reader);
        }
        if said { Self::Off } else { Self::Unsaid }
    }
}

/// `[edition]` and the sections inside it.
#[derive(Debug, Clone)]
pub(crate) struct Edition {
    /// How editions are made.
    pub(crate) rules: Rules,
    /// When ticks come, and whose days editions are of.
    pub(crate) ticks: Ticks,
    /// What editions are called.
    pub(crate) title: String,
    /// The language they are written in, as a tag.
    pub(crate) language: String,
    /// The file that holds the template; none for the built-in one.
    pub(crate) template: Option<PathBuf>,
    /// How long a summary may be, in characters.
    pub(crate) summary_length: usize,
    /// How much the content filter lets through; none without one.
    pub(crate) filter: Option<Sensitivity>,
    /// Whether editions are printed instead of published.
    pub(crate) test_mode: bool,
    /// For how many days the stories of archived editions are kept; 0 keeps them for ever.
    pub(crate) keep_days: u32,
    /// Where stories come from.
    pub(crate) stories: Stories,
    /// Who reads their pages.
    pub(crate) pages: Pages,
    /// Who writes; none for extractive summaries.
    pub(crate) model: Option<Model>,
    /// Where editions go, besides this server's own pages.
    pub(crate) destinations: Destinations,
    /// Whether everybody may read the pages of published editions.
    pub(crate) public: bool,
}

impl Edition {
    fn read(reader: &mut Reader<'_>) -> Self {
        let ticks = Ticks::read(reader);
        Self {
            title: reader.value(&key("title"), "HackerNews Daily".to_owned(), making::title),
            language: reader.value(&key("language"), "zh-CN".to_owned(), making::language),
            template: making::template(reader),
            rules: making::rules(reader, ticks.interval),
            ticks,
            keep_days: reader.value(&key("keep_days"), 30, value::count(0..=36_500)),
            summary_length: reader.value(&key("summary_length"), 300, value::count(50..=1_000)),
            filter: making::filter(reader),
            test_mode: reader.value(&key("test_mode"), false, value::truth),
            public: reader.value(&key("public"), true, value::truth),
            stories: Stories::read(reader),
            pages: Pages::read(reader),
            model: Model::read(reader),
            destinations: Destinations::read(reader),
        }
    }

    /// How long the stories of archived editions are kept; `None` keeps them.
    pub(crate) fn keep_for(&self) -> Option<SignedDuration> {
        (self.keep_days > 0).then(|| SignedDuration::from_secs(i64::from(self.keep_days) * DAY_S))
    }
}

/// Whoever set such a variable expects something of it. Other commands than those that make editions need not hear that.
fn warn_without_effect(reader: &mut Reader<'_>) {
    if reader.need != Need::Everything {
        return;
    }
    let environment = reader.environment;
    let is_set = |variable: &str| environment.get(variable).is_some_and(|it| !it.is_empty());
    for (variable, why) in WITHOUT_EFFECT.iter().filter(|(name, _)| is_set(name)) {
        let place = Place::Environment {
            variable: (*variable).to_owned(),
            shown: COVER.to_owned(),
        };
        let what = format!("variable `{variable}` has no effect on editions");
        let problem = Problem::warning(what, Some(place)).hint(*why);
        reader.problems.push(problem);
    }
}

fn key(name: &'static str) -> KeyPath {
    KeyPath::plain("edition", name)
}

fn is_ours(path: &KeyPath) -> bool {
    path.section == "edition" || path.section.starts_with("edition.")
}

/// The variable of the founding setup that holds a value, if one does.
fn founding_variable(place: &Place) -> Option<&str> {
    match place {
        Place::Environment { variable, .. } if !variable.starts_with(VARIABLE_PREFIX) => {
            Some(variable)
        }
        _ => None,
    }
}

fn is_anybodys(place: &Place) -> bool {
    founding_variable(place).is_some_and(|variable| OTHERS_USE_TOO.contains(&variable))
}

/// Whether anybody says anything about one of these keys of `section`.
pub(super) fn is_given(reader: &Reader<'_>, section: &'static str, names: &[&'static str]) -> bool {
    let mut names = names.iter();
    names.any(|name| reader.layer.contains_key(&KeyPath::plain(section, name)))
}

/// An address, as text.
pub(super) fn address(raw: &Raw) -> Read<String> {
    value::web_address(raw).map(|url| url.to_string())
}
