//! Whole texts of entries: read from their links and kept as their content.
//!
//! Feeds often show a teaser. For a source that wants it (`options.full_text`) the links of its
//! newest entries are read after a check, a few at a time; what is left is read after the next
//! checks, for a day. It is a convenience on top of the entry, so nothing depends on it: a node that
//! dies here leaves an entry as its publisher wrote it, and the next check goes on.

use almanack_core::{
    both,
    source::{
        Source,
        check::{Article, Checker, Failure, FailureClass},
        entry::{CONTENT_BYTES_MAX, Entry},
    },
    store::{self, Store, UnreadEntry},
    time::Clock,
};
use jiff::SignedDuration;

use super::{Error, Sources};

/// Articles read after one check.
const ARTICLES_MAX: usize = 5;
/// After so long no further article is begun: the check holds a slot.
const TIME_MAX: SignedDuration = SignedDuration::from_secs(20);
/// An article that could not be read for so long is not tried any more.
const TRIED_FOR: SignedDuration = SignedDuration::from_hours(24);

/// What reading needs.
pub(super) struct ArticleReader<'a> {
    pub(super) store: &'a dyn Store,
    pub(super) checker: &'a dyn Checker,
    pub(super) clock: &'a dyn Clock,
}

impl ArticleReader<'_> {
    /// Reads the newest articles of a source that were not read yet.
    pub(super) async fn catch_up(&self, source: &Source) {
        if !source.definition.options.full_text {
            return;
        }
        if let Err(error) = self.read_newest(source).await {
            tracing::warn!(source.id = %source.id, error = error.chain(), "could not store the full text of entries");
        }
    }

    async fn read_newest(&self, source: &Source) -> Result<(), store::Error> {
        let started_at = self.clock.now();
        let seen_from = started_at.saturating_sub(TRIED_FOR).unwrap_or(started_at);
        let unread = self
            .store
            .load_unread_entries(source.id, seen_from, ARTICLES_MAX);
        for entry in unread.await? {
            let now = self.clock.now();
            if now.duration_since(started_at) >= TIME_MAX {
                break;
            }
            if let Reading::Stop = self.read_one(&entry).await? {
                break;
            }
        }
        Ok(())
    }

    async fn read_one(&self, entry: &UnreadEntry) -> Result<Reading, store::Error> {
        let now = self.clock.now();
        let content = match self.checker.article(&entry.link, now).await {
            Article::Text(text) => Some(paragraphs(&text)),
            Article::Failed(failure) if is_lasting(&failure) => None,
            Article::Wait(_) | Article::Failed(_) => return Ok(Reading::Stop),
        };
        self.store.save_full_text(entry.id, content, now).await?;
        Ok(Reading::GoOn)
    }
}

/// Whether another article may be read now.
enum Reading {
    GoOn,
    Stop,
}

/// Whether trying again tomorrow would fail in the same way.
fn is_lasting(failure: &Failure) -> bool {
    !matches!(
        failure.class,
        FailureClass::RateLimited
            | FailureClass::Server
            | FailureClass::Dns
            | FailureClass::Connection
            | FailureClass::Timeout
    )
}

impl Sources {
    /// Reads the whole text of an entry now, and keeps it as its content.
    pub async fn read_full_text(&self, id: i64) -> Result<Entry, Error> {
        let unknown = || Error::UnknownEntry { id };
        let entry = self.store.load_entry(id).await?.ok_or_else(unknown)?;
        let Some(link) = &entry.found.link else {
            let why = both!(
                "entry {id} has no link to read",
                "条目 {id} 没有可读取的链接"
            );
            return Err(Error::Unreadable { why });
        };
        let now = self.clock.now();
        let text = match self.checker.article(link, now).await {
            Article::Text(text) => text,
            Article::Failed(failure) => return Err(Error::Unreachable(failure)),
            Article::Wait(until) => {
                let wait = until.duration_since(now).as_secs().max(1);
                let detail = format!("its host is busy; try again in {wait} s");
                let failure = Failure::new(FailureClass::RateLimited, detail);
                return Err(Error::Unreachable(failure));
            }
        };
        let content = Some(paragraphs(&text));
        self.store.save_full_text(id, content, now).await?;
        self.store.load_entry(id).await?.ok_or_else(unknown)
    }
}

/// An article as contents are kept: markup, cut to size between two paragraphs.
fn paragraphs(text: &str) -> String {
    let mut markup = String::new();
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    for line in lines {
        let line = line
            .replace('&', "&amp;")
            .replace('<', "&lt;")
            .replace('>', "&gt;");
        let paragraph = format!("<p>{line}</p>");
        if markup.len() + paragraph.len() > CONTENT_BYTES_MAX {
            break;
        }
        markup.push_str(&paragraph);
    }
    markup
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ss_24_an_article_becomes_paragraphs_of_bounded_size() {
        for (text, expected) in [
            ("", ""),
            ("one\n\n  two & three ", "<p>one</p><p>two &amp; three</p>"),
            (
                "<script>x</script>",
                "<p>&lt;script&gt;x&lt;/script&gt;</p>",
            ),
        ] {
            assert_eq!(paragraphs(text), expected);
        }
        let long = "word ".repeat(100) + "\n";
        let kept = paragraphs(&long.repeat(1_000));
        assert!(kept.len() <= CONTENT_BYTES_MAX && kept.len() > CONTENT_BYTES_MAX - 1_000);
        assert!(kept.ends_with("</p>"));
    }
}
