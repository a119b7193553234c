//! The search: its hits and its limits.

use std::collections::BTreeSet;

use almanack_lab::news::story::NewStory;
use serde_json::Value;

use super::{DAY_S, News};

fn hits(found: &Value) -> &Vec<Value> {
    found["hits"].as_array().unwrap()
}

fn ids(found: &Value) -> Vec<i64> {
    let numbers = hits(found).iter();
    let numbers = numbers.map(|hit| hit["objectID"].as_str().unwrap().parse().unwrap());
    numbers.collect()
}

fn of_span(from_s: i64, to_s: i64) -> String {
    let until_s = to_s + 1;
    format!(
        "/api/v1/search_by_date?tags=story&numericFilters=created_at_i%3E={from_s},created_at_i%3C{until_s}\
         &hitsPerPage=1000"
    )
}

#[tokio::test]
async fn a_busy_day_shows_only_its_newest_thousand_stories() {
    let news = News::busy().await;
    let (from, to) = DAY_S;
    let first = news.json(&of_span(from, to)).await;
    assert_eq!(first["nbHits"], 1400);
    assert_eq!(hits(&first).len(), 1000);
    let times = hits(&first).iter().map(|hit| hit["created_at_i"].as_i64());
    assert!(times.is_sorted_by(|a, b| a >= b), "newest first");
    let oldest = hits(&first).last().unwrap()["created_at_i"].as_i64();
    assert!(oldest > Some(from + 3600), "the morning is lost");
}

#[tokio::test]
async fn slices_of_a_busy_day_show_all_of_it_with_both_edges() {
    let news = News::busy().await;
    let (from, to) = DAY_S;
    let noon = from + 43_200;
    let mut seen = BTreeSet::new();
    for (from, to) in [(from, noon - 1), (noon, to)] {
        let found = news.json(&of_span(from, to)).await;
        assert!(found["nbHits"].as_u64() < Some(1000));
        seen.extend(ids(&found));
    }
    let all = news.handle().stories_between(from, to);
    assert_eq!(all.len(), 1400);
    assert_eq!(seen, all.iter().map(|story| story.id).collect());
}

#[tokio::test]
async fn many_stories_are_found_by_their_numbers_in_one_request() {
    let news = News::busy().await;
    let best = news.handle().best_stories();
    let tags: Vec<String> = best[..100].iter().map(|id| format!("story_{id}")).collect();
    let path = format!(
        "/api/v1/search?tags=story,({})&hitsPerPage=100",
        tags.join(",")
    );
    let found = news.json(&path).await;
    assert_eq!(ids(&found), best[..100], "the most points first");
    for hit in hits(&found) {
        let id = hit["story_id"].as_i64().unwrap();
        let facts = news.handle().story(id).unwrap();
        assert_eq!(hit["title"], facts.story.title);
        assert_eq!(hit["points"].as_i64(), facts.story.points);
        assert_eq!(hit["created_at_i"], facts.story.created_at.as_second());
        assert_eq!(hit["created_at"], facts.story.created_at.to_string());
        assert_eq!(hit["author"], facts.story.author);
        assert_eq!(hit["num_comments"], news.handle().comments(id).len());
        assert_eq!(hit.get("url").and_then(Value::as_str), facts.url.as_deref());
        assert_eq!(hit.get("story_text").is_some(), facts.url.is_none());
        assert_eq!(hit["_tags"][0], "story");
    }
}

#[tokio::test]
async fn points_are_sometimes_not_known_and_addresses_sometimes_missing() {
    let news = News::busy().await;
    let (from, to) = DAY_S;
    let found = news.json(&of_span(from, to)).await;
    let count = |wanted: fn(&Value) -> bool| hits(&found).iter().filter(|it| wanted(it)).count();
    assert!(count(|hit| hit["points"].is_null()) > 5);
    assert!(count(|hit| hit.get("url").is_none()) > 30);
    assert!(count(|hit| hit["num_comments"] == 0) > 100);
}

#[tokio::test]
async fn the_comments_of_a_story_are_html_with_entities() {
    let news = News::quiet().await;
    let id = news.handle().add_story(
        NewStory::new(news.an_hour_ago(), "Tides", 7).with_comments(&[
            "It&#x27;s <i>late</i>",
            "",
            "a &lt; b",
        ]),
    );
    let found = news
        .json(&format!("/api/v1/search?tags=comment,story_{id}"))
        .await;
    assert_eq!(found["nbHits"], 3);
    let first = (id + 1).to_string();
    let hit = hits(&found)
        .iter()
        .find(|hit| hit["objectID"].as_str() == Some(first.as_str()));
    let hit = hit.unwrap();
    assert_eq!(hit["comment_text"], "It&#x27;s <i>late</i>");
    assert_eq!(
        (&hit["story_id"], &hit["parent_id"]),
        (&id.into(), &id.into())
    );
    assert_eq!(hit["story_title"], "Tides");
    assert!(hit["points"].is_null());
    assert_eq!(news.handle().comments(id)[0].text, "It's late");
}

#[tokio::test]
async fn comments_show_once_they_are_written() {
    let news = News::quiet().await;
    let stories = news.handle().stories_between(DAY_S.0, DAY_S.1);
    let story = stories.iter().find(|it| it.comments > 5).unwrap();
    let path = format!("/api/v1/search_by_date?tags=comment,story_{}", story.id);
    assert_eq!(news.json(&path).await["nbHits"], story.comments);
    let back = story.created_at.as_second() + 200 - news.clock.now().as_second();
    news.clock.advance(back);
    let early = news.json(&path).await["nbHits"].as_u64().unwrap();
    assert!((1..=2).contains(&early), "{early} after 200 seconds");
}

#[tokio::test]
async fn two_sites_with_one_seed_and_one_clock_are_the_same_site() {
    let (one, other) = (News::quiet().await, News::quiet().await);
    let stories = |news: &News| news.handle().stories_between(DAY_S.0, DAY_S.1);
    assert_eq!(stories(&one), stories(&other));
    let story = stories(&one)[7].id;
    assert_eq!(one.handle().comments(story), other.handle().comments(story));
    let article = |news: &News| news.handle().story(story).unwrap().main_text();
    assert_eq!(article(&one), article(&other));
}
