//! Kinds that belong to the engine, over HTTP and on the dashboard (SF-04).

use almanack_core::{
    plan::{Definition, Origin, ScheduleName},
    target::Target,
    task::Status,
};
use almanack_testkit::fixture::at;
use axum::http::Method;
use serde_json::{Value, json};

use super::reading::{all, fill};
use crate::harness::{Answer, World, with};

const KINDS: [&str; 4] = ["DISPATCH", "EVENT_DELIVERY", "SOURCE_CHECK", "EDITION_RUN"];
const SLOT: &str = "schedule:nightly@2026-01-05T08:00:10Z";

fn refused(answer: &Answer, what: &str) {
    assert_eq!(answer.status, 422, "{what}: {}", answer.body);
    let problem = answer.json();
    assert_eq!(problem["path"], "kind", "{what}");
    let detail = problem["detail"].as_str().unwrap();
    assert!(detail.contains("only Almanack creates"), "{what}: {detail}");
}

fn event(kind: &str, verb: &str) -> Value {
    let mut data = json!({ "kind": kind, "revision": 9 });
    if verb == "put" {
        data["execute_at"] = json!("2026-01-05T09:00:00Z");
    }
    json!({
        "specversion": "1.0", "id": "1", "source": "/articles",
        "type": format!("almanack.task.{verb}.v1"), "subject": SLOT, "data": data,
    })
}

#[tokio::test]
async fn sf_04_reserved_kinds_are_refused_for_every_verb_over_http() {
    let world = World::open();
    let when = json!({ "execute_at": "2026-01-05T09:00:00Z" }).to_string();
    for kind in KINDS {
        let path = format!("/api/v1/tasks/{kind}/{SLOT}");
        refused(&world.put(&path, &when).await, "put");
        refused(&world.delete(&path).await, "cancel");
        let ahead = format!("{path}?revision=9");
        refused(&world.delete(&ahead).await, "cancel ahead");
        assert_eq!(world.post(&format!("{path}/retry"), "").await.status, 404);
        for verb in ["put", "cancel"] {
            let headers = [("content-type", "application/cloudevents+json")];
            let body = event(kind, verb).to_string();
            let sent = with(Method::POST, "/api/v1/events", &body, &headers);
            refused(&world.send(sent).await, "event");
        }
        let item = json!({ "subject": SLOT, "kind": kind, "execute_at": "2026-01-05T09:00:00Z" });
        let batch = json!({ "tasks": [item] }).to_string();
        let answer = world.post("/api/v1/tasks:batch", &batch).await.json();
        assert_eq!(answer["receipts"][0]["error"]["path"], "kind", "{answer}");
        let fields = [
            ("kind", kind),
            ("subject", SLOT),
            ("at", "2026-01-05T09:00:00"),
            ("zone", "UTC"),
        ];
        assert_eq!(fill(&world, "/ui/tasks/new", &fields).await.status, 422);
    }
    assert_eq!(world.rows().await, [], "nothing is stored");
}

/// The firing of a schedule, waiting to be tried.
async fn with_a_firing() -> World {
    let world = World::open();
    let name = ScheduleName::parse("nightly").unwrap();
    let target = Target::webhook("https://example.org/");
    let put = world
        .schedules
        .put(&name, Definition::new("@10s", target), Origin::Api, "ada");
    put.await.unwrap();
    assert_eq!(world.plan_at(at(10)).await.fired, 1);
    world
}

#[tokio::test]
async fn sf_04_a_firing_is_not_moved_and_may_be_cancelled_by_name() {
    let world = with_a_firing().await;
    let page = format!("/ui/tasks/DISPATCH/{SLOT}");
    let shown = world.get(&page).await;
    assert!(all(&shown, "form[action$='/move'], form[data-try]").is_empty());
    assert!(all(&shown, "form[action$='/retry']").is_empty());
    assert_eq!(all(&shown, "a[href$='/cancel']").len(), 1);
    let to = [("to", "2026-01-06T08:00:00Z")];
    let moved = fill(&world, &format!("{page}/move"), &to).await;
    assert_eq!(moved.status, 422);
    let again = fill(&world, &format!("{page}/retry"), &[]).await;
    assert_eq!(again.status, 422);
    let bulk = [("act", "retry"), ("id", "1")];
    fill(&world, "/ui/tasks/bulk", &bulk).await;
    world.change_in_bulk(1).await;
    let firings = world.rows().await.into_iter();
    let mut firings = firings.filter(|row| row.identity.kind.as_str() == "DISPATCH");
    assert_eq!(firings.next().map(|row| row.status), Some(Status::Init));
    assert_eq!(firings.next(), None);
    let path = format!("/api/v1/tasks/DISPATCH/{SLOT}");
    let gone = world.delete(&path).await;
    assert_eq!(gone.status, 200, "{}", gone.body);
    assert_eq!(gone.json()["rule"], "cancelled");
    let shown = world.get(&path).await.json();
    assert_eq!(shown["status"], "CANCELLED");
}

#[tokio::test]
async fn internal_tasks_are_shown_where_they_are_asked_for() {
    let world = with_a_firing().await;
    for path in ["/ui", "/ui/tasks", "/ui/activity", "/ui/nodes"] {
        let page = world.get(path).await.body;
        let turn = format!("href=\"{path}?internal=1\"");
        assert!(page.contains(&turn), "{path} leads to them");
        assert!(
            !page.contains("DISPATCH"),
            "{path} is about the user's tasks"
        );
        let page = world.get(&format!("{path}?internal=1")).await.body;
        assert!(page.contains("DISPATCH"), "{path} shows them");
        assert!(page.contains(&format!("href=\"{path}\"")), "and back");
    }
    for path in ["/ui/tasks?kind=DISPATCH", "/api/v1/tasks"] {
        let found = world.get(path).await.body;
        assert!(found.contains(SLOT), "{path}");
    }
}
