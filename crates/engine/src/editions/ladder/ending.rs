//! How a story ends, by what has come in for it.

use almanack_core::edition::{
    ladder::{Cause, Rung},
    port::{Article, Failure, FailureClass, Length},
    prompts::{Kind, Versions},
    quote, reading,
    story::{CommentNote, Note, Written},
    turn::Ending,
};
use jiff::SignedDuration;

use super::{super::Editions, text_of};

/// What came of a story's title.
pub(super) enum Title {
    /// It is here; none where there is no translator and the original is used.
    Here(Option<String>),
    /// The model answered without it.
    Missing,
    Unanswered(Failure),
    /// No answer came in time.
    Late,
}

/// What has come in for a story so far.
#[derive(Default)]
pub(super) struct Parts {
    /// Its page.
    pub(super) article: Option<Article>,
    /// Why there is none.
    pub(super) unread: Option<Failure>,
    pub(super) content: Option<Result<String, Failure>>,
    pub(super) comments: Option<Result<Option<String>, Failure>>,
    /// Whether there are comments that were not read, as far as is known.
    pub(super) comments_unread: bool,
}

/// How it was tried.
#[derive(Clone, Copy)]
pub(super) struct Tried {
    pub(super) rung: Rung,
    /// Whether it is not tried again before its edition goes on.
    pub(super) last_try: bool,
    /// Whether readers expect its edition now.
    pub(super) out_of_time: bool,
}

impl Tried {
    /// Why a story has less than it could, if it is to have what is there: none while it is better
    /// tried again.
    fn settled(self, cause: Cause) -> Option<Cause> {
        match self {
            Self {
                out_of_time: true, ..
            } => Some(Cause::Time),
            Self { last_try: true, .. } => Some(cause),
            _ => None,
        }
    }

    /// The same after a failure of the model: a cap frees when it does, and not by another try.
    fn settled_after(self, failure: &Failure) -> Option<Cause> {
        match failure.class {
            FailureClass::Capped => Some(Cause::Cap),
            _ => self.settled(Cause::Model),
        }
    }
}

/// When a cap frees that had a part of the story refused: until then nothing can be improved.
fn cap_frees_after(title: &Title, parts: &Parts) -> Option<SignedDuration> {
    let title = match title {
        Title::Unanswered(failure) => Some(failure),
        _ => None,
    };
    let content = parts.content.as_ref().and_then(|it| it.as_ref().err());
    let comments = parts.comments.as_ref().and_then(|it| it.as_ref().err());
    let failures = [title, content, comments].into_iter().flatten();
    let capped = failures.filter(|failure| failure.class == FailureClass::Capped);
    capped.filter_map(|failure| failure.retry_after).max()
}

impl Editions {
    /// How a story ends. On its last try, and out of time, it has less than it could: a title and a
    /// link are worth more than a gap.
    pub(super) async fn ending(&self, title: Title, parts: Parts, tried: Tried) -> Ending {
        let mut written = Written::default();
        let cap_frees_after = cap_frees_after(&title, &parts);
        if let Err(ending) = take_title(title, tried, &mut written) {
            return ending;
        }
        let retry_after = match self.take_content(&parts, tried, &mut written).await {
            Ok(retry_after) => retry_after,
            Err(ending) => return ending,
        };
        if let Err(ending) = take_comments(parts, tried, &mut written) {
            return ending;
        }
        written.prompts = self.prompts_of(&written);
        match written.degraded_by {
            None => Ending::Completed(written),
            Some(_) => Ending::Degraded(written, retry_after.max(cap_frees_after)),
        }
    }

    /// By which prompts a story was written: as far as a model wrote it, and it is no quotation.
    fn prompts_of(&self, written: &Written) -> Versions {
        let summed_up = matches!(written.note, None | Some(Note::ShortSummary));
        let comments = written.comment_summary.as_deref();
        let wrote = [
            (Kind::Titles, written.title.is_some()),
            (
                Kind::Summary,
                summed_up && written.content_summary.is_some(),
            ),
            (
                Kind::Comments,
                comments.is_some_and(|text| quote::parse(text).is_empty()),
            ),
        ];
        let wrote = wrote.into_iter().filter(|(_, is_written)| *is_written);
        let prompts = self.outside.writer.prompts();
        prompts.map_or_else(Versions::new, |prompts| {
            prompts.versions(wrote.map(|(kind, _)| kind))
        })
    }

    /// Puts in what the page gave; how long the model wants to be left alone, if it said so.
    async fn take_content(
        &self,
        parts: &Parts,
        tried: Tried,
        written: &mut Written,
    ) -> Result<Option<SignedDuration>, Ending> {
        let Some(article) = &parts.article else {
            take_title_only(parts.unread.as_ref(), tried, written)?;
            return Ok(None);
        };
        written.image_url.clone_from(&article.image_url);
        written.reading_minutes = reading::minutes([article.text.as_str()]);
        let (why, retry_after, cause) = match &parts.content {
            Some(Ok(summary)) => {
                written.content_summary = Some(summary.clone());
                (written.note, written.degraded_by) = match tried.rung {
                    Rung::Full => (None, written.degraded_by),
                    Rung::Short => (Some(Note::ShortSummary), Some(Cause::Time)),
                    Rung::Extractive | Rung::Title => (Some(Note::Extractive), Some(Cause::Time)),
                };
                return Ok(None);
            }
            Some(Err(failure)) if failure.is_spent() && !tried.out_of_time => {
                return Err(Ending::NotTried);
            }
            Some(Err(failure)) => {
                let cause = tried.settled_after(failure);
                (failure.detail.as_str(), failure.retry_after, cause)
            }
            None => {
                let cause = tried.settled(Cause::Model);
                ("the batch's time limit was exceeded", None, cause)
            }
        };
        let Some(cause) = cause else {
            let why = format!("could not summarise the page: {why}");
            return Err(failed(why, retry_after));
        };
        written.degraded_by = Some(cause);
        // It makes no request, so the budget does not matter.
        let budget = almanack_core::budget::Budget::new(0);
        let sentences = self
            .outside
            .fallback
            .summary(text_of(article), Length::Full, &budget);
        match sentences.await {
            Ok(sentences) => {
                written.content_summary = Some(sentences);
                written.note = Some(Note::Extractive);
            }
            Err(_) => written.note = Some(Note::NotSummarised),
        }
        Ok(retry_after)
    }
}

fn failed(why: String, retry_after: Option<SignedDuration>) -> Ending {
    match retry_after {
        Some(retry_after) => Ending::Later(why, retry_after),
        None => Ending::Failed(why),
    }
}

#[expect(
    clippy::result_large_err,
    reason = "an ending carries what was written, and is made once per story"
)]
fn take_title(title: Title, tried: Tried, written: &mut Written) -> Result<(), Ending> {
    let (cause, why, retry_after) = match title {
        Title::Here(title) => {
            written.title = title;
            return Ok(());
        }
        Title::Missing => {
            let why = "the translation of its title is missing".to_owned();
            (None, why, None)
        }
        Title::Unanswered(failure) if failure.is_spent() && !tried.out_of_time => {
            return Err(Ending::NotTried);
        }
        Title::Unanswered(failure) if failure.class == FailureClass::Capped => {
            written.degraded_by = Some(Cause::Cap);
            return Ok(());
        }
        Title::Unanswered(failure) => {
            // A model that answers, but uselessly, is no outage.
            let is_out = failure.class != FailureClass::Unusable;
            let why = format!("could not translate the title: {}", failure.detail);
            (is_out.then_some(Cause::Model), why, failure.retry_after)
        }
        Title::Late => {
            let why = "the title was not translated in time".to_owned();
            (Some(Cause::Model), why, None)
        }
    };
    let cause = match cause {
        Some(cause) => tried.settled(cause),
        None => tried.out_of_time.then_some(Cause::Time),
    };
    written.degraded_by = Some(cause.ok_or_else(|| failed(why, retry_after))?);
    Ok(())
}

/// There is no text of the page. One that may be read another time is worth another look.
#[expect(
    clippy::result_large_err,
    reason = "an ending carries what was written, and is made once per story"
)]
fn take_title_only(
    unread: Option<&Failure>,
    tried: Tried,
    written: &mut Written,
) -> Result<(), Ending> {
    use FailureClass::{Credentials, RateLimited, Transient};
    written.note = Some(Note::TitleOnly);
    let cause = match unread {
        Some(failure) if failure.is_spent() && !tried.out_of_time => {
            return Err(Ending::NotTried);
        }
        Some(failure) if failure.is_spent() => Some(Cause::Time),
        Some(failure) if matches!(failure.class, Transient | RateLimited | Credentials) => {
            Some(Cause::Page)
        }
        Some(_) => None,
        None if tried.rung == Rung::Title => Some(Cause::Time),
        None => {
            let cause = tried.settled(Cause::Page);
            let late = "could not read the page: the batch's time limit was exceeded";
            Some(cause.ok_or_else(|| Ending::Failed(late.to_owned()))?)
        }
    };
    written.degraded_by = cause.or(written.degraded_by);
    Ok(())
}

#[expect(
    clippy::result_large_err,
    reason = "an ending carries what was written, and is made once per story"
)]
fn take_comments(parts: Parts, tried: Tried, written: &mut Written) -> Result<(), Ending> {
    let unread = parts.comments_unread.then_some(CommentNote::Unread);
    if tried.rung != Rung::Full {
        written.comment_note = unread;
        return Ok(());
    }
    let (why, retry_after, cause) = match parts.comments {
        Some(Ok(summary)) => {
            written.comment_note = unread.filter(|_| summary.is_none());
            written.comment_summary = summary;
            return Ok(());
        }
        Some(Err(failure)) if failure.is_spent() && !tried.out_of_time => {
            return Err(Ending::NotTried);
        }
        Some(Err(failure)) => {
            let cause = tried.settled_after(&failure);
            (failure.detail, failure.retry_after, cause)
        }
        None => {
            let late = "the batch's time limit was exceeded".to_owned();
            (late, None, tried.settled(Cause::Model))
        }
    };
    // An edition is not held up for what people say about a story.
    match cause {
        Some(_) => {
            written.comment_note = Some(CommentNote::NotSummarised);
            Ok(())
        }
        None => Err(failed(
            format!("could not summarise the comments: {why}"),
            retry_after,
        )),
    }
}
