//! Files on branches: read, write, delete, each write a commit.
//!
//! A write says which version of the file it replaces, by the file's object name. Missing for a
//! file that exists, it is refused (422); another than the present one, it is refused as outdated
//! (409); given for a file that does not exist, it is ignored. The branch is looked up first.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::{
    Hosted,
    object::{Commit, Content, Oid, Tree, folder_id},
};
use crate::github::refusal::Refusal;

/// What is at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    /// A file.
    File {
        /// Its name as an object.
        sha: Oid,
        /// What it says.
        content: Content,
    },
    /// A folder.
    Folder(Vec<Entry>),
}

/// One line of a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its full path.
    pub path: String,
    /// Its name as an object.
    pub sha: Oid,
    /// Bytes of a file; folders have none.
    pub size: Option<usize>,
}

/// A change of one file.
#[derive(Debug, Clone, Copy)]
pub struct Change<'a> {
    /// Which file.
    pub path: &'a str,
    /// Which branch; the default branch where none is named.
    pub branch: Option<&'a str>,
    /// The version it replaces.
    pub sha: Option<&'a str>,
    /// What the commit says.
    pub message: &'a str,
}

/// What a write did.
#[derive(Debug, Clone)]
pub struct Written {
    /// Whether the file is new.
    pub created: bool,
    /// The file's name as an object.
    pub file: Oid,
    /// The commit's name.
    pub commit: Oid,
}

impl Hosted {
    /// What is at a path, on a branch, at a tag or in a commit.
    pub fn read(&self, path: &str, at: Option<&str>) -> Result<Found, Refusal> {
        let tree = &self.commit_at(at)?.tree;
        if let Some(content) = tree.get(path) {
            return Ok(Found::File {
                sha: Oid::of_file(content),
                content: content.clone(),
            });
        }
        let entries = entries(tree, path);
        if entries.is_empty() && !path.is_empty() {
            Err(Refusal::NotFound)
        } else {
            Ok(Found::Folder(entries))
        }
    }

    /// Creates or replaces a file.
    pub fn write(
        &mut self,
        change: Change<'_>,
        content: Vec<u8>,
        now: Timestamp,
    ) -> Result<Written, Refusal> {
        check_path(change.path)?;
        let (branch, head) = self.branch(change.branch)?;
        let mut tree = self.tree_of(&head);
        let created = match tree.get(change.path) {
            Some(present) => {
                check_sha(change, present)?;
                false
            }
            None => true,
        };
        if collides(&tree, change.path) {
            return Err(Refusal::BadPath);
        }
        let file = Oid::of_file(&content);
        tree.insert(change.path.to_owned(), content.into());
        let commit = self.commit(branch, head, tree, change.message, now);
        Ok(Written {
            created,
            file,
            commit,
        })
    }

    /// Removes a file; answers the commit's name.
    pub fn remove(&mut self, change: Change<'_>, now: Timestamp) -> Result<Oid, Refusal> {
        let (branch, head) = self.branch(change.branch)?;
        let mut tree = self.tree_of(&head);
        let present = tree.get(change.path).ok_or(Refusal::NotFound)?;
        check_sha(change, present)?;
        tree.remove(change.path);
        Ok(self.commit(branch, head, tree, change.message, now))
    }

    /// A commit by name.
    pub fn find_commit(&self, sha: &Oid) -> Option<&Commit> {
        self.commits.get(sha)
    }

    fn commit_at(&self, at: Option<&str>) -> Result<&Commit, Refusal> {
        let name = at.unwrap_or(&self.default_branch);
        let sha = self.resolve(name).map(|(_, sha)| sha.clone());
        let sha = sha.or_else(|| Oid::parse(name));
        sha.and_then(|sha| self.commits.get(&sha))
            .ok_or_else(|| Refusal::NoCommitFor(name.to_owned()))
    }

    /// Full name and commit of a branch or tag, given by its short or its full name.
    pub(super) fn resolve(&self, name: &str) -> Option<(String, &Oid)> {
        let full = [
            name.to_owned(),
            format!("refs/heads/{name}"),
            format!("refs/tags/{name}"),
        ];
        full.into_iter()
            .filter(|full| full.starts_with("refs/"))
            .find_map(|full| self.refs.get(&full).map(|sha| (full, sha)))
    }

    fn branch(&self, named: Option<&str>) -> Result<(String, Oid), Refusal> {
        let short = named.unwrap_or(&self.default_branch);
        let short = short.strip_prefix("refs/heads/").unwrap_or(short);
        let full = format!("refs/heads/{short}");
        match self.refs.get(&full) {
            Some(head) => Ok((full, head.clone())),
            None => Err(Refusal::NoBranch(short.to_owned())),
        }
    }

    fn tree_of(&self, sha: &Oid) -> Tree {
        self.commits
            .get(sha)
            .map(|commit| commit.tree.clone())
            .unwrap_or_default()
    }

    fn commit(
        &mut self,
        branch: String,
        head: Oid,
        tree: Tree,
        message: &str,
        now: Timestamp,
    ) -> Oid {
        let commit = Commit {
            parent: Some(head),
            tree,
            message: message.to_owned(),
            at: now,
        };
        let sha = commit.id();
        self.commits.insert(sha.clone(), commit);
        self.refs.insert(branch, sha.clone());
        sha
    }
}

fn check_sha(change: Change<'_>, present: &[u8]) -> Result<(), Refusal> {
    match change.sha {
        None => Err(Refusal::Missing(vec!["sha"])),
        Some(sha) if sha == Oid::of_file(present).as_str() => Ok(()),
        Some(sha) => Err(Refusal::FileChanged {
            path: change.path.to_owned(),
            sha: sha.to_owned(),
        }),
    }
}

fn check_path(path: &str) -> Result<(), Refusal> {
    let part = |part: &str| !matches!(part, "" | "." | ".." | ".git");
    if path.split('/').all(part) {
        Ok(())
    } else {
        Err(Refusal::BadPath)
    }
}

/// Whether the path would be a folder and a file at once.
fn collides(tree: &Tree, path: &str) -> bool {
    let folder = format!("{path}/");
    let mut above = path.match_indices('/').map(|(at, _)| &path[..at]);
    tree.keys().any(|known| known.starts_with(&folder))
        || above.any(|above| tree.contains_key(above))
}

/// What lies directly in a folder; nothing where there is no such folder.
fn entries(tree: &Tree, folder: &str) -> Vec<Entry> {
    let below = match folder {
        "" => String::new(),
        _ => format!("{folder}/"),
    };
    let mut entries = BTreeMap::new();
    for (path, content) in tree {
        let Some(rest) = path.strip_prefix(&below) else {
            continue;
        };
        let entry = match rest.split_once('/') {
            None => Entry {
                path: path.clone(),
                sha: Oid::of_file(content),
                size: Some(content.len()),
            },
            Some((name, _)) => Entry {
                path: format!("{below}{name}"),
                sha: folder_id(tree, &format!("{below}{name}/")),
                size: None,
            },
        };
        entries.insert(entry.path.clone(), entry);
    }
    entries.into_values().collect()
}
