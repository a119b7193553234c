//! The harness behind the ports of an edition.

use std::sync::Arc;

use almanack_core::{
    alert::{
        About,
        port::{Answer, Notice, Notifier, Outcome},
    },
    budget::Budget,
    edition::{
        document::{Inputs, Printed},
        port::{
            Article, BadTemplate, Failure, FailureClass, Length, Publisher, Reader, Renderer,
            Sensitivity, StorySource, Text, Wanted, Writer,
        },
        prompts::Prompts,
        quote::Comment,
        story::{Listed, StoryKey},
        summary::extract,
    },
};
use almanack_engine::editions::Outside;
use async_trait::async_trait;

use super::{Call, EditionHarness, InjectedFault, destinations::Destination, number_in};

pub(super) fn of(room: &EditionHarness) -> Outside {
    let publishers = room.places.iter().map(|place| {
        let destination = Destination {
            room: room.clone(),
            place: place.clone(),
        };
        Arc::new(destination) as Arc<dyn Publisher>
    });
    Outside {
        source: Arc::new(room.clone()),
        reader: Arc::new(room.clone()),
        writer: Arc::new(room.clone()),
        fallback: Arc::new(Sentences),
        renderer: Arc::new(PlainRenderer),
        publishers: publishers.collect(),
    }
}

fn joined(comments: &[Comment]) -> String {
    let texts = comments.iter().map(|comment| comment.text.as_str());
    texts.collect::<Vec<_>>().join(" ")
}

fn unusable(what: &str) -> Failure {
    Failure::new(FailureClass::Unusable, what)
}

#[async_trait]
impl StorySource for EditionHarness {
    fn name(&self) -> &'static str {
        "harness"
    }

    async fn list(&self, wanted: &Wanted, budget: &Arc<Budget>) -> Result<Vec<Listed>, Failure> {
        let injected_fault = self.call(Call::List, budget).await?;
        let (first, last) = self.listed;
        let mut stories = self.lock().stories.clone();
        stories.retain(|story| (first..=last).contains(&number_in(&story.key.0)));
        Ok(match injected_fault {
            InjectedFault::Lacks => Vec::new(),
            _ => stories.into_iter().take(wanted.limit).collect(),
        })
    }

    async fn comments(
        &self,
        key: &StoryKey,
        budget: &Arc<Budget>,
    ) -> Result<Vec<Comment>, Failure> {
        let number = number_in(&key.0);
        let injected_fault = self.call(Call::Comments(number), budget).await?;
        let said = |what: &str| Comment {
            author: Some(what.to_owned()),
            text: format!("comment on {number}: {what}"),
        };
        Ok(match injected_fault {
            InjectedFault::Lacks => Vec::new(),
            _ => ["one", "two", "three"].map(said).to_vec(),
        })
    }
}

#[async_trait]
impl Reader for EditionHarness {
    async fn read(&self, url: &str, budget: &Arc<Budget>) -> Result<Article, Failure> {
        let number = number_in(url);
        match self.call(Call::Page(number), budget).await? {
            InjectedFault::Lacks => Err(unusable("the page is empty")),
            _ => Ok(Article::of(format!("article {number}: a text."))),
        }
    }
}

#[async_trait]
impl Writer for EditionHarness {
    fn name(&self) -> &'static str {
        "harness"
    }

    fn prompts(&self) -> Option<&Prompts> {
        Some(&self.prompts)
    }

    async fn titles(
        &self,
        titles: &[String],
        budget: &Arc<Budget>,
    ) -> Result<Option<Vec<Option<String>>>, Failure> {
        let injected_fault = self.call(Call::Titles(titles.len()), budget).await?;
        budget.charge(10 * titles.len() as u64, 5 * titles.len() as u64);
        let translated = titles.iter().zip(0..).map(|(title, place)| {
            let lacks = injected_fault == InjectedFault::Lacks && place == 0;
            (!lacks).then(|| format!("译：{title}"))
        });
        Ok(Some(translated.collect()))
    }

    async fn summary(
        &self,
        text: Text<'_>,
        length: Length,
        budget: &Arc<Budget>,
    ) -> Result<String, Failure> {
        let of = match text {
            Text::Article { text, .. } => text.to_owned(),
            Text::Comments(comments) => joined(comments),
        };
        let begins = of.split(':').next().unwrap_or_default().to_owned();
        let call = Call::Summary(begins.clone());
        if self.call(call, budget).await? == InjectedFault::Lacks {
            return Err(unusable("the summary is empty"));
        }
        budget.charge(100, 20);
        Ok(match length {
            Length::Full => format!("摘要：{begins}"),
            Length::Short => format!("短：{begins}"),
        })
    }

    async fn overview(
        &self,
        stories: &[Printed],
        budget: &Arc<Budget>,
    ) -> Result<Option<String>, Failure> {
        if !self.opens {
            return Ok(None);
        }
        let call = Call::Overview(stories.len());
        if self.call(call, budget).await? == InjectedFault::Lacks {
            return Err(unusable("the overview is empty"));
        }
        budget.charge(200, 50);
        Ok(Some(format!("{} stories", stories.len())))
    }

    async fn judge(
        &self,
        titles: &[String],
        _: Sensitivity,
        budget: &Arc<Budget>,
    ) -> Result<Vec<bool>, Failure> {
        let injected_fault = self.call(Call::Judge(titles.len()), budget).await?;
        Ok((0..titles.len())
            .map(|place| injected_fault != InjectedFault::Lacks || place > 0)
            .collect())
    }
}

/// Writes without a model and without a request, as the product does.
struct Sentences;

#[async_trait]
impl Writer for Sentences {
    fn name(&self) -> &'static str {
        "sentences"
    }

    async fn titles(
        &self,
        _: &[String],
        _: &Arc<Budget>,
    ) -> Result<Option<Vec<Option<String>>>, Failure> {
        Ok(None)
    }

    async fn summary(&self, text: Text<'_>, _: Length, _: &Arc<Budget>) -> Result<String, Failure> {
        match text {
            Text::Article { text, .. } => Ok(format!("抽：{}", extract(text, 300))),
            Text::Comments(_) => Err(unusable("there is no sentence")),
        }
    }

    async fn judge(
        &self,
        titles: &[String],
        _: Sensitivity,
        _: &Arc<Budget>,
    ) -> Result<Vec<bool>, Failure> {
        Ok(vec![true; titles.len()])
    }
}

#[async_trait]
impl Notifier for EditionHarness {
    /// Each notice is delivered by itself, or is not.
    async fn notify(&self, notices: &[Notice]) -> Vec<Answer> {
        let notified = notices.iter().map(|notice| {
            let key = &notice.alert.key;
            let name = match &key.about {
                About::Delivery { destination, .. } => format!("{}:{destination}", key.rule),
                _ => key.rule.to_string(),
            };
            let injected_fault = self.called(&Call::Report(name, notice.news.as_str()));
            let fails = matches!(injected_fault, InjectedFault::Fails(_));
            self.lock().notified += usize::from(!fails);
            let outcome = if fails || injected_fault == InjectedFault::Lost {
                Outcome::Failed("no answer".to_owned())
            } else {
                Outcome::Taken(String::new())
            };
            Answer {
                channel: "people".to_owned(),
                keys: vec![key.clone()],
                outcome,
            }
        });
        notified.collect()
    }
}

/// Prints the stories, one a line, below the first line of the template.
struct PlainRenderer;

impl Renderer for PlainRenderer {
    fn template(&self) -> &'static str {
        "plain"
    }

    fn print(&self, template: &str, inputs: &Inputs) -> Result<String, BadTemplate> {
        let head = format!("{template} {} r{}\n", inputs.id(), inputs.revision);
        let stories = inputs.stories.iter().map(|story| {
            let said = story.content_summary.as_deref().unwrap_or("-");
            format!("{} {} {said}\n", story.rank, story.title)
        });
        Ok(std::iter::once(head).chain(stories).collect())
    }

    fn digest(&self, bytes: &[u8]) -> String {
        let text = String::from_utf8_lossy(bytes);
        format!("{:016x}", almanack_core::source::entry::key_hash(&text))
    }
}
