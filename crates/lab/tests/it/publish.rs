//! Whether a call takes effect is the service's decision, and it decides once.

use serde_json::json;
use tokio::task::JoinSet;

use crate::support::{Almanack, World, answer, call_body};

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn rs_12_fifty_publish_calls_at_once_take_effect_once() {
    let almanack = Almanack::start([]).await;
    let world = World::start(&almanack.url).await;
    let id = world.write_audited().await;
    world.clock.advance(3600);

    let mut calls = JoinSet::new();
    for _ in 0..50 {
        let request = world
            .request("/callbacks/publish")
            .json(&call_body("publish", id, 2));
        calls.spawn(answer(request));
    }
    let mut published = 0;
    for (status, answer) in calls.join_all().await {
        assert_eq!(status, 200, "{answer}");
        match answer["result"].as_str() {
            Some("published") => published += 1,
            Some("already_published") => {}
            _ => panic!("{answer}"),
        }
    }
    assert_eq!(published, 1);
    let article = world.article(id).await;
    assert_eq!(article["state"], "PUBLISHED");
    assert_eq!(article["publish_calls"], 50);
    assert_eq!(article["publish_effects"], 1);
    world.stop().await;
}

#[tokio::test]
async fn rs_12_a_publish_call_before_the_audit_is_retryable() {
    let almanack = Almanack::start([]).await;
    let world = World::start(&almanack.url).await;
    let id = world.write().await;
    world.clock.advance(3600);
    let (status, refused) = world.call("publish", id, 1).await;
    assert_eq!((status, refused["code"].as_str()), (425, Some("not_ready")));

    // The retries may be used up by now; passing the audit must announce the publication again.
    world.call("audit", id, 1).await;
    let events = almanack.events(3).await;
    assert_eq!(events[2]["data"]["kind"], "ARTICLE_PUBLISH");
    assert_eq!(events[2]["data"]["revision"], 2);
    let (status, answer) = world.call("publish", id, 2).await;
    assert_eq!(
        (status, answer["result"].as_str()),
        (200, Some("published"))
    );
}

#[tokio::test]
async fn rs_12_an_article_moved_later_is_not_published_by_an_outdated_call() {
    let almanack = Almanack::start([]).await;
    let world = World::start(&almanack.url).await;
    let id = world.write_audited().await;
    world.clock.advance(3600);
    let (status, moved) = world.move_to(id, world.clock.after(600)).await;
    assert_eq!((status, moved["revision"].as_i64()), (200, Some(3)));

    let (status, refused) = world.call("publish", id, 2).await;
    assert_eq!(
        (status, refused["code"].as_str()),
        (409, Some("superseded"))
    );
    assert_eq!(world.article(id).await["state"], "AUDIT_SUCCESS");

    // At the new time even the outdated call matches what the author wants.
    world.clock.advance(600);
    let (status, answer) = world.call("publish", id, 2).await;
    assert_eq!(
        (status, answer["result"].as_str()),
        (200, Some("published"))
    );
    assert_eq!(world.article(id).await["publish_effects"], 1);
}

#[tokio::test]
async fn rs_12_a_call_with_the_newest_revision_is_obeyed_though_our_clock_is_behind() {
    let almanack = Almanack::start([]).await;
    let world = World::start(&almanack.url).await;
    let id = world.write_audited().await;
    let (status, answer) = world.call("publish", id, 2).await;
    assert_eq!(
        (status, answer["result"].as_str()),
        (200, Some("published"))
    );
}

#[tokio::test]
async fn rs_12_a_withdrawn_article_is_never_published() {
    let almanack = Almanack::start([]).await;
    let world = World::start(&almanack.url).await;
    let id = world.write_audited().await;
    let path = format!("/articles/{id}/withdraw");
    let (status, withdrawn) = world.post(&path, &json!(null)).await;
    assert_eq!((status, withdrawn["revision"].as_i64()), (200, Some(3)));
    world.clock.advance(7200);

    for revision in [1, 2, 3, 99] {
        let (status, refused) = world.call("publish", id, revision).await;
        assert_eq!((status, refused["code"].as_str()), (410, Some("withdrawn")));
    }
    let article = world.article(id).await;
    assert_eq!(
        (
            article["publish_effects"].as_i64(),
            article["publish_calls"].as_i64()
        ),
        (Some(0), Some(4))
    );

    // Withdrawing again changes nothing, and nothing else is possible any more.
    let (status, again) = world.post(&path, &json!(null)).await;
    assert_eq!((status, again["revision"].as_i64()), (200, Some(3)));
    let (status, refused) = world.move_to(id, world.clock.after(60)).await;
    assert_eq!((status, refused["code"].as_str()), (410, Some("withdrawn")));
    let events = almanack.events(4).await;
    assert_eq!(events[3]["type"], "almanack.task.cancel.v1");
    assert_eq!(
        events[3]["data"],
        json!({ "kind": "ARTICLE_PUBLISH", "revision": 3 })
    );
}

#[tokio::test]
async fn rs_12_a_published_article_keeps_its_time() {
    let almanack = Almanack::start([]).await;
    let world = World::start(&almanack.url).await;
    let id = world.write_audited().await;
    world.call("publish", id, 2).await;
    let (status, refused) = world.move_to(id, world.clock.after(60)).await;
    assert_eq!(
        (status, refused["code"].as_str()),
        (409, Some("already_published"))
    );
    let (status, refused) = world
        .post(&format!("/articles/{id}/withdraw"), &json!(null))
        .await;
    assert_eq!(
        (status, refused["code"].as_str()),
        (409, Some("already_published"))
    );
}

#[tokio::test]
async fn rs_12_a_rejected_article_waits_for_review() {
    let almanack = Almanack::start([]).await;
    let world = World::start(&almanack.url).await;
    let body = json!({ "title": "No", "body": "FORBIDDEN", "publish_at": world.clock.after(60) });
    let (_, article) = world.post("/articles", &body).await;
    let id = article["id"].as_i64().unwrap();
    for result in ["auto_audit_failed", "already_audited"] {
        let (status, answer) = world.call("audit", id, 1).await;
        assert_eq!((status, answer["result"].as_str()), (200, Some(result)));
    }
    let (status, refused) = world.call("publish", id, 1).await;
    assert_eq!(
        (status, refused["code"].as_str()),
        (409, Some("audit_failed"))
    );

    let (status, _) = world
        .post(
            &format!("/articles/{id}/review"),
            &json!({ "passed": true }),
        )
        .await;
    assert_eq!(status, 200);
    let kinds: Vec<_> = almanack
        .events(4)
        .await
        .iter()
        .map(|e| e["type"].clone())
        .collect();
    let (put, cancel) = ("almanack.task.put.v1", "almanack.task.cancel.v1");
    assert_eq!(kinds, [put, put, cancel, put]);
    let (status, _) = world.call("publish", id, 3).await;
    assert_eq!(status, 200);
}

#[tokio::test]
async fn rs_12_mistakes_are_answered_with_a_code_and_change_nothing() {
    let almanack = Almanack::start([]).await;
    let world = World::start(&almanack.url).await;
    let at = world.clock.after(60);
    let rows = [
        (json!({ "title": "x" }), "publish_at"),
        (
            json!({ "title": "x", "publish_at": "tomorrow" }),
            "publish_at: ",
        ),
        (
            json!({ "title": "x", "publish_at": "10000-01-01T00:00:00Z" }),
            "publish_at: ",
        ),
        (json!({ "title": " ", "publish_at": at }), "title"),
        (
            json!({ "title": "x", "publish_at": at, "publishat": at }),
            "publishat",
        ),
    ];
    for (body, named) in rows {
        let (status, refused) = world.post("/articles", &body).await;
        assert_eq!(
            (status, refused["code"].as_str()),
            (400, Some("bad_request")),
            "{body}"
        );
        assert!(
            refused["message"].as_str().unwrap().contains(named),
            "{refused}"
        );
    }
    assert_eq!(world.get("/articles").await, json!({ "articles": [] }));
    for call in ["audit", "publish"] {
        let (status, refused) = world.call(call, 1, 1).await;
        assert_eq!(
            (status, refused["code"].as_str()),
            (404, Some("unknown_article"))
        );
    }
}

#[tokio::test]
async fn rs_12_a_draft_announces_nothing_until_it_is_submitted() {
    let almanack = Almanack::start([]).await;
    let world = World::start(&almanack.url).await;
    let at = world.clock.after(60);
    let body = json!({ "title": "Tides", "publish_at": at, "submit": false });
    let (_, draft) = world.post("/articles", &body).await;
    assert_eq!(draft["state"], "DRAFT");
    let id = draft["id"].as_i64().unwrap();
    world.move_to(id, world.clock.after(120)).await;
    assert_eq!(
        world.get("/outbox").await,
        json!({ "waiting": 0, "sent": 0, "rejected": [] })
    );

    let (_, submitted) = world
        .post(&format!("/articles/{id}/submit"), &json!(null))
        .await;
    assert_eq!(
        (submitted["state"].as_str(), submitted["revision"].as_i64()),
        (Some("PENDING_AUDIT"), Some(3))
    );
    let events = almanack.events(2).await;
    assert_eq!(
        events[1]["data"]["execute_at"],
        json!(world.clock.after(120))
    );
}
