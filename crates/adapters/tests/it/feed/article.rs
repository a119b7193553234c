//! Articles that entries link to (SS-24).

use almanack_core::source::check::{Article, FailureClass};
use axum::{Router, http::StatusCode, response::Html, routing::get};

use super::*;
use crate::fixture::serve;

/// A site with an article, a page without one, and one that is not there.
async fn site() -> String {
    let paragraph = "The harbour was quiet that morning, and the ferries left on time, one after the other, as they had for years.";
    let page = format!(
        "<html><body><nav><a href=/>Home</a></nav><article>{}</article></body></html>",
        format!("<p>{paragraph}</p>").repeat(8)
    );
    let router = Router::new()
        .route("/article", get(move || async move { Html(page) }))
        .route(
            "/empty",
            get(|| async { Html("<html><body></body></html>") }),
        )
        .route("/busy", get(|| async { StatusCode::TOO_MANY_REQUESTS }))
        .route(
            "/robots.txt",
            get(|| async { "User-agent: *\nDisallow: /members" }),
        );
    serve(router).await
}

#[tokio::test]
async fn ss_24_an_article_is_read_and_what_is_none_is_a_failure() {
    let (site, client) = (site().await, client());
    let checker = checker(&client);
    let read = checker.article(&format!("{site}/article"), now()).await;
    let Article::Text(text) = read else {
        panic!("{read:?}");
    };
    assert_eq!(text.matches("The harbour was quiet").count(), 8);
    for (path, class) in [
        ("/empty", FailureClass::Malformed),
        ("/missing", FailureClass::NotFound),
        ("/members/article", FailureClass::Forbidden),
    ] {
        let read = checker.article(&format!("{site}{path}"), now()).await;
        let Article::Failed(failure) = read else {
            panic!("{path}: {read:?}");
        };
        assert_eq!(failure.class, class, "{path}");
    }
    let read = checker.article("http://10.0.0.1/", now()).await;
    let Article::Failed(failure) = read else {
        panic!("{read:?}");
    };
    assert_eq!(failure.class, FailureClass::Refused);
}

#[tokio::test]
async fn ss_24_articles_keep_to_the_pace_of_their_host() {
    let (site, client) = (site().await, client());
    let checker = checker(&client);
    for _ in 0..Pace::default().requests {
        checker.article(&format!("{site}/missing"), now()).await;
    }
    let read = checker.article(&format!("{site}/article"), now()).await;
    assert!(matches!(read, Article::Wait(at) if at > now()), "{read:?}");
    let other = self::checker(&client);
    other.article(&format!("{site}/busy"), now()).await;
    let look = other.look(&ask(&format!("{site}/feed")), now()).await;
    assert!(
        matches!(look, Look::Wait(_)),
        "its sources wait, too: {look:?}"
    );
}
