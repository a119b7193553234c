//! Pages of tasks.

use crate::harness::{World, at};

async fn subjects(world: &World, query: &str) -> (Vec<String>, Option<String>) {
    let answer = world.get(&format!("/api/v1/tasks{query}")).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    let page = answer.json();
    let tasks = page["tasks"].as_array().unwrap();
    let names = tasks
        .iter()
        .map(|task| task["subject"].as_str().unwrap().to_owned())
        .collect();
    (names, page["next_cursor"].as_str().map(ToOwned::to_owned))
}

async fn filled() -> World {
    let world = World::open();
    for subject in ["article:1", "article:2", "draft:1", "article:3"] {
        world
            .put(&format!("/api/v1/tasks/ARTICLE_PUBLISH/{subject}"), &at(0))
            .await;
    }
    world
        .delete("/api/v1/tasks/ARTICLE_PUBLISH/article:2")
        .await;
    world
}

#[tokio::test]
async fn pages_follow_each_other_newest_first_and_end() {
    let world = filled().await;
    let mut seen = Vec::new();
    let mut query = "?limit=3".to_owned();
    loop {
        let (names, next) = subjects(&world, &query).await;
        seen.extend(names);
        let Some(cursor) = next else { break };
        query = format!("?limit=3&cursor={cursor}");
    }
    assert_eq!(seen, ["article:3", "draft:1", "article:2", "article:1"]);
    let (_, next) = subjects(&world, "?limit=4").await;
    assert_eq!(next, None, "a page that is exactly full is the last one");
}

#[tokio::test]
async fn filters_narrow_the_list() {
    let world = filled().await;
    for (query, expected) in [
        (
            "?subject_prefix=article:",
            &["article:3", "article:2", "article:1"][..],
        ),
        ("?status=cancelled", &["article:2"][..]),
        (
            "?kind=ARTICLE_PUBLISH&subject_prefix=draft:&status=INIT",
            &["draft:1"][..],
        ),
        ("?kind=OTHER", &[][..]),
        ("?subject_prefix=%25", &[][..]),
    ] {
        assert_eq!(subjects(&world, query).await.0, expected, "{query}");
    }
}

#[tokio::test]
async fn bad_queries_are_refused_by_name() {
    let world = World::open();
    for (query, code, names) in [
        ("?statsu=INIT", "invalid_query", "statsu"),
        ("?limit=0", "invalid_query", "limit"),
        ("?limit=501", "invalid_query", "500"),
        ("?limit=many", "invalid_query", "limit"),
        ("?cursor=!!", "invalid_query", "cursor"),
        (
            "?subject_prefix=a%00b",
            "invalid_query",
            "control characters",
        ),
        ("?cursor=eA", "invalid_query", "cursor"),
        ("?status=WAITING", "invalid_value", "WAITING"),
        ("?kind=1", "invalid_value", "kind"),
        ("?limit=1&limit=2", "invalid_query", "limit"),
    ] {
        let answer = world.get(&format!("/api/v1/tasks{query}")).await;
        assert_eq!(
            (answer.status, answer.code().as_str()),
            (422, code),
            "{query}"
        );
        assert!(answer.body.contains(names), "{query}: {}", answer.body);
    }
}
