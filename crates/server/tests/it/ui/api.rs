//! The API reference: complete without a script, and trying a call only from our own page.

use axum::http::Method;

use super::{
    browser::Browser,
    reading::{check_structure, in_chinese},
    sign_in::{by_password, guarded},
};
use crate::harness::{ARTICLE, World, with};

#[tokio::test]
async fn every_operation_is_in_the_list_and_on_its_page() {
    let world = World::open();
    let document = world.get("/api/v1/openapi.json").await.json();
    let list = world.get("/ui/api").await;
    assert_eq!(list.status, 200);
    check_structure(&list);
    for item in document["paths"].as_object().unwrap().values() {
        for operation in item.as_object().unwrap().values() {
            let (id, tag) = (&operation["operationId"], &operation["tags"][0]);
            let link = format!("/ui/api/{}#{}", tag.as_str().unwrap(), id.as_str().unwrap());
            assert!(list.body.contains(&link), "{link}");
        }
    }
    for resource in ["tasks", "schedules", "description"] {
        let page = world.get(&format!("/ui/api/{resource}")).await;
        check_structure(&page);
        assert!(page.body.contains("data-call"), "anybody here may try it");
    }
    assert_eq!(world.get("/ui/api/nothing").await.status, 404);
    let old = world.get("/api/docs").await;
    assert_eq!((old.status, old.header("location")), (307, Some("/ui/api")));
}

#[tokio::test]
async fn an_operation_shows_parameters_bodies_answers_and_a_command() {
    let world = World::open();
    let page = world.get("/ui/api/tasks").await.body;
    for said in [
        "id=\"put_task\"",
        "Needs scope operate.",
        "callback.url",
        "&quot;execute_at&quot;: &quot;2026-01-06T09:00:00+08:00&quot;",
        "curl -X PUT",
        "/api/v1/tasks/ARTICLE_PUBLISH/article:golden",
        "data-confirm=\"Really send PUT",
    ] {
        assert!(page.contains(said), "{said}");
    }
    let chinese = in_chinese(&world, "/ui/api/tasks").await.body;
    for said in ["需要 operate 权限。", "确定发送 PUT", "<span lang=\"en\">"] {
        assert!(chinese.contains(said), "{said}");
    }
}

#[tokio::test]
async fn a_word_filters_the_list() {
    let world = World::open();
    let found = world.get("/ui/api?q=receipts/").await.body;
    assert!(found.contains("#get_receipt") && !found.contains("#list_nodes"));
    let none = world.get("/ui/api?q=nothing-is-called-this").await.body;
    assert!(none.contains("No operation matches."));
}

/// A page of another site can make a browser send the session's cookie, but not that header.
#[tokio::test]
async fn a_session_calls_the_api_from_our_own_pages_only() {
    let world = guarded().await;
    let mut browser = Browser::new(&world);
    assert!(
        !browser
            .get("/ui/api/tasks")
            .await
            .body
            .contains("data-call"),
        "public, without trying"
    );
    by_password(&mut browser, "rita", "correct horse battery").await;
    assert!(
        browser
            .get("/ui/api/tasks")
            .await
            .body
            .contains("data-call")
    );
    let cookies: Vec<String> = browser
        .jar
        .iter()
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    let cookie = ("cookie", cookies.join("; "));
    let host = ("host", browser.host);
    for (site, status) in [
        (Some("same-origin"), 200),
        (Some("same-site"), 401),
        (Some("cross-site"), 401),
        (Some("none"), 401),
        (None, 401),
    ] {
        let mut headers = vec![(cookie.0, cookie.1.as_str()), host];
        headers.extend(site.map(|site| ("sec-fetch-site", site)));
        let answer = world
            .send(with(Method::GET, "/api/v1/tasks", "", &headers))
            .await;
        assert_eq!(answer.status, status, "{site:?}: {}", answer.body);
    }
    let own = [
        (cookie.0, cookie.1.as_str()),
        host,
        ("sec-fetch-site", "same-origin"),
    ];
    let refused = world.send(with(Method::DELETE, ARTICLE, "", &own)).await;
    assert_eq!(refused.code(), "scope_too_small", "a reader stays a reader");
    let foreign = [&own[..], &[("origin", "https://evil.example")]].concat();
    let refused = world
        .send(with(Method::DELETE, ARTICLE, "", &foreign))
        .await;
    assert_eq!(refused.code(), "foreign_origin");
}
