//! Requests per source: headers, credentials, proxies, `robots.txt`, and what is counted of them.

use std::{collections::BTreeMap, sync::Mutex};

use almanack_core::{
    secret::{Secret, Secrets, Unavailable},
    source::{
        check::{FailureClass, Validators},
        courtesy::{Counts, Courtesy},
        options::{Fetch, Options},
        reading::HtmlRules,
    },
};
use axum::{
    Router,
    extract::Request,
    http::{HeaderMap, StatusCode, header::LOCATION},
    response::{IntoResponse, Response},
};
use jiff::SignedDuration;

use super::*;
use crate::fixture::serve;

const FEED: &str = "<rss version='2.0'><channel><title>News</title></channel></rss>";
const PAGE: &str = "<ul><li><a href='/1'>One</a></li></ul>";
const SECRET: &str = "hunter2-the-secret";

/// Knows one secret.
struct Safe;

#[async_trait]
impl Secrets for Safe {
    async fn read(&self, reference: &str, _: &str) -> Result<Secret, Unavailable> {
        let known = reference == "env:TOKEN";
        known.then(|| Secret::new(SECRET)).ok_or(Unavailable {
            why: "it is not released".to_owned(),
        })
    }
}

/// What a server was asked: address and headers.
#[derive(Clone, Default)]
struct Heard(Arc<Mutex<Vec<(String, HeaderMap)>>>);

impl Heard {
    fn paths(&self) -> Vec<String> {
        let heard = self.0.lock().unwrap();
        heard.iter().map(|(path, _)| path.clone()).collect()
    }

    fn last(&self, name: &str) -> Option<String> {
        let heard = self.0.lock().unwrap();
        let value = heard.last()?.1.get(name)?;
        Some(value.to_str().unwrap().to_owned())
    }
}

/// A server that remembers what it was asked and answers by path.
async fn server(
    answer: impl Fn(&str) -> Response + Clone + Send + Sync + 'static,
) -> (String, Heard) {
    let heard = Heard::default();
    let ear = heard.clone();
    let app = Router::new().fallback(move |request: Request| {
        let asked = (request.uri().to_string(), request.headers().clone());
        ear.0.lock().unwrap().push(asked);
        let answered = answer(request.uri().path());
        async move { answered }
    });
    (serve(app).await, heard)
}

fn text(body: &'static str) -> Response {
    body.into_response()
}

fn page_ask(address: &str) -> Ask {
    Ask {
        reading: Reading::Html(HtmlRules {
            item: "li".to_owned(),
            title: "a".to_owned(),
            link: None,
            date: None,
            summary: None,
        }),
        ..ask(address)
    }
}

fn with_fetch(ask: Ask, fetch: Fetch) -> Ask {
    let options = Options {
        fetch,
        ..Options::default()
    };
    Ask { options, ..ask }
}

fn bearer() -> Fetch {
    Fetch {
        bearer: Some("env:TOKEN".to_owned()),
        headers: BTreeMap::from([("X-Key".to_owned(), "plain".to_owned())]),
        user_agent: Some("reader/7".to_owned()),
        ..Fetch::default()
    }
}

#[tokio::test]
async fn ss_26_credentials_reach_the_source_and_end_where_a_redirect_leaves_it() {
    let (other, elsewhere) = server(|_| text(FEED)).await;
    let there = format!("{other}/feed");
    let (home, heard) = server(move |path| match path {
        "/feed" => text(FEED),
        "/near" => (StatusCode::FOUND, [(LOCATION, "/feed")]).into_response(),
        _ => (StatusCode::MOVED_PERMANENTLY, [(LOCATION, there.clone())]).into_response(),
    })
    .await;
    let checker = checker(&client()).with_secrets(Arc::new(Safe));
    for path in ["/feed", "/near"] {
        let ask = with_fetch(ask(&format!("{home}{path}")), bearer());
        outcome(checker.look(&ask, now()).await).unwrap();
        assert_eq!(
            heard.last("authorization"),
            Some(format!("Bearer {SECRET}"))
        );
        assert_eq!(heard.last("x-key").as_deref(), Some("plain"));
        assert_eq!(heard.last("user-agent").as_deref(), Some("reader/7"));
    }
    let away = with_fetch(ask(&format!("{home}/away")), bearer());
    let document = outcome(checker.look(&away, now()).await).unwrap();
    assert_eq!(elsewhere.last("authorization"), None, "another origin");
    assert_eq!(elsewhere.last("x-key"), None, "another origin");
    assert_eq!(elsewhere.last("user-agent").as_deref(), Some("reader/7"));
    assert_eq!(
        document.moved_to, None,
        "it would take its credentials along"
    );
    let open = ask(&format!("{home}/away"));
    let document = outcome(checker.look(&open, now()).await).unwrap();
    assert_eq!(
        document.moved_to,
        Some(format!("{other}/feed")),
        "others follow"
    );
}

#[tokio::test]
async fn ss_26_a_secret_that_is_not_there_is_named_and_nothing_is_sent() {
    let (home, heard) = server(|_| text(FEED)).await;
    let fetch = Fetch {
        bearer: Some("env:OTHER".to_owned()),
        ..Fetch::default()
    };
    let asked = with_fetch(ask(&format!("{home}/feed")), fetch);
    let checker = checker(&client()).with_secrets(Arc::new(Safe));
    let failure = outcome(checker.look(&asked, now()).await).unwrap_err();
    assert_eq!(failure.class, FailureClass::Unauthorised);
    assert!(failure.detail.contains("`env:OTHER`"), "{}", failure.detail);
    assert_eq!(heard.paths().len(), 0);
}

#[tokio::test]
async fn ss_26_discovery_requests_a_site_with_the_same_options() {
    let (other, elsewhere) = server(|_| text(FEED)).await;
    let there = format!("{other}/");
    let (home, heard) = server(move |path| match path {
        "/" => text(FEED),
        _ => (StatusCode::FOUND, [(LOCATION, there.clone())]).into_response(),
    })
    .await;
    let checker = checker(&client()).with_secrets(Arc::new(Safe));
    let options = with_fetch(ask(""), bearer()).options;
    checker.discover(&home, &options, now()).await.unwrap();
    assert_eq!(
        heard.last("authorization"),
        Some(format!("Bearer {SECRET}"))
    );
    checker
        .discover(&format!("{home}/x"), &options, now())
        .await
        .unwrap();
    assert_eq!(elsewhere.last("authorization"), None);
}

#[tokio::test]
async fn ss_26_a_proxy_is_used_and_is_an_address_like_any_other() {
    let (proxy, heard) = server(|_| text(FEED)).await;
    let through = |proxy: &str| Fetch {
        proxy: Some(proxy.to_owned()),
        headers: BTreeMap::from([("Proxy-Authorization".to_owned(), "env:TOKEN".to_owned())]),
        ..Fetch::default()
    };
    let checker = checker(&client()).with_secrets(Arc::new(Safe));
    let asked = with_fetch(ask("http://far.example/feed"), through(&proxy));
    outcome(checker.look(&asked, now()).await).unwrap();
    assert_eq!(heard.paths(), ["http://far.example/feed"]);
    assert_eq!(heard.last("proxy-authorization").as_deref(), Some(SECRET));
    for (address, proxy, why) in [
        (
            "http://far.example/feed",
            "http://10.0.0.1:3128",
            "a private proxy",
        ),
        (
            "http://far.example/feed",
            "http://127.0.0.1:25",
            "a port of something else",
        ),
        (
            "http://10.0.0.1/feed",
            proxy.as_str(),
            "a private target through a proxy",
        ),
    ] {
        let asked = with_fetch(ask(address), through(proxy));
        let failure = outcome(checker.look(&asked, now()).await).unwrap_err();
        assert_eq!(
            failure.class,
            FailureClass::Refused,
            "{why}: {}",
            failure.detail
        );
    }
    assert_eq!(heard.paths().len(), 1);
}

#[tokio::test]
async fn ss_26_pages_ask_robots_first_and_feeds_do_not() {
    const ROBOTS: &str = "user-agent: *\ndisallow: /private\ncrawl-delay: 7200";
    let (home, heard) = server(|path| match path {
        "/robots.txt" => text(ROBOTS),
        "/leads" => (StatusCode::FOUND, [(LOCATION, "/private")]).into_response(),
        "/feed" => text(FEED),
        _ => text(PAGE),
    })
    .await;
    let checker = checker(&client());
    let at = |path: &str| format!("{home}{path}");
    outcome(checker.look(&ask(&at("/feed")), now()).await).unwrap();
    assert_eq!(heard.paths(), ["/feed"], "a feed is for programs");
    let document = outcome(checker.look(&page_ask(&at("/open")), now()).await).unwrap();
    assert_eq!(document.hints.every, Some(7_200), "Crawl-delay is a floor");
    for path in ["/private/x", "/leads"] {
        let failure = outcome(checker.look(&page_ask(&at(path)), now()).await).unwrap_err();
        assert_eq!(failure.class, FailureClass::Forbidden, "{path}");
        assert!(
            failure.detail.contains("Disallow: /private"),
            "{}",
            failure.detail
        );
    }
    let asked = ["/feed", "/robots.txt", "/open", "/leads"];
    assert_eq!(
        heard.paths(),
        asked,
        "the file once, a forbidden page never"
    );
    let ignoring = |robots| Fetch {
        robots: Some(robots),
        ..Fetch::default()
    };
    let page = with_fetch(page_ask(&at("/private")), ignoring(false));
    let later = now() + SignedDuration::from_mins(1);
    outcome(checker.look(&page, later).await).unwrap();
    let feed = with_fetch(ask(&at("/private/feed")), ignoring(true));
    let failure = outcome(checker.look(&feed, later).await).unwrap_err();
    assert_eq!(failure.class, FailureClass::Forbidden, "as its options say");
}

#[tokio::test]
async fn ss_26_a_robots_file_that_is_absent_allows_and_one_that_fails_forbids() {
    for (status, expected) in [
        (StatusCode::NOT_FOUND, None),
        (StatusCode::FORBIDDEN, None),
        (StatusCode::TOO_MANY_REQUESTS, Some(FailureClass::Server)),
        (StatusCode::BAD_GATEWAY, Some(FailureClass::Server)),
    ] {
        let (home, heard) = server(move |path| match path {
            "/robots.txt" => status.into_response(),
            _ => text(PAGE),
        })
        .await;
        let (checker, asked) = (checker(&client()), page_ask(&format!("{home}/page")));
        let result = outcome(checker.look(&asked, now()).await);
        assert_eq!(result.err().map(|it| it.class), expected, "{status}");
        let later = |hours| now() + SignedDuration::from_hours(hours);
        let _ = checker.look(&asked, later(1)).await;
        let files = |heard: &Heard| {
            heard
                .paths()
                .iter()
                .filter(|it| *it == "/robots.txt")
                .count()
        };
        let tries = if expected.is_some() { 2 } else { 1 };
        assert_eq!(
            files(&heard),
            tries,
            "{status}: one that fails is tried again sooner"
        );
        let week = outcome(checker.look(&asked, later(7 * 24 + 1)).await);
        assert!(week.is_ok(), "{status}: nobody stays away for ever");
    }
}

#[tokio::test]
async fn ss_26_requests_are_counted_by_host_where_they_are_made() {
    let (home, _) = server(|path| match path {
        "/feed" => ([("etag", "\"1\"")], FEED).into_response(),
        "/same" => StatusCode::NOT_MODIFIED.into_response(),
        "/busy" => StatusCode::TOO_MANY_REQUESTS.into_response(),
        "/moved" => (StatusCode::FOUND, [(LOCATION, "/feed")]).into_response(),
        _ => StatusCode::NOT_FOUND.into_response(),
    })
    .await;
    let courtesy = Arc::new(Courtesy::default());
    let checker = checker(&client()).counted_in(&courtesy);
    let known = Validators {
        etag: Some("\"1\"".to_owned()),
        last_modified: None,
    };
    for path in ["/feed", "/same", "/moved", "/gone", "/busy", "/held"] {
        let asked = Ask {
            validators: known.clone(),
            ..ask(&format!("{home}{path}"))
        };
        let _ = checker.look(&asked, now()).await;
    }
    let _ = checker.look(&ask("http://10.0.0.1/feed"), now()).await;
    let counted = courtesy.take();
    let counts = Counts {
        requests: 6,
        bytes: 2 * FEED.len() as u64,
        unchanged: 1,
        limited: 1,
        failed: 1,
        ..Counts::default()
    };
    let counted: Vec<_> = counted.into_iter().map(|it| (it.host, it.counts)).collect();
    assert_eq!(counted, [("127.0.0.1".to_owned(), counts)]);
}
