//! A short-lived cache of credentials found in the store.
//!
//! Keys are hashes of the credentials. Misses are not cached: a new credential works at once, and
//! guessing cannot fill the cache.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::is_fresh;
use crate::prelude::*;

/// Most entries; beyond that the cache is cleared.
const REMEMBERED_MAX: usize = 1024;

/// What was found, and when.
pub(super) struct Memory<T>(Mutex<BTreeMap<String, (T, Timestamp)>>);

impl<T> Default for Memory<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T: Clone> Memory<T> {
    /// The cached value if it is fresh, else what `load` finds.
    pub(super) async fn recall_or(
        &self,
        hash: &str,
        now: Timestamp,
        load: impl Future<Output = Result<Option<T>>>,
    ) -> Result<Option<T>> {
        let known = self.recall(hash, now);
        if known.is_some() {
            return Ok(known);
        }
        let found = load.await?;
        self.keep(hash, found.as_ref(), now);
        Ok(found)
    }

    fn recall(&self, hash: &str, now: Timestamp) -> Option<T> {
        let remembered = self.lock();
        let (found, seen_at) = remembered.get(hash)?;
        is_fresh(*seen_at, now).then(|| found.clone())
    }

    /// Caches a hit; a miss is not cached.
    pub(super) fn keep(&self, hash: &str, found: Option<&T>, now: Timestamp) {
        let mut remembered = self.lock();
        let Some(found) = found else {
            remembered.remove(hash);
            return;
        };
        if remembered.len() >= REMEMBERED_MAX {
            remembered.clear();
        }
        remembered.insert(hash.to_owned(), (found.clone(), now));
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, (T, Timestamp)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
