//! Stories whose addresses may be passed on.
//!
//! A story list contains what unknown people wrote. A story that leads to a script, a file or into
//! a network of ours is left out before it is a row: no reader is sent there, and no edition links
//! to it (SS-14).

use std::sync::Arc;

use almanack_core::{
    address::Guard,
    budget::Budget,
    edition::{
        port::{Failure, StorySource, Wanted},
        quote::Comment,
        story::{Listed, StoryKey},
    },
};
use async_trait::async_trait;

/// A source of stories, without those that lead where none may lead.
pub struct JudgedStories {
    source: Arc<dyn StorySource>,
    guard: Guard,
}

impl JudgedStories {
    /// What `source` lists and `guard` lets through.
    pub fn new(source: Arc<dyn StorySource>, guard: Guard) -> Self {
        Self { source, guard }
    }

    fn judged(&self, mut story: Listed) -> Option<Listed> {
        let may_pass = |url: &str| self.guard.check_link(url);
        if let Err(refusal) = may_pass(&story.url) {
            tracing::warn!(story.key = %story.key, %refusal, "story left out: its URL is refused");
            return None;
        }
        let talk = story.discussion_url.take();
        story.discussion_url = talk.filter(|url| may_pass(url).is_ok());
        Some(story)
    }
}

#[async_trait]
impl StorySource for JudgedStories {
    fn name(&self) -> &str {
        self.source.name()
    }

    async fn list(&self, wanted: &Wanted, budget: &Arc<Budget>) -> Result<Vec<Listed>, Failure> {
        let listed = self.source.list(wanted, budget).await?;
        Ok(listed
            .into_iter()
            .filter_map(|it| self.judged(it))
            .collect())
    }

    async fn comments(
        &self,
        key: &StoryKey,
        budget: &Arc<Budget>,
    ) -> Result<Vec<Comment>, Failure> {
        self.source.comments(key, budget).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct UnknownPeople;

    #[async_trait]
    impl StorySource for UnknownPeople {
        fn name(&self) -> &'static str {
            "unknown authors"
        }
        async fn list(&self, _: &Wanted, _: &Arc<Budget>) -> Result<Vec<Listed>, Failure> {
            let links = [
                "https://news.example.org/1",
                "http://169.254.169.254/latest/meta-data/",
                "javascript:alert(1)",
                "https://news.example.org/2",
            ];
            let listed = links.into_iter().map(|url| Listed {
                key: StoryKey(url.to_owned()),
                url: url.to_owned(),
                discussion_url: Some("http://localhost/talk".to_owned()),
                title: "title".to_owned(),
                score: None,
                comment_count: None,
                source_name: None,
                topic: None,
                published_at: None,
                text: None,
            });
            Ok(listed.collect())
        }
        async fn comments(&self, _: &StoryKey, _: &Arc<Budget>) -> Result<Vec<Comment>, Failure> {
            Ok(Vec::new())
        }
    }

    #[tokio::test]
    async fn ss_14_a_story_that_leads_into_a_network_of_ours_is_left_out() {
        let stories = JudgedStories::new(
            Arc::new(UnknownPeople),
            Guard::new(Vec::new(), "sources.allow"),
        );
        let now = jiff::Timestamp::UNIX_EPOCH;
        let wanted = Wanted {
            date: jiff::civil::date(1970, 1, 1),
            is_today: true,
            day_start: now,
            day_end: now,
            now,
            limit: 9,
        };
        let listed = stories.list(&wanted, &Budget::new(1)).await.unwrap();
        let urls: Vec<&str> = listed.iter().map(|story| story.url.as_str()).collect();
        assert_eq!(
            urls,
            ["https://news.example.org/1", "https://news.example.org/2"]
        );
        assert!(listed.iter().all(|story| story.discussion_url.is_none()));
    }
}
