//! The environment and the command line as layers.
//!
//! Every key has a variable, `ALMANACK_<SECTION>_<KEY>`. A variable that is nearly one of ours is a
//! typing error and refused. One that only shares the prefix belongs to another program (Kubernetes
//! sets `ALMANACK_SERVICE_HOST` for a service of that name), so it gets at most a warning.

use std::collections::BTreeMap;

use almanack_core::secret::COVER;

use super::{
    key::{self, KINDS, Key, KeyPath, VARIABLE_PREFIX, variable_form},
    layer::{Given, Layer, Raw, shown},
    report::{Place, Problem},
    secret::Reference,
};
use crate::suggest;

/// Variables of ours that set no key: the file, the node to ask and its token, and what tests use.
const OTHER_VARIABLES: &[&str] = &[
    "ALMANACK_CONFIG",
    "ALMANACK_SERVER",
    "ALMANACK_SIM_SEED",
    "ALMANACK_TOKEN",
];

/// The flag that sets any key: `--set node.lease=10s`.
pub(crate) const SET: &str = "--set";

/// Reads the layer and what looks wrong in it. `below` is the file's layer: it knows how its kinds
/// are spelt, which a variable's name does not show, and which variables hold its secrets.
pub(crate) fn read(environment: &BTreeMap<String, String>, below: &Layer) -> (Layer, Vec<Problem>) {
    let mut layer = Layer::new();
    let mut problems = Vec::new();
    for key in unnamed_keys() {
        let own = key.variable(None);
        // A name that others use, too, is often set to nothing; then it is ignored.
        let shared = key.aliases.iter().copied();
        let shared = shared.filter(|name| environment.get(*name).is_some_and(|it| !it.is_empty()));
        let mut names = std::iter::once(own.as_str()).chain(shared);
        let set = names.find_map(|name| Some((name, environment.get(name)?)));
        if let Some((variable, value)) = set {
            let path = KeyPath::of(key, None);
            layer.insert(path.clone(), given(&path, variable, value));
        }
    }
    let secrets = referenced(below);
    for (variable, value) in environment {
        let known = OTHER_VARIABLES.contains(&variable.as_str()) || secrets.contains(variable);
        let Some(rest) = variable.strip_prefix(VARIABLE_PREFIX).filter(|_| !known) else {
            continue;
        };
        if unnamed_keys().any(|key| key.variable(None) == *variable) {
            continue;
        }
        match kind_key(rest, below) {
            Some(path) => {
                layer.insert(path.clone(), given(&path, variable, value));
            }
            None => problems.extend(unexpected(variable, rest)),
        }
    }
    (layer, problems)
}

/// The keys that have one variable each.
fn unnamed_keys() -> impl Iterator<Item = &'static Key> {
    key::KEYS.iter().filter(|key| !key::is_named(key.section))
}

/// Reads the command line. Each item: the flag as written, the key, the value.
pub(crate) fn read_flags(flags: &[(String, String, String)]) -> (Layer, Vec<Problem>) {
    let mut layer = Layer::new();
    let mut problems = Vec::new();
    for (flag, key, value) in flags {
        let Some(path) = KeyPath::parse(key) else {
            problems.push(unknown_flag_key(flag, key));
            continue;
        };
        let shown = match flag.as_str() {
            SET => format!("{key}={}", shown(&path, value)),
            _ => shown(&path, value),
        };
        let (flag, raw) = (flag.clone(), Raw::Bare(value.clone()));
        let place = Place::Flag { flag, shown };
        layer.insert(path, Given { raw, place });
    }
    (layer, problems)
}

fn unknown_flag_key(flag: &str, key: &str) -> Problem {
    let place = Place::Flag {
        flag: flag.to_owned(),
        shown: format!("{key}={COVER}"),
    };
    let known: Vec<String> = key::KEYS
        .iter()
        .map(|known| match known.section {
            section if key::is_named(section) => format!("{section}.NAME.{}", known.name),
            section => format!("{section}.{}", known.name),
        })
        .collect();
    let problem = Problem::error(format!("unknown key `{key}`"), Some(place));
    match suggest::nearest(key, known.iter().map(String::as_str)) {
        Some(near) => problem.hint(format!("did you mean `{near}`?")),
        None => problem.hint("write section.key, like node.lease"),
    }
}

fn given(path: &KeyPath, variable: &str, value: &str) -> Given {
    let (variable, shown) = (variable.to_owned(), shown(path, value));
    Given {
        raw: Raw::Bare(value.to_owned()),
        place: Place::Environment { variable, shown },
    }
}

/// `KINDS_ARTICLE_PUBLISH_MAX_RETRY` is key `max_retry` of kind `ARTICLE_PUBLISH`: the longest key
/// name that fits wins, the rest is the kind.
fn kind_key(rest: &str, below: &Layer) -> Option<KeyPath> {
    let rest = rest.strip_prefix("KINDS_")?;
    let fits = |key: &&'static Key| {
        let ending = format!("_{}", variable_form(key.name));
        rest.len() > ending.len() && rest.ends_with(&ending)
    };
    let key = key::keys_of(KINDS)
        .filter(fits)
        .max_by_key(|key| key.name.len())?;
    let kind = &rest[..rest.len() - key.name.len() - 1];
    let kinds = below.keys().filter(|path| path.section == KINDS);
    let spelt = kinds.filter_map(|path| path.kind.as_deref());
    let kind = spelt
        .into_iter()
        .find(|known| variable_form(known) == kind)
        .unwrap_or(kind);
    Some(KeyPath::in_table(KINDS, Some(kind), key.name))
}

/// Variables that the file's secrets are kept in.
fn referenced(below: &Layer) -> Vec<String> {
    let references = below
        .values()
        .filter_map(|given| Reference::parse(given.raw.as_text()?));
    references
        .filter_map(|reference| match reference {
            Reference::Environment(name) => Some(name),
            Reference::File(_) => None,
        })
        .collect()
}

fn unexpected(variable: &str, rest: &str) -> Option<Problem> {
    let place = Place::Environment {
        variable: variable.to_owned(),
        shown: COVER.to_owned(),
    };
    let known: Vec<String> = unnamed_keys().map(|key| key.variable(None)).collect();
    let bare = known
        .iter()
        .filter_map(|name| name.strip_prefix(VARIABLE_PREFIX));
    if let Some(near) = suggest::nearest(rest, bare) {
        let problem = Problem::error(format!("unknown variable `{variable}`"), Some(place));
        return Some(problem.hint(format!("did you mean `{VARIABLE_PREFIX}{near}`?")));
    }
    let ours = key::sections().iter().any(|section| {
        rest.strip_prefix(&variable_form(section))
            .is_some_and(|key| key.starts_with('_'))
    });
    let what = format!("variable `{variable}` has no effect: there is no such key");
    ours.then(|| Problem::warning(what, Some(place)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect()
    }

    #[test]
    fn a_kind_is_found_between_section_and_key() {
        let below = Layer::from([(
            KeyPath::in_table(KINDS, Some("news.daily"), "url"),
            Given {
                raw: Raw::Text("http://x".into()),
                place: Place::File { span: 0..1 },
            },
        )]);
        for (variable, expected) in [
            (
                "ALMANACK_KINDS_ARTICLE_PUBLISH_URL",
                "kinds.ARTICLE_PUBLISH.url",
            ),
            (
                "ALMANACK_KINDS_ARTICLE_PUBLISH_MAX_RETRY",
                "kinds.ARTICLE_PUBLISH.max_retry",
            ),
            (
                "ALMANACK_KINDS_NEWS_DAILY_SLOTS",
                "kinds.\"news.daily\".slots",
            ),
        ] {
            let (layer, problems) = read(&environment(&[(variable, "1")]), &below);
            let paths: Vec<String> = layer.keys().map(ToString::to_string).collect();
            assert_eq!(
                (paths, problems),
                (vec![expected.to_owned()], vec![]),
                "{variable}"
            );
        }
    }

    #[test]
    fn a_misspelt_variable_is_refused_and_an_unrelated_one_is_ignored() {
        for (variable, expected) in [
            (
                "ALMANACK_NODE_LEAES",
                Some("did you mean `ALMANACK_NODE_LEASE`?"),
            ),
            ("ALMANACK_SERVICE_HOST", None),
            ("ALMANACK_PORT_8080_TCP", None),
            ("ALMANACK_CONFIG", None),
        ] {
            let (_, problems) = read(&environment(&[(variable, "1")]), &Layer::new());
            let hint = problems.first().and_then(|problem| problem.hint.as_deref());
            assert_eq!(hint, expected, "{variable}");
        }
    }

    #[test]
    fn a_literal_secret_of_the_environment_is_never_in_its_place() {
        let (layer, _) = read(
            &environment(&[("ALMANACK_CALLBACK_SECRET", "x7")]),
            &Layer::new(),
        );
        let place = &layer[&KeyPath::plain("callback", "secret")].place;
        assert!(!format!("{place:?}").contains("x7"));
    }
}
