//! What a browser has to fetch for a page, on a node with a lot to show.

use almanack_core::reschedule::{Request, decide};
use almanack_core::store::TaskStore as _;
use almanack_testkit::fixture::{START, at as instant, put};
use axum::http::Method;
use http_body_util::BodyExt as _;
use tower::ServiceExt as _;

use super::reading::attributes;
use crate::harness::{World, with};

/// Compressed, as a browser asks for it.
async fn bytes(world: &World, path: &str) -> usize {
    let request = with(Method::GET, path, "", &[("accept-encoding", "gzip")]);
    let response = world.app.clone().oneshot(request).await.unwrap();
    assert_eq!(response.status(), 200, "{path}");
    assert_eq!(response.headers()["content-encoding"], "gzip", "{path}");
    response
        .into_body()
        .collect()
        .await
        .unwrap()
        .to_bytes()
        .len()
}

/// Sixty schedules and twenty kinds, each with more ahead than is shown.
async fn busy() -> World {
    let world = World::open();
    for n in 0..60 {
        let path = format!("/api/v1/schedules/schedule-number-{n}");
        let every = n % 7 + 3;
        let body = format!(
            r#"{{"expression":"@every {every}m","target":{{"type":"webhook","url":"https://example.org/hook"}}}}"#
        );
        assert_eq!(world.put(&path, &body).await.status, 201);
    }
    let request = |n: i64| {
        let (subject, kind) = (format!("subject:{n}"), format!("KIND_NUMBER_{}", n % 20));
        Request::Put(put(&subject, &kind, instant(60 + n * 7 % 40_000)))
    };
    let decided = |n| decide(None, &request(n), "api:ada", START).unwrap();
    world
        .store
        .apply((0..8_000).map(decided).collect())
        .await
        .unwrap();
    world
}

#[tokio::test]
async fn the_first_page_stays_small_however_much_there_is() {
    let world = busy().await;
    let page = world.get("/ui").await;
    let lanes = page.body.matches("KIND_NUMBER_").count();
    assert!(lanes > 10, "the day is on it");
    let mut all = bytes(&world, "/ui").await;
    for (element, name) in [
        ("link[rel=stylesheet]", "href"),
        ("script[src]", "src"),
        ("link[rel=icon]", "href"),
    ] {
        for asset in attributes(&page, element, name) {
            all += bytes(&world, &asset).await;
        }
    }
    assert!((10_000..=30_000).contains(&all), "{all} bytes");
}
