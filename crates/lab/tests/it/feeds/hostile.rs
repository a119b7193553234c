//! Hostile documents over HTTP; unit tests check their content.

use super::{World, staying_client};
use crate::support::within;

#[tokio::test]
async fn every_hostile_document_is_listed_and_begins_to_answer() {
    let world = World::quiet().await;
    let list = world
        .get(&format!("{}/hostile", world.running.url()))
        .await
        .text();
    assert!(list.lines().count() > 80);
    let client = staying_client();
    for line in list.lines() {
        let (url, _) = line.split_once('\t').unwrap();
        if ["/hang.xml", "/cut.xml", "/long-headers.xml"]
            .iter()
            .any(|name| url.ends_with(name))
        {
            continue;
        }
        let response = within(client.get(url).send()).await;
        let status = response
            .unwrap_or_else(|error| panic!("{url}: {error}"))
            .status();
        assert!(
            status.as_u16() < 504 && status.as_u16() != 404,
            "{url}: {status}"
        );
    }
}

#[tokio::test]
async fn bodies_end_early_or_late_as_their_names_say() {
    let world = World::quiet().await;
    for name in ["cut-mid-body.xml", "length-too-long.xml"] {
        let url = world.handle().hostile_url(name);
        let mut response = within(world.ask(&url).send()).await.unwrap();
        let begun = within(response.chunk()).await.unwrap().unwrap();
        assert!(begun.starts_with(b"<?xml"), "{name} begins as a feed");
        let rest = async {
            while response.chunk().await?.is_some() {}
            Ok::<_, reqwest::Error>(())
        };
        assert!(within(rest).await.is_err(), "{name}");
    }
    let short = world
        .get(&world.handle().hostile_url("length-too-short.xml"))
        .await;
    assert!(!short.text().contains("</rss>"));
    let cut = within(world.ask(&world.handle().hostile_url("cut.xml")).send()).await;
    assert!(cut.is_err());
}

#[tokio::test]
async fn the_huge_body_arrives_in_pieces() {
    let world = World::quiet().await;
    let url = world.handle().hostile_url("huge.xml");
    let mut response = within(world.ask(&url).send()).await.unwrap();
    assert_eq!(response.content_length(), None, "chunked");
    let mut received = 0;
    while let Some(chunk) = within(response.chunk()).await.unwrap() {
        received += chunk.len();
    }
    assert!(received >= 200 * 1024 * 1024);
    let declared = within(
        world
            .ask(&world.handle().hostile_url("huge-declared.xml"))
            .send(),
    )
    .await;
    assert_eq!(declared.unwrap().content_length(), Some(received as u64));
}

#[tokio::test]
async fn a_slow_loris_sends_its_first_byte_and_ends_with_the_server() {
    let world = World::quiet().await;
    let url = world.handle().hostile_url("slow-loris.xml");
    let mut response = within(world.ask(&url).send()).await.unwrap();
    assert_eq!(within(response.chunk()).await.unwrap().unwrap(), "<");
    world.stop.cancel();
    let rest = async { while let Ok(Some(_)) = response.chunk().await {} };
    within(rest).await;
    within(world.running.join).await.unwrap().unwrap();
}

#[tokio::test]
async fn hops_lead_to_a_feed_and_a_loop_to_none() {
    let world = World::quiet().await;
    let feed = world.get(&world.handle().hostile_url("hops/7")).await;
    assert!(feed.text().contains("<rss"));
    for name in ["redirect-loop", "redirect-ping", "redirect-forever/0"] {
        let error = within(world.ask(&world.handle().hostile_url(name)).send())
            .await
            .unwrap_err();
        assert!(error.is_redirect(), "{name}: {error}");
    }
}
