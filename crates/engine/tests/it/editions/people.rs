//! What people want of editions.

use almanack_core::{
    edition::{delivery::TEST_DESTINATION, port::FailureClass, turn::NotNow},
    finish::Outcome,
    handler::Handler,
    reschedule::Rule,
    task::ClaimedTask,
};
use almanack_engine::editions::{Error, Unwatched, handler::RunHandler};
use almanack_testkit::{
    edition_harness::{InjectedFault, Place},
    fixture::claim_request,
};

use super::*;

on_both!(
    a_test_does_not_use_the_day_up,
    ed_21_a_run_takes_the_day_from_its_current_state,
    ed_21_a_run_waits_for_a_batch_that_another_run_has,
    ed_22_a_request_is_queued_and_comes_again_until_it_is_published,
    ed_22_a_request_for_what_is_published_queues_nothing,
    ed_23_force_publishes_what_is_completed,
    ed_23_force_with_nothing_completed_changes_nothing,
    ed_24_retry_of_an_earlier_day_is_queued,
    ed_24_a_second_retry_of_an_earlier_day_is_queued_too,
    ed_22_a_day_that_is_over_and_had_no_edition_is_built_in_spite_of_ticks,
    ed_23_force_for_an_earlier_day_is_tried_again_when_a_destination_fails,
    ed_18_a_reset_begins_anew_with_the_stories_it_has,
    ed_31_an_unfinished_edition_without_its_stories_stays_as_it_is,
    ed_25_status_reports_counts_batches_and_the_expected_finish,
    future_days_and_unknown_days_are_refused,
);

fn titles_fail(call: &Call, _: usize) -> InjectedFault {
    match call {
        // It answers, but uselessly: a model that is out is another matter (ED-38).
        Call::Titles(_) => InjectedFault::Fails(FailureClass::Unusable),
        _ => InjectedFault::Well,
    }
}

async fn ed_21_a_run_takes_the_day_from_its_current_state(store: Arc<dyn Store>) {
    let room = Room::on(store, EditionHarness::with(30));
    room.tick_times(2).await;
    let ran = room.editions().run(today(), &Unwatched).await.unwrap();
    assert!(is_published(&ran.account));
    assert_eq!(ran.account.batches.len(), 5);
    assert_eq!(ran.account.requests(), 1 + 5 * 25 + 3);
    let again = room.editions().run(today(), &Unwatched).await.unwrap();
    assert_eq!((again.requests, room.sent_to("github")), (0, 1), "ed_13");
}

async fn ed_21_a_run_waits_for_a_batch_that_another_run_has(store: Arc<dyn Store>) {
    let room = Room::on(store.clone(), EditionHarness::with(2));
    room.tick().await;
    let account = room.account().await;
    let keys = [account.stories[0].listed.key.clone()];
    let (change, _) = almanack_core::edition::turn::start_batch(
        &account,
        &keys,
        "gone",
        &room.settings.rules,
        almanack_core::time::Clock::now(room.clock.as_ref()),
    )
    .unwrap();
    store.write_edition(change).await.unwrap();
    let ran = room.editions().run(today(), &Unwatched).await.unwrap();
    assert!(
        is_published(&ran.account),
        "the lease passed, and it went on"
    );
    assert_eq!(count(&ran.account, Status::Completed), 2);
}

async fn ed_31_an_unfinished_edition_without_its_stories_stays_as_it_is(store: Arc<dyn Store>) {
    let room = Room::on(store.clone(), EditionHarness::with(2));
    room.tick().await;
    room.clock.advance(SignedDuration::from_hours(24));
    room.tick().await;
    let tomorrow = jiff::civil::date(2026, 1, 5);
    store.prune_stories(tomorrow, 10).await.unwrap();
    let refused = room.editions().take_up(today()).await;
    assert!(matches!(refused, Err(Error::NotNow(NotNow::Pruned))));
    let ran = room.editions().run(today(), &Unwatched).await.unwrap();
    assert_eq!(ran.account.edition.state, State::Archived);
    assert_eq!(room.open_alerts().await, ["unfinished"]);
}

/// Claims what is due and tries it once.
async fn attempt(room: &Room, handler: &RunHandler, number: i64) -> Option<(ClaimedTask, Outcome)> {
    let now = almanack_core::time::Clock::now(room.clock.as_ref());
    let claimed = room
        .store
        .claim(claim_request(number, now, 1))
        .await
        .unwrap();
    let task = claimed.tasks.into_iter().next()?;
    let outcome = handler.attempt(&task).await;
    let jitter = 0;
    let backoff = almanack_core::backoff::Backoff::default();
    let finish = almanack_core::finish::finish(&task, &outcome, &backoff, now, jitter);
    room.store.finish(vec![finish]).await.unwrap();
    Some((task, outcome))
}

async fn ed_22_a_request_is_queued_and_comes_again_until_it_is_published(store: Arc<dyn Store>) {
    let room = Room::on(store, EditionHarness::with(8));
    let requested = room.editions().request(today(), "ada").await.unwrap();
    assert_eq!(requested.receipt.unwrap().rule, Rule::Created);
    let handler = room.run_handler(room.editions());
    let mut outcomes = Vec::new();
    while let Some((task, outcome)) =
        attempt(&room, &handler, i64::try_from(outcomes.len()).unwrap()).await
    {
        assert_eq!(task.identity.subject.as_str(), "edition:2026-01-04");
        outcomes.push(outcome.name());
    }
    assert_eq!(
        outcomes,
        ["again", "again", "done"],
        "list, a batch, and a batch with the deliveries"
    );
    assert!(is_published(&room.account().await));
}

async fn ed_22_a_request_for_what_is_published_queues_nothing(store: Arc<dyn Store>) {
    let room = Room::on(store, EditionHarness::with(1));
    room.tick_times(2).await;
    let requested = room.editions().request(today(), "ada").await.unwrap();
    assert_eq!(
        (requested.receipt, is_published(&requested.account)),
        (None, true)
    );
}

async fn ed_23_force_publishes_what_is_completed(store: Arc<dyn Store>) {
    let room = Room::on(store, EditionHarness::with(14));
    room.tick_times(2).await;
    room.news.decide(titles_fail);
    room.tick().await;
    let forced = room.editions().force_publish(today(), "ada").await.unwrap();
    assert!(is_published(&forced.account));
    assert_eq!(forced.left_out, 8, "six failed and two were never tried");
    let document = room.editions().document(today(), None).await.unwrap();
    assert_eq!(
        (document.inputs.stories.len(), document.inputs.left_out),
        (6, 8)
    );
    assert_eq!((room.sent_to("github"), room.sent_to("telegram")), (1, 2));
    let again = room.editions().force_publish(today(), "ada").await;
    assert!(matches!(again, Err(Error::NotNow(NotNow::Published))));
    assert_eq!(room.sent_to("github"), 1);
}

async fn ed_23_force_with_nothing_completed_changes_nothing(store: Arc<dyn Store>) {
    let room = Room::on(store, EditionHarness::with(2));
    room.tick().await;
    let version = room.account().await.edition.version;
    let refused = room.editions().force_publish(today(), "ada").await;
    assert!(matches!(
        refused,
        Err(Error::NotNow(NotNow::NothingCompleted))
    ));
    assert_eq!(room.account().await.edition.version, version);
}

async fn ed_24_retry_of_an_earlier_day_is_queued(store: Arc<dyn Store>) {
    let room = Room::on(store, EditionHarness::with(2));
    room.news.decide(titles_fail);
    room.tick_times(4).await;
    assert_eq!(room.account().await.edition.state, State::Empty);
    room.clock.advance(SignedDuration::from_hours(24));
    room.tick().await;
    assert_eq!(room.account().await.edition.state, State::Archived);
    room.news.heal();
    let retried = room.editions().retry(today(), None, "ada").await.unwrap();
    assert_eq!(
        (retried.stories, retried.account.stories[0].retry_count),
        (2, 2)
    );
    let handler = room.run_handler(room.editions());
    let mut number = 0;
    while attempt(&room, &handler, number).await.is_some() {
        number += 1;
    }
    assert!(is_published(&room.account().await), "without another call");
    let none = room.editions().retry(today(), None, "ada").await.unwrap();
    assert_eq!(none.stories, 0);
}

async fn ed_18_a_reset_begins_anew_with_the_stories_it_has(store: Arc<dyn Store>) {
    let room = Room::on(store, EditionHarness::with(2));
    room.tick_times(2).await;
    assert!(is_published(&room.account().await));
    room.news.forget_calls();
    let account = room.editions().reset(today(), "ada").await.unwrap();
    assert_eq!(
        (account.edition.state, count(&account, Status::Pending)),
        (State::ListFetched, 2)
    );
    room.tick().await;
    let account = room.account().await;
    assert!(is_published(&account));
    assert_eq!(
        count_calls(&room.news.calls(), |call| *call == Call::List),
        0,
        "the list is kept"
    );
    let indices: Vec<u32> = account.batches.iter().map(|batch| batch.index).collect();
    assert_eq!(indices, [1, 2], "ed_26: no index twice");
}

async fn ed_25_status_reports_counts_batches_and_the_expected_finish(store: Arc<dyn Store>) {
    let mut room = Room::on(store, EditionHarness::with(30));
    let every_ten = almanack_core::schedule::Expression::parse(
        "*/10 * * * *",
        almanack_core::schedule::Mode::Strict,
    )
    .unwrap();
    room.settings.ticks = Some(almanack_engine::editions::Ticks {
        timetable: every_ten.compile("edition"),
        zone: Arc::new(almanack_core::schedule::Zone::utc()),
    });
    assert_eq!(room.editions().status(today()).await.unwrap(), None);
    room.tick_times(2).await;
    let status = room.editions().status(today()).await.unwrap().unwrap();
    let counts = status.account.counts();
    assert_eq!(
        (counts.total, counts.pending, counts.completed),
        (30, 24, 6)
    );
    assert_eq!(
        (
            status.forecast.batches_done,
            status.forecast.batches_planned
        ),
        (1, 5)
    );
    // Twenty minutes have passed; four batches are left, the first at the next tick.
    let expected = MORNING + TICK * 6;
    assert_eq!(status.forecast.finish_at, Some(expected));
}

async fn future_days_and_unknown_days_are_refused(store: Arc<dyn Store>) {
    let room = Room::on(store, EditionHarness::with(1));
    let editions = room.editions();
    let day = |year, day| EditionId::from(jiff::civil::date(year, 1, day));
    let (tomorrow, long_ago) = (day(2026, 5), day(2020, 1));
    assert!(matches!(
        editions.request(tomorrow, "ada").await,
        Err(Error::Future { .. })
    ));
    assert!(matches!(
        editions.take_up(tomorrow).await,
        Err(Error::Future { .. })
    ));
    assert!(matches!(
        editions.reset(long_ago, "ada").await,
        Err(Error::Unknown(_))
    ));
    assert!(matches!(
        editions.document(today(), None).await,
        Err(Error::NoDocument(_, None))
    ));
    assert_eq!(editions.status(tomorrow).await.unwrap(), None);
    let too_early = EditionId::from(jiff::civil::date(1969, 1, 1));
    assert!(matches!(
        editions.take_up(too_early).await,
        Err(Error::TooEarly(_))
    ));
    assert_eq!(
        editions.status(too_early).await.unwrap(),
        None,
        "nothing is left"
    );
}

/// What was printed in test mode is published once the destinations are real; nothing is read or
/// written again.
async fn a_test_does_not_use_the_day_up(store: Arc<dyn Store>) {
    let room = Room::on(
        store.clone(),
        EditionHarness::with_places(2, vec![Place::named(TEST_DESTINATION)]),
    );
    room.tick_times(3).await;
    assert!(is_published(&room.account().await));
    let real = Room {
        news: EditionHarness::with_places(2, vec![Place::named("github")]),
        ..Room::on(store, EditionHarness::with(2))
    };
    real.clock.set(room_now(&room));
    real.tick_times(2).await;
    let account = real.account().await;
    assert!(is_published(&account));
    assert_eq!((account.edition.revision, real.sent_to("github")), (2, 1));
    let again = |call: &Call| !matches!(call, Call::Send(..) | Call::Look(..));
    assert_eq!(count_calls(&real.news.calls(), again), 0);
    real.tick_times(2).await;
    assert_eq!(real.sent_to("github"), 1, "once");
}

async fn work_off(room: &Room) {
    let handler = room.run_handler(room.editions());
    let now = almanack_core::time::Clock::now(room.clock.as_ref()).as_microsecond();
    let mut number = now;
    while attempt(room, &handler, number).await.is_some() {
        number += 1;
    }
}

async fn ed_24_a_second_retry_of_an_earlier_day_is_queued_too(store: Arc<dyn Store>) {
    let room = Room::on(store, EditionHarness::with(2));
    room.news.decide(|call, _| match call {
        Call::Titles(_) => InjectedFault::Lacks,
        _ => InjectedFault::Well,
    });
    room.tick_times(4).await;
    assert!(is_published(&room.account().await));
    room.clock.advance(SignedDuration::from_hours(24));
    for retries in [2, 3] {
        room.editions().retry(today(), None, "ada").await.unwrap();
        work_off(&room).await;
        let account = room.account().await;
        assert!(is_published(&account), "{}", account.edition.state);
        assert_eq!(account.stories[0].retry_count, retries);
        room.clock.advance(TICK);
    }
    assert_eq!(room.account().await.edition.revision, 3);
}

async fn ed_22_a_day_that_is_over_and_had_no_edition_is_built_in_spite_of_ticks(
    store: Arc<dyn Store>,
) {
    let room = Room::on(store, EditionHarness::with(8));
    let yesterday = EditionId::from(jiff::civil::date(2026, 1, 3));
    room.editions().request(yesterday, "ada").await.unwrap();
    room.tick().await;
    assert_eq!(
        room.account_of(yesterday).await.edition.state,
        State::Init,
        "left alone"
    );
    work_off(&room).await;
    let account = room.account_of(yesterday).await;
    assert!(is_published(&account), "{}", account.edition.state);
    let open = room.open_alerts_of(yesterday).await;
    assert_eq!(open, Vec::<String>::new(), "none is unfinished");
}

async fn ed_23_force_for_an_earlier_day_is_tried_again_when_a_destination_fails(
    store: Arc<dyn Store>,
) {
    let room = Room::on(store, EditionHarness::with(8));
    room.tick_times(2).await;
    room.clock.advance(SignedDuration::from_hours(24));
    room.tick().await;
    assert_eq!(room.account().await.edition.state, State::Archived);
    room.news.decide(|call, _| match call {
        Call::Send(to, _) if to == "github" => InjectedFault::Fails(FailureClass::Credentials),
        _ => InjectedFault::Well,
    });
    let forced = room.editions().force_publish(today(), "ada").await.unwrap();
    assert_eq!(forced.account.edition.state, State::Aggregating);
    assert_eq!(
        (forced.account.edition.archived_from, forced.left_out),
        (None, 2)
    );
    room.news.heal();
    room.tick().await;
    work_off(&room).await;
    assert!(is_published(&room.account().await), "without another call");
}
