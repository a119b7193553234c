//! The page of who decided what.

use super::{
    reading::{all, attributes, check_structure, in_chinese, words},
    tasks::many,
};
use crate::{
    harness::{ARTICLE, World, at},
    schedules::{HOURLY, NIGHTLY},
};

async fn lived() -> World {
    let world = World::open();
    world.put(ARTICLE, &at(0)).await;
    world.clock.set(almanack_testkit::fixture::at(60));
    world.put(ARTICLE, &at(30)).await;
    world.clock.set(almanack_testkit::fixture::at(120));
    assert_eq!(world.put(NIGHTLY, HOURLY).await.status, 201);
    world
        .post(&format!("{NIGHTLY}/pause"), r#"{"note":"a <b> holiday"}"#)
        .await;
    world
}

#[tokio::test]
async fn decisions_and_edits_stand_in_one_list_newest_first() {
    let world = lived().await;
    let page = world.get("/ui/activity").await;
    assert_eq!(page.status, 200, "{}", page.body);
    check_structure(&page);
    let rows = all(&page, "tr[data-row]");
    assert_eq!(rows.len(), 4, "{rows:?}");
    assert!(
        rows.iter()
            .any(|row| row.contains("paused") && row.contains("a <b> holiday"))
    );
    assert!(!page.body.contains("a <b> holiday"));
    assert!(
        rows[2].contains("rescheduled") && rows[2].contains("9:30:00 UTC"),
        "{rows:?}"
    );
    assert!(rows[3].contains("created"), "{rows:?}");
    let ways = attributes(&page, "tr[data-row] a", "href");
    for way in [
        "/ui/tasks/ARTICLE_PUBLISH/article:42",
        "/ui/tasks/ARTICLE_PUBLISH/article:42?receipt=1.1",
        "/ui/schedules/nightly",
        "/ui/activity?by=api%3Aanonymous",
    ] {
        assert!(ways.contains(&way.to_owned()), "{way} in {ways:?}");
    }
    let chinese = in_chinese(&world, "/ui/activity").await;
    assert!(words(&chinese).contains("改期") && words(&chinese).contains("暂停"));
}

#[tokio::test]
async fn activity_is_filtered_and_paged() {
    let world = lived().await;
    let count = async |query: &str| {
        let page = world.get(&format!("/ui/activity?{query}")).await;
        assert_eq!(page.status, 200, "{query}: {}", page.body);
        all(&page, "tr[data-row]").len()
    };
    for (query, expected) in [
        ("by=ANONYMOUS", 4),
        ("by=nobody", 0),
        ("kind=ARTICLE_PUBLISH", 2),
        ("q=night", 2),
        ("q=article", 2),
        ("by=&kind=&q=", 4),
    ] {
        assert_eq!(count(query).await, expected, "{query}");
    }
    many(&world, 60).await;
    world.clock.set(almanack_testkit::fixture::at(180));
    let page = world.get("/ui/activity").await;
    assert_eq!(all(&page, "tr[data-row]").len(), 50);
    assert_eq!(attributes(&page, ".pager a[rel=next]", "href").len(), 1);
    for wrong in [
        "kind=no%20kind",
        "q=a%00b",
        "before=9223372036854775807",
        "before=1&shown=50001",
    ] {
        let page = world.get(&format!("/ui/activity?{wrong}")).await;
        assert_eq!(page.status, 422, "{wrong}");
        assert_eq!(
            all(&page, "main form[role=search]").len(),
            1,
            "the form is kept"
        );
    }
}

/// What one act does to many tasks is decided at one instant; no page may end in its midst and lose
/// the rest.
#[tokio::test]
async fn older_leads_through_what_was_decided_at_one_instant() {
    let world = World::open();
    many(&world, 120).await;
    let (mut path, mut seen) = (Some("/ui/activity?by=ada".to_owned()), Vec::new());
    while let Some(here) = path {
        let page = world.get(&here).await;
        seen.push(all(&page, "tr[data-row] a[data-open]"));
        path = attributes(&page, ".pager a[rel=next]", "href").pop();
        assert!(seen.len() <= 3, "{path:?}");
    }
    let lengths: Vec<_> = seen.iter().map(Vec::len).collect();
    assert_eq!(lengths, [50, 50, 20]);
    let mut subjects = seen.concat();
    subjects.sort_unstable();
    subjects.dedup();
    assert_eq!(subjects.len(), 120, "each once");
}

/// Firings are what schedules do by themselves.
#[tokio::test]
async fn what_schedules_did_by_themselves_can_be_left_out() {
    let world = World::open();
    assert_eq!(world.put(NIGHTLY, HOURLY).await.status, 201);
    world.plan_at(almanack_testkit::fixture::at(3_600)).await;
    let rows = async |path: &str| all(&world.get(path).await, "tr[data-row]").len();
    assert_eq!(rows("/ui/activity?internal=1").await, 2);
    assert_eq!(rows("/ui/activity?internal=1&people=1").await, 1);
}
