//! Stories that an edition takes, by its own rules.
//!
//! Collected entries are chosen where they are read (`entries.rs`), because there all that their
//! publishers said of them is known. Of a list of others' making only this is left: to ask for more
//! than is wanted, and to leave out what the rules drop.

use std::sync::Arc;

use almanack_core::{
    budget::Budget,
    edition::{
        port::{Failure, StorySource, Wanted},
        quote::Comment,
        selection::Selection,
        story::{Listed, StoryKey},
    },
};
use async_trait::async_trait;

/// How many times the wanted number is asked for where rules drop some.
const ASKED_TIMES: usize = 4;

/// A source of stories, without those that rules drop, and each with its topic.
pub struct SelectedStories {
    pub source: Arc<dyn StorySource>,
    pub selection: Arc<Selection>,
}

#[async_trait]
impl StorySource for SelectedStories {
    fn name(&self) -> &str {
        self.source.name()
    }

    async fn list(&self, wanted: &Wanted, budget: &Arc<Budget>) -> Result<Vec<Listed>, Failure> {
        let times = if self.selection.rules.is_empty() {
            1
        } else {
            ASKED_TIMES
        };
        let more = Wanted {
            limit: wanted.limit.saturating_mul(times),
            ..wanted.clone()
        };
        let listed = self.source.list(&more, budget).await?.into_iter();
        let taken = listed.filter_map(|story| self.selection.take(story));
        Ok(taken.take(wanted.limit).collect())
    }

    async fn comments(
        &self,
        key: &StoryKey,
        budget: &Arc<Budget>,
    ) -> Result<Vec<Comment>, Failure> {
        self.source.comments(key, budget).await
    }
}
