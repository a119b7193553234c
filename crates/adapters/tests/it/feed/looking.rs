//! Polite behaviour: conditional requests, moves, limits, host paces.

use std::sync::Mutex;

use almanack_core::source::{
    check::FailureClass,
    reading::{HtmlRules, JsonRules, SitemapRules},
};
use almanack_lab::feeds::{
    document::Document as Form,
    fault::{Fault, Rule, When},
};
use axum::{Router, http::HeaderMap, http::StatusCode, routing::get};
use jiff::SignedDuration;
use tokio::sync::Notify;

use super::*;
use crate::fixture::serve;

fn reading(form: Form) -> Reading {
    let some = |text: &str| Some(text.to_owned());
    match form {
        Form::Page => Reading::Html(HtmlRules {
            item: "li.post".to_owned(),
            title: "a.title".to_owned(),
            link: some("a.title"),
            date: some("time"),
            summary: some("p.summary"),
        }),
        Form::Api => Reading::Json(JsonRules {
            items: "$.data.items[*]".to_owned(),
            title: "$.title".to_owned(),
            link: some("$.url"),
            id: some("$.id"),
            date: some("$.published_at"),
            summary: some("$.summary"),
        }),
        Form::Sitemap => Reading::Sitemap(SitemapRules::default()),
        _ => Reading::Feed,
    }
}

#[tokio::test]
async fn ss_12_every_form_of_every_feed_reads_the_same() {
    let (world, _guard) = world().await;
    let client = client();
    for number in 0..8 {
        let entries = world.handle.entries(number);
        for form in Form::ALL {
            let ask = Ask {
                reading: reading(form),
                ..ask(&world.handle.document_url(number, form))
            };
            let document = outcome(checker(&client).look(&ask, now()).await).unwrap();
            let titles = |document: &Document| -> Vec<String> {
                document
                    .entries
                    .iter()
                    .map(|found| found.title.clone())
                    .collect()
            };
            let expected: Vec<String> = entries.iter().map(|entry| entry.title.clone()).collect();
            assert_eq!(titles(&document), expected, "feed {number} as {form:?}");
            let times: Vec<Option<i64>> = document
                .entries
                .iter()
                .map(|found| Some(found.published_at?.as_second()))
                .collect();
            let expected: Vec<Option<i64>> = entries
                .iter()
                .map(|entry| (form != Form::Rss091).then(|| entry.published_at.as_second()))
                .collect();
            assert_eq!(times, expected, "feed {number} as {form:?}");
        }
    }
}

#[tokio::test]
async fn ss_12_validators_go_back_byte_for_byte() {
    type Heard = Arc<Mutex<Vec<(Option<String>, Option<String>)>>>;
    let heard = Heard::default();
    let ear = Arc::clone(&heard);
    let handler = move |headers: HeaderMap| {
        let text = |name: &str| Some(headers.get(name)?.to_str().ok()?.to_owned());
        let sent = (text("if-none-match"), text("if-modified-since"));
        let is_known = sent.0.is_some();
        ear.lock().unwrap().push(sent);
        let validators = [
            ("etag", "W/\"a  b\\\"'\""),
            ("last-modified", "Thu, 1 jan 2026 0:00:00 gmt"),
        ];
        async move {
            if is_known {
                (StatusCode::NOT_MODIFIED, validators, String::new())
            } else {
                let feed = "<rss version='2.0'><channel><ttl>5</ttl></channel></rss>";
                (StatusCode::OK, validators, feed.to_owned())
            }
        }
    };
    let address = format!(
        "{}/feed",
        serve(Router::new().route("/feed", get(handler))).await
    );
    let checker = checker(&client());
    let document = outcome(checker.look(&ask(&address), now()).await).unwrap();
    assert_eq!(document.hints.every, Some(300));
    let again = Ask {
        validators: document.validators,
        ..ask(&address)
    };
    let look = checker.look(&again, now()).await;
    assert!(matches!(look, Look::Unchanged(_)), "{look:?}");
    let sent = (
        Some("W/\"a  b\\\"'\"".to_owned()),
        Some("Thu, 1 jan 2026 0:00:00 gmt".to_owned()),
    );
    assert_eq!(*heard.lock().unwrap(), [(None, None), sent]);
}

#[tokio::test]
async fn ss_12_nothing_new_is_unchanged_until_something_is() {
    let (world, _guard) = world().await;
    let client = client();
    let is_plain = |feed: &almanack_lab::feeds::feed::Feed| {
        (feed.etag || feed.last_modified) && feed.document.is_feed()
    };
    let number = world.handle.feeds_where(is_plain).next().unwrap();
    let first = look(&client, &world.handle.feed_url(number)).await.unwrap();
    let again = Ask {
        validators: first.validators,
        ..ask(&world.handle.feed_url(number))
    };
    let unchanged = checker(&client).look(&again, now()).await;
    assert!(matches!(unchanged, Look::Unchanged(_)), "{unchanged:?}");
    world.handle.publish(number, "Extra");
    let document = outcome(checker(&client).look(&again, now()).await).unwrap();
    assert_eq!(document.entries[0].title, "Extra");
}

#[tokio::test]
async fn ss_12_moves_for_good_are_reported_and_others_followed() {
    let (world, _guard) = world().await;
    let number = world
        .handle
        .feeds_where(|feed| feed.document.is_feed())
        .next()
        .unwrap();
    let address = world.handle.feed_url(number);
    for (status, is_for_good) in [(301, true), (308, true), (302, false), (307, false)] {
        world.handle.clear_faults();
        let moved = Rule::feed(number, When::Always, Fault::moved(status));
        world.handle.add_fault(moved);
        let document = look(&client(), &address).await.unwrap();
        assert_eq!(document.moved_to.is_some(), is_for_good, "{status}");
        assert!(!document.entries.is_empty());
    }
    for (status, class) in [
        (401, FailureClass::Unauthorised),
        (403, FailureClass::Forbidden),
        (404, FailureClass::NotFound),
        (410, FailureClass::Gone),
        (500, FailureClass::Server),
    ] {
        world.handle.clear_faults();
        let refused = Rule::feed(number, When::Always, Fault::Status(status));
        world.handle.add_fault(refused);
        let failure = look(&client(), &address).await.unwrap_err();
        assert_eq!(failure.class, class, "{status}");
    }
}

#[tokio::test]
async fn ss_14_a_host_that_asks_for_it_is_left_alone_by_all_its_sources() {
    let (world, _guard) = world().await;
    let checker = checker(&client());
    let limited = ask(&world.handle.hostile_url("limited-seconds.xml"));
    let failure = outcome(checker.look(&limited, now()).await).unwrap_err();
    assert_eq!(failure.retry_after, Some(SignedDuration::from_mins(30)));
    let other = ask(&world.handle.hostile_url("plain.xml"));
    let Look::Wait(at) = checker.look(&other, now()).await else {
        panic!("the host wants to be left alone");
    };
    assert!(at >= now() + SignedDuration::from_mins(30));
    let later = checker.look(&other, at).await;
    assert!(matches!(later, Look::Document(_)), "{later:?}");
}

#[tokio::test]
async fn ss_14_a_busy_host_costs_no_request() {
    let (world, _guard) = world().await;
    let checker = checker(&client());
    let plain = ask(&world.handle.hostile_url("plain.xml"));
    let mut waits = 0;
    for _ in 0..8 {
        match checker.look(&plain, now()).await {
            Look::Wait(at) => {
                assert!(at > now());
                waits += 1;
            }
            look => assert!(matches!(look, Look::Document(_)), "{look:?}"),
        }
    }
    assert_eq!(waits, 3, "five within ten seconds");
}

/// A client that knows every name, and all of them lead here.
fn well_known() -> Client {
    struct Here;
    #[async_trait]
    impl Resolve for Here {
        async fn resolve(&self, _host: &str) -> Result<Vec<IpAddr>, NoName> {
            Ok(vec![[127, 0, 0, 1].into()])
        }
    }
    let guard = Guard::new(vec![parse_net("127.0.0.0/8").unwrap()], "sources.allow");
    let resolver = Arc::new(Here);
    Client::new(&Settings {
        resolver,
        ..Settings::new(guard)
    })
    .unwrap()
}

/// The same address at another name.
fn named(name: &str, address: &str) -> String {
    let mut url = url::Url::parse(address).unwrap();
    url.set_host(Some(name)).unwrap();
    url.into()
}

/// A server whose every path redirects to `to`.
async fn redirecting(to: String) -> String {
    let moved = move || {
        let to = to.clone();
        async move { (StatusCode::FOUND, [("location", to)]) }
    };
    serve(Router::new().fallback(moved)).await
}

#[tokio::test]
async fn ss_14_a_redirected_429_holds_who_answered_and_not_who_redirects() {
    let (world, _guard) = world().await;
    let checker = checker(&well_known());
    let limited = world.handle.hostile_url("limited-seconds.xml");
    let site = redirecting(named("platform.test", &limited)).await;
    let failure = outcome(checker.look(&ask(&named("one.test", &site)), now()).await);
    assert_eq!(failure.unwrap_err().class, FailureClass::RateLimited);
    let plain = world.handle.hostile_url("plain.xml");
    for (address, why) in [
        (named("platform.test", &plain), "the host that answered"),
        (named("two.test", &site), "another that redirects there"),
    ] {
        let look = checker.look(&ask(&address), now()).await;
        let until = now() + SignedDuration::from_mins(30);
        assert!(
            matches!(look, Look::Wait(at) if at >= until),
            "{why}: {look:?}"
        );
    }
    for host in ["one.test", "three.test"] {
        let elsewhere = checker.look(&ask(&named(host, &plain)), now()).await;
        assert!(matches!(elsewhere, Look::Document(_)), "{elsewhere:?}");
    }
}

#[tokio::test]
async fn ss_14_sources_that_redirect_to_one_host_are_paced_as_its_own() {
    let (arrived, release) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let (bell, gate) = (Arc::clone(&arrived), Arc::clone(&release));
    let slow = move || async move {
        bell.notify_one();
        gate.notified().await;
        "<rss version='2.0'><channel/></rss>"
    };
    let platform = serve(Router::new().route("/feed", get(slow))).await;
    let site = redirecting(named("platform.test", &format!("{platform}/feed"))).await;
    let checker = Arc::new(checker(&well_known()));
    let (one, first) = (Arc::clone(&checker), named("one.test", &site));
    let first = tokio::spawn(async move { one.look(&ask(&first), now()).await });
    arrived.notified().await;
    let second = checker.look(&ask(&named("two.test", &site)), now()).await;
    let Look::Wait(at) = second else {
        panic!("another visit is there: {second:?}");
    };
    release.notify_one();
    let first = first.await.unwrap();
    assert!(matches!(first, Look::Document(_)), "{first:?}");
    release.notify_one();
    let again = checker.look(&ask(&named("two.test", &site)), at).await;
    assert!(matches!(again, Look::Document(_)), "{again:?}");
}

#[tokio::test]
async fn ss_14_the_link_of_an_entry_that_leads_inwards_is_not_kept() {
    let item = |number: u8, link: &str| {
        format!(
            "<item><guid>{number}</guid><title>{number}</title><link>{link}</link><enclosure url='{link}'/></item>"
        )
    };
    let links = [
        "https://news.example.org/1",
        "http://169.254.169.254/latest/meta-data/",
        "http://[fd00:ec2::254]/",
        "javascript:alert(1)",
        "http://127.0.0.1/allowed",
    ];
    let items: String = (0..).zip(links).map(|(n, link)| item(n, link)).collect();
    let feed = format!("<rss version=\"2.0\"><channel><title>t</title>{items}</channel></rss>");
    let answer = move || {
        let feed = feed.clone();
        async move { ([("content-type", "application/rss+xml")], feed) }
    };
    let address = serve(Router::new().fallback(answer)).await;
    let document = look(&client(), &address).await.unwrap();
    let kept: Vec<Option<&str>> = document
        .entries
        .iter()
        .map(|it| it.link.as_deref())
        .collect();
    let expected = [Some(links[0]), None, None, None, Some(links[4])];
    assert_eq!(kept, expected, "the entries themselves are kept");
    let files = |at: usize| document.entries[at].enclosures.len();
    assert_eq!(
        [0, 1, 2, 3, 4].map(files),
        [1, 0, 0, 0, 1],
        "nor that of a file"
    );
}

#[tokio::test]
async fn ss_05_an_error_text_of_the_source_is_a_failure_of_an_answer_with_200() {
    let feed =
        "<rss version='2.0'><channel><item><title>Wartungsarbeiten</title></item></channel></rss>";
    let address = serve(Router::new().fallback(move || async move { feed })).await;
    let checker = checker(&client());
    for (error_texts, expected) in [
        (vec![], None),
        (
            vec!["wartungsarbeiten".to_owned()],
            Some(FailureClass::Server),
        ),
        (vec!["closed".to_owned()], None),
    ] {
        let mut ask = ask(&address);
        ask.options.error_texts = error_texts;
        let failure = outcome(checker.look(&ask, now()).await).err();
        assert_eq!(failure.map(|failure| failure.class), expected, "{ask:?}");
    }
}
