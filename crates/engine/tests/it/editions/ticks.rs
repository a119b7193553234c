//! Ticks: from nothing to published, and what goes wrong on the way.

use almanack_core::{
    alert::{Severity, quiet::Quiet},
    edition::{
        account::Change,
        batch,
        port::{FailureClass, Sensitivity},
        story::Note,
    },
    store::{EditionFilter, EditionWritten},
};
use almanack_testkit::{
    edition_harness::{InjectedFault, Place},
    layer::{Layer, Layered, StoreCall},
};

use super::*;

on_both!(
    ed_01_an_edition_goes_from_nothing_to_published_tick_by_tick,
    ed_02_a_tick_with_nothing_to_do_sends_no_request,
    ed_02_a_tick_with_nothing_to_do_takes_less_than_half_a_second,
    ed_03_the_list_comes_whole_and_cheap_or_not_at_all,
    ed_03_a_list_whose_writing_breaks_in_the_middle_leaves_nothing,
    ed_03_a_list_whose_writing_is_not_answered_comes_once,
    ed_07_a_batch_of_six_makes_twenty_five_requests,
    ed_08_no_tick_spends_more_than_its_budget_and_the_edition_still_ends,
    ed_09_a_missing_translation_fails_its_story_and_no_other,
    ed_09_the_last_try_has_sentences_for_a_summary,
    ed_15_a_batch_that_takes_too_long_ends_itself,
    ed_17_in_a_chain_one_tick_does_it_all,
    ed_18_two_hours_are_too_long_and_said_once,
    ed_20_an_unfinished_day_is_archived_and_can_be_finished_by_its_date,
    ed_20_many_editions_hide_no_alert,
    ed_20_what_could_not_be_reported_is_reported_on_another_day,
    what_can_wait_waits_for_the_end_of_quiet_hours,
    ed_20_midnight_and_dst_in_the_middle_of_an_edition,
    ed_27_a_batch_that_spends_too_much_is_reported,
    ed_29_what_goes_wrong_leaves_the_state_and_is_tried_again,
    ed_31_a_week_later_it_is_archived_and_its_stories_may_go,
    ed_32_thirty_stories_all_failing_end_in_a_clear_state,
    the_filter_leaves_out_what_it_refuses_and_fails_open,
    ed_35_a_page_that_cannot_be_read_keeps_the_title,
    ed_32_a_filter_that_leaves_nothing_ends_the_edition,
    ed_12_a_destination_that_fails_all_day_is_reported_once,
);

async fn ed_01_an_edition_goes_from_nothing_to_published_tick_by_tick(store: Arc<dyn Store>) {
    let room = Room::on(store, EditionHarness::with(30));
    let mut reported = Vec::new();
    for _ in 0..7 {
        let ticked = room.tick().await;
        let state = ticked.steps[0].after;
        reported.push(format!("{} {state}", did(&ticked).join("+")));
    }
    assert_eq!(
        reported,
        [
            "fetch list_fetched",
            "process processing",
            "process processing",
            "process processing",
            "process processing",
            // What goes out with the last batch need not wait.
            "process+aggregate+deliver+publish published",
            " published",
        ]
    );
    let account = room.account().await;
    assert_eq!(count(&account, Status::Completed), 30);
    let fifty = MORNING + SignedDuration::from_mins(50);
    assert_eq!(account.edition.published_at, Some(fifty));
    let indices: Vec<u32> = account.batches.iter().map(|batch| batch.index).collect();
    assert_eq!(indices, [1, 2, 3, 4, 5], "ed_26");
    assert!(
        account
            .batches
            .iter()
            .all(|batch| batch.status == batch::Status::Success)
    );
    let document = room.editions().document(today(), None).await.unwrap();
    let ranks: Vec<u32> = document
        .inputs
        .stories
        .iter()
        .map(|story| story.rank)
        .collect();
    assert_eq!(ranks, (1..=30).collect::<Vec<u32>>(), "ed_11: by rank");
    assert_eq!((room.sent_to("github"), room.sent_to("telegram")), (1, 2));
}

async fn ed_02_a_tick_with_nothing_to_do_sends_no_request(store: Arc<dyn Store>) {
    let room = Room::on(store, EditionHarness::with(1));
    room.tick_times(3).await;
    assert!(is_published(&room.account().await));
    let version = room.account().await.edition.version;
    room.news.forget_calls();
    room.tick_times(3).await;
    assert_eq!(room.news.calls(), [], "ed_13: published is published");
    assert_eq!(
        room.account().await.edition.version,
        version,
        "nothing was written"
    );
}

/// A database so far away that every answer takes so long, by the clock of the test.
struct FarAway(Arc<ManualClock>);

const ANSWERS_AFTER: SignedDuration = SignedDuration::from_millis(75);

#[async_trait::async_trait]
impl Layer for FarAway {
    async fn around<T: Send + 'static>(
        &self,
        below: &dyn Store,
        call: StoreCall<T>,
    ) -> almanack_core::store::Result<T> {
        if call.port == "EditionStore" {
            self.0.advance(ANSWERS_AFTER);
        }
        call.on(below).await
    }
}

async fn ed_02_a_tick_with_nothing_to_do_takes_less_than_half_a_second(store: Arc<dyn Store>) {
    let mut room = Room::on(store, EditionHarness::with(1));
    // Days that are over cost nothing, however many there are.
    for _ in 0..3 {
        room.tick_times(3).await;
        room.clock.advance(SignedDuration::from_hours(24));
    }
    room.tick_times(3).await;
    room.store = Layered::over(room.store.clone(), FarAway(room.clock.clone()));
    let began = almanack_core::time::Clock::now(room.clock.as_ref());
    let ticked = room.editions().tick().await.unwrap();
    let ended = almanack_core::time::Clock::now(room.clock.as_ref());
    assert_eq!(did(&ticked), Vec::<&str>::new());
    let took = ended.duration_since(began);
    assert!(
        took.is_positive() && took < SignedDuration::from_millis(500),
        "{took:?} with a database that answers after {ANSWERS_AFTER:?}"
    );
}

/// Breaks the first list that is written: the database refuses its last row, after it took the
/// others.
#[derive(Default)]
struct BreaksInTheMiddle(std::sync::atomic::AtomicBool);

#[async_trait::async_trait]
impl Layer for BreaksInTheMiddle {
    async fn write_edition(
        &self,
        below: &dyn Store,
        mut change: Change,
    ) -> almanack_core::store::Result<EditionWritten> {
        let broke = std::sync::atomic::Ordering::SeqCst;
        if change.stories.len() == 30 && !self.0.swap(true, broke) {
            // No two stories have one rank.
            change.stories[29].rank = 1;
        }
        below.write_edition(change).await
    }
}

async fn ed_03_a_list_whose_writing_breaks_in_the_middle_leaves_nothing(store: Arc<dyn Store>) {
    let mut room = Room::on(store.clone(), EditionHarness::with(30));
    room.store = Layered::over(store, BreaksInTheMiddle::default());
    let failed = room.editions().tick().await;
    assert!(failed.is_err(), "{failed:?}");
    let account = room.account().await;
    assert_eq!(account.edition.state, State::Init);
    assert_eq!(
        account.stories,
        [],
        "none of the twenty-nine that came before"
    );
    room.clock.advance(TICK);
    assert_eq!(did(&room.tick().await), ["fetch"]);
    let account = room.account().await;
    assert_eq!(account.edition.state, State::ListFetched);
    assert_eq!(count(&account, Status::Pending), 30);
}

/// Loses the answer to the first list that is written.
#[derive(Default)]
struct AnswersNothing(std::sync::atomic::AtomicBool);

#[async_trait::async_trait]
impl Layer for AnswersNothing {
    async fn write_edition(
        &self,
        below: &dyn Store,
        change: Change,
    ) -> almanack_core::store::Result<EditionWritten> {
        let lost = std::sync::atomic::Ordering::SeqCst;
        let is_list = change.stories.len() == 30;
        let written = below.write_edition(change).await?;
        if is_list && !self.0.swap(true, lost) {
            return Err(almanack_core::store::Error::Unavailable {
                statement: "write edition",
                source: "connection reset".into(),
            });
        }
        Ok(written)
    }
}

async fn ed_03_a_list_whose_writing_is_not_answered_comes_once(store: Arc<dyn Store>) {
    let mut room = Room::on(store.clone(), EditionHarness::with(30));
    room.store = Layered::over(store, AnswersNothing::default());
    let failed = room.editions().tick().await;
    assert!(failed.is_err(), "{failed:?}");
    let account = room.account().await;
    assert_eq!(
        account.edition.state,
        State::ListFetched,
        "with its stories"
    );
    assert_eq!(count(&account, Status::Pending), 30);
    room.clock.advance(TICK);
    assert_eq!(did(&room.tick().await), ["process"]);
    let lists = count_calls(&room.news.calls(), |call| *call == Call::List);
    assert_eq!(lists, 1, "not fetched again");
}

async fn ed_03_the_list_comes_whole_and_cheap_or_not_at_all(store: Arc<dyn Store>) {
    let room = Room::on(store, EditionHarness::with(30));
    room.news.decide(|call, before| match call {
        Call::List if before < 2 => InjectedFault::Fails(FailureClass::Transient),
        _ => InjectedFault::Well,
    });
    for _ in 0..2 {
        room.tick().await;
        let account = room.account().await;
        assert_eq!(
            (account.edition.state, account.stories.len()),
            (State::Init, 0),
            "not at all"
        );
        assert!(account.edition.reason.is_some(), "and says why");
    }
    room.tick().await;
    let account = room.account().await;
    let ranks: Vec<u32> = account.stories.iter().map(|story| story.rank).collect();
    assert_eq!(ranks, (1..=30).collect::<Vec<u32>>());
    assert_eq!(count(&account, Status::Pending), 30);
    assert!(account.edition.list_requests < 5);
    assert_eq!(account.edition.story_source.as_deref(), Some("harness"));
}

async fn ed_07_a_batch_of_six_makes_twenty_five_requests(store: Arc<dyn Store>) {
    let room = Room::on(store, EditionHarness::with(8));
    room.tick().await;
    room.news.forget_calls();
    room.tick().await;
    let calls = room.news.calls();
    let pages = count_calls(&calls, |call| matches!(call, Call::Page(_)));
    let comments = count_calls(&calls, |call| matches!(call, Call::Comments(_)));
    let titles = count_calls(&calls, |call| *call == Call::Titles(6));
    let summaries = count_calls(&calls, |call| matches!(call, Call::Summary(_)));
    assert_eq!((pages, comments, titles, summaries), (6, 6, 1, 12));
    let batch = &room.account().await.batches[0];
    assert_eq!((batch.spend.requests, batch.story_count), (25, 6), "ed_26");
    assert_eq!(
        (batch.spend.model_requests, batch.spend.tokens_out),
        (13, 12 * 20 + 30)
    );
}

/// Everything has to be tried twice, so that no batch can pay for all its stories: the budget
/// holds, what was not tried waits, batches shrink, and it ends all the same.
async fn ed_08_no_tick_spends_more_than_its_budget_and_the_edition_still_ends(
    store: Arc<dyn Store>,
) {
    let mut room = Room::on(store, EditionHarness::with(8));
    room.settings.rules.budget = 25;
    room.news.decide(|call, _| match call {
        Call::Send(..) | Call::Report(..) => InjectedFault::Well,
        _ => InjectedFault::Twice,
    });
    for _ in 0..20 {
        room.news.forget_calls();
        let ticked = room.tick().await;
        let paid = count_calls(&room.news.calls(), |call| !matches!(call, Call::Report(..)));
        assert!(paid <= 25, "{paid} requests in one tick");
        let reported: u32 = ticked.steps.iter().map(|step| step.requests).sum();
        assert_eq!(
            usize::try_from(reported).unwrap(),
            paid,
            "counted where they leave"
        );
    }
    let account = room.account().await;
    assert!(is_published(&account));
    assert_eq!(
        count(&account, Status::Completed),
        8,
        "not tried is not failed"
    );
    assert!(account.stories.iter().all(|story| story.retry_count == 0));
    let sizes: Vec<u32> = account
        .batches
        .iter()
        .map(|batch| batch.story_count)
        .collect();
    assert_eq!(sizes[..2], [6, 3], "{sizes:?}");
}

async fn ed_09_a_missing_translation_fails_its_story_and_no_other(store: Arc<dyn Store>) {
    let room = Room::on(store, EditionHarness::with(3));
    room.news.decide(|call, _| match call {
        Call::Titles(_) => InjectedFault::Lacks,
        _ => InjectedFault::Well,
    });
    room.tick_times(2).await;
    let account = room.account().await;
    let (first, batch) = (&account.stories[0], &account.batches[0]);
    assert_eq!(
        (count(&account, Status::Completed), first.status),
        (2, Status::Failed)
    );
    let why = first.error_message.as_deref();
    assert_eq!(why, Some("the translation of its title is missing"));
    assert_eq!(batch.status, batch::Status::Partial);
    room.tick().await;
    let account = room.account().await;
    assert_eq!(
        (account.stories[0].retry_count, account.stories[0].status),
        (1, Status::Failed),
        "tried once more by itself"
    );
    assert!(is_published(&account), "ed_11: and then left out");
    let document = room.editions().document(today(), None).await.unwrap();
    assert_eq!(
        (document.inputs.stories.len(), document.inputs.left_out),
        (2, 1)
    );
}

async fn ed_09_the_last_try_has_sentences_for_a_summary(store: Arc<dyn Store>) {
    let room = Room::on(store, EditionHarness::with(2));
    room.news.decide(|call, _| match call {
        Call::Summary(of) if of == "article 2" => InjectedFault::Fails(FailureClass::Transient),
        _ => InjectedFault::Well,
    });
    room.tick_times(2).await;
    let account = room.account().await;
    assert_eq!(account.stories[1].status, Status::Failed);
    room.tick().await;
    let second = &room.account().await.stories[1];
    assert_eq!(
        (second.status, second.written.note),
        (Status::Completed, Some(Note::Extractive)),
        "its own sentences instead"
    );
    assert_eq!(second.error_message, None);
}

async fn ed_15_a_batch_that_takes_too_long_ends_itself(store: Arc<dyn Store>) {
    let room = Room::on(store, EditionHarness::with(2));
    room.news.decide(|call, _| match call {
        Call::Page(2) => InjectedFault::Hangs,
        _ => InjectedFault::Well,
    });
    room.tick_times(2).await;
    let account = room.account().await;
    assert_eq!(account.stories[0].status, Status::Completed);
    assert_eq!(account.stories[1].status, Status::Failed);
    let batch = &account.batches[0];
    let took = batch.duration_ms().map(SignedDuration::from_millis);
    assert_eq!(took, Some(room.settings.rules.batch_time));
}

async fn ed_17_in_a_chain_one_tick_does_it_all(store: Arc<dyn Store>) {
    let mut room = Room::on(store, EditionHarness::with(30));
    room.settings.rules.chain = true;
    let ticked = room.tick().await;
    assert!(is_published(&room.account().await));
    let steps = ticked.steps.iter().map(|step| step.actions.join("+"));
    let steps: Vec<String> = steps.collect();
    assert_eq!(
        steps,
        ["fetch", "wave+aggregate+deliver+publish"],
        "its batches overlap"
    );
    let batches = &room.account().await.batches;
    let sizes: Vec<u32> = batches.iter().map(|batch| batch.story_count).collect();
    assert_eq!(sizes, [6; 5]);
    assert!(batches.iter().all(|batch| batch.spend.requests == 25));
}

async fn ed_18_two_hours_are_too_long_and_said_once(store: Arc<dyn Store>) {
    let room = Room::on(store, EditionHarness::with(3));
    room.news.decide(|call, _| match call {
        Call::List => InjectedFault::Fails(FailureClass::Transient),
        _ => InjectedFault::Well,
    });
    room.tick_times(12).await;
    assert_eq!(room.open_alerts().await, Vec::<String>::new());
    room.tick_times(5).await;
    assert_eq!(room.open_alerts().await, ["overdue"]);
    room.news.heal();
    room.tick_times(4).await;
    assert!(is_published(&room.account().await));
    let reported: Vec<Call> = room
        .news
        .calls()
        .into_iter()
        .filter(|call| matches!(call, Call::Report(..)))
        .collect();
    let report = |news| Call::Report("overdue".to_owned(), news);
    assert_eq!(
        reported,
        [report("opened"), report("closed")],
        "once when it begins and once when it is over"
    );
}

async fn ed_20_an_unfinished_day_is_archived_and_can_be_finished_by_its_date(
    store: Arc<dyn Store>,
) {
    let room = Room::on(store, EditionHarness::with(8));
    room.tick_times(2).await;
    room.clock.advance(SignedDuration::from_hours(24));
    let ticked = room.tick().await;
    let tomorrow = EditionId::from(jiff::civil::date(2026, 1, 5));
    assert_eq!((ticked.id, ticked.archived), (tomorrow, vec![today()]));
    assert_eq!(
        room.account_of(tomorrow).await.edition.state,
        State::ListFetched,
        "the new day goes on"
    );
    let account = room.account().await;
    assert_eq!(
        (account.edition.state, account.edition.archived_from),
        (State::Archived, Some(State::Processing))
    );
    assert_eq!(room.open_alerts().await, ["unfinished"]);
    let editions = room.editions();
    editions.take_up(today()).await.unwrap();
    room.tick().await;
    assert_eq!(
        room.account().await.edition.state,
        State::Processing,
        "ticks leave alone what a person took up"
    );
    let ran = editions
        .run(today(), &almanack_engine::editions::Unwatched)
        .await
        .unwrap();
    assert!(is_published(&ran.account));
    assert_eq!(room.open_alerts().await, Vec::<String>::new());
    assert_eq!(count(&ran.account, Status::Completed), 8);
}

/// However many editions there are, those of earlier days say what is wrong with them.
async fn ed_20_many_editions_hide_no_alert(store: Arc<dyn Store>) {
    let mut room = Room::on(store, EditionHarness::with(8));
    room.tick_times(2).await;
    room.clock.advance(SignedDuration::from_hours(24));
    room.tick().await;
    let editions = room.editions();
    for number in 0..40 {
        room.settings.name = format!("n{number}").parse().unwrap();
        let editions = room.editions();
        editions.take_up(editions.today()).await.unwrap();
    }
    assert_eq!(room.open_alerts().await, ["unfinished"]);
    let unwatched = almanack_engine::editions::Unwatched;
    editions.run(today(), &unwatched).await.unwrap();
    assert_eq!(room.open_alerts().await, [""; 0]);
}

/// People who cannot be notified when a day ends are notified later, although no node works on that
/// day any more.
async fn ed_20_what_could_not_be_reported_is_reported_on_another_day(store: Arc<dyn Store>) {
    let room = Room::on(store, EditionHarness::with(8));
    room.tick_times(2).await;
    room.news.decide(|call, _| match call {
        Call::Report(..) => InjectedFault::Fails(FailureClass::Transient),
        _ => InjectedFault::Well,
    });
    room.clock.advance(SignedDuration::from_hours(24));
    room.tick().await;
    assert_eq!(room.news.notified(), 0);
    room.news.heal();
    room.news.forget_calls();
    room.clock.advance(SignedDuration::from_hours(72));
    room.tick_times(2).await;
    let unfinished = Call::Report("unfinished".to_owned(), "opened");
    // The day between was left unfinished as well.
    let event_tasks = count_calls(&room.news.calls(), |call| *call == unfinished);
    assert_eq!(event_tasks, 2, "once each");
}

/// A missing edition is notified at night; one that was left behind, in the morning.
async fn what_can_wait_waits_for_the_end_of_quiet_hours(store: Arc<dyn Store>) {
    let mut room = Room::on(store, EditionHarness::with(3));
    room.news.decide(|call, _| match call {
        Call::List => InjectedFault::Fails(FailureClass::Transient),
        _ => InjectedFault::Well,
    });
    room.behaviour.quiet = Some(Quiet {
        from: jiff::civil::time(0, 0, 0, 0),
        until: jiff::civil::time(9, 5, 0, 0),
        zone: TimeZone::UTC,
        except: Some(Severity::Critical),
    });
    room.tick_times(17).await;
    room.clock.advance(SignedDuration::from_hours(24));
    room.tick_times(2).await;
    let event_tasks = |room: &Room| -> Vec<Call> {
        let calls = room.news.calls().into_iter();
        calls
            .filter(|call| matches!(call, Call::Report(..)))
            .collect()
    };
    let report = |rule: &str, news| Call::Report(rule.to_owned(), news);
    let at_night = [report("overdue", "opened"), report("overdue", "closed")];
    assert_eq!(event_tasks(&room), at_night);
    assert_eq!(room.open_alerts().await, ["unfinished"]);
    assert_eq!(event_tasks(&room)[2..], [report("unfinished", "opened")]);
}

async fn ed_20_midnight_and_dst_in_the_middle_of_an_edition(store: Arc<dyn Store>) {
    let mut room = Room::on(store, EditionHarness::with(6));
    room.settings.zone = TimeZone::get("America/New_York").unwrap();
    // Ten minutes before the clocks go forward on the 8th of March.
    room.clock.set("2026-03-08T06:50:00Z".parse().unwrap());
    let first = jiff::civil::date(2026, 3, 8);
    room.tick_times(3).await;
    assert!(
        is_published(&room.account_of(first.into()).await),
        "a missing hour belongs to no day"
    );
    // Ten minutes before that day's midnight, which is 23 hours after the last one.
    room.clock.set("2026-03-09T03:50:00Z".parse().unwrap());
    assert_eq!(room.tick().await.id.date, first);
    let second = jiff::civil::date(2026, 3, 9);
    assert_eq!(room.tick().await.id.date, second);
    room.tick_times(2).await;
    assert!(is_published(&room.account_of(second.into()).await));
    let all = room
        .editions()
        .list(&EditionFilter {
            limit: 10,
            ..EditionFilter::default()
        })
        .await
        .unwrap();
    assert_eq!(all.len(), 2);
}

async fn ed_27_a_batch_that_spends_too_much_is_reported(store: Arc<dyn Store>) {
    let mut room = Room::on(store, EditionHarness::with(9));
    room.settings.rules.batch_size = 8;
    room.tick_times(2).await;
    let account = room.account().await;
    assert_eq!(account.batches[0].spend.requests, 33);
    assert_eq!(room.open_alerts().await, ["spendthrift"]);
    room.tick().await;
    assert_eq!(
        room.open_alerts().await,
        Vec::<String>::new(),
        "the next one was modest"
    );
}

async fn ed_29_what_goes_wrong_leaves_the_state_and_is_tried_again(store: Arc<dyn Store>) {
    let room = Room::on(store, EditionHarness::with(2));
    for injected_fault in [
        InjectedFault::Fails(FailureClass::RateLimited),
        InjectedFault::Lacks,
    ] {
        room.news.decide(move |call, _| match call {
            Call::List => injected_fault,
            _ => InjectedFault::Well,
        });
        let ticked = room.tick().await;
        assert_eq!(did(&ticked), ["fetch"]);
        let edition = room.account().await.edition;
        assert_eq!(edition.state, State::Init, "{injected_fault:?}");
        assert!(edition.reason.is_some(), "{injected_fault:?}");
    }
    room.news.heal();
    room.tick().await;
    let edition = room.account().await.edition;
    assert_eq!((edition.state, edition.reason), (State::ListFetched, None));
    assert_eq!(edition.list_requests, 3, "what failed was paid for too");
}

async fn ed_31_a_week_later_it_is_archived_and_its_stories_may_go(store: Arc<dyn Store>) {
    let room = Room::on(store.clone(), EditionHarness::with(2));
    room.tick_times(3).await;
    assert!(is_published(&room.account().await));
    room.clock.set(MORNING + SignedDuration::from_hours(7 * 24));
    room.tick().await;
    assert!(
        is_published(&room.account().await),
        "seven days are not over"
    );
    room.clock.set(MORNING + SignedDuration::from_hours(8 * 24));
    room.tick().await;
    let account = room.account().await;
    assert_eq!(
        (account.edition.state, account.edition.archived_from),
        (State::Archived, Some(State::Published))
    );
    assert_eq!(room.open_alerts().await, Vec::<String>::new());
    store
        .prune_stories(jiff::civil::date(2026, 1, 5), 10)
        .await
        .unwrap();
    let account = room.account().await;
    assert_eq!((account.stories.len(), account.batches.len()), (0, 0));
    let rebuilt = room.editions().rebuild(today(), None, None).await.unwrap();
    assert!(rebuilt.identical, "a document needs no stories");
}

async fn ed_32_thirty_stories_all_failing_end_in_a_clear_state(store: Arc<dyn Store>) {
    let room = Room::on(store, EditionHarness::with(30));
    room.news.decide(|call, _| match call {
        Call::Titles(_) => InjectedFault::Fails(FailureClass::Unusable),
        _ => InjectedFault::Well,
    });
    room.tick_times(12).await;
    let account = room.account().await;
    assert_eq!(
        (account.edition.state, count(&account, Status::Failed)),
        (State::Empty, 30)
    );
    assert!(room.open_alerts().await.contains(&"empty".to_owned()));
    room.news.forget_calls();
    room.tick_times(3).await;
    assert_eq!(room.news.calls(), [], "no loop");
    assert_eq!((room.sent_to("github"), room.sent_to("telegram")), (0, 0));
    // A person puts them back when the model is well again.
    room.news.heal();
    let retried = room.editions().retry(today(), None, "ada").await.unwrap();
    assert_eq!(retried.stories, 30);
    room.tick_times(5).await;
    let account = room.account().await;
    assert!(is_published(&account));
    assert_eq!(room.open_alerts().await, Vec::<String>::new());
}

async fn the_filter_leaves_out_what_it_refuses_and_fails_open(store: Arc<dyn Store>) {
    let mut room = Room::on(
        store,
        EditionHarness::with_places(8, vec![Place::named("github")]),
    );
    room.settings.rules.stories = 4;
    room.settings.filter = Some(Sensitivity::High);
    room.news.decide(|call, _| match call {
        Call::Judge(_) => InjectedFault::Lacks,
        _ => InjectedFault::Well,
    });
    room.tick().await;
    let account = room.account().await;
    let keys: Vec<String> = account
        .stories
        .iter()
        .map(|story| story.listed.key.0.clone())
        .collect();
    assert_eq!(
        keys,
        ["hn:2", "hn:3", "hn:4", "hn:5"],
        "others replace what was refused"
    );
    room.news.decide(|call, _| match call {
        Call::Judge(_) => InjectedFault::Fails(FailureClass::Transient),
        _ => InjectedFault::Well,
    });
    room.clock.advance(SignedDuration::from_hours(24));
    room.tick().await;
    let account = room.account_of(jiff::civil::date(2026, 1, 5).into()).await;
    assert_eq!(account.stories[0].listed.key.0, "hn:1");
    assert_eq!(account.stories.len(), 4);
}

async fn ed_35_a_page_that_cannot_be_read_keeps_the_title(store: Arc<dyn Store>) {
    let room = Room::on(store, EditionHarness::with(1));
    room.news.decide(|call, _| match call {
        Call::Page(_) | Call::Comments(_) => InjectedFault::Lacks,
        _ => InjectedFault::Well,
    });
    room.tick_times(2).await;
    let first = &room.account().await.stories[0];
    assert_eq!(
        (first.status, first.written.note),
        (Status::Completed, Some(Note::TitleOnly))
    );
    assert_eq!(first.written.comment_summary, None);
    let summaries = count_calls(&room.news.calls(), |call| matches!(call, Call::Summary(_)));
    assert_eq!(summaries, 0, "nothing is summed up that is not there");
}

async fn ed_32_a_filter_that_leaves_nothing_ends_the_edition(store: Arc<dyn Store>) {
    let mut room = Room::on(store, EditionHarness::with(1));
    room.settings.filter = Some(Sensitivity::High);
    room.news.decide(|call, _| match call {
        Call::Judge(_) => InjectedFault::Lacks,
        _ => InjectedFault::Well,
    });
    room.tick_times(2).await;
    let account = room.account().await;
    assert_eq!(
        (account.edition.state, account.stories.len()),
        (State::Empty, 0)
    );
    assert_eq!(room.open_alerts().await, ["empty"]);
    room.news.forget_calls();
    room.tick_times(3).await;
    assert_eq!(room.news.calls(), [], "no loop");
}

async fn ed_12_a_destination_that_fails_all_day_is_reported_once(store: Arc<dyn Store>) {
    let room = Room::on(store, EditionHarness::with(1));
    room.news.decide(|call, _| match call {
        Call::Send(to, _) if to == "github" => InjectedFault::Fails(FailureClass::Credentials),
        _ => InjectedFault::Well,
    });
    room.tick_times(9).await;
    let reported = |news| Call::Report("destination:github".to_owned(), news);
    let times = |which: &Call| count_calls(&room.news.calls(), |call| call == which);
    assert_eq!(
        (times(&reported("opened")), times(&reported("closed"))),
        (1, 0)
    );
    room.news.heal();
    room.tick_times(2).await;
    assert!(is_published(&room.account().await));
    assert_eq!(
        (times(&reported("opened")), times(&reported("closed"))),
        (1, 1)
    );
}
