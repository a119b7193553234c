//! What a model writes to open an edition, beside the summaries of its last batches.
//!
//! It is written from titles and the first sentences of pages, so it is asked for as soon as the
//! last page is in, and takes no time of its own. If a story that it knows of fails after all,
//! nobody reads it: it is asked for again at the end, from the stories that are there. So it is
//! where the budget has no room for it beside the batch.

use std::sync::{Arc, Mutex};

use almanack_core::{
    budget::Budget,
    edition::{
        Account, Edition,
        document::Printed,
        ladder::Rung,
        overview,
        port::{Article, Failure},
        prompts::Kind,
        story::{Status, Story, StoryKey},
        turn::Ending,
    },
    locked,
};

use super::{Editions, batch::Wave, ladder::Work};

/// An overview on its way, while the pages of a wave are read.
pub(super) struct Opening {
    /// Pages that are not in yet.
    pages: Mutex<usize>,
    /// The stories that it is written from.
    drafts: Mutex<Vec<Printed>>,
    /// What was written: empty once it was asked for, until it is here.
    written: Mutex<Option<String>>,
}

impl Opening {
    /// The opening of an edition whose last batches are of `stories`; none if they are not.
    pub(super) fn of(account: &Account, stories: &[Story]) -> Option<Self> {
        let completed = |story: &&Story| story.status == Status::Completed;
        let known = account.stories.iter().filter(completed).map(Printed::from);
        overview::is_due(account, stories).then(|| Self {
            pages: Mutex::new(stories.len()),
            drafts: Mutex::new(known.collect()),
            written: Mutex::default(),
        })
    }

    /// Takes what is known of a story; all that it is written from, best first, if it was the last.
    fn add(&self, draft: Printed) -> Option<Vec<Printed>> {
        let mut drafts = locked(&self.drafts);
        drafts.push(draft);
        let mut pages = locked(&self.pages);
        *pages = pages.saturating_sub(1);
        (*pages == 0).then(|| {
            drafts.sort_by_key(|draft| draft.rank);
            std::mem::take(&mut *drafts)
        })
    }
}

impl Editions {
    /// Takes note of a page, and asks for the overview if it was the last one.
    pub(super) async fn page_in(
        &self,
        story: &Story,
        article: Option<&Article>,
        work: &Work<'_>,
        budget: &Arc<Budget>,
    ) {
        // An edition in a hurry is not held up for it.
        let opening = work.opening.filter(|_| work.rung == Rung::Full);
        let drafted = |opening: &Opening| opening.add(overview::draft(story, article));
        let Some((opening, drafts)) = opening.and_then(|it| Some((it, drafted(it)?))) else {
            return;
        };
        *locked(&opening.written) = Some(String::new());
        let answer = self.outside.writer.overview(&drafts, budget).await;
        *locked(&opening.written) = written(answer);
    }

    /// Takes down what a model wrote to open the edition, empty if it could not, and by which prompt.
    pub(super) fn opens_with(&self, overview: &str, edition: &mut Edition) {
        let prompts = self.outside.writer.prompts();
        let prompt = prompts.map(|prompts| prompts.of(Kind::Overview).version.clone());
        edition.overview = Some(overview.to_owned());
        edition.overview_prompt = prompt.filter(|_| !overview.is_empty());
    }

    /// What opens the edition, if the batches of `wave` are the last ones: empty where it could
    /// not be had, so that nobody asks again. None if there is no model, nothing to say, or no time
    /// or budget left to ask.
    pub(super) async fn overview(
        &self,
        account: &Account,
        wave: &Wave<'_>,
        endings: &[(StoryKey, Ending)],
        (budget, work): (&Arc<Budget>, &Work<'_>),
    ) -> Option<String> {
        let opening = wave.opening.as_ref();
        let beside = opening.and_then(|opening| locked(&opening.written).clone());
        if beside
            .as_ref()
            .is_some_and(|it| it.is_empty() || all_completed(endings))
        {
            return beside;
        }
        let now = self.clock.now();
        let ends_at = work.ends_at(now);
        let has_time = work.rung == Rung::Full && now < ends_at;
        if !has_time || !overview::is_due(account, wave.stories) {
            return None;
        }
        let printed = completed(account, endings);
        if printed.is_empty() || budget.left() == 0 {
            return None;
        }
        let asked = self.outside.writer.overview(&printed, budget);
        tokio::select! {
            biased;
            answer = asked => written(answer),
            () = self.sleeper.until(ends_at) => Some(String::new()),
        }
    }
}

/// What came of asking: empty where it failed, none where nobody was asked.
fn written(answer: Result<Option<String>, Failure>) -> Option<String> {
    match answer {
        Ok(written) => written,
        Err(failure) if failure.is_spent() => None,
        Err(failure) => {
            tracing::info!(
                error = failure.detail,
                "the model wrote no overview; the first stories open the edition"
            );
            Some(String::new())
        }
    }
}

fn all_completed(endings: &[(StoryKey, Ending)]) -> bool {
    let is_completed =
        |ending: &Ending| matches!(ending, Ending::Completed(_) | Ending::Degraded(..));
    endings.iter().all(|(_, ending)| is_completed(ending))
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
