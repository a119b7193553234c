//! Lists and items, as Firebase serves them.

use std::collections::BTreeSet;

use almanack_lab::news::{
    journal::Endpoint,
    story::{Link, NewStory},
};
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
async fn the_top_list_prefers_what_is_new() {
    let news = News::calm().await;
    let now = news.clock.now();
    let old = news
        .handle()
        .add_story(NewStory::new(news.clock.after(-40 * 3600), "Old", 900));
    let new = news.handle().add_story(NewStory::new(now, "New", 900));
    let top = ids(&news.json("/v0/topstories.json").await);
    let place = |id| top.iter().position(|it| *it == id).unwrap();
    assert!(place(new) < place(old));
}

#[tokio::test]
async fn a_story_shows_the_fields_of_the_real_one() {
    let news = News::calm().await;
    let story = NewStory::new(news.an_hour_ago(), "Tides & <clocks>", 7);
    let story = story.with_comments(&["First", "Second"]);
    let id = news.handle().add_story(story);
    let shown = news.json(&format!("/v0/item/{id}.json")).await;
    assert_eq!(shown["type"], "story");
    assert_eq!(shown["id"], id);
    assert_eq!(shown["title"], "Tides & <clocks>");
    assert_eq!(shown["score"], 7);
    assert_eq!(shown["descendants"], 2);
    assert_eq!(ids(&shown["kids"]), [id + 1, id + 2]);
    assert_eq!(shown["time"], news.an_hour_ago().as_second());
    assert_eq!(shown["url"], news.handle().page_url(id));
    assert!(shown["by"].is_string());
    assert!(shown.get("text").is_none());
}

#[tokio::test]
async fn a_text_post_has_text_and_no_address() {
    let news = News::calm().await;
    let id = news.handle().add_story(NewStory {
        link: Link::Text("Why &amp; how?".to_owned()),
        ..NewStory::new(news.an_hour_ago(), "Ask HN: Why?", 3)
    });
    let shown = news.json(&format!("/v0/item/{id}.json")).await;
    assert_eq!(shown["text"], "Why &amp; how?");
    assert!(shown.get("url").is_none() && shown.get("kids").is_none());
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

#[tokio::test]
async fn comments_are_items_too() {
    let news = News::calm().await;
    let best = news.handle().best_stories();
    let talked = |id: &&i64| news.handle().comments(**id).len() > 5;
    let story = *best.iter().find(talked).unwrap();
    for comment in news.handle().comments(story) {
        let shown = news.json(&format!("/v0/item/{}.json", comment.id)).await;
        assert_eq!(shown["type"], "comment");
        assert_eq!(shown["parent"], comment.parent_id);
        assert_eq!(shown["text"], comment.html);
    }
}

#[tokio::test]
async fn what_does_not_exist_is_null() {
    let news = News::calm().await;
    let tomorrow = NewStory::new(news.clock.after(86_400), "Tomorrow", 1);
    let tomorrow = news.handle().add_story(tomorrow);
    for id in [tomorrow, 1, -1, 1_999_999_999, 2_100_000_000] {
        let shown = news.json(&format!("/v0/item/{id}.json")).await;
        assert_eq!(shown, Value::Null, "{id}");
    }
    news.clock.advance(86_400);
    let shown = news.json(&format!("/v0/item/{tomorrow}.json")).await;
    assert_eq!(shown["title"], "Tomorrow");
}
