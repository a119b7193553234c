//! What differs between two readings of the configuration, and what of it a running node can take.
//!
//! A key takes effect either at once or at the next start, never half: what is made anew when the configuration is read again
//! is made by [`adopted`] settings, in which every key that has to wait is as it was.
//!
//! To let a key take effect at once, name it in [`effect_of`] and in [`adopted`]; a test holds the two against each other.

use std::collections::{BTreeMap, BTreeSet};

use almanack_core::task::Kind;

use super::{
    Settings,
    key::{KINDS, KeyPath, SUBSCRIPTIONS},
    reader::{Effective, Origin},
    settings::{Github, KindSettings, Log, Node, Outbound},
};

/// When a changed key takes effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effect {
    /// As soon as a running node is told to read its configuration again.
    AtOnce,
    /// When the process starts again.
    NextStart,
}

/// When this key takes effect.
pub(crate) fn effect_of(section: &str, name: &str) -> Effect {
    match (section, name) {
        // Attempts that began without a place would give back those of others.
        (KINDS, "slots_in_all") => Effect::NextStart,
        (
            KINDS | SUBSCRIPTIONS | "alerts" | "callback" | "command" | "happenings" | "retry"
            | "schedules" | "tick",
            _,
        )
        | ("github", "token")
        | ("log", "level")
        | ("node", "slots")
        | ("outbound", "allow") => Effect::AtOnce,
        _ if section.starts_with("alerts.") => Effect::AtOnce,
        _ => Effect::NextStart,
    }
}

/// The keys whose values differ, each once.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Difference {
    /// Those that take effect at once.
    pub(crate) at_once: Vec<String>,
    /// Those that wait for the next start.
    pub(crate) next_start: Vec<String>,
}

impl Difference {
    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.at_once.len() + self.next_start.len()
    }
}

/// What differs.
pub(crate) fn compare(before: &[Effective], after: &[Effective]) -> Difference {
    let (was, is) = (by_key(before), by_key(after));
    let keys: BTreeSet<&str> = was.keys().chain(is.keys()).copied().collect();
    let mut difference = Difference::default();
    for key in keys {
        if !differs(was.get(key).copied(), is.get(key).copied()) {
            continue;
        }
        match effect(key) {
            Effect::AtOnce => difference.at_once.push(key.to_owned()),
            Effect::NextStart => difference.next_start.push(key.to_owned()),
        }
    }
    difference
}

/// What is in force once everything that can take effect has: of the keys that wait, what was.
pub(crate) fn in_force(before: &[Effective], after: &[Effective]) -> Vec<Effective> {
    let (was, is) = (by_key(before), by_key(after));
    let mut shown: Vec<Effective> = Vec::new();
    for setting in after {
        match effect(&setting.key) {
            Effect::AtOnce => shown.push(setting.clone()),
            Effect::NextStart => {
                shown.extend(was.get(setting.key.as_str()).map(|it| (*it).clone()));
            }
        }
    }
    let gone = before.iter().filter(|it| !is.contains_key(it.key.as_str()));
    let waits = |setting: &&Effective| effect(&setting.key) == Effect::NextStart;
    shown.extend(gone.filter(waits).cloned());
    shown
}

/// The settings of `before` with everything of `after` that can take effect.
pub(crate) fn adopted(before: &Settings, after: &Settings) -> Settings {
    Settings {
        retry: after.retry,
        callback: after.callback.clone(),
        kinds: adopted_kinds(&before.kinds, &after.kinds),
        schedules: after.schedules.clone(),
        command: after.command.clone(),
        tick: after.tick.clone(),
        happenings: after.happenings.clone(),
        alerts: after.alerts.clone(),
        node: Node {
            slots: after.node.slots,
            ..before.node.clone()
        },
        outbound: Outbound {
            allow: after.outbound.allow.clone(),
            ..before.outbound.clone()
        },
        github: Github {
            token: after.github.token.clone(),
            ..before.github.clone()
        },
        log: Log {
            level: after.log.level.clone(),
            ..before.log.clone()
        },
        ..before.clone()
    }
}

fn adopted_kinds(
    before: &BTreeMap<Kind, KindSettings>,
    after: &BTreeMap<Kind, KindSettings>,
) -> BTreeMap<Kind, KindSettings> {
    let adopt = |(kind, new): (&Kind, &KindSettings)| {
        let settings = KindSettings {
            slots_in_all: before.get(kind).and_then(|old| old.slots_in_all),
            ..new.clone()
        };
        (kind.clone(), settings)
    };
    after.iter().map(adopt).collect()
}

fn effect(key: &str) -> Effect {
    KeyPath::parse(key).map_or(Effect::NextStart, |path| effect_of(path.section, path.name))
}

fn by_key(settings: &[Effective]) -> BTreeMap<&str, &Effective> {
    settings.iter().map(|it| (it.key.as_str(), it)).collect()
}

/// A table of its own that came or went brings its defaults along; nobody wrote those.
fn differs(before: Option<&Effective>, after: Option<&Effective>) -> bool {
    match (before, after) {
        (Some(before), Some(after)) => before.value != after.value || before.hidden != after.hidden,
        (Some(only), None) | (None, Some(only)) => only.origin != Origin::Default,
        (None, None) => false,
    }
}

#[cfg(test)]
mod tests;
