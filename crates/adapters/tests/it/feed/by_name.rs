//! Bad input, by name, as a checker sees it: a failure of the right class, with a sentence, or a
//! document within its limits.

use almanack_adapters::{http::Request, opml};
use almanack_core::source::{check::FailureClass as C, entry::ENTRIES_PER_DOCUMENT};

use super::*;

/// The class and the words of what comes of one of the world's hostile documents.
async fn failure(name: &str) -> (C, String) {
    let (world, _guard) = world().await;
    let looked = look(&client(), &world.handle.hostile_url(name)).await;
    class_and_detail(looked.unwrap_err())
}

async fn document(name: &str) -> Document {
    let (world, _guard) = world().await;
    let looked = look(&client(), &world.handle.hostile_url(name)).await;
    looked.unwrap()
}

fn class_and_detail(failure: Failure) -> (C, String) {
    (failure.class, failure.detail)
}

#[tokio::test]
async fn ss_12_not_a_feed() {
    let (class, detail) = failure("not-a-feed.txt").await;
    assert_eq!(class, C::NotAFeed);
    insta::assert_snapshot!(detail, @"this is not a feed: it is plain text");
}

#[tokio::test]
async fn ss_12_truncated_feed() {
    let (class, detail) = failure("truncated.xml").await;
    assert_eq!(class, C::Malformed);
    insta::assert_snapshot!(detail, @"the document breaks off in or after entry 20");
}

#[tokio::test]
async fn ss_12_200_mb_body() {
    for name in ["huge.xml", "huge-declared.xml"] {
        let (class, detail) = failure(name).await;
        assert_eq!(class, C::TooLarge);
        insta::allow_duplicates! {
            insta::assert_snapshot!(detail, @"the answer has more than 10485760 bytes");
        }
    }
}

#[tokio::test]
async fn ss_12_gzip_bomb() {
    let (class, detail) = failure("gzip-bomb.xml").await;
    assert_eq!(class, C::TooLarge);
    insta::assert_snapshot!(detail, @"the answer decompresses to more than 200 times its size");
}

#[tokio::test]
async fn ss_12_xml_entity_bomb() {
    let document = document("entity-bomb.xml").await;
    let bytes = format!("{document:?}").len();
    assert!(bytes < 10_000, "it is not expanded: {bytes}");
}

#[tokio::test]
async fn ss_12_deep_nesting() {
    let (class, detail) = failure("deep.xml").await;
    assert_eq!(class, C::Malformed);
    insta::assert_snapshot!(detail, @"the document is nested more than 512 deep");
}

#[tokio::test]
async fn ss_19_wrong_charset() {
    let document = document("wrong-charset.xml").await;
    // It is windows-1251 and says UTF-8.
    insta::assert_snapshot!(document.entries[0].title, @"Порт открывает двери");
}

#[tokio::test]
async fn ss_12_feed_with_50_000_items() {
    let document = document("many-items.xml").await;
    let came = (document.entries.len(), document.left_out);
    assert_eq!(came, (ENTRIES_PER_DOCUMENT, 50_000 - ENTRIES_PER_DOCUMENT));
}

#[tokio::test]
async fn ss_12_duplicate_ids() {
    let document = document("duplicate-ids.xml").await;
    assert_eq!((document.entries.len(), document.ids_shared), (10, true));
}

#[tokio::test]
async fn ss_12_dates_in_twelve_formats() {
    let document = document("dates.xml").await;
    let right =
        |found: &&almanack_core::source::entry::FoundEntry| found.published_at == Some(now());
    assert!(document.entries.iter().filter(right).count() >= 12);
}

#[tokio::test]
async fn ss_12_empty_feed() {
    let document = document("empty-feed.xml").await;
    assert_eq!(document.entries, [], "a feed that says nothing yet is well");
}

#[tokio::test]
async fn ss_12_login_page_instead_of_a_feed() {
    let (class, detail) = failure("login.html").await;
    assert_eq!(class, C::Unauthorised);
    insta::assert_snapshot!(detail, @"this is not a feed: it is a login page titled “A page”; without logging in there is nothing to read");
}

#[tokio::test]
async fn ss_12_infinite_redirect() {
    let (class, detail) = failure("redirect-forever/0").await;
    assert_eq!(class, C::Redirect);
    insta::assert_snapshot!(detail, @"more than 5 redirects");
    let (class, detail) = failure("redirect-loop").await;
    assert_eq!(class, C::Redirect);
    insta::assert_snapshot!(detail, @"the redirects lead in a circle");
}

#[tokio::test]
async fn ss_12_dns_failure() {
    let looked = look(&client(), "https://no-such-host.invalid/feed").await;
    let (class, detail) = class_and_detail(looked.unwrap_err());
    assert_eq!(class, C::Dns);
    insta::assert_snapshot!(detail, @"the name could not be resolved: no such name");
}

#[tokio::test]
async fn ss_12_tls_failure() {
    let (world, _guard) = world().await;
    let address = world.handle.hostile_url("plain.xml");
    let looked = look(&client(), &address.replace("http://", "https://")).await;
    let (class, detail) = class_and_detail(looked.unwrap_err());
    assert_eq!(class, C::Tls);
    insta::assert_snapshot!(detail, @"no secure connection: received corrupt message of type InvalidContentType");
}

#[tokio::test]
async fn ss_12_slow_loris_server() {
    let (world, _guard) = world().await;
    let limits = Limits {
        total: Duration::from_millis(1500),
        ..Limits::default()
    };
    let ask = ask(&world.handle.hostile_url("slow-loris.xml"));
    let looked = checker_within(&client(), limits).look(&ask, now()).await;
    let (class, detail) = class_and_detail(outcome(looked).unwrap_err());
    assert_eq!(class, C::Timeout);
    insta::assert_snapshot!(detail, @"the answer did not end in time (1.5 s)");
}

#[tokio::test]
async fn ss_16_opml_with_nested_folders_and_broken_entries() {
    let (world, _guard) = world().await;
    for (name, feeds, problems) in [("nested.opml", 3, 0), ("broken.opml", 2, 8)] {
        let address = world.handle.hostile_url(&format!("opml/{name}"));
        let answer = client().send(Request::get(address)).await.unwrap();
        let imported = opml::import(&answer.body).unwrap();
        let came = (imported.subscriptions.len(), imported.problems.len());
        assert_eq!(came, (feeds, problems), "{name}: {imported:?}");
    }
    let error = opml::import(b"<rss/>").unwrap_err();
    assert!(matches!(error, opml::Error::NotOpml { .. }));
}
