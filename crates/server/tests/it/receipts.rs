//! Receipts, asked about later (RS-14).

use almanack_testkit::fixture::at as instant;
use insta::assert_json_snapshot;

use crate::harness::{ARTICLE, Answer, World, at};

async fn put(world: &World, minute: u8) -> String {
    let receipt = world.put(ARTICLE, &at(minute)).await.json();
    format!("/api/v1/receipts/{}", receipt["receipt"].as_str().unwrap())
}

async fn kept(world: &World, receipt: &str) -> String {
    let answer = world.get(receipt).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    answer.json()["kept"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn rs_14_receipts_say_whether_they_were_kept() {
    let world = World::open();
    let first = put(&world, 0).await;
    assert_eq!(kept(&world, &first).await, "stands");
    let second = put(&world, 10).await;
    assert_eq!(kept(&world, &first).await, "superseded");
    assert_eq!(kept(&world, &second).await, "stands");
    world.clock.set(instant(3600 + 600));
    let task = world.claim(1).await;
    world.done(&task).await;
    assert_eq!(kept(&world, &second).await, "done");
    let third = put(&world, 20).await;
    assert_eq!(kept(&world, &third).await, "changed_nothing");
    assert_json_snapshot!(world.get(&second).await.json(), @r#"
    {
      "decided_at": "2026-01-05T08:00:00Z",
      "execute_at": "2026-01-05T09:10:00Z",
      "kept": "done",
      "kind": "ARTICLE_PUBLISH",
      "old_execute_at": "2026-01-05T09:00:00Z",
      "origin": "api:anonymous",
      "receipt": "1.1",
      "revision": 0,
      "rule": "updated",
      "subject": "article:42",
      "task_id": 1
    }
    "#);
}

#[tokio::test]
async fn rs_14_a_receipt_nobody_was_given_is_not_found() {
    let world = World::open();
    put(&world, 0).await;
    for id in [
        "1.9",
        "99.0",
        "x",
        "1",
        "1.0.0",
        "9999999999999999999.0",
        "%FF",
    ] {
        let answer = world.get(&format!("/api/v1/receipts/{id}")).await;
        assert_eq!(
            (answer.status, answer.code().as_str()),
            (404, "no_such_receipt"),
            "{id}"
        );
    }
}

#[tokio::test]
async fn rs_14_a_receipt_reads_later_as_it_was_given() {
    let world = World::open();
    let numbered = |minute: u8, revision: i64| {
        let time = at(minute);
        format!("{},\"revision\":{revision}}}", time.trim_end_matches('}'))
    };
    let mut given = vec![
        world.put(ARTICLE, &at(0)).await,
        world.put(ARTICLE, &at(10)).await,
    ];
    world.clock.set(instant(3600 + 600));
    world.claim(1).await;
    given.push(world.put(ARTICLE, &numbered(30, 7)).await);
    given.push(world.put(ARTICLE, &numbered(40, 6)).await);
    given.push(world.delete(ARTICLE).await);
    given.push(world.put(ARTICLE, &numbered(50, 8)).await);
    let rules: Vec<_> = given.iter().map(|one| one.json()["rule"].clone()).collect();
    assert_eq!(
        rules,
        [
            "created",
            "updated",
            "cancelled_and_inserted",
            "ignored_stale",
            "cancelled",
            "reinserted"
        ]
    );
    for receipt in given.iter().map(Answer::json) {
        let path = format!("/api/v1/receipts/{}", receipt["receipt"].as_str().unwrap());
        let later = world.get(&path).await.json();
        for (field, value) in receipt.as_object().unwrap() {
            if field == "revision" && receipt["rule"] == "created" {
                assert_eq!(later.get(field), None, "only the row's newest is known");
                continue;
            }
            assert_eq!(&later[field], value, "{field} of {receipt}\nlater {later}");
        }
    }
}
