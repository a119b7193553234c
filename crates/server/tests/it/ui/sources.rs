//! Pages of sources.

use almanack_core::{
    source::{
        check::{Document, FailureClass, Look},
        courtesy::{Counts, Day, HostDay, RequestedWaits},
    },
    store::{CourtesyStore as _, TokenStore},
    time::Clock as _,
    token::Scope,
};
use almanack_server::access::Access;
use almanack_store::sqlite::SqliteStore;
use axum::http::Method;
use jiff::SignedDuration;

use crate::{
    access::made,
    browser::check_page,
    harness::{World, with},
    scripted::{document, failed},
};

/// A feed with two entries, one that failed, one that is paused, and one whose words are an attack.
async fn filled() -> World {
    let world = World::open();
    for body in [
        r#"{"address":"https://a.example/feed","policy":"fixed:1h"}"#,
        r#"{"address":"https://b.example/feed","name":"Broken"}"#,
        r#"{"address":"https://c.example/feed","cadence":"P6","name":"Resting"}"#,
        r#"{"address":"https://d.example/<script>","name":"<script>alert(1)</script>"}"#,
    ] {
        world.add(body).await;
        world.clock.advance(SignedDuration::from_secs(1));
    }
    world.fixture.script.say(
        "https://a.example/feed",
        document(&[("1", "2026-01-04T09:00:00Z"), ("2", "2026-01-05T07:30:00Z")]),
    );
    let failure = failed(FailureClass::NotFound, "404 <b>Not Found</b>");
    world.fixture.script.say("https://b.example/feed", failure);
    world
        .post("/api/v1/sources/3/pause", r#"{"note":"<i>loud</i>"}"#)
        .await;
    world.check(1).await;
    world.check(2).await;
    world
}

const PAGES: [&str; 10] = [
    "/ui/sources",
    "/ui/sources?due=true",
    "/ui/sources/1",
    "/ui/sources/3",
    "/ui/sources/4",
    "/ui/sources/1/entries",
    "/ui/sources/1/remove",
    "/ui/sources/opml",
    "/ui/sources/courtesy",
    "/about-requests",
];

#[tokio::test]
async fn every_page_is_whole_in_both_languages_and_escapes_everything() {
    let world = filled().await;
    for path in PAGES {
        for answer in [world.look(path).await, world.look_in_chinese(path).await] {
            assert_eq!(answer.status, 200, "{path}: {}", answer.body);
            check_page(&answer);
            for attack in ["<script>alert", "<b>Not", "<i>loud"] {
                assert!(!answer.body.contains(attack), "{path}: {attack}");
            }
        }
    }
    let chinese = world.look_in_chinese("/ui/sources").await;
    assert_eq!(chinese.texts("h1"), ["信源"]);
    assert!(chinese.body.contains("lang=\"zh-CN\""));
}

#[tokio::test]
async fn the_fleet_is_counted_and_every_number_leads_to_its_rows() {
    let world = filled().await;
    let page = world.look("/ui/sources").await;
    assert_eq!(
        page.texts(".numbers a"),
        [
            "4 sources",
            "3 active",
            "1 paused",
            "0 ended",
            "1 due now",
            "0 need attention",
            "1 last check failed"
        ]
    );
    let counts = page.texts(".numbers b");
    let ways = page.attributes(".numbers a", "href");
    for (count, way) in counts.iter().zip(ways) {
        let rows = world.look(&way).await.texts("tr[data-row]");
        assert_eq!(&rows.len().to_string(), count, "{way}");
    }
    assert_eq!(
        page.texts("section[aria-labelledby=failures] tbody tr"),
        ["not found not_found 1 there is nothing at its address for now"]
    );
    let way = page.attributes("section[aria-labelledby=failures] td a", "href");
    assert_eq!(way, ["/ui/sources?failure=not_found"]);
}

#[tokio::test]
async fn a_row_says_when_it_is_checked_next_and_why() {
    let world = filled().await;
    let page = world.look("/ui/sources").await;
    let rows = page.texts("tr[data-row]");
    assert!(rows[0].contains("A Weblog"), "{}", rows[0]);
    assert!(rows[0].contains("100 %"), "{}", rows[0]);
    assert!(rows[0].ends_with("in 1 h every hour."), "{}", rows[0]);
    assert_eq!(
        page.attributes("td.why", "title")[0],
        "Next check at 2026-01-05T09:00:04Z: every hour.",
        "what is cut off is its title"
    );
    assert!(
        rows[1].contains("✕") || rows[1].contains("not found"),
        "{}",
        rows[1]
    );
    assert!(rows[2].contains("Not checked: paused"), "{}", rows[2]);
    assert!(
        rows[3].contains("<script>alert(1)</script>"),
        "as text: {}",
        rows[3]
    );
}

#[tokio::test]
async fn filters_narrow_and_what_is_wrong_with_one_is_reported() {
    let world = filled().await;
    for (query, found) in [
        ("?state=paused", 1),
        ("?state=&cadence=&attention=&q=", 4),
        ("?q=B.EXAMPLE", 1),
        ("?failure=any", 1),
        ("?failure=dns", 0),
        ("?type=custom", 0),
        ("?unknown=1", 4),
    ] {
        let page = world.look(&format!("/ui/sources{query}")).await;
        assert_eq!(page.status, 200, "{query}");
        assert_eq!(page.texts("tr[data-row]").len(), found, "{query}");
    }
    for query in ["?state=odd", "?cadence=P9", "?cursor=%00", "?failure=x"] {
        let page = world.look(&format!("/ui/sources{query}")).await;
        assert_eq!(page.status, 422, "{query}");
        check_page(&page);
    }
    assert_eq!(world.look("/ui/sources/99").await.status, 404);
    assert_eq!(world.look("/ui/sources/x").await.status, 404);
}

#[tokio::test]
async fn a_long_list_goes_on_over_pages() {
    let world = World::open();
    for page in 0..11 {
        let items: Vec<String> = (0..5)
            .map(|n| format!(r#"{{"address":"https://s.example/{page}-{n}"}}"#))
            .collect();
        let body = format!("[{}]", items.join(","));
        assert_eq!(world.post("/api/v1/sources", &body).await.status, 200);
    }
    let first = world.look("/ui/sources").await;
    assert_eq!(first.texts("tr[data-row]").len(), 50);
    let next = first.attributes(".pager a[rel=next]", "href");
    let second = world.look(&next[0]).await;
    assert_eq!(second.texts("tr[data-row]").len(), 5);
    assert_eq!(second.attributes(".pager a", "href"), ["/ui/sources"]);
}

#[tokio::test]
async fn entries_link_out_only_into_the_web() {
    let world = World::open();
    world.add(r#"{"address":"https://a.example/feed"}"#).await;
    let Look::Document(shown) =
        document(&[("1", "2026-01-05T07:30:00Z"), ("2", "2026-01-05T07:31:00Z")])
    else {
        panic!("a document");
    };
    let mut shown: Document = *shown;
    shown.entries[0].link = Some("javascript:alert(1)".to_owned());
    shown.entries[0].title = "<img src=x onerror=alert(1)>".to_owned();
    let look = Look::Document(Box::new(shown));
    world.fixture.script.say("https://a.example/feed", look);
    world.check(1).await;
    for path in ["/ui/sources/1", "/ui/sources/1/entries"] {
        let page = world.look(path).await;
        assert!(
            page.texts("tr[data-row] th")
                .contains(&"<img src=x onerror=alert(1)>".to_owned())
        );
        let links = page.attributes("tr[data-row] a", "href");
        assert_eq!(links, ["https://a.example/2"]);
        let rel = page.attributes("tr[data-row] a", "rel");
        assert_eq!(rel, ["noopener noreferrer"]);
    }
}

#[tokio::test]
async fn a_source_is_checked_paused_resumed_changed_and_removed() {
    let world = filled().await;
    let at = |act: &str| format!("/ui/sources/1/{act}");
    let answer = world.fill(&at("check"), &[]).await;
    assert_eq!(answer.leads_to(), "/ui/sources/1?did=check");
    let page = world.look(answer.leads_to()).await;
    assert_eq!(
        page.texts(".notice"),
        ["Queued for a check as soon as a node has capacity."]
    );
    assert!(page.body.contains("ui:anonymous requested it"));
    let answer = world.fill(&at("pause"), &[("note", "too loud")]).await;
    let page = world.look(answer.leads_to()).await;
    assert!(page.body.contains("too loud"), "{}", page.body);
    let answer = world.fill(&at("resume"), &[]).await;
    let page = world.look(answer.leads_to()).await;
    assert_eq!(page.texts(".notice"), ["Source resumed. Undo"]);
    let request = [
        ("name", "Mine"),
        ("category", "news/coast"),
        ("cadence", "P4"),
        ("policy", ""),
    ];
    let answer = world.fill(&at("change"), &request).await;
    assert_eq!(answer.leads_to(), "/ui/sources/1?did=changed");
    let source = world.get("/api/v1/sources/1").await.json();
    assert_eq!(source["name"], "Mine");
    assert_eq!(source["category"], "news/coast");
    assert_eq!(source["cadence_by_hand"], "P4");
    assert_eq!(source["policy"], serde_json::Value::Null);
    let question = world.look(&at("remove")).await;
    assert!(
        question.texts("main p")[0].contains("2 entries"),
        "{}",
        question.body
    );
    assert_eq!(
        world.get("/api/v1/sources/1").await.status,
        200,
        "it only asks"
    );
    let answer = world.fill(&at("remove"), &[]).await;
    assert_eq!(answer.leads_to(), "/ui/sources?did=removed");
    assert_eq!(world.get("/api/v1/sources/1").await.status, 404);
}

#[tokio::test]
async fn a_change_that_cannot_be_keeps_what_was_typed_and_changes_nothing() {
    let world = filled().await;
    let request = [("name", "Mine"), ("policy", "whenever")];
    let answer = world.fill("/ui/sources/1/change", &request).await;
    assert_eq!(answer.status, 422, "{}", answer.body);
    check_page(&answer);
    assert_eq!(
        answer.attributes("input[name=policy]", "value"),
        ["whenever"]
    );
    assert_eq!(answer.attributes("input[name=name]", "value"), ["Mine"]);
    assert!(answer.texts("[role=alert]")[0].contains("whenever"));
    let source = world.get("/api/v1/sources/1").await.json();
    assert_eq!(source["name"], "A Weblog");
    assert_eq!(source["policy"], "fixed:1h");
}

#[tokio::test]
async fn ss_21_a_source_is_edited_and_previewed_without_scripts() {
    let world = filled().await;
    let shown = document(&[("7", "2026-01-05T07:30:00Z")]);
    world.fixture.script.say("https://new.example/page", shown);
    let page = world.look("/ui/sources/1").await;
    let address = page.attributes("input[name=address]", "value");
    assert_eq!(address, ["https://a.example/feed"]);
    assert_eq!(
        page.attributes("details button[name=act]", "value"),
        ["check"]
    );
    let request = [
        ("address", "https://new.example/page"),
        ("name", "Mine"),
        ("how", "html"),
        ("item", "li"),
        ("title", "a"),
        ("headers", "Accept-Language: de\r\nCookie: env:COOKIE"),
        ("user", "reader"),
        ("password", "env:PASSWORD"),
        ("robots", "off"),
        ("filters", "block title is x\r\n\r\nblock title is y"),
        ("full_text", "on"),
    ];
    let tried = [&request[..], &[("act", "check")]].concat();
    let tried = world.fill("/ui/sources/1/change", &tried).await;
    assert_eq!(tried.status, 200, "{}", tried.body);
    check_page(&tried);
    assert!(tried.texts("[role=status]")[0].contains("Nothing has been stored"));
    assert_eq!(tried.attributes("input[name=item]", "value"), ["li"]);
    let source = world.get("/api/v1/sources/1").await.json();
    assert_eq!(source["address"], "https://a.example/feed", "only tried");
    let answer = world.fill("/ui/sources/1/change", &request).await;
    assert_eq!(answer.leads_to(), "/ui/sources/1?did=changed");
    let source = world.get("/api/v1/sources/1").await.json();
    assert_eq!(source["address"], "https://new.example/page");
    assert_eq!(source["reading"]["item"], "li");
    let expected = serde_json::json!({
        "fetch": {
            "headers": {"Accept-Language": "de", "Cookie": "env:COOKIE"},
            "user": "reader",
            "password": "env:PASSWORD",
            "robots": false,
        },
        "filters": ["block title is x", "block title is y"],
        "full_text": true,
    });
    assert_eq!(source["options"], expected);
    let page = world.look_in_chinese("/ui/sources/1").await;
    check_page(&page);
    assert!(page.body.contains("env:COOKIE"), "references are shown");
    for (field, value) in [("bearer", "hunter2"), ("address", "https://b.example/feed")] {
        let mut wrong = request.to_vec();
        wrong.retain(|(name, _)| ![field, "user", "password"].contains(name));
        wrong.push((field, value));
        let answer = world.fill("/ui/sources/1/change", &wrong).await;
        assert_eq!(answer.status, 422, "{field}: {}", answer.body);
        check_page(&answer);
        assert_eq!(answer.attributes("input[name=name]", "value"), ["Mine"]);
    }
}

#[tokio::test]
async fn nobody_acts_without_the_form_of_this_session() {
    let world = filled().await;
    for act in ["check", "pause", "resume", "change", "remove"] {
        let answer = world
            .fill_with("", &format!("/ui/sources/1/{act}"), &[])
            .await;
        assert_eq!(answer.status, 403, "{act}");
    }
    for path in ["/ui/sources/add", "/ui/sources/choose", "/ui/sources/opml"] {
        let fields = [
            ("address", "https://new.example/feed"),
            ("opml", "n https://n.example/"),
        ];
        assert_eq!(
            world.fill_with("x", path, &fields).await.status,
            403,
            "{path}"
        );
    }
    let source = world.get("/api/v1/sources/1").await.json();
    assert_eq!(
        (source["state"].as_str(), source["name"].as_str()),
        (Some("active"), Some("A Weblog"))
    );
    assert_eq!(
        world.get("/api/v1/sources/stats").await.json()["total_sources"],
        4
    );
}

#[tokio::test]
async fn who_may_only_look_sees_no_acts_and_is_refused() {
    let store = SqliteStore::in_memory().unwrap();
    let (token, _) = made("read", Scope::Read);
    store.save_token(&token).await.unwrap();
    let (token, _) = made("operate", Scope::Operate);
    store.save_token(&token).await.unwrap();
    let world = World::with(store, Access::Tokens);
    let json = [
        ("authorization", "Bearer alm_operate"),
        ("content-type", "application/json"),
    ];
    let body = r#"{"address":"https://a.example/feed"}"#;
    world
        .send(with(Method::POST, "/api/v1/sources", body, &json))
        .await;
    let read = [("authorization", "Bearer alm_read")];
    for path in ["/ui/sources", "/ui/sources/1"] {
        let page = world.send(with(Method::GET, path, "", &read)).await;
        assert_eq!(page.status, 200, "{}", page.body);
        assert_eq!(page.texts("main form[method=post]").len(), 0, "{path}");
    }
    let answer = world
        .send(with(Method::POST, "/ui/sources/1/check", "", &read))
        .await;
    assert_eq!(answer.status, 403);
}

#[tokio::test]
async fn an_address_is_added_by_the_feed_it_leads_to() {
    let world = World::open();
    let request = [("address", "https://site.example/"), ("category", "news")];
    let answer = world.fill("/ui/sources/add", &request).await;
    assert_eq!(answer.leads_to(), "/ui/sources/1?did=added");
    let source = world.get("/api/v1/sources/1").await.json();
    assert_eq!(source["address"], "https://site.example/feed");
    assert_eq!(source["category"], "news");
    let again = world.fill("/ui/sources/add", &request).await;
    assert_eq!(again.leads_to(), "/ui/sources/1?did=there");
    // No server answers there; used directly, it is checked until one does.
    let request = [("address", "later.example/feed")];
    let refused = world.fill("/ui/sources/add", &request).await;
    assert_eq!(refused.status, 422);
    check_page(&refused);
    assert_eq!(
        refused.attributes("input[name=address]", "value"),
        ["later.example/feed"]
    );
    let request = [("address", "later.example/feed"), ("as_it_is", "yes")];
    let taken = world.fill("/ui/sources/add", &request).await;
    let (path, code) = taken.leads_to().split_once('?').unwrap();
    assert_eq!(code, "did=added");
    let path = path.replace("/ui/", "/api/v1/");
    let source = world.get(&path).await.json();
    assert_eq!(source["address"], "https://later.example/feed");
    for address in ["", "http://10.0.0.1/", "ftp://a.example/"] {
        let request = [("address", address), ("as_it_is", "yes")];
        assert_eq!(
            world.fill("/ui/sources/add", &request).await.status,
            422,
            "{address}"
        );
    }
}

#[tokio::test]
async fn of_several_feeds_a_person_chooses() {
    let world = World::open();
    world
        .add(r#"{"address":"https://many.example/known"}"#)
        .await;
    let answer = world
        .fill("/ui/sources/add", &[("address", "https://many.example/")])
        .await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    check_page(&answer);
    let offered = answer.attributes("input[name=address]", "value");
    assert_eq!(offered.len(), 3);
    assert_eq!(
        answer.attributes("input[disabled]", "value"),
        ["https://many.example/known"]
    );
    assert!(!answer.body.contains("<b>"), "titles are escaped");
    assert_eq!(
        world.get("/api/v1/sources/stats").await.json()["total_sources"],
        1
    );
    let none = world.fill("/ui/sources/choose", &[]).await;
    assert_eq!(none.leads_to(), "/ui/sources");
    let chosen = [
        ("address", "https://many.example/a"),
        ("address", "https://many.example/b"),
        ("address", "http://10.0.0.1/"),
        ("category", "news"),
    ];
    let answer = world.fill("/ui/sources/choose", &chosen).await;
    let rows = answer.texts("tbody tr");
    assert_eq!(rows[0], "https://many.example/a added source 2");
    assert_eq!(rows[1], "https://many.example/b added source 3");
    assert!(rows[2].contains("refused"), "{}", rows[2]);
    assert_eq!(
        world.get("/api/v1/sources/3").await.json()["category"],
        "news"
    );
}

#[tokio::test]
async fn a_list_is_imported_line_by_line_and_exported() {
    let world = World::open();
    let list = "One https://one.example/feed\nTwo http://10.0.0.1/\nbroken\n<b>Three</b> https://three.example/feed";
    let answer = world.fill("/ui/sources/opml", &[("opml", list)]).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    check_page(&answer);
    assert_eq!(
        answer.texts("main [role=status]"),
        ["2 added, 0 already existed, 2 refused."]
    );
    let rows = answer.texts("tbody tr");
    assert_eq!(rows[0], "`One` added source 1");
    assert!(rows[1].starts_with("`Two` refused"), "{}", rows[1]);
    assert!(!answer.body.contains("<b>Three"), "{}", answer.body);
    let again = world.fill("/ui/sources/opml", &[("opml", list)]).await;
    assert_eq!(
        again.texts("main [role=status]"),
        ["0 added, 2 already existed, 2 refused."]
    );
    let out = world.look("/ui/sources/export").await;
    assert_eq!(
        out.header("content-type"),
        Some("text/x-opml; charset=utf-8")
    );
    assert!(
        out.body.contains("One https://one.example/feed"),
        "{}",
        out.body
    );
}

/// A host that was asked, and one that was asked more.
async fn asked() -> World {
    let world = filled().await;
    let day = |host: &str, requests| HostDay {
        host: host.to_owned(),
        day: Day::of(world.clock.now()),
        counts: Counts {
            requests,
            bytes: 1_500_000,
            unchanged: requests / 4,
            limited: 2,
            asked: 3,
            kept: 2,
            requested: RequestedWaits {
                cache_s: Some(3_600),
                ..RequestedWaits::default()
            },
            ..Counts::default()
        },
    };
    let days = vec![day("a.example", 8), day("b.example", 40)];
    world.store.add_courtesy(days).await.unwrap();
    world
}

#[tokio::test]
async fn ss_26_the_courtesy_report_shows_every_host() {
    let world = asked().await;
    let page = world.look("/ui/sources/courtesy").await;
    let rows = page.texts("section[aria-labelledby=hosts] tbody tr");
    assert_eq!(
        rows,
        [
            "b.example 40 1.5 MB 25.0 % 2 0 0 Cache-Control 1 h 2 of 3",
            "a.example 8 1.5 MB 25.0 % 2 0 0 Cache-Control 1 h 2 of 3",
        ]
    );
    let one = world
        .look("/ui/sources/courtesy?host=a.example&days=1")
        .await;
    assert_eq!(
        one.texts("section[aria-labelledby=hosts] tbody tr").len(),
        1
    );
    let report = world
        .get("/api/v1/sources/courtesy?host=A.example")
        .await
        .json();
    assert_eq!(report["hosts"][0]["requests"], 8);
    assert_eq!(report["total"]["unchanged_share"], 25.0);
    assert_eq!(report["more"], false);
    let few = world.get("/api/v1/sources/courtesy?limit=1").await.json();
    assert_eq!(
        (&few["hosts"][0]["host"], &few["more"]),
        (&"b.example".into(), &true.into())
    );
    for wrong in ["days=0", "days=91", "limit=0", "host=a%0Ab", "x=1"] {
        let answer = world
            .get(&format!("/api/v1/sources/courtesy?{wrong}"))
            .await;
        assert!(
            [400, 422].contains(&answer.status),
            "{wrong}: {}",
            answer.body
        );
    }
}

#[tokio::test]
async fn ss_26_the_page_about_requests_needs_no_sign_in_and_names_no_host() {
    let world = asked().await;
    let closed = World::with(SqliteStore::in_memory().unwrap(), Access::Tokens);
    let page = closed.look("/about-requests").await;
    assert_eq!(page.status, 200);
    assert!(page.body.contains("robots.txt"));
    let page = world.look("/about-requests").await;
    check_page(&page);
    assert!(
        page.texts("dl.facts").concat().contains("48"),
        "{}",
        page.body
    );
    assert!(!page.body.contains("a.example"), "{}", page.body);
    assert_eq!(
        world.look_in_chinese("/about-requests").await.texts("h1"),
        ["关于我们的请求"]
    );
}
