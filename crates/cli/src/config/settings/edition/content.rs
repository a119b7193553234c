//! How editions are produced: sizes, limits, words.

use std::path::Path;

use almanack_adapters::renderer::Template;
use almanack_core::edition::{
    port::Sensitivity,
    rules::{Rules, Unusable},
};
use almanack_server::PageTemplate;

use super::{
    super::{super::Need, prelude::*},
    EditionKeys, key,
};

/// Longest title, in characters.
const TITLE_CHARS_MAX: usize = 200;
/// Longest tag of a language.
const LANGUAGE_BYTES_MAX: usize = 35;

/// The rules; those that would go wrong every day are refused (ED-10).
pub(super) fn rules(
    reader: &mut Reader<'_>,
    read: &EditionKeys,
    interval: SignedDuration,
) -> Rules {
    let rules = Rules {
        stories: read.stories,
        batch_size: read.batch_size,
        budget: read.budget,
        retries_max: read.retries,
        retries_by_itself: read.retries_by_itself,
        repeat_after_days: read.repeat_after_days,
        chain: read.chain,
        overdue_after: read.overdue_after,
        archive_after: days(i64::from(read.archive_after_days)),
        interval,
        ..Rules::default()
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
    let text = unusable.to_string();
    let (what, hint) = match text.split_once("; ") {
        Some((what, hint)) => (what, hint.to_owned()),
        None => (
            text.as_str(),
            "make the batch smaller, or the budget larger".to_owned(),
        ),
    };
    reader.complain::<()>(path, Problem::new(what, hint));
}

/// The title of an edition: one line.
pub(super) fn title(text: &str) -> Read<String> {
    let fits = text.chars().count() <= TITLE_CHARS_MAX && !text.chars().any(char::is_control);
    let what = format!("a title is one line of at most {TITLE_CHARS_MAX} characters");
    fitting(text, fits, what, "for example \"HackerNews Daily\"")
}

/// The tag of a language.
pub(super) fn language(text: &str) -> Read<String> {
    let shaped = |part: &str| {
        !part.is_empty() && part.len() <= 8 && part.bytes().all(|b| b.is_ascii_alphanumeric())
    };
    let fits = text.len() <= LANGUAGE_BYTES_MAX && text.split('-').all(shaped);
    let what = format!("`{text}` is not the tag of a language");
    fitting(
        text,
        fits,
        what,
        "for example \"zh-CN\", \"en\" or \"pt-BR\"",
    )
}

/// Tries the template, in commands that render with it; the others do not need the file.
pub(super) fn check_template(reader: &mut Reader<'_>, file: Option<&Path>) {
    if reader.need == Need::Everything
        && let Some(Err(why)) = file.map(read_template)
    {
        reader.complain::<()>(&key("template"), why);
    }
}

/// The same of the template of readers' pages.
pub(super) fn check_page_template(reader: &mut Reader<'_>, file: Option<&Path>) {
    if reader.need == Need::Everything
        && let Some(Err(why)) = file.map(read_page_template)
    {
        reader.complain::<()>(&key("page_template"), why);
    }
}

/// Reads a template and tries it.
pub(crate) fn read_template(file: &Path) -> Read<Template> {
    Template::new(text_of(file)?).map_err(|error| {
        let hint = "`almanack edition preview` shows the result";
        Problem::new(format!("`{}`: {error}", file.display()), hint)
    })
}

/// Reads a template of readers' pages and tries it.
pub(crate) fn read_page_template(file: &Path) -> Read<PageTemplate> {
    PageTemplate::new(text_of(file)?).map_err(|error| {
        let hint = "`almanack edition show --page-template FILE` shows the result";
        Problem::new(format!("`{}`: {error}", file.display()), hint)
    })
}

fn text_of(file: &Path) -> Read<String> {
    std::fs::read_to_string(file).map_err(|error| {
        Problem::new(
            format!("cannot read `{}`: {error}", file.display()),
            "paths are relative to the configuration file",
        )
    })
}

/// The filter: a level, or only that it is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Filter {
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

words! {
    Sensitivity { "low" = Self::Low, "medium" = Self::Medium, "high" = Self::High }
}

/// `filter = "high"`, or `filter = true`.
pub(super) fn filter_form() -> Form<Filter> {
    const WORDS: &[(&str, Filter)] = &[
        ("off", Filter::Off),
        ("low", Filter::At(Sensitivity::Low)),
        ("medium", Filter::At(Sensitivity::Medium)),
        ("high", Filter::At(Sensitivity::High)),
    ];
    let names = WORDS.iter().map(|(word, _)| *word).collect();
    Form::new(Shape::TruthOrChoice(names), |raw| match value::truth(raw) {
        Ok(true) => Ok(Filter::On),
        Ok(false) => Ok(Filter::Off),
        Err(_) => value::choice(WORDS)(raw),
    })
}

/// The filter's level, where there is one.
pub(super) fn filter(reader: &mut Reader<'_>, read: &EditionKeys) -> Option<Sensitivity> {
    let beside = key("filter_sensitivity");
    match read.filter {
        Filter::Off => None,
        Filter::On => Some(read.filter_sensitivity),
        Filter::At(level) => {
            if level != read.filter_sensitivity && reader.layer.contains_key(&beside) {
                let what = "edition.filter_sensitivity has no effect: edition.filter has a level";
                let place = reader.place(&beside);
                reader.problems.push(Problem::warning(what, place));
            }
            Some(level)
        }
    }
}
