//! References, created at most once, and files on branches, each write a commit.
//!
//! A file's name is the one Git computes, because clients compute it too, to see whether a file
//! already has the right content. Commits and tags are named by a digest of their content; clients
//! cannot distinguish that from Git's names.
//!
//! A write names the version of the file it replaces, by the file's object name. Missing for a file
//! that exists, it is refused (422); another than the present one, it is refused as outdated (409);
//! given for a file that does not exist, it is ignored. The branch is looked up first.

use std::{collections::BTreeMap, sync::Arc};

use jiff::Timestamp;
use sha1::{Digest, Sha1};

use super::Hosted;
use crate::github::refusal::Refusal;

/// Files by path; contents are shared by all commits that contain them.
pub(super) type Tree = BTreeMap<String, Arc<[u8]>>;

/// A change of one file.
#[derive(Debug)]
pub(crate) struct Change<'a> {
    pub(crate) path: &'a str,
    /// The default branch where none is named.
    pub(crate) branch: Option<String>,
    /// The version it replaces.
    pub(crate) sha: Option<&'a str>,
    pub(crate) message: &'a str,
}

/// The name Git gives a file with this content.
pub(crate) fn blob_id(content: &[u8]) -> String {
    object_id("blob", content)
}

/// The name of an object of this kind with this content.
pub(super) fn object_id(kind: &str, content: &[u8]) -> String {
    let mut digest = Sha1::new();
    digest.update(format!("{kind} {}\0", content.len()));
    digest.update(content);
    let digest = digest.finalize();
    digest
        .iter()
        .fold(String::new(), |hex, byte| hex + &format!("{byte:02x}"))
}

fn check_sha(sha: &str) -> Result<(), Refusal> {
    let hex = |digit: u8| digit.is_ascii_digit() || (b'a'..=b'f').contains(&digit);
    if sha.len() == 40 && sha.bytes().all(hex) {
        Ok(())
    } else {
        Err(Refusal::BAD_SHA)
    }
}

impl Hosted {
    /// All references whose full name starts like this, in order of their names.
    pub(crate) fn matching_refs(&self, prefix: &str) -> impl Iterator<Item = (&str, &str)> {
        let from = self.refs.range(prefix.to_owned()..);
        from.take_while(move |(name, _)| name.starts_with(prefix))
            .map(|(name, sha)| (name.as_str(), sha.as_str()))
    }

    /// Creates a reference that is not there yet.
    pub(crate) fn create_ref(&mut self, name: &str, sha: &str) -> Result<(), Refusal> {
        check_name(name)?;
        check_sha(sha)?;
        if !self.commits.contains_key(sha) && !self.is_tag(sha) {
            return Err(Refusal::OBJECT_MISSING);
        }
        if self.refs.contains_key(name) {
            return Err(Refusal::REF_EXISTS);
        }
        if self.has_neighbour(name) {
            return Err(Refusal::REF_UPDATE_FAILED);
        }
        self.refs.insert(name.to_owned(), sha.to_owned());
        Ok(())
    }

    pub(crate) fn delete_ref(&mut self, name: &str) -> Result<(), Refusal> {
        let removed = self.refs.remove(name);
        removed.map(|_| ()).ok_or(Refusal::REF_MISSING)
    }

    /// Removes all of these, or none.
    pub(crate) fn delete_refs(&mut self, names: &[String]) -> Result<(), Refusal> {
        let before = self.refs.clone();
        let done = names.iter().try_for_each(|name| self.delete_ref(name));
        if done.is_err() {
            self.refs = before;
        }
        done
    }

    /// Creates a tag object on a commit and returns its name; for a reference to point to.
    pub(crate) fn create_tag(&mut self, object: &str, text: &str) -> Result<String, Refusal> {
        check_sha(object)?;
        if !self.commits.contains_key(object) {
            return Err(Refusal::OBJECT_MISSING);
        }
        let id = object_id("tag", format!("object {object}\n{text}").as_bytes());
        self.tags.insert(id.clone());
        Ok(id)
    }

    /// Whether an object of this name is a tag.
    pub(crate) fn is_tag(&self, id: &str) -> bool {
        self.tags.contains(id)
    }

    /// The content of a file on a branch.
    pub(crate) fn read(&self, path: &str, branch: &str) -> Option<Arc<[u8]>> {
        let head = self.refs.get(&format!("refs/heads/{branch}"))?;
        self.commits.get(head)?.get(path).cloned()
    }

    /// Creates or replaces a file; returns whether it is new, and the commit.
    pub(crate) fn write(
        &mut self,
        change: Change<'_>,
        content: Vec<u8>,
        now: Timestamp,
    ) -> Result<(bool, String), Refusal> {
        let branch = change.branch.unwrap_or_else(|| self.default_branch.clone());
        let full = format!("refs/heads/{branch}");
        let head = self.refs.get(&full).cloned();
        let head = head.ok_or_else(|| Refusal::about(404, format!("Branch {branch} not found")))?;
        let mut tree = self.commits.get(&head).cloned().unwrap_or_default();
        let present = tree.get(change.path).map(|present| blob_id(present));
        match (&present, change.sha) {
            (Some(_), None) => return Err(Refusal::missing("sha")),
            (Some(present), Some(sha)) if present != sha => {
                let message = format!("{} does not match {sha}", change.path);
                return Err(Refusal::about(409, message));
            }
            _ => {}
        }
        let file = blob_id(&content);
        tree.insert(change.path.to_owned(), content.into());
        let text = format!(
            "parent {head}\nfile {} {file}\nat {now}\n\n{}",
            change.path, change.message
        );
        let commit = object_id("commit", text.as_bytes());
        self.commits.insert(commit.clone(), tree);
        self.refs.insert(full, commit.clone());
        Ok((present.is_none(), commit))
    }

    /// Whether the name would be a folder and a file at once, which Git cannot hold.
    fn has_neighbour(&self, name: &str) -> bool {
        let folder = format!("{name}/");
        let below = self.matching_refs(&folder).next().is_some();
        let mut above = name.match_indices('/').map(|(at, _)| &name[..at]);
        below || above.any(|above| self.refs.contains_key(above))
    }
}

/// Git's rules for names, as far as names of locks could break them, and GitHub's: under `refs/`.
fn check_name(name: &str) -> Result<(), Refusal> {
    let forbidden = |found: char| found.is_ascii_control() || " ~^:?*[\\".contains(found);
    let part = |part: &str| !part.is_empty() && !part.starts_with('.');
    let locks = name.strip_suffix(".lock").is_some() || name.contains(".lock/");
    if locks || name.contains(forbidden) || name.contains("..") || !name.split('/').all(part) {
        return Err(Refusal::about(
            422,
            format!("{name} is not a valid ref name."),
        ));
    }
    if !name.starts_with("refs/") {
        let message = "Reference name must start with 'refs/'.";
        return Err(Refusal::new(422, message));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_the_name_that_git_gives_it() {
        assert_eq!(blob_id(b""), "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391");
        assert_eq!(
            blob_id(b"hello\n"),
            "ce013625030ba8dba906f756967f9e9ca394464a"
        );
    }
}
