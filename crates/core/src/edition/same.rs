//! The same story: from two sources, or of two days (ED-40).
//!
//! A story is the page it leads to. Two sources that list one page list one story: the one that
//! people talk about is kept, with what the other knows beside it. What an edition published
//! lately is not published again.

use std::collections::{BTreeMap, BTreeSet};

use url::Url;

use super::story::Listed;
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

/// One list of several, each best first: the sources take turns, and one story of two sources is
/// one, at the better of its places. At most `limit`.
pub fn join(lists: Vec<Vec<Listed>>, limit: usize) -> Vec<Listed> {
    let longest = lists.iter().map(Vec::len).max().unwrap_or(0);
    let mut lists: Vec<_> = lists.into_iter().map(Vec::into_iter).collect();
    let mut joined: Vec<Listed> = Vec::new();
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    for _ in 0..longest {
        for story in lists.iter_mut().filter_map(Iterator::next) {
            let page = page_of(&story.url);
            if let Some(place) = places.get(&page) {
                merge(&mut joined[*place], story);
            } else {
                places.insert(page, joined.len());
                joined.push(story);
            }
        }
    }
    joined.truncate(limit);
    joined
}

/// Keeps the one with a discussion, because its comments are read by its key.
fn merge(kept: &mut Listed, mut other: Listed) {
    if kept.discussion_url.is_none() && other.discussion_url.is_some() {
        std::mem::swap(kept, &mut other);
    }
    kept.score = kept.score.max(other.score);
    kept.published_at = kept.published_at.or(other.published_at);
    kept.text = kept.text.take().or(other.text);
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

    fn story(key: &str, url: &str) -> Listed {
        Listed {
            key: StoryKey(key.to_owned()),
            url: url.to_owned(),
            discussion_url: None,
            title: key.to_owned(),
            score: None,
            comment_count: None,
            published_at: None,
            text: None,
        }
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
}
