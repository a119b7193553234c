//! The best list, as Firebase serves it, and stories that are their own text.

use std::collections::BTreeSet;

use almanack_lab::news::{Endpoint, story::NewStory};
use serde_json::Value;

use super::News;

fn ids(list: &Value) -> Vec<i64> {
    let list = list.as_array().unwrap().iter();
    list.map(|id| id.as_i64().unwrap()).collect()
}

#[tokio::test]
async fn the_best_list_names_two_hundred_stories_best_first() {
    let news = News::busy().await;
    let best = ids(&news.json("/v0/beststories.json").await);
    assert_eq!(best.len(), 200);
    assert_eq!(best.iter().collect::<BTreeSet<_>>().len(), 200);
    let points = |id: &i64| news.handle().story(*id).unwrap().story.points;
    assert!(best.iter().map(points).is_sorted_by(|a, b| a >= b));
    assert!(points(&best[0]) > Some(400));
    assert_eq!(best, ids(&news.json("/v0/beststories.json").await));
    assert_eq!(news.handle().count(Endpoint::BestStories), 2);
}

#[tokio::test]
async fn a_text_post_has_text_and_no_address() {
    let news = News::quiet().await;
    let id = news.handle().add_story(NewStory {
        text: Some("Why &amp; how?".to_owned()),
        ..NewStory::new(news.an_hour_ago(), "Ask HN: Why?", 3)
    });
    let page = news.get(&format!("/item?id={id}")).await;
    assert!(page.text().contains("Why &amp; how?"));
    let facts = news.handle().story(id).unwrap();
    assert_eq!(
        (facts.url.as_deref(), facts.main_text().as_deref()),
        (None, Some("Why & how?"))
    );
    let read = format!("/reader/https://news.example/item?id={id}");
    assert!(news.get(&read).await.text().contains("Why & how?"));
}
