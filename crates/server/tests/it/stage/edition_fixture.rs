//! Sources of every sort with what they publish over the day, and two editions.

use std::sync::Arc;

use almanack_core::{
    edition::{EditionName, plan::Requester, port},
    newsletter::{Address, Mailing},
    source::{
        check::{Document, FailureClass, Look},
        entry::FoundEntry,
    },
    store::NewsletterStore as _,
    time::Clock as _,
};
use almanack_engine::{
    editions::Unwatched,
    reloadable::Reloadable,
    watch::{Watch, WatchSettings, Watching},
};
use almanack_testkit::edition_harness::{Call, InjectedFault};
use jiff::{SignedDuration, Timestamp, civil::date};
use serde_json::json;

use super::served::Stage;
use crate::{harness::World, scripted::failed};

const WIRE: &str = "https://wire.example/feed.xml";
const WORLD_NEWS: &str = "https://news.example/%E4%B8%96%E7%95%8C.xml";
const QUIET: &str = "https://quiet.example/atom";
const DAY: SignedDuration = SignedDuration::from_hours(24);

/// Adds them, at the beginning of the day.
pub(super) async fn add(world: &World) {
    for source in [
        json!({ "address": WIRE, "name": "Morning Wire", "category": "News/World" }),
        json!({ "address": WORLD_NEWS, "name": "世界新闻", "category": "新闻/国际", "policy": "fixed:1h" }),
        json!({ "address": QUIET, "name": "The Quiet Weblog", "category": "Weblogs" }),
        json!({ "address": "https://broken.example/rss", "name": "Broken Gazette", "category": "News/Local", "cadence": "P0" }),
        json!({ "address": "https://members.example/feed", "name": "Members Only", "category": "News" }),
        json!({ "address": "https://hostile.example/", "name": "<script>alert('source')</script>",
            "reading": { "how": "html", "item": "article", "title": "h2" } }),
        json!({ "address": "https://resting.example/feed", "name": "Resting Journal", "category": "Weblogs" }),
        json!({ "address": "https://gone.example/feed", "name": "Gone for Good" }),
    ] {
        world.add(&source.to_string()).await;
    }
    let paused = world.post("/api/v1/sources/7/pause", "").await;
    assert_eq!(paused.status, 200, "{}", paused.body);
}

/// What the sources show at this instant.
pub(super) fn publish(world: &World, now: Timestamp) {
    let script = &world.fixture.script;
    script.say(
        WIRE,
        document(
            "Morning Wire",
            "Wire",
            &times(now, SignedDuration::from_hours(2), now),
        ),
    );
    script.say(
        WORLD_NEWS,
        document(
            "世界新闻",
            "要闻",
            &times(now, SignedDuration::from_mins(50), now),
        ),
    );
    let silent_since = now.checked_sub(DAY * 30).unwrap();
    script.say(
        QUIET,
        document("The Quiet Weblog", "Note", &times(now, DAY, silent_since)),
    );
    script.say(
        "https://broken.example/rss",
        failed(FailureClass::Server, "503 Service Unavailable"),
    );
    script.say(
        "https://members.example/feed",
        failed(FailureClass::Unauthorised, "401 Unauthorized"),
    );
    script.say(
        "https://gone.example/feed",
        failed(FailureClass::Gone, "410 Gone"),
    );
    script.say(
        "https://hostile.example/",
        document(
            "<i>Hostile</i>",
            "<img src=x onerror=alert(1)>",
            &times(now, DAY, now),
        ),
    );
}

/// Instants that far apart, the last 60 up to `until`; the same whenever they are requested.
fn times(now: Timestamp, apart: SignedDuration, until: Timestamp) -> Vec<Timestamp> {
    let apart = apart.as_secs();
    let last = until.min(now).as_second().div_euclid(apart) * apart;
    let times = (0..60).map(|number| Timestamp::from_second(last - number * apart).unwrap());
    times.collect()
}

fn document(title: &str, word: &str, published: &[Timestamp]) -> Look {
    let entries = published.iter().map(|at| FoundEntry {
        id: Some(format!("{word} {}", at.as_second())),
        link: Some(format!("https://wire.example/{}", at.as_second())),
        title: format!("{word} of {at}"),
        published_at: Some(*at),
        author: Some("Ada & 王小明".to_owned()),
        ..FoundEntry::default()
    });
    Look::Document(Box::new(Document {
        title: Some(title.to_owned()),
        entries: entries.collect(),
        ..Document::default()
    }))
}

/// The edition of the day before is published, and readers have it.
async fn publish_the_day_before(stage: &Stage) {
    stage.news.heal();
    let day = stage.editions.today().date.yesterday().unwrap();
    let path = format!("/trigger-export-sync?date={day}");
    let built = stage.world.post(&path, "").await;
    assert_eq!(built.json()["success"], true, "{}", built.body);
}

/// Yesterday's edition is published; one delivery is unconfirmed, and another destination accepts
/// only half of it.
pub(super) async fn publish_yesterday(stage: &Stage) {
    publish_the_day_before(stage).await;
    stage.news.decide(|call, _| match call {
        Call::Send(place, _) if place == "github" => InjectedFault::Lost,
        Call::Look(place, _) if place == "github" => {
            InjectedFault::Fails(port::FailureClass::Transient)
        }
        Call::Send(place, 2) if place == "telegram" => {
            InjectedFault::Fails(port::FailureClass::Credentials)
        }
        _ => InjectedFault::Well,
    });
    let built = stage.world.post("/trigger-export-sync", "").await;
    assert_eq!(built.status, 200, "{}", built.body);
    watch(stage).await;
}

/// Today's is begun, and something is missing from every batch.
pub(super) async fn begin_today(stage: &Stage) {
    stage.news.decide(|call, _| match call {
        Call::Titles(_) => InjectedFault::Lacks,
        _ => InjectedFault::Well,
    });
    let today = stage.editions.today();
    stage.editions.take_up(today).await.unwrap();
    for _ in 0..2 {
        let step = stage
            .editions
            .step(today, Requester::Tick, &Unwatched)
            .await;
        step.unwrap();
    }
    watch(stage).await;
}

/// One round of the node's watch, which opens alerts about editions.
async fn watch(stage: &Stage) {
    let watching = Watching {
        settings: WatchSettings::default(),
        notifier: Arc::new(stage.news.clone()),
    };
    let (store, clock) = (stage.world.store.clone(), stage.world.clock.clone());
    let mut watch = Watch::new(store, clock, Reloadable::new(watching));
    watch.round_of_editions().await.unwrap();
}

/// Yesterday's edition is mailed to three people: one has it, one is refused, one waits.
pub(super) async fn mail_yesterday(world: &World) {
    let (store, now) = (&world.store, world.clock.now());
    let people = (1..=3).map(|n| format!("reader{n}@site.example"));
    let people = people.map(|it| (Address::parse(&it).unwrap(), None));
    let added = store.add_subscribers(EditionName::default(), people.collect(), now);
    added.await.unwrap();
    let id = date(2026, 1, 4).into();
    let mailing = Mailing::new(id, 1, now);
    assert!(store.create_mailing(&mailing).await.unwrap());
    store.fill_mailing(id, 10, now).await.unwrap();
    let mails = store.load_due_mails(id, now, 10).await.unwrap();
    let began = mails[0].started(now, now);
    let sent = began.confirmed(Some("250 2.0.0 queued as 4XK1"), now);
    let refused = mails[1].refused("550 5.1.1 no such user", now);
    for (seen, next) in [(&mails[0], &began), (&began, &sent), (&mails[1], &refused)] {
        assert!(store.write_mail(seen, next).await.unwrap());
    }
}
