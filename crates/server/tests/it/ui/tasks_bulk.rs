//! Many tasks at once, by their pages.

use almanack_core::task::Status;
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

async fn agree(world: &World, question: &Answer) -> Answer {
    let fields = fields(question);
    let fields: Vec<_> = fields
        .iter()
        .map(|(name, value)| (&**name, &**value))
        .collect();
    let answer = fill(world, "/ui/tasks/bulk", &fields).await;
    follow(world, &answer).await
}

#[tokio::test]
async fn ticked_tasks_are_cancelled_after_a_question_that_names_them() {
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
    assert!(text.contains("2 waiting, 1 done."), "{text}");
    assert_eq!(all(&question, "main li a").len(), 3, "all are named");
    assert_eq!(
        status(&world, "/ui/tasks/ARTICLE_PUBLISH/article:1").await,
        "INIT"
    );
    let list = agree(&world, &question).await;
    let notice = all(&list, ".notice").concat();
    assert!(notice.contains("2 cancelled, 1 already done."), "{notice}");
    assert_eq!(
        status(&world, "/ui/tasks/ARTICLE_PUBLISH/article:1").await,
        "CANCELLED"
    );
    assert_eq!(
        status(&world, "/ui/tasks/ARTICLE_PUBLISH/article:3").await,
        "INIT"
    );
}

/// A user who confirms thirteen does not lose fourteen.
#[tokio::test]
async fn all_that_match_are_those_that_were_named() {
    let world = World::open();
    many(&world, 13).await;
    let question = world
        .get("/ui/tasks/bulk?act=cancel&all=1&q=article&status=INIT")
        .await;
    let text = words(&question);
    assert!(text.contains("Cancel 13 tasks"), "{text}");
    assert!(text.contains("and 3 more"), "{text}");
    let later = r#"{"execute_at":"2026-01-05T09:00:00Z"}"#;
    world
        .put("/api/v1/tasks/ARTICLE_PUBLISH/article:late", later)
        .await;
    let list = agree(&world, &question).await;
    let notice = all(&list, ".notice").concat();
    assert!(notice.contains("13 cancelled."), "{notice}");
    assert_eq!(
        status(&world, "/ui/tasks/ARTICLE_PUBLISH/article:late").await,
        "INIT"
    );
    assert_eq!(
        all(&list, "tr[data-row] a[data-open]"),
        ["article:late"],
        "the filter is kept"
    );
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
        words(&question).contains("8:30:00 UTC"),
        "{}",
        words(&question)
    );
    let notice = all(&agree(&world, &question).await, ".notice").concat();
    assert!(notice.contains("2 rescheduled."), "{notice}");
    let mut times: Vec<_> = world
        .rows()
        .await
        .iter()
        .map(|row| row.execute_at)
        .collect();
    times.sort_unstable();
    assert_eq!(
        times,
        [instant(1_800), instant(1_860)],
        "they keep their distance"
    );

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
    agree(&world, &question).await;
    assert!(
        world
            .rows()
            .await
            .iter()
            .all(|row| row.execute_at == instant(4 * 3_600))
    );
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
async fn tasks_are_tried_again() {
    let world = World::open();
    many(&world, 2).await;
    world
        .delete("/api/v1/tasks/ARTICLE_PUBLISH/article:0")
        .await;
    let question = world.get("/ui/tasks/bulk?act=retry&all=1").await;
    assert!(
        words(&question).contains("Retry 2 tasks now"),
        "{}",
        words(&question)
    );
    let notice = all(&agree(&world, &question).await, ".notice").concat();
    assert!(
        notice.contains("1 created again, 1 rescheduled."),
        "{notice}"
    );
    let rows = world.rows().await;
    let live: Vec<_> = rows
        .iter()
        .filter(|row| row.status == Status::Init)
        .collect();
    assert!(live.iter().all(|row| row.execute_at == instant(0)) && live.len() == 2);
}

#[tokio::test]
async fn a_link_cannot_claim_what_was_done() {
    let world = World::open();
    many(&world, 1).await;
    let question = world.get("/ui/tasks/bulk?act=cancel&id=1").await;
    let text = fields(&question);
    let text: Vec<_> = text
        .iter()
        .map(|(name, value)| (&**name, &**value))
        .collect();
    let answer = fill(&world, "/ui/tasks/bulk", &text).await;
    let led = answer.header("location").unwrap();
    assert_eq!(all(&world.get(led).await, ".notice").len(), 1);
    let forged = led.replace("cancelled-1", "cancelled-1000");
    assert_ne!(led, forged);
    assert!(all(&world.get(&forged).await, ".notice").is_empty());
    let chinese = in_chinese(&world, led).await;
    assert!(all(&chinese, ".notice").concat().contains("1 个已取消"));
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
    ] {
        assert_eq!(
            fill(&world, "/ui/tasks/bulk", fields).await.status,
            422,
            "{fields:?}"
        );
    }
    assert_eq!(world.rows().await[0].decisions, 0);
}
