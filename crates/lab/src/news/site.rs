//! Which stories exist: drawn from a seed, day by day, without keeping any.
//!
//! Numbers of items grow with time, as on the real site, and encode where an item was drawn from:
//!
//! ```text
//!   id = (day − FIRST_DAY) · PER_DAY + story of the day · PER_STORY + comment, 0 for the story
//! ```
//!
//! Stories added manually are numbered from two thousand million on, which drawn ones reach in
//! 2034; all numbers stay below 2³¹.
//!
//! INVARIANT: a day's stories depend on the seed and on how many there are, never on the clock; the
//! clock only decides which of them can be seen.

use jiff::{SignedDuration, Timestamp};
use serde::Serialize;

use super::{
    catalogue::{self, Printed},
    markup,
    page::Page,
    prose,
    story::{Comment, Link, Story},
};
use crate::{chance::Chance, feeds::language::Language};

/// The first stories added manually.
pub(super) const ADDED_FROM: i64 = 2_000_000_000;
/// Numbers a story takes: its own, and those of its comments.
pub(super) const PER_STORY: i64 = 40;
/// Most comments of a story.
pub const COMMENTS_MAX: u32 = 39;
/// Fewest comments of a popular story: enough to be summed up.
const FRONT_PAGE_COMMENTS_MIN: i64 = 8;
/// Numbers a day takes.
const PER_DAY: i64 = 200_000;
/// Most stories of a day.
pub const STORIES_PER_DAY_MAX: u32 = 5_000;
/// 2006-10-09 as a number of days: before it there is nothing.
const FIRST_DAY: i64 = 13_430;
const DAY_S: i64 = 86_400;
/// Of a thousand stories, how many have a text instead of a link, besides those that ask readers.
const TEXT_PERMILLE: u64 = 30;
/// Seconds between two comments of a story, at most.
const COMMENT_EVERY_S: i64 = 120;

/// Of a thousand stories submitted up to the end of each eighth of a day: mornings are quiet.
const BY_EIGHTH: [i64; 9] = [0, 90, 165, 240, 345, 500, 680, 840, 1000];

/// Separates draws of different things.
mod salt {
    pub(super) const STORY: u64 = 1;
    pub(super) const COMMENT: u64 = 2;
    pub(super) const PAGE: u64 = 3;
    pub(super) const ARTICLE: u64 = 4;
}

/// The parameters of all stories.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Site {
    /// Seed of the random choices.
    pub seed: u64,
    /// Stories submitted each day (UTC), at most [`STORIES_PER_DAY_MAX`].
    pub stories_per_day: u32,
    /// How many days before today still have stories.
    pub history_days: u32,
    /// Whether every story is popular, with points and a discussion; else few are, as on the real
    /// site.
    pub front_page: bool,
    /// Whether all pages are articles; else some are bad, about as many as on the real web.
    pub quiet: bool,
}

/// Where an item was drawn from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) day: i64,
    pub(super) index: i64,
    /// 0 for the story itself, else the comment counted from 1.
    pub(super) comment: i64,
}

impl Place {
    /// None for items that were added manually or do not exist.
    pub(super) fn of(id: i64) -> Option<Self> {
        let drawn = (0..ADDED_FROM).contains(&id);
        drawn.then(|| Self {
            day: FIRST_DAY + id / PER_DAY,
            index: id % PER_DAY / PER_STORY,
            comment: id % PER_STORY,
        })
    }
}

/// The day (UTC) of an instant, counted as the site counts.
pub(super) fn day_of(at: Timestamp) -> i64 {
    at.as_second().div_euclid(DAY_S)
}

impl Site {
    /// A site whose pages are all articles, with a month of history.
    pub fn new(seed: u64, stories_per_day: u32) -> Self {
        Self {
            seed,
            stories_per_day,
            history_days: 30,
            front_page: false,
            quiet: true,
        }
    }

    /// The first day that still has stories.
    pub(super) fn first_day(&self, now: Timestamp) -> i64 {
        let first = day_of(now) - i64::from(self.history_days);
        first.max(FIRST_DAY)
    }

    /// All stories of a day, oldest first, also those still to come.
    pub(super) fn day(&self, day: i64) -> Vec<Story> {
        let count = self.count();
        (0..count)
            .map(|index| self.story(day, index, count))
            .collect()
    }

    fn story(&self, day: i64, index: i64, count: i64) -> Story {
        let id = (day - FIRST_DAY) * PER_DAY + index * PER_STORY;
        let mut chance = Chance::of(self.seed, &[salt::STORY, id.cast_unsigned()]);
        let second = day * DAY_S + second_of_day(index, count, &mut chance);
        let points = points(self.front_page, &mut chance);
        let printed = catalogue::at(self.seed, day, index, count);
        let mut story = Story {
            id,
            created_at: Timestamp::from_second(second).unwrap_or_default(),
            title: printed.map_or_else(String::new, |it| it.title(Language::English)),
            author: prose::author(&mut chance),
            // The search has lost the points of a few.
            points: (!chance.happens(20)).then_some(points),
            link: Link::Page,
            comments: comment_count(points, self.front_page, &mut chance),
        };
        if printed.is_some_and(Printed::asks) || chance.happens(TEXT_PERMILLE) {
            let lead = printed.map(|it| it.story.summary.of(Language::English).to_owned());
            let text: Vec<String> = lead
                .into_iter()
                .chain(prose::remarks(&mut chance))
                .collect();
            story.link = Link::Text(markup::text(&text));
        }
        story
    }

    /// When a comment was written: one after the other, from the first minutes on.
    pub(super) fn commented_at(&self, story: &Story, number: u32) -> Timestamp {
        let path = [
            salt::COMMENT,
            story.id.cast_unsigned(),
            u64::from(number),
            0,
        ];
        let early_s = Chance::of(self.seed, &path).between(0, COMMENT_EVERY_S - 1);
        let after = SignedDuration::from_secs(i64::from(number) * COMMENT_EVERY_S - early_s);
        story.created_at.saturating_add(after).unwrap_or_default()
    }

    /// A drawn story's comment, counted from 1.
    pub(super) fn comment(&self, story: &Story, number: u32) -> Comment {
        let id = story.id + i64::from(number);
        let mut chance = Chance::of(self.seed, &[salt::COMMENT, id.cast_unsigned()]);
        let earlier = chance.below(u64::from(number) * 2);
        let earlier = i64::try_from(earlier).unwrap_or(0);
        let remarks = prose::remarks(&mut chance);
        let (html, text) = match chance.below(100) {
            0..4 => (String::new(), String::new()),
            4..6 => ("<p></p>".to_owned(), String::new()),
            _ => markup::comment(&remarks, &mut chance),
        };
        Comment {
            id,
            story_id: story.id,
            // About half reply to the story, the others to an earlier comment.
            parent_id: if earlier < i64::from(number) {
                story.id + earlier
            } else {
                story.id
            },
            author: prose::author(&mut chance),
            created_at: self.commented_at(story, number),
            html,
            text,
        }
    }

    /// The kind of a story's page.
    pub(super) fn page(&self, id: i64) -> Page {
        let mut chance = Chance::of(self.seed, &[salt::PAGE, id.cast_unsigned()]);
        if self.quiet {
            return Page::Article;
        }
        Page::draw(&mut chance)
    }

    /// The article of a story's page, if it has one: what the catalogue says of it first.
    pub(super) fn article(&self, id: i64, page: Page) -> Option<Vec<String>> {
        let mut chance = Chance::of(self.seed, &[salt::ARTICLE, id.cast_unsigned()]);
        let drawn = page.article(&mut chance)?;
        let lead = self.printed(id).zip(page.language());
        let lead = lead.map(|(printed, language)| printed.story.summary.of(language).to_owned());
        Some(lead.into_iter().chain(drawn).collect())
    }

    /// What the catalogue says of a drawn story.
    fn printed(&self, id: i64) -> Option<Printed> {
        let place = Place::of(id)?;
        catalogue::at(self.seed, place.day, place.index, self.count())
    }

    fn count(&self) -> i64 {
        i64::from(self.stories_per_day.min(STORIES_PER_DAY_MAX))
    }
}

/// The first and the last two of a day fall on its edges, where careless bounds lose them.
fn second_of_day(index: i64, count: i64, chance: &mut Chance) -> i64 {
    if index < 2.min(count) {
        return 0;
    }
    if index >= count - 2 {
        return DAY_S - 1;
    }
    // A thousandth of a thousandth of the day's stories, so that neighbours stay in order.
    let part = (index * 1_000_000 + chance.between(0, 999_999)) / count;
    let eighth = (1..BY_EIGHTH.len()).find(|&it| part < BY_EIGHTH[it] * 1000);
    let eighth = eighth.unwrap_or(BY_EIGHTH.len() - 1);
    let (from, until) = (BY_EIGHTH[eighth - 1] * 1000, BY_EIGHTH[eighth] * 1000);
    let length_s = DAY_S / 8;
    let begun_s = i64::try_from(eighth - 1).unwrap_or(0) * length_s;
    begun_s + (part - from) * length_s / (until - from)
}

/// Most stories get a handful, a few get thousands.
fn points(front_page: bool, chance: &mut Chance) -> i64 {
    let drawn = chance.below(1000);
    let drawn = if front_page { 900 + drawn / 10 } else { drawn };
    match drawn {
        0..600 => chance.between(1, 4),
        600..850 => chance.between(5, 20),
        850..950 => chance.between(21, 100),
        950..990 => chance.between(101, 400),
        _ => chance.between(401, 2500),
    }
}

/// Some stories with many points have few comments.
fn comment_count(points: i64, front_page: bool, chance: &mut Chance) -> u32 {
    if front_page {
        let count = chance.between(FRONT_PAGE_COMMENTS_MIN, i64::from(COMMENTS_MAX));
        return u32::try_from(count).unwrap_or(0);
    }
    let (none, few, most) = if points > 50 {
        (80, 180, i64::from(COMMENTS_MAX))
    } else {
        (400, 700, 9)
    };
    let drawn = chance.below(1000);
    let count = match drawn {
        _ if drawn < none => 0,
        _ if drawn < few => chance.between(1, 2),
        _ => chance.between(3, most),
    };
    u32::try_from(count).unwrap_or(0)
}

#[cfg(test)]
mod tests;
