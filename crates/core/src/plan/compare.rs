//! What a change of schedules changes: which firings come, which go, which stay.
//!
//! Pure and exact: both rules are walked side by side over the same stretch of time. What a firing
//! is depends on the instant it fires at, splay included, so that a slot that moves is one that
//! goes and one that comes.

use std::{cmp::Ordering, iter::Peekable};

use jiff::Timestamp;
use serde_json::{Map, Value};

use super::{Definition, Ready};

/// Firings walked in one comparison. A schedule of every second has as many in eleven days.
pub const COMPARED_MAX: u64 = 1_000_000;

/// A stretch of time, and how much of it is listed one by one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stretch {
    pub from: Timestamp,
    pub until: Timestamp,
    /// How many are listed; all are counted.
    pub listed_max: usize,
    /// How many of its runs the schedule has had, where their number is limited.
    pub runs_done: u64,
}

/// Some firings: the first of them, and how many there are.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Firings {
    /// The first, in order.
    pub listed: Vec<Timestamp>,
    pub count: u64,
}

/// What happens to the firings of one schedule.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Comparison {
    /// Those that only the new rule has.
    pub come: Firings,
    /// Those that only the old rule has.
    pub go: Firings,
    /// How many both have.
    pub stay: u64,
    /// Whether the whole stretch was walked.
    pub complete: bool,
}

/// Compares what a schedule does with what it would do; `None` is a schedule that is not there.
pub fn compare(old: Option<&Ready>, new: Option<&Ready>, stretch: Stretch) -> Comparison {
    let mut found = Comparison::default();
    let mut old = firings(old, stretch).peekable();
    let mut new = firings(new, stretch).peekable();
    for _ in 0..COMPARED_MAX {
        match sooner(&mut old, &mut new) {
            None => {
                found.complete = true;
                break;
            }
            Some(Ordering::Less) => found.go.add(old.next(), stretch.listed_max),
            Some(Ordering::Greater) => found.come.add(new.next(), stretch.listed_max),
            Some(Ordering::Equal) => {
                old.next();
                new.next();
                found.stay += 1;
            }
        }
    }
    found
}

impl Firings {
    fn add(&mut self, at: Option<Timestamp>, listed_max: usize) {
        self.count += 1;
        if self.listed.len() < listed_max {
            self.listed.extend(at);
        }
    }
}

fn sooner<T: Ord>(
    old: &mut Peekable<impl Iterator<Item = T>>,
    new: &mut Peekable<impl Iterator<Item = T>>,
) -> Option<Ordering> {
    match (old.peek(), new.peek()) {
        (None, None) => None,
        (Some(_), None) => Some(Ordering::Less),
        (None, Some(_)) => Some(Ordering::Greater),
        (Some(old), Some(new)) => Some(old.cmp(new)),
    }
}

/// When a schedule fires within the stretch. A slot before it may be due inside, by its splay.
fn firings(ready: Option<&Ready>, stretch: Stretch) -> impl Iterator<Item = Timestamp> {
    let before = ready.and_then(|ready| ready.previous_before(stretch.from));
    let first = before.or_else(|| ready.and_then(|ready| ready.next_from(stretch.from)));
    let slots = std::iter::successors(first, move |slot| ready?.next_after(*slot));
    let left_in = slots.filter(move |slot| ready.is_some_and(|it| it.exclusion(*slot).is_none()));
    let left = ready.and_then(|ready| ready.runs_left(stretch.runs_done));
    let left = left.map_or(usize::MAX, |left| {
        usize::try_from(left).unwrap_or(usize::MAX)
    });
    left_in
        .filter_map(move |slot| Some(ready?.due_at(slot)))
        .skip_while(move |at| *at <= stretch.from)
        .take_while(move |at| *at <= stretch.until)
        .take(left)
}

/// The keys in which two definitions differ, in the order of their names.
pub fn changed_keys(old: &Definition, new: &Definition) -> Vec<String> {
    let (old, new) = (keys(old), keys(new));
    let mut names: Vec<&String> = old.keys().chain(new.keys()).collect();
    names.sort();
    names.dedup();
    let changed = names
        .into_iter()
        .filter(|name| old.get(*name) != new.get(*name));
    changed.cloned().collect()
}

fn keys(definition: &Definition) -> Map<String, Value> {
    match serde_json::to_value(definition) {
        Ok(Value::Object(keys)) => keys,
        _ => Map::new(),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use jiff::SignedDuration;
    use proptest::prelude::*;

    use super::*;
    use crate::{plan::ScheduleName, schedule::Zone, target::Target};

    fn definition(expression: &str, splay_s: i64) -> Definition {
        let target = Target::Task {
            kind: "K".to_owned(),
            subject: "s".to_owned(),
            payload: None,
        };
        Definition {
            splay: SignedDuration::from_secs(splay_s),
            ..Definition::new(expression, target)
        }
    }

    fn ready(expression: &str, splay_s: i64) -> Ready {
        let name = ScheduleName::parse("nightly").unwrap();
        let definition = definition(expression, splay_s);
        Ready::new(&name, definition, &Arc::new(Zone::utc())).unwrap()
    }

    fn at(text: &str) -> Timestamp {
        format!("2026-01-05T{text}Z").parse().unwrap()
    }

    fn stretch(hours: i64) -> Stretch {
        Stretch {
            from: at("00:00:00"),
            until: at("00:00:00") + SignedDuration::from_hours(hours),
            listed_max: 2,
            runs_done: 0,
        }
    }

    #[test]
    fn firings_come_go_and_stay() {
        let (old, new) = (ready("0 */6 * * *", 0), ready("0 */4 * * *", 0));
        let found = compare(Some(&old), Some(&new), stretch(24));
        assert_eq!(found.come.listed, [at("04:00:00"), at("08:00:00")]);
        assert_eq!((found.come.count, found.go.count, found.stay), (4, 2, 2));
        assert_eq!(found.go.listed, [at("06:00:00"), at("18:00:00")]);
        assert!(found.complete);
    }

    #[test]
    fn a_new_schedule_only_comes_and_a_removed_one_only_goes() {
        let rule = ready("@hourly", 0);
        let created = compare(None, Some(&rule), stretch(3));
        assert_eq!((created.come.count, created.go.count), (3, 0));
        let removed = compare(Some(&rule), None, stretch(3));
        assert_eq!((removed.come.count, removed.go.count), (0, 3));
        assert_eq!(compare(None, None, stretch(3)).stay, 0);
    }

    #[test]
    fn dp_22_a_number_of_runs_ends_the_firings() {
        let limited = |runs| {
            let name = ScheduleName::parse("nightly").unwrap();
            let definition = Definition {
                runs: Some(runs),
                ..definition("@hourly", 0)
            };
            Ready::new(&name, definition, &Arc::new(Zone::utc())).unwrap()
        };
        let (old, new) = (limited(2), limited(3));
        for (runs_done, expected) in [(0, (1, 2)), (1, (1, 1)), (2, (1, 0)), (3, (0, 0))] {
            let had = Stretch {
                runs_done,
                ..stretch(24)
            };
            let found = compare(Some(&old), Some(&new), had);
            let (come, stay) = expected;
            assert_eq!(
                (found.come.count, found.go.count, found.stay),
                (come, 0, stay)
            );
        }
    }

    #[test]
    fn a_splay_moves_every_firing() {
        let (old, new) = (ready("@hourly", 0), ready("@hourly", 1_800));
        assert_ne!(new.due_at(at("01:00:00")), at("01:00:00"), "its own splay");
        let found = compare(Some(&old), Some(&new), stretch(3));
        assert_eq!((found.go.count, found.stay), (3, 0));
        assert_eq!(found.come.count, 3, "the slot at 00:00 is due after it");
        let due_at = new.due_at(at("01:00:00"));
        let moment = Stretch {
            from: due_at - SignedDuration::from_secs(1),
            until: due_at,
            listed_max: 2,
            runs_done: 0,
        };
        let found = compare(None, Some(&new), moment);
        assert_eq!(
            found.come.listed,
            [due_at],
            "a slot from before the stretch"
        );
    }

    #[test]
    fn what_differs_is_named() {
        let (old, new) = (definition("@hourly", 0), definition("@daily", 60));
        assert_eq!(changed_keys(&old, &new), ["expression", "splay"]);
        assert_eq!(changed_keys(&old, &old), Vec::<String>::new());
    }

    proptest! {
        #[test]
        fn everything_is_counted_once(a in 1_u32..600, b in 1_u32..600) {
            let (old, new) = (ready(&format!("@{a}s"), 0), ready(&format!("@{b}s"), 0));
            let found = compare(Some(&old), Some(&new), stretch(1));
            let all = |rule: &Ready| compare(None, Some(rule), stretch(1)).come.count;
            prop_assert_eq!(found.go.count + found.stay, all(&old));
            prop_assert_eq!(found.come.count + found.stay, all(&new));
        }
    }
}
