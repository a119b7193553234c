//! Destinations that fail at once and go on failing: paced and bounded on every path, nothing
//! shredded, notified once (ED-41).

use almanack_core::{
    edition::{
        delivery::{OnUnknown, State as Ledger, TRIES_MAX},
        plan::{Requester, Waiting},
        port::FailureClass,
        turn::{Chosen, NotNow},
    },
    finish::Outcome,
    handler::Handler,
    task::ClaimedTask,
};
use almanack_engine::editions::{End, Error, Unwatched};
use almanack_testkit::{
    edition_harness::{InjectedFault, Place},
    fixture::claim_request,
};

use super::*;

on_both!(
    ed_41_a_destination_that_fails_at_once_is_not_hammered_on_any_path,
    ed_41_a_destination_that_never_works_is_given_up_and_waits_for_a_person,
    ed_41_an_outage_costs_no_message_and_is_reported_once,
    ed_41_without_an_answer_no_second_message_is_risked,
    ed_41_a_message_is_sent_again_once_however_often_it_is_asked_for,
    ed_41_a_skipped_destination_holds_up_no_other,
    ed_41_what_is_held_for_a_destination_that_was_taken_out_holds_up_no_other,
    ed_12_who_dies_between_two_messages_has_not_sent_the_second,
    sf_07_people_who_cannot_be_reported_are_not_asked_every_second,
);

/// A receiver of webhooks: it cannot be looked at and takes the same twice.
fn hook() -> Place {
    Place {
        can_look: false,
        on_unknown: OnUnknown::Repeat,
        ..Place::named("webhook")
    }
}

fn chat(parts: u32) -> Place {
    Place {
        parts,
        can_look: false,
        ..Place::named("telegram")
    }
}

fn to(destination: &str, part: Option<u32>) -> Chosen {
    Chosen {
        destination: destination.to_owned(),
        part,
    }
}

/// Sending does not work; everything else does.
fn breaks(room: &Room, injected_fault: InjectedFault) {
    room.news.decide(move |call, _| match call {
        Call::Send(..) => injected_fault,
        _ => InjectedFault::Well,
    });
}

fn sends(room: &Room) -> usize {
    count_calls(&room.news.calls(), |call| matches!(call, Call::Send(..)))
}

/// The task of a person who wanted the edition built.
async fn requested(room: &Room) -> ClaimedTask {
    room.editions().request(today(), "ada").await.unwrap();
    let request = claim_request(1, room_now(room), 1);
    let claimed = room.store.claim(request).await.unwrap();
    claimed.tasks.into_iter().next().unwrap()
}

/// Every way to have an edition delivered, at one moment.
async fn every_path(room: &Room, task: &ClaimedTask) {
    let editions = room.editions();
    let handler = room.run_handler(editions.clone());
    for _ in 0..3 {
        editions.tick().await.unwrap();
        let ran = editions.run(today(), &Unwatched).await.unwrap();
        assert!(
            matches!(ran.end, End::Waits(Waiting::Delivery(_))),
            "{:?}",
            ran.end
        );
        let outcome = handler.attempt(task).await;
        let now = room_now(room);
        assert!(
            matches!(outcome, Outcome::Again { at, .. } if at > now),
            "{outcome:?}"
        );
        editions.force_publish(today(), "ada").await.unwrap();
        editions
            .step(today(), Requester::Person, &Unwatched)
            .await
            .unwrap();
    }
}

async fn ed_41_a_destination_that_fails_at_once_is_not_hammered_on_any_path(store: Arc<dyn Store>) {
    let mut room = Room::on(store, EditionHarness::with_places(1, vec![hook()]));
    room.settings.rules.chain = true;
    breaks(&room, InjectedFault::Lost);
    let task = requested(&room).await;
    every_path(&room, &task).await;
    assert_eq!(sends(&room), 1, "for every requester");
    room.clock.advance(SignedDuration::from_secs(29));
    every_path(&room, &task).await;
    assert_eq!(sends(&room), 1);
    room.clock.advance(SignedDuration::from_secs(1));
    every_path(&room, &task).await;
    assert_eq!(sends(&room), 2);
    room.clock.advance(SignedDuration::from_secs(59));
    every_path(&room, &task).await;
    assert_eq!(sends(&room), 2, "the wait doubles");
}

async fn ed_41_a_destination_that_never_works_is_given_up_and_waits_for_a_person(
    store: Arc<dyn Store>,
) {
    let mut room = Room::on(store, EditionHarness::with_places(1, vec![hook()]));
    // So that only pacing is looked at.
    room.settings.rules.overdue_after = SignedDuration::from_hours(48);
    breaks(&room, InjectedFault::Fails(FailureClass::Transient));
    room.tick_times(100).await;
    assert_eq!(sends(&room), TRIES_MAX as usize);
    let ran = room.editions().run(today(), &Unwatched).await.unwrap();
    assert_eq!(ran.end, End::Rests(State::Aggregating));
    assert_eq!(ledger(&ran.account, "webhook"), [Ledger::Failed]);
    assert_eq!(room.open_alerts().await, ["destination:webhook"]);
    room.news.heal();
    room.tick().await;
    assert_eq!(sends(&room), TRIES_MAX as usize, "no request for it");
    let chosen = to("webhook", None);
    let resent = room.editions().resend(today(), &chosen, "ada").await;
    assert_eq!(resent.unwrap().parts, [1]);
    room.tick().await;
    let account = room.account().await;
    assert!(is_published(&account));
    assert_eq!(room.open_alerts().await, Vec::<String>::new());
}

/// Two hours of refusals in the middle of an edition.
async fn ed_41_an_outage_costs_no_message_and_is_reported_once(store: Arc<dyn Store>) {
    let room = Room::on(store, EditionHarness::with_places(1, vec![chat(4)]));
    room.news.decide(|call, before| match call {
        Call::Send(_, part) if *part > 1 && before < 12 => {
            InjectedFault::Fails(FailureClass::Transient)
        }
        _ => InjectedFault::Well,
    });
    room.tick_times(60).await;
    let account = room.account().await;
    assert!(is_published(&account), "{:?}", account.deliveries);
    let bodies = room.news.received("telegram").into_iter();
    let bodies: Vec<String> = bodies.map(|message| message.body).collect();
    let wanted: Vec<String> = (1..=4).map(|part| format!("2026-01-04 {part}")).collect();
    assert_eq!(bodies, wanted, "each once, and in order");
    for news in ["opened", "closed"] {
        let reported = Call::Report("destination:telegram".to_owned(), news);
        let times = count_calls(&room.news.calls(), |call| *call == reported);
        assert_eq!(times, 1, "{news}");
    }
}

async fn ed_41_without_an_answer_no_second_message_is_risked(store: Arc<dyn Store>) {
    let room = Room::on(store, EditionHarness::with_places(1, vec![chat(16)]));
    room.tick().await;
    breaks(&room, InjectedFault::Lost);
    let ran = room.editions().run(today(), &Unwatched).await.unwrap();
    assert!(!is_published(&ran.account));
    assert_eq!(sends(&room), 1, "the others are not tried at once");
    room.tick_times(20).await;
    let account = room.account().await;
    assert!(!is_published(&account), "its arrival is unknown");
    assert_eq!(sends(&room), 2, "one is left out, the next is held");
    let open = room.open_alerts().await;
    assert!(open.contains(&"destination:telegram".to_owned()));
    room.clock.advance(SignedDuration::from_hours(24));
    room.tick().await;
    let account = room.account().await;
    assert_eq!(account.edition.state, State::Archived);
    let open = room.open_alerts().await;
    assert!(
        open.contains(&"destination:telegram".to_owned()),
        "midnight delivers nothing: {open:?}"
    );
}

async fn ed_41_a_message_is_sent_again_once_however_often_it_is_asked_for(store: Arc<dyn Store>) {
    let room = Room::on(store, EditionHarness::with_places(1, vec![chat(2)]));
    room.news.decide(|call, before| match call {
        Call::Send(_, 1) if before == 0 => InjectedFault::Lost,
        _ => InjectedFault::Well,
    });
    room.tick_times(4).await;
    let account = room.account().await;
    assert!(is_published(&account), "without the one in doubt");
    assert_eq!(room.open_alerts().await, ["destination:telegram"]);
    let editions = room.editions();
    let (chosen, all) = (to("telegram", Some(1)), to("telegram", None));
    let (first, second) = tokio::join!(
        editions.resend(today(), &chosen, "ada"),
        editions.resend(today(), &all, "bob"),
    );
    let mut parts = [first.unwrap().parts, second.unwrap().parts].concat();
    parts.dedup();
    assert_eq!(parts, [1], "one of them wrote it");
    room.tick_times(3).await;
    let account = room.account().await;
    assert!(is_published(&account));
    assert_eq!(room.sent_to("telegram"), 3, "the one in doubt, twice");
    assert_eq!(room.open_alerts().await, Vec::<String>::new());
    let refused = editions.resend(today(), &chosen, "ada").await;
    assert!(matches!(refused, Err(Error::NotNow(NotNow::Delivered(_)))));
    let refused = editions.skip(today(), &to("unknown", None), "ada").await;
    assert!(matches!(refused, Err(Error::NotNow(NotNow::NoDelivery(_)))));
}

async fn ed_41_a_skipped_destination_holds_up_no_other(store: Arc<dyn Store>) {
    let room = Room::on(
        store,
        EditionHarness::with_places(1, vec![Place::named("github"), chat(2)]),
    );
    room.news.decide(|call, _| match call {
        Call::Send(to, _) if to == "telegram" => InjectedFault::Fails(FailureClass::Refused),
        _ => InjectedFault::Well,
    });
    room.tick_times(3).await;
    let chosen = to("telegram", None);
    let skipped = room.editions().skip(today(), &chosen, "ada").await.unwrap();
    assert_eq!(skipped.parts, [1, 2]);
    let before = sends(&room);
    room.tick().await;
    let account = room.account().await;
    assert!(is_published(&account));
    assert_eq!(ledger(&account, "telegram"), [Ledger::Skipped; 2]);
    assert_eq!(room.open_alerts().await, Vec::<String>::new());
    assert_eq!(sends(&room), before);
}

async fn ed_41_what_is_held_for_a_destination_that_was_taken_out_holds_up_no_other(
    store: Arc<dyn Store>,
) {
    let mut room = Room::on(store, EditionHarness::with_places(1, vec![chat(1)]));
    breaks(&room, InjectedFault::Lost);
    room.tick_times(4).await;
    assert!(!is_published(&room.account().await));
    room.news = EditionHarness::with_places(1, vec![Place::named("github")]);
    room.tick().await;
    let account = room.account().await;
    assert!(is_published(&account));
    assert_eq!(ledger(&account, "telegram"), [Ledger::Skipped]);
}

/// The sender is stopped for good in the half second between two messages: nothing about the
/// second is in doubt.
async fn ed_12_who_dies_between_two_messages_has_not_sent_the_second(store: Arc<dyn Store>) {
    let slow = Place {
        pause: SignedDuration::from_millis(500),
        ..chat(2)
    };
    let room = Room::on(store, EditionHarness::with_places(1, vec![slow]));
    room.tick().await;
    let pausing = Arc::new(Pausing::default());
    let dying = room.editions_that_wait_by(pausing.clone());
    let stepping =
        tokio::spawn(async move { dying.step(today(), Requester::Tick, &Unwatched).await });
    while !pausing.is_between(&room) {
        tokio::task::yield_now().await;
    }
    stepping.abort();
    assert!(stepping.await.is_err());
    let account = room.account().await;
    let stood = [Ledger::Confirmed, Ledger::Intended];
    assert_eq!(ledger(&account, "telegram"), stood);
    room.tick().await;
    assert!(is_published(&room.account().await), "at the next tick");
    assert_eq!(room.sent_to("telegram"), 2, "each once");
}

/// Never wakes, and remembers until when it was asked to wait.
#[derive(Default)]
struct Pausing(std::sync::Mutex<Vec<Timestamp>>);

impl Pausing {
    /// Whether a sender waits for half a second.
    fn is_between(&self, room: &Room) -> bool {
        let now = almanack_core::time::Clock::now(room.clock.as_ref());
        let asked = self.0.lock().unwrap();
        let pause = |until: &Timestamp| until.duration_since(now).as_millis() == 500;
        asked.iter().any(pause)
    }
}

#[async_trait::async_trait]
impl Sleeper for Pausing {
    async fn until(&self, until: Timestamp) {
        self.0.lock().unwrap().push(until);
        std::future::pending::<()>().await;
    }
}

/// However often it is looked at.
async fn sf_07_people_who_cannot_be_reported_are_not_asked_every_second(store: Arc<dyn Store>) {
    let mut room = Room::on(store, EditionHarness::with(2));
    room.settings.rules.overdue_after = SignedDuration::from_mins(1);
    room.news.decide(|call, _| match call {
        Call::Report(..) => InjectedFault::Fails(FailureClass::Transient),
        _ => InjectedFault::Well,
    });
    room.tick().await;
    for _ in 0..60 {
        room.look().await;
        room.clock.advance(SignedDuration::from_secs(1));
    }
    let reported = count_calls(&room.news.calls(), |call| matches!(call, Call::Report(..)));
    assert_eq!(reported, 1);
}
