//! Writers: a language model behind any OpenAI-compatible endpoint, or extracts of the text itself.
//!
//! [`ChatModel`] asks `POST {base_url}/chat/completions`; nothing about the service is guessed.
//! Every request, tries included, counts against the given request budget, and the tokens of an
//! answer are recorded there (ED-08). What it costs is counted by a [`Meter`], and
//! [`FallbackModels`] stand in for each other (ED-44). [`Extractive`] sends no request, so that a
//! whole edition can be made without a model (ED-36).
//!
//! What must stay true:
//!
//! - The key is in the one header it belongs to; never in `Debug`, an error or a log.
//! - Untrusted text goes to the model between delimiters and is called data; whatever it says, what
//!   comes back is only ever used as a title, a summary or a verdict.
//! - Titles are placed by [`parse`], never by the model's order; a title that was not translated is
//!   missing and not its original (ED-09).
//! - Input and output are bounded by named constants or settings.

mod ask;
mod completion;
mod extractive;
mod fallback;
mod language;
pub mod parse;
mod probe;
mod prompt;
mod settings;
mod tidy;

use std::sync::Arc;

use almanack_core::{
    budget::Budget,
    edition::{
        document::Printed,
        overview,
        port::{Failure, FailureClass, Length, Meter, Sensitivity, Text, Writer},
        prompts::Prompts,
    },
    time::{Clock, Sleeper},
};
use async_trait::async_trait;

use self::{ask::Requester, language::Language, prompt::Prompt};
use crate::http::Client;

pub use extractive::Extractive;
pub use fallback::FallbackModels;
pub use probe::{Probed, probe};
pub use prompt::prompts;
pub use settings::{BadSettings, Settings};

/// Longest short summary, in characters: a sentence or two, which a model writes in a third of the
/// time.
const SHORT_CHARS: usize = 120;

/// Writes with a language model.
pub struct ChatModel {
    requester: Requester,
    model: String,
    language: Language,
    prompts: Arc<Prompts>,
    summary_chars: usize,
}

impl ChatModel {
    /// Asks as `settings` say, and has `meter` count what it costs. Waits between tries by
    /// `sleeper`, which serves `clock`.
    pub fn new(
        client: Client,
        clock: Arc<dyn Clock>,
        sleeper: Arc<dyn Sleeper>,
        (settings, meter): (Settings, Arc<dyn Meter>),
    ) -> Result<Self, BadSettings> {
        let model = settings.model.clone();
        let language = Language::of(&settings.language);
        let (summary_chars, prompts) = (settings.summary_chars, Arc::clone(&settings.prompts));
        Ok(Self {
            requester: Requester::new(client, clock, sleeper, (settings, meter))?,
            model,
            language,
            prompts,
            summary_chars,
        })
    }

    /// What its prompts are made of.
    fn said(&self) -> (&Prompts, &Language) {
        (&self.prompts, &self.language)
    }

    /// One request for all titles, and its result; all titles missing if the reply is unusable.
    async fn translate(
        &self,
        titles: &[String],
        budget: &Arc<Budget>,
    ) -> Result<Vec<Option<String>>, Failure> {
        let prompt = Prompt::titles(self.said(), titles);
        let reply = match self.requester.ask(&prompt, budget).await {
            Ok(reply) => reply,
            Err(failure) if failure.class == FailureClass::Unusable => String::new(),
            Err(failure) => return Err(failure),
        };
        let placed = parse::titles(&reply, titles.len()).into_iter().zip(titles);
        let translated =
            placed.map(|(reply, title)| reply.filter(|it| self.language.translates(title, it)));
        Ok(translated.collect())
    }
}

#[async_trait]
impl Writer for ChatModel {
    fn name(&self) -> &str {
        &self.model
    }

    fn prompts(&self) -> Option<&Prompts> {
        Some(&self.prompts)
    }

    /// A reply of which nothing can be used is asked for once more. After that the titles are
    /// missing, so that their stories fail and are tried again another time.
    async fn titles(
        &self,
        titles: &[String],
        budget: &Arc<Budget>,
    ) -> Result<Option<Vec<Option<String>>>, Failure> {
        if titles.is_empty() {
            return Ok(Some(Vec::new()));
        }
        let nothing = |places: &[Option<String>]| places.iter().all(Option::is_none);
        let first = self.translate(titles, budget).await?;
        if !nothing(&first) {
            return Ok(Some(first));
        }
        match self.translate(titles, budget).await {
            Ok(second) => Ok(Some(second)),
            // There was an answer, but an unusable one: that is no lack of budget.
            Err(failure) if failure.is_spent() => Ok(Some(first)),
            Err(failure) => Err(failure),
        }
    }

    async fn summary(
        &self,
        text: Text<'_>,
        length: Length,
        budget: &Arc<Budget>,
    ) -> Result<String, Failure> {
        let chars = match length {
            Length::Full => self.summary_chars,
            Length::Short => self.summary_chars.min(SHORT_CHARS),
        };
        let Some(prompt) = Prompt::summary(self.said(), text, chars) else {
            return Err(Failure::new(
                FailureClass::Unusable,
                "there is no text to summarise",
            ));
        };
        let reply = self.requester.ask(&prompt, budget).await?;
        tidy::summary(&reply, chars)
            .ok_or_else(|| Failure::new(FailureClass::Unusable, "the model's summary is empty"))
    }

    /// One request, without another try: without an overview an edition is complete, too.
    async fn overview(
        &self,
        stories: &[Printed],
        budget: &Arc<Budget>,
    ) -> Result<Option<String>, Failure> {
        let Some(prompt) = Prompt::overview(self.said(), stories) else {
            return Ok(None);
        };
        let reply = self.requester.ask_once(&prompt, budget).await?;
        let written = tidy::summary(&reply, overview::CHARS_MAX);
        let nothing = || Failure::new(FailureClass::Unusable, "the model's overview is empty");
        written.map(Some).ok_or_else(nothing)
    }

    async fn judge(
        &self,
        titles: &[String],
        sensitivity: Sensitivity,
        budget: &Arc<Budget>,
    ) -> Result<Vec<bool>, Failure> {
        if titles.is_empty() {
            return Ok(Vec::new());
        }
        let prompt = Prompt::judge(&self.prompts, titles, sensitivity);
        let reply = self.requester.ask(&prompt, budget).await?;
        parse::verdicts(&reply, titles.len()).ok_or_else(|| {
            let detail = format!("the model did not judge each of {} titles", titles.len());
            Failure::new(FailureClass::Unusable, detail)
        })
    }
}
