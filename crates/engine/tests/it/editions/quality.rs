//! The quality gate: what is below its standard is held and reported, not sent.

use almanack_core::edition::{
    hold::HoldReason, plan::Waiting, port::FailureClass, quality::Quality,
};
use almanack_engine::editions::{End, Unwatched};
use almanack_testkit::edition_harness::InjectedFault;

use super::*;

on_both!(
    ed_39_an_edition_of_bare_titles_is_held_and_reported_and_not_sent,
    ed_39_what_becomes_good_enough_goes_out_by_itself,
    ed_39_a_person_publishes_what_is_held,
    ed_39_too_few_stories_are_held,
    ed_39_a_destination_that_is_not_ready_holds_the_edition,
);

/// A room whose crawler does not accept our token.
fn room_without_pages(store: Arc<dyn Store>) -> Room {
    let mut room = Room::on(store, EditionHarness::with(6));
    room.settings.rules.quality = Quality {
        text_percent_min: 50,
        ..Quality::default()
    };
    room.news.decide(|call, _| match call {
        Call::Page(_) => InjectedFault::Fails(FailureClass::Credentials),
        _ => InjectedFault::Well,
    });
    room
}

fn nothing_sent(room: &Room) -> bool {
    room.sent_to("github") + room.sent_to("telegram") == 0
}

async fn ed_39_an_edition_of_bare_titles_is_held_and_reported_and_not_sent(store: Arc<dyn Store>) {
    let room = room_without_pages(store);
    room.tick_times(2).await;
    let account = room.account().await;
    let edition = &account.edition;
    assert_eq!(
        (edition.state, edition.published_at),
        (State::Aggregating, None)
    );
    let hold = edition.hold.as_ref().unwrap();
    assert_eq!(
        (hold.reason, hold.is_waiting()),
        (HoldReason::Quality, true)
    );
    let why = "below its quality standard: 0 of 6 stories have a text, fewer than 50 percent";
    assert_eq!(edition.reason.as_deref(), Some(why));
    assert!(room.open_alerts().await.contains(&"quality".to_owned()));
    let ran = room.editions().run(today(), &Unwatched).await.unwrap();
    assert!(matches!(
        ran.end,
        End::Waits(Waiting::Held(HoldReason::Quality, _))
    ));
    // All day long.
    room.tick_times(60).await;
    assert!(nothing_sent(&room));
    let pages = count_calls(&room.news.calls(), |call| matches!(call, Call::Page(1)));
    assert!(
        (2..=8).contains(&pages),
        "tried again, ever more slowly: {pages}"
    );
    assert_eq!(
        room.account().await.edition.revision,
        1,
        "no revision of the same"
    );
}

async fn ed_39_what_becomes_good_enough_goes_out_by_itself(store: Arc<dyn Store>) {
    let room = room_without_pages(store);
    room.tick_times(2).await;
    assert!(nothing_sent(&room));
    room.news.heal();
    room.tick_times(3).await;
    let account = room.account().await;
    assert!(is_published(&account), "{}", account.edition.state);
    assert_eq!((account.edition.revision, account.edition.hold), (2, None));
    assert_eq!((room.sent_to("github"), room.sent_to("telegram")), (1, 2));
    assert_eq!(room.open_alerts().await, Vec::<String>::new());
}

async fn ed_39_a_person_publishes_what_is_held(store: Arc<dyn Store>) {
    let room = room_without_pages(store);
    room.tick_times(2).await;
    let forced = room.editions().force_publish(today(), "ada").await.unwrap();
    assert!(is_published(&forced.account));
    let decided = forced.account.edition.hold.unwrap().decision.unwrap();
    assert_eq!(decided.by, "ada");
    assert_eq!((room.sent_to("github"), room.sent_to("telegram")), (1, 2));
    assert_eq!(room.open_alerts().await, Vec::<String>::new());
    // What is still below the standard does not replace what a person published.
    room.tick_times(12).await;
    let account = room.account().await;
    assert_eq!(
        (account.edition.state, account.edition.revision),
        (State::Published, 1)
    );
    assert_eq!(room.sent_to("github"), 1);
}

async fn ed_39_too_few_stories_are_held(store: Arc<dyn Store>) {
    let mut room = Room::on(store, EditionHarness::with(2));
    room.settings.rules.quality.stories_min = 3;
    room.tick_times(2).await;
    assert!(nothing_sent(&room));
    let reason = room.account().await.edition.reason.unwrap();
    assert!(reason.contains("2 stories, fewer than 3"), "{reason}");
}

async fn ed_39_a_destination_that_is_not_ready_holds_the_edition(store: Arc<dyn Store>) {
    let mut room = Room::on(store, EditionHarness::with(2));
    room.settings.rules.quality.destinations = true;
    room.news.decide(|call, _| match call {
        Call::Ready(of) if of == "telegram" => InjectedFault::Fails(FailureClass::Credentials),
        _ => InjectedFault::Well,
    });
    room.tick_times(3).await;
    assert!(nothing_sent(&room), "half an edition is none");
    let reason = room.account().await.edition.reason.unwrap();
    assert!(reason.contains("telegram is not ready"), "{reason}");
    assert!(room.open_alerts().await.contains(&"quality".to_owned()));
    room.news.heal();
    room.tick_times(3).await;
    assert!(is_published(&room.account().await));
    assert_eq!((room.sent_to("github"), room.sent_to("telegram")), (1, 2));
}
