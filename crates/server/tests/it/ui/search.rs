//! Search over everything, as a page and as the API behind it.

use almanack_core::{store::TokenStore as _, token::Scope};
use almanack_server::access::Access;
use almanack_store::sqlite::SqliteStore;
use almanack_testkit::fixture::START;
use axum::http::Method;

use super::reading::{all, attributes, check_structure, in_chinese, words};
use crate::{
    access::made,
    harness::{Answer, World, with},
    stage::{Day, Stage},
};

/// Half a day of everything.
async fn day() -> World {
    let stage = Stage::build();
    Day::of(&stage).play().await;
    stage.clock_stands_at(START);
    stage.world
}

/// The hits of the API: type and title.
fn hits(answer: &Answer) -> Vec<(String, String)> {
    assert_eq!(answer.status, 200, "{}", answer.body);
    let body = answer.json();
    let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
    let hits = body["hits"].as_array().unwrap().iter();
    hits.map(|hit| (text(&hit["type"]), text(&hit["title"])))
        .collect()
}

#[tokio::test]
async fn everything_is_found_by_name_and_every_hit_leads_to_its_page() {
    let world = day().await;
    for (asked, of, title) in [
        ("article:mo", "task", "article:moved"),
        ("nightly", "schedule", "nightly-export"),
        ("ghtly-exp", "schedule", "nightly-export"),
        ("hooks.example", "schedule", "heartbeat"),
        ("db-backup", "monitor", "db-backup"),
        ("resting.example", "source", "Resting Journal"),
        ("2026-01-04", "edition", "2026-01-04"),
        ("article_pub", "kind", "ARTICLE_PUBLISH"),
        ("node.sl", "setting", "node.slots"),
        ("sources", "page", "Sources"),
        ("new task", "action", "New task"),
        ("pause article_publish", "action", "Pause ARTICLE_PUBLISH"),
    ] {
        let asked = asked.replace(' ', "%20");
        let found = world
            .get(&format!("/api/v1/search?q={asked}&limit=50"))
            .await;
        let hit = (of.to_owned(), title.to_owned());
        assert!(hits(&found).contains(&hit), "{asked}: {}", found.body);
        let page = world.get(&format!("/ui/search?q={asked}")).await;
        check_structure(&page);
        assert!(words(&page).contains(title), "{asked}: {}", words(&page));
        for way in attributes(&page, "#found .hits a", "href") {
            assert_eq!(world.get(&way).await.status, 200, "{way}");
        }
    }
}

#[tokio::test]
async fn a_search_says_of_which_types_there_are_more() {
    let world = day().await;
    let few = world.get("/api/v1/search?q=article:&limit=1").await.json();
    let tasks = few["hits"].as_array().unwrap().iter();
    assert_eq!(tasks.filter(|hit| hit["type"] == "task").count(), 1);
    assert_eq!(few["more"], serde_json::json!(["task"]));
    let page = world.get("/ui/search?q=article:").await;
    let all_tasks = attributes(&page, "section[aria-labelledby=found-task] p a", "href");
    assert_eq!(all_tasks, ["/ui/tasks?q=article%3A"]);
}

#[tokio::test]
async fn a_search_for_nothing_offers_pages_and_actions_in_both_languages() {
    let world = World::open();
    let page = world.get("/ui/search").await;
    check_structure(&page);
    assert_eq!(all(&page, "#found h2"), ["Pages", "Actions"]);
    let chinese = in_chinese(&world, "/ui/search").await;
    assert_eq!(all(&chinese, "#found h2"), ["页面", "操作"]);
    assert!(words(&chinese).contains("新建日程"));
    let none = world.get("/ui/search?q=nothing%20like%20it").await;
    assert!(words(&none).contains("Nothing found."), "{}", words(&none));
}

#[tokio::test]
async fn what_cannot_be_searched_for_is_refused_and_markup_is_text() {
    let world = World::open();
    for q in ["a%00b", &"x".repeat(201)] {
        assert_eq!(
            world.get(&format!("/api/v1/search?q={q}")).await.status,
            422
        );
        let page = world.get(&format!("/ui/search?q={q}")).await;
        assert_eq!(page.status, 422, "{}", page.body);
        assert!(!all(&page, ".wrong").is_empty());
    }
    let page = world
        .get("/ui/search?q=%3Cscript%3Ealert(1)%3C/script%3E")
        .await;
    assert_eq!(page.status, 200);
    assert!(!page.body.contains("<script>alert"), "{}", page.body);
}

#[tokio::test]
async fn only_what_the_viewer_may_do_is_offered() {
    let store = SqliteStore::in_memory().unwrap();
    for scope in Scope::ALL {
        store
            .save_token(&made(scope.as_str(), scope).0)
            .await
            .unwrap();
    }
    let world = World::with(store, Access::Tokens);
    let new = async |scope: Scope| {
        let token = format!("Bearer {}", made(scope.as_str(), scope).1);
        let headers = [("authorization", &*token)];
        let answer = world.send(with(Method::GET, "/api/v1/search?q=new", "", &headers));
        let answer = answer.await;
        (answer.status, answer.body)
    };
    let titles = |(status, body): (u16, String)| {
        assert_eq!(status, 200, "{body}");
        ["New task", "New token"].map(|title| body.contains(title))
    };
    assert_eq!(new(Scope::Work).await.0, 403);
    assert_eq!(titles(new(Scope::Read).await), [false, false]);
    assert_eq!(titles(new(Scope::Operate).await), [true, false]);
    assert_eq!(titles(new(Scope::Admin).await), [true, true]);
}
