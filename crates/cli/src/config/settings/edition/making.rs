//! How editions are made: sizes, limits, words.

use std::path::PathBuf;

use almanack_adapters::press::Template;
use almanack_core::edition::{
    port::Sensitivity,
    rules::{Rules, STORIES_MAX, Unusable},
};
use jiff::SignedDuration;

use super::{
    super::{
        super::{
            Need,
            layer::Raw,
            reader::{Reader, Show},
            report::Problem,
            value::{self, Complaint, Read},
        },
        DAY_S, seconds,
    },
    key,
};

/// Longest title, in characters.
const TITLE_CHARS_MAX: usize = 200;
/// Longest tag of a language.
const LANGUAGE_BYTES_MAX: usize = 35;

/// Reads the rules, and refuses those that would go wrong every day (ED-10).
pub(super) fn rules(reader: &mut Reader<'_>, interval: SignedDuration) -> Rules {
    let usual = Rules::default();
    let day = DAY_S;
    let archive_days: u32 = reader.value(&key("archive_after_days"), 7, value::count(1..=36_500));
    let rules = Rules {
        stories: reader.value(
            &key("stories"),
            usual.stories,
            value::count(1..=STORIES_MAX),
        ),
        batch_size: reader.value(
            &key("batch_size"),
            usual.batch_size,
            value::count(1..=100_000),
        ),
        budget: reader.value(&key("budget"), usual.budget, value::count(1..=100_000)),
        retries_max: reader.value(&key("retries"), usual.retries_max, value::count(0..=10)),
        retries_by_itself: reader.value(
            &key("retries_by_itself"),
            usual.retries_by_itself,
            value::count(0..=10),
        ),
        chain: reader.value(&key("chain"), usual.chain, value::truth),
        overdue_after: reader.value(
            &key("overdue_after"),
            usual.overdue_after,
            value::duration(seconds(60..=7 * day)),
        ),
        archive_after: SignedDuration::from_secs(i64::from(archive_days) * day),
        interval,
        ..usual
    };
    if let Err(unusable) = rules.check() {
        refuse(reader, &unusable);
    }
    rules
}

fn refuse(reader: &mut Reader<'_>, unusable: &Unusable) {
    let (size, budget) = (key("batch_size"), key("budget"));
    let path = match unusable {
        Unusable::Budget { .. } if reader.place(&size).is_none() => &budget,
        _ => &size,
    };
    let told = unusable.to_string();
    let (what, hint) = match told.split_once("; ") {
        Some((what, hint)) => (what, hint.to_owned()),
        None => (
            told.as_str(),
            "make the batch smaller, or the budget larger".to_owned(),
        ),
    };
    reader.complain::<()>(path, Complaint::new(what, hint));
}

/// What an edition is called: one line.
pub(super) fn title(raw: &Raw) -> Read<String> {
    let text = value::text(raw)?;
    let fits = text.chars().count() <= TITLE_CHARS_MAX && !text.chars().any(char::is_control);
    if fits {
        return Ok(text);
    }
    let what = format!("a title is one line of at most {TITLE_CHARS_MAX} characters");
    Err(Complaint::new(what, "for example \"HackerNews Daily\""))
}

/// The tag of a language.
pub(super) fn language(raw: &Raw) -> Read<String> {
    let text = value::text(raw)?;
    let shaped = |part: &str| {
        !part.is_empty() && part.len() <= 8 && part.bytes().all(|b| b.is_ascii_alphanumeric())
    };
    if text.len() <= LANGUAGE_BYTES_MAX && text.split('-').all(shaped) {
        return Ok(text);
    }
    let what = format!("`{text}` is not the tag of a language");
    Err(Complaint::new(
        what,
        "for example \"zh-CN\", \"en\" or \"pt-BR\"",
    ))
}

/// The template's file. It is tried only by who prints with it: nobody else needs it to be there.
pub(super) fn template(reader: &mut Reader<'_>) -> Option<PathBuf> {
    let path = key("template");
    let unset = "(the built-in one)";
    let file = reader.optional(&path, unset, |raw| value::text(raw).map(PathBuf::from))?;
    let file = reader.base.join(file);
    if reader.need == Need::Everything
        && let Err(why) = read_template(&file)
    {
        reader.complain::<()>(&path, why);
    }
    Some(file)
}

/// Reads a template and tries it.
pub(crate) fn read_template(file: &std::path::Path) -> Read<Template> {
    let shown = file.display();
    let text = std::fs::read_to_string(file).map_err(|error| {
        Complaint::new(
            format!("cannot read `{shown}`: {error}"),
            "it is looked for beside the configuration",
        )
    })?;
    Template::new(text).map_err(|error| {
        let hint = "`almanack edition preview` shows what an edition would look like";
        Complaint::new(format!("`{shown}`: {error}"), hint)
    })
}

/// What is said about the filter: a level, or only that there is one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Filter {
    Off,
    On,
    At(Sensitivity),
}

impl Show for Filter {
    fn show(&self) -> String {
        match self {
            Self::Off => "\"off\"".to_owned(),
            Self::On => "true".to_owned(),
            Self::At(level) => level.show(),
        }
    }
}

impl Show for Sensitivity {
    fn show(&self) -> String {
        format!("\"{}\"", self.as_str())
    }
}

const LEVELS: &[(&str, Sensitivity)] = &[
    ("low", Sensitivity::Low),
    ("medium", Sensitivity::Medium),
    ("high", Sensitivity::High),
];

/// The filter: `filter = "high"`, or on, with its level beside it.
pub(super) fn filter(reader: &mut Reader<'_>) -> Option<Sensitivity> {
    let words = &[
        ("off", Filter::Off),
        ("low", Filter::At(Sensitivity::Low)),
        ("medium", Filter::At(Sensitivity::Medium)),
        ("high", Filter::At(Sensitivity::High)),
    ];
    let given = reader.value(&key("filter"), Filter::Off, |raw| match value::truth(raw) {
        Ok(true) => Ok(Filter::On),
        Ok(false) => Ok(Filter::Off),
        Err(_) => value::choice(words)(raw),
    });
    let beside = key("filter_sensitivity");
    let level = reader.value(&beside, Sensitivity::Medium, value::choice(LEVELS));
    match given {
        Filter::Off => None,
        Filter::On => Some(level),
        Filter::At(said) => {
            if said != level && reader.layer.contains_key(&beside) {
                let what = "edition.filter_sensitivity says nothing: edition.filter has a level";
                let place = reader.place(&beside);
                reader.problems.push(Problem::warning(what, place));
            }
            Some(said)
        }
    }
}
