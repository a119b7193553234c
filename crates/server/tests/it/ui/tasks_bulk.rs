//! Many tasks at once, by their pages.

use almanack_core::reserved::is_internal;
use almanack_testkit::fixture::at as instant;

use super::{
    reading::{all, attributes, check_structure, fill, in_chinese, words},
    tasks::{follow, many, status},
};
use crate::harness::{Answer, World};

/// The hidden fields of the question's form.
fn fields(question: &Answer) -> Vec<(String, String)> {
    let names = attributes(
        question,
        "main form[method=post] input[type=hidden]",
        "name",
    );
    let values = attributes(
        question,
        "main form[method=post] input[type=hidden]",
        "value",
    );
    let fields = names.into_iter().zip(values);
    fields.filter(|(name, _)| name != "form_key").collect()
}

/// Agrees, and shows the page of the bulk change once a node has carried it out.
async fn agree(world: &World, question: &Answer, claim: i64) -> Answer {
    let fields = fields(question);
    let fields: Vec<_> = fields
        .iter()
        .map(|(name, value)| (&**name, &**value))
        .collect();
    let answer = fill(world, "/ui/tasks/bulk", &fields).await;
    let begun = follow(world, &answer).await;
    assert!(words(&begun).contains("Running"), "{}", words(&begun));
    world.change_in_bulk(claim).await;
    follow(world, &answer).await
}

fn facts(page: &Answer) -> String {
    all(page, ".facts").concat()
}

#[tokio::test]
async fn wk_07_ticked_tasks_are_changed_after_a_question_that_counts_them() {
    let world = World::open();
    many(&world, 13).await;
    world.clock.set(instant(3_600));
    let first = world.claim(1).await;
    world.done(&first).await;
    let question = world
        .get("/ui/tasks/bulk?act=cancel&id=1&id=2&id=3&id=3&id=99")
        .await;
    check_structure(&question);
    let text = words(&question);
    assert!(text.contains("Cancel 2 tasks"), "one is done: {text}");
    assert!(
        text.contains("Will change: 2 of 3. Will not change: 1 ended."),
        "{text}"
    );
    assert!(
        text.contains("almanack task bulk cancel --id 1,2,3,3,99"),
        "{text}"
    );
    assert_eq!(all(&question, "main li a").len(), 3, "all are named");
    assert_eq!(
        status(&world, "/ui/tasks/ARTICLE_PUBLISH/article:1").await,
        "INIT"
    );
    let done = agree(&world, &question, 2).await;
    check_structure(&done);
    let text = facts(&done);
    assert!(
        text.contains("Changed2") && text.contains("Skipped1 ended"),
        "{text}"
    );
    for (article, expected) in [
        (0, "SUCCESS"),
        (1, "CANCELLED"),
        (2, "CANCELLED"),
        (3, "INIT"),
    ] {
        let page = format!("/ui/tasks/ARTICLE_PUBLISH/article:{article}");
        assert_eq!(status(&world, &page).await, expected, "{page}");
    }
}

/// More than fit on a page, and a user who confirms 1,200 does not lose 1,201.
#[tokio::test]
async fn wk_07_all_that_match_are_changed_and_none_that_came_later() {
    let world = World::open();
    many(&world, 1_200).await;
    let list = world.get("/ui/tasks?q=article&status=INIT").await;
    let all_of_them = "/ui/tasks/bulk?status=INIT&q=article&act=cancel&all=1";
    let links = attributes(&list, "main a", "href");
    assert!(links.iter().any(|link| link == all_of_them), "{links:?}");
    let question = world.get(all_of_them).await;
    let text = words(&question);
    assert!(text.contains("Cancel 1200 tasks"), "{text}");
    assert!(text.contains("and 1190 more"), "{text}");
    let same = "--status INIT --contains article --no-internal";
    assert!(text.contains(same), "{text}");
    let later = r#"{"execute_at":"2026-01-05T09:00:00Z"}"#;
    world
        .put("/api/v1/tasks/ARTICLE_PUBLISH/article:late", later)
        .await;
    let done = facts(&agree(&world, &question, 1).await);
    assert!(
        done.contains("Changed1200") && !done.contains("Skipped"),
        "{done}"
    );
    assert_eq!(
        status(&world, "/ui/tasks/ARTICLE_PUBLISH/article:late").await,
        "INIT"
    );
    let chinese = in_chinese(&world, "/ui/tasks/changes/1").await;
    assert!(
        words(&chinese).contains("批量更改 1"),
        "{}",
        words(&chinese)
    );
}

/// A list that nothing narrows has no action on all of it, as in the API and on the command line.
#[tokio::test]
async fn wk_07_all_tasks_are_not_changed_without_a_filter() {
    let world = World::open();
    many(&world, 2).await;
    let links = attributes(&world.get("/ui/tasks").await, "main a", "href");
    assert!(
        !links.iter().any(|link| link.contains("all=1")),
        "{links:?}"
    );
    let page = world.get("/ui/tasks/bulk?act=cancel&all=1").await;
    assert_eq!(page.status, 422, "{}", page.body);
    assert!(words(&page).contains("needs a filter"), "{}", words(&page));
}

#[tokio::test]
async fn wk_07_a_bulk_change_is_stopped_on_its_page() {
    let world = World::open();
    many(&world, 2).await;
    let ticked = [("act", "cancel"), ("id", "1"), ("id", "2")];
    let begun = fill(&world, "/ui/tasks/bulk", &ticked).await;
    let page = follow(&world, &begun).await;
    check_structure(&page);
    let stop = attributes(&page, "main form", "action");
    assert_eq!(stop, ["/ui/tasks/changes/1/stop"]);
    let stopped = follow(&world, &fill(&world, &stop[0], &[]).await).await;
    assert!(facts(&stopped).contains("Cancelled"), "{}", facts(&stopped));
    assert!(attributes(&stopped, "main form", "action").is_empty());
    assert_eq!(fill(&world, &stop[0], &[]).await.status, 409);
    assert_eq!(world.get("/ui/tasks/changes/9").await.status, 404);
    let list = world.get("/ui/tasks/changes").await;
    let leads = attributes(&list, "tr[data-row] a[data-open]", "href");
    assert_eq!(leads, ["/ui/tasks/changes/1"]);
}

/// The times of the business's tasks, in order.
async fn times(world: &World) -> Vec<jiff::Timestamp> {
    let rows = world.rows().await.into_iter();
    let rows = rows.filter(|row| !is_internal(&row.identity.kind));
    let mut times: Vec<_> = rows.map(|row| row.execute_at).collect();
    times.sort_unstable();
    times
}

#[tokio::test]
async fn tasks_are_moved_to_one_time_or_each_by_an_amount() {
    let world = World::open();
    many(&world, 2).await;
    let ask = "/ui/tasks/bulk?act=move&id=1&id=2";
    let question = world.get(ask).await;
    check_structure(&question);
    assert!(
        all(&question, "#answer form").is_empty(),
        "nothing to agree to yet"
    );
    let question = world.get(&format!("{ask}&amount=-30&unit=minutes")).await;
    assert!(
        words(&question).contains("Will change: 2 of 2."),
        "{}",
        words(&question)
    );
    let done = facts(&agree(&world, &question, 1).await);
    assert!(done.contains("Changed2"), "{done}");
    let kept = [instant(1_800), instant(1_860)];
    assert_eq!(times(&world).await, kept, "they keep their distance");

    let question = world
        .get(&format!(
            "{ask}&at=2026-01-05T20:00:00&zone=Asia%2FShanghai"
        ))
        .await;
    assert!(
        words(&question).contains("20:00:00 CST"),
        "{}",
        words(&question)
    );
    agree(&world, &question, 2).await;
    assert_eq!(times(&world).await, [instant(4 * 3_600); 2]);
    for wrong in [
        "amount=0&unit=hours",
        "amount=x",
        "at=soon&zone=UTC",
        "amount=99999999&unit=days",
    ] {
        let question = world.get(&format!("{ask}&{wrong}")).await;
        assert!(all(&question, "#answer form").is_empty(), "{wrong}");
        assert_eq!(all(&question, "#answer [role=alert]").len(), 1, "{wrong}");
    }
}

#[tokio::test]
async fn choosing_nothing_or_nonsense_changes_nothing() {
    let world = World::open();
    many(&world, 1).await;
    let page = world.get("/ui/tasks/bulk?act=cancel").await;
    assert!(
        words(&page).contains("No task selected"),
        "{}",
        words(&page)
    );
    let page = world.get("/ui/tasks/bulk?act=retry&id=1").await;
    assert!(words(&page).contains("Will change: 0 of 1. Will not change: 1 waiting."));
    assert!(attributes(&page, "main form button", "type").is_empty());
    for query in ["act=destroy&id=1", "id=1", "act=cancel&id=one"] {
        let page = world.get(&format!("/ui/tasks/bulk?{query}")).await;
        assert_eq!(page.status, 422, "{query}");
    }
    let ids: Vec<String> = (0..51).map(|id| format!("id={id}")).collect();
    let too_many = format!("/ui/tasks/bulk?act=cancel&{}", ids.join("&"));
    assert_eq!(world.get(&too_many).await.status, 422);
    for fields in [
        &[("act", "move"), ("id", "1")][..],
        &[("act", "move"), ("id", "1"), ("to", "soon")],
        &[("act", "cancel")],
    ] {
        assert_eq!(
            fill(&world, "/ui/tasks/bulk", fields).await.status,
            422,
            "{fields:?}"
        );
    }
    assert_eq!(world.rows().await[0].decisions, 0);
}
