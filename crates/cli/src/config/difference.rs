//! What differs between two readings of the configuration, and what of it a running node can adopt.
//!
//! A key takes effect either immediately or at the next start, never half. What a reload builds, it
//! builds from [`adopted`](super::Settings::adopted) settings, in which every key that has to wait
//! is unchanged. The table of settings decides which keys are `reloadable`.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    key,
    reader::{Effective, Origin},
};

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
        let found = if is_reloadable(key) {
            &mut difference.at_once
        } else {
            &mut difference.next_start
        };
        found.push(key.to_owned());
    }
    difference
}

/// The effective values after a reload: keys that have to wait keep their old value.
pub(crate) fn in_force(before: &[Effective], after: &[Effective]) -> Vec<Effective> {
    let (was, is) = (by_key(before), by_key(after));
    let mut shown: Vec<Effective> = Vec::new();
    for setting in after {
        let old = was.get(setting.key.as_str()).copied();
        let in_force = if is_reloadable(&setting.key) {
            Some(setting)
        } else {
            old
        };
        shown.extend(in_force.cloned());
    }
    let gone = before.iter().filter(|it| !is.contains_key(it.key.as_str()));
    let waits = |setting: &&Effective| !is_reloadable(&setting.key);
    shown.extend(gone.filter(waits).cloned());
    shown
}

/// Whether a running node adopts a change of this key; otherwise it waits for the next start.
fn is_reloadable(key: &str) -> bool {
    key::described(key).is_some_and(|key| key.reloadable)
}

fn by_key(settings: &[Effective]) -> BTreeMap<&str, &Effective> {
    settings.iter().map(|it| (it.key.as_str(), it)).collect()
}

/// A table that was added or removed also adds or removes defaults; those are not differences.
fn differs(before: Option<&Effective>, after: Option<&Effective>) -> bool {
    match (before, after) {
        (Some(before), Some(after)) => before.value != after.value || before.hidden != after.hidden,
        (Some(only), None) | (None, Some(only)) => only.origin != Origin::Default,
        (None, None) => false,
    }
}

#[cfg(test)]
mod tests;
