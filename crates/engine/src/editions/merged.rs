//! Several sources of stories as one.
//!
//! A source that fails does not hold up the others: the edition has what they list. Comments are
//! read where the story is from.

use std::sync::Arc;

use almanack_core::{
    budget::Budget,
    edition::{
        port::{Failure, StorySource, Wanted},
        quote::Comment,
        same,
        selection::Selection,
        story::{Listed, StoryKey},
    },
};
use async_trait::async_trait;
use futures_util::future::join_all;
use jiff::SignedDuration;

use super::entries::window_of;

/// A source, and what the keys of its stories begin with.
pub struct Part {
    pub prefix: &'static str,
    pub source: Arc<dyn StorySource>,
}

/// Several sources as one; at least one.
pub struct MergedStories {
    name: String,
    parts: Vec<Part>,
    /// How far back an edition looks.
    window: SignedDuration,
    selection: Arc<Selection>,
}

impl MergedStories {
    /// Stories of all these within a window, as one list.
    pub fn new(parts: Vec<Part>, window: SignedDuration, selection: Arc<Selection>) -> Self {
        let names: Vec<&str> = parts.iter().map(|part| part.source.name()).collect();
        Self {
            name: names.join(", "),
            parts,
            window,
            selection,
        }
    }
}

#[async_trait]
impl StorySource for MergedStories {
    fn name(&self) -> &str {
        &self.name
    }

    async fn list(&self, wanted: &Wanted, budget: &Arc<Budget>) -> Result<Vec<Listed>, Failure> {
        let all = self
            .parts
            .iter()
            .map(|part| part.source.list(wanted, budget));
        let mut lists = Vec::new();
        let mut failed = None;
        for (part, listed) in self.parts.iter().zip(join_all(all).await) {
            match listed {
                Ok(listed) => lists.push(listed),
                Err(failure) => {
                    let source = part.source.name();
                    tracing::warn!(
                        source,
                        error = failure.detail,
                        "a source of stories failed; continuing with the others"
                    );
                    failed = Some(failure);
                }
            }
        }
        match failed {
            Some(failure) if lists.iter().all(Vec::is_empty) => Err(failure),
            _ => {
                let (window, weights) = (window_of(wanted, self.window), &self.selection.weights);
                Ok(same::join(lists, window, weights, wanted.limit))
            }
        }
    }

    async fn comments(
        &self,
        key: &StoryKey,
        budget: &Arc<Budget>,
    ) -> Result<Vec<Comment>, Failure> {
        let own = self
            .parts
            .iter()
            .find(|part| key.0.starts_with(part.prefix));
        match own {
            Some(part) => part.source.comments(key, budget).await,
            None => Ok(Vec::new()),
        }
    }
}
