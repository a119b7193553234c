//! When a lock may be forgotten.
//!
//! A lock that goes too early lets another node fire its slot a second time; one that stays too
//! long costs a name. So every doubt keeps it.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};

use super::key::{Content, LockKey};
use crate::plan::{PROMPT, Ready};

/// How far apart the clocks of racing nodes may be before a lock could go too early.
pub const SKEW_MARGIN: SignedDuration = SignedDuration::from_mins(5);
/// How long the locks of an unknown content stay: an older or newer version of the configuration
/// may run elsewhere, with any of the graces that are assumed, and be replaced by ours within a run
/// of its host.
pub const FORGOTTEN_LATENESS_MAX: SignedDuration = SignedDuration::from_hours(24);

/// How long after `slot` a schedule may still try to fire it: splay, then the grace for being late,
/// then the window for trying again.
pub fn lateness_max(ready: &Ready, slot: Timestamp) -> SignedDuration {
    let splay = ready.due_at(slot).duration_since(slot);
    splay
        .saturating_add(ready.grace(slot).max(PROMPT))
        .saturating_add(ready.retry_for(slot))
}

/// The locks that may be removed at `now`. `lateness` says how long after its slot a lock can still
/// matter; see [`lateness_max`] and [`FORGOTTEN_LATENESS_MAX`].
///
/// INVARIANT: the newest lock of each content is never among them. It is how the next start knows
/// which slots have been fired, however long ago that was.
pub fn expired(
    keys: &[LockKey],
    now: Timestamp,
    lateness: impl Fn(&LockKey) -> SignedDuration,
) -> Vec<LockKey> {
    let mut newest: BTreeMap<Content, Timestamp> = BTreeMap::new();
    for key in keys {
        let seen = newest.entry(key.content()).or_insert(key.slot());
        *seen = key.slot().max(*seen);
    }
    let is_newest = |key: &LockKey| newest.get(&key.content()) == Some(&key.slot());
    let is_over = |key: &LockKey| {
        let kept_for = lateness(key).saturating_add(SKEW_MARGIN);
        now.duration_since(key.slot()) > kept_for
    };
    keys.iter()
        .filter(|key| !is_newest(key) && is_over(key))
        .copied()
        .collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::*;

    use super::*;
    use crate::{
        plan::{CatchUp, Definition, ScheduleName},
        schedule::Zone,
        target::Target,
    };

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    fn ready(expression: &str, change: impl Fn(&mut Definition)) -> Ready {
        let target = serde_json::from_str(r#"{"type":"webhook","url":"https://x.example"}"#);
        let mut definition = Definition::new(expression, target.unwrap());
        change(&mut definition);
        let name = ScheduleName::parse("nightly").unwrap();
        Ready::new(&name, definition, &Arc::new(Zone::utc())).unwrap()
    }

    fn content(number: i64) -> Content {
        let url = format!(r#"{{"type":"webhook","url":"https://x.example/{number}"}}"#);
        let target: Target = serde_json::from_str(&url).unwrap();
        Content::of("@10s", "UTC", &target)
    }

    fn key(number: i64, slot: i64) -> LockKey {
        LockKey::new(content(number), at(slot))
    }

    #[test]
    fn dp_07_a_lock_lasts_as_long_as_its_slot_may_be_late() {
        let minutes = SignedDuration::from_mins;
        for (expression, catch_up, lasts, why) in [
            (
                "@10s",
                CatchUp::Latest,
                SignedDuration::from_secs(25),
                "15 s late, 10 s of tries",
            ),
            (
                "@3600s",
                CatchUp::Latest,
                minutes(30 + 60),
                "half the gap, then an hour of tries",
            ),
            (
                "0 8 * * *",
                CatchUp::Latest,
                minutes(12 * 60 + 60),
                "half a day",
            ),
            (
                "@10s",
                CatchUp::All,
                minutes(12 * 60) + SignedDuration::from_secs(10),
                "all of 12 h",
            ),
        ] {
            let ready = ready(expression, |definition| definition.catch_up = catch_up);
            let slot = ready.next_after(at(1_767_600_000)).unwrap();
            assert_eq!(lateness_max(&ready, slot), lasts, "{expression}: {why}");
        }
        let graced = ready("@10s", |definition| {
            definition.grace = Some(SignedDuration::from_hours(48));
        });
        assert!(lateness_max(&graced, at(60)) > SignedDuration::from_hours(48));
    }

    #[test]
    fn dp_07_old_locks_go_and_the_newest_of_each_content_stays() {
        let keys = [
            key(1, 0),
            key(1, 3_600),
            key(2, 0),
            key(1, 100_000),
            key(3, 99_990),
        ];
        let hour = |_: &LockKey| SignedDuration::from_hours(1);
        let gone = expired(&keys, at(100_000), hour);
        assert_eq!(
            gone,
            [key(1, 0), key(1, 3_600)],
            "2 and 3 have only one each"
        );
        let margin = 3_600 + SKEW_MARGIN.as_secs();
        assert_eq!(
            expired(&keys, at(margin), hour),
            [],
            "not before its time is over"
        );
        assert_eq!(expired(&keys, at(margin + 1), hour), [key(1, 0)]);
    }

    proptest! {
        #[test]
        fn dp_07_no_lock_goes_inside_its_lateness_or_while_it_is_the_newest(
            slots in prop::collection::vec((0_i64..4, 0_i64..200_000), 0..40),
            now in 0_i64..300_000,
            lateness in 0_i64..100_000,
        ) {
            let keys: Vec<LockKey> = slots.iter().map(|(number, slot)| key(*number, *slot)).collect();
            let gone = expired(&keys, at(now), |_| SignedDuration::from_secs(lateness));
            for lost in &gone {
                prop_assert!(now - lost.slot().as_second() > lateness);
                let newer = |other: &LockKey| {
                    other.content() == lost.content() && other.slot() > lost.slot()
                };
                prop_assert!(keys.iter().any(newer));
            }
            // Asking again after they are gone removes nothing more.
            let left: Vec<LockKey> =
                keys.iter().filter(|key| !gone.contains(key)).copied().collect();
            prop_assert_eq!(expired(&left, at(now), |_| SignedDuration::from_secs(lateness)), []);
            for number in 0..4 {
                let had = keys.iter().any(|key| key.content() == content(number));
                let has = left.iter().any(|key| key.content() == content(number));
                prop_assert_eq!(had, has, "the newest of each content stays");
            }
        }
    }
}
