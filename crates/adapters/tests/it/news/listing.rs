//! The best list, text posts and comments.

use almanack_core::edition::story::StoryKey;
use almanack_lab::news::{Endpoint, story::NewStory};

use super::*;

#[tokio::test]
async fn ed_33_the_best_list_is_ranked_by_points_and_not_older_than_a_day() {
    let news = News::busy().await;
    let since = MORNING - SignedDuration::from_hours(24);
    let facts = |id: i64| news.handle().story(id).unwrap().story;
    let mut young: Vec<_> = news
        .handle()
        .best_stories()
        .into_iter()
        .map(facts)
        .collect();
    let all = young.len();
    young.retain(|story| story.created_at >= since);
    young.sort_by_key(|story| (std::cmp::Reverse(story.points.unwrap_or(0)), story.id));
    let expected: Vec<String> = young
        .iter()
        .map(|story| format!("hn:{}", story.id))
        .collect();
    assert!(expected.len() > 30 && expected.len() < all, "a fair test");
    let listed = news.list(List::Best, &today(30)).await.unwrap();
    assert_eq!(keys(&listed), expected[..30]);
    let scores: Vec<_> = listed.iter().map(|story| story.score).collect();
    assert!(scores.is_sorted_by(|one, next| one >= next));
}

#[tokio::test]
async fn ed_03_a_list_of_thirty_takes_fewer_than_five_requests() {
    for list in [List::Best, List::Day] {
        let news = News::busy().await;
        let budget = Budget::new(4);
        let listed = news.hacker_news(list).list(&today(30), &budget).await;
        assert_eq!(listed.unwrap().len(), 30, "{list:?}");
        news.assert_paid(&budget);
    }
}

#[tokio::test]
async fn ed_33_details_are_asked_for_all_at_once() {
    let news = News::busy().await;
    news.list(List::Best, &today(30)).await.unwrap();
    assert_eq!(news.handle().count(Endpoint::BestStories), 1);
    assert_eq!(news.handle().count(Endpoint::Search), 2);
}

#[tokio::test]
async fn ed_33_a_text_post_contains_its_text() {
    let news = News::quiet().await;
    let noon = Timestamp::from_second(DAY_S.0 + 43_200).unwrap();
    let mut story = NewStory::new(noon, "Ask HN: tea &amp; <coffee>?", 9000);
    story.text = Some("Which one?<p>I can&#x27;t decide.".to_owned());
    let text = news.handle().add_story(story.clone());
    story.text = None;
    story.url = Some("https://site.example/a?b=c&d".to_owned());
    story.points = Some(8000);
    let link = news.handle().add_story(story);
    let listed = news.list(List::Day, &today(2)).await.unwrap();
    let item = |id: i64| format!("https://news.ycombinator.com/item?id={id}");
    assert_eq!(keys(&listed), [format!("hn:{text}"), format!("hn:{link}")]);
    assert_eq!(listed[0].title, "Ask HN: tea & <coffee>?");
    assert_eq!(listed[0].url, item(text));
    assert_eq!(listed[0].discussion_url, Some(item(text)));
    assert_eq!(
        listed[0].text.as_deref(),
        Some("Which one?\nI can't decide.")
    );
    assert_eq!(listed[1].url, "https://site.example/a?b=c&d");
    assert_eq!(listed[1].discussion_url, Some(item(link)));
    assert_eq!(listed[1].text, None);
    assert_eq!(listed[1].published_at, Some(noon));
}

#[tokio::test]
async fn ed_33_comments_are_plain_and_not_empty() {
    let news = News::quiet().await;
    let comments = ["It&#x27;s <i>fine</i>.<p>Really.", "", "<p> </p>", "No."];
    let story = NewStory::new(MORNING, "One", 1).with_comments(&comments);
    let id = news.handle().add_story(story);
    let many = NewStory::new(MORNING, "Two", 1).with_comments(&["Yes."; 30]);
    let many = news.handle().add_story(many);
    let hacker_news = news.hacker_news(List::Best);
    let budget = Budget::new(10);
    let ask = async |key: String| {
        let comments = hacker_news.comments(&StoryKey(key), &budget).await;
        let comments = comments.unwrap().into_iter();
        let mut comments: Vec<String> = comments.map(|comment| comment.text).collect();
        comments.sort();
        comments
    };
    assert_eq!(
        ask(format!("hn:{id}")).await,
        ["It's fine.\nReally.", "No."]
    );
    assert_eq!(ask(format!("hn:{many}")).await, ["Yes."; 10]);
    assert_eq!(ask("hn:7".to_owned()).await, Vec::<String>::new());
    assert_eq!(budget.spent(), 3);
    assert_eq!(ask("entry:7".to_owned()).await, Vec::<String>::new());
    assert_eq!(
        budget.spent(),
        3,
        "stories of other sources are not asked for"
    );
    news.assert_paid(&budget);
}
