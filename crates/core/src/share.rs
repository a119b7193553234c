//! Fair shares: tasks of one kind take turns by a key in their payload, so that a tenant who puts
//! many does not keep the others waiting.
//!
//! The key is read when a task is put and kept with it, so that a claim finds the keys that have
//! something due without looking at every task ([`KEYS_MAX`]). A claim takes the same number of
//! each key, the earliest first, and fills what is left by time. Where there are more keys than
//! slots, claims go round: each begins behind the last key of the one before. The earliest task of
//! all may go first, and is then one of those that its key has.
//!
//! What must stay true:
//!
//! - Only the order changes: a claim that could take a task takes one, whatever its key.
//! - Every task has its turn. One task of a round goes by time alone, so a key that claims do not
//!   see (tasks put before the kind was shared) waits, but not for ever.

use std::collections::BTreeMap;

use crate::{
    event::incoming::mapping::Path,
    reschedule::Change,
    task::{Kind, Payload, Task},
};

/// How many keys one claim looks at.
pub const KEYS_MAX: usize = 1_000;
/// How much of a key counts.
const KEY_CHARS_MAX: usize = 200;

/// The key of a payload: its JSON text, without what makes no difference; empty if there is none.
pub fn key_of(payload: &Payload, by: &Path) -> String {
    let document = serde_json::from_str(payload.as_str()).ok();
    let found = document.and_then(|document| by.find(document));
    let key = found.map_or("", |found| found.get().trim());
    let key = if key == "null" { "" } else { key };
    key.chars().take(KEY_CHARS_MAX).collect()
}

/// How many tasks a claim with `room` takes of each of `keys` keys.
pub fn of_each(room: usize, keys: usize) -> usize {
    (room / keys.max(1)).max(1)
}

/// The kinds whose tasks take turns, and where their keys are, as configured.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ShareBy(pub BTreeMap<Kind, Path>);

impl ShareBy {
    /// Writes the keys of what a change puts beside their payloads.
    pub fn mark(&self, change: &mut Change, row: Option<&Task>) {
        if let Some(new) = &mut change.insert
            && let Some(by) = self.0.get(&new.identity.kind)
        {
            new.share_key = Some(key_of(&new.payload, by));
        }
        if let (Some(amend), Some(row)) = (&mut change.amend, row)
            && let Some(by) = self.0.get(&row.identity.kind)
        {
            let payload = amend.payload.as_ref().unwrap_or(&row.payload);
            amend.share_key = Some(key_of(payload, by));
        }
    }
}

/// Where the turns of a kind begin in a claim.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Turn {
    pub kind: Kind,
    /// Keys behind this one come first, then the others in order.
    pub after: String,
    /// Whether the earliest task goes first, whatever its key.
    pub earliest_first: bool,
}

/// Where the turns of kinds stand, as one claimer remembers it. It need not survive: a claimer that
/// forgets begins a new round.
#[derive(Debug, Clone, Default)]
pub struct Rounds(BTreeMap<Kind, Round>);

#[derive(Debug, Clone, Default)]
struct Round {
    /// Whose turn was last.
    after: String,
    /// Whether a task has gone by time since the round began.
    is_under_way: bool,
}

impl Rounds {
    /// The turns for a claim of so many slots.
    pub fn next(&self, share_by: &ShareBy, slots: usize) -> Vec<Turn> {
        let turn = |kind: &Kind| {
            let round = self.0.get(kind).cloned().unwrap_or_default();
            Turn {
                kind: kind.clone(),
                earliest_first: slots > 1 || !round.is_under_way,
                after: round.after,
            }
        };
        share_by.0.keys().map(turn).collect()
    }

    /// Remembers what a claim answered: the last key that had its turn, `None` if none had.
    pub fn note(&mut self, kind: &Kind, last: Option<String>) {
        let round = self.0.entry(kind.clone()).or_default();
        let Some(last) = last else {
            round.is_under_way = true;
            return;
        };
        // A key that is not behind the one before is the first of a new round.
        round.is_under_way &= last > round.after;
        round.after = last;
    }
}

/// The last of some keys, in the order of a claim whose turns begin behind `after`.
pub fn last_of<'a>(keys: impl Iterator<Item = &'a str>, after: &str) -> Option<&'a str> {
    keys.max_by_key(|key| (*key <= after, *key))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn share_by(kind: &Kind) -> ShareBy {
        let by = Path::parse("$.tenant").unwrap();
        ShareBy(BTreeMap::from([(kind.clone(), by)]))
    }

    #[test]
    fn a_key_is_the_text_at_its_path_and_a_missing_one_is_empty() {
        let by = Path::parse("$.tenant").unwrap();
        let key = |json: &str| key_of(&Payload::parse(json, 2_000).unwrap(), &by);
        assert_eq!(key(r#"{"tenant": "acme"}"#), "\"acme\"");
        assert_eq!(key(r#"{"tenant": 7}"#), "7");
        for none in [r#"{"tenant": null}"#, "{}", "null", "[1]"] {
            assert_eq!(key(none), "", "{none}");
        }
        let long = format!("{{\"tenant\": \"{}\"}}", "x".repeat(1_000));
        assert_eq!(key(&long).chars().count(), KEY_CHARS_MAX);
    }

    #[test]
    fn each_key_gets_the_same_and_at_least_one() {
        for (room, keys, each) in [(10, 2, 5), (10, 3, 3), (1, 5, 1), (10, 0, 10)] {
            assert_eq!(of_each(room, keys), each, "{room} for {keys}");
        }
    }

    #[test]
    fn keys_go_round_from_behind_the_last_one() {
        let last = |after| last_of(["a", "c", "f"].into_iter(), after);
        assert_eq!(last(""), Some("f"));
        assert_eq!(last("a"), Some("a"), "it comes again after all others");
        assert_eq!(last("d"), Some("c"));
        assert_eq!(last_of([].into_iter(), ""), None);
    }

    /// One slot at a time over keys `a` to `c`, while the earliest task has a key that claims do not
    /// see.
    #[test]
    fn one_task_of_every_round_goes_by_time() {
        let kind = Kind::parse("MAIL_SEND").unwrap();
        let (share_by, mut rounds) = (share_by(&kind), Rounds::default());
        let mut taken = Vec::new();
        for _ in 0..8 {
            let turn = rounds.next(&share_by, 1).remove(0);
            let behind = ["a", "b", "c"]
                .into_iter()
                .find(|key| *key > &turn.after[..]);
            let next = (!turn.earliest_first).then(|| behind.unwrap_or("a"));
            taken.push(next.unwrap_or("by time"));
            rounds.note(&kind, next.map(str::to_owned));
        }
        let expected = ["by time", "a", "b", "c", "a", "by time", "b", "c"];
        assert_eq!(taken, expected);
    }
}
