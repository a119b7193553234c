//! What runs printed, read by clients and on pages; and firings by hand beside the slots.

use almanack_core::{
    finish::Outcome,
    store::{LogPiece, LogWrite, RunId, RunLogStore as _, TaskStore as _, TokenStore as _},
    task::ClaimedTask,
    time::Clock as _,
    token::Scope,
};
use almanack_server::access::REMEMBERED_FOR;
use almanack_testkit::fixture::at;
use axum::http::Method;
use serde_json::{Value, json};

use crate::access::made;
use crate::harness::{World, with};
use crate::schedules::{HOURLY, NIGHTLY};
use crate::ui::reading::{all, attributes, check_structure, in_chinese, words};

const HOUR: i64 = 3_600;

/// A schedule whose first slot is being tried.
async fn running() -> (World, ClaimedTask) {
    let world = World::open();
    assert_eq!(world.put(NIGHTLY, HOURLY).await.status, 201);
    world.plan_at(at(HOUR)).await;
    let task = world.claim(1).await;
    (world, task)
}

async fn print(world: &World, task: &ClaimedTask, place: u64, text: &str) {
    let write = LogWrite {
        run: RunId::of(task),
        piece: LogPiece {
            at: place,
            text: text.as_bytes().to_vec(),
        },
        cut: 0..0,
        written_at: at(HOUR),
    };
    world.store.append_run_logs(vec![write]).await.unwrap();
}

async fn log(world: &World, query: &str) -> Value {
    let answer = world.get(&format!("{NIGHTLY}/log{query}")).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    answer.json()
}

#[tokio::test]
async fn dp_20_a_log_is_read_part_by_part_while_it_is_printed() {
    let (world, task) = running().await;
    let empty = log(&world, "").await;
    assert_eq!(
        (&empty["text"], &empty["ended"]),
        (&json!(""), &json!(false))
    );
    print(&world, &task, 0, "one\ntwo\n").await;
    let first = log(&world, "?limit=4").await;
    assert_eq!(first["text"], "one\n");
    assert_eq!((&first["term"], &first["live"]), (&json!(1), &json!(true)));
    let next = log(&world, "?offset=4&wait=20").await;
    assert_eq!(
        (&next["text"], &next["next_offset"]),
        (&json!("two\n"), &json!(8))
    );
    // Nothing more comes: the wait ends by itself.
    let before = world.clock.now().as_second();
    let nothing = log(&world, "?offset=8&wait=20").await;
    assert_eq!(
        (&nothing["text"], &nothing["ended"]),
        (&json!(""), &json!(false))
    );
    assert_eq!(world.clock.now().as_second() - before, 20);
    print(&world, &task, 5_000, "end").await;
    world.end(&task, &Outcome::done("exit code 0: end")).await;
    let last = log(&world, "?offset=8&wait=20").await;
    assert_eq!(
        (&last["text"], &last["left_out"]),
        (&json!("end"), &json!(4_992))
    );
    assert_eq!(
        (&last["ended"], &last["live"]),
        (&json!(true), &json!(false))
    );
    let attempt = &last["attempts"][0];
    assert_eq!(attempt["ending"], "Done: exit code 0.");
    assert_eq!(
        (&attempt["printed_bytes"], &attempt["kept_bytes"]),
        (&json!(5_003), &json!(11))
    );
    let by_slot = log(&world, "?slot=2026-01-05T09:00:00Z").await;
    let by_id = world.get(&format!("/api/v1/firings/{}/log", task.id)).await;
    assert_eq!(by_slot, by_id.json());
}

/// Each attempt of a firing has its own log, and one that lost its node says so.
#[tokio::test]
async fn dp_20_what_a_lost_node_had_printed_is_there_and_says_that_it_ended_with_it() {
    let (world, task) = running().await;
    print(&world, &task, 0, "half of the wo").await;
    world.clock.set(at(HOUR + 60));
    let expired = world.store.load_expired(at(HOUR + 60), 9).await.unwrap();
    assert_eq!(expired[0].tasks.len(), 1);
    world.end(&task, &Outcome::LeaseExpired).await;
    let again = world.claim(2).await;
    print(&world, &again, 0, "all of the work").await;
    let newest = log(&world, "").await;
    assert_eq!(
        (&newest["term"], &newest["text"]),
        (&json!(2), &json!("all of the work"))
    );
    let lost = log(&world, "?term=1").await;
    assert_eq!(
        (&lost["text"], &lost["ended"]),
        (&json!("half of the wo"), &json!(true))
    );
    let ending = lost["attempts"][0]["ending"].as_str().unwrap();
    assert!(
        ending.starts_with("The attempt ended with its node: "),
        "{ending}"
    );
    assert_eq!(lost["attempts"][1]["ending"], Value::Null);
}

/// Whoever looks after the work of a webhook prints nothing: the log is that of the call.
#[tokio::test]
async fn dp_20_the_log_of_followed_work_is_that_of_the_attempt_that_handed_it_over() {
    let (world, task) = running().await;
    print(&world, &task, 0, "HTTP 202\n").await;
    let works = Outcome::Working {
        at: at(HOUR),
        detail: "waits for a report".to_owned(),
        on_record: true,
    };
    world.end(&task, &works).await;
    let handed_over = log(&world, "").await;
    assert_eq!(
        (&handed_over["ended"], &handed_over["attempts"][0]["ending"]),
        (&json!(false), &json!("Handed over: waits for a report."))
    );
    let looks = world.claim(2).await;
    assert_eq!(
        log(&world, "").await["ended"],
        false,
        "a look is no attempt"
    );
    world.done(&looks).await;
    let shown = log(&world, "?term=1").await;
    assert_eq!(
        (&shown["term"], &shown["text"], &shown["ended"]),
        (&json!(1), &json!("HTTP 202\n"), &json!(true))
    );
    let attempts = shown["attempts"].as_array().unwrap();
    let [attempt] = attempts.as_slice() else {
        panic!("{attempts:?}");
    };
    let ending = attempt["ending"].as_str().unwrap();
    assert!(ending.starts_with("Done"), "{ending}");
    assert_eq!(log(&world, "?term=2").await["text"], "HTTP 202\n");
}

#[tokio::test]
async fn dp_20_bad_questions_about_logs_are_refused() {
    let (world, task) = running().await;
    let article = "/api/v1/tasks/ARTICLE_PUBLISH/article:1";
    world.put(article, &crate::harness::at(0)).await;
    let other = world.rows().await[0].id;
    world.put("/api/v1/schedules/new", HOURLY).await;
    let own = format!("/api/v1/firings/{}/log", task.id);
    for (path, status, code) in [
        ("/api/v1/firings/99/log".to_owned(), 404, "no_such_firing"),
        (
            format!("/api/v1/firings/{other}/log"),
            404,
            "no_such_firing",
        ),
        ("/api/v1/firings/x/log".to_owned(), 400, "bad_request"),
        (format!("{own}?wait=21"), 422, "invalid_query"),
        (format!("{own}?limit=0"), 422, "invalid_query"),
        (format!("{own}?limit=1048577"), 422, "invalid_query"),
        (format!("{own}?term=9"), 422, "invalid_query"),
        (format!("{own}?offset=-1"), 422, "invalid_query"),
        (
            format!("{own}?slot=2026-01-05T09:00:00Z"),
            422,
            "invalid_query",
        ),
        (
            format!("{NIGHTLY}/log?slot=2026-01-05T09:30:00Z"),
            404,
            "no_such_firing",
        ),
        (format!("{NIGHTLY}/log?slot=nine"), 422, "invalid_time"),
        (
            "/api/v1/schedules/new/log".to_owned(),
            404,
            "no_such_firing",
        ),
        (
            "/api/v1/schedules/none/log".to_owned(),
            404,
            "no_such_schedule",
        ),
    ] {
        let answer = world.get(&path).await;
        assert_eq!(
            (answer.status, answer.code().as_str()),
            (status, code),
            "{path}"
        );
    }
}

#[tokio::test]
async fn dp_20_who_may_only_read_does_not_read_what_was_printed() {
    let (world, task) = running().await;
    print(&world, &task, 0, "hunter2").await;
    for scope in [Scope::Read, Scope::Operate] {
        let (token, _) = made(scope.as_str(), scope);
        world.store.save_token(&token).await.unwrap();
    }
    world.clock.advance(REMEMBERED_FOR);
    let reader = [("authorization", "Bearer alm_read")];
    let operator = [("authorization", "Bearer alm_operate")];
    let paths = [
        format!("{NIGHTLY}/log"),
        format!("/api/v1/firings/{}/log", task.id),
        format!("/ui/firings/{}/log", task.id),
    ];
    for path in &paths {
        let refused = world.send(with(Method::GET, path, "", &reader)).await;
        assert_eq!(refused.status, 403, "{path}");
        assert!(!refused.body.contains("hunter2"), "{path}");
        let shown = world.send(with(Method::GET, path, "", &operator)).await;
        assert_eq!(shown.status, 200, "{path}");
        assert!(shown.body.contains("hunter2"), "{path}");
    }
    let page = with(Method::GET, "/ui/schedules/nightly", "", &reader);
    let page = world.send(page).await;
    assert!(attributes(&page, "a[href^='/ui/firings']", "href").is_empty());
}

#[tokio::test]
async fn dp_20_the_page_of_a_log_shows_what_was_printed_and_obeys_nothing() {
    let (world, task) = running().await;
    let page = world.get("/ui/schedules/nightly").await;
    let link = format!("/ui/firings/{}/log", task.id);
    assert_eq!(
        attributes(&page, "a[href^='/ui/firings']", "href"),
        [link.as_str()]
    );
    let page = world.get(&link).await;
    assert!(
        words(&page).contains("Nothing printed yet."),
        "{}",
        words(&page)
    );
    let printed = "<script>alert(1)</script>\n\u{1b}[31mred\u{1b}[0m \u{1b}]0;title\u{7}&amp;\n";
    print(&world, &task, 0, printed).await;
    let page = world.get(&link).await;
    assert_eq!(page.status, 200, "{}", page.body);
    check_structure(&page);
    let escaped = "&lt;script&gt;alert(1)&lt;/script&gt;\nred &amp;amp;\n</pre>";
    assert!(page.body.contains(escaped), "{}", page.body);
    assert!(!page.body.contains('\u{1b}'));
    let chinese = in_chinese(&world, &link).await;
    assert!(words(&chinese).contains("输出"), "{}", words(&chinese));
    world
        .end(&task, &Outcome::give_up("exit code 3: red"))
        .await;
    let page = world.get(&link).await;
    assert!(
        words(&page).contains("Failed: exit code 3."),
        "{}",
        words(&page)
    );
}

/// A long log is shown from its end, and its beginning is one step away.
#[tokio::test]
async fn dp_20_of_a_long_log_the_page_shows_the_end() {
    let (world, task) = running().await;
    let line = "0123456789012345678901234567890\n";
    for piece in 0..8_u64 {
        print(&world, &task, piece * 32_000, &line.repeat(1_000)).await;
    }
    print(&world, &task, 256_000, "the very end\n").await;
    let path = format!("/ui/firings/{}/log", task.id);
    let page = world.get(&path).await;
    let shown = all(&page, "pre.log").concat();
    assert!(shown.ends_with("the very end") && shown.starts_with(line.trim()));
    assert!(shown.len() < 70_000, "{}", shown.len());
    let beginning = attributes(&page, "nav.pager a", "href");
    let page = world.get(&beginning[0]).await;
    assert!(all(&page, "pre.log").concat().starts_with(line.trim()));
    assert!(!all(&page, "pre.log").concat().contains("the very end"));
}

/// Time, verdict and requester of every row, a row at a time.
async fn all_rows(world: &World) -> Vec<(Value, Value, Value)> {
    let mut rows = Vec::new();
    let mut cursor = String::new();
    loop {
        let page = world
            .get(&format!("{NIGHTLY}/slots?limit=1{cursor}"))
            .await
            .json();
        for row in page["slots"].as_array().unwrap() {
            rows.push((
                row["slot_at"].clone(),
                row["verdict"].clone(),
                row["by"].clone(),
            ));
        }
        match page["next_cursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => return rows,
        }
    }
}

#[tokio::test]
async fn dp_16_slots_list_what_people_fired_and_who() {
    let world = World::open();
    world.put(NIGHTLY, HOURLY).await;
    world.post(&format!("{NIGHTLY}/pause"), "").await;
    world.plan_at(at(3 * HOUR + 60)).await;
    world.post(&format!("{NIGHTLY}/resume"), "").await;
    let body = json!({"from": "2026-01-05T09:00:00Z", "to": "2026-01-05T11:00:00Z"});
    let filled = world
        .post(&format!("{NIGHTLY}/backfill"), &body.to_string())
        .await;
    assert_eq!(filled.status, 200, "{}", filled.body);
    world.clock.set(at(3 * HOUR + 120));
    let fired = world
        .post(&format!("{NIGHTLY}/fire"), r#"{"force":true}"#)
        .await;
    assert_eq!(fired.status, 201, "{}", fired.body);
    world.plan_at(at(4 * HOUR)).await;
    let rows = all_rows(&world).await;
    let row = |at: &str, verdict: &str, by: Value| {
        (json!(format!("2026-01-05T{at}:00Z")), json!(verdict), by)
    };
    let ada = json!("api:anonymous");
    let verdicts: Vec<_> = rows.iter().map(|row| row.1.as_str().unwrap()).collect();
    assert!(
        verdicts.contains(&"manual") && verdicts.contains(&"backfilled"),
        "{rows:?}"
    );
    assert!(
        rows.contains(&row("11:02", "manual", ada.clone())),
        "{rows:?}"
    );
    for slot in ["09:00", "10:00"] {
        assert!(
            rows.contains(&row(slot, "backfilled", ada.clone())),
            "{rows:?}"
        );
    }
    let whole = world.get(&format!("{NIGHTLY}/slots")).await.json();
    assert_eq!(
        whole["slots"].as_array().unwrap().len(),
        rows.len(),
        "none lost, none twice"
    );
    let page = world.get("/ui/schedules/nightly").await;
    let text = words(&page);
    for part in ["fired by hand", "backfilled", "by api:anonymous"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let manual = whole["slots"].as_array().unwrap().iter();
    let manual = manual.filter(|row| row["verdict"] == "manual");
    let at = manual
        .map(|row| row["slot_at"].as_str().unwrap())
        .next()
        .unwrap();
    let log = world.get(&format!("{NIGHTLY}/log?slot={at}")).await;
    assert_eq!(log.json()["trigger"], "manual", "{}", log.body);
}

#[tokio::test]
async fn dp_16_why_names_who_cancelled_a_firing_and_what_a_schedule_needs() {
    let (world, task) = running().await;
    world.end(&task, &Outcome::retry("503")).await;
    let subject = task
        .identity
        .subject
        .as_str()
        .replace('@', "%40")
        .replace(':', "%3A");
    let cancelled = world
        .delete(&format!("/api/v1/tasks/DISPATCH/{subject}"))
        .await;
    assert_eq!(cancelled.status, 200, "{}", cancelled.body);
    let why = async |at: &str| {
        let answer = world.get(&format!("{NIGHTLY}/why?at={at}")).await;
        answer.json()["sentence"].as_str().unwrap().to_owned()
    };
    let sentence = why("2026-01-05T09:00:00Z").await;
    let expected = "was cancelled (by api:anonymous at 2026-01-05T09:00:00Z)";
    assert!(sentence.contains(expected), "{sentence}");
    let splayed = HOURLY.replace("\"expression\"", "\"splay\":\"10m\",\"expression\"");
    world.put(NIGHTLY, &splayed).await;
    let sentence = why("2026-01-05T10:00:00Z").await;
    assert!(sentence.contains("of it by its splay"), "{sentence}");
}
