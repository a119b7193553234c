//! Caps on what models cost: kept while requests overlap, and nothing is hammered (ED-44).

use almanack_core::edition::{
    allowance::{Caps, Usage},
    ladder::Cause,
    port::{FailureClass, Meter},
    story::Note,
};
use almanack_engine::editions::meter::StoreMeter;
use almanack_testkit::edition_harness::{
    Place,
    metered::{COSTS, MOST, Metered, tokens},
};

use super::*;

on_both!(
    ed_44_at_a_cap_the_rest_of_an_edition_is_written_without_a_model,
    ed_44_near_a_cap_requests_wait_for_those_under_way,
    ed_44_who_dies_before_settling_leaves_the_most_it_could_cost,
    ed_44_without_caps_everything_is_counted_and_nothing_refused,
);

fn per_day(tokens: u64) -> Caps {
    Caps {
        tokens_per_day: Some(tokens),
        ..Caps::default()
    }
}

fn meter(room: &Room, caps: Caps) -> Arc<StoreMeter> {
    let means = (
        Arc::clone(&room.store),
        room.clock.clone() as Arc<dyn Clock>,
    );
    let name = EditionName::default();
    Arc::new(StoreMeter::new(means, name, TimeZone::UTC, caps))
}

async fn spent(room: &Room) -> Usage {
    let spending = room.editions().spending(today().date).await.unwrap();
    assert_eq!(spending.month, spending.day(today().date));
    spending.month
}

/// Waits for ever: what takes real time on a database is not cut off by a clock that jumps.
struct Unhurried;

#[async_trait::async_trait]
impl Sleeper for Unhurried {
    async fn until(&self, _: Timestamp) {
        std::future::pending::<()>().await;
    }
}

/// A tick of a process that counts.
async fn tick(room: &Room, caps: Caps) {
    let made = room.editions_that_wait_by(Arc::new(Unhurried));
    let made = Arc::into_inner(made).unwrap();
    let mut outside = made.outside.clone();
    outside.writer = Arc::new(Metered {
        writer: outside.writer,
        meter: meter(room, caps),
        opens: false,
        leaves: Arc::new(|_| {}),
    });
    Editions { outside, ..made }.tick().await.unwrap();
    room.look().await;
    room.clock.advance(TICK);
}

fn model_requests(room: &Room) -> usize {
    let calls = room.news.calls();
    count_calls(&calls, |call| {
        matches!(call, Call::Titles(_) | Call::Summary(_) | Call::Judge(_))
    })
}

async fn ed_44_at_a_cap_the_rest_of_an_edition_is_written_without_a_model(store: Arc<dyn Store>) {
    let news = EditionHarness::with_places(6, vec![Place::named("github")]);
    let mut room = Room::on(store, news);
    room.settings.rules.batch_size = 3;
    // Nine of the thirteen requests fit: a further one could cost a thousand.
    let caps = per_day(1_850);
    for _ in 0..4 {
        tick(&room, caps).await;
    }
    let account = room.account().await;
    assert!(is_published(&account), "{}", account.edition.state);
    assert_eq!(
        (model_requests(&room), spent(&room).await.tokens()),
        (9, 900)
    );
    let capped = account.stories.iter();
    let capped: Vec<_> = capped
        .filter(|story| story.written.degraded_by == Some(Cause::Cap))
        .collect();
    assert!(!capped.is_empty() && capped.len() < 6, "{}", capped.len());
    let midnight = today().date.tomorrow().unwrap().to_zoned(TimeZone::UTC);
    for story in &capped {
        assert_eq!(story.written.note, Some(Note::Extractive));
        let text = story.written.content_summary.as_deref().unwrap();
        assert!(text.starts_with("抽："), "{text}");
        let again = story.retry_at.unwrap();
        assert!(
            again >= midnight.clone().unwrap().timestamp(),
            "not before it frees"
        );
    }
    assert_eq!(room.open_alerts().await, ["cap"]);
    room.news.forget_calls();
    for _ in 0..30 {
        tick(&room, caps).await;
    }
    assert_eq!(room.news.calls(), [], "nothing is tried again in vain");
}

async fn ed_44_near_a_cap_requests_wait_for_those_under_way(store: Arc<dyn Store>) {
    let room = Room::on(store, EditionHarness::with(1));
    let meter = meter(&room, per_day(1_300));
    let first = meter.reserve(tokens(MOST)).await.unwrap();
    let second = tokio::spawn({
        let meter = Arc::clone(&meter);
        async move { meter.reserve(tokens(MOST)).await }
    });
    for _ in 0..50 {
        tokio::task::yield_now().await;
    }
    assert!(
        !second.is_finished(),
        "it may fit once the first is settled"
    );
    meter.settle(first, tokens(COSTS)).await;
    let second = second.await.unwrap().unwrap();
    meter.settle(second, tokens(MOST)).await;
    assert_eq!(spent(&room).await.tokens(), 1_100);
    let refused = meter.reserve(tokens(MOST)).await.unwrap_err();
    assert_eq!(refused.class, FailureClass::Capped, "none is under way");
    let frees_after = refused.retry_after.unwrap();
    let frees_at = room_now(&room) + frees_after;
    assert_eq!(frees_at.to_string(), "2026-01-05T00:00:00Z");
    room.clock.set(frees_at);
    assert!(meter.reserve(tokens(MOST)).await.is_ok());
}

async fn ed_44_who_dies_before_settling_leaves_the_most_it_could_cost(store: Arc<dyn Store>) {
    let room = Room::on(store, EditionHarness::with(1));
    let caps = per_day(1_300);
    // One is stopped, and one dies with its node.
    drop(meter(&room, caps).reserve(tokens(MOST)).await.unwrap());
    assert_eq!(spent(&room).await.tokens(), MOST);
    let refused = meter(&room, caps).reserve(tokens(MOST)).await.unwrap_err();
    assert_eq!(
        refused.class,
        FailureClass::Capped,
        "and another node knows"
    );
    assert_eq!(spent(&room).await.tokens(), MOST);
}

async fn ed_44_without_caps_everything_is_counted_and_nothing_refused(store: Arc<dyn Store>) {
    let news = EditionHarness::with_places(4, vec![Place::named("github")]);
    let room = Room::on(store, news);
    for _ in 0..3 {
        tick(&room, Caps::default()).await;
    }
    assert!(is_published(&room.account().await));
    let requests = model_requests(&room) as u64;
    let expected = Usage {
        requests,
        ..tokens(requests * COSTS)
    };
    assert_eq!((requests, spent(&room).await), (9, expected));
}
