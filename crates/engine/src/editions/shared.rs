//! What several editions of a node share: pages, comments, summaries and titles (ED-37).
//!
//! Each is kept in the store under what it depends on: the address and who reads it, the text and
//! how it is written (model, prompt, language, length). So an edition finds what another has paid for, also
//! after a restart and on another node. Within a node, two editions that want the same text at once
//! wait for each other; across nodes both may fetch it, which costs a request and nothing else.
//! Failures are not shared: each edition tries again by its own rules.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

use almanack_core::{
    budget::Budget,
    edition::{
        document::Printed,
        port::{
            Article, Failure, Length, Reader, Renderer, Sensitivity, StorySource, Text, Wanted,
            Writer,
        },
        prompts::{Kind, Prompts},
        quote::Comment,
        story::{Listed, StoryKey},
    },
    locked,
    store::Store,
    time::Clock,
};
use async_trait::async_trait;
use jiff::{SignedDuration, Timestamp};

use super::Outside;

/// How long texts are used again: longer than a day, so that a daily edition finds what a weekly
/// one has read, and one that is made again finds its own.
pub const KEPT_FOR: SignedDuration = SignedDuration::from_hours(48);
/// Comments grow old faster than pages.
const COMMENTS_FOR: SignedDuration = SignedDuration::from_hours(6);

type Turns = Mutex<BTreeMap<String, Arc<tokio::sync::Mutex<()>>>>;

/// The texts of a node's editions.
pub struct SharedTexts {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    renderer: Arc<dyn Renderer>,
    turns: Turns,
}

impl SharedTexts {
    /// The texts in a store; `renderer` makes digests.
    pub fn new(
        store: Arc<dyn Store>,
        clock: Arc<dyn Clock>,
        renderer: Arc<dyn Renderer>,
    ) -> Arc<Self> {
        Arc::new(Self {
            store,
            clock,
            renderer,
            turns: Turns::default(),
        })
    }

    fn key(&self, what: &str, parts: &[&str]) -> String {
        let lengths = parts.iter().map(|part| part.len().to_string());
        let lengths: Vec<String> = lengths.collect();
        let whole = format!("{}\n{}", lengths.join(" "), parts.concat());
        format!("{what}:{}", self.renderer.digest(whole.as_bytes()))
    }

    /// Whose turn it is to fetch a text; what nobody waits for is forgotten.
    fn turn(&self, key: &str) -> Arc<tokio::sync::Mutex<()>> {
        let mut turns = locked(&self.turns);
        turns.retain(|_, turn| Arc::strong_count(turn) > 1);
        Arc::clone(turns.entry(key.to_owned()).or_default())
    }

    /// A kept text. One that cannot be read is fetched again.
    async fn load(&self, key: &str, kept_for: SignedDuration) -> Option<String> {
        let from = self.clock.now().saturating_sub(kept_for);
        let from = from.unwrap_or(Timestamp::MIN);
        let found = self.store.load_shared(key.to_owned(), from).await;
        found.unwrap_or_else(|error| {
            tracing::warn!(error = error.chain(), "could not look for a shared text");
            None
        })
    }

    /// Keeps a text. An edition has it already, so a failure costs only another request later.
    async fn keep(&self, key: String, text: &str) {
        let now = self.clock.now();
        if let Err(error) = self.store.keep_shared(key, text.to_owned(), now).await {
            tracing::warn!(error = error.chain(), "could not keep a shared text");
        }
    }

    /// The kept text, or what `fetch` brings, which is kept.
    async fn get(
        &self,
        key: String,
        kept_for: SignedDuration,
        fetch: impl Future<Output = Result<String, Failure>> + Send,
    ) -> Result<String, Failure> {
        let turn = self.turn(&key);
        let _turn = turn.lock().await;
        if let Some(text) = self.load(&key, kept_for).await {
            return Ok(text);
        }
        let text = fetch.await?;
        self.keep(key, &text).await;
        Ok(text)
    }
}

impl Outside {
    /// The same outside, with what editions share. What `reader` and `writer` name is what their
    /// texts depend on beside what is asked: editions that name the same share them.
    #[must_use]
    pub fn sharing(self, texts: &Arc<SharedTexts>, reader: String, writer: String) -> Self {
        Self {
            source: Arc::new(SharedStories {
                texts: Arc::clone(texts),
                source: self.source,
            }),
            reader: Arc::new(SharedReader {
                texts: Arc::clone(texts),
                reader: self.reader,
                by: reader,
            }),
            writer: Arc::new(SharedWriter {
                texts: Arc::clone(texts),
                writer: self.writer,
                by: writer,
            }),
            ..self
        }
    }
}

/// A reader whose pages are shared.
struct SharedReader {
    texts: Arc<SharedTexts>,
    reader: Arc<dyn Reader>,
    /// What reads: another reader may read another text from one page.
    by: String,
}

#[async_trait]
impl Reader for SharedReader {
    async fn read(&self, url: &str, budget: &Arc<Budget>) -> Result<Article, Failure> {
        let fetch = async {
            let article = self.reader.read(url, budget).await?;
            // Texts can always be written as JSON.
            Ok(serde_json::to_string(&article).unwrap_or_default())
        };
        let key = self.texts.key("page", &[&self.by, url]);
        let json = self.texts.get(key, KEPT_FOR, fetch).await?;
        // What was kept before pages said more than their text is the text alone.
        Ok(serde_json::from_str(&json).unwrap_or_else(|_| Article::of(json)))
    }
}

/// A source whose comments are shared; its list is each edition's own.
struct SharedStories {
    texts: Arc<SharedTexts>,
    source: Arc<dyn StorySource>,
}

#[async_trait]
impl StorySource for SharedStories {
    fn name(&self) -> &str {
        self.source.name()
    }

    async fn list(&self, wanted: &Wanted, budget: &Arc<Budget>) -> Result<Vec<Listed>, Failure> {
        self.source.list(wanted, budget).await
    }

    async fn comments(
        &self,
        key: &StoryKey,
        budget: &Arc<Budget>,
    ) -> Result<Vec<Comment>, Failure> {
        let fetch = async {
            let comments = self.source.comments(key, budget).await?;
            // Texts can always be written as JSON.
            Ok(serde_json::to_string(&comments).unwrap_or_default())
        };
        let kept = self.texts.key("comments", &[&key.0]);
        let json = self.texts.get(kept, COMMENTS_FOR, fetch).await?;
        Ok(serde_json::from_str(&json).unwrap_or_default())
    }
}

/// A writer whose titles and summaries are shared.
struct SharedWriter {
    texts: Arc<SharedTexts>,
    writer: Arc<dyn Writer>,
    /// All that its texts depend on, but for its prompts: model, language, length.
    by: String,
}

impl SharedWriter {
    /// What a text of this kind depends on: a changed prompt finds nothing of an earlier one's.
    fn by(&self, kind: Kind) -> String {
        let prompt = self.writer.prompts().map(|prompts| prompts.of(kind));
        let version = prompt.map_or("", |prompt| prompt.version.as_str());
        format!("{version}\n{}", self.by)
    }
}

#[async_trait]
impl Writer for SharedWriter {
    fn name(&self) -> &str {
        self.writer.name()
    }

    fn prompts(&self) -> Option<&Prompts> {
        self.writer.prompts()
    }

    async fn titles(
        &self,
        titles: &[String],
        budget: &Arc<Budget>,
    ) -> Result<Option<Vec<Option<String>>>, Failure> {
        let (by, mut known) = (self.by(Kind::Titles), Vec::with_capacity(titles.len()));
        for title in titles {
            let key = self.texts.key("title", &[&by, title]);
            known.push((self.texts.load(&key, KEPT_FOR).await, key));
        }
        let unknown = titles
            .iter()
            .zip(&known)
            .filter(|(_, (text, _))| text.is_none());
        let unknown: Vec<String> = unknown.map(|(title, _)| title.clone()).collect();
        if unknown.is_empty() {
            return Ok(Some(known.into_iter().map(|(text, _)| text).collect()));
        }
        let Some(written) = self.writer.titles(&unknown, budget).await? else {
            return Ok(None);
        };
        let mut written = written.into_iter();
        let mut all = Vec::with_capacity(titles.len());
        for (text, key) in known {
            if text.is_some() {
                all.push(text);
                continue;
            }
            let new = written.next().flatten();
            if let Some(title) = &new {
                self.texts.keep(key, title).await;
            }
            all.push(new);
        }
        Ok(Some(all))
    }

    async fn summary(
        &self,
        text: Text<'_>,
        length: Length,
        budget: &Arc<Budget>,
    ) -> Result<String, Failure> {
        let (kind, of, about) = match text {
            Text::Article { text, description } => (
                Kind::Summary,
                text.to_owned(),
                description.unwrap_or_default(),
            ),
            // Texts can always be written as JSON.
            Text::Comments(comments) => {
                let json = serde_json::to_string(comments).unwrap_or_default();
                (Kind::Comments, json, "")
            }
        };
        let name = match length {
            Length::Full => "summary",
            Length::Short => "short summary",
        };
        let key = self
            .texts
            .key(name, &[&self.by(kind), kind.as_str(), &of, about]);
        let fetch = self.writer.summary(text, length, budget);
        self.texts.get(key, KEPT_FOR, fetch).await
    }

    /// It is about one edition alone.
    async fn overview(
        &self,
        stories: &[Printed],
        budget: &Arc<Budget>,
    ) -> Result<Option<String>, Failure> {
        self.writer.overview(stories, budget).await
    }

    async fn judge(
        &self,
        titles: &[String],
        sensitivity: Sensitivity,
        budget: &Arc<Budget>,
    ) -> Result<Vec<bool>, Failure> {
        self.writer.judge(titles, sensitivity, budget).await
    }
}
