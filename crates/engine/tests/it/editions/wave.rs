//! Waves: in a chain, batches overlap, and an edition takes as long as its longest path.

use std::time::Duration;

use almanack_core::{edition::batch, time::Clock};
use almanack_store::sqlite::SqliteStore;
use almanack_testkit::edition_harness::{InjectedFault, Place};

use super::*;
use crate::virtual_time::VirtualTime;

on_both!(
    ed_08_no_batch_of_a_wave_spends_more_than_a_tick_may,
    ed_14_two_ticks_at_once_make_one_wave,
    ed_15_a_node_that_dies_at_a_wave_costs_a_lease_and_is_followed_by_single_batches,
);

const PAGE: Duration = Duration::from_millis(300);
const MODEL: Duration = Duration::from_secs(2);
/// What an edition of thirty stories with an overview and four destinations may cost.
const REQUESTS_MAX: u32 = 136;

/// Every request takes as long as such requests do.
fn timed(call: &Call) -> InjectedFault {
    match call {
        Call::Titles(_) | Call::Summary(_) | Call::Overview(_) => InjectedFault::Late(MODEL),
        Call::Report(..) => InjectedFault::Well,
        _ => InjectedFault::Late(PAGE),
    }
}

/// How long the edition of thirty stories takes from nothing to published, and what it costs.
async fn made(chain: bool) -> (Duration, u32) {
    let store = Arc::new(SqliteStore::in_memory().unwrap());
    let places = ["github", "telegram", "directory", "webhook"].map(Place::named);
    let mut room = Room::on(
        store,
        EditionHarness::with_places(30, places.to_vec()).opening(),
    );
    room.news.decide(|call, _| timed(call));
    room.settings.rules.chain = chain;
    let time = VirtualTime::start();
    let editions = room.editions_on(Arc::new(time), Arc::new(time));
    let began_at = time.now();
    while editions.tick().await.unwrap().steps[0].requests > 0 {}
    let account = editions.account(editions.today()).await.unwrap();
    assert!(is_published(&account));
    let took = Duration::try_from(time.now().duration_since(began_at)).unwrap();
    let paid = room.news.paid_by(0);
    assert_eq!(account.requests(), paid, "every request is counted");
    (took, paid)
}

#[tokio::test(start_paused = true)]
async fn ed_17_thirty_stories_take_no_longer_than_their_longest_path() {
    // A list, a page, its summary, a message.
    let longest_path = PAGE + PAGE + MODEL + PAGE;
    let (took, requests) = made(true).await;
    assert!(
        took <= longest_path.mul_f64(1.3),
        "{took:?} instead of {longest_path:?}"
    );
    let (one_by_one, requests_before) = made(false).await;
    assert_eq!(requests, requests_before, "overlapping costs no request");
    // The list is one request here; a real one is at most four (ED-03).
    let most = requests - 1 + 4;
    assert!(most <= REQUESTS_MAX, "{most} requests");
    assert!(one_by_one > longest_path * 4, "{one_by_one:?}");
}

/// Everything has to be tried twice: what does not fit waits, in smaller batches.
async fn ed_08_no_batch_of_a_wave_spends_more_than_a_tick_may(store: Arc<dyn Store>) {
    let mut room = Room::on(store, EditionHarness::with(20));
    room.settings.rules.chain = true;
    room.settings.rules.budget = 25;
    room.news.decide(|call, _| match call {
        Call::Send(..) | Call::Report(..) => InjectedFault::Well,
        _ => InjectedFault::Twice,
    });
    let ticked = room.tick().await;
    let account = room.account().await;
    assert!(is_published(&account), "{}", did(&ticked).join("+"));
    assert_eq!(count(&account, Status::Completed), 20);
    let most = account.batches.iter().map(|batch| batch.spend.requests);
    assert_eq!(most.max(), Some(25));
    let sizes: Vec<u32> = account.batches.iter().map(|it| it.story_count).collect();
    assert_eq!(sizes[..6], [6, 6, 6, 2, 3, 3], "{sizes:?}");
}

async fn ed_14_two_ticks_at_once_make_one_wave(store: Arc<dyn Store>) {
    let mut room = Room::on(store, EditionHarness::with(12));
    room.settings.rules.chain = true;
    let (one, other) = (room.editions(), room.editions());
    let (one, other) = tokio::join!(one.tick(), other.tick());
    one.unwrap();
    other.unwrap();
    room.tick().await;
    let account = room.account().await;
    assert!(is_published(&account));
    assert_eq!(account.batches.len(), 2);
    let pages = count_calls(&room.news.calls(), |call| matches!(call, Call::Page(_)));
    assert_eq!(pages, 12, "no story is worked on twice");
}

async fn ed_15_a_node_that_dies_at_a_wave_costs_a_lease_and_is_followed_by_single_batches(
    store: Arc<dyn Store>,
) {
    let mut room = Room::on(store, EditionHarness::with(12));
    room.settings.rules.chain = true;
    let now = room_now(&room);
    room.editions().take_up(today()).await.unwrap();
    let account = room.account().await;
    let list = (1..=12).map(almanack_testkit::edition_harness::listed);
    let change = almanack_core::edition::turn::fetched(&account, "x", list.collect(), 1, now);
    room.store.write_edition(change.unwrap()).await.unwrap();
    let account = room.account().await;
    let keys: Vec<_> = account
        .stories
        .iter()
        .map(|it| it.listed.key.clone())
        .collect();
    let wave: Vec<_> = keys.chunks(6).map(Vec::from).collect();
    let rules = &room.settings.rules;
    let begun = almanack_core::edition::turn::start_wave(&account, &wave, "dead", rules, now);
    room.store.write_edition(begun.unwrap().0).await.unwrap();
    let waits = room.editions().tick().await.unwrap();
    assert_eq!(did(&waits), Vec::<&str>::new(), "the other may be alive");
    room.clock.advance(rules.lease());
    let ticked = room.editions().tick().await.unwrap();
    assert_eq!(did(&ticked)[..2], ["recover", "process"]);
    let account = room.account().await;
    assert!(is_published(&account));
    assert_eq!(count(&account, Status::Completed), 12, "no story is stuck");
    let ended: Vec<_> = account.batches.iter().map(|it| it.status).collect();
    assert_eq!(ended[..2], [batch::Status::Failed; 2]);
    assert_eq!(account.batches[2].story_count, 3, "a smaller one, alone");
}
