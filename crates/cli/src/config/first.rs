//! The first configuration file: what was asked for, and what people change next, with the
//! descriptions of the table of settings.
//!
//! Keys that were answered stand as they are, the others behind `#` with their defaults. Whatever
//! is written here passes `almanack check`: a test reads it back for every combination of jobs.

use std::fmt::Write as _;

use super::{
    key, settings,
    table::{Listed, Usual},
};
use crate::{args::Job, output::broken};

/// How wide the comments are.
const WIDTH: usize = 98;

/// What was asked for.
#[derive(Debug, Clone)]
pub(crate) struct Answers {
    pub(crate) database: String,
    pub(crate) listen: String,
    pub(crate) jobs: Vec<Job>,
    /// A folder, or a web address.
    pub(crate) editions_to: String,
}

/// A section of the file.
struct Part {
    name: &'static str,
    /// How its header is written, where it is only an example.
    example: Option<&'static str>,
    keys: &'static [&'static str],
}

const fn part(name: &'static str, keys: &'static [&'static str]) -> Part {
    Part {
        name,
        example: None,
        keys,
    }
}

const GROUND: [Part; 4] = [
    part("database", &["url", "password", "durability"]),
    part("server", &["listen", "public_url", "allowed_hosts"]),
    part("node", &["name", "slots"]),
    part("log", &["level", "format"]),
];
const TASKS: [Part; 2] = [
    part("retention", &["days"]),
    Part {
        name: key::KINDS,
        example: Some("[kinds.ARTICLE_PUBLISH]"),
        keys: &["url", "deliver", "rate", "max_retry"],
    },
];
const SOURCES: [Part; 1] = [part("sources", &["policy", "checks_per_day", "keep_days"])];
const EDITIONS: [Part; 3] = [
    part(
        "edition",
        &["enabled", "language", "title", "tz", "ready_by", "stories"],
    ),
    part("edition.source", &["from", "category"]),
    part("edition.model", &["provider", "key"]),
];
const DIRECTORY: Part = part("edition.directory", &["path", "file"]);
const WEBHOOK: Part = part("edition.webhook", &["url", "secret"]);

const SCHEDULE: &str = r#"
# When to fire what; `almanack next` explains an expression.
# [[schedule]]
# name = "nightly"
# expression = "0 3 * * *"
# tz = "Europe/Berlin"
# target = { type = "webhook", url = "https://example.org/hook" }
"#;
const SOURCE: &str = r#"
# Sources can stand here, or be added by `almanack source add`.
# [[source]]
# address = "https://example.org/feed.xml"
# category = "news/world"
"#;

/// The file.
pub(crate) fn text(answers: &Answers) -> String {
    let has = |job: Job| answers.jobs.contains(&job);
    let mut text = "\
# Configuration of Almanack, begun by `almanack init`. Keys behind # have their defaults.
# `almanack check` shows what is in force; docs/reference/configuration.md lists every key.
"
    .to_owned();
    let mut write = |parts: &[Part]| {
        for part in parts {
            write_part(&mut text, part, answers);
        }
    };
    write(&GROUND);
    if has(Job::Tasks) {
        write(&TASKS);
    }
    if has(Job::Sources) {
        write(&SOURCES);
    }
    if has(Job::Editions) {
        write(&EDITIONS);
        write(&[if is_address(&answers.editions_to) {
            WEBHOOK
        } else {
            DIRECTORY
        }]);
    }
    // Lists of tables come last: what follows one would belong to it.
    if has(Job::Schedules) {
        text += SCHEDULE;
    }
    if has(Job::Sources) {
        text += SOURCE;
    }
    text
}

/// Whether it is an address, not a folder.
pub(crate) fn is_address(to: &str) -> bool {
    to.contains("://")
}

fn write_part(text: &mut String, part: &Part, answers: &Answers) {
    let Part {
        name,
        example,
        keys,
    } = part;
    let about = settings::sections().into_iter();
    let about = about.filter(|section| section.name == *name);
    let about: String = about.map(|Listed { about, .. }| about).collect();
    let _ = writeln!(text, "\n# {about}");
    let _ = match example {
        Some(header) => writeln!(text, "# {header}"),
        None => writeln!(text, "[{name}]"),
    };
    for key in keys.iter().filter_map(|key| key::find(name, key)) {
        for line in broken(key.words[0], WIDTH) {
            let _ = writeln!(text, "# {line}");
        }
        let _ = match answer(answers, name, key.name) {
            Some(value) => writeln!(text, "{} = {value}", key.name),
            None => match &key.usual {
                Usual::Value(value) => writeln!(text, "# {} = {value}", key.name),
                Usual::Unset(usual) | Usual::Depends(usual) => {
                    writeln!(text, "# {} = …    default: {}", key.name, bare(usual))
                }
            },
        };
    }
}

/// The words of a default without the brackets that lists put around them.
fn bare(usual: &str) -> &str {
    let inner = usual.strip_prefix('(').and_then(|it| it.strip_suffix(')'));
    inner.unwrap_or(usual)
}

/// The answer that a key holds, as it is written in the file.
fn answer(answers: &Answers, section: &str, name: &str) -> Option<String> {
    let quoted = |text: &str| Some(toml::Value::from(text).to_string());
    match (section, name) {
        ("database", "url") => quoted(&answers.database),
        ("server", "listen") => quoted(&answers.listen),
        ("edition", "enabled") => Some("true".to_owned()),
        // The digest of somebody who was asked in English.
        ("edition", "language") => quoted("en"),
        ("edition.directory", "path") | ("edition.webhook", "url") => quoted(&answers.editions_to),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{self, Inputs, Need};

    const ALL: [Job; 4] = [Job::Tasks, Job::Schedules, Job::Sources, Job::Editions];

    fn answers(jobs: Vec<Job>, editions_to: &str) -> Answers {
        Answers {
            database: "sqlite:a \"b\".db".to_owned(),
            listen: "127.0.0.1:8081".to_owned(),
            jobs,
            editions_to: editions_to.to_owned(),
        }
    }

    #[test]
    fn whatever_was_asked_for_is_a_valid_configuration() {
        for chosen in 0..1 << ALL.len() {
            let jobs = ALL
                .iter()
                .enumerate()
                .filter(|(at, _)| chosen & (1 << at) != 0);
            let jobs: Vec<Job> = jobs.map(|(_, job)| *job).collect();
            for to in ["editions", "https://example.org/editions"] {
                let written = text(&answers(jobs.clone(), to));
                let loaded = config::of_text(
                    "a.toml",
                    written.clone(),
                    &Inputs::default(),
                    Need::Everything,
                );
                let report = loaded.whole_report();
                assert!(
                    report.problems.is_empty(),
                    "{jobs:?}: {:?}\n{written}",
                    report.problems
                );
                let settings = loaded.settings.unwrap();
                assert_eq!(settings.server.listen.port(), 8081);
                assert_eq!(
                    settings.editions.any().is_some(),
                    jobs.contains(&Job::Editions),
                    "{jobs:?}"
                );
            }
        }
    }

    #[test]
    fn every_key_of_the_file_is_in_the_table_and_is_described() {
        let all: [&[Part]; 5] = [&GROUND, &TASKS, &SOURCES, &EDITIONS, &[DIRECTORY, WEBHOOK]];
        for part in all.into_iter().flatten() {
            for name in part.keys {
                assert!(key::find(part.name, name).is_some(), "{}.{name}", part.name);
            }
        }
        let written = text(&answers(ALL.to_vec(), "editions"));
        for described in ["# How many tasks this node runs at once.", "# slots = 64"] {
            assert!(written.contains(described), "{written}");
        }
        assert!(
            written.lines().all(|line| line.chars().count() <= 100),
            "{written}"
        );
    }
}
