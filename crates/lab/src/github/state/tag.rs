//! Annotated tag objects: made without a reference, for a reference to point to.

use jiff::Timestamp;

use super::{Hosted, object::Oid};
use crate::github::refusal::Refusal;

/// What somebody says about a commit.
#[derive(Debug, Clone)]
pub struct Tag {
    /// What it is called; no reference of that name need exist.
    pub name: String,
    /// What is said.
    pub message: String,
    /// About which commit.
    pub object: Oid,
    /// When.
    pub at: Timestamp,
}

impl Hosted {
    /// Makes a tag object on a commit and answers its name.
    pub fn create_tag(&mut self, tag: Tag) -> Result<Oid, Refusal> {
        if !self.commits.contains_key(&tag.object) {
            return Err(Refusal::ObjectMissing);
        }
        let said = format!(
            "object {}\ntag {}\nat {}\n\n{}",
            tag.object, tag.name, tag.at, tag.message
        );
        let id = Oid::of("tag", said.as_bytes());
        self.tags.insert(id.clone(), tag);
        Ok(id)
    }

    /// Whether an object of this name is a tag.
    pub fn is_tag(&self, id: &Oid) -> bool {
        self.tags.contains_key(id)
    }

    /// Whether there is something that a reference can point to.
    pub(super) fn has_object(&self, id: &Oid) -> bool {
        self.commits.contains_key(id) || self.is_tag(id)
    }
}
