//! One batch: titles, pages, comments and summaries, side by side, out of one budget (ED-07).
//!
//! The titles are one request; every story is a separate chain beside it: its page and then a
//! summary of it, its comments and then a summary of those. What has come in when the batch's time
//! is over counts, the rest has failed.

use std::sync::{Arc, Mutex, PoisonError};

use almanack_core::{
    budget::Budget,
    edition::{
        Account,
        batch::Batch,
        port::{Failure, Text},
        rules::SPENDTHRIFT_OVER,
        story::{Note, Story, StoryKey, Written},
        summary::COMMENTS_MIN,
        turn::{self, Ending},
    },
    locked,
};
use futures_util::future::{join, join_all};
use jiff::Timestamp;

use super::{Editions, Error};
use crate::wake::later;

/// What came of something that is wanted for a story.
enum Part {
    Here(String),
    /// There is nothing to be had.
    Nothing,
    /// It could not be had.
    Failed(String),
    /// The budget was spent before.
    Spent,
}

/// What has come in for a story so far.
#[derive(Default)]
struct Parts {
    content: Option<Part>,
    comments: Option<Part>,
}

/// The titles of a batch: none until the answer is here.
type Titles = Option<Result<Option<Vec<Option<String>>>, Failure>>;

impl Editions {
    /// Works on stories as one batch and writes down how it ended, unless another run was faster.
    pub(super) async fn process(
        &self,
        account: &Account,
        keys: &[StoryKey],
        budget: &Arc<Budget>,
    ) -> Result<(), Error> {
        let (settings, now) = (&self.settings, self.clock.now());
        let started = turn::start_batch(account, keys, &settings.node, &settings.rules, now);
        let Some((change, batch)) = started else {
            return Ok(());
        };
        let stories = change.stories.clone();
        if self.write(account, change).await?.is_none() {
            return Ok(());
        }
        // Counted from when it was decided: a slow answer of the store shortens the time, and never
        // extends it.
        let over_at = later(batch.started_at, settings.rules.batch_time);
        if self.clock.now() >= over_at {
            tracing::warn!(edition.date = %account.edition.date, batch.index = batch.index, "the store answered too late to work on a batch; the batch returns when its lease expires");
            return Ok(());
        }
        let date = account.edition.date;
        let work = self.work(&stories, budget, over_at);
        let extend =
            |account: &Account, now| turn::extend_batch(account, batch.index, &settings.rules, now);
        let endings = tokio::select! {
            biased;
            endings = work => endings,
            () = self.hold(date, extend) => Vec::new(),
        };
        let ended = self
            .turn(date, |account, now| {
                let spend = budget.spend();
                let rules = &self.settings.rules;
                let change = turn::end_batch(account, batch.index, &endings, spend, rules, now)?;
                let ended = change.batches.first().cloned();
                Some((change, ended))
            })
            .await?;
        match ended.and_then(|(_, ended)| ended) {
            Some(ended) => record(account, &ended),
            None => {
                tracing::warn!(edition.date = %date, batch.index = batch.index, "a batch ended after its lease had expired; its work is discarded");
            }
        }
        Ok(())
    }

    /// Works until everything has come in or the time is over.
    async fn work(
        &self,
        stories: &[Story],
        budget: &Arc<Budget>,
        over_at: Timestamp,
    ) -> Vec<(StoryKey, Ending)> {
        let titles: Mutex<Titles> = Mutex::new(None);
        let parts: Vec<Mutex<Parts>> = stories.iter().map(|_| Mutex::default()).collect();
        let all = join(
            self.titles(stories, &titles, budget),
            join_all(
                stories
                    .iter()
                    .zip(&parts)
                    .map(|(story, parts)| self.story(story, parts, budget)),
            ),
        );
        tokio::select! {
            biased;
            _ = all => {}
            () = self.sleeper.until(over_at) => {
                tracing::warn!("a batch exceeded its time limit; its unfinished stories failed");
            }
        }
        let titles = titles.into_inner().unwrap_or_else(PoisonError::into_inner);
        let tries = self
            .settings
            .rules
            .retries_by_itself
            .min(self.settings.rules.retries_max);
        let parts = parts
            .into_iter()
            .map(|parts| parts.into_inner().unwrap_or_else(PoisonError::into_inner));
        stories
            .iter()
            .zip(parts)
            .enumerate()
            .map(|(index, (story, parts))| {
                let last_try = story.retry_count >= tries;
                (
                    story.listed.key.clone(),
                    ending(title_of(&titles, index), parts, last_try),
                )
            })
            .collect()
    }

    async fn titles(&self, stories: &[Story], into: &Mutex<Titles>, budget: &Arc<Budget>) {
        let titles: Vec<String> = stories
            .iter()
            .map(|story| story.listed.title.clone())
            .collect();
        let answer = self.outside.writer.titles(&titles, budget).await;
        *locked(into) = Some(answer);
    }

    async fn story(&self, story: &Story, into: &Mutex<Parts>, budget: &Arc<Budget>) {
        let content = async {
            let part = self.content(story, budget).await;
            locked(into).content = Some(part);
        };
        let comments = async {
            let part = self.comments(story, budget).await;
            locked(into).comments = Some(part);
        };
        join(content, comments).await;
    }

    async fn content(&self, story: &Story, budget: &Arc<Budget>) -> Part {
        let read = match &story.listed.text {
            Some(text) => Ok(text.clone()),
            None => self.outside.reader.read(&story.listed.url, budget).await,
        };
        match read {
            Ok(text) => self.summary(Text::Article(&text), budget).await,
            Err(failure) if failure.is_spent() => Part::Spent,
            Err(failure) => {
                tracing::info!(story.key = %story.listed.key, error = failure.detail, "could not read a page; keeping only the title");
                Part::Nothing
            }
        }
    }

    async fn comments(&self, story: &Story, budget: &Arc<Budget>) -> Part {
        match self
            .outside
            .source
            .comments(&story.listed.key, budget)
            .await
        {
            Ok(comments) if comments.len() < COMMENTS_MIN => Part::Nothing,
            Ok(comments) => self.summary(Text::Comments(&comments), budget).await,
            Err(failure) if failure.is_spent() => Part::Spent,
            Err(failure) => {
                tracing::info!(story.key = %story.listed.key, error = failure.detail, "could not read comments");
                Part::Nothing
            }
        }
    }

    async fn summary(&self, text: Text<'_>, budget: &Arc<Budget>) -> Part {
        match self.outside.writer.summary(text, budget).await {
            Ok(summary) => Part::Here(summary),
            Err(failure) if failure.is_spent() => Part::Spent,
            Err(failure) => Part::Failed(failure.detail),
        }
    }
}

/// The title at an index: `Ok(None)` where there is no translator.
fn title_of(titles: &Titles, index: usize) -> Result<Option<String>, Ending> {
    let failed = |why: String| Err(Ending::Failed(why));
    match titles {
        None => failed("the title was not translated in time".to_owned()),
        Some(Err(failure)) if failure.is_spent() => Err(Ending::NotTried),
        Some(Err(failure)) => failed(format!("could not translate the title: {}", failure.detail)),
        Some(Ok(None)) => Ok(None),
        Some(Ok(Some(titles))) => match titles.get(index).cloned().flatten() {
            Some(title) => Ok(Some(title)),
            None => failed("the translation of its title is missing".to_owned()),
        },
    }
}

/// How a story ends, by what has come in. On its last try it may lack a summary: a title and a link
/// are worth more than a gap.
fn ending(title: Result<Option<String>, Ending>, parts: Parts, last_try: bool) -> Ending {
    let title = match title {
        Ok(title) => title,
        Err(ending) => return ending,
    };
    let late = || Part::Failed("the batch's time limit was exceeded".to_owned());
    let mut written = Written {
        title,
        ..Written::default()
    };
    match parts.content.unwrap_or_else(late) {
        Part::Here(summary) => written.content_summary = Some(summary),
        Part::Nothing => written.note = Some(Note::TitleOnly),
        Part::Spent => return Ending::NotTried,
        Part::Failed(_) if last_try => written.note = Some(Note::NotSummarised),
        Part::Failed(why) => return Ending::Failed(format!("could not summarise the page: {why}")),
    }
    match parts.comments.unwrap_or_else(late) {
        Part::Here(summary) => written.comment_summary = Some(summary),
        Part::Spent => return Ending::NotTried,
        Part::Failed(why) if !last_try => {
            return Ending::Failed(format!("could not summarise the comments: {why}"));
        }
        Part::Nothing | Part::Failed(_) => {}
    }
    Ending::Completed(written)
}

fn record(account: &Account, batch: &Batch) {
    let (status, spend) = (batch.status.as_str(), batch.spend);
    let duration_ms = batch.duration_ms().unwrap_or_default();
    metrics::counter!("almanack_edition_batches_total", "status" => status).increment(1);
    metrics::counter!("almanack_edition_requests_total").increment(u64::from(spend.requests));
    metrics::counter!("almanack_edition_tokens_total", "direction" => "in")
        .increment(spend.tokens_in);
    metrics::counter!("almanack_edition_tokens_total", "direction" => "out")
        .increment(spend.tokens_out);
    if spend.requests > SPENDTHRIFT_OVER {
        metrics::counter!("almanack_edition_spendthrift_batches_total").increment(1);
        tracing::warn!(edition.date = %account.edition.date, batch.index = batch.index, requests = spend.requests, "a batch spent more than {SPENDTHRIFT_OVER} requests; consider a smaller batch size");
    }
    tracing::info!(
        edition.date = %account.edition.date,
        batch.index = batch.index,
        batch.status = status,
        stories = batch.story_count,
        requests = spend.requests,
        duration_ms,
        "a batch ended"
    );
}
