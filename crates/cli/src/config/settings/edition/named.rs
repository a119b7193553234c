//! `[editions.NAME]`: further editions, each with the keys of `[edition]`.
//!
//! What an edition does not set is as in `[edition]`, key by key, so that the model, the language
//! and the reader are written once. Some things are not passed on, because two editions must not
//! share them by accident: a destination belongs to an edition only if the edition has a section
//! for it, and files and the title are named after the edition. Of a model at another service
//! nothing is passed on that is about the service: its key must not reach another address.

use std::collections::BTreeMap;

use almanack_core::edition::EditionName;

use super::{
    Edition,
    destination::{self, DIRECTORY, GITHUB},
    model, switch,
};
use crate::config::{
    key::{EDITION, EDITIONS, KeyPath, WHOLE},
    layer::{Given, Layer, Raw},
    reader::Reader,
    report::{Problem, Severity},
    value,
};

/// Keys of a section of the model that name a service: another value of one is another service.
const OF_WHICH_SERVICE: [&str; 2] = ["provider", "base_url"];
/// Keys that only the service they are written for may use, and what stands in for that service.
const OF_ONE_SERVICE: [&str; 5] = ["provider", "base_url", "key", "name", "fallback"];
/// Keys that are about all editions of a node.
const FOR_ALL: [&str; 2] = ["public", "keep_days"];
/// Keys of `[edition]` that are its own.
const NOT_INHERITED: [&str; 2] = ["enabled", "title"];

/// Reads all editions that have a name and are on.
pub(super) fn read(reader: &mut Reader<'_>) -> BTreeMap<EditionName, Edition> {
    let mut named = BTreeMap::new();
    for text in names(reader) {
        let Ok(name) = EditionName::parse(&text) else {
            continue;
        };
        refuse_shared_keys(reader, name);
        refuse_empty(reader, name);
        if let Some(edition) = read_one(reader, name) {
            named.insert(name, edition);
        }
    }
    named
}

/// The names that have a table, whatever section of it is set.
fn names(reader: &Reader<'_>) -> Vec<String> {
    let own = reader.layer.keys().filter(|path| path.is_within(EDITION));
    let mut names: Vec<String> = own.filter_map(|path| path.kind.clone()).collect();
    names.sort();
    names.dedup();
    names
}

fn refuse_shared_keys(reader: &mut Reader<'_>, name: EditionName) {
    for key in FOR_ALL {
        let path = KeyPath::in_table(EDITION, Some(name.as_str()), key);
        if let Some(place) = reader.place(&path) {
            let what = format!("{path} is about all editions of this node");
            let hint = format!("set edition.{key} instead");
            reader.push(Severity::Error, (what, Some(place)), hint);
        }
    }
}

/// Refuses a destination without a key where there is none to inherit: nothing would be sent there.
fn refuse_empty(reader: &mut Reader<'_>, name: EditionName) {
    for section in destination::sections().iter().map(|it| it.name) {
        let path = KeyPath::in_table(section, Some(name.as_str()), WHOLE);
        let Some(place) = reader.place(&path) else {
            continue;
        };
        if !reader.is_mentioned(section) {
            let own = named_key(section, name);
            let what =
                format!("[{own}] is empty, and there is no [{section}] to take its keys from");
            let hint = format!("write its keys, or remove [{own}]");
            reader.push(Severity::Error, (what, Some(place)), hint);
        }
    }
}

/// Reads one as if its keys, over those that it inherits, were `[edition]`.
fn read_one(reader: &mut Reader<'_>, name: EditionName) -> Option<Edition> {
    let own = own_layer(&reader.layer, name);
    let is_on = own.get(&switch()).is_none_or(|given| {
        // What is wrong with it is reported below.
        value::truth(&given.raw).unwrap_or(true)
    });
    let layer = inherited(&reader.layer, &own, name);
    let whole = std::mem::replace(&mut reader.layer, layer);
    let (problems, shown) = (reader.problems.len(), reader.effective.len());
    let edition = Edition::read(reader, name);
    reader.layer = whole;
    let mut found = reader.problems.split_off(problems);
    // A value that has no effect here has its effect where it is written.
    let is_written_here = |it: &Problem| {
        own.values()
            .any(|given| Some(&given.place) == it.place.as_ref())
    };
    found.retain(|it| it.severity != Severity::Warning || is_written_here(it));
    for problem in found {
        if !reader.problems.iter().any(|known| is_same(known, &problem)) {
            reader.problems.push(renamed(problem, name));
        }
    }
    let effective = reader.effective.split_off(shown);
    let own_keys = |key: &str| KeyPath::parse(key).is_some_and(|path| own.contains_key(&path));
    for mut setting in effective.into_iter().filter(|it| own_keys(&it.key)) {
        setting.key = named_key(&setting.key, name);
        reader.effective.push(setting);
    }
    is_on.then_some(edition)
}

/// What an inherited value is wrong with was reported where it is written.
fn is_same(known: &Problem, problem: &Problem) -> bool {
    known.what == problem.what && known.place == problem.place
}

fn renamed(problem: Problem, name: EditionName) -> Problem {
    Problem {
        what: named_key(&problem.what, name),
        ..problem
    }
}

/// `edition.x`, at the beginning of a text, as the key of a named edition.
fn named_key(text: &str, name: EditionName) -> String {
    let bracketed = format!("[{EDITION}.");
    if let Some(rest) = text.strip_prefix(&bracketed) {
        return format!("[{EDITIONS}.{name}.{rest}");
    }
    match text
        .strip_prefix(EDITION)
        .and_then(|rest| rest.strip_prefix('.'))
    {
        Some(rest) => format!("{EDITIONS}.{name}.{rest}"),
        None => format!("edition `{name}`: {text}"),
    }
}

/// What is written for the edition, as keys of `[edition]`.
fn own_layer(layer: &Layer, name: EditionName) -> Layer {
    let own = layer
        .iter()
        .filter(|(path, _)| path.kind.as_deref() == Some(name.as_str()));
    own.filter_map(|(path, given)| Some((path.of_edition(None)?, given.clone())))
        .collect()
}

/// The keys of `[edition]` as they are for a named one.
fn inherited(layer: &Layer, own: &Layer, name: EditionName) -> Layer {
    let mentions = |section: &str| own.keys().any(|path| path.section == section);
    let destinations: Vec<&str> = destination::sections().iter().map(|it| it.name).collect();
    let passes = |path: &KeyPath| {
        let is_own_thing = path.section == EDITION && NOT_INHERITED.contains(&path.name);
        let is_elsewhere = destinations.contains(&path.section) && !mentions(path.section);
        let is_of_other_service = path.is_within(model::SECTION)
            && OF_ONE_SERVICE.contains(&path.name)
            && is_at_other_service(layer, own, path.section);
        !(is_own_thing || is_elsewhere || is_of_other_service || names_file(path))
    };
    let mut merged: Layer = layer
        .iter()
        .filter(|(path, _)| !path.is_within(EDITION) || (path.kind.is_none() && passes(path)))
        .map(|(path, given)| (path.clone(), given.clone()))
        .collect();
    merged.extend(
        own.iter()
            .map(|(path, given)| (path.clone(), given.clone())),
    );
    for (section, key, file) in [
        (GITHUB, "path", format!("_posts/{{date}}-{name}.md")),
        (DIRECTORY, "file", format!("{{date}}-{name}.md")),
        (EDITION, "title", name.to_string()),
    ] {
        let place = own.iter().find(|(path, _)| path.section == section);
        let place = place.or_else(|| own.iter().next());
        if let Some((_, beside)) = place.filter(|_| section == EDITION || mentions(section)) {
            let given = Given {
                raw: Raw::Text(file),
                place: beside.place.clone(),
            };
            merged.entry(KeyPath::plain(section, key)).or_insert(given);
        }
    }
    merged
}

/// Whether an edition's own section of the model is about another service than the one of the same
/// name in `[edition]`. A key that is written again with the same value changes nothing.
fn is_at_other_service(layer: &Layer, own: &Layer, section: &'static str) -> bool {
    OF_WHICH_SERVICE.iter().any(|name| {
        let path = KeyPath::plain(section, name);
        let inherited = layer.get(&path).map(|given| &given.raw);
        own.get(&path)
            .is_some_and(|given| Some(&given.raw) != inherited)
    })
}

/// Two editions must not write one file.
fn names_file(path: &KeyPath) -> bool {
    (path.section == GITHUB && path.name == "path")
        || (path.section == DIRECTORY && path.name == "file")
}

/// Refuses two editions that would write over each other's files.
pub(super) fn refuse_shared_files<'a>(
    reader: &mut Reader<'_>,
    all: impl Iterator<Item = (EditionName, &'a Edition)>,
) {
    let mut known: BTreeMap<String, EditionName> = BTreeMap::new();
    for (name, edition) in all {
        let to = &edition.destinations;
        let github = to.github.as_ref();
        let github = github
            .map(|(file, _)| format!("{:?} {} {:?}", file.repository, file.branch, file.path));
        let directory = to.directory.as_ref();
        let directory = directory.map(|to| format!("{} {:?}", to.root.display(), to.path));
        for file in github.into_iter().chain(directory) {
            if let Some(other) = known.insert(file, name) {
                let own = |path: &KeyPath| path.kind.as_deref() == Some(name.as_str());
                let place = reader.first_place(own);
                let what = format!("the editions `{other}` and `{name}` write the same files");
                let hint = "give one of them another path, with its name in it";
                reader.push(Severity::Error, (what, place), hint);
            }
        }
    }
}

#[cfg(test)]
mod tests;
