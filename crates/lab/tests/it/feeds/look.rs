//! Checking feeds without faults.

use almanack_lab::feeds::document::Document;

use super::{World, received};
use crate::support::client;

#[tokio::test]
async fn every_host_answers_at_its_own_address() {
    let world = World::quiet().await;
    let (one, two) = (world.handle().feed_url(0), world.handle().feed_url(4));
    assert!(one.starts_with("http://127.1.1.1:") && two.starts_with("http://127.1.1.2:"));
    for number in [0, 4, 399] {
        assert_eq!(world.look(number).await.status, 200);
    }
}

#[tokio::test]
async fn an_unchanged_feed_is_304_until_it_publishes() {
    let world = World::quiet().await;
    let number = world.ordinary();
    let first = world.look(number).await;
    let again = world.look_again(number, &first).await;
    assert_eq!((first.status, again.status), (200, 304));
    assert_eq!(again.body, b"");
    assert_eq!(again.header("etag"), first.header("etag"));
    world.handle().publish(number, "Published by hand");
    let changed = world.look_again(number, &first).await;
    assert_eq!(changed.status, 200);
    assert_ne!(changed.header("etag"), first.header("etag"));
    assert!(String::from_utf8_lossy(&changed.body).contains("Published by hand"));
    let seen = world.handle().requests();
    let statuses: Vec<u16> = seen.iter().map(|it| it.kind.status).collect();
    assert_eq!(statuses, [200, 304, 200]);
}

#[tokio::test]
async fn the_clock_alone_adds_new_entries() {
    let world = World::quiet().await;
    let number = world.pick(|feed| {
        let news = feed.habit.rhythm.name == "news";
        news && feed.habit.last_at.is_none() && feed.charset.name() == "UTF-8"
    });
    let url = world.handle().document_url(number, Document::Api);
    let before = world.get(&url).await;
    assert_eq!(before.header("date"), "Mon, 05 Jan 2026 08:00:00 GMT");
    let start = world.clock.now();
    world.clock.advance(24 * 3600);
    let feed = world.handle().fleet().feed(number).unwrap();
    let published = feed.habit.published(start, world.clock.now());
    assert!(published.len() > 5);
    let after = world.get(&url).await;
    assert_ne!(before.body, after.body);
    let newest = published.last().unwrap().as_second().to_string();
    assert!(after.text().contains(&newest) && !before.text().contains(&newest));
}

#[tokio::test]
async fn a_site_leads_to_its_feeds_and_a_feed_to_its_entries() {
    let world = World::quiet().await;
    let number =
        world.pick(|feed| feed.document == Document::Rss2 && feed.charset.name() == "UTF-8");
    let feed_url = world.handle().feed_url(number);
    let host_url = feed_url.split("/feeds/").next().unwrap().to_owned();
    let path = feed_url.strip_prefix(&host_url).unwrap();
    for page in [format!("{host_url}/"), world.handle().site_url(number)] {
        let page = world.get(&page).await;
        assert!(page.header("content-type").starts_with("text/html"));
        let link = format!("href=\"{path}\"");
        assert!(
            page.text()
                .contains("<link rel=\"alternate\" type=\"application/rss+xml\"")
        );
        assert!(page.text().contains(&link), "{}", page.text());
    }
    let entries = world.handle().entries(number);
    let page = world.get(&entries[0].link).await;
    assert_eq!(page.status, 200);
    assert!(page.text().contains("<article>"));
}

#[tokio::test]
async fn what_is_sent_compressed_unpacks_to_what_is_sent_plain() {
    let world = World::quiet().await;
    let number = world.pick(|feed| feed.gzip && feed.brotli && feed.document == Document::Atom);
    let plain = world.look(number).await;
    for encoding in ["gzip", "br"] {
        let url = world.handle().feed_url(number);
        let raw = received(world.client.get(&url).header("accept-encoding", encoding)).await;
        assert_eq!(raw.header("content-encoding"), encoding);
        assert!(raw.body.len() < plain.body.len() / 2, "{encoding}");
    }
    let unpacked = received(client().get(world.handle().feed_url(number))).await;
    assert_eq!(unpacked.body, plain.body);
}

#[tokio::test]
async fn the_list_holds_every_feed_and_a_part_of_it_a_part() {
    let world = World::quiet().await;
    let list = world.get(&format!("{}/opml", world.running.url())).await;
    let feeds = world.handle().feeds_where(|feed| feed.document.is_feed());
    let urls: Vec<String> = feeds
        .map(|number| world.handle().feed_url(number))
        .collect();
    let text = list.text();
    assert_eq!(text.matches("xmlUrl=").count(), urls.len());
    assert!(
        urls.iter()
            .all(|url| text.contains(&format!("xmlUrl=\"{url}\"")))
    );
    let part = world
        .get(&format!("{}/opml?first=10&count=5", world.running.url()))
        .await;
    assert!(part.text().matches("xmlUrl=").count() <= 5);
}

#[tokio::test]
async fn what_does_not_exist_is_404() {
    let world = World::quiet().await;
    let base = world.running.url();
    for path in [
        "/feeds/400/rss.xml",
        "/feeds/1/other.xml",
        "/hostile/unheard-of",
        "/feeds/1/entries/1",
    ] {
        assert_eq!(
            world.get(&format!("{base}{path}")).await.status,
            404,
            "{path}"
        );
    }
}
