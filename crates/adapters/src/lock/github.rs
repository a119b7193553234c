//! Locks as refs over GitHub's REST API: 201 won, 422 "Reference already exists" lost, everything
//! else no answer (DP-05, DP-06).
//!
//! One request per lock, because the hourly budget is small (DP-13). That leaves a question: the
//! answer to a creation got lost, and the repetition finds the ref; whose is it? All chains would
//! point their locks to the same commit, so the ref itself would not show it. Therefore each
//! process makes one annotated tag object at its first lock, its receipt, with a random number in
//! it, and points all its locks there: one request per process instead of one per lock, and a lock
//! shows whose it is. It is read only after a lost answer.
//!
//! Within a process the tag object does not distinguish callers; there, won locks are recorded, and
//! no caller wins one again. Where GitHub refuses to make the tag object, locks point to the
//! commit, and a doubtful one counts as lost: a slot may then be missed, but is never fired twice.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex},
};

use almanack_core::{
    lock::{Acquired, Doubts, Error, LockKey, REF_PREFIX, SlotLock},
    time::Entropy,
};
use async_trait::async_trait;
use tokio::sync::OnceCell;

use crate::{
    github::{self, Github, Repository},
    locked,
};

/// Won locks that are recorded; far more than are ever in doubt at once.
const WON_MAX: usize = 10_000;

/// What locks of this process point to.
struct Receipt {
    sha: String,
    /// Whether no other process's locks do.
    is_own: bool,
}

#[derive(Default)]
struct Book {
    doubts: Doubts<()>,
    won: BTreeSet<LockKey>,
}

/// Locks as refs of a GitHub repository.
pub struct GithubLock {
    github: Arc<Github>,
    repository: Repository,
    commit: String,
    entropy: Arc<dyn Entropy>,
    receipt: OnceCell<Receipt>,
    book: Mutex<Book>,
}

impl GithubLock {
    /// Locks in `repository`. `commit` is any commit in it, such as the one that the workflow runs
    /// on.
    pub fn new(
        github: Arc<Github>,
        repository: Repository,
        commit: String,
        entropy: Arc<dyn Entropy>,
    ) -> Self {
        Self {
            github,
            repository,
            commit,
            entropy,
            receipt: OnceCell::new(),
            book: Mutex::default(),
        }
    }

    async fn receipt(&self) -> Result<&Receipt, github::Error> {
        let make = async || {
            let message = format!(
                "{:016x}{:016x}",
                self.entropy.next_u64(),
                self.entropy.next_u64()
            );
            let made = self
                .github
                .create_tag_object(&self.repository, &self.commit, "lock", &message)
                .await;
            match made {
                Ok(sha) => Ok(Receipt { sha, is_own: true }),
                Err(github::Error::Refused { .. }) => Ok(Receipt {
                    sha: self.commit.clone(),
                    is_own: false,
                }),
                Err(error) => Err(error),
            }
        };
        self.receipt.get_or_try_init(make).await
    }

    async fn try_acquire(&self, key: &LockKey, in_doubt: bool) -> Result<bool, github::Error> {
        let receipt = self.receipt().await?;
        let name = key.ref_name();
        let created = self
            .github
            .create_ref(&self.repository, &name, &receipt.sha);
        match created.await {
            Ok(()) => Ok(true),
            Err(error) if error.refused_with(422, "reference already exists") => {
                Ok(in_doubt && receipt.is_own && self.points_to(&name, &receipt.sha).await?)
            }
            Err(error) => Err(error),
        }
    }

    async fn points_to(&self, name: &str, sha: &str) -> Result<bool, github::Error> {
        match self.github.read_ref(&self.repository, name).await {
            Ok(found) => Ok(found.sha == sha),
            // Cleaned up meanwhile, so it is long over.
            Err(error) if error.refused_with(404, "") => Ok(false),
            Err(error) => Err(error),
        }
    }
}

impl Book {
    /// Records a win; returns whether it is the first.
    fn win(&mut self, key: LockKey) -> bool {
        if self.won.len() >= WON_MAX {
            self.won.clear();
        }
        self.won.insert(key)
    }
}

#[async_trait]
impl SlotLock for GithubLock {
    async fn acquire(&self, key: &LockKey) -> Result<Acquired, Error> {
        let in_doubt = locked(&self.book).doubts.take(key).is_some();
        let tried = self.try_acquire(key, in_doubt).await;
        let mut book = locked(&self.book);
        match tried {
            Ok(true) if book.win(*key) => Ok(Acquired::Won),
            Ok(_) => Ok(Acquired::Lost),
            Err(error) => {
                if in_doubt || error.may_have_taken_effect() {
                    book.doubts.put(*key, ());
                }
                Err(lock_error(&error))
            }
        }
    }

    async fn list(&self) -> Result<Vec<LockKey>, Error> {
        let refs = self.github.list_refs(&self.repository, REF_PREFIX).await;
        let refs = refs.map_err(|error| lock_error(&error))?;
        Ok(refs
            .iter()
            .filter_map(|found| LockKey::parse_ref(&found.name))
            .collect())
    }

    async fn clean(&self, expired: &[LockKey]) -> Result<(), Error> {
        let names: Vec<String> = expired.iter().map(LockKey::ref_name).collect();
        let deleted = self.github.delete_refs(&self.repository, &names).await;
        let mut book = locked(&self.book);
        for key in expired {
            book.won.remove(key);
        }
        deleted.map_err(|error| lock_error(&error))
    }
}

fn lock_error(error: &github::Error) -> Error {
    if error.is_transient() {
        Error::Unavailable {
            why: error.to_string(),
            retry_after: error.retry_after(),
        }
    } else {
        Error::Refused {
            why: error.to_string(),
        }
    }
}
