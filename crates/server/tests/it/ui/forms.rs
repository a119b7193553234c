//! Every form alike: what is wrong with it is shown all at once, each fault at its field; what was
//! typed is kept; a preview stores nothing. And what an empty list teaches.

use axum::http::Method;

use super::reading::{all, attributes, check_structure, fill, in_chinese, words};
use crate::harness::{Answer, World, with};

const NIGHTLY: &str = "/api/v1/schedules/nightly";

async fn world() -> World {
    let world = World::open();
    let body = r#"{"expression":"@daily","target":{"type":"webhook","url":"https://a.example/"}}"#;
    assert_eq!(world.put(NIGHTLY, body).await.status, 201);
    let source = r#"{"address":"https://a.example/feed","name":"A"}"#;
    assert_eq!(world.post("/api/v1/sources", source).await.status, 201);
    world
}

type Fields = &'static [(&'static str, &'static str)];

/// Forms, what was typed, and the fields that are wrong, in the order of the form.
const WRONG: &[(&str, Fields, &[&str])] = &[
    (
        "/ui/tasks/new",
        &[
            ("kind", "two words"),
            ("subject", "article:42"),
            ("at", "soon"),
            ("zone", "UTC"),
            ("payload", "{"),
            ("callback_url", "ftp://a.example/"),
        ],
        &["kind", "at", "payload", "callback_url"],
    ),
    (
        "/ui/tasks/new",
        &[("zone", "Mars")],
        &["kind", "subject", "at", "zone"],
    ),
    (
        "/ui/tasks/new",
        &[
            ("kind", "UNKNOWN"),
            ("subject", "a"),
            ("at", "2026-01-05T08:00"),
            ("zone", "UTC"),
        ],
        &["kind"],
    ),
    (
        "/ui/schedules/new",
        &[
            ("name", "two words"),
            ("expression", "0 25 * * *"),
            ("tz", "UTC"),
            ("target", "webhook"),
            ("url", "nowhere"),
            ("body", "{"),
            ("grace", "soon"),
            ("also", "@daily\n0 8 * * MONDAY"),
        ],
        &["name", "expression", "url", "body", "also", "grace"],
    ),
    (
        "/ui/schedules/new",
        &[("target", "ping"), ("tz", "Mars")],
        &["name", "expression", "tz"],
    ),
    (
        "/ui/schedules/nightly/change",
        &[
            ("revision", "1"),
            ("expression", "@hourly"),
            ("target", "task"),
            ("kind", "a b"),
            ("priority", "10"),
        ],
        &["kind", "subject", "priority"],
    ),
    (
        "/ui/schedules/nightly/pause",
        &[
            ("note", "why"),
            ("until", "2026-01-05T07:00"),
            ("zone", "UTC"),
        ],
        &["until"],
    ),
    (
        "/ui/schedules/nightly/pause",
        &[("until", "soon"), ("zone", "UTC")],
        &["until"],
    ),
    (
        "/ui/kinds/ARTICLE_PUBLISH/pause",
        &[("until", "2026-01-06T07:00"), ("zone", "Mars")],
        &["zone"],
    ),
    (
        "/ui/sources/1/change",
        &[
            ("address", "https://a.example/feed"),
            ("policy", "whenever"),
            ("how", "html"),
            ("bearer", "hunter2"),
            ("filters", "block title is x\nblok it"),
        ],
        &["policy", "item", "title", "bearer", "filters"],
    ),
    (
        "/ui/sources/add",
        &[("address", "ftp://a.example/"), ("as_it_is", "yes")],
        &["address"],
    ),
];

#[tokio::test]
async fn everything_that_is_wrong_is_shown_at_its_field_and_what_was_typed_is_kept() {
    let world = world().await;
    for (path, fields, wrong) in WRONG {
        let page = fill(&world, path, fields).await;
        assert_eq!(page.status, 422, "{path}: {}", page.body);
        check_structure(&page);
        check_faults(&page, wrong);
        for (name, typed) in fields.iter().filter(|(name, _)| wrong.contains(name)) {
            let inputs = attributes(&page, &format!("main input[name={name}]"), "value");
            let areas = all(&page, &format!("main textarea[name={name}]"));
            let kept = inputs
                .into_iter()
                .chain(areas)
                .any(|it| it == typed.replace('\n', " "));
            assert!(kept, "{path}: {name} was {typed}");
        }
    }
    assert_eq!(
        world.get("/api/v1/tasks").await.json()["tasks"]
            .as_array()
            .unwrap()
            .len(),
        1,
        "that of the source"
    );
    assert_eq!(world.get(NIGHTLY).await.json()["state"], "active");
    assert_eq!(world.get("/api/v1/sources/1").await.json()["name"], "A");
}

/// The fields that are marked, each described by its sentence, and a list that leads to each.
fn check_faults(page: &Answer, wrong: &[&str]) {
    let marked = "main [aria-invalid=true]";
    assert_eq!(attributes(page, marked, "name"), wrong, "{}", page.body);
    for described in attributes(page, marked, "aria-describedby") {
        assert!(!all(page, &format!("#{described}")).concat().is_empty());
    }
    let ids = attributes(page, marked, "id").into_iter();
    let ways: Vec<String> = ids.map(|id| format!("#{id}")).collect();
    assert_eq!(attributes(page, "#refused li a", "href"), ways);
    assert_eq!(all(page, "#refused li").len(), wrong.len());
    assert!(
        all(page, "details:not([open]) [aria-invalid]").is_empty(),
        "nothing wrong is folded away"
    );
}

#[tokio::test]
async fn a_range_to_backfill_shows_every_fault_too() {
    let world = world().await;
    let path = "/ui/schedules/nightly/backfill?from=soon&zone=UTC&pace=often";
    let page = world.get(path).await;
    assert_eq!(page.status, 422);
    check_structure(&page);
    check_faults(&page, &["from", "to", "pace"]);
}

#[tokio::test]
async fn a_fault_shows_which_part_of_which_line_is_meant() {
    let world = world().await;
    let fields = [
        ("name", "x"),
        ("expression", "@daily"),
        ("target", "webhook"),
        ("url", "https://a.example/"),
        ("also", "@hourly\n\n0 8 * * MONDAY"),
    ];
    let page = fill(&world, "/ui/schedules/new", &fields).await;
    assert_eq!(all(&page, "#fault-also pre"), ["0 8 * * MONDAY ^^^^^^"]);
    let filters = [
        ("address", "https://a.example/feed"),
        ("how", "feed"),
        ("filters", "block title is x\nblok it"),
    ];
    let page = fill(&world, "/ui/sources/1/change", &filters).await;
    assert!(
        all(&page, "#fault-filters pre")
            .concat()
            .starts_with("blok it ^^"),
        "{}",
        page.body
    );
}

#[tokio::test]
async fn a_preview_of_a_task_says_when_what_and_who_and_stores_nothing() {
    let world = World::open();
    let fields = |subject| {
        [
            ("kind", "ARTICLE_PUBLISH"),
            ("subject", subject),
            ("at", "2026-01-06T08:00"),
            ("zone", "Asia/Shanghai"),
            ("callback_url", "https://a.example/x"),
            ("act", "check"),
        ]
    };
    let page = fill(&world, "/ui/tasks/new", &fields("article:1")).await;
    assert_eq!(page.status, 200, "{}", page.body);
    check_structure(&page);
    let shown = all(&page, "section[aria-labelledby=would]").concat();
    for part in [
        "6 Jan 00:00:00 UTC",
        "Created: there was no such task.",
        "https://a.example/x",
        "almanack task put ARTICLE_PUBLISH article:1",
    ] {
        assert!(shown.contains(part), "{part} in {shown}");
    }
    assert!(world.rows().await.is_empty());
    let body = r#"{"execute_at":"2026-01-07T08:00:00Z"}"#;
    world
        .put("/api/v1/tasks/ARTICLE_PUBLISH/article:2", body)
        .await;
    let page = fill(&world, "/ui/tasks/new", &fields("article:2")).await;
    assert!(
        words(&page).contains("Rescheduled: the task was waiting."),
        "{}",
        words(&page)
    );
    assert_eq!(
        world.rows().await[0].execute_at,
        "2026-01-07T08:00:00Z".parse().unwrap()
    );
}

#[tokio::test]
async fn a_preview_of_a_source_shows_its_entries_and_adds_nothing() {
    let world = World::open();
    let shown = crate::scripted::document(&[("7", "2026-01-05T07:30:00Z")]);
    world.fixture.script.say("https://new.example/feed", shown);
    let fields = [
        ("address", "https://new.example/feed"),
        ("as_it_is", "yes"),
        ("act", "check"),
    ];
    let page = fill(&world, "/ui/sources/add", &fields).await;
    assert_eq!(page.status, 200, "{}", page.body);
    check_structure(&page);
    let preview = all(&page, "section[aria-labelledby=preview]").concat();
    assert!(
        preview.contains("Entries found: 1. Nothing has been stored."),
        "{preview}"
    );
    assert_eq!(
        attributes(&page, "main input[name=address]", "value"),
        ["https://new.example/feed"]
    );
    let sources = world.get("/api/v1/sources").await.json();
    assert!(sources["sources"].as_array().unwrap().is_empty());
}

#[tokio::test]
async fn an_empty_list_teaches_how_to_begin() {
    let world = World::open();
    for (path, command, form) in [
        ("/ui/tasks", "almanack task put", true),
        ("/ui/schedules", "almanack schedule put nightly", true),
        ("/ui/monitors", "almanack monitor put nightly", true),
        ("/ui/sources", "almanack source add", true),
        ("/ui/entries", "almanack source entries", false),
        ("/ui/tasks/changes", "almanack task bulk cancel", false),
        ("/ui", "almanack demo", false),
    ] {
        let page = world.get(path).await;
        check_structure(&page);
        assert!(words(&page).contains(command), "{path}: {}", words(&page));
        assert_eq!(
            !all(&page, "main form[method=post]").is_empty(),
            form,
            "{path}"
        );
        let chinese = in_chinese(&world, path).await;
        assert!(words(&chinese).contains(command), "{path}");
        assert!(!words(&chinese).contains("Begin here"), "{path}");
    }
    let narrow = world.get("/ui/tasks?q=x").await;
    assert!(
        !words(&narrow).contains("Begin here"),
        "a search finds nothing, the list is not empty"
    );
}

#[tokio::test]
async fn what_a_form_offers_first_is_what_creates_the_first() {
    let world = World::open();
    let task = [
        ("kind", "ARTICLE_PUBLISH"),
        ("subject", "a:1"),
        ("at", "2026-01-06T08:00"),
        ("zone", "UTC"),
    ];
    assert_eq!(fill(&world, "/ui/tasks/new", &task).await.status, 303);
    let page = world.get("/ui/tasks").await;
    assert!(!words(&page).contains("Begin here"), "{}", words(&page));
    let forms = attributes(&page, "main form[method=post]", "action");
    assert!(forms.is_empty(), "{forms:?}");
}

/// A browser that does not run our script sees the list of faults first, and is led to each.
#[tokio::test]
async fn the_list_of_faults_has_the_focus_and_the_browser_checks_nothing_itself() {
    let world = World::open();
    let page = fill(&world, "/ui/tasks/new", &[("zone", "UTC")]).await;
    assert_eq!(attributes(&page, "#refused", "tabindex"), ["-1"]);
    assert!(page.body.contains("autofocus"));
    let get = world
        .send(with(Method::GET, "/ui/tasks/new", "", &[]))
        .await;
    assert_eq!(all(&get, "main form[method=post][novalidate]").len(), 1);
}
