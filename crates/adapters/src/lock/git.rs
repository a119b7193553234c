//! Locks on any Git server, over the git command line.
//!
//! A lock is a ref that a push may only create. Git decides atomically, on every server and over
//! every transport, and has its own credentials: this module never sees them. An address that
//! contains a password is refused, because argument lists are visible to every user of the machine.
//!
//! Every attempt pushes a separate commit with a random number in it. Without that, two nodes would
//! push the same object, git would answer the second one "up to date" with exit code 0, and both
//! would believe they won. So only the status "new" wins; and after a push whose answer was lost,
//! finding its own commit on the ref wins too, because no other node has it.
//!
//! Commits are made in the node's own scratch repository; nothing is ever fetched.

mod porcelain;
mod run;

use std::{
    collections::BTreeMap,
    path::PathBuf,
    sync::{Arc, Mutex},
    time::Duration,
};

use almanack_core::{
    lock::{Acquired, Doubts, Error, LockKey, REF_PREFIX, SlotLock},
    time::Entropy,
};
use async_trait::async_trait;
use tokio::sync::OnceCell;
use url::Url;

use porcelain::{PushStatus, read_refs, read_statuses};
use run::{Git, Output};

use crate::locked;

/// Refs deleted by one push: their names and leases must fit into an argument list.
const REFS_PER_PUSH: usize = 100;
/// How old an object must be before the scratch repository forgets it: longer than any push takes.
const SCRATCH_KEEPS: &str = "--expire=1.hour.ago";

/// Where locks are kept, and how to get there.
#[derive(Clone)]
pub struct GitSettings {
    /// The repository: `https://…`, `ssh://…`, `git@host:owner/name.git`, a path.
    pub url: String,
    /// This node's own directory, created if it is missing.
    pub scratch: PathBuf,
    /// How long one git command may take.
    pub timeout: Duration,
    /// What git finds in its environment besides the node's own: credentials, in git's own ways
    /// (`GIT_CONFIG_COUNT`, `GIT_ASKPASS`, `GIT_SSH_COMMAND`).
    pub environment: BTreeMap<String, String>,
}

/// Why an address is refused. Never echoes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Unusable {
    /// It holds a password.
    #[error(
        "the address of the lock repository contains a password; let git find it by its own configuration"
    )]
    Password,
    /// It would be taken for an option, or for a command to run.
    #[error("the address of the lock repository is not one that git can push to")]
    Address,
}

/// Locks as refs on a Git server.
pub struct GitLock {
    git: Git,
    entropy: Arc<dyn Entropy>,
    /// The empty tree in the scratch repository, once it is there.
    tree: OnceCell<String>,
    doubts: Mutex<Doubts<String>>,
}

impl GitLock {
    /// Locks in the repository of `settings`. Asks nothing yet.
    pub fn new(entropy: Arc<dyn Entropy>, settings: GitSettings) -> Result<Self, Unusable> {
        check_address(&settings.url)?;
        Ok(Self {
            git: Git::new(settings),
            entropy,
            tree: OnceCell::new(),
            doubts: Mutex::default(),
        })
    }

    async fn prepare(&self) -> Result<&str, Error> {
        let made = self.tree.get_or_try_init(async || {
            self.git.init().await?;
            self.git.write("tree", Vec::new()).await
        });
        Ok(made.await?.as_str())
    }

    /// A commit that no other attempt has.
    async fn commit(&self, key: &LockKey) -> Result<String, Error> {
        let tree = self.prepare().await?;
        let at = key.slot().as_second().max(0);
        let (high, low) = (self.entropy.next_u64(), self.entropy.next_u64());
        let commit = format!(
            "tree {tree}\n\
             author almanack <almanack@localhost> {at} +0000\n\
             committer almanack <almanack@localhost> {at} +0000\n\
             \n\
             lock {key}\n\
             mark {high:016x}{low:016x}\n"
        );
        self.git.write("commit", commit.into_bytes()).await
    }

    async fn settle(&self, key: &LockKey, commit: &str, in_doubt: bool) -> Result<Acquired, Error> {
        let name = key.ref_name();
        let lease = format!("--force-with-lease={name}:");
        let refspec = format!("{commit}:{name}");
        let output = self.git.push(&[lease], &[refspec]).await?;
        let won = match self.status_of(&output, &name)? {
            PushStatus::New => true,
            // The lock is taken; by us, if the first push arrived after all.
            PushStatus::UpToDate | PushStatus::Exists => {
                in_doubt && self.is_own(&name, commit).await?
            }
            PushStatus::Deleted | PushStatus::Refused => return Err(self.git.refusal(&output)),
        };
        Ok(if won { Acquired::Won } else { Acquired::Lost })
    }

    fn status_of(&self, output: &Output, name: &str) -> Result<PushStatus, Error> {
        let statuses = read_statuses(&output.stdout, &output.stderr);
        let found = statuses.into_iter().find(|(of, _)| of == name);
        found
            .map(|(_, pushed)| pushed)
            .ok_or_else(|| self.git.failure(output))
    }

    async fn is_own(&self, name: &str, commit: &str) -> Result<bool, Error> {
        let refs = self.refs(name).await?;
        Ok(refs.iter().any(|(of, oid)| of == name && oid == commit))
    }

    /// Names and object ids of the server's refs that match `pattern`.
    async fn refs(&self, pattern: &str) -> Result<Vec<(String, String)>, Error> {
        self.prepare().await?;
        let output = self.git.ls_remote(pattern).await?;
        if output.success {
            Ok(read_refs(&output.stdout))
        } else {
            Err(self.git.failure(&output))
        }
    }

    /// Deletes refs if they still are what was seen.
    async fn delete(&self, seen: &[(String, String)]) -> Result<(), Error> {
        let leases: Vec<String> = seen
            .iter()
            .map(|(name, oid)| format!("--force-with-lease={name}:{oid}"))
            .collect();
        let refspecs: Vec<String> = seen.iter().map(|(name, _)| format!(":{name}")).collect();
        let output = self.git.push(&leases, &refspecs).await?;
        for (name, _) in seen {
            if self.status_of(&output, name)? == PushStatus::Refused {
                return Err(self.git.refusal(&output));
            }
        }
        Ok(())
    }
}

#[async_trait]
impl SlotLock for GitLock {
    async fn acquire(&self, key: &LockKey) -> Result<Acquired, Error> {
        let doubted = locked(&self.doubts).take(key);
        let in_doubt = doubted.is_some();
        let commit = match doubted {
            Some(commit) => commit,
            None => self.commit(key).await?,
        };
        let settled = self.settle(key, &commit, in_doubt).await;
        if settled.is_err() {
            locked(&self.doubts).put(*key, commit);
        }
        settled
    }

    async fn list(&self) -> Result<Vec<LockKey>, Error> {
        let refs = self.refs(&format!("{REF_PREFIX}*")).await?;
        let keys = refs.iter().filter_map(|(name, _)| LockKey::parse_ref(name));
        Ok(keys.collect())
    }

    async fn clean(&self, expired: &[LockKey]) -> Result<(), Error> {
        if expired.is_empty() {
            return Ok(());
        }
        let mut seen = self.refs(&format!("{REF_PREFIX}*")).await?;
        seen.retain(|(name, _)| LockKey::parse_ref(name).is_some_and(|key| expired.contains(&key)));
        for seen in seen.chunks(REFS_PER_PUSH) {
            self.delete(seen).await?;
        }
        // Commits of won and lost locks pile up; not getting rid of them costs only space.
        let _ = self.git.prune(SCRATCH_KEEPS).await;
        Ok(())
    }
}

fn check_address(address: &str) -> Result<(), Unusable> {
    // `ext::` and its like run what follows them.
    if address.is_empty() || address.starts_with('-') || address.contains("::") {
        return Err(Unusable::Address);
    }
    match Url::parse(address) {
        Ok(url) if url.password().is_some() => Err(Unusable::Password),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dp_15_an_address_with_a_password_is_refused() {
        for (address, expected) in [
            ("https://example.org/o/r.git", Ok(())),
            ("ssh://git@example.org/o/r.git", Ok(())),
            ("git@example.org:o/r.git", Ok(())),
            ("/srv/locks.git", Ok(())),
            (
                "https://me:hush@example.org/o/r.git",
                Err(Unusable::Password),
            ),
            ("--upload-pack=evil", Err(Unusable::Address)),
            ("ext::sh -c evil", Err(Unusable::Address)),
            ("", Err(Unusable::Address)),
        ] {
            assert_eq!(check_address(address), expected, "{address}");
        }
    }
}
