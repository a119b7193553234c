//! Deadlines and the ladder: ready when readers expect it, with as much as there was time for.

use almanack_core::edition::{ladder::Cause, plan::Waiting, port::FailureClass, story::Note};
use almanack_engine::editions::End;
use almanack_testkit::edition_harness::{InjectedFault, Place};
use jiff::civil::time;

use super::*;

on_both!(
    ed_38_an_edition_begins_in_time_for_its_deadline_by_its_history,
    ed_38_too_little_time_shortens_and_a_revision_improves,
    ed_38_a_slow_outside_is_cut_off_in_time,
    ed_38_a_model_that_is_out_does_not_end_an_edition_empty,
    ed_38_the_model_is_left_alone_for_as_long_as_it_asks,
    ed_38_a_page_that_failed_is_tried_again_and_improved_later,
    ed_38_an_improvement_that_improves_nothing_sends_nothing,
    ed_38_a_day_without_a_node_is_not_hurried,
);

/// One destination that takes revisions.
fn harness(stories: u32) -> EditionHarness {
    EditionHarness::with_places(stories, vec![Place::named("github")])
}

fn at(hour: i8, minute: i8) -> Timestamp {
    let at = today().date.at(hour, minute, 0, 0).to_zoned(TimeZone::UTC);
    at.unwrap().timestamp()
}

fn notes(account: &Account) -> Vec<Option<Note>> {
    account
        .stories
        .iter()
        .map(|story| story.written.note)
        .collect()
}

fn degraded(account: &Account, cause: Cause) -> usize {
    let own = account.stories.iter();
    own.filter(|story| story.written.degraded_by == Some(cause))
        .count()
}

async fn ed_38_an_edition_begins_in_time_for_its_deadline_by_its_history(store: Arc<dyn Store>) {
    let mut room = Room::on(store, harness(8));
    room.settings.rules.stories = 8;
    room.settings.ready_by = Some(time(7, 0, 0, 0));
    room.clock.set(at(0, 0));
    // By its plan: a list and two batches, ten minutes apart; a quarter more, a tick, the deliveries.
    let begins = at(7, 0) - SignedDuration::from_secs((30 * 60) * 5 / 4 + 12 * 60);
    let ticked = room.editions().tick().await.unwrap();
    assert_eq!(ticked.steps[0].end, End::Waits(Waiting::Start(begins)));
    assert_eq!(room.news.calls(), [], "nothing is fetched before");
    assert!(room.editions().account(today()).await.is_err(), "nor kept");
    room.clock.set(begins);
    room.tick_times(4).await;
    let account = room.account().await;
    assert!(is_published(&account));
    assert_eq!(account.edition.due_at, Some(at(7, 0)));
    assert_eq!(notes(&account), [None; 8], "there was time for everything");
    // It took twenty minutes; so the next day it begins later.
    room.clock.set(at(0, 0) + SignedDuration::from_hours(24));
    let ticked = room.editions().tick().await.unwrap();
    let day = SignedDuration::from_hours(24);
    let begins = at(7, 0) + day - SignedDuration::from_mins(20 + 5 + 12);
    assert_eq!(ticked.steps[0].end, End::Waits(Waiting::Start(begins)));
}

async fn ed_38_too_little_time_shortens_and_a_revision_improves(store: Arc<dyn Store>) {
    let mut room = Room::on(store, harness(12));
    room.settings.rules.stories = 12;
    room.settings.ready_by = Some(time(7, 0, 0, 0));
    // No node was there before; a tick for the list, and one more before seven.
    room.clock.set(at(6, 40));
    room.tick_times(2).await;
    let account = room.account().await;
    assert!(is_published(&account), "{}", account.edition.state);
    assert!(account.edition.published_at <= Some(at(7, 0)));
    assert_eq!(notes(&account), [Some(Note::ShortSummary); 12]);
    assert_eq!(degraded(&account, Cause::Time), 12, "and says why");
    let document = room.editions().document(today(), None).await.unwrap();
    assert_eq!(document.inputs.stories[0].degraded_by, Some(Cause::Time));
    // Afterwards there is time.
    room.tick_times(4).await;
    let account = room.account().await;
    assert!(is_published(&account));
    assert_eq!(
        (account.edition.revision, degraded(&account, Cause::Time)),
        (2, 0)
    );
    assert_eq!(notes(&account), [None; 12]);
    assert_eq!(room.sent_to("github"), 2, "the better one takes its place");
    room.news.forget_calls();
    room.tick_times(20).await;
    assert_eq!(room.news.calls(), [], "there is nothing left to improve");
}

async fn ed_38_a_slow_outside_is_cut_off_in_time(store: Arc<dyn Store>) {
    let mut room = Room::on(store, harness(3));
    room.settings.rules.chain = true;
    room.settings.ready_by = Some(time(7, 0, 0, 0));
    room.clock.set(at(6, 57));
    room.news.decide(|call, _| match call {
        Call::Summary(of) if of == "article 1" => InjectedFault::Hangs,
        Call::Page(2) => InjectedFault::Hangs,
        _ => InjectedFault::Well,
    });
    room.tick().await;
    let account = room.account().await;
    assert!(is_published(&account), "{}", account.edition.state);
    assert!(account.edition.published_at <= Some(at(7, 0)));
    let expected = [Some(Note::Extractive), Some(Note::TitleOnly), None];
    assert_eq!(notes(&account), expected);
    let first = account.stories[0].written.content_summary.as_deref();
    assert_eq!(first, Some("抽：article 1: a text."));
    assert_eq!(degraded(&account, Cause::Time), 2);
}

async fn ed_38_a_model_that_is_out_does_not_end_an_edition_empty(store: Arc<dyn Store>) {
    let room = Room::on(store, harness(4));
    room.news.decide(|call, _| match call {
        Call::Titles(_) | Call::Summary(_) => InjectedFault::Fails(FailureClass::Credentials),
        _ => InjectedFault::Well,
    });
    room.tick_times(3).await;
    let account = room.account().await;
    assert!(is_published(&account), "{}", account.edition.state);
    assert_eq!(notes(&account), [Some(Note::Extractive); 4]);
    assert_eq!(degraded(&account, Cause::Model), 4);
    let first = &account.stories[0].written;
    assert_eq!(first.title, None, "its own title");
    room.news.heal();
    room.tick_times(3).await;
    let account = room.account().await;
    assert_eq!(
        (account.edition.revision, degraded(&account, Cause::Model)),
        (2, 0)
    );
    assert_eq!(
        account.stories[0].written.title.as_deref(),
        Some("译：Story 1")
    );
    assert_eq!(account.edition.state, State::Published);
}

async fn ed_38_the_model_is_left_alone_for_as_long_as_it_asks(store: Arc<dyn Store>) {
    let room = Room::on(store, harness(1));
    room.news.decide(|call, before| match call {
        Call::Titles(_) if before == 0 => InjectedFault::Asks(SignedDuration::from_mins(25)),
        _ => InjectedFault::Well,
    });
    room.tick_times(2).await;
    let asked_at = room_now(&room) - TICK;
    let retry_at = room.account().await.stories[0].retry_at;
    assert_eq!(retry_at, Some(asked_at + SignedDuration::from_mins(25)));
    room.news.forget_calls();
    room.tick_times(2).await;
    assert_eq!(room.news.calls(), [], "ten and twenty minutes later");
    room.tick().await;
    assert!(is_published(&room.account().await));
}

async fn ed_38_a_page_that_failed_is_tried_again_and_improved_later(store: Arc<dyn Store>) {
    let room = Room::on(store, harness(2));
    room.news.decide(|call, before| match call {
        Call::Page(1) if before == 0 => InjectedFault::Fails(FailureClass::Transient),
        Call::Page(2) if before < 2 => InjectedFault::Fails(FailureClass::Transient),
        _ => InjectedFault::Well,
    });
    room.tick_times(2).await;
    let account = room.account().await;
    assert!(is_published(&account));
    assert_eq!(notes(&account), [None, Some(Note::TitleOnly)]);
    assert_eq!(degraded(&account, Cause::Page), 1);
    room.tick_times(3).await;
    let account = room.account().await;
    assert_eq!(
        (account.edition.revision, notes(&account)),
        (2, vec![None; 2])
    );
    let pages = count_calls(&room.news.calls(), |call| *call == Call::Page(1));
    assert_eq!(pages, 2, "what readers have is not read again");
}

async fn ed_38_an_improvement_that_improves_nothing_sends_nothing(store: Arc<dyn Store>) {
    let room = Room::on(store, harness(2));
    room.news.decide(|call, _| match call {
        Call::Page(2) => InjectedFault::Fails(FailureClass::Credentials),
        _ => InjectedFault::Well,
    });
    room.tick_times(2).await;
    let published_at = room.account().await.edition.published_at;
    room.tick_times(60).await;
    let account = room.account().await;
    assert_eq!(account.edition.state, State::Published);
    assert_eq!(
        (account.edition.revision, account.edition.published_at),
        (1, published_at)
    );
    assert_eq!(room.sent_to("github"), 1);
    let pages = count_calls(&room.news.calls(), |call| *call == Call::Page(2));
    assert_eq!(pages, 1 + 3, "a few tries, and no more");
    assert_eq!(room.open_alerts().await, Vec::<String>::new());
}

async fn ed_38_a_day_without_a_node_is_not_hurried(store: Arc<dyn Store>) {
    let mut room = Room::on(store, harness(2));
    room.settings.ready_by = Some(time(7, 0, 0, 0));
    room.clock.set(at(9, 0));
    room.tick_times(2).await;
    let account = room.account().await;
    assert!(is_published(&account));
    assert_eq!(notes(&account), [None; 2], "it is late anyhow");
}
