//! Hacker News: its best stories, those of one day, and what is said about them (ED-33).
//!
//! ```text
//! best:  Firebase, ids of the best list ─► Algolia, details by the hundred, all at once ┐
//! day:   Algolia, stories of one day, slice by slice ───────────────────────────────────┴► points
//! ```
//!
//! The best list of an earlier day is not available, so an earlier day is built from all its
//! stories. Algolia shows at most 1,000 hits of a question, the newest first; a busy day has more,
//! so the question is asked again for what is earlier than the earliest seen, until nothing is
//! left.
//!
//! What must stay true:
//!
//! - A day has its first second and its last one, and no other.
//! - The best list takes at most four requests, a day one or two and never more than ten; every try
//!   counts against the budget.
//! - A question without an answer fails the list: half a list would look like a quiet day. A day
//!   that has more than ten answers hold is cut with a warning; its earliest stories are left out.

mod ask;
mod hit;

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use almanack_core::{
    budget::Budget,
    edition::{
        port::{Failure, StorySource, Wanted},
        quote::Comment,
        story::{Listed, StoryKey},
    },
    time::{Clock, Sleeper},
};
use async_trait::async_trait;
use futures_util::future::try_join_all;
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use crate::{http::Client, upstream::Upstream};
use ask::Requester;
use hit::{Page, Story};

/// Address of the lists.
pub const FIREBASE_URL: &str = "https://hacker-news.firebaseio.com";
/// Address of the search.
pub const ALGOLIA_URL: &str = "https://hn.algolia.com";
/// What the address of a discussion begins with.
pub const ITEM_URL: &str = "https://news.ycombinator.com/item?id=";

/// Most ids of the best list that are looked at, best first: it has 200, and with three questions
/// for details the whole list stays under five requests (ED-03).
const IDS_MAX: usize = 300;
/// Stories that one question for details names.
const GROUP: usize = 100;
/// Most hits of one question, by Algolia's own limit.
const HITS_MAX: usize = 1000;
/// Most questions for one day. The busiest days so far had 1,600 stories.
const SLICES_MAX: usize = 10;

const LISTS: Upstream = Upstream::open("Hacker News");
const SEARCH: Upstream = Upstream::open("the search of Hacker News");

/// Which stories make today's edition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum List {
    /// Those of the best list that are young enough.
    #[default]
    Best,
    /// The best of the day before the edition's.
    Day,
}

/// How Hacker News is asked.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Address of the lists.
    pub firebase_url: String,
    /// Address of the search.
    pub algolia_url: String,
    /// What the address of a discussion begins with.
    pub item_url: String,
    /// Which stories make today's edition.
    pub list: List,
    /// How old a story of the best list may be.
    pub window: SignedDuration,
    /// How many comments are asked for.
    pub comments_max: usize,
    /// How long one answer may take.
    pub timeout: Duration,
    /// How often a question is repeated after a failure that may pass: after 1, 2, 4 seconds and so
    /// on.
    pub retries_max: u32,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            firebase_url: FIREBASE_URL.to_owned(),
            algolia_url: ALGOLIA_URL.to_owned(),
            item_url: ITEM_URL.to_owned(),
            list: List::default(),
            window: SignedDuration::from_hours(24),
            comments_max: 10,
            timeout: Duration::from_secs(10),
            retries_max: 3,
        }
    }
}

/// Hacker News as a source of stories.
pub struct HackerNews {
    settings: Settings,
    requester: Requester,
}

impl HackerNews {
    /// Asks through `client`, and waits between tries by `sleeper` and its clock.
    pub fn new(
        client: Client,
        settings: Settings,
        clock: Arc<dyn Clock>,
        sleeper: Arc<dyn Sleeper>,
    ) -> Self {
        let requester = Requester {
            client,
            clock,
            sleeper,
            timeout: settings.timeout,
            retries_max: settings.retries_max,
        };
        Self {
            settings,
            requester,
        }
    }

    /// Those of the best list that were created at or after `since`.
    async fn best(&self, since: Timestamp, budget: &Arc<Budget>) -> Result<Vec<Story>, Failure> {
        let address = format!("{}/v0/beststories.json", base(&self.settings.firebase_url));
        let body = self.requester.ask(LISTS, address, budget).await?;
        let ids = ids(&body).ok_or_else(|| LISTS.unusable("did not answer with a list"))?;
        let groups = ids.chunks(GROUP).map(|group| self.details(group, budget));
        let pages = try_join_all(groups).await?;
        let stories = pages.into_iter().flat_map(|page| page.stories);
        Ok(stories.filter(|story| story.created_at >= since).collect())
    }

    async fn details(&self, ids: &[u64], budget: &Arc<Budget>) -> Result<Page, Failure> {
        let named: Vec<String> = ids.iter().map(|id| format!("story_{id}")).collect();
        let named = named.join(",");
        self.search("search", &format!("tags=story,({named})"), GROUP, budget)
            .await
    }

    /// The stories of a stretch of time, slice by slice, the latest first; all of them, unless they
    /// fill more than `SLICES_MAX` answers.
    async fn day(&self, wanted: &Wanted, budget: &Arc<Budget>) -> Result<Vec<Story>, Failure> {
        let start = first_second(wanted.day_start);
        let mut end = first_second(wanted.day_end);
        let mut stories = Vec::new();
        for _ in 0..SLICES_MAX {
            let filter = format!("created_at_i>={start},created_at_i<{end}");
            let question = format!("tags=story&numericFilters={filter}");
            let page = self.search("search_by_date", &question, HITS_MAX, budget);
            let page = page.await?;
            let within = |story: &Story| (start..end).contains(&story.created_at.as_second());
            stories.extend(page.stories.into_iter().filter(within));
            let earliest = page.earliest.filter(|_| page.is_cut);
            end = earliest.map_or(start, |earliest| next_end(end, earliest));
            if end <= start {
                return Ok(stories);
            }
        }
        tracing::warn!(
            slices = SLICES_MAX,
            "the day has more stories than the limit; the earliest are left out"
        );
        Ok(stories)
    }

    async fn search(
        &self,
        how: &str,
        question: &str,
        hits_max: usize,
        budget: &Arc<Budget>,
    ) -> Result<Page, Failure> {
        let algolia = base(&self.settings.algolia_url);
        let address = format!("{algolia}/api/v1/{how}?{question}&hitsPerPage={hits_max}");
        let body = self.requester.ask(SEARCH, address, budget).await?;
        hit::stories(&body, hits_max).ok_or_else(|| SEARCH.unusable("did not answer with hits"))
    }
}

#[async_trait]
impl StorySource for HackerNews {
    fn name(&self) -> &'static str {
        "hacker_news"
    }

    async fn list(&self, wanted: &Wanted, budget: &Arc<Budget>) -> Result<Vec<Listed>, Failure> {
        let stories = if wanted.is_today && self.settings.list == List::Best {
            let since = wanted.now.saturating_sub(self.settings.window);
            self.best(since.unwrap_or(Timestamp::MIN), budget).await?
        } else {
            self.day(wanted, budget).await?
        };
        let best = by_points(stories).into_iter().take(wanted.limit);
        Ok(best
            .map(|story| story.listed(&self.settings.item_url))
            .collect())
    }

    async fn comments(
        &self,
        key: &StoryKey,
        budget: &Arc<Budget>,
    ) -> Result<Vec<Comment>, Failure> {
        let Some(id) = hit::id_of(key) else {
            return Ok(Vec::new());
        };
        let algolia = base(&self.settings.algolia_url);
        let max = self.settings.comments_max;
        let address = format!("{algolia}/api/v1/search?tags=comment,story_{id}&hitsPerPage={max}");
        let body = self.requester.ask(SEARCH, address, budget).await?;
        let comments = hit::comments(&body);
        let mut comments = comments.ok_or_else(|| SEARCH.unusable("did not answer with hits"))?;
        comments.truncate(max);
        Ok(comments)
    }
}

/// An address that paths can be appended to.
fn base(url: &str) -> &str {
    url.trim_end_matches('/')
}

/// The valid ids of a list; `None` if it is not a list.
fn ids(body: &[u8]) -> Option<Vec<u64>> {
    let list: Vec<Value> = serde_json::from_slice(body).ok()?;
    let ids = list.iter().filter_map(Value::as_u64);
    Some(ids.take(IDS_MAX).collect())
}

/// The most points first, the earlier of two with as many; each story once.
fn by_points(stories: Vec<Story>) -> Vec<Story> {
    let once: BTreeMap<u64, Story> = stories.into_iter().map(|story| (story.id, story)).collect();
    let mut stories: Vec<Story> = once.into_values().collect();
    stories.sort_by_key(|story| std::cmp::Reverse(story.points));
    stories
}

/// The first whole second at or after an instant: stories are dated in those.
fn first_second(at: Timestamp) -> i64 {
    at.as_second() + i64::from(at.subsec_nanosecond() > 0)
}

/// Where the next slice ends: after the earliest second seen, of which there may be more. A second
/// that fills an answer alone is left behind, because no question could split it.
fn next_end(end: i64, earliest: i64) -> i64 {
    if earliest + 1 < end {
        earliest + 1
    } else {
        earliest.min(end - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ed_33_every_slice_ends_earlier_and_leaves_no_second_out() {
        for (end, earliest, expected, why) in [
            (100, 40, 41, "there may be more of second 40"),
            (100, 98, 99, "one second before the end"),
            (100, 99, 99, "one second fills the answer"),
            (100, 300, 99, "an answer to another question"),
        ] {
            assert_eq!(next_end(end, earliest), expected, "{why}");
        }
    }

    #[test]
    fn ed_33_a_list_of_ids_is_read_as_far_as_it_is_one() {
        for (body, expected) in [
            ("[3, 1, 2]", Some(vec![3, 1, 2])),
            (r#"[3, null, "x", -1, 2.5, {}, 2]"#, Some(vec![3, 2])),
            ("[]", Some(vec![])),
            ("null", None),
            ("{}", None),
            ("<html>", None),
        ] {
            assert_eq!(ids(body.as_bytes()), expected, "{body}");
        }
        let many = serde_json::to_vec(&(1..=500).collect::<Vec<u64>>()).unwrap();
        assert_eq!(ids(&many).unwrap().len(), IDS_MAX);
    }

    #[test]
    fn ed_33_days_begin_with_whole_seconds() {
        for (at, expected) in [("00:00:00Z", 0), ("00:00:00.000001Z", 1), ("00:00:01Z", 1)] {
            let at: Timestamp = format!("1970-01-01T{at}").parse().unwrap();
            assert_eq!(first_second(at), expected, "{at}");
        }
    }
}
