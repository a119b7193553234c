//! What opens an edition, and what is said where nothing could be read.

use std::sync::atomic::{AtomicU32, Ordering};

use almanack_core::{
    budget::Budget,
    edition::{
        document::Printed,
        port::{Failure, FailureClass, Length, Sensitivity, Text, Writer},
        story::CommentNote,
    },
};
use almanack_testkit::edition_harness::InjectedFault;
use async_trait::async_trait;

use super::*;

/// Writes as the harness does, and an overview as well.
struct Opening {
    writer: Arc<dyn Writer>,
    asked: AtomicU32,
    fails: bool,
}

#[async_trait]
impl Writer for Opening {
    fn name(&self) -> &'static str {
        "opening"
    }

    async fn titles(
        &self,
        titles: &[String],
        budget: &Arc<Budget>,
    ) -> Result<Option<Vec<Option<String>>>, Failure> {
        self.writer.titles(titles, budget).await
    }

    async fn summary(
        &self,
        text: Text<'_>,
        length: Length,
        budget: &Arc<Budget>,
    ) -> Result<String, Failure> {
        self.writer.summary(text, length, budget).await
    }

    async fn overview(
        &self,
        stories: &[Printed],
        budget: &Arc<Budget>,
    ) -> Result<Option<String>, Failure> {
        let _ticket = budget.take().map_err(|_| Failure::spent())?;
        self.asked.fetch_add(1, Ordering::Relaxed);
        if self.fails {
            return Err(Failure::new(FailureClass::Transient, "no answer"));
        }
        Ok(Some(format!("{} stories", stories.len())))
    }

    async fn judge(
        &self,
        titles: &[String],
        sensitivity: Sensitivity,
        budget: &Arc<Budget>,
    ) -> Result<Vec<bool>, Failure> {
        self.writer.judge(titles, sensitivity, budget).await
    }
}

/// The same process with a model that opens editions.
fn opened(room: &Room, fails: bool) -> (Arc<Editions>, Arc<Opening>) {
    let editions = room.editions();
    let writer = Arc::new(Opening {
        writer: editions.outside.writer.clone(),
        asked: AtomicU32::new(0),
        fails,
    });
    let mut editions = Arc::try_unwrap(editions).unwrap_or_else(|_| unreachable!());
    editions.outside.writer = writer.clone();
    (Arc::new(editions), writer)
}

async fn overview_is_asked_for_once(store: Arc<dyn Store>) {
    let room = Room::on(store, EditionHarness::with(8));
    let (editions, writer) = opened(&room, false);
    let plain = 1 + (4 * 8 + 2);
    for _ in 0..9 {
        editions.tick().await.unwrap();
        room.clock.advance(TICK);
    }
    let account = room.account().await;
    assert!(is_published(&account));
    let document = editions.document(today(), None).await.unwrap();
    assert_eq!(document.inputs.overview.as_deref(), Some("8 stories"));
    assert_eq!(writer.asked.load(Ordering::Relaxed), 1);
    let batches: u32 = account.batches.iter().map(|it| it.spend.requests).sum();
    assert_eq!(
        account.edition.list_requests + batches,
        plain + 1,
        "one more request, and it is counted"
    );
    let revised = editions.retry(today(), None, "ada").await.unwrap();
    assert_eq!(
        (revised.stories, writer.asked.load(Ordering::Relaxed)),
        (0, 1)
    );
    editions.reset(today(), "ada").await.unwrap();
    assert_eq!(room.account().await.edition.overview, None, "made anew");
}

/// Batches that overlap open their edition once, when the last of their stories is there.
async fn overview_of_a_wave_is_about_all_of_it(store: Arc<dyn Store>) {
    let mut room = Room::on(store, EditionHarness::with(20));
    room.settings.rules.chain = true;
    let (editions, writer) = opened(&room, false);
    for _ in 0..9 {
        editions.tick().await.unwrap();
        room.clock.advance(TICK);
    }
    let document = editions.document(today(), None).await.unwrap();
    assert_eq!(document.inputs.overview.as_deref(), Some("20 stories"));
    assert_eq!(writer.asked.load(Ordering::Relaxed), 1);
}

async fn ed_36_an_overview_that_could_not_be_had_is_the_stories_own(store: Arc<dyn Store>) {
    let room = Room::on(store, EditionHarness::with(2));
    let (editions, writer) = opened(&room, true);
    for _ in 0..4 {
        editions.tick().await.unwrap();
        room.clock.advance(TICK);
    }
    let document = editions.document(today(), None).await.unwrap();
    let overview = document.inputs.overview.unwrap();
    assert!(
        overview.starts_with("译：Story 1 — 摘要：article 1"),
        "{overview}"
    );
    assert_eq!(writer.asked.load(Ordering::Relaxed), 1);
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
    ed_36_an_overview_that_could_not_be_had_is_the_stories_own,
    ed_36_comments_that_were_not_read_are_not_called_missing,
}
