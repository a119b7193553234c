//! The visible state of the site at an instant: drawn stories, stories added manually, their pages.
//!
//! Every method takes the time, so that the same archive shows a story's comments one after the
//! other as they are written.

use std::{collections::BTreeMap, sync::Arc};

use jiff::Timestamp;

use super::{
    markup,
    page::Page,
    prose,
    search::Question,
    site::{ADDED_FROM, COMMENTS_MAX, PER_STORY, Place, Site, day_of},
    story::{Comment, Link, NewStory, Story},
};
use crate::chance::Chance;

/// Drawn days kept; drawing one again gives the same.
const DAYS_KEPT: usize = 64;
/// How far back the lists of stories look.
const LISTED_DAYS: i64 = 3;
/// Comments of a story are written within this many days after it.
const COMMENTED_DAYS: i64 = 1;
/// Most stories on the best list.
const BEST_MAX: usize = 200;

/// All stories, and manual changes.
#[derive(Debug)]
pub struct News {
    pub(super) site: Site,
    added: Vec<Added>,
    pages: BTreeMap<i64, Page>,
    days: BTreeMap<i64, Arc<Vec<Story>>>,
}

#[derive(Debug)]
struct Added {
    story: Story,
    comments: Vec<Comment>,
}

/// A hit of a search.
#[derive(Debug, Clone)]
pub(super) enum Item {
    /// A story, with as many comments as can be seen.
    Story(Story, u32),
    /// A comment and its story.
    Comment(Comment, Arc<Story>),
}

/// The order of a search's hits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    /// The most points first.
    Points,
    Newest,
}

impl News {
    pub(super) fn new(site: Site) -> Self {
        Self {
            site,
            added: Vec::new(),
            pages: BTreeMap::new(),
            days: BTreeMap::new(),
        }
    }

    /// Adds a story, and returns its number.
    pub(super) fn add(&mut self, new: NewStory) -> i64 {
        let number = i64::try_from(self.added.len()).unwrap_or(0);
        let id = ADDED_FROM + number * PER_STORY;
        let mut chance = Chance::of(self.site.seed, &[id.cast_unsigned()]);
        let link = new.link();
        let mut comments: Vec<Comment> = Vec::new();
        for (html, place) in new.comments.into_iter().zip(1..=i64::from(COMMENTS_MAX)) {
            comments.push(Comment {
                id: id + place,
                story_id: id,
                parent_id: id,
                author: prose::author(&mut chance),
                created_at: new.created_at,
                text: markup::plain(&html),
                html,
            });
        }
        let story = Story {
            id,
            created_at: new.created_at,
            title: new.title,
            author: prose::author(&mut chance),
            points: new.points,
            link,
            comments: u32::try_from(comments.len()).unwrap_or(0),
        };
        self.pages.insert(id, new.page);
        self.added.push(Added { story, comments });
        id
    }

    /// Changes a story's page.
    pub(super) fn set_page(&mut self, id: i64, page: Page) {
        self.pages.insert(id, page);
    }

    /// The kind of a story's page.
    pub(super) fn page(&self, id: i64) -> Page {
        let set = self.pages.get(&id).copied();
        set.unwrap_or_else(|| self.site.page(id))
    }

    /// The story with this number.
    pub(super) fn story(&mut self, id: i64, now: Timestamp) -> Option<Story> {
        let found = if let Some(place) = Place::of(id) {
            let oldest = self.site.first_day(now);
            let there = place.comment == 0 && (oldest..=day_of(now)).contains(&place.day);
            let day = there.then(|| self.day(place.day))?;
            day.get(usize::try_from(place.index).ok()?).cloned()
        } else {
            self.added(id).map(|added| added.story.clone())
        };
        found.filter(|story| story.id == id && story.created_at <= now)
    }

    /// The comments on a story, oldest first.
    pub(super) fn comments(&self, story: &Story, now: Timestamp) -> Vec<Comment> {
        if let Some(added) = self.added(story.id) {
            return added.comments.clone();
        }
        let numbers = 1..=self.comment_count(story, now);
        numbers
            .map(|number| self.site.comment(story, number))
            .collect()
    }

    /// The number of comments on a story.
    pub(super) fn comment_count(&self, story: &Story, now: Timestamp) -> u32 {
        if self.added(story.id).is_some() {
            return story.comments;
        }
        // They are written in order: count from the newest.
        let written = |number: &u32| self.site.commented_at(story, *number) <= now;
        (1..=story.comments).rev().find(written).unwrap_or(0)
    }

    /// All stories submitted from one second to another, both included, oldest day first.
    pub(super) fn between(&mut self, (from_s, to_s): (i64, i64), now: Timestamp) -> Vec<Story> {
        let oldest_s = self.site.first_day(now) * 86_400;
        let (from_s, to_s) = (from_s.max(oldest_s), to_s.min(now.as_second()));
        let within = |story: &&Story| (from_s..=to_s).contains(&story.created_at.as_second());
        let mut found = Vec::new();
        for day in from_s.div_euclid(86_400)..=to_s.div_euclid(86_400) {
            found.extend(self.day(day).iter().filter(within).cloned());
        }
        let added = self.added.iter().map(|added| &added.story);
        found.extend(added.filter(within).cloned());
        found
    }

    /// The best stories of the last days, best first.
    pub(super) fn best(&mut self, now: Timestamp) -> Vec<i64> {
        let from_s = now.as_second() - LISTED_DAYS * 86_400;
        let mut stories = self.between((from_s, i64::MAX), now);
        stories.sort_by_key(|story| std::cmp::Reverse((story.points, story.id)));
        let ids = stories.iter().map(|story| story.id);
        ids.take(BEST_MAX).collect()
    }

    /// All hits of a query, in order.
    pub(super) fn search(&mut self, asked: &Question, order: Order, now: Timestamp) -> Vec<Item> {
        let (from_s, to_s) = asked.span_s;
        let within = |at: Timestamp| (from_s..=to_s).contains(&at.as_second());
        let mut found = Vec::new();
        for story in self.candidates(asked, now) {
            if asked.comments {
                let comments = self.comments(&story, now);
                let comments = comments.into_iter().filter(|it| within(it.created_at));
                let story = Arc::new(story);
                found.extend(comments.map(|it| Item::Comment(it, story.clone())));
            } else if within(story.created_at) {
                let comments = self.comment_count(&story, now);
                found.push(Item::Story(story, comments));
            }
        }
        found.sort_by_key(|item| std::cmp::Reverse(item.rank(order)));
        found
    }

    /// Stories that are hits, or whose comments can be.
    fn candidates(&mut self, asked: &Question, now: Timestamp) -> Vec<Story> {
        if let Some(mut ids) = asked.stories.clone() {
            ids.sort_unstable();
            ids.dedup();
            return ids.iter().filter_map(|id| self.story(*id, now)).collect();
        }
        let (from_s, to_s) = asked.span_s;
        let earlier_s = i64::from(asked.comments) * COMMENTED_DAYS * 86_400;
        self.between((from_s.saturating_sub(earlier_s), to_s), now)
    }

    fn added(&self, id: i64) -> Option<&Added> {
        let number = usize::try_from(id - ADDED_FROM).ok()? / usize::try_from(PER_STORY).ok()?;
        self.added.get(number)
    }

    fn day(&mut self, day: i64) -> Arc<Vec<Story>> {
        if let Some(known) = self.days.get(&day) {
            return known.clone();
        }
        let drawn = Arc::new(self.site.day(day));
        if self.days.len() == DAYS_KEPT {
            self.days.pop_first();
        }
        self.days.insert(day, drawn.clone());
        drawn
    }
}

impl Item {
    /// The story that it is or belongs to.
    pub(super) fn story(&self) -> &Story {
        match self {
            Self::Story(story, _) => story,
            Self::Comment(_, story) => story,
        }
    }

    /// Larger first; item numbers break ties.
    fn rank(&self, order: Order) -> (i64, i64) {
        let (points, at, id) = match self {
            Self::Story(story, _) => (story.points.unwrap_or(0), story.created_at, story.id),
            Self::Comment(comment, _) => (-1, comment.created_at, comment.id),
        };
        match order {
            Order::Points => (points, id),
            Order::Newest => (at.as_second(), id),
        }
    }
}

impl Story {
    /// Its text, if it has no link.
    pub(super) fn text(&self) -> Option<&str> {
        match &self.link {
            Link::Text(text) => Some(text),
            _ => None,
        }
    }
}
