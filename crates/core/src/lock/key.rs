//! The name of a lock: what is fired, and when.

use std::fmt;

use jiff::Timestamp;
use serde_json::Value;

use crate::{schedule::hash_of, target::Target};

/// Where locks live among a repository's refs.
pub const REF_PREFIX: &str = "refs/tags/lock/";
/// Hexadecimal digits of a [`Content`].
const CONTENT_DIGITS: usize = 32;

/// What is fired, condensed: expression, zone and target.
///
/// 128 bits, so that two schedules never share a lock by accident. It hides nothing from a reader
/// who can guess the content, and is not meant to: it is there because a ref cannot hold an
/// expression.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Content(u128);

impl Content {
    /// Condenses what a schedule says. White space in the expression and the order of keys in the
    /// target's JSON say nothing; everything else does.
    pub fn of(expression: &str, tz: &str, target: &Target) -> Self {
        let expression: Vec<&str> = expression.split_whitespace().collect();
        let target = serde_json::to_value(target).unwrap_or_default();
        let mut text = String::new();
        // An array, so that no field can run into the next one.
        let parts = [expression.join(" ").into(), tz.into(), target];
        write_sorted(&Value::Array(parts.into()), &mut text);
        // What a hash is for comes first here: two texts that meet in one half must not meet in the
        // other, and the hash reads from left to right.
        let half = |purpose| u128::from(hash_of(purpose, &text));
        Self((half("lock, first half") << 64) | half("lock, second half"))
    }

    /// The content of the receipts for slots of this one: such a slot needs no more care. A receipt
    /// is a lock like any other, so every adapter keeps it, and one list shows both.
    #[must_use]
    pub fn done(self) -> Self {
        let text = self.to_string();
        let half = |purpose| u128::from(hash_of(purpose, &text));
        Self((half("done, first half") << 64) | half("done, second half"))
    }
}

impl fmt::Display for Content {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl fmt::Debug for Content {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// JSON with sorted keys. `serde_json` sorts them or keeps them as written depending on how the
/// whole program was built; a name must not depend on that.
fn write_sorted(value: &Value, text: &mut String) {
    match value {
        Value::Object(map) => {
            let mut pairs: Vec<_> = map.iter().collect();
            pairs.sort_by_key(|(key, _)| key.as_str());
            text.push('{');
            for (key, value) in pairs {
                text.push_str(&Value::from(key.as_str()).to_string());
                text.push(':');
                write_sorted(value, text);
                text.push(',');
            }
            text.push('}');
        }
        Value::Array(values) => {
            text.push('[');
            for value in values {
                write_sorted(value, text);
                text.push(',');
            }
            text.push(']');
        }
        plain => text.push_str(&plain.to_string()),
    }
}

/// Names one lock: `(content, slot)`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LockKey {
    content: Content,
    slot_s: i64,
}

impl LockKey {
    /// The lock on `slot` of what `content` says. Slots are whole seconds.
    pub fn new(content: Content, slot: Timestamp) -> Self {
        Self {
            content,
            slot_s: slot.as_second(),
        }
    }

    /// What is fired.
    pub fn content(&self) -> Content {
        self.content
    }

    /// When.
    pub fn slot(&self) -> Timestamp {
        Timestamp::from_second(self.slot_s).unwrap_or(Timestamp::UNIX_EPOCH)
    }

    /// The receipt for this slot: it needs no more care.
    #[must_use]
    pub fn done(&self) -> Self {
        Self::new(self.content.done(), self.slot())
    }

    /// The ref that is this lock: `refs/tags/lock/<content>-<epoch seconds>`.
    pub fn ref_name(&self) -> String {
        format!("{REF_PREFIX}{self}")
    }

    /// Reads a ref's full name. What we would not write is not ours.
    pub fn parse_ref(name: &str) -> Option<Self> {
        Self::parse(name.strip_prefix(REF_PREFIX)?)
    }

    /// Reads what [`fmt::Display`] writes, and nothing else.
    pub fn parse(text: &str) -> Option<Self> {
        let (content, slot) = text.split_at_checked(CONTENT_DIGITS)?;
        let slot = slot.strip_prefix('-')?.parse().ok()?;
        let key = Self::new(
            Content(u128::from_str_radix(content, 16).ok()?),
            Timestamp::from_second(slot).ok()?,
        );
        (key.to_string() == text).then_some(key)
    }
}

impl fmt::Display for LockKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.content, self.slot_s)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn target(json: &str) -> Target {
        serde_json::from_str(json).unwrap()
    }

    fn workflow() -> Target {
        target(r#"{"type":"workflow","repository":"o/r","workflow":"w.yml"}"#)
    }

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    #[test]
    fn dp_06_a_name_never_changes() {
        // Written into repositories by versions that are out there: old and new chains overlap.
        let key = LockKey::new(
            Content::of("*/5 * * * *", "UTC", &workflow()),
            at(1_767_600_000),
        );
        assert_eq!(
            key.ref_name(),
            "refs/tags/lock/4f6f63459a31efec52c476dddbd36314-1767600000"
        );
        assert_eq!(key.done().slot(), key.slot());
        assert_eq!(key.done().content(), key.content().done());
        assert_eq!(
            key.done().ref_name(),
            "refs/tags/lock/c8b402a7b21fc6e36cd5d689e1a0ae90-1767600000"
        );
    }

    #[test]
    fn dp_06_a_name_says_what_is_fired_and_not_how_it_was_written() {
        let written = |body: &str| {
            target(&format!(
                r#"{{"type":"webhook","url":"https://x.example/","body":{body}}}"#
            ))
        };
        let of = |expression, target: &Target| Content::of(expression, "UTC", target);
        assert_eq!(
            of("0 8 * * *", &written(r#"{"a":1,"b":{"c":2,"d":3}}"#)),
            of(
                " 0  8\t* * *",
                &written(r#"{ "b": {"d":3, "c":2}, "a": 1 }"#)
            ),
        );
        let implied = workflow();
        let spelled =
            target(r#"{"ref":"main","workflow":"w.yml","repository":"o/r","type":"workflow"}"#);
        assert_eq!(of("0 8 * * *", &implied), of("0 8 * * *", &spelled));
    }

    #[test]
    fn dp_06_different_contents_have_different_names() {
        let other = target(r#"{"type":"workflow","repository":"o/r","workflow":"v.yml"}"#);
        let inputs = target(
            r#"{"type":"workflow","repository":"o/r","workflow":"w.yml","inputs":{"a":"1"}}"#,
        );
        let contents: BTreeSet<Content> = [
            ("0 8 * * *", "UTC", &workflow()),
            ("0 8 * * 1", "UTC", &workflow()),
            ("0 8 * * *", "Asia/Shanghai", &workflow()),
            ("0 8 * * *", "UTC", &other),
            ("0 8 * * *", "UTC", &inputs),
            // The same letters, cut elsewhere.
            ("0 8 * * * U", "TC", &workflow()),
            ("@10s", "UTC", &workflow()),
            ("@1s0", "UTC", &workflow()),
        ]
        .into_iter()
        .map(|(expression, tz, target)| Content::of(expression, tz, target))
        .collect();
        assert_eq!(contents.len(), 8);
    }

    #[test]
    fn what_we_would_not_write_is_not_a_lock() {
        let good = LockKey::new(Content(0xabc), at(60)).ref_name();
        assert!(LockKey::parse_ref(&good).is_some());
        for bad in [
            good.replace("refs/tags", "refs/heads"),
            good.replace("abc", "ABC"),
            good.replace("-60", "-060"),
            good.replace("-60", "-+60"),
            good.replace("-60", "-60 "),
            good.replace("-60", "-99999999999999"),
            good.replace("-60", ""),
            good.replace("0000abc", "00é0abc"),
            good.replace("0abc", "abc"),
            "refs/tags/lock/xx5xxxxxxxx0-202601050800".to_owned(),
            "refs/tags/v1.0".to_owned(),
            String::new(),
        ] {
            assert_eq!(LockKey::parse_ref(&bad), None, "{bad}");
        }
    }

    proptest! {
        #[test]
        fn a_name_reads_back(content: u128, slot in -9_999_999_999_i64..99_999_999_999) {
            let key = LockKey::new(Content(content), at(slot));
            prop_assert_eq!(LockKey::parse_ref(&key.ref_name()), Some(key));
            prop_assert_eq!(key.slot(), at(slot));
        }

        #[test]
        fn dp_05_two_slots_have_two_names(a in 0_i64..9_999_999_999, b in 0_i64..9_999_999_999) {
            let name = |slot| LockKey::new(Content(7), at(slot)).ref_name();
            prop_assert_eq!(a == b, name(a) == name(b));
        }
    }
}
