//! Creations whose answer was never seen.
//!
//! Asking again after an error would find a lock that may be one's own and call it lost. So an
//! adapter remembers what exactly it tried to create, and recognises it when it meets it again.

use std::collections::BTreeMap;

use super::key::LockKey;

/// Doubts that are remembered; beyond, the oldest slot's is forgotten, and its lock counts as lost.
const DOUBTS_MAX: usize = 1_000;

/// What was tried, by key. INVARIANT: a receipt is given to one caller at a time, so two callers of
/// one process never both recognise the same creation as theirs.
#[derive(Debug)]
pub struct Doubts<T>(BTreeMap<LockKey, T>);

impl<T> Default for Doubts<T> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

impl<T> Doubts<T> {
    /// Takes what was tried for `key`, if its outcome is in doubt. The caller that takes it
    /// decides, or puts it back.
    pub fn take(&mut self, key: &LockKey) -> Option<T> {
        self.0.remove(key)
    }

    /// Remembers that the outcome of trying `receipt` is in doubt.
    pub fn put(&mut self, key: LockKey, receipt: T) {
        self.0.insert(key, receipt);
        if self.0.len() > DOUBTS_MAX {
            let oldest = self.0.keys().min_by_key(|key| key.slot()).copied();
            oldest.map(|key| self.0.remove(&key));
        }
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;
    use crate::{lock::Content, target::Target};

    #[test]
    fn a_doubt_is_one_callers_and_the_oldest_is_forgotten_first() {
        let target: Target =
            serde_json::from_str(r#"{"type":"webhook","url":"https://x.example"}"#).unwrap();
        let content = Content::of("@10s", "UTC", &target);
        let key = |slot| LockKey::new(content, Timestamp::from_second(slot).unwrap());
        let mut doubts = Doubts::default();
        for slot in 0..1_001 {
            doubts.put(key(slot), slot);
        }
        assert_eq!(doubts.take(&key(0)), None, "forgotten");
        assert_eq!(doubts.take(&key(1_000)), Some(1_000));
        assert_eq!(doubts.take(&key(1_000)), None, "taken");
    }
}
