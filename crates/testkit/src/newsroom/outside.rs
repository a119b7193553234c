//! The newsroom behind the ports of an edition.

use std::sync::Arc;

use almanack_core::{
    alert::Severity,
    budget::Budget,
    edition::{
        alert::News,
        document::Inputs,
        port::{
            BadTemplate, Failure, FailureClass, Notice, Press, Publisher, Reader, Sensitivity,
            StorySource, Teller, Text, Wanted, Writer,
        },
        story::{Listed, StoryKey},
    },
};
use almanack_engine::editions::Outside;
use async_trait::async_trait;
use jiff::Timestamp;

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
        teller: Arc::new(room.clone()),
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
impl Teller for Newsroom {
    async fn tell(&self, notice: &Notice<'_>) -> Result<(), Failure> {
        let news = match notice.news {
            News::Opened => "opened",
            News::Closed => "closed",
        };
        let rule = notice.alert.rule.name();
        let fate = self.called(&Call::Tell(rule, news));
        if let Fate::Fails(class) = fate {
            return Err(Failure::new(class, "nobody hears"));
        }
        self.lock().told += 1;
        match fate {
            Fate::Lost => Err(Failure::new(FailureClass::Transient, "no answer")),
            _ => Ok(()),
        }
    }

    fn tell_at(&self, severity: Severity, now: Timestamp) -> Timestamp {
        let inside = self.lock();
        let quiet = inside.quiet.as_ref();
        quiet.map_or(now, |quiet| quiet.tell_at(severity, now))
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
