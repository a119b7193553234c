//! Whole days, of which the search shows at most a thousand stories at once.

use std::collections::BTreeSet;

use almanack_lab::news::{Endpoint, story::NewStory};

use super::*;

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap()
}

/// What a complete list of a day holds.
fn all_of(news: &News, wanted: &Wanted) -> BTreeSet<String> {
    let (from, to) = (wanted.day_start.as_second(), wanted.day_end.as_second() - 1);
    let stories = news.handle().stories_between(from, to);
    stories
        .iter()
        .map(|story| format!("hn:{}", story.id))
        .collect()
}

fn set(listed: &[Listed]) -> BTreeSet<String> {
    listed.iter().map(|story| story.key.0.clone()).collect()
}

#[tokio::test]
async fn ed_33_a_busy_day_loses_no_story() {
    let news = News::busy().await;
    for (wanted, list) in [
        (today(5000), List::Day),
        (past(1, 5000), List::Day),
        // The best list of that day is not available.
        (past(2, 5000), List::Best),
    ] {
        news.handle().forget_requests();
        let listed = news.list(list, &wanted).await.unwrap();
        assert_eq!(listed.len(), 1400);
        assert_eq!(set(&listed), all_of(&news, &wanted), "{list:?}");
        assert_eq!(news.handle().count(Endpoint::SearchByDate), 2);
        news.handle().forget_requests();
        let few = Wanted {
            limit: 30,
            ..wanted
        };
        let best = news.list(list, &few).await.unwrap();
        assert_eq!(best[..], listed[..30], "the best are the start");
    }
}

#[tokio::test]
async fn ed_33_a_day_has_its_first_second_and_its_last_one() {
    let news = News::quiet().await;
    let add = |second: i64, points| {
        let story = NewStory::new(at(second), &format!("At {second}"), points);
        format!("hn:{}", news.handle().add_story(story))
    };
    add(DAY_S.0 - 1, 99_000);
    add(DAY_S.1, 98_000);
    let first = add(DAY_S.0, 97_000);
    let last = add(DAY_S.1 - 1, 96_000);
    let listed = news.list(List::Day, &today(2)).await.unwrap();
    assert_eq!(keys(&listed), [first, last]);
    assert_eq!(news.handle().total(), 1);
}

#[tokio::test]
async fn ed_33_a_second_of_many_stories_is_not_cut_in_two() {
    let news = News::quiet().await;
    // The thousandth hit falls into the middle of this second.
    for number in 0..1100 {
        let second = DAY_S.0 + 40_000 + number / 300;
        let story = NewStory::new(at(second), &format!("Story {number}"), 1);
        news.handle().add_story(story);
    }
    let wanted = today(5000);
    let listed = news.list(List::Day, &wanted).await.unwrap();
    assert_eq!(listed.len(), 1140);
    assert_eq!(set(&listed), all_of(&news, &wanted));
}

#[tokio::test]
async fn ed_33_a_second_that_fills_the_search_does_not_hold_it_up() {
    let news = News::quiet().await;
    for number in 0..1200 {
        let story = NewStory::new(at(DAY_S.1 - 1), &format!("Story {number}"), 1);
        news.handle().add_story(story);
    }
    let listed = news.list(List::Day, &today(5000)).await.unwrap();
    // No question shows more than a thousand of that second; everything before it is there.
    let before = Wanted {
        day_end: at(DAY_S.1 - 1),
        ..today(5000)
    };
    let before = all_of(&news, &before);
    assert_eq!(listed.len(), 1000 + before.len());
    assert!(before.is_subset(&set(&listed)));
    assert_eq!(news.handle().total(), 2);
}
