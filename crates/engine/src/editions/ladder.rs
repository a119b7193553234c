//! What is done for the stories of a batch: as much as the ladder leaves time for (ED-07, ED-38).
//!
//! The titles are one request; every story is a separate chain beside it: its page and then a
//! summary of it, its comments and then a summary of those. What has come in when the time is over
//! counts. What has not come in has failed and is tried again; on its last try, and when readers
//! expect the edition, the story gets the best of what is there instead: sentences of its page, or
//! its title. A title that a model answered without is always a failure (ED-09).

mod ending;

use std::sync::{Arc, Mutex, PoisonError};

use almanack_core::{
    budget::Budget,
    edition::{
        ladder::{Rung, TITLES_TIME},
        port::{Article, Failure, FailureClass, Length, Text},
        quote::{self, Comment},
        story::{Story, StoryKey},
        summary::COMMENTS_MIN,
        turn::Ending,
    },
    locked,
};
use futures_util::future::{join, join_all};
use jiff::{SignedDuration, Timestamp};

use self::ending::{Parts, Title, Tried};
use super::{Editions, overview::Opening};
use crate::wake::later;

/// When a page that was not answered is asked for again, if the other side says nothing about it.
const PAGE_AGAIN_AFTER: SignedDuration = SignedDuration::from_secs(2);
/// A page that is to be asked for again later than this is left alone.
const PAGE_AGAIN_MAX: SignedDuration = SignedDuration::from_secs(20);
/// Room for the words of the few who commented where there is nothing to sum up, in characters.
const QUOTES_CHARS_MAX: usize = 300;

/// What is wanted of a batch.
pub(super) struct Work<'a> {
    /// How much of each story.
    pub(super) rung: Rung,
    /// When everything that is not here yet is degraded; none without a deadline.
    pub(super) hurry_at: Option<Timestamp>,
    /// Whether what fails cannot be tried again before that, because no tick comes any more.
    pub(super) last_chance: bool,
    /// When the batch has to end.
    pub(super) over_at: Timestamp,
    /// What opens the edition, if it can be written beside the summaries.
    pub(super) opening: Option<&'a Opening>,
}

impl Work<'_> {
    /// When nothing more is waited for, given when it begins.
    pub(super) fn ends_at(&self, now: Timestamp) -> Timestamp {
        let hurried = match self.hurry_at {
            _ if self.rung == Rung::Title => Some(later(now, TITLES_TIME)),
            hurry_at => hurry_at.map(|at| at.max(now)),
        };
        hurried.map_or(self.over_at, |at| at.min(self.over_at))
    }
}

/// The titles of a batch: none until the answer is here.
type Titles = Option<Result<Option<Vec<Option<String>>>, Failure>>;

impl Editions {
    /// Works until everything has come in or the time is over.
    pub(super) async fn work(
        &self,
        stories: &[Story],
        work: &Work<'_>,
        budget: &Arc<Budget>,
    ) -> Vec<(StoryKey, Ending)> {
        let titles: Mutex<Titles> = Mutex::new(None);
        let parts: Vec<Mutex<Parts>> = stories.iter().map(|_| Mutex::default()).collect();
        let each = stories.iter().zip(&parts);
        let each = each.map(|(story, parts)| self.story(story, work, parts, budget));
        let all = join(self.titles(stories, &titles, budget), join_all(each));
        let ends_at = work.ends_at(self.clock.now());
        tokio::select! {
            biased;
            _ = all => {}
            () = self.sleeper.until(ends_at) => {
                tracing::warn!(rung = work.rung.as_str(), "a batch exceeded its time limit; its unfinished stories failed or were degraded");
            }
        }
        let now = self.clock.now();
        let out_of_time = work.last_chance || work.hurry_at.is_some_and(|at| at <= now);
        let titles = titles.into_inner().unwrap_or_else(PoisonError::into_inner);
        let parts = parts.into_iter().map(Mutex::into_inner);
        let parts = parts.map(|parts| parts.unwrap_or_else(PoisonError::into_inner));
        let mut endings = Vec::new();
        for (index, (story, parts)) in stories.iter().zip(parts).enumerate() {
            let tried = Tried {
                rung: work.rung,
                last_try: self.is_last_try(story),
                out_of_time,
            };
            let ending = self.ending(title_of(&titles, index), parts, tried).await;
            endings.push((story.listed.key.clone(), ending));
        }
        endings
    }

    fn is_last_try(&self, story: &Story) -> bool {
        let rules = &self.settings.rules;
        story.retry_count >= rules.retries_by_itself.min(rules.retries_max)
    }

    async fn titles(&self, stories: &[Story], into: &Mutex<Titles>, budget: &Arc<Budget>) {
        let titles: Vec<String> = stories
            .iter()
            .map(|story| story.listed.title.clone())
            .collect();
        let answer = self.outside.writer.titles(&titles, budget).await;
        *locked(into) = Some(answer);
    }

    async fn story(
        &self,
        story: &Story,
        work: &Work<'_>,
        into: &Mutex<Parts>,
        budget: &Arc<Budget>,
    ) {
        let rung = work.rung;
        // The list may know of comments that are not read, or that the answer lacks.
        let some_known = story.listed.comment_count.is_some_and(|count| count > 0);
        locked(into).comments_unread = some_known;
        if rung == Rung::Title {
            return;
        }
        let content = self.content(story, work, into, budget);
        if rung != Rung::Full {
            return content.await;
        }
        let comments = async {
            let part = self.comments(story, into, budget).await;
            locked(into).comments = Some(part);
        };
        join(content, comments).await;
    }

    async fn content(
        &self,
        story: &Story,
        work: &Work<'_>,
        into: &Mutex<Parts>,
        budget: &Arc<Budget>,
    ) {
        let read = match &story.listed.text {
            Some(text) => Ok(Article::of(text)),
            None => self.page(&story.listed.url, budget).await,
        };
        let opened = self.page_in(story, read.as_ref().ok(), work, budget);
        let article = match &read {
            Ok(article) => article,
            Err(failure) => {
                if !failure.is_spent() {
                    tracing::info!(story.key = %story.listed.key, error = failure.detail, "could not read a page; keeping only the title");
                }
                locked(into).unread = Some(failure.clone());
                return opened.await;
            }
        };
        locked(into).article = Some(article.clone());
        let summed = self.summed(article, work.rung, into, budget);
        join(summed, opened).await;
    }

    async fn summed(
        &self,
        article: &Article,
        rung: Rung,
        into: &Mutex<Parts>,
        budget: &Arc<Budget>,
    ) {
        let (writer, length) = match rung {
            Rung::Full => (&self.outside.writer, Length::Full),
            Rung::Short => (&self.outside.writer, Length::Short),
            Rung::Extractive | Rung::Title => (&self.outside.fallback, Length::Full),
        };
        let summary = writer.summary(text_of(article), length, budget).await;
        locked(into).content = Some(summary);
    }

    /// A page; one that was not answered is asked for once more, if there is a request left for it.
    async fn page(&self, url: &str, budget: &Arc<Budget>) -> Result<Article, Failure> {
        let failure = match self.outside.reader.read(url, budget).await {
            Err(failure) if is_passing(&failure) => failure,
            read => return read,
        };
        let wait = failure.retry_after.unwrap_or(PAGE_AGAIN_AFTER);
        if wait > PAGE_AGAIN_MAX || budget.left() == 0 {
            return Err(failure);
        }
        self.sleeper.until(later(self.clock.now(), wait)).await;
        match self.outside.reader.read(url, budget).await {
            // It was answered once: that is no lack of budget.
            Err(again) if again.is_spent() => Err(failure),
            read => read,
        }
    }

    async fn comments(
        &self,
        story: &Story,
        into: &Mutex<Parts>,
        budget: &Arc<Budget>,
    ) -> Result<Option<String>, Failure> {
        let (source, key) = (&self.outside.source, &story.listed.key);
        let comments = match source.comments(key, budget).await {
            Ok(comments) if comments.is_empty() => return Ok(None),
            Ok(comments) if comments.len() < COMMENTS_MIN => {
                let quoted = quoted(&comments);
                locked(into).comments_unread = quoted.is_none();
                return Ok(quoted);
            }
            Ok(comments) => comments,
            Err(failure) if failure.is_spent() => return Err(failure),
            Err(failure) => {
                locked(into).comments_unread = true;
                tracing::info!(story.key = %key, error = failure.detail, "could not read comments");
                return Ok(None);
            }
        };
        let text = Text::Comments(&comments);
        let summary = self.outside.writer.summary(text, Length::Full, budget);
        summary.await.map(Some)
    }
}

/// The words of a few, where there are too few to sum up.
fn quoted(comments: &[Comment]) -> Option<String> {
    let quotes = quote::quotes(comments, QUOTES_CHARS_MAX);
    (!quotes.is_empty()).then(|| quote::to_text(&quotes))
}

fn text_of(article: &Article) -> Text<'_> {
    Text::Article {
        text: &article.text,
        description: article.description.as_deref(),
    }
}

/// Whether the same page may be answered a moment later.
fn is_passing(failure: &Failure) -> bool {
    matches!(
        failure.class,
        FailureClass::Transient | FailureClass::RateLimited
    )
}

/// What came of the title at an index.
fn title_of(titles: &Titles, index: usize) -> Title {
    match titles {
        None => Title::Late,
        Some(Err(failure)) => Title::Unanswered(failure.clone()),
        Some(Ok(None)) => Title::Here(None),
        Some(Ok(Some(titles))) => match titles.get(index).cloned().flatten() {
            Some(title) => Title::Here(Some(title)),
            None => Title::Missing,
        },
    }
}
