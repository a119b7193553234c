//! Undo: the confirmation offers the reverse, and what has moved on is refused.

use almanack_core::finish::Outcome;
use almanack_testkit::fixture::at as instant;

use super::reading::{all, attributes, fill, words};
use super::tasks::{PAGE, follow, status};
use crate::harness::{ARTICLE, Answer, World};
use crate::schedules::{HOURLY, NIGHTLY};

const UNDO: &str = "form[action$='/undo']";

/// The fields of the form that undoes, as a browser would send them.
fn offered(page: &Answer) -> Option<(String, Vec<(String, String)>)> {
    let action = attributes(page, UNDO, "action").into_iter().next()?;
    let inputs = format!("{UNDO} input:not([name=form_key])");
    let names = attributes(page, &inputs, "name");
    Some((
        action,
        names
            .into_iter()
            .zip(attributes(page, &inputs, "value"))
            .collect(),
    ))
}

/// Presses the button of this page.
async fn undo(world: &World, page: &Answer) -> Answer {
    let (action, fields) = offered(page).expect("a button that undoes");
    let fields: Vec<_> = fields
        .iter()
        .map(|(n, v)| (n.as_str(), v.as_str()))
        .collect();
    fill(world, &action, &fields).await
}

async fn done(world: &World, path: &str, fields: &[(&str, &str)]) -> Answer {
    follow(world, &fill(world, path, fields).await).await
}

async fn refused(world: &World, page: &Answer) {
    let answer = undo(world, page).await;
    assert_eq!(answer.status, 409, "{}", answer.body);
    assert!(
        words(&answer).contains("can no longer be undone"),
        "{}",
        words(&answer)
    );
}

#[tokio::test]
async fn a_task_gets_its_time_back_and_a_cancelled_one_all_it_had() {
    let world = World::open();
    let body = r#"{"execute_at":"2026-01-05T09:00:00Z","payload":{"n":1},"priority":7}"#;
    world.put(ARTICLE, body).await;
    let to = [("to", "2026-01-05T12:00:00Z")];
    let moved = done(&world, &format!("{PAGE}/move"), &to).await;
    let back = follow(&world, &undo(&world, &moved).await).await;
    assert!(
        words(&back).contains("5 Jan 09:00:00 UTC"),
        "{}",
        words(&back)
    );
    let task = || async { world.get(ARTICLE).await.json() };
    assert_eq!(task().await["execute_at"], "2026-01-05T09:00:00Z");
    let cancelled = done(&world, &format!("{PAGE}/cancel"), &[]).await;
    assert_eq!(status(&world, PAGE).await, "CANCELLED");
    follow(&world, &undo(&world, &cancelled).await).await;
    let again = task().await;
    assert_eq!(
        (
            &again["status"],
            &again["execute_at"],
            &again["payload"]["n"],
            &again["priority"]
        ),
        (
            &"INIT".into(),
            &"2026-01-05T09:00:00Z".into(),
            &1.into(),
            &7.into()
        )
    );
    // Its receipt is no longer the newest.
    refused(&world, &cancelled).await;
    refused(&world, &moved).await;
    assert_eq!(task().await["execute_at"], "2026-01-05T09:00:00Z");
}

#[tokio::test]
async fn what_ran_or_whose_time_has_passed_is_not_undone() {
    let world = World::open();
    world
        .put(ARTICLE, r#"{"execute_at":"2026-01-05T09:00:00Z"}"#)
        .await;
    let to = [("to", "2026-01-05T10:00:00Z")];
    let moved = done(&world, &format!("{PAGE}/move"), &to).await;
    world.clock.set(instant(3_600));
    refused(&world, &moved).await;
    world.clock.set(instant(2 * 3_600));
    let task = world.claim(1).await;
    world.end(&task, &Outcome::Done { detail: None }).await;
    refused(&world, &moved).await;
    let page = world.get(PAGE).await;
    assert_eq!(offered(&page), None, "a page that confirms nothing");
    assert_eq!(status(&world, PAGE).await, "SUCCESS");
}

#[tokio::test]
async fn a_pause_is_taken_back_unless_somebody_changed_it() {
    let world = World::open();
    world
        .put(ARTICLE, r#"{"execute_at":"2026-01-05T09:00:00Z"}"#)
        .await;
    world.put(NIGHTLY, HOURLY).await;
    let note = [("note", "the site \"moves\" & <more>")];
    for (path, api) in [
        ("/ui/kinds/ARTICLE_PUBLISH", "/api/v1/kinds/ARTICLE_PUBLISH"),
        ("/ui/schedules/nightly", NIGHTLY),
    ] {
        let pause = format!("{path}/pause");
        let paused = done(&world, &pause, &note).await;
        let undone = follow(&world, &undo(&world, &paused).await).await;
        assert!(words(&undone).contains("Undone."), "{}", words(&undone));
        assert_eq!(offered(&undone), None);
        refused(&world, &paused).await;
        // Somebody says why, and it is their pause then.
        let paused = done(&world, &pause, &[]).await;
        world
            .post(&format!("{api}/pause"), r#"{"note":"for a reason"}"#)
            .await;
        refused(&world, &paused).await;
        // A resume brings back what was said.
        let resumed = done(&world, &format!("{path}/resume"), &[]).await;
        let again = follow(&world, &undo(&world, &resumed).await).await;
        assert!(words(&again).contains("for a reason"), "{}", words(&again));
    }
}

#[tokio::test]
async fn a_source_is_paused_and_resumed_again() {
    let world = World::open();
    let added = world
        .post("/api/v1/sources", r#"{"address":"https://a.example/feed"}"#)
        .await;
    assert!(added.status < 300, "{}", added.body);
    let paused = done(&world, "/ui/sources/1/pause", &[("note", "spam")]).await;
    let resumed = follow(&world, &undo(&world, &paused).await).await;
    assert!(!words(&resumed).contains("spam"), "{}", words(&resumed));
    refused(&world, &paused).await;
    done(&world, "/ui/sources/1/pause", &[("note", "spam")]).await;
    let resumed = done(&world, "/ui/sources/1/resume", &[]).await;
    let again = follow(&world, &undo(&world, &resumed).await).await;
    assert!(words(&again).contains("spam"), "{}", words(&again));
}

/// A link cannot put a button on a page.
#[tokio::test]
async fn only_this_sessions_own_confirmation_offers_it() {
    let world = World::open();
    world.put(NIGHTLY, HOURLY).await;
    let answer = fill(&world, "/ui/schedules/nightly/pause", &[]).await;
    let location = answer.header("location").unwrap().to_owned();
    let page = world.get(&location).await;
    assert!(offered(&page).is_some());
    let forged = location
        .replace("by%22", "to%22")
        .replace("seal=", "seal=0");
    let page = world.get(&forged).await;
    assert_eq!(offered(&page), None, "{forged}");
    assert_eq!(all(&page, ".notice"), ["Schedule paused."]);
}
