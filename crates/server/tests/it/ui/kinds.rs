//! The page of kinds, and the API behind it: pause, resume, why.

use almanack_core::store::TaskStore as _;
use almanack_testkit::fixture::{at as instant, claim_request};

use super::reading::{all, check_structure, fill, in_chinese, words};
use super::tasks::follow;
use crate::harness::World;

const TASK: &str = "/api/v1/tasks/ARTICLE_PUBLISH/article:1";
const KIND: &str = "/api/v1/kinds/ARTICLE_PUBLISH";

async fn world() -> World {
    let world = World::open();
    let body = r#"{"execute_at":"2026-01-05T08:00:00Z"}"#;
    assert_eq!(world.put(TASK, body).await.status, 201);
    world.clock.set(instant(60));
    world
}

async fn claims(world: &World, number: i64) -> usize {
    let request = claim_request(number, instant(60), 10);
    world.store.claim(request).await.unwrap().tasks.len()
}

#[tokio::test]
async fn wk_04_a_kind_is_held_and_resumed_with_note_until_and_who() {
    let world = world().await;
    let body = r#"{"note":"the site moves","until":"2026-01-05T09:00:00Z"}"#;
    let paused = world.post(&format!("{KIND}/pause"), body).await;
    assert_eq!(paused.status, 200, "{}", paused.body);
    let pause = &paused.json()["paused"];
    assert_eq!(pause["note"], "the site moves");
    assert_eq!(pause["until"], "2026-01-05T09:00:00Z");
    assert_eq!(
        (&paused.json()["due"], claims(&world, 1).await),
        (&1.into(), 0)
    );
    let by = pause["by"].as_str().unwrap();
    let why = world.get(&format!("{TASK}/why")).await.json();
    assert_eq!(why["reason"], "paused");
    let sentence = why["sentence"].as_str().unwrap();
    for part in [by, "the site moves", "until 2026-01-05 09:00:00 UTC"] {
        assert!(sentence.contains(part), "{sentence}");
    }
    let resumed = world.post(&format!("{KIND}/resume"), "").await.json();
    assert!(resumed["paused"].is_null());
    let why = world.get(&format!("{TASK}/why")).await.json();
    assert_eq!(
        (&why["reason"], claims(&world, 2).await),
        (&"due".into(), 1)
    );
}

#[tokio::test]
async fn wk_04_what_cannot_be_paused_changes_nothing() {
    let world = world().await;
    let long = format!(r#"{{"note":"{}"}}"#, "x".repeat(501));
    for (kind, body, path) in [
        ("DISPATCH", "", "kind"),
        ("a b", "", "kind"),
        (
            "ARTICLE_PUBLISH",
            r#"{"until":"2026-01-05T08:00:00Z"}"#,
            "until",
        ),
        ("ARTICLE_PUBLISH", long.as_str(), "note"),
    ] {
        let kind = kind.replace(' ', "%20");
        let refused = world
            .post(&format!("/api/v1/kinds/{kind}/pause"), body)
            .await;
        assert_eq!(refused.status, 422, "{}", refused.body);
        assert_eq!(refused.json()["path"], path);
    }
    assert_eq!(claims(&world, 1).await, 1);
}

/// A name that nothing has is a mistake: accepted, it would hold up nobody and look as if it did.
#[tokio::test]
async fn wk_04_a_kind_of_which_nothing_is_known_is_refused() {
    let world = world().await;
    for does in ["pause", "resume"] {
        let refused = world
            .post(&format!("/api/v1/kinds/ARTICLE_PUBLSIH/{does}"), "")
            .await;
        assert_eq!(refused.status, 404, "{does}: {}", refused.body);
        assert_eq!(refused.json()["code"], "no_such_kind");
        let form = format!("/ui/kinds/ARTICLE_PUBLSIH/{does}");
        assert_eq!(fill(&world, &form, &[]).await.status, 404, "{does}");
    }
    let kinds = world.get("/api/v1/kinds").await.body;
    assert!(!kinds.contains("ARTICLE_PUBLSIH"), "{kinds}");
}

/// A kind needs no configuration, and none of its tasks has to wait at the moment.
#[tokio::test]
async fn wk_04_a_kind_whose_tasks_have_all_ended_is_paused() {
    let world = world().await;
    let task = "/api/v1/tasks/ONCE_ONLY/a:1";
    let body = r#"{"execute_at":"2026-01-05T09:00:00Z","callback":{"url":"https://example.org/"}}"#;
    assert!(world.put(task, body).await.status < 300);
    assert_eq!(world.delete(task).await.status, 200);
    let paused = world.post("/api/v1/kinds/ONCE_ONLY/pause", "").await;
    assert_eq!(paused.status, 200, "{}", paused.body);
}

#[tokio::test]
async fn wk_04_a_kind_is_paused_and_resumed_by_forms() {
    let world = world().await;
    let page = world.get("/ui/kinds").await;
    assert_eq!(page.status, 200, "{}", page.body);
    check_structure(&page);
    let row = all(&page, "#kinds tr[data-row]").concat();
    assert!(
        row.contains("ARTICLE_PUBLISH") && row.contains("active"),
        "{row}"
    );
    let asked = world.get("/ui/kinds/ARTICLE_PUBLISH/pause").await;
    assert_eq!(asked.status, 200, "{}", asked.body);
    check_structure(&asked);
    let past = [("until", "2026-01-05T07:00"), ("zone", "UTC")];
    let path = "/ui/kinds/ARTICLE_PUBLISH/pause";
    assert_eq!(fill(&world, path, &past).await.status, 422);
    let fields = [("note", "a <b> move"), ("until", ""), ("zone", "UTC")];
    let done = fill(&world, path, &fields).await;
    let page = follow(&world, &done).await;
    assert_eq!(
        all(&page, ".notice"),
        ["Kind paused: waiting tasks stay, running ones end.Undo"]
    );
    let row = all(&page, "#kinds tr[data-row]").concat();
    assert!(row.contains("Paused until resumed"), "{row}");
    assert!(row.contains("a <b> move") && !page.body.contains("<b> move"));
    let task = world.get("/ui/tasks/ARTICLE_PUBLISH/article:1").await;
    assert!(
        words(&task).contains("Paused until resumed"),
        "{}",
        words(&task)
    );
    let chinese = in_chinese(&world, "/ui/kinds").await;
    assert!(
        words(&chinese).contains("已暂停 直到恢复"),
        "{}",
        words(&chinese)
    );
    let resumed = fill(&world, "/ui/kinds/ARTICLE_PUBLISH/resume", &[]).await;
    let page = follow(&world, &resumed).await;
    assert_eq!(all(&page, ".notice"), ["Kind resumed.Undo"]);
    assert_eq!(claims(&world, 1).await, 1);
}
