//! Pages of tasks: the list, one task, a new one.

use almanack_core::{
    finish::Outcome,
    reschedule::{Request, decide},
    store::{TaskStore, TokenStore},
    task::Status,
    token::Scope,
};
use almanack_server::access::Access;
use almanack_store::sqlite::SqliteStore;
use almanack_testkit::fixture::{PUBLISH, START, at as instant, put};
use axum::http::Method;

use super::reading::{
    all, attributes, check_structure, fill, fill_as, form_key, in_chinese, words,
};
use crate::{
    access::made,
    harness::{ARTICLE, Answer, World, at, with},
};

pub(super) const PAGE: &str = "/ui/tasks/ARTICLE_PUBLISH/article:42";

/// So many tasks, `article:0` and on, due a minute apart.
pub(super) async fn many(world: &World, count: i64) {
    let request = |n: i64| {
        Request::Put(put(
            &format!("article:{n}"),
            PUBLISH,
            instant(3_600 + n * 60),
        ))
    };
    let changes: Vec<_> = (0..count)
        .map(|n| decide(None, &request(n), "api:ada", START).unwrap())
        .collect();
    world.store.apply(changes).await.unwrap();
}

pub(super) async fn status(world: &World, path: &str) -> String {
    let api = path.replace("/ui/", "/api/v1/");
    world.get(&api).await.json()["status"]
        .as_str()
        .unwrap()
        .to_owned()
}

/// Where a form led.
pub(super) async fn follow(world: &World, answer: &Answer) -> Answer {
    assert_eq!(answer.status, 303, "{}", answer.body);
    world.get(answer.header("location").unwrap()).await
}

#[tokio::test]
async fn the_list_shows_tasks_and_counts_that_lead_to_them() {
    let world = World::open();
    world.put(ARTICLE, &at(0)).await;
    world
        .put(
            "/api/v1/tasks/ARTICLE_PUBLISH/%3Cscript%3Ealert(1)%3C%2Fscript%3E",
            &at(1),
        )
        .await;
    world.delete(ARTICLE).await;
    let page = world.get("/ui/tasks").await;
    assert_eq!(page.status, 200, "{}", page.body);
    check_structure(&page);
    assert!(!page.body.contains("<script>alert"), "{}", page.body);
    assert_eq!(
        attributes(&page, "tr[data-row] a[data-open]", "href"),
        [
            "/ui/tasks/ARTICLE_PUBLISH/%3Cscript%3Ealert%281%29%3C%2Fscript%3E",
            PAGE
        ],
        "newest first"
    );
    assert_eq!(
        all(&page, ".numbers a"),
        [
            "2all",
            "1Waiting",
            "0Running",
            "0Done",
            "0Failed",
            "1Cancelled"
        ]
    );
    let ways = attributes(&page, ".numbers a", "href");
    assert_eq!(
        (&*ways[0], &*ways[5]),
        ("/ui/tasks", "/ui/tasks?status=CANCELLED")
    );
    assert!(words(&page).contains("Searches and counts the newest 50,000, internal"));
    let chinese = in_chinese(&world, "/ui/tasks").await;
    assert!(
        words(&chinese).contains("共 2 个任务"),
        "{}",
        words(&chinese)
    );
    assert!(words(&chinese).contains("已取消"));
}

#[tokio::test]
async fn the_list_is_filtered_searched_and_paged() {
    let world = World::open();
    many(&world, 60).await;
    let subjects = async |path: &str| {
        let page = world.get(path).await;
        (
            all(&page, "tr[data-row] a[data-open]"),
            attributes(&page, ".pager a[rel=next]", "href"),
        )
    };
    let (first, next) = subjects("/ui/tasks?q=ARTICLE").await;
    assert_eq!(
        (first.len(), &*first[0], &*first[49]),
        (50, "article:59", "article:10")
    );
    let (rest, end) = subjects(&next[0]).await;
    assert_eq!(
        (rest.len(), &*rest[0], &*rest[9]),
        (10, "article:9", "article:0")
    );
    assert!(end.is_empty());
    assert_eq!(
        subjects("/ui/tasks?q=e%3A5").await.0.len(),
        11,
        "5 and 50 to 59"
    );
    assert_eq!(subjects("/ui/tasks?status=FAIL").await.0.len(), 0);
    assert_eq!(subjects("/ui/tasks?kind=OTHER").await.0.len(), 0);
    assert_eq!(
        subjects("/ui/tasks?kind=&status=&q=&said=").await.0.len(),
        50
    );
}

#[tokio::test]
async fn an_invalid_filter_is_reported_in_its_place() {
    let world = World::open();
    for query in ["status=SLEEPING", "kind=not%20a%20kind", "q=a%00b"] {
        let page = world.get(&format!("/ui/tasks?{query}")).await;
        assert_eq!(page.status, 422, "{query}");
        assert_eq!(all(&page, "[role=alert]").len(), 1, "{query}");
        assert_eq!(
            all(&page, "main form[role=search]").len(),
            1,
            "the form is kept"
        );
    }
}

/// With two hundred times as many tasks a page shows as many lines and is no longer.
#[tokio::test]
async fn a_page_costs_the_same_however_many_tasks_there_are() {
    let world = World::open();
    many(&world, 60).await;
    let small = world.get("/ui/tasks").await.body.len();
    let changes: Vec<_> = (0..10_000)
        .map(|n| put(&format!("other:{n}"), PUBLISH, instant(3_600)))
        .map(|put| decide(None, &Request::Put(put), "api:ada", START).unwrap())
        .collect();
    world.store.apply(changes).await.unwrap();
    let page = world.get("/ui/tasks").await;
    assert!(words(&page).contains("10060 tasks"), "{}", words(&page));
    assert_eq!(all(&page, "tr[data-row]").len(), 50);
    let (large, slack) = (page.body.len(), 2_000);
    assert!(large < small + slack, "{large} bytes after {small}");
    assert!(large < 62_000, "{large} bytes");
}

#[tokio::test]
async fn one_task_reports_its_whole_life() {
    let world = World::open();
    let body = r#"{"execute_at":"2026-01-05T09:00:00Z","payload":{"title":"<b>","n":12345678901234567890.5},"callback":{"url":"https://a.example/x"}}"#;
    world.put(ARTICLE, body).await;
    world.clock.set(instant(3_601));
    let task = world.claim(1).await;
    world.clock.set(instant(3_603));
    let error = "503 <script>alert(1)</script>".to_owned();
    world
        .end(
            &task,
            &Outcome::Retry {
                error,
                retry_after: None,
            },
        )
        .await;
    let page = world.get(PAGE).await;
    assert_eq!(page.status, 200, "{}", page.body);
    check_structure(&page);
    let seen_text = words(&page);
    for part in [
        "Failed, will retry",
        "503 <script>alert(1)</script>",
        "12345678901234567890.5",
        "https://a.example/x",
        "api:anonymous",
        "created",
        "Next attempt",
    ] {
        assert!(seen_text.contains(part), "{part} in {seen_text}");
    }
    assert!(!page.body.contains("<script>alert"));
    assert_eq!(all(&page, "figure").len(), 1, "its life as a picture");
    assert_eq!(
        attributes(&page, "#d1\\.0 a[data-open]", "href"),
        [format!("{PAGE}?receipt=1.0")]
    );
    let chinese = in_chinese(&world, PAGE).await;
    assert!(words(&chinese).contains("将重试"), "{}", words(&chinese));
    assert_eq!(
        world.get("/ui/tasks/ARTICLE_PUBLISH/none").await.status,
        404
    );
}

#[tokio::test]
async fn a_typed_time_is_settled_before_it_is_sent() {
    let world = World::open();
    world.put(ARTICLE, &at(0)).await;
    let typed = async |clock: &str, zone: &str| {
        let query = format!("{PAGE}?at={clock}&zone={zone}");
        let page = world
            .get(&query.replace(':', "%3A").replace("article%3A", "article:"))
            .await;
        (
            attributes(&page, "#change input[name=to]", "value"),
            all(&page, "#change").concat(),
        )
    };
    let (instants, seen_text) = typed("2026-01-06T08:00:00", "Asia/Shanghai").await;
    assert_eq!(instants, ["2026-01-06T00:00:00Z"]);
    assert!(
        seen_text.contains("8:00:00 CST") && seen_text.contains("0:00:00 UTC"),
        "{seen_text}"
    );
    let (instants, seen_text) = typed("2026-03-29T02:30", "Europe/Berlin").await;
    assert_eq!(instants, ["2026-03-29T00:30:00Z", "2026-03-29T01:30:00Z"]);
    assert!(
        seen_text.contains("does not exist in Europe/Berlin"),
        "{seen_text}"
    );
    let (instants, seen_text) = typed("2026-10-25T02:30", "Europe/Berlin").await;
    assert_eq!(instants, ["2026-10-25T00:30:00Z", "2026-10-25T01:30:00Z"]);
    assert!(
        seen_text.contains("occurs twice in Europe/Berlin"),
        "{seen_text}"
    );
    for (clock, zone) in [
        ("2026-02-30T08:00", "UTC"),
        ("2026-03-29T08:00", "Mars/Olympus"),
    ] {
        let (instants, seen_text) = typed(clock, zone).await;
        assert!(instants.is_empty(), "{clock} {zone}: {seen_text}");
        assert!(!seen_text.is_empty());
    }
}

#[tokio::test]
async fn a_move_is_reported_by_the_rule_that_applied() {
    let world = World::open();
    world.put(ARTICLE, &at(0)).await;
    let to = [("to", "2026-01-05T10:00:00Z")];
    let moved = fill(&world, &format!("{PAGE}/move"), &to).await;
    assert_eq!(
        moved.header("location"),
        Some(&*format!("{PAGE}?receipt=1.1"))
    );
    let page = follow(&world, &moved).await;
    let notice = all(&page, ".notice").concat();
    assert!(
        notice.contains("Rescheduled: the task was waiting."),
        "{notice}"
    );
    assert!(
        notice.contains("10:00:00 UTC") && notice.contains("9:00:00 UTC"),
        "{notice}"
    );
    assert!(notice.contains("Valid"), "{notice}");

    world.clock.set(instant(7_200));
    world.claim(1).await;
    let moved = fill(
        &world,
        &format!("{PAGE}/move"),
        &[("to", "2026-01-05T11:00:00Z")],
    )
    .await;
    let page = follow(&world, &moved).await;
    let notice = all(&page, ".notice").concat();
    assert!(
        notice.contains("the task was running, so it was cancelled"),
        "{notice}"
    );
    let chinese = in_chinese(&world, &format!("{PAGE}?receipt=1.1")).await;
    let notice = all(&chinese, ".notice").concat();
    assert!(notice.contains("已被取代"), "{notice}");

    world.clock.set(instant(10_800));
    let task = world.claim(2).await;
    world.done(&task).await;
    let moved = fill(&world, &format!("{PAGE}/move"), &to).await;
    let notice = all(&follow(&world, &moved).await, ".notice").concat();
    assert!(notice.contains("the task is already done"), "{notice}");
    let other = world.get(&format!("{PAGE}?receipt=99.1")).await;
    assert!(all(&other, ".notice").is_empty() && other.status == 200);
}

#[tokio::test]
async fn a_task_is_cancelled_after_a_question_and_tried_again_without() {
    let world = World::open();
    world.put(ARTICLE, &at(0)).await;
    let question = world.get(&format!("{PAGE}/cancel")).await;
    check_structure(&question);
    assert!(words(&question).contains("Cancels this task"));
    assert!(words(&question).contains("almanack task cancel ARTICLE_PUBLISH article:42"));
    assert_eq!(status(&world, PAGE).await, "INIT", "asking changes nothing");
    let answer = fill(&world, &format!("{PAGE}/cancel"), &[]).await;
    let notice = all(&follow(&world, &answer).await, ".notice").concat();
    assert!(notice.contains("Cancelled."), "{notice}");
    assert_eq!(status(&world, PAGE).await, "CANCELLED");
    let answer = fill(&world, &format!("{PAGE}/retry"), &[]).await;
    let notice = all(&follow(&world, &answer).await, ".notice").concat();
    assert!(notice.contains("Created again"), "{notice}");
    assert_eq!(status(&world, PAGE).await, "INIT");
    let none = fill(&world, "/ui/tasks/ARTICLE_PUBLISH/none/retry", &[]).await;
    assert_eq!(none.status, 404, "retrying creates nothing");
}

#[tokio::test]
async fn a_new_task_is_put_or_the_form_comes_back() {
    let world = World::open();
    check_structure(&world.get("/ui/tasks/new").await);
    let good = [
        ("kind", "ARTICLE_PUBLISH"),
        ("subject", "article:42"),
        ("at", "2026-01-05T18:00:00"),
        ("zone", "Asia/Shanghai"),
        ("payload", r#"{"a":1}"#),
        ("callback_url", "https://a.example/x"),
    ];
    let with = |name: &str, value: &'static str| -> Vec<(&'static str, &'static str)> {
        good.iter()
            .map(|(known, old)| (*known, if *known == name { value } else { *old }))
            .collect()
    };
    for (name, value) in [
        ("kind", "two words"),
        ("kind", "UNKNOWN"),
        ("subject", ""),
        ("at", "soon"),
        ("zone", "Mars/Olympus"),
        ("payload", "{"),
        ("callback_url", "ftp://a.example/"),
    ] {
        let fields: Vec<_> = if value == "UNKNOWN" {
            with(name, value)
                .into_iter()
                .filter(|(name, _)| *name != "callback_url")
                .collect()
        } else {
            with(name, value)
        };
        let page = fill(&world, "/ui/tasks/new", &fields).await;
        assert_eq!(page.status, 422, "{name}={value}");
        assert_eq!(all(&page, "[role=alert]").len(), 1, "{name}={value}");
        let kept = attributes(&page, "input[name=zone]", "value");
        assert!(
            name == "zone" || kept.contains(&"Asia/Shanghai".to_owned()),
            "{kept:?}"
        );
    }
    assert!(world.rows().await.is_empty(), "nothing was stored");
    let answer = fill(&world, "/ui/tasks/new", &good).await;
    let notice = all(&follow(&world, &answer).await, ".notice").concat();
    assert!(
        notice.contains("Created: there was no such task."),
        "{notice}"
    );
    let rows = world.rows().await;
    assert_eq!(rows[0].execute_at, "2026-01-05T10:00:00Z".parse().unwrap());
    assert_eq!(
        (rows[0].payload.as_str(), &*rows[0].origin),
        (r#"{"a":1}"#, "ui:anonymous")
    );
}

#[tokio::test]
async fn a_new_task_at_a_doubled_hour_asks_which_one() {
    let world = World::open();
    let mut fields = vec![
        ("kind", "ARTICLE_PUBLISH"),
        ("subject", "article:42"),
        ("at", "2026-10-25T02:30:00"),
        ("zone", "Europe/Berlin"),
    ];
    let page = fill(&world, "/ui/tasks/new", &fields).await;
    assert_eq!(page.status, 422);
    let choices = attributes(&page, "form input[type=radio][name=to]", "value");
    assert_eq!(choices, ["2026-10-25T00:30:00Z", "2026-10-25T01:30:00Z"]);
    fields.push(("to", "2027-01-01T00:00:00Z"));
    assert_eq!(
        fill(&world, "/ui/tasks/new", &fields).await.status,
        422,
        "neither of them"
    );
    fields.pop();
    fields.push(("to", &choices[1]));
    assert_eq!(fill(&world, "/ui/tasks/new", &fields).await.status, 303);
    assert_eq!(
        world.rows().await[0].execute_at,
        choices[1].parse().unwrap()
    );
}

#[tokio::test]
async fn who_may_only_look_sees_no_button_and_is_refused() {
    let store = SqliteStore::in_memory().unwrap();
    let (token, text) = made("reader", Scope::Read);
    store.save_token(&token).await.unwrap();
    let world = World::with(store, Access::Tokens);
    many(&world, 1).await;
    let shown = format!("Bearer {text}");
    let headers = [("authorization", &*shown)];
    let page = "/ui/tasks/ARTICLE_PUBLISH/article:0";
    for path in ["/ui/tasks", page] {
        let answer = world.send(with(Method::GET, path, "", &headers)).await;
        assert_eq!(answer.status, 200, "{}", answer.body);
        assert!(all(&answer, "main form[method=post]").is_empty(), "{path}");
        assert!(
            all(&answer, "main input[type=checkbox]").is_empty(),
            "{path}"
        );
    }
    let key = form_key(&world, &headers).await;
    let fields = [
        ("act", "cancel"),
        ("id", "1"),
        ("to", "2026-01-05T10:00:00Z"),
    ];
    for path in ["/cancel", "/retry", "/move"] {
        let answer = fill_as(&world, &format!("{page}{path}"), &fields, &key, &headers).await;
        assert_eq!(answer.status, 403, "{path}");
    }
    for path in ["/ui/tasks/bulk", "/ui/tasks/new"] {
        let answer = fill_as(&world, path, &fields, &key, &headers).await;
        assert_eq!(answer.status, 403, "{path}");
    }
    assert_eq!(world.rows().await[0].status, Status::Init);
}

#[tokio::test]
async fn a_form_without_its_key_changes_nothing() {
    let world = World::open();
    world.put(ARTICLE, &at(0)).await;
    for path in ["cancel", "retry", "move"] {
        let fields = [("to", "2026-01-05T10:00:00Z")];
        let answer = fill_as(&world, &format!("{PAGE}/{path}"), &fields, "guessed", &[]).await;
        assert_eq!(answer.status, 403, "{path}");
    }
    assert_eq!(world.rows().await[0].decisions, 0);
}
