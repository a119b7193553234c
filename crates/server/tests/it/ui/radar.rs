//! The radar as a page: its load, its herds, and the form that spreads one.

use super::{
    reading::{all, attributes, check_structure, fill, in_chinese, words},
    tasks::follow,
};
use crate::harness::World;

const HERD: &str = "2026-01-05T10:00:00Z";

/// Thirty tasks and two schedules in one second, one of them with a name that needs care.
async fn crowded() -> World {
    let world = World::open();
    let items = (0..30).map(|n| {
        format!(
            r#"{{"kind":"ARTICLE_PUBLISH","subject":"article:{n}","execute_at":"{HERD}",
            "callback":{{"url":"https://cms.example/{n}"}}}}"#
        )
    });
    let items: Vec<String> = items.collect();
    for some in items.chunks(5) {
        let body = format!(r#"{{"tasks":[{}]}}"#, some.join(","));
        let put = world.post("/api/v1/tasks:batch", &body).await;
        assert_eq!(put.status, 200, "{}", put.body);
    }
    for name in ["a", "b"] {
        let body = r#"{"expression":"0 10 * * *","target":{"type":"webhook","url":"https://jobs.example/"}}"#;
        let put = world.put(&format!("/api/v1/schedules/{name}"), body).await;
        assert_eq!(put.status, 201, "{}", put.body);
    }
    world
}

#[tokio::test]
async fn wk_09_a_herd_is_spread_by_its_page_without_a_script() {
    let world = crowded().await;
    let page = world.get("/ui/radar").await;
    assert_eq!(page.status, 200, "{}", page.body);
    check_structure(&page);
    let herd = all(&page, "#herds ~ * tr[data-row]").concat();
    for text in ["32", "waiting tasks: 30", "schedules: 2", "cms.example"] {
        assert!(herd.contains(text), "{text} in {herd}");
    }
    let ways = attributes(&page, "a.button", "href");
    let way = ways.iter().find(|way| way.starts_with("/ui/radar/spread?"));
    let question = world.get(way.expect("a button")).await;
    check_structure(&question);
    let text = words(&question);
    assert!(
        text.contains("2 schedules") && text.contains("30 waiting tasks"),
        "{text}"
    );
    let splay = attributes(&question, "main input[name=splay_s]", "value");
    let fields = [("at", HERD), ("splay_s", &splay[0])];
    let done = fill(&world, "/ui/radar/spread", &fields).await;
    let page = follow(&world, &done).await;
    let notice = all(&page, ".notice").concat();
    assert!(
        notice.contains("2 schedules changed, 30 tasks moved."),
        "{notice}"
    );
    let text = words(&page);
    assert!(text.contains("No second has 20 or more starts."), "{text}");
    let history = world
        .get("/api/v1/tasks/ARTICLE_PUBLISH/article:7/history")
        .await;
    assert!(history.body.contains("ui:anonymous"), "{}", history.body);
    let again = fill(&world, "/ui/radar/spread", &fields).await;
    assert_ne!(again.status, 500, "{}", again.body);
}

#[tokio::test]
async fn the_radar_says_what_it_cannot_show() {
    let world = crowded().await;
    for query in ["hours=0", "hours=49", "herd=1", "hours=x"] {
        let page = world.get(&format!("/ui/radar?{query}")).await;
        assert_eq!(page.status, 422, "{query}: {}", page.body);
        let answer = world.get(&format!("/api/v1/radar?{query}")).await;
        assert_eq!(answer.code(), "invalid_query", "{query}");
    }
    let chinese = in_chinese(&world, "/ui/radar").await;
    let text = words(&chinese);
    assert!(
        text.contains("负载雷达") && text.contains("等待中的任务：30"),
        "{text}"
    );
}

#[tokio::test]
async fn wk_09_a_spread_that_makes_no_sense_changes_nothing() {
    let world = crowded().await;
    let before = world.get("/api/v1/radar").await.body;
    for (body, status, code) in [
        (r#"{"at":"2026-01-05T10:00:01Z"}"#, 409, "nothing_to_spread"),
        (r#"{"at":"2026-01-04T10:00:00Z"}"#, 422, "invalid_time"),
        (r#"{"at":"2026-02-05T10:00:00Z"}"#, 422, "invalid_time"),
        (r#"{"at":"tomorrow"}"#, 422, "invalid_time"),
        (
            r#"{"at":"2026-01-05T10:00:00Z","splay_s":0}"#,
            422,
            "invalid_value",
        ),
        (
            r#"{"at":"2026-01-05T10:00:00Z","splay_s":86401}"#,
            422,
            "invalid_value",
        ),
        (
            r#"{"at":"2026-01-05T10:00:00Z","splay":"2m"}"#,
            422,
            "invalid_body",
        ),
        (r"{}", 422, "invalid_body"),
    ] {
        let answer = world.post("/api/v1/radar/spread", body).await;
        assert_eq!((answer.status, &*answer.code()), (status, code), "{body}");
    }
    let dry = r#"{"at":"2026-01-05T10:00:00Z","dry_run":true}"#;
    let counted = world.post("/api/v1/radar/spread", dry).await.json();
    assert_eq!(
        (counted["tasks"].as_u64(), &counted["dry_run"]),
        (Some(30), &true.into())
    );
    assert_eq!(world.get("/api/v1/radar").await.body, before);
}
