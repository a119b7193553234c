//! Deliveries: every destination once in effect, whatever becomes of the answers (ED-12).

use almanack_core::{
    edition::{
        delivery::{OnUnknown, State as Ledger},
        plan::Requester,
        port::FailureClass,
    },
    newsletter::{Mailing, mailing},
    reschedule::{Cancel, Request},
};
use almanack_engine::editions::Unwatched;
use almanack_testkit::edition_harness::{InjectedFault, Place};

use super::*;
use crate::event_delivery::{everything, published};

on_both!(
    ed_12_one_destination_fails_and_the_other_has_it,
    a_destination_that_has_it_is_reported_once,
    ed_12_a_lost_reply_is_settled_by_looking,
    ed_12_a_message_without_an_answer_is_not_sent_again,
    ed_12_or_is_if_that_is_preferred,
    ed_12_a_process_that_dies_while_sending_leaves_no_doubt,
    ed_12_a_look_that_fails_is_made_again,
    a_destination_that_is_no_longer_configured_holds_up_no_other,
    deliveries_wait_for_the_next_tick_when_the_budget_does_not_suffice,
    a_second_document_replaces_the_first_where_it_can_and_is_not_sent_where_it_cannot,
    ed_43_a_newsletter_that_nobody_gets_is_reported_until_it_goes_on_or_is_stopped,
);

async fn worked_through(room: &Room) {
    room.tick_times(2).await;
}

fn fails_at(
    destination: &'static str,
) -> impl Fn(&Call, usize) -> InjectedFault + Send + Sync + 'static {
    move |call, _| match call {
        Call::Send(to, _) if to == destination => InjectedFault::Fails(FailureClass::Credentials),
        _ => InjectedFault::Well,
    }
}

async fn ed_12_one_destination_fails_and_the_other_has_it(store: Arc<dyn Store>) {
    let room = Room::on(store, EditionHarness::with(3));
    room.news.decide(fails_at("github"));
    worked_through(&room).await;
    let account = room.account().await;
    assert_eq!(account.edition.state, State::Aggregating);
    assert_eq!(ledger(&account, "github"), [Ledger::Failed]);
    assert_eq!(
        ledger(&account, "telegram"),
        [Ledger::Confirmed, Ledger::Confirmed]
    );
    assert_eq!(room.open_alerts().await, ["destination:github"]);
    room.news.heal();
    room.news.forget_calls();
    room.tick().await;
    let sent: Vec<Call> = room
        .news
        .calls()
        .into_iter()
        .filter(|call| matches!(call, Call::Send(..)))
        .collect();
    assert_eq!(
        sent,
        [Call::Send("github".to_owned(), 1)],
        "only what failed is tried again"
    );
    let account = room.account().await;
    assert!(is_published(&account));
    assert_eq!(room.open_alerts().await, Vec::<String>::new());
    assert_eq!(
        account.deliveries[0].receipt.as_deref(),
        Some("edition:2026-01-04/1/github/1")
    );
}

async fn a_destination_that_has_it_is_reported_once(store: Arc<dyn Store>) {
    let mut room = Room::on(store, EditionHarness::with(3));
    room.subscriptions = everything();
    room.news.decide(fails_at("github"));
    worked_through(&room).await;
    let telegram = "event:edition-2026-01-04-1-telegram@audit";
    assert_eq!(
        published(room.store.as_ref()).await,
        [telegram],
        "of both its parts"
    );
    room.news.heal();
    room.tick_times(3).await;
    assert!(is_published(&room.account().await));
    let github = "event:edition-2026-01-04-1-github@audit";
    assert_eq!(published(room.store.as_ref()).await, [telegram, github]);
}

async fn ed_12_a_lost_reply_is_settled_by_looking(store: Arc<dyn Store>) {
    let room = Room::on(store, EditionHarness::with(1));
    room.news.decide(|call, _| match call {
        Call::Send(to, _) if to == "github" => InjectedFault::Lost,
        _ => InjectedFault::Well,
    });
    room.tick_times(3).await;
    let account = room.account().await;
    assert!(is_published(&account), "{:?}", account.deliveries);
    assert_eq!(ledger(&account, "github"), [Ledger::Confirmed]);
    assert_eq!(room.sent_to("github"), 1, "not sent again");
}

async fn ed_12_a_message_without_an_answer_is_not_sent_again(store: Arc<dyn Store>) {
    let room = Room::on(store, EditionHarness::with(1));
    room.news.decide(|call, _| match call {
        Call::Send(to, 1) if to == "telegram" => InjectedFault::Hangs,
        _ => InjectedFault::Well,
    });
    room.tick_times(4).await;
    let account = room.account().await;
    assert!(is_published(&account));
    assert_eq!(
        ledger(&account, "telegram"),
        [Ledger::Skipped, Ledger::Confirmed]
    );
    let bodies: Vec<String> = room
        .news
        .received("telegram")
        .into_iter()
        .map(|message| message.body)
        .collect();
    assert_eq!(
        bodies,
        ["2026-01-04 1", "2026-01-04 2"],
        "each once, and in order"
    );
}

async fn ed_12_or_is_if_that_is_preferred(store: Arc<dyn Store>) {
    let chat = Place {
        can_look: false,
        on_unknown: OnUnknown::Repeat,
        ..Place::named("chat")
    };
    let room = Room::on(store, EditionHarness::with_places(1, vec![chat]));
    room.news.decide(|call, before| match call {
        Call::Send(..) if before == 0 => InjectedFault::Lost,
        _ => InjectedFault::Well,
    });
    room.tick_times(3).await;
    assert!(is_published(&room.account().await));
    assert_eq!(room.sent_to("chat"), 2, "better twice than missing");
}

/// The sender is stopped for good after the message has left and before that is recorded.
async fn ed_12_a_process_that_dies_while_sending_leaves_no_doubt(store: Arc<dyn Store>) {
    let room = Room::on(store, EditionHarness::with(1));
    room.tick().await;
    room.news.decide(|call, _| match call {
        Call::Send(..) => InjectedFault::Hangs,
        _ => InjectedFault::Well,
    });
    let dying = room.editions_that_wait_by(Arc::new(Forever));
    let stepping =
        tokio::spawn(async move { dying.step(today(), Requester::Tick, &Unwatched).await });
    while room.sent_to("github") + room.sent_to("telegram") < 2 {
        tokio::task::yield_now().await;
    }
    stepping.abort();
    let account = room.account().await;
    assert_eq!(ledger(&account, "github"), [Ledger::Sent]);
    room.news.heal();
    room.tick().await;
    let account = room.account().await;
    assert_eq!(
        ledger(&account, "github"),
        [Ledger::Sent],
        "its lease still holds"
    );
    room.tick_times(2).await;
    let account = room.account().await;
    assert!(is_published(&account), "{:?}", account.deliveries);
    assert_eq!(room.sent_to("github"), 1, "looked at, and there it was");
    assert_eq!(
        ledger(&account, "telegram"),
        [Ledger::Skipped, Ledger::Confirmed]
    );
}

/// Never wakes: what hangs, hangs.
struct Forever;

#[async_trait::async_trait]
impl Sleeper for Forever {
    async fn until(&self, _: Timestamp) {
        std::future::pending::<()>().await;
    }
}

async fn ed_12_a_look_that_fails_is_made_again(store: Arc<dyn Store>) {
    let room = Room::on(
        store,
        EditionHarness::with_places(1, vec![Place::named("github")]),
    );
    room.news.decide(|call, before| match call {
        Call::Send(..) => InjectedFault::Lost,
        Call::Look(..) if before == 0 => InjectedFault::Fails(FailureClass::Transient),
        _ => InjectedFault::Well,
    });
    room.tick_times(3).await;
    assert_eq!(room.account().await.edition.state, State::Aggregating);
    room.tick_times(2).await;
    assert!(is_published(&room.account().await));
    assert_eq!(room.sent_to("github"), 1);
}

async fn a_destination_that_is_no_longer_configured_holds_up_no_other(store: Arc<dyn Store>) {
    let mut room = Room::on(store, EditionHarness::with(1));
    room.news.decide(fails_at("github"));
    worked_through(&room).await;
    assert_eq!(room.account().await.edition.state, State::Aggregating);
    room.news = EditionHarness::with_places(1, Vec::new());
    room.tick_times(2).await;
    let account = room.account().await;
    assert!(is_published(&account));
    assert_eq!(ledger(&account, "github"), [Ledger::Skipped]);
}

async fn deliveries_wait_for_the_next_tick_when_the_budget_does_not_suffice(store: Arc<dyn Store>) {
    let mut room = Room::on(store, EditionHarness::with(1));
    // Five for the story, and three are left of what the deliveries take: one too few.
    room.settings.rules.batch_size = 1;
    room.settings.rules.budget = 7;
    room.tick().await;
    assert_eq!(did(&room.tick().await), ["process", "aggregate"]);
    assert_eq!(room.account().await.edition.state, State::Aggregating);
    assert_eq!(did(&room.tick().await), ["deliver", "publish"]);
}

async fn a_second_document_replaces_the_first_where_it_can_and_is_not_sent_where_it_cannot(
    store: Arc<dyn Store>,
) {
    let room = Room::on(store, EditionHarness::with(2));
    room.news.decide(|call, _| match call {
        Call::Titles(_) => InjectedFault::Lacks,
        _ => InjectedFault::Well,
    });
    room.tick_times(4).await;
    assert!(is_published(&room.account().await));
    room.news.heal();
    let retried = room.editions().retry(today(), None, "ada").await.unwrap();
    assert_eq!(retried.stories, 1);
    room.tick_times(2).await;
    let account = room.account().await;
    assert_eq!(
        (account.edition.state, account.edition.revision),
        (State::Published, 2)
    );
    assert_eq!((room.sent_to("github"), room.sent_to("telegram")), (2, 2));
    assert_eq!(
        ledger(&account, "telegram"),
        [Ledger::Skipped, Ledger::Skipped]
    );
    let second = &room.news.received("github")[1];
    assert!(second.body.contains("1 译：Story 1"), "{}", second.body);
    for revision in [1, 2] {
        let rebuilt = room
            .editions()
            .rebuild(today(), Some(revision), None)
            .await
            .unwrap();
        assert!(rebuilt.identical, "revision {revision}");
    }
    let other = room
        .editions()
        .rebuild(today(), None, Some("new"))
        .await
        .unwrap();
    assert!(!other.identical && other.body.starts_with("new 2026-01-04"));
}

/// The edition is published when its mailing begins, so nothing else says that nobody gets it.
async fn ed_43_a_newsletter_that_nobody_gets_is_reported_until_it_goes_on_or_is_stopped(
    store: Arc<dyn Store>,
) {
    let room = Room::on(store, EditionHarness::with(1));
    room.tick_times(4).await;
    assert!(is_published(&room.account().await));
    let now = room.clock.now();
    let begun = Mailing::new(today(), 1, now);
    assert!(room.store.create_mailing(&begun).await.unwrap());
    assert_eq!(room.open_alerts().await, [""; 0]);
    let held = (0..50).fold(begun, |mailing, _| mailing.failed("421 closing"));
    room.store.note_mailing(&held).await.unwrap();
    assert_eq!(room.open_alerts().await, ["destination:mail"]);
    let well = held.succeeded().unwrap();
    room.store.note_mailing(&well).await.unwrap();
    assert_eq!(room.open_alerts().await, [""; 0], "it goes on");
    room.store.note_mailing(&held).await.unwrap();
    assert_eq!(room.open_alerts().await, ["destination:mail"]);
    let request = Request::Cancel(Cancel {
        identity: mailing::identity(today()).unwrap(),
        revision: None,
    });
    let rescheduler = room.editions().rescheduler.clone();
    rescheduler.ask(request, "ada").await.unwrap();
    assert_eq!(
        room.open_alerts().await,
        [""; 0],
        "nobody wants it any more"
    );
}
