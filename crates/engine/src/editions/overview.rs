//! What a model writes to open an edition, asked for once, with the last of its batches.

use std::sync::Arc;

use almanack_core::{
    budget::Budget,
    edition::{
        Account,
        document::Printed,
        ladder::Rung,
        overview,
        story::{Status, Story, StoryKey},
        turn::Ending,
    },
};

use super::{Editions, ladder::Work};

impl Editions {
    /// What opens the edition, if the batches of `stories` are the last ones: empty where it could
    /// not be had, so that nobody asks again. None if there is no model, nothing to say, or no time
    /// or budget left to ask.
    pub(super) async fn overview(
        &self,
        account: &Account,
        stories: &[Story],
        endings: &[(StoryKey, Ending)],
        (budget, work): (&Arc<Budget>, &Work),
    ) -> Option<String> {
        let now = self.clock.now();
        let ends_at = work.ends_at(now);
        // An edition in a hurry is not held up for it.
        let has_time = work.rung == Rung::Full && now < ends_at;
        if !has_time || !overview::is_due(account, stories) {
            return None;
        }
        let printed = completed(account, endings);
        if printed.is_empty() || budget.left() == 0 {
            return None;
        }
        let asked = self.outside.writer.overview(&printed, budget);
        let answer = tokio::select! {
            biased;
            answer = asked => answer,
            () = self.sleeper.until(ends_at) => return Some(String::new()),
        };
        match answer {
            Ok(written) => written,
            Err(failure) if failure.is_spent() => None,
            Err(failure) => {
                tracing::info!(edition.id = %account.edition.id, error = failure.detail, "the model wrote no overview; the first stories open the edition");
                Some(String::new())
            }
        }
    }
}

/// The stories as they will be printed: those that were completed before, and those of the last batches.
fn completed(account: &Account, endings: &[(StoryKey, Ending)]) -> Vec<Printed> {
    let printed = account.stories.iter().filter_map(|story| {
        let ending = endings.iter().find(|(key, _)| *key == story.listed.key);
        match (ending, story.status) {
            (Some((_, Ending::Completed(written) | Ending::Degraded(written, _))), _) => {
                Some(Printed::from(&Story {
                    written: written.clone(),
                    ..story.clone()
                }))
            }
            (None, Status::Completed) => Some(Printed::from(story)),
            _ => None,
        }
    });
    printed.collect()
}
