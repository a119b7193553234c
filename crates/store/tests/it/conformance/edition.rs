//! Opening editions; every value of theirs survives.

use std::sync::Arc;

use almanack_core::{
    budget::Spend,
    edition::{
        Account, Edition, State,
        account::Change,
        batch, delivery,
        delivery::Delivery,
        document::Document,
        hold::{Decision, Hold, HoldReason, OnSilence, Verdict},
        ladder::Cause,
        prompts,
        rules::STORIES_MAX,
        story::{self, CommentNote, Note, Story, Written},
    },
    store::{EditionFilter, EditionWritten, Error, Store},
    time::LATEST,
};
use almanack_testkit::fixture::{
    START, at,
    edition::{batch, day, delivery, document, story},
};
use jiff::{SignedDuration, Timestamp};

use super::{account_of, changed, opened};

/// Created once, in `init`; opening it again answers what is there, however late it is.
pub(crate) async fn ed_04_a_day_is_opened_once(store: Arc<dyn Store>) {
    let new = Edition::new(day(0), START);
    let first = store.open_edition(day(0).into(), START).await.unwrap();
    assert_eq!(first, (new.clone(), true));
    let again = store.open_edition(day(0).into(), at(60)).await.unwrap();
    assert_eq!(again, (new.clone(), false));
    let next = store.open_edition(day(1).into(), at(60)).await.unwrap();
    assert_eq!(next, (Edition::new(day(1), at(60)), true));
    let mut change = Change::of(new);
    change.edition.state = State::ListFetched;
    changed(&*store, change).await;
    let (worked_on, created) = store.open_edition(day(0).into(), at(120)).await.unwrap();
    assert_eq!((worked_on.state, created), (State::ListFetched, false));
    assert_eq!(worked_on.version, 1);
}

/// However many nodes tick at the first moment of a day, it is one edition.
pub(crate) async fn ed_14_of_many_who_open_a_day_one_creates_it(store: Arc<dyn Store>) {
    for round in 0..5 {
        let mut nodes = Vec::new();
        for node in 0..8 {
            let store = Arc::clone(&store);
            nodes.push(tokio::spawn(async move {
                store.open_edition(day(round).into(), at(node)).await
            }));
        }
        let mut answers = Vec::new();
        for node in nodes {
            answers.push(node.await.expect("a node").expect("open_edition"));
        }
        let created = answers.iter().filter(|(_, created)| *created).count();
        assert_eq!(created, 1);
        let kept = account_of(&*store, day(round)).await.edition;
        assert!(answers.iter().all(|(opened, _)| *opened == kept));
    }
}

/// Nothing is known of it, and nothing comes of writing it.
pub(crate) async fn an_unknown_day_has_nothing_and_takes_nothing(store: Arc<dyn Store>) {
    opened(&*store, 1).await;
    let mut change = Change::of(Edition::new(day(0), START));
    change.stories = vec![story(1)];
    change.document = Some(document(day(0), 1, &[]));
    let written = store.write_edition(change).await.unwrap();
    assert_eq!(written, EditionWritten::Lost);
    assert_eq!(store.load_account(day(0).into()).await.unwrap(), None);
    assert_eq!(
        store.load_document(day(0).into(), None).await.unwrap(),
        None
    );
    assert_eq!(
        store.load_document(day(0).into(), Some(1)).await.unwrap(),
        None
    );
    let filter = EditionFilter {
        limit: 9,
        ..EditionFilter::default()
    };
    assert_eq!(store.list_editions(&filter).await.unwrap().len(), 1);
    let (_, created) = store.open_edition(day(0).into(), START).await.unwrap();
    assert!(created);
    assert_eq!(account_of(&*store, day(0)).await.stories, []);
}

const ODD: &str = "满 'n\" \\ %_ 🦀\n\t; drop table story; --";

fn odd() -> String {
    ODD.to_owned()
}

/// Not a whole second.
fn moment() -> Timestamp {
    START + SignedDuration::from_micros(123_457)
}

fn full_edition(seen: &Edition) -> Edition {
    Edition {
        state: State::Archived,
        archived_from: Some(State::Published),
        revision: 3,
        story_source: Some(odd()),
        list_requests: u32::MAX,
        fetching_until: Some(moment()),
        started_at: at(-7),
        reopened_at: Some(moment()),
        published_at: Some(LATEST),
        reason: Some(odd()),
        hold: Some(full_hold()),
        due_at: Some(moment()),
        ready_at: Some(LATEST),
        improving_at: Some(moment()),
        overview: Some(odd()),
        overview_prompt: Some(odd()),
        updated_at: at(7),
        ..seen.clone()
    }
}

/// Decided, by a person with an odd name (ED-39).
fn full_hold() -> Hold {
    Hold {
        until: Some(moment()),
        on_silence: OnSilence::Publish,
        decision: Some(Decision {
            verdict: Verdict::Approved,
            by: odd(),
            at: LATEST,
        }),
        ..Hold::new(HoldReason::Quality, moment())
    }
}

fn full_story(number: u32) -> Story {
    let mut full = story(number);
    full.listed.discussion_url = Some(odd());
    ODD.clone_into(&mut full.listed.title);
    full.listed.score = Some(i64::MIN);
    full.listed.comment_count = Some(u32::MAX);
    full.listed.published_at = Some(moment());
    full.listed.text = Some(String::new());
    full.listed.source_name = Some(odd());
    full.listed.topic = Some(odd());
    Story {
        status: story::Status::Failed,
        batch: Some(u32::MAX),
        written: Written {
            title: Some(odd()),
            content_summary: Some(String::new()),
            comment_summary: Some(odd()),
            note: Some(Note::Extractive),
            degraded_by: Some(Cause::Model),
            comment_note: Some(CommentNote::Unread),
            image_url: Some(odd()),
            reading_minutes: Some(u32::MAX),
            prompts: prompts::Kind::ALL.map(|kind| (kind, odd())).into(),
        },
        error_message: Some(odd()),
        retry_count: u32::MAX,
        retry_at: Some(moment()),
        updated_at: LATEST,
        ..full
    }
}

fn full_delivery() -> Delivery {
    Delivery {
        part: u32::MAX,
        body: Some(odd()),
        state: delivery::State::Unknown,
        attempts: u32::MAX,
        lease_until: Some(moment()),
        retry_at: Some(LATEST),
        detail: Some(odd()),
        receipt: Some(String::new()),
        requests: u32::MAX,
        updated_at: at(-1),
        ..delivery(3, ODD)
    }
}

/// A change in which nothing is left out.
fn full(seen: &Edition) -> Change {
    let batch = batch::Batch {
        status: batch::Status::Partial,
        story_count: u32::MAX,
        node: String::new(),
        spend: Spend {
            requests: u32::MAX,
            model_requests: 2,
            tokens_in: u64::try_from(i64::MAX).unwrap(),
            tokens_out: 3,
        },
        error_message: Some(odd()),
        lease_until: LATEST,
        ended_at: Some(moment()),
        ..batch(u32::MAX)
    };
    Change {
        edition: full_edition(seen),
        stories: vec![full_story(1)],
        batches: vec![batch],
        deliveries: vec![full_delivery()],
        document: None,
        event_tasks: Vec::new(),
    }
}

/// The same rows with everything left out that can be.
fn bare(seen: &Edition) -> Change {
    let mut bare = Change::of(Edition {
        version: seen.version,
        revision: 3,
        ..Edition::new(seen.id, START)
    });
    bare.stories = vec![story(1)];
    bare.batches = vec![batch(u32::MAX)];
    bare.deliveries = vec![Delivery {
        part: u32::MAX,
        ..delivery(3, ODD)
    }];
    bare
}

/// Every column with a value and without, when it is new and when it is replaced.
pub(crate) async fn every_field_of_an_account_survives(store: Arc<dyn Store>) {
    for (number, turns) in [[full, bare, full], [bare, full, bare]].iter().enumerate() {
        let mut kept = opened(&*store, i32::try_from(number).unwrap()).await;
        for turn in turns {
            let change = turn(&kept.edition);
            let expected = change.clone().apply(kept);
            changed(&*store, change).await;
            kept = account_of(&*store, expected.edition.id).await;
            assert_eq!(kept, expected);
        }
    }
}

/// Every state, status and note.
pub(crate) async fn every_word_of_an_edition_survives(store: Arc<dyn Store>) {
    let mut kept = opened(&*store, 0).await;
    for (turn, state) in State::ALL.into_iter().enumerate() {
        let mut change = Change::of(kept.edition.clone());
        change.edition.state = state;
        change.edition.archived_from = (turn % 2 == 0).then_some(state);
        change.edition.revision = 1;
        change.stories = vec![story(1)];
        change.stories[0].status = story::Status::ALL[turn % 4];
        change.stories[0].written.note = [Note::TitleOnly, Note::NotSummarised].get(turn).copied();
        change.batches = vec![batch(1)];
        change.batches[0].status = batch::Status::ALL[turn % 4];
        change.deliveries = vec![delivery(1, "web")];
        change.deliveries[0].state = delivery::State::ALL[turn % 6];
        let expected = change.clone().apply(kept);
        changed(&*store, change).await;
        kept = account_of(&*store, day(0)).await;
        assert_eq!(kept, expected);
    }
}

/// By rank, index, destination and part; in whatever order they were written.
pub(crate) async fn rows_of_an_account_come_in_order(store: Arc<dyn Store>) {
    let kept = opened(&*store, 0).await;
    let mut change = Change::of(kept.edition.clone());
    change.edition.revision = 1;
    change.stories = [10, 2, 1, 9, 100].map(story).to_vec();
    change.batches = [10, 9, 2, 11, 1].map(batch).to_vec();
    for (destination, part) in [("web", 1), ("Web", 10), ("a", 10), ("a", 9), ("é", 1)] {
        let made = delivery(1, destination);
        change.deliveries.push(Delivery { part, ..made });
    }
    changed(&*store, change).await;
    let account = account_of(&*store, day(0)).await;
    let ranks: Vec<u32> = account.stories.iter().map(|story| story.rank).collect();
    assert_eq!(ranks, [1, 2, 9, 10, 100]);
    let indices: Vec<u32> = account.batches.iter().map(|batch| batch.index).collect();
    assert_eq!(indices, [1, 2, 9, 10, 11]);
    let deliveries = account.deliveries.iter();
    let parts: Vec<(&str, u32)> = deliveries
        .map(|d| (d.destination.as_str(), d.part))
        .collect();
    let expected = [("Web", 10), ("a", 9), ("a", 10), ("web", 1), ("é", 1)];
    assert_eq!(parts, expected);
}

/// As many stories as there may be, each with much to say, and the document of all of them, in one
/// change.
pub(crate) async fn the_largest_edition_survives(store: Arc<dyn Store>) {
    let seen = opened(&*store, 0).await;
    let mut change = Change::of(seen.edition.clone());
    for number in 1..=u32::try_from(STORIES_MAX).unwrap() {
        let mut large = full_story(number);
        large.listed.text = Some("文".repeat(20_000));
        large.written.content_summary = Some("x".repeat(20_000));
        change.stories.push(large);
    }
    let made = Document {
        body: "# é\n".repeat(500_000),
        ..document(day(0), 1, &change.stories)
    };
    change.edition.revision = 1;
    change.document = Some(made.clone());
    change.deliveries = vec![Delivery {
        body: Some("字".repeat(300_000)),
        ..delivery(1, "web")
    }];
    let expected: Account = change.clone().apply(seen);
    changed(&*store, change).await;
    assert_eq!(account_of(&*store, day(0)).await, expected);
    let read = store.load_document(day(0).into(), None).await.unwrap();
    assert_eq!(read, Some(made));
}

/// The same story, batch, delivery and revision in two editions are two.
pub(crate) async fn editions_share_no_rows(store: Arc<dyn Store>) {
    let mut expected = Vec::new();
    for (number, said) in ["monday", "tuesday"].into_iter().enumerate() {
        let seen = opened(&*store, i32::try_from(number).unwrap()).await;
        let id = seen.edition.id;
        let mut change = full(&seen.edition);
        change.stories[0].error_message = Some(said.to_owned());
        change.batches[0].error_message = Some(said.to_owned());
        change.deliveries[0].detail = Some(said.to_owned());
        let made = document(id, 3, &change.stories);
        change.document = Some(made.clone());
        expected.push((change.clone().apply(seen), made));
        changed(&*store, change).await;
    }
    for (account, made) in expected {
        let id = account.edition.id;
        assert_eq!(account_of(&*store, id).await, account);
        assert_eq!(store.load_document(id, None).await.unwrap(), Some(made));
    }
}

/// A text that a database cannot keep is refused for good or kept whole; refused, it takes the
/// change with it.
pub(crate) async fn a_null_byte_in_an_edition_is_refused_or_kept(store: Arc<dyn Store>) {
    let seen = opened(&*store, 0).await;
    let mut change = Change::of(seen.edition.clone());
    change.stories = vec![story(1), story(2), story(3)];
    change.stories[1].written.title = Some("a\0b".to_owned());
    change.batches = vec![batch(1)];
    let expected = match store.write_edition(change.clone()).await {
        Ok(written) => {
            assert_eq!(written, EditionWritten::Done);
            change.apply(seen)
        }
        Err(error) => {
            assert!(matches!(error, Error::Refused { .. }), "{}", error.chain());
            seen
        }
    };
    let kept = account_of(&*store, day(0)).await;
    assert_eq!(kept, expected);
    let mut healthy = Change::of(kept.edition);
    healthy.stories = vec![story(4)];
    changed(&*store, healthy).await;
}

/// The longest names there may be are kept; longer ones are refused, and nothing beside them is
/// written.
pub(crate) async fn names_that_are_too_long_are_refused(store: Arc<dyn Store>) {
    const BYTES_MAX: usize = 500;
    let named = |seen: &Edition, bytes: usize| {
        let name = "é".repeat(bytes / 2);
        let mut change = Change::of(seen.clone());
        change.edition.revision = 1;
        change.stories = vec![story(1)];
        change.stories[0].listed.key.0.clone_from(&name);
        change.deliveries = vec![delivery(1, &name)];
        change
    };
    let seen = opened(&*store, 0).await;
    let long = named(&seen.edition, BYTES_MAX + 2);
    for only in 0..2 {
        let mut change = named(&seen.edition, 2);
        match only {
            0 => change.stories.clone_from(&long.stories),
            _ => change.deliveries.clone_from(&long.deliveries),
        }
        let refused = store.write_edition(change).await;
        assert!(matches!(refused, Err(Error::Refused { .. })), "{refused:?}");
        assert_eq!(account_of(&*store, day(0)).await, seen);
    }
    let change = named(&seen.edition, BYTES_MAX);
    let expected = change.clone().apply(seen);
    changed(&*store, change).await;
    assert_eq!(account_of(&*store, day(0)).await, expected);
}
