//! The same story: from two sources, or of two days (ED-40).
//!
//! A story is the page it leads to. Two sources that list one page list one story: the one that
//! people talk about is kept, with what the other knows beside it. What an edition published
//! lately is not published again.

use std::collections::{BTreeMap, BTreeSet};

use url::Url;

use super::{
    rank::{STANDING_MAX, Scored, UNKNOWN_STANDING, Window, spread},
    story::Listed,
    weight::{Weight, Weights},
};
use crate::source::entry::canonical_link;

/// What two addresses of one page have in common: neither scheme nor `www.`, fragment, trackers or
/// a slash at the end make another page.
pub fn page_of(address: &str) -> String {
    let canonical = canonical_link(None, address);
    let Some(url) = canonical.and_then(|link| Url::parse(&link).ok()) else {
        return address.to_owned();
    };
    let host = url.host_str().unwrap_or_default();
    let host = host.strip_prefix("www.").unwrap_or(host);
    let path = url.path().trim_end_matches('/');
    let query = url.query().map(|query| format!("?{query}"));
    format!("{host}{path}{}", query.unwrap_or_default())
}

/// A story of several lists, with what its place among them is decided by.
struct Joined {
    story: Listed,
    standing: u64,
    weight: Weight,
}

/// One list of several, by what each of them is worth in this window ([`Window::score`]); one story
/// of two lists is one, with the better standing and weight. At most `limit`.
pub fn join(
    lists: Vec<Vec<Listed>>,
    window: Window,
    weights: &Weights,
    limit: usize,
) -> Vec<Listed> {
    let scored = joined(lists, weights).into_iter().map(|joined| Scored {
        score: window.score(joined.story.published_at, joined.standing, joined.weight),
        publisher: publisher(&joined.story),
        item: joined.story,
    });
    spread(scored.collect(), limit, |_| true)
}

/// The stories of all lists in turns, so that among equals no list comes first as a whole.
fn joined(lists: Vec<Vec<Listed>>, weights: &Weights) -> Vec<Joined> {
    let longest = lists.iter().map(Vec::len).max().unwrap_or(0);
    let with_standing = |list: Vec<Listed>| {
        let points: Vec<i64> = list.iter().filter_map(|story| story.score).collect();
        list.into_iter().map(move |story| Joined {
            standing: standing(story.score, &points),
            weight: Weight::default(),
            story,
        })
    };
    let mut lists: Vec<_> = lists.into_iter().map(with_standing).collect();
    let mut all: Vec<Joined> = Vec::new();
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    for _ in 0..longest {
        for mut next in lists.iter_mut().filter_map(Iterator::next) {
            next.weight = weights.of(next.story.source_name.as_deref());
            let page = page_of(&next.story.url);
            if let Some(place) = places.get(&page) {
                merge(&mut all[*place], next);
            } else {
                places.insert(page, all.len());
                all.push(next);
            }
        }
    }
    all
}

/// The share of a list's stories that have fewer points, where there are points at all.
fn standing(score: Option<i64>, points: &[i64]) -> u64 {
    let Some(score) = score.filter(|_| points.len() > 1) else {
        return UNKNOWN_STANDING;
    };
    let count = |is: &dyn Fn(&i64) -> bool| points.iter().filter(|it| is(it)).count() as u64;
    let (fewer, same) = (count(&|it| *it < score), count(&|it| *it == score));
    let others = points.len() as u64 - 1;
    (2 * fewer + same.saturating_sub(1)) * STANDING_MAX / (2 * others)
}

/// Who published a story: its source, or the site that a source of others' stories points to.
fn publisher(story: &Listed) -> String {
    let own = story.source_name.as_ref();
    let own = own.filter(|_| story.discussion_url.is_none());
    own.cloned().unwrap_or_else(|| {
        let page = page_of(&story.url);
        page.split('/').next().unwrap_or_default().to_owned()
    })
}

/// Keeps the one with a discussion, because its comments are read by its key.
fn merge(kept: &mut Joined, mut other: Joined) {
    kept.standing = kept.standing.max(other.standing);
    kept.weight = kept.weight.max(other.weight);
    let (kept, other) = (&mut kept.story, &mut other.story);
    if kept.discussion_url.is_none() && other.discussion_url.is_some() {
        std::mem::swap(kept, other);
    }
    kept.score = kept.score.max(other.score);
    kept.published_at = kept.published_at.or(other.published_at);
    kept.text = kept.text.take().or(other.text.take());
    kept.topic = kept.topic.take().or(other.topic.take());
    let names = [kept.source_name.take(), other.source_name.take()];
    let names: Vec<String> = names.into_iter().flatten().collect();
    kept.source_name = (!names.is_empty()).then(|| names.join(", "));
}

/// Those that lead to none of these pages.
pub fn without(mut listed: Vec<Listed>, pages: &BTreeSet<String>) -> Vec<Listed> {
    listed.retain(|story| !pages.contains(&page_of(&story.url)));
    listed
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edition::story::StoryKey;
    use jiff::{SignedDuration, Timestamp};

    fn story(key: &str, url: &str) -> Listed {
        Listed {
            key: StoryKey(key.to_owned()),
            url: url.to_owned(),
            title: key.to_owned(),
            ..Listed::default()
        }
    }

    fn join(lists: Vec<Vec<Listed>>, limit: usize) -> Vec<Listed> {
        let window = Window {
            from: Timestamp::UNIX_EPOCH,
            until: Timestamp::UNIX_EPOCH + SignedDuration::from_hours(24),
        };
        let weights = Weights::parse(&["Heavy=4"]).unwrap();
        super::join(lists, window, &weights, limit)
    }

    #[test]
    fn ed_40_addresses_of_one_page_are_one() {
        let page = page_of("https://example.org/a");
        for same in [
            "http://example.org/a",
            "https://www.example.org/a/",
            "https://example.org/a#top",
            "https://EXAMPLE.org/a?utm_source=x",
        ] {
            assert_eq!(page_of(same), page, "{same}");
        }
        for other in [
            "https://example.org/b",
            "https://example.com/a",
            "https://example.org/a?id=1",
        ] {
            assert_ne!(page_of(other), page, "{other}");
        }
    }

    #[test]
    fn ed_40_one_story_of_two_sources_is_one_with_what_both_know() {
        let mut talked = story("hn:1", "https://a.example/x");
        talked.discussion_url = Some("https://talk.example/1".to_owned());
        talked.score = Some(9);
        let mut read = story("entry:7", "https://www.a.example/x/");
        read.text = Some("all of it".to_owned());
        read.source_name = Some("A blog".to_owned());
        talked.source_name = Some("Hacker News".to_owned());
        let lists = vec![
            vec![read, story("entry:8", "https://b.example/")],
            vec![story("hn:2", "https://c.example/"), talked],
        ];
        let joined = join(lists, 9);
        let keys: Vec<&str> = joined.iter().map(|story| story.key.0.as_str()).collect();
        assert_eq!(keys, ["hn:1", "hn:2", "entry:8"]);
        let first = &joined[0];
        assert_eq!(
            first.discussion_url.as_deref(),
            Some("https://talk.example/1")
        );
        assert_eq!(first.source_name.as_deref(), Some("Hacker News, A blog"));
        assert_eq!(
            (first.score, first.text.as_deref()),
            (Some(9), Some("all of it"))
        );
    }

    #[test]
    fn sources_take_turns_and_a_limit_holds() {
        let list = |prefix: &str, count: usize| {
            let of = |n: usize| {
                story(
                    &format!("{prefix}{n}"),
                    &format!("https://{prefix}.example/{n}"),
                )
            };
            (0..count).map(of).collect::<Vec<_>>()
        };
        let joined = join(vec![list("a", 1), list("b", 5)], 4);
        let keys: Vec<&str> = joined.iter().map(|story| story.key.0.as_str()).collect();
        assert_eq!(keys, ["a0", "b0", "b1", "b2"]);
    }

    #[test]
    fn points_age_and_weight_decide_among_lists() {
        let voted = |number: i64, score| Listed {
            score: Some(score),
            discussion_url: Some("https://talk.example/".to_owned()),
            source_name: Some("Hacker News".to_owned()),
            ..story(
                &format!("hn:{number}"),
                &format!("https://{number}.example/"),
            )
        };
        let from = |name: &str, key: &str| Listed {
            source_name: Some(name.to_owned()),
            ..story(key, &format!("https://feeds.example/{key}"))
        };
        let hours = |hours: i64, story: Listed| Listed {
            published_at: Some(Timestamp::UNIX_EPOCH + SignedDuration::from_hours(hours)),
            ..story
        };
        let lists = vec![
            vec![voted(1, 900), voted(2, 300), voted(3, 50)],
            vec![
                from("Blog", "plain"),
                from("Heavy", "heavy"),
                hours(24, from("News", "fresh")),
                hours(-20, from("Notes", "old")),
            ],
        ];
        let joined = join(lists, 9);
        let keys: Vec<&str> = joined.iter().map(|story| story.key.0.as_str()).collect();
        assert_eq!(
            keys,
            ["heavy", "hn:1", "fresh", "plain", "hn:2", "hn:3", "old"],
            "weight, then points, then age; who has no points is in the middle"
        );
    }
}
