//! The newsroom behind the ports of an edition.

use std::sync::Arc;

use almanack_core::{
    alert::{
        About,
        port::{Answer, Messenger, Notice, Outcome},
    },
    budget::Budget,
    edition::{
        document::Inputs,
        port::{
            BadTemplate, Failure, FailureClass, Press, Publisher, Reader, Sensitivity, StorySource,
            Text, Wanted, Writer,
        },
        story::{Listed, StoryKey},
    },
};
use almanack_engine::editions::Outside;
use async_trait::async_trait;

use super::{Call, Fate, Newsroom, number_in, places::Door};

pub(super) fn of(room: &Newsroom) -> Outside {
    let publishers = room.places.iter().map(|place| {
        let door = Door {
            room: room.clone(),
            place: place.clone(),
        };
        Arc::new(door) as Arc<dyn Publisher>
    });
    Outside {
        source: Arc::new(room.clone()),
        reader: Arc::new(room.clone()),
        writer: Arc::new(room.clone()),
        press: Arc::new(PlainPress),
        publishers: publishers.collect(),
    }
}

fn unusable(what: &str) -> Failure {
    Failure::new(FailureClass::Unusable, what)
}

#[async_trait]
impl StorySource for Newsroom {
    fn name(&self) -> &'static str {
        "newsroom"
    }

    async fn list(&self, wanted: &Wanted, budget: &Arc<Budget>) -> Result<Vec<Listed>, Failure> {
        let fate = self.call(Call::List, budget).await?;
        let stories = self.lock().stories.clone();
        Ok(match fate {
            Fate::Lacks => Vec::new(),
            _ => stories.into_iter().take(wanted.limit).collect(),
        })
    }

    async fn comments(&self, key: &StoryKey, budget: &Arc<Budget>) -> Result<Vec<String>, Failure> {
        let number = number_in(&key.0);
        let fate = self.call(Call::Comments(number), budget).await?;
        let said = |what: &str| format!("comment on {number}: {what}");
        Ok(match fate {
            Fate::Lacks => Vec::new(),
            _ => ["one", "two", "three"].map(said).to_vec(),
        })
    }
}

#[async_trait]
impl Reader for Newsroom {
    async fn read(&self, url: &str, budget: &Arc<Budget>) -> Result<String, Failure> {
        let number = number_in(url);
        match self.call(Call::Page(number), budget).await? {
            Fate::Lacks => Err(unusable("the page is empty")),
            _ => Ok(format!("article {number}: a text.")),
        }
    }
}

#[async_trait]
impl Writer for Newsroom {
    fn name(&self) -> &'static str {
        "newsroom"
    }

    async fn titles(
        &self,
        titles: &[String],
        budget: &Arc<Budget>,
    ) -> Result<Option<Vec<Option<String>>>, Failure> {
        let fate = self.call(Call::Titles(titles.len()), budget).await?;
        budget.charge(10 * titles.len() as u64, 5 * titles.len() as u64);
        let translated = titles.iter().zip(0..).map(|(title, place)| {
            let lacks = fate == Fate::Lacks && place == 0;
            (!lacks).then(|| format!("译：{title}"))
        });
        Ok(Some(translated.collect()))
    }

    async fn summary(&self, text: Text<'_>, budget: &Arc<Budget>) -> Result<String, Failure> {
        let of = match text {
            Text::Article(text) => text.to_owned(),
            Text::Comments(comments) => comments.join(" "),
        };
        let begins = of.split(':').next().unwrap_or_default().to_owned();
        let call = Call::Summary(begins.clone());
        if self.call(call, budget).await? == Fate::Lacks {
            return Err(unusable("the summary is empty"));
        }
        budget.charge(100, 20);
        Ok(format!("摘要：{begins}"))
    }

    async fn judge(
        &self,
        titles: &[String],
        _: Sensitivity,
        budget: &Arc<Budget>,
    ) -> Result<Vec<bool>, Failure> {
        let fate = self.call(Call::Judge(titles.len()), budget).await?;
        Ok((0..titles.len())
            .map(|place| fate != Fate::Lacks || place > 0)
            .collect())
    }
}

#[async_trait]
impl Messenger for Newsroom {
    /// Everybody hears each notice by itself, or does not.
    async fn tell(&self, notices: &[Notice]) -> Vec<Answer> {
        let told = notices.iter().map(|notice| {
            let key = &notice.alert.key;
            let name = match &key.about {
                About::Delivery { destination, .. } => format!("{}:{destination}", key.rule),
                _ => key.rule.to_string(),
            };
            let fate = self.called(&Call::Tell(name, notice.news.as_str()));
            let fails = matches!(fate, Fate::Fails(_));
            self.lock().told += usize::from(!fails);
            let outcome = if fails || fate == Fate::Lost {
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
        told.collect()
    }
}

/// Prints the stories, one a line, below the first line of the template.
struct PlainPress;

impl Press for PlainPress {
    fn template(&self) -> &'static str {
        "plain"
    }

    fn print(&self, template: &str, inputs: &Inputs) -> Result<String, BadTemplate> {
        let head = format!("{template} {} r{}\n", inputs.date, inputs.revision);
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
