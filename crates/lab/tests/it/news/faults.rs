//! Injected faults of the site.

use almanack_lab::news::{
    Endpoint, RequestKind,
    fault::{Effect, Rule, When},
};

use super::News;
use crate::support::within;

const SEARCH: &str = "/api/v1/search?tags=story";

impl News {
    fn disturb(&self, when: When, effect: Effect) {
        let rule = Rule::at(Endpoint::Search, when, effect);
        self.handle().add_fault(rule);
    }
}

#[tokio::test]
async fn a_rule_hits_its_endpoint_as_often_as_configured() {
    let news = News::quiet().await;
    news.disturb(When::Next(2), Effect::Status(503));
    assert_eq!(news.get(SEARCH).await.status, 503);
    assert_eq!(news.get("/v0/beststories.json").await.status, 200);
    assert_eq!(news.get(SEARCH).await.status, 503);
    assert_eq!(news.get(SEARCH).await.status, 200);
    let count = |status| {
        let endpoint = Endpoint::Search;
        let counts = news.handle().counts();
        let mut counts = counts.iter();
        let found = counts.find(|it| it.kind == RequestKind { endpoint, status });
        found.map(|count| count.requests)
    };
    assert_eq!((count(200), count(503)), (Some(1), Some(2)));
}

#[tokio::test]
async fn a_limit_has_a_retry_after() {
    let news = News::quiet().await;
    let effect = Effect::Limited { retry_after_s: 7 };
    news.disturb(When::Always, effect);
    let limited = news.get(SEARCH).await;
    assert_eq!((limited.status, limited.header("retry-after")), (429, "7"));
    news.handle().clear_faults();
    assert_eq!(news.get(SEARCH).await.status, 200);
}

#[tokio::test]
async fn a_cut_line_is_no_answer_but_counts() {
    let news = News::quiet().await;
    for effect in [Effect::DropRequest, Effect::DropReply] {
        news.disturb(When::Next(1), effect);
        let sent = news.client.get(news.url(SEARCH)).send();
        assert!(within(sent).await.is_err(), "{effect:?}");
    }
    let statuses = news.handle().requests();
    let statuses: Vec<u16> = statuses.iter().map(|seen| seen.kind.status).collect();
    assert!(statuses.len() >= 2 && statuses.iter().all(|status| *status == 0));
}

#[tokio::test]
async fn bodies_are_cut_short_broken_or_without_hits() {
    let news = News::quiet().await;
    news.disturb(When::Next(1), Effect::Truncated);
    let cut = within(news.client.get(news.url(SEARCH)).send())
        .await
        .unwrap();
    assert_eq!(cut.status(), 200);
    assert!(within(cut.bytes()).await.is_err());

    news.disturb(When::Next(1), Effect::MalformedJson);
    let malformed = news.get(SEARCH).await;
    assert_eq!(malformed.status, 200);
    assert!(serde_json::from_slice::<serde_json::Value>(&malformed.body).is_err());

    news.disturb(When::Next(1), Effect::NullHits);
    let found = news.json(SEARCH).await;
    assert!(found["hits"].is_null() && found["nbHits"].is_u64());
}

#[tokio::test]
async fn a_request_that_is_never_answered_is_counted_and_in_flight() {
    let news = News::quiet().await;
    for _ in 0..5 {
        assert_eq!(news.get(SEARCH).await.status, 200);
    }
    assert_eq!(news.handle().in_flight_max(), 1, "one after the other");
    news.handle().forget_requests();
    news.disturb(When::Always, Effect::Hang);
    let mut waiting = Vec::new();
    for _ in 0..3 {
        waiting.push(tokio::spawn(news.client.get(news.url(SEARCH)).send()));
    }
    within(news.handle().until(|handle| handle.total() == 3)).await;
    assert_eq!(news.handle().in_flight_max(), 3);
    for one in waiting {
        one.abort();
    }
}

#[tokio::test]
async fn a_rule_can_name_one_story() {
    let news = News::quiet().await;
    let (one, other) = (news.add("One"), news.add("Other"));
    let path = format!("story_{one}");
    let rule = Rule::on(&path, When::Always, Effect::Status(500));
    news.handle().add_fault(rule);
    let comments = |id: i64| format!("/api/v1/search?tags=comment,story_{id}");
    assert_eq!(news.get(&comments(one)).await.status, 500);
    assert_eq!(news.get(&comments(other)).await.status, 200);
}
