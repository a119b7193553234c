//! What opens an edition, and what is said where nothing could be read.

use almanack_core::edition::{port::FailureClass, prompts::Kind, story::CommentNote};
use almanack_testkit::edition_harness::InjectedFault;

use super::*;

fn overviews(room: &Room) -> usize {
    count_calls(&room.news.calls(), |call| matches!(call, Call::Overview(_)))
}

async fn overview_is_asked_for_once(store: Arc<dyn Store>) {
    let room = Room::on(store, EditionHarness::with(8).opening());
    let editions = room.editions();
    let plain = 1 + (4 * 8 + 2);
    for _ in 0..9 {
        editions.tick().await.unwrap();
        room.clock.advance(TICK);
    }
    let account = room.account().await;
    assert!(is_published(&account));
    let document = editions.document(today(), None).await.unwrap();
    assert_eq!(document.inputs.overview.as_deref(), Some("8 stories"));
    assert_eq!(overviews(&room), 1);
    let prompts = editions.outside.writer.prompts().unwrap();
    let version = prompts.of(Kind::Overview).version.as_str();
    assert_eq!(account.edition.overview_prompt.as_deref(), Some(version));
    let batches: u32 = account.batches.iter().map(|it| it.spend.requests).sum();
    assert_eq!(
        account.edition.list_requests + batches,
        plain + 1,
        "one more request, and it is counted"
    );
    let revised = editions.retry(today(), None, "ada").await.unwrap();
    assert_eq!((revised.stories, overviews(&room)), (0, 1));
    editions.reset(today(), "ada").await.unwrap();
    let edition = room.account().await.edition;
    let opens = (edition.overview, edition.overview_prompt);
    assert_eq!(opens, (None, None), "made anew");
}

async fn opened_by(room: &Room) -> Option<String> {
    room.tick_times(9).await;
    let document = room.editions().document(today(), None).await.unwrap();
    document.inputs.overview
}

/// Batches that overlap open their edition once, when the last of their pages is in.
async fn overview_of_a_wave_is_about_all_of_it(store: Arc<dyn Store>) {
    let mut room = Room::on(store, EditionHarness::with(20).opening());
    room.settings.rules.chain = true;
    assert_eq!(opened_by(&room).await.as_deref(), Some("20 stories"));
    assert_eq!(overviews(&room), 1);
}

/// Asked for beside the summaries, it has to be asked for again if a story of it is not there.
async fn overview_is_about_no_story_that_failed(store: Arc<dyn Store>) {
    let mut room = Room::on(store, EditionHarness::with(8).opening());
    room.settings.rules.retries_by_itself = 0;
    room.settings.rules.chain = true;
    room.news.decide(|call, _| match call {
        Call::Titles(6) => InjectedFault::Lacks,
        _ => InjectedFault::Well,
    });
    assert_eq!(opened_by(&room).await.as_deref(), Some("7 stories"));
    assert_eq!(overviews(&room), 2);
}

/// A batch needs its whole budget: then the overview is what may be missing.
async fn overview_takes_no_request_from_a_story(store: Arc<dyn Store>) {
    let mut room = Room::on(store, EditionHarness::with(6).opening());
    room.settings.rules.budget = 25;
    let opened = opened_by(&room).await.unwrap();
    assert!(opened.starts_with("译：Story 1"), "{opened}");
    assert_eq!(overviews(&room), 0);
    let account = room.account().await;
    assert_eq!(account.batches.len(), 1, "every story was tried at once");
}

async fn ed_36_an_overview_that_could_not_be_had_is_the_stories_own(store: Arc<dyn Store>) {
    let room = Room::on(store, EditionHarness::with(2).opening());
    room.news.decide(|call, _| match call {
        Call::Overview(_) => InjectedFault::Fails(FailureClass::Transient),
        _ => InjectedFault::Well,
    });
    let overview = opened_by(&room).await.unwrap();
    assert!(
        overview.starts_with("译：Story 1 — 摘要：article 1"),
        "{overview}"
    );
    assert_eq!(overviews(&room), 1);
}

/// "No comments" is said only of a story that nobody has said anything about.
async fn ed_36_comments_that_were_not_read_are_not_called_missing(store: Arc<dyn Store>) {
    let news = EditionHarness::with(2);
    news.decide(|call, _| match call {
        Call::Comments(1) => InjectedFault::Fails(FailureClass::Refused),
        Call::Comments(2) => InjectedFault::Lacks,
        _ => InjectedFault::Well,
    });
    let room = Room::on(store, news);
    room.tick_times(3).await;
    let account = room.account().await;
    for story in &account.stories {
        // The list counts three comments of each.
        assert_eq!(story.written.comment_summary, None);
        assert_eq!(story.written.comment_note, Some(CommentNote::Unread));
    }
    assert!(
        account
            .stories
            .iter()
            .all(|it| it.written.reading_minutes == Some(1))
    );
}

on_both! {
    overview_is_asked_for_once,
    overview_of_a_wave_is_about_all_of_it,
    overview_is_about_no_story_that_failed,
    overview_takes_no_request_from_a_story,
    ed_36_an_overview_that_could_not_be_had_is_the_stories_own,
    ed_36_comments_that_were_not_read_are_not_called_missing,
}
