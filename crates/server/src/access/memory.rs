//! A short-lived cache of credentials found in the store.
//!
//! Keys are hashes of the credentials. Misses are not cached: a new credential works at once, and
//! guessing cannot fill the cache.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::REMEMBERED_FOR;
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
    /// The cached value, if it is fresh.
    pub(super) fn recall(&self, hash: &str, now: Timestamp) -> Option<T> {
        let remembered = self.lock();
        let (found, seen_at) = remembered.get(hash)?;
        let age = now.duration_since(*seen_at);
        // A clock that was set back must not extend the cache.
        let fresh = age >= SignedDuration::ZERO && age < REMEMBERED_FOR;
        fresh.then(|| found.clone())
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
