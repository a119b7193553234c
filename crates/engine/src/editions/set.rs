//! The editions that a node makes side by side.
//!
//! Each has its own settings and its own outside; what they share is the store and the clock. A
//! task or a call names the edition it is about, and is passed to the one that makes it.

use std::{collections::BTreeMap, sync::Arc};

use almanack_core::edition::EditionName;

use super::Editions;

/// All editions of a node, by their names; the default one first, if there is one.
#[derive(Clone, Default)]
pub struct EditionSet {
    default: Option<Arc<Editions>>,
    named: BTreeMap<EditionName, Arc<Editions>>,
}

impl EditionSet {
    /// These; of two with one name the later one.
    pub fn of(all: impl IntoIterator<Item = Arc<Editions>>) -> Self {
        let mut set = Self::default();
        for editions in all {
            let name = editions.settings.name;
            if name.is_default() {
                set.default = Some(editions);
            } else {
                set.named.insert(name, editions);
            }
        }
        set
    }

    /// The one that is configured without a name, which the founding endpoints serve.
    pub fn default_edition(&self) -> Option<&Arc<Editions>> {
        self.default.as_ref()
    }

    /// The one of this name.
    pub fn get(&self, name: EditionName) -> Option<&Arc<Editions>> {
        if name.is_default() {
            return self.default.as_ref();
        }
        self.named.get(&name)
    }

    /// The default one first, the others by name.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<Editions>> {
        self.default.iter().chain(self.named.values())
    }

    /// Any of them: all read one store.
    pub fn any(&self) -> Option<&Arc<Editions>> {
        self.iter().next()
    }

    /// Whether this node makes none.
    pub fn is_empty(&self) -> bool {
        self.any().is_none()
    }
}

impl From<Option<Arc<Editions>>> for EditionSet {
    fn from(editions: Option<Arc<Editions>>) -> Self {
        Self::of(editions)
    }
}

impl From<Arc<Editions>> for EditionSet {
    fn from(editions: Arc<Editions>) -> Self {
        Self::of([editions])
    }
}
