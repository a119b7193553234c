//! How many tasks become due when, by kind and host.

use std::sync::Arc;

use almanack_core::{
    reschedule::{Put, Request},
    store::{Coming, Store},
    task::Priority,
};
use almanack_testkit::fixture::{PUBLISH, START, at, cancel, kind, put, source};
use jiff::{SignedDuration, Timestamp};

use super::{ask, followed, plant, plant_many};

fn counted(coming: &Coming) -> Vec<(&str, i64, Option<&str>, u64)> {
    let second = |at: Timestamp| at.duration_since(START).as_secs();
    let tasks = coming.tasks.iter();
    tasks
        .map(|it| {
            (
                it.kind.as_str(),
                second(it.at),
                it.address.as_deref(),
                it.tasks,
            )
        })
        .collect()
}

fn calling(subject: &str, kind: &str, due: Timestamp, url: &str) -> Put {
    Put {
        callback_url: Some(url.to_owned()),
        ..put(subject, kind, due)
    }
}

/// By kind, second and host, over all priorities; only what waits, and only in the time asked for.
pub(crate) async fn wk_09_what_is_to_come_is_counted_by_second_and_host(store: Arc<dyn Store>) {
    let half = SignedDuration::from_millis(500);
    let calls = "https://a.example:8443/hook/1?x=/y";
    plant(&*store, calling("a:1", PUBLISH, at(10), calls), START).await;
    let same = calling(
        "a:2",
        PUBLISH,
        at(10) + half,
        "https://a.example:8443/other",
    );
    let urgent = Put {
        priority: Some(Priority::new(9).unwrap()),
        ..same
    };
    plant(&*store, urgent, START).await;
    plant(
        &*store,
        calling("a:3", PUBLISH, at(10), "http://b.example"),
        START,
    )
    .await;
    plant(&*store, put("a:4", PUBLISH, at(10)), START).await;
    plant(&*store, put("a:5", PUBLISH, at(11)), START).await;
    plant(&*store, put("a:1", "ARTICLE_AUDIT", at(10)), START).await;
    plant(&*store, put("a:6", PUBLISH, at(9)), START).await;
    plant(&*store, put("a:7", PUBLISH, at(12)), START).await;
    plant(&*store, put("a:8", PUBLISH, at(10)), START).await;
    ask(&*store, &Request::Cancel(cancel("a:8", PUBLISH)), START).await;
    let coming = store.load_coming(at(10), at(12), 100).await.unwrap();
    let expected = [
        ("ARTICLE_AUDIT", 10, None, 1),
        (PUBLISH, 10, None, 1),
        (PUBLISH, 10, Some("http://b.example"), 1),
        (PUBLISH, 10, Some("https://a.example:8443"), 2),
        (PUBLISH, 11, None, 1),
    ];
    assert_eq!(counted(&coming), expected);
    assert_eq!(coming.cut, []);
}

/// A crowded kind is counted up to a second that is named, and hides no other kind.
pub(crate) async fn wk_09_what_is_not_counted_is_named(store: Arc<dyn Store>) {
    plant_many(&*store, "crowd", PUBLISH, 50, at(10)).await;
    plant_many(&*store, "later", PUBLISH, 50, at(20)).await;
    plant(&*store, put("article:1", "ARTICLE_AUDIT", at(500)), START).await;
    let coming = store.load_coming(START, at(1_000), 80).await.unwrap();
    // The quiet kind leaves all of its share but one.
    let expected = [
        ("ARTICLE_AUDIT", 500, None, 1),
        (PUBLISH, 10, None, 50),
        (PUBLISH, 20, None, 29),
    ];
    assert_eq!(counted(&coming), expected);
    assert_eq!(coming.cut, [(kind(PUBLISH), at(20))]);
    let all = store.load_coming(START, at(1_000), 101).await.unwrap();
    assert_eq!(counted(&all)[2], (PUBLISH, 20, None, 50));
    assert_eq!(all.cut, [], "nothing is left out");
}

/// A check is one of its source's host.
pub(crate) async fn wk_09_a_check_counts_for_the_host_of_its_source(store: Arc<dyn Store>) {
    let source = followed(&*store, source("feeds")).await;
    let subject = format!("source:{}", source.id);
    plant(&*store, put(&subject, "SOURCE_CHECK", at(10)), START).await;
    let coming = store.load_coming(START, at(100), 100).await.unwrap();
    let expected = [("SOURCE_CHECK", 10, Some("https://feeds.example"), 1)];
    assert_eq!(counted(&coming), expected);
}
