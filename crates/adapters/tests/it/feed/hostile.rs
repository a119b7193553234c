//! Bad input, by name: each ends in a typed failure, or in a document within its limits.

use almanack_core::source::check::FailureClass as C;
use almanack_lab::feeds::hostile;

use super::*;

/// What comes of each of the world's hostile documents: entries, or a failure.
const EXPECTED: &[(&str, Result<usize, C>)] = &[
    ("plain.xml", Ok(5)),
    ("not-a-feed.html", Err(C::NotAFeed)),
    ("not-a-feed.txt", Err(C::NotAFeed)),
    ("not-a-feed.png", Err(C::NotAFeed)),
    ("image-as-feed.xml", Err(C::NotAFeed)),
    ("html-as-feed.xml", Err(C::NotAFeed)),
    ("login.html", Err(C::Unauthorised)),
    ("empty-feed.xml", Ok(0)),
    ("empty-body.xml", Err(C::NotAFeed)),
    ("truncated.xml", Err(C::Malformed)),
    ("truncated.json", Err(C::Malformed)),
    ("huge.xml", Err(C::TooLarge)),
    ("huge-declared.xml", Err(C::TooLarge)),
    ("long-title.xml", Err(C::TooLarge)),
    ("wrong-charset.xml", Ok(1)),
    ("unknown-charset.xml", Ok(3)),
    ("utf-16.xml", Ok(3)),
    ("control-letters.xml", Ok(1)),
    ("duplicate-ids.xml", Ok(10)),
    ("no-ids.xml", Ok(2)),
    ("dates.xml", Ok(20)),
    ("futures.xml", Ok(8)),
    ("no-dates.xml", Ok(5)),
    ("scripts.xml", Ok(3)),
    ("hints-absurd.xml", Ok(1)),
    ("hints-garbage.xml", Ok(0)),
    ("gzip-bomb.xml", Err(C::TooLarge)),
    ("brotli-bomb.xml", Err(C::TooLarge)),
    ("gzip-garbage.xml", Err(C::Malformed)),
    ("gzip-truncated.xml", Err(C::Malformed)),
    ("gzip-twice.xml", Err(C::NotAFeed)),
    ("entity-bomb.xml", Ok(1)),
    ("entity-quadratic.xml", Ok(1)),
    ("external-entity.xml", Ok(1)),
    ("external-dtd.xml", Ok(1)),
    ("deep.xml", Err(C::Malformed)),
    ("deep-unclosed.xml", Err(C::Malformed)),
    ("deep.json", Err(C::Malformed)),
    ("deep.html", Err(C::NotAFeed)),
    ("many-attributes.xml", Err(C::Malformed)),
    ("redirect-loop", Err(C::Redirect)),
    ("redirect-ping", Err(C::Redirect)),
    ("redirect-pong", Err(C::Redirect)),
    ("redirect-nowhere", Err(C::Redirect)),
    ("redirect-garbage", Err(C::Redirect)),
    ("redirect-login", Err(C::Unauthorised)),
    ("redirect-relative", Ok(5)),
    ("cut-mid-body.xml", Err(C::Malformed)),
    ("cut.xml", Err(C::Connection)),
    ("length-too-long.xml", Err(C::Malformed)),
    ("length-too-short.xml", Err(C::Malformed)),
    ("not-modified.xml", Err(C::Malformed)),
    ("no-content.xml", Err(C::NotAFeed)),
    ("limited-seconds.xml", Err(C::RateLimited)),
    ("limited-date.xml", Err(C::RateLimited)),
    ("limited-garbage.xml", Err(C::RateLimited)),
    ("limited-absurd.xml", Err(C::RateLimited)),
    ("long-headers.xml", Err(C::Connection)),
    ("hops/5", Ok(20)),
    ("hops/6", Err(C::Redirect)),
    ("redirect-forever/0", Err(C::Redirect)),
];

/// Read in `by_name`: it takes long in builds for tests.
const LONG: &str = "many-items.xml";

/// These end by our timeout only.
const ENDLESS: [(&str, C); 3] = [
    ("hang.xml", C::Timeout),
    ("slow-loris.xml", C::Timeout),
    ("endless.xml", C::TooLarge),
];

#[tokio::test]
async fn ss_12_every_hostile_document_ends_as_it_should() {
    let (world, _guard) = world().await;
    let client = client();
    let mut wrong = Vec::new();
    for (name, expected) in EXPECTED {
        let found = look(&client, &world.handle.hostile_url(name)).await;
        let detail = found.as_ref().err().map(|failure| failure.detail.clone());
        let came = found.map(|document| document.entries.len());
        let came = came.map_err(|failure| failure.class);
        if came != *expected {
            wrong.push(format!("{name}: {came:?} ({detail:?}), not {expected:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let is_known = |name: &str| {
        let mut names = EXPECTED.iter().map(|(name, _)| *name);
        names.any(|known| known == name) || ENDLESS.iter().any(|(known, _)| *known == name)
    };
    for document in hostile::all() {
        let is_list = document.name.starts_with("opml/");
        assert!(
            is_list || document.name == LONG || is_known(document.name),
            "{} is not looked at",
            document.name
        );
    }
}

#[tokio::test]
async fn ss_12_what_never_ends_ends_by_our_wait_max() {
    let (world, _guard) = world().await;
    let limits = Limits {
        total: Duration::from_millis(1500),
        idle: Duration::from_millis(1500),
        body_bytes: 1024 * 1024,
    };
    let checker = checker_within(&client(), limits);
    for (name, expected) in ENDLESS {
        let ask = ask(&world.handle.hostile_url(name));
        let failure = outcome(checker.look(&ask, now()).await).unwrap_err();
        assert_eq!(failure.class, expected, "{name}: {}", failure.detail);
    }
}

#[tokio::test]
async fn ss_14_a_redirect_to_a_private_address_is_not_followed() {
    let (world, _guard) = world().await;
    for (name, target) in hostile::private_targets() {
        let address = world
            .handle
            .hostile_url(&format!("redirect-private/{name}"));
        let failure = look(&client(), &address).await.unwrap_err();
        let expected = if *name == "no-such-host" {
            C::Dns
        } else {
            C::Redirect
        };
        assert_eq!(failure.class, expected, "{target}: {}", failure.detail);
    }
}

#[tokio::test]
async fn ss_12_dns_and_tls_failures_are_distinguished() {
    let (world, _guard) = world().await;
    let client = client();
    let class = |failure: Failure| failure.class;
    let nowhere = look(&client, "https://no-such-host.invalid/feed").await;
    assert_eq!(nowhere.map_err(class), Err(C::Dns));
    let plain = world
        .handle
        .hostile_url("plain.xml")
        .replace("http://", "https://");
    assert_eq!(look(&client, &plain).await.map_err(class), Err(C::Tls));
    let private = look(&client, "http://10.0.0.1/feed").await;
    assert_eq!(private.map_err(class), Err(C::Refused));
    for strange in ["ftp://site.example/feed", "not an address", ""] {
        assert_eq!(
            look(&client, strange).await.map_err(class),
            Err(C::Refused),
            "{strange}"
        );
    }
}

#[tokio::test]
async fn ss_13_dates_are_believed_or_not() {
    let (world, _guard) = world().await;
    let times = async |name: &str| -> Vec<Option<Timestamp>> {
        let document = look(&client(), &world.handle.hostile_url(name))
            .await
            .unwrap();
        document
            .entries
            .iter()
            .map(|found| found.published_at)
            .collect()
    };
    let dates = times("dates.xml").await;
    assert_eq!(
        dates[..16],
        [Some(now()); 16],
        "one instant in sixteen ways"
    );
    let days = dates[16..]
        .iter()
        .flatten()
        .map(|at| at.strftime("%F").to_string());
    assert_eq!(
        days.collect::<Vec<_>>(),
        ["2026-01-05"; 3],
        "one of four can be read two ways"
    );
    assert_eq!(times("futures.xml").await, [None; 8]);
    assert_eq!(times("no-dates.xml").await, [None; 5]);
}

#[tokio::test]
async fn ss_12_what_attacks_its_readers_is_harmless() {
    let (world, _guard) = world().await;
    let document = look(&client(), &world.handle.hostile_url("scripts.xml"))
        .await
        .unwrap();
    let shown = format!("{document:?}").to_ascii_lowercase();
    for word in [
        "steal", "onerror", "onload", "iframe", "<form", "<style", "<base", "<meta", "<svg",
    ] {
        assert!(!shown.contains(word), "{word} in {shown}");
    }
    let local = look(&client(), &world.handle.hostile_url("external-entity.xml"))
        .await
        .unwrap();
    assert!(!format!("{local:?}").contains("root:"));
}

#[tokio::test]
async fn ss_16_lists_with_broken_entries_give_the_others() {
    let (world, _guard) = world().await;
    let client = client();
    for (name, feeds, problems, repeated) in [
        ("nested.opml", 3, 0, 0),
        ("broken.opml", 2, 8, 0),
        ("duplicates.opml", 1, 0, 4),
        ("no-head.opml", 2, 0, 0),
        ("truncated.opml", 1, 1, 0),
        ("empty.opml", 0, 0, 0),
        ("deep.opml", 0, 1, 0),
        ("entity-bomb.opml", 1, 0, 0),
        ("many.opml", 50_000, 0, 0),
    ] {
        let address = world.handle.hostile_url(&format!("opml/{name}"));
        let response = client
            .send(almanack_adapters::http::Request::get(address))
            .await
            .unwrap();
        let imported = almanack_adapters::opml::import(&response.body).unwrap();
        let came = (
            imported.subscriptions.len(),
            imported.problems.len(),
            imported.repeated,
        );
        assert_eq!(
            came,
            (feeds, problems, repeated),
            "{name}: {:?}",
            imported.problems
        );
    }
}
