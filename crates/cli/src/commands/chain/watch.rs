//! Watched locks: a chain that may not use its locks fires nothing, and its operator notices only
//! if the run fails.
//!
//! A refusal before anything has worked is an error in the setup: the run stops immediately. Later
//! refusals may be temporary; then the last access to the locks decides.

use std::sync::{Arc, Mutex, PoisonError};

use almanack_core::lock::{Acquired, Error, LockKey, SlotLock};
use async_trait::async_trait;
use tokio_util::sync::CancellationToken;

use crate::commands::prelude::*;

/// The state of the locks so far.
#[derive(Debug, Default)]
struct LockState {
    /// Whether a list has come.
    listed: bool,
    /// Whether an attempt to create a lock was answered.
    created: bool,
    /// What stopped the run.
    refused: Option<String>,
    /// The error of the last access.
    trouble: Option<String>,
}

/// Locks that are watched.
pub(super) struct Watched {
    lock: Arc<dyn SlotLock>,
    seen: Arc<Mutex<LockState>>,
    stop: CancellationToken,
}

/// The result of the run, by its locks.
pub(super) struct Verdict(Arc<Mutex<LockState>>);

/// Watches locks; cancels `stop` on a refusal.
pub(super) fn watch(lock: Arc<dyn SlotLock>, stop: CancellationToken) -> (Watched, Verdict) {
    let seen = Arc::new(Mutex::new(LockState::default()));
    let verdict = Verdict(Arc::clone(&seen));
    (Watched { lock, seen, stop }, verdict)
}

impl Watched {
    fn note(&self, note: impl FnOnce(&mut LockState)) {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        note(&mut seen);
        if seen.refused.is_some() {
            self.stop.cancel();
        }
    }
}

#[async_trait]
impl SlotLock for Watched {
    async fn acquire(&self, key: &LockKey) -> Result<Acquired, Error> {
        let acquired = self.lock.acquire(key).await;
        self.note(|seen| match &acquired {
            Ok(_) => seen.created = true,
            Err(error @ Error::Refused { .. }) if !seen.created => {
                seen.refused = Some(format!("create a lock: {error}"));
            }
            Err(_) => {}
        });
        acquired
    }

    async fn list(&self) -> Result<Vec<LockKey>, Error> {
        let listed = self.lock.list().await;
        self.note(|seen| {
            let error = listed.as_ref().err();
            seen.trouble = error.map(|error| format!("list locks: {error}"));
            match error {
                None => seen.listed = true,
                Some(Error::Refused { .. }) if !seen.listed => {
                    seen.refused.clone_from(&seen.trouble);
                }
                Some(_) => {}
            }
        });
        listed
    }

    async fn clean(&self, expired: &[LockKey]) -> Result<(), Error> {
        self.lock.clean(expired).await
    }
}

impl Verdict {
    /// Whether the run could use its locks.
    pub(super) fn exit(&self) -> Done {
        let seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(what) = &seen.refused {
            return Err(Failure::failed(what).hint(hint(what)));
        }
        match &seen.trouble {
            Some(what) => Err(Failure::failed(format!("at the end: {what}"))),
            None => Ok(Exit::Ok),
        }
    }
}

/// What a person can do about a refusal. The locks' own words carry the status.
fn hint(what: &str) -> &'static str {
    if what.contains("HTTP 401") {
        "GH_TOKEN is not valid; in the workflow: GH_TOKEN: ${{ github.token }}"
    } else if what.contains("HTTP 403") {
        "GH_TOKEN may not write tags; in the workflow: permissions: contents: write"
    } else if what.contains("HTTP 404") {
        "GITHUB_REPOSITORY does not exist, or GH_TOKEN cannot see it; \
         in the workflow: permissions: contents: write"
    } else if what.contains("HTTP 422") {
        "GITHUB_SHA must be a commit of GITHUB_REPOSITORY; GitHub Actions sets both"
    } else {
        "locks are tags; the token must be allowed to write them"
    }
}
