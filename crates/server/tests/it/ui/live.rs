//! Pages that are kept live, and what must not be requested twice.

use axum::{
    body::Body,
    http::{Method, StatusCode},
};
use http_body_util::BodyExt as _;
use tower::ServiceExt as _;

use super::reading::{all, fill, form_key};
use crate::harness::{ARTICLE, World, with};

const TASKS: &str = "/ui/live?page=%2Fui%2Ftasks";

struct Stream(Body);

impl Stream {
    async fn open(world: &World, path: &str) -> Self {
        let request = with(Method::GET, path, "", &[]);
        let response = world.app.clone().oneshot(request).await.unwrap();
        assert_eq!(response.status(), StatusCode::OK);
        let kind = response.headers()["content-type"].to_str().unwrap();
        assert_eq!(kind, "text/event-stream");
        Self(response.into_body())
    }

    /// The next event: its name, and what it carries.
    async fn next(&mut self) -> (String, String) {
        let frame = self.0.frame().await.unwrap().unwrap();
        let text = String::from_utf8(frame.into_data().unwrap().to_vec()).unwrap();
        let field = |name: &str| -> String {
            let lines = text.lines().filter_map(|line| line.strip_prefix(name));
            lines.collect::<Vec<_>>().join("\n")
        };
        (field("event: "), field("data: "))
    }
}

#[tokio::test]
async fn a_page_is_sent_when_it_changed_and_the_time_while_it_did_not() {
    let world = World::open();
    let mut stream = Stream::open(&world, TASKS).await;
    let (event, page) = stream.next().await;
    assert_eq!(event, "page");
    assert!(!page.contains(">article:42<"));
    assert_eq!(
        stream.next().await.0,
        "same",
        "nothing changed but the time"
    );
    let body = r#"{"execute_at":"2027-01-04T08:00:00Z"}"#;
    assert_eq!(world.put(ARTICLE, body).await.status, 201);
    let (event, page) = stream.next().await;
    assert_eq!(event, "page");
    assert!(page.contains("article:42"));
}

#[tokio::test]
async fn a_page_that_says_what_is_wrong_is_kept_live_too() {
    let world = World::open();
    let mut stream = Stream::open(&world, "/ui/live?page=%2Fui%2Ftasks%3Fkind%3Da%2Bb").await;
    assert_eq!(
        stream.next().await.0,
        "page",
        "or the browser would reload it for ever"
    );
}

#[tokio::test]
async fn what_is_not_there_ends_the_stream() {
    let world = World::open();
    let mut stream = Stream::open(&world, "/ui/live?page=%2Fui%2Fnowhere").await;
    assert_eq!(stream.next().await.0, "gone");
    assert!(stream.0.frame().await.is_none(), "that was all");
    for page in [
        "https%3A%2F%2Fevil.example",
        "%2Fapi%2Fdocs",
        "%2Fui%2Flive",
    ] {
        let answer = world.get(&format!("/ui/live?page={page}")).await;
        assert_eq!(answer.status, 422, "{page}");
    }
}

#[tokio::test]
async fn an_answer_to_a_form_is_not_asked_for_again() {
    let world = World::open();
    let page = world.get("/ui/tasks").await;
    assert!(all(&page, "html[data-still]").is_empty());
    // A kind that is not configured: the form comes back, as the answer to a POST.
    let fields = [
        ("kind", "UNKNOWN"),
        ("subject", "x"),
        ("clock", "2027-01-01T00:00"),
    ];
    let answer = fill(&world, "/ui/tasks/new", &fields).await;
    assert_eq!(answer.status, 422, "{}", answer.body);
    assert_eq!(all(&answer, "html[data-still]").len(), 1);
}

#[tokio::test]
async fn a_form_of_those_whom_nobody_knows_is_small() {
    let world = World::open();
    let key = form_key(&world, &[]).await;
    let form = [("content-type", "application/x-www-form-urlencoded")];
    let body = format!("form_key={key}&theme=dark&back={}", "a&".repeat(20_000));
    let answer = world
        .send(with(Method::POST, "/ui/preferences", &body, &form))
        .await;
    assert!((400..500).contains(&answer.status), "{}", answer.status);
    let body = format!("form_key={key}&theme=dark");
    let answer = world
        .send(with(Method::POST, "/ui/preferences", &body, &form))
        .await;
    assert_eq!(answer.status, 303, "{}", answer.body);
}
