//! The founding documents' endpoints: what they do, by their promises, and what they refuse.

use almanack_core::{edition::port::FailureClass, finish::Outcome, handler::Handler};
use almanack_engine::editions::handler::RunHandler;
use almanack_testkit::edition_harness::{Call, InjectedFault};
use insta::assert_json_snapshot;
use serde_json::json;

use super::{Newsstand, STATUS, SYNC, Stand, TODAY, date};

#[tokio::test]
async fn ed_21_a_trigger_takes_the_day_through_to_published_and_reports() {
    let stand = Newsstand::open().await;
    let answer = stand.world.post(SYNC, "").await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    assert_json_snapshot!(answer.json(), @r#"
    {
      "alerts": [],
      "batches": {
        "done": 2,
        "planned": 2
      },
      "completedArticles": 8,
      "createdAt": "2026-01-05T08:00:00Z",
      "expectedFinishAt": null,
      "failedArticles": 0,
      "message": "the edition of 2026-01-05 is published",
      "progress": {
        "pendingCount": 0,
        "processingCount": 0
      },
      "published": {
        "github": true,
        "telegram": true
      },
      "publishedAt": "2026-01-05T08:00:00Z",
      "reason": null,
      "requests": 38,
      "revision": 1,
      "status": "published",
      "success": true,
      "taskDate": "2026-01-05",
      "totalArticles": 8,
      "updatedAt": "2026-01-05T08:00:00Z"
    }
    "#);
    assert_eq!(stand.news.received("github").len(), 1);
    assert_eq!(stand.news.received("telegram").len(), 2);
    let again = stand.world.post(SYNC, "{}").await.json();
    assert_eq!(again["success"], true);
    assert_eq!(
        stand.news.received("github").len(),
        1,
        "nothing is sent again"
    );
}

#[tokio::test]
async fn ed_21_the_day_may_be_named_in_the_body_and_in_the_query() {
    let stand = Newsstand::open().await;
    let body = r#"{"date":"2026-01-03"}"#;
    let yesterday = stand.world.post(SYNC, body).await.json();
    assert_eq!(yesterday["taskDate"], "2026-01-03");
    let path = "/trigger-export-sync?date=2026-01-04";
    assert_eq!(
        stand.world.post(path, "").await.json()["taskDate"],
        "2026-01-04"
    );
    let same = r#"{"date":"2026-01-04"}"#;
    assert_eq!(stand.world.post(path, same).await.json()["success"], true);
    let both = stand.world.post(path, body).await;
    assert_eq!((both.status, both.code().as_str()), (422, "invalid_value"));
    assert_eq!(both.json()["success"], false);
    assert_eq!(
        stand.status().await["exists"],
        false,
        "today's edition was not requested"
    );
}

#[tokio::test]
async fn ed_21_a_destination_that_fails_leaves_it_aggregating_and_that_is_no_success() {
    let stand = Newsstand::open().await;
    stand.refuse_at("github");
    let answer = stand.world.post(SYNC, "").await;
    assert_eq!(answer.status, 200);
    let shown = answer.json();
    assert_eq!(shown["success"], false);
    assert_eq!(shown["status"], "aggregating");
    assert_eq!(
        shown["published"],
        json!({"github": false, "telegram": true})
    );
    assert_eq!(
        shown["message"],
        "the edition of 2026-01-05 is aggregating: github refused it; next attempt at 2026-01-05T08:00:30Z"
    );
    stand.news.heal();
    stand.world.clock.set(almanack_testkit::fixture::at(31));
    let shown = stand.world.post(SYNC, "").await.json();
    assert_eq!(shown["success"], true);
    assert_eq!(
        stand.news.received("telegram").len(),
        2,
        "telegram got nothing twice"
    );
}

#[tokio::test]
async fn ed_32_an_edition_of_which_every_story_failed_is_reported_to_be_empty() {
    let stand = Newsstand::open().await;
    stand.news.decide(|call, _| match call {
        Call::Titles(_) => InjectedFault::Fails(FailureClass::Unusable),
        _ => InjectedFault::Well,
    });
    let shown = stand.world.post(SYNC, "").await.json();
    assert_eq!(shown["success"], false);
    assert_eq!(
        (&shown["status"], &shown["failedArticles"]),
        (&json!("empty"), &json!(8))
    );
    assert_eq!(
        shown["message"],
        "the edition of 2026-01-05 is empty: none of its 8 stories could be completed"
    );
    assert_eq!(shown["alerts"], json!(["empty"]));
    let queued = stand.world.post("/trigger-export", "").await.json();
    assert_eq!(
        queued["success"], false,
        "there is nothing that a queue could do: {queued}"
    );
}

#[tokio::test]
async fn ed_29_a_list_that_cannot_be_had_is_a_failure_that_says_why() {
    let stand = Newsstand::open().await;
    stand.news.decide(|call, _| match call {
        Call::List => InjectedFault::Fails(FailureClass::Transient),
        _ => InjectedFault::Well,
    });
    let answer = stand.world.post(SYNC, "").await;
    assert_eq!(
        (answer.status, answer.code().as_str()),
        (500, "edition_failed")
    );
    let shown = answer.json();
    assert_eq!(shown["success"], false);
    assert_eq!(
        shown["error"],
        "the edition of 2026-01-05 stays init: List fails"
    );
    assert_eq!(shown["task"]["status"], "init");
    stand.news.heal();
    assert_eq!(stand.world.post(SYNC, "").await.json()["success"], true);
}

#[tokio::test]
async fn ed_22_a_trigger_queues_the_day_and_answers_at_once() {
    let stand = Newsstand::open().await;
    let answer = stand.world.post("/trigger-export", "").await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    let mut shown = answer.json();
    assert_json_snapshot!(shown["receipt"].take(), @r#"
    {
      "execute_at": "2026-01-05T08:00:00Z",
      "kind": "EDITION_RUN",
      "receipt": "1.0",
      "revision": 0,
      "rule": "created",
      "subject": "edition:2026-01-05",
      "task_id": 1
    }
    "#);
    assert_eq!(shown["success"], true);
    assert_eq!(
        shown["message"],
        "the edition of 2026-01-05 is queued; see /task-status for its progress"
    );
    assert_eq!(
        (&shown["taskDate"], &shown["status"]),
        (&json!(TODAY), &json!("init"))
    );
    assert_eq!(stand.news.calls(), [], "nothing has left");
    let again = stand.world.post("/trigger-export", "").await.json();
    assert_eq!(again["receipt"]["rule"], "unchanged");

    let handler = RunHandler {
        editions: stand.editions.clone().into(),
        clock: stand.editions.clock.clone(),
    };
    for number in 1..20 {
        let task = stand.world.claim(number).await;
        let outcome = handler.attempt(&task).await;
        stand.world.end(&task, &outcome).await;
        if matches!(outcome, Outcome::Done { .. }) {
            break;
        }
    }
    assert_eq!(stand.status().await["status"], "published");
    let late = stand.world.post("/trigger-export", "").await.json();
    assert_eq!(late["success"], true);
    assert_eq!(
        late["message"],
        "the edition of 2026-01-05 is already published"
    );
    assert!(late.get("receipt").is_none());
}

#[tokio::test]
async fn ed_23_what_is_completed_is_published_by_force() {
    let stand = Newsstand::open().await;
    stand.step().await;
    let early = stand.world.post("/force-publish", "").await;
    assert_eq!((early.status, early.code().as_str()), (409, "wrong_state"));
    assert_eq!(early.json()["success"], false);
    stand.step().await;
    let shown = stand.world.post("/force-publish", "").await;
    assert_eq!(shown.status, 200, "{}", shown.body);
    let shown = shown.json();
    assert_eq!(shown["success"], true);
    assert_eq!(
        shown["message"],
        "the edition of 2026-01-05 is published with 6 stories; 2 left out"
    );
    assert_eq!(
        (&shown["taskDate"], &shown["skipped"]),
        (&json!(TODAY), &json!(2))
    );
    assert_eq!(
        shown["published"],
        json!({"github": true, "telegram": true})
    );
    let again = stand.world.post("/force-publish", "").await;
    assert_eq!((again.status, again.code().as_str()), (409, "wrong_state"));
    let unknown = stand.world.post("/force-publish?date=2026-01-01", "").await;
    assert_eq!(
        (unknown.status, unknown.code().as_str()),
        (404, "no_such_edition")
    );
    assert_eq!(unknown.json()["error"], "there is no edition of 2026-01-01");
}

#[tokio::test]
async fn ed_23_a_destination_that_refuses_is_reported() {
    let stand = Newsstand::open().await;
    stand.step().await;
    stand.step().await;
    stand.refuse_at("telegram");
    let shown = stand.world.post("/force-publish", "").await.json();
    assert_eq!(shown["success"], false);
    assert_eq!(
        shown["published"],
        json!({"github": true, "telegram": false})
    );
    assert_eq!(
        shown["message"],
        "the edition of 2026-01-05 is aggregating: telegram refused it; it will be retried"
    );
}

#[tokio::test]
async fn ed_24_failed_stories_are_put_back_while_they_have_retries_left() {
    let stand = Newsstand::open().await;
    stand.lose_titles();
    let shown = stand.world.post(SYNC, "").await.json();
    assert_eq!(
        (&shown["success"], &shown["failedArticles"]),
        (&json!(true), &json!(2))
    );
    let mut shown = stand.world.post("/retry-failed-tasks", "").await.json();
    for name in ["createdAt", "updatedAt", "publishedAt", "expectedFinishAt"] {
        shown.as_object_mut().unwrap().remove(name);
    }
    assert_json_snapshot!(shown, @r#"
    {
      "alerts": [],
      "batches": {
        "done": 2,
        "planned": 3
      },
      "completedArticles": 6,
      "failedArticles": 0,
      "message": "failed stories to retry: 2",
      "progress": {
        "pendingCount": 2,
        "processingCount": 0
      },
      "published": {
        "github": true,
        "telegram": true
      },
      "reason": null,
      "requests": 38,
      "resetCount": 2,
      "retryCount": 2,
      "revision": 1,
      "status": "processing",
      "statusReset": true,
      "success": true,
      "synced": false,
      "taskDate": "2026-01-05",
      "totalArticles": 8
    }
    "#);
    let again = stand.world.post("/retry-failed-tasks", "{}").await.json();
    assert_eq!(
        (&again["retryCount"], &again["statusReset"]),
        (&json!(0), &json!(false))
    );
    assert_eq!(
        again["message"],
        "no change: no failed story has retries left"
    );
}

#[tokio::test]
async fn ed_24_with_sync_the_edition_is_built_before_the_answer() {
    let stand = Newsstand::open().await;
    stand.lose_titles();
    stand.world.post(SYNC, "").await;
    // One of the two fails again: they are one batch now.
    let body = r#"{"maxRetries":1,"sync":true,"date":"2026-01-05"}"#;
    let shown = stand.world.post("/retry-failed-tasks", body).await.json();
    assert_eq!(
        (&shown["success"], &shown["synced"]),
        (&json!(true), &json!(true))
    );
    assert_eq!(
        (&shown["resetCount"], &shown["failedArticles"]),
        (&json!(2), &json!(1))
    );
    assert_eq!(shown["revision"], 2);
    let spent = stand.world.post("/retry-failed-tasks", body).await.json();
    assert_eq!(
        (&spent["resetCount"], &spent["synced"]),
        (&json!(0), &json!(false))
    );
    let more = r#"{"maxRetries":2,"sync":true}"#;
    let shown = stand.world.post("/retry-failed-tasks", more).await.json();
    assert_eq!(
        shown["resetCount"], 1,
        "it was retried once, which is less than two"
    );
}

#[tokio::test]
async fn ed_24_a_number_of_retries_that_nobody_means_is_refused() {
    let stand = Newsstand::open().await;
    stand.lose_titles();
    stand.world.post(SYNC, "").await;
    for (body, status, code) in [
        (r#"{"maxRetries":0}"#, 422, "invalid_value"),
        (r#"{"maxRetries":6}"#, 422, "invalid_value"),
        (r#"{"maxRetries":-1}"#, 422, "invalid_body"),
        (r#"{"maxRetries":"3"}"#, 422, "invalid_body"),
        (r#"{"max_retries":3}"#, 422, "invalid_body"),
        (r#"{"sync":1}"#, 422, "invalid_body"),
        ("[]", 422, "invalid_body"),
        ("{", 400, "malformed_json"),
    ] {
        let refused = stand.world.post("/retry-failed-tasks", body).await;
        assert_eq!(
            (refused.status, refused.code().as_str()),
            (status, code),
            "{body}"
        );
        assert_eq!(refused.json()["success"], false, "{body}");
        assert_eq!(refused.json()["error"], refused.json()["detail"], "{body}");
    }
    assert_eq!(stand.status().await["failedArticles"], 2, "nothing changed");
}

#[tokio::test]
async fn ed_18_an_operator_begins_a_day_anew() {
    let stand = Newsstand::open().await;
    let nothing = stand.world.post("/reset-task", "").await;
    assert_eq!(
        (nothing.status, nothing.code().as_str()),
        (404, "no_such_edition")
    );
    stand.lose_titles();
    stand.world.post(SYNC, "").await;
    let shown = stand
        .world
        .post("/reset-task", r#"{"date":"2026-01-05"}"#)
        .await
        .json();
    assert_eq!(shown["success"], true);
    assert_eq!(
        shown["message"],
        "the edition of 2026-01-05 starts over with its current stories"
    );
    assert_eq!(
        (&shown["status"], &shown["progress"]["pendingCount"]),
        (&json!("list_fetched"), &json!(8))
    );
    stand.news.heal();
    assert_eq!(
        stand.world.post(SYNC, "").await.json()["completedArticles"],
        8
    );
}

#[tokio::test]
async fn ed_25_the_status_reports_everything_about_a_day() {
    let stand = Newsstand::open().await;
    assert_json_snapshot!(stand.status().await, @r#"
    {
      "exists": false,
      "message": "there is no edition of 2026-01-05",
      "success": true,
      "taskDate": "2026-01-05"
    }
    "#);
    stand.lose_titles();
    stand.step().await;
    stand.step().await;
    assert_json_snapshot!(stand.status().await, @r#"
    {
      "alerts": [],
      "batches": {
        "done": 1,
        "planned": 2
      },
      "completedArticles": 5,
      "createdAt": "2026-01-05T08:00:00Z",
      "exists": true,
      "expectedFinishAt": "2026-01-05T08:00:00Z",
      "failedArticles": 1,
      "progress": {
        "pendingCount": 2,
        "processingCount": 0
      },
      "published": {},
      "publishedAt": null,
      "reason": null,
      "requests": 26,
      "revision": 0,
      "status": "processing",
      "success": true,
      "taskDate": "2026-01-05",
      "totalArticles": 8,
      "updatedAt": "2026-01-05T08:00:00Z"
    }
    "#);
}

#[tokio::test]
async fn ed_25_a_day_that_cannot_be_meant_is_refused_and_creates_nothing() {
    let stand = Newsstand::open().await;
    for (day, why) in [
        ("2026-01-06", "it has not come"),
        ("2026-02-30", "there is none"),
        ("2026-1-5", "written otherwise"),
        ("yesterday", "no date"),
        ("", "nothing"),
        ("1969-12-31", "before everything"),
    ] {
        let body = json!({ "date": day }).to_string();
        let query = format!("{STATUS}?date={day}");
        let refused = stand.world.get(&query).await;
        assert_eq!(
            (refused.status, refused.code().as_str()),
            (422, "invalid_value"),
            "{why}"
        );
        for path in [
            SYNC,
            "/trigger-export",
            "/force-publish",
            "/retry-failed-tasks",
            "/reset-task",
        ] {
            for (path, body) in [
                (path.to_owned(), body.as_str()),
                (format!("{path}?date={day}"), ""),
            ] {
                let refused = stand.world.post(&path, body).await;
                assert_eq!(
                    (refused.status, refused.code().as_str()),
                    (422, "invalid_value"),
                    "{path} {why}"
                );
                assert_eq!(refused.json()["path"], "date");
                assert_eq!(refused.json()["success"], false);
            }
        }
    }
    for (query, code) in [
        ("?day=2026-01-05", "invalid_query"),
        ("?date=2026-01-05&date=2026-01-04", "invalid_query"),
    ] {
        let refused = stand.world.get(&format!("{STATUS}{query}")).await;
        assert_eq!(
            (refused.status, refused.code().as_str()),
            (422, code),
            "{query}"
        );
    }
    for body in [r#"{"day":"2026-01-05"}"#, r#"{"date":20260105}"#, "[]"] {
        assert_eq!(
            stand.world.post(SYNC, body).await.code(),
            "invalid_body",
            "{body}"
        );
    }
    assert_eq!(
        stand.editions.list(&all()).await.unwrap(),
        [],
        "nothing was created"
    );
    assert_eq!(stand.news.calls(), []);
}

fn all() -> almanack_core::store::EditionFilter {
    almanack_core::store::EditionFilter {
        limit: 10,
        ..almanack_core::store::EditionFilter::default()
    }
}

#[tokio::test]
async fn ed_20_a_day_that_was_left_open_is_finished_by_its_date() {
    let stand = Stand {
        stories: 3,
        ..Stand::default()
    }
    .open()
    .await;
    stand.step().await;
    stand
        .world
        .clock
        .set(almanack_testkit::fixture::at(24 * 3600));
    stand.editions.tick().await.unwrap();
    let left = stand.world.get("/task-status?date=2026-01-05").await.json();
    assert_eq!(left["status"], "archived");
    let shown = stand
        .world
        .post(SYNC, r#"{"date":"2026-01-05"}"#)
        .await
        .json();
    assert_eq!(
        (&shown["success"], &shown["status"]),
        (&json!(true), &json!("published"))
    );
    let account = stand
        .editions
        .account(date("2026-01-06").into())
        .await
        .unwrap();
    assert_ne!(
        account.edition.state.as_str(),
        "archived",
        "today's goes its own way"
    );
}
