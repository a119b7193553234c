//! From a site's address to its feeds.

use std::{
    sync::atomic::{AtomicUsize, Ordering},
    time::Duration,
};

use almanack_core::source::{check::FailureClass, options::Options};
use axum::{Router, http::StatusCode, response::Html, routing::get};

use super::*;
use crate::fixture::serve;

const FEED: &str = "<feed xmlns='http://www.w3.org/2005/Atom'><title>News</title></feed>";

#[tokio::test]
async fn ss_12_a_sites_feeds_are_found() {
    let (world, _guard) = world().await;
    let number = world
        .handle
        .feeds_where(|feed| feed.document.is_feed())
        .next()
        .unwrap();
    let by_page = checker(&client())
        .discover(&world.handle.site_url(number), &Options::default(), now())
        .await
        .unwrap();
    let address = world.handle.feed_url(number);
    assert!(
        by_page.iter().any(|feed| feed.address == address),
        "{by_page:?}"
    );
    let by_itself = checker(&client())
        .discover(&address, &Options::default(), now())
        .await
        .unwrap();
    assert_eq!(by_itself[0].address, address);
    assert!(by_itself[0].title.is_some());
}

#[tokio::test]
async fn pages_name_their_feeds_in_many_ways() {
    let page = "<!doctype html><head><base href='/blog/'>\
        <link rel='alternate' type='application/rss+xml' title=' The\n feed ' href='rss'>\
        <link REL='ALTERNATE home' TYPE='application/atom+xml; charset=utf-8' href='//127.0.0.1/atom'>\
        <link rel='alternate' type='application/feed+json' href='f.json'>\
        <link rel='alternate' type='application/rss+xml' href='rss'>\
        <link rel='alternate' type='application/rss+xml' href='javascript:x'>\
        <link rel='alternate' type='text/html' hreflang='de' href='/de'>\
        <link rel='stylesheet' type='application/rss+xml' href='no'>";
    let site = serve(Router::new().route("/", get(move || async move { Html(page) }))).await;
    let found = checker(&client())
        .discover(&site, &Options::default(), now())
        .await
        .unwrap();
    let feeds: Vec<_> = found
        .iter()
        .map(|feed| {
            (
                feed.address.as_str(),
                feed.format.as_deref(),
                feed.title.as_deref(),
            )
        })
        .collect();
    assert_eq!(
        feeds,
        [
            (
                format!("{site}/blog/rss").as_str(),
                Some("rss"),
                Some("The feed")
            ),
            ("http://127.0.0.1/atom", Some("atom"), None),
            (format!("{site}/blog/f.json").as_str(), Some("json"), None),
        ]
    );
}

#[tokio::test]
async fn usual_paths_are_tried_with_a_handful_of_requests() {
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let fallback = move || {
        count.fetch_add(1, Ordering::SeqCst);
        async { Html("<title>Nothing here</title>") }
    };
    let without = Router::new().fallback(fallback);
    let site = serve(without).await;
    let failure = checker(&client())
        .discover(&format!("{site}/a/b/"), &Options::default(), now())
        .await
        .unwrap_err();
    assert_eq!(failure.class, FailureClass::NotAFeed);
    insta::assert_snapshot!(failure.detail, @"no feed found: the page names none, and none is at the usual paths (feed, rss.xml, atom.xml, index.xml, feed.json)");
    assert!(asked.load(Ordering::SeqCst) <= 12);

    let with = Router::new()
        .route("/", get(|| async { Html("<title>Home</title>") }))
        .route("/atom.xml", get(|| async { FEED }));
    let site = serve(with).await;
    let found = checker(&client())
        .discover(&site, &Options::default(), now())
        .await
        .unwrap();
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].address, format!("{site}/atom.xml"));
    assert_eq!(
        (found[0].format.as_deref(), found[0].title.as_deref()),
        (Some("atom"), Some("News"))
    );
}

/// A redirect to another path of the same site.
fn to(path: &'static str) -> [(&'static str, &'static str); 1] {
    [("location", path)]
}

#[tokio::test]
async fn ss_12_only_a_move_for_good_replaces_the_address_that_was_asked_for() {
    let (for_good, found) = (StatusCode::MOVED_PERMANENTLY, StatusCode::FOUND);
    let (lasting, temporary) = (
        StatusCode::PERMANENT_REDIRECT,
        StatusCode::TEMPORARY_REDIRECT,
    );
    let site = Router::new()
        .route("/news", get(|| async { FEED }))
        .route("/301", get(move || async move { (for_good, to("/news")) }))
        .route("/308", get(move || async move { (lasting, to("/301")) }))
        .route("/302", get(move || async move { (found, to("/news")) }))
        .route("/307", get(move || async move { (temporary, to("/news")) }))
        .route(
            "/301-302",
            get(move || async move { (for_good, to("/302")) }),
        )
        .route("/302-301", get(move || async move { (found, to("/301")) }))
        .route("/blog/", get(|| async { Html("<title>Home</title>") }))
        .route(
            "/blog/atom.xml",
            get(move || async move { (found, to("/news")) }),
        );
    let site = serve(site).await;
    for (asked, kept, why) in [
        ("/news", "/news", "no redirect"),
        ("/301", "/news", "for good"),
        ("/308", "/news", "for good, twice"),
        ("/302", "/302", "for now"),
        ("/307", "/307", "for now"),
        ("/301-302", "/301-302", "not every hop"),
        ("/302-301", "/302-301", "not every hop"),
        (
            "/blog/",
            "/blog/atom.xml",
            "a usual path that redirects for now",
        ),
    ] {
        let found = checker(&client())
            .discover(&format!("{site}{asked}"), &Options::default(), now())
            .await;
        let addresses: Vec<String> = found
            .unwrap()
            .into_iter()
            .map(|feed| feed.address)
            .collect();
        assert_eq!(addresses, [format!("{site}{kept}")], "{why}");
    }
}

#[tokio::test]
async fn what_cannot_be_asked_is_reported() {
    for (site, class) in [
        ("no-such-host.invalid", FailureClass::Dns),
        ("http://10.0.0.1/", FailureClass::Refused),
        ("file:///etc/passwd", FailureClass::Refused),
    ] {
        let failure = checker(&client())
            .discover(site, &Options::default(), now())
            .await
            .unwrap_err();
        assert_eq!(failure.class, class, "{site}");
    }
}

#[test]
fn what_could_never_be_looked_at_is_reported_at_once() {
    let checker = checker(&client());
    let problem = |address: &str| checker.problem(address, &Reading::Feed);
    assert_eq!(problem("https://site.example/feed"), None);
    assert_eq!(problem("http://127.0.0.1/feed"), None, "allowed");
    assert!(problem("http://10.0.0.1/feed").is_some());
    assert!(problem("ftp://site.example/feed").is_some());
    let rules = serde_json::from_str(r#"{"how": "json", "items": "$[", "title": "$.a"}"#).unwrap();
    assert!(checker.problem("https://site.example/", &rules).is_some());
}

#[tokio::test]
async fn ss_12_discovery_keeps_to_the_limits_of_checks() {
    let silent = serve(Router::new().fallback(std::future::pending::<()>)).await;
    let large = serve(Router::new().fallback(|| async { FEED })).await;
    let limits = Limits {
        total: Duration::from_millis(200),
        ..Limits::default()
    };
    let hasty = checker_within(&client(), limits);
    let failure = hasty
        .discover(&silent, &Options::default(), now())
        .await
        .unwrap_err();
    assert_eq!(failure.detail, "no answer in time (0.2 s)");
    let limits = Limits {
        body_bytes: FEED.len() - 1,
        ..Limits::default()
    };
    let sparing = checker_within(&client(), limits);
    let failure = sparing
        .discover(&large, &Options::default(), now())
        .await
        .unwrap_err();
    assert_eq!(failure.class, FailureClass::TooLarge);
}

/// Does not even know whether there is such a name.
struct Speechless;

#[async_trait]
impl Resolve for Speechless {
    async fn resolve(&self, _host: &str) -> Result<Vec<IpAddr>, NoName> {
        std::future::pending().await
    }
}

#[tokio::test(start_paused = true)]
async fn ss_12_discovery_ends_in_a_sentence_before_who_asked_is_sent_away() {
    let patient = Duration::from_secs(1000);
    let client = Client::new(&Settings {
        resolver: Arc::new(Speechless),
        connect_timeout: patient,
        ..Settings::new(Guard::new(Vec::new(), "sources.allow"))
    })
    .unwrap();
    let limits = Limits {
        total: patient,
        ..Limits::default()
    };
    let checker = checker_within(&client, limits);
    let failure = checker
        .discover("site.example", &Options::default(), now())
        .await
        .unwrap_err();
    assert_eq!(failure.class, FailureClass::Timeout);
    insta::assert_snapshot!(failure.detail, @"no feed found within 20 s: the site is too slow");
}
