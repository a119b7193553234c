//! Writing editions: each change whole or not at all, and only by a writer that saw the edition as
//! it is.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use almanack_core::{
    edition::{
        Edition, State,
        account::Change,
        batch::Batch,
        delivery::{self, Delivery},
        story,
    },
    store::{EditionWritten, Error, Store},
};
use almanack_testkit::fixture::{
    at,
    edition::{batch, day, delivery, document, story},
};

use super::{account_of, changed, opened};

/// A change of something everywhere, which says `said` in all its rows.
fn everywhere(seen: &Edition, said: &str) -> Change {
    let text = || Some(said.to_owned());
    let mut change = Change::of(seen.clone());
    change.edition.reason = text();
    change.edition.updated_at = at(9);
    change.stories = vec![story(1), story(2)];
    for story in &mut change.stories {
        story.error_message = text();
    }
    change.batches = vec![batch(1)];
    change.batches[0].error_message = text();
    change.deliveries = vec![delivery(seen.revision, "web")];
    change.deliveries[0].detail = text();
    change
}

/// Who saw an older edition writes nothing: no row of any kind, known or new.
pub(crate) async fn ed_16_a_lost_change_changes_nothing_at_all(store: Arc<dyn Store>) {
    let new = opened(&*store, 0).await.edition;
    changed(&*store, everywhere(&new, "first")).await;
    let before = account_of(&*store, day(0)).await;
    for version in [new.version, before.edition.version + 1, -1] {
        let seen = Edition {
            version,
            ..before.edition.clone()
        };
        let mut stale = everywhere(&seen, "stale");
        stale.edition.state = State::Published;
        stale.edition.published_at = Some(at(9));
        stale.stories.push(story(3));
        stale.batches.push(batch(2));
        stale.deliveries.push(delivery(0, "elsewhere"));
        stale.deliveries.push(delivery(1, "web"));
        stale.document = Some(document(day(0), 1, &[]));
        let written = store.write_edition(stale).await.unwrap();
        assert_eq!(written, EditionWritten::Lost);
        assert_eq!(account_of(&*store, day(0)).await, before);
        assert_eq!(
            store.load_document(day(0).into(), None).await.unwrap(),
            None
        );
    }
    // Deliveries of another document would not be in the account.
    let turned = turned_to(&*store, 1).await;
    assert_eq!(turned, []);
}

/// Turns an edition to the document numbered `revision`, to see what became of its deliveries.
async fn turned_to(store: &dyn Store, revision: u32) -> Vec<Delivery> {
    let mut turn = Change::of(account_of(store, day(0)).await.edition);
    turn.edition.revision = revision;
    changed(store, turn).await;
    account_of(store, day(0)).await.deliveries
}

/// A reply that was lost is no reason to write twice.
pub(crate) async fn ed_16_a_repeated_change_is_lost(store: Arc<dyn Store>) {
    let seen = opened(&*store, 0).await;
    let mut change = everywhere(&seen.edition, "once");
    change.deliveries = Vec::new();
    change.document = Some(document(day(0), 1, &[]));
    let expected = change.clone().apply(seen);
    changed(&*store, change.clone()).await;
    let again = store.write_edition(change).await.unwrap();
    assert_eq!(again, EditionWritten::Lost);
    assert_eq!(account_of(&*store, day(0)).await, expected);
}

/// However many nodes saw the same edition, one of them goes on, and of the others nothing is left.
pub(crate) async fn ed_16_of_eight_concurrent_changes_one_is_written(store: Arc<dyn Store>) {
    let mut seen = opened(&*store, 0).await;
    for round in 1..6 {
        let mut racers = Vec::new();
        for node in 0..8 {
            let mut change = everywhere(&seen.edition, &format!("node {node}"));
            let number = round * 100 + node;
            change.stories.push(story(number));
            change.batches.push(batch(number));
            let store = Arc::clone(&store);
            racers.push(tokio::spawn(async move {
                (store.write_edition(change.clone()).await, change)
            }));
        }
        let mut won = Vec::new();
        for racer in racers {
            let (written, change) = racer.await.expect("a racer");
            if written.expect("write_edition") == EditionWritten::Done {
                won.push(change);
            }
        }
        assert_eq!(won.len(), 1, "{won:?}");
        seen = won.remove(0).apply(seen);
        assert_eq!(account_of(&*store, day(0)).await, seen);
    }
}

/// While it is written again and again, everything that is read together was written together.
pub(crate) async fn ed_16_an_account_is_of_one_moment(store: Arc<dyn Store>) {
    let new = opened(&*store, 0).await.edition;
    changed(&*store, everywhere(&new, "0")).await;
    let over = Arc::new(AtomicBool::new(false));
    let writer = {
        let (store, over) = (Arc::clone(&store), Arc::clone(&over));
        tokio::spawn(async move {
            for version in 1..100 {
                let seen = Edition {
                    version,
                    ..new.clone()
                };
                changed(&*store, everywhere(&seen, &version.to_string())).await;
            }
            over.store(true, Ordering::SeqCst);
        })
    };
    while !over.load(Ordering::SeqCst) && !writer.is_finished() {
        let account = account_of(&*store, day(0)).await;
        let said = account.edition.reason.clone();
        let of = (account.edition.version - 1).to_string();
        assert_eq!(said.as_ref(), Some(&of));
        assert!(account.stories.iter().all(|s| s.error_message == said));
        assert!(account.batches.iter().all(|b| b.error_message == said));
        assert!(account.deliveries.iter().all(|d| d.detail == said));
        tokio::task::yield_now().await;
    }
    writer.await.expect("the writer");
}

/// A list that is inserted twice is one list, and of two rows with one key in a change the later
/// one wins.
pub(crate) async fn ed_14_a_story_is_in_an_edition_once(store: Arc<dyn Store>) {
    let seen = opened(&*store, 0).await.edition;
    let mut change = Change::of(seen);
    change.stories = vec![story(1), story(2), story(1)];
    change.stories[2].retry_count = 1;
    changed(&*store, change.clone()).await;
    let first = account_of(&*store, day(0)).await;
    assert_eq!(first.stories, [change.stories[2].clone(), story(2)]);
    let mut again = Change::of(first.edition);
    again.stories = vec![story(3), story(2), story(1)];
    changed(&*store, again).await;
    let stories = account_of(&*store, day(0)).await.stories;
    assert_eq!(stories, [story(1), story(2), story(3)]);
}

/// As it begins and as it ends it is one row; the same holds for every other row with a key.
pub(crate) async fn ed_26_a_batch_index_is_one_row(store: Arc<dyn Store>) {
    let seen = opened(&*store, 0).await.edition;
    let mut begins = Change::of(seen);
    begins.batches = vec![batch(1), batch(2)];
    begins.deliveries = vec![delivery(0, "web")];
    changed(&*store, begins).await;
    let mut ends = Change::of(account_of(&*store, day(0)).await.edition);
    let ended = Batch {
        status: almanack_core::edition::batch::Status::Success,
        ended_at: Some(at(60)),
        ..batch(2)
    };
    ends.batches = vec![batch(2), ended.clone()];
    ends.deliveries = vec![delivery(0, "web"), delivery(0, "web")];
    ends.deliveries[1].state = delivery::State::Sent;
    changed(&*store, ends.clone()).await;
    let account = account_of(&*store, day(0)).await;
    assert_eq!(account.batches, [batch(1), ended]);
    assert_eq!(account.deliveries, ends.deliveries[1..]);
}

/// Rows that a change does not name stay as they are.
pub(crate) async fn a_change_leaves_alone_what_it_does_not_name(store: Arc<dyn Store>) {
    let seen = opened(&*store, 0).await.edition;
    changed(&*store, everywhere(&seen, "first")).await;
    let before = account_of(&*store, day(0)).await;
    let mut change = Change::of(before.edition.clone());
    change.edition.state = State::Processing;
    change.stories = vec![before.stories[1].clone()];
    change.stories[0].status = story::Status::Processing;
    change.stories[0].batch = Some(1);
    let expected = change.clone().apply(before);
    changed(&*store, change).await;
    assert_eq!(account_of(&*store, day(0)).await, expected);
}

/// Two stories at one position, a document that was made already: refused, and then nothing is
/// written at all.
pub(crate) async fn ed_16_a_refused_change_changes_nothing_at_all(store: Arc<dyn Store>) {
    let seen = opened(&*store, 0).await.edition;
    let mut first = everywhere(&seen, "first");
    first.document = Some(document(day(0), 1, &[]));
    changed(&*store, first).await;
    let before = account_of(&*store, day(0)).await;
    let mut crowded = everywhere(&before.edition, "refused");
    crowded.stories.push(story(3));
    crowded.stories[2].rank = 1;
    let mut made_again = everywhere(&before.edition, "refused");
    made_again.document = Some(document(day(0), 1, &[story(1)]));
    for change in [crowded, made_again] {
        let refused = store.write_edition(change).await;
        assert!(matches!(refused, Err(Error::Refused { .. })), "{refused:?}");
        assert_eq!(account_of(&*store, day(0)).await, before);
    }
    let kept = store.load_document(day(0).into(), None).await.unwrap();
    assert_eq!(kept, Some(document(day(0), 1, &[])));
}

/// Deliveries in every state, of one document.
fn in_every_state(revision: u32) -> Vec<Delivery> {
    let in_state = |state: delivery::State| Delivery {
        state,
        lease_until: Some(at(60)),
        detail: Some("unchanged".to_owned()),
        receipt: Some("42".to_owned()),
        ..delivery(revision, state.as_str())
    };
    delivery::State::ALL.map(in_state).to_vec()
}

/// A new document replaces the older ones: only its deliveries are in the account, and
/// what was not settled of the others is skipped, and says why.
pub(crate) async fn ed_12_a_new_document_settles_the_deliveries_of_older_ones(
    store: Arc<dyn Store>,
) {
    let other = opened(&*store, 1).await.edition;
    let mut beside = Change::of(other);
    beside.deliveries = in_every_state(0);
    changed(&*store, beside.clone()).await;
    opened(&*store, 0).await;
    for revision in 1..=2 {
        let mut change = Change::of(account_of(&*store, day(0)).await.edition);
        change.edition.revision = revision;
        change.edition.updated_at = at(revision.into());
        change.document = Some(document(day(0), revision, &[]));
        change.deliveries = in_every_state(revision);
        let made = change.deliveries.clone();
        changed(&*store, change).await;
        let account = account_of(&*store, day(0)).await;
        assert_eq!(by_state(account.deliveries), by_state(made));
    }
    for (kept, was) in turned_to(&*store, 1)
        .await
        .iter()
        .zip(by_state(in_every_state(1)))
    {
        assert_eq!(kept.receipt, was.receipt, "what is known of it is kept");
        if was.state.is_settled() {
            assert_eq!(*kept, was);
            continue;
        }
        assert_eq!(
            (kept.state, kept.updated_at),
            (delivery::State::Skipped, at(2))
        );
        assert_ne!(kept.detail, was.detail);
        assert!(kept.detail.is_some());
    }
    let untouched = account_of(&*store, day(1)).await.deliveries;
    assert_eq!(untouched, by_state(beside.deliveries));
}

/// In the order of an account: each is at the destination named after its state.
fn by_state(mut deliveries: Vec<Delivery>) -> Vec<Delivery> {
    deliveries.sort_by_key(|delivery| delivery.destination.clone());
    deliveries
}
