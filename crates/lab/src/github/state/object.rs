//! Objects and their names.
//!
//! A file's name is the one Git computes, because clients compute it too, to see whether a file
//! is already as it should be. Trees and commits are named by a digest of what they say; nobody
//! outside can tell that from Git's own.

use std::{collections::BTreeMap, fmt, sync::Arc};

use jiff::Timestamp;
use serde::Serialize;
use sha1::{Digest, Sha1};

/// Characters in a name.
const LENGTH: usize = 40;

/// An object's name: 40 hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct Oid(String);

impl Oid {
    /// Reads a name.
    pub fn parse(text: &str) -> Option<Self> {
        let hex = |digit: u8| digit.is_ascii_digit() || (b'a'..=b'f').contains(&digit);
        (text.len() == LENGTH && text.bytes().all(hex)).then(|| Self(text.to_owned()))
    }

    /// The name that stands for "no object" in updates of many refs.
    pub fn is_zero(&self) -> bool {
        self.0.bytes().all(|digit| digit == b'0')
    }

    /// The name of an object of this kind with this content.
    pub(super) fn of(kind: &str, content: &[u8]) -> Self {
        let mut digest = Sha1::new();
        digest.update(format!("{kind} {}\0", content.len()));
        digest.update(content);
        let hex = digest
            .finalize()
            .iter()
            .fold(String::new(), |hex, byte| hex + &format!("{byte:02x}"));
        Self(hex)
    }

    /// The name Git gives a file with this content.
    pub fn of_file(content: &[u8]) -> Self {
        Self::of("blob", content)
    }

    /// As text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Oid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Content of a file; shared by all commits that hold it.
pub type Content = Arc<[u8]>;
/// Files by path.
pub type Tree = BTreeMap<String, Content>;

/// One state of a branch.
#[derive(Debug, Clone)]
pub struct Commit {
    /// What came before; the first commit has nothing.
    pub parent: Option<Oid>,
    /// All files.
    pub tree: Tree,
    /// What its author says of it.
    pub message: String,
    /// When it was made.
    pub at: Timestamp,
}

impl Commit {
    /// The commit every repository starts from: no files.
    pub(super) fn first(now: Timestamp) -> Self {
        Self {
            parent: None,
            tree: Tree::new(),
            message: "Initial commit".to_owned(),
            at: now,
        }
    }

    /// Its name.
    pub fn id(&self) -> Oid {
        let parent = self.parent.as_ref().map_or("", Oid::as_str);
        let Self { message, at, .. } = self;
        let said = format!(
            "tree {}\nparent {parent}\nat {at}\n\n{message}",
            self.tree_id()
        );
        Oid::of("commit", said.as_bytes())
    }

    /// The name of its files.
    pub fn tree_id(&self) -> Oid {
        folder_id(&self.tree, "")
    }
}

/// The name of all files below a path.
pub fn folder_id(tree: &Tree, below: &str) -> Oid {
    let inside = tree.iter().filter(|(path, _)| path.starts_with(below));
    let listed = inside.map(|(path, content)| format!("{} {path}\n", Oid::of_file(content)));
    Oid::of("tree", listed.collect::<String>().as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_the_name_that_git_gives_it() {
        // `printf 'hello\n' | git hash-object --stdin`
        let known = "ce013625030ba8dba906f756967f9e9ca394464a";
        assert_eq!(Oid::of_file(b"hello\n").as_str(), known);
    }

    #[test]
    fn only_forty_lower_case_digits_are_a_name() {
        assert!(Oid::parse(&"a1".repeat(20)).is_some());
        for wrong in [
            "",
            "a1",
            &"A1".repeat(20),
            &"g1".repeat(20),
            &"a1".repeat(21),
        ] {
            assert_eq!(Oid::parse(wrong), None, "{wrong}");
        }
    }
}
