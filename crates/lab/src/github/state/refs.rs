//! References: names over commits, created at most once.

use super::{Hosted, object::Oid};
use crate::github::refusal::Refusal;

/// Whether commits may get lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Push {
    /// The new commit must contain the old one.
    FastForward,
    /// Any commit will do.
    Force,
}

/// One change among several that happen together or not at all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefUpdate {
    /// Full name.
    pub name: String,
    /// What it must be before: nothing said, absent (zeros), or this commit.
    pub before: Option<Oid>,
    /// What it is afterwards; zeros delete it.
    pub after: Oid,
    /// Whether commits may get lost.
    pub push: Push,
}

impl Hosted {
    /// What a full name points to.
    pub fn find_ref(&self, name: &str) -> Option<&Oid> {
        self.refs.get(name)
    }

    /// All references whose full name starts like this, in order of their names.
    pub fn matching_refs(&self, prefix: &str) -> impl Iterator<Item = (&str, &Oid)> {
        let from = self.refs.range(prefix.to_owned()..);
        from.take_while(move |(name, _)| name.starts_with(prefix))
            .map(|(name, sha)| (name.as_str(), sha))
    }

    /// Creates a reference that is not there yet.
    pub fn create_ref(&mut self, name: &str, sha: &str) -> Result<Oid, Refusal> {
        check_name(name)?;
        let sha = Oid::parse(sha).ok_or(Refusal::BadSha)?;
        if !self.has_object(&sha) {
            return Err(Refusal::ObjectMissing);
        }
        if self.refs.contains_key(name) {
            return Err(Refusal::RefExists);
        }
        if self.has_neighbour(name) {
            return Err(Refusal::RefUpdateFailed);
        }
        self.refs.insert(name.to_owned(), sha.clone());
        Ok(sha)
    }

    /// Points a reference somewhere else.
    pub fn update_ref(&mut self, name: &str, sha: &str, push: Push) -> Result<Oid, Refusal> {
        let sha = Oid::parse(sha).ok_or(Refusal::BadSha)?;
        let before = self.refs.get(name).ok_or(Refusal::RefMissing)?;
        self.check_move(before, &sha, push)?;
        self.refs.insert(name.to_owned(), sha.clone());
        Ok(sha)
    }

    /// Removes a reference.
    pub fn delete_ref(&mut self, name: &str) -> Result<(), Refusal> {
        let removed = self.refs.remove(name);
        removed.map(|_| ()).ok_or(Refusal::RefMissing)
    }

    /// Makes all changes, or none.
    pub fn update_refs(&mut self, updates: &[RefUpdate]) -> Result<(), Refusal> {
        let before = self.refs.clone();
        let done = updates.iter().try_for_each(|update| self.apply(update));
        if done.is_err() {
            self.refs = before;
        }
        done
    }

    fn apply(&mut self, update: &RefUpdate) -> Result<(), Refusal> {
        let present = self.refs.get(&update.name);
        match (&update.before, present) {
            (Some(wanted), Some(_)) if wanted.is_zero() => return Err(Refusal::RefExists),
            (Some(wanted), None) if !wanted.is_zero() => return Err(Refusal::RefMissing),
            (Some(wanted), Some(found)) if wanted != found => {
                return Err(Refusal::RefUpdateFailed);
            }
            _ => {}
        }
        match (present, update.after.is_zero()) {
            (_, true) => self.delete_ref(&update.name),
            (None, false) => self
                .create_ref(&update.name, update.after.as_str())
                .map(drop),
            (Some(_), false) => self
                .update_ref(&update.name, update.after.as_str(), update.push)
                .map(drop),
        }
    }

    fn check_move(&self, before: &Oid, after: &Oid, push: Push) -> Result<(), Refusal> {
        if !self.commits.contains_key(after) {
            return Err(Refusal::ObjectMissing);
        }
        match push {
            Push::FastForward if !self.contains(after, before) => Err(Refusal::NotFastForward),
            _ => Ok(()),
        }
    }

    /// Whether the history of `newer` has `older` in it.
    fn contains(&self, newer: &Oid, older: &Oid) -> bool {
        let parent = |sha: &&Oid| self.commits.get(*sha)?.parent.as_ref();
        std::iter::successors(Some(newer), parent).any(|sha| sha == older)
    }

    /// Whether the name would be a folder and a file at once, which Git cannot hold.
    fn has_neighbour(&self, name: &str) -> bool {
        let folder = format!("{name}/");
        let below = self.matching_refs(&folder).next().is_some();
        let mut above = name.match_indices('/').map(|(at, _)| &name[..at]);
        below || above.any(|above| self.refs.contains_key(above))
    }
}

/// Git's rules for names, and GitHub's: under `refs/`, with at least two slashes.
fn check_name(name: &str) -> Result<(), Refusal> {
    if !is_well_formed(name) {
        return Err(Refusal::BadRefName(name.to_owned()));
    }
    if !name.starts_with("refs/") {
        return Err(Refusal::UnqualifiedRef);
    }
    if name.split('/').count() < 3 {
        return Err(Refusal::ShortRef);
    }
    Ok(())
}

/// As `git check-ref-format` decides.
fn is_well_formed(name: &str) -> bool {
    let forbidden = |found: char| found.is_ascii_control() || " ~^:?*[\\".contains(found);
    let part = |part: &str| {
        let locked = std::path::Path::new(part)
            .extension()
            .is_some_and(|extension| extension == "lock");
        !part.is_empty() && !part.starts_with('.') && !locked
    };
    !name.contains(forbidden)
        && !name.contains("..")
        && !name.contains("@{")
        && !name.ends_with('.')
        && name.split('/').all(part)
}
