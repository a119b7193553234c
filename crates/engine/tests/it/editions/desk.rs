//! The desk: nothing unapproved leaves, and every correction is a revision with its author (ED-42).

use almanack_core::edition::{
    delivery::State as Ledger,
    hold::{Approval, Deadline, OnSilence, SILENCE},
    plan::Requester,
    revision::{Correction, Revision},
    turn::{KEEPS_IT, Meant, NotNow},
};
use almanack_engine::editions::{End, Error, Unwatched};

use super::*;
use crate::event_delivery::{everything, published};

on_both!(
    ed_42_nothing_leaves_before_a_person_approves,
    ed_42_a_rejected_edition_never_leaves_by_itself,
    ed_42_in_silence_it_goes_out_or_it_does_not,
    ed_42_a_hold_outlives_its_day,
    ed_42_of_two_who_decide_at_once_one_is_heard,
    ed_42_a_correction_voids_what_was_looked_at_before,
    ed_42_a_correction_goes_to_destinations_that_can_take_it,
    ed_42_a_document_that_is_made_again_keeps_the_corrections,
    ed_42_a_retracted_edition_is_taken_back_and_restored,
    ed_42_what_cannot_be_corrected_changes_nothing,
);

const ANY: Meant = Meant {
    revision: None,
    since: None,
};

fn approving(store: Arc<dyn Store>, approval: Approval) -> Room {
    let mut room = Room::on(store, EditionHarness::with(3));
    room.settings.rules.approval = Some(approval);
    room
}

fn within(minutes: i64, on_silence: OnSilence) -> Approval {
    Approval {
        deadline: Some(Deadline::Within(SignedDuration::from_mins(minutes))),
        on_silence,
    }
}

fn sent(room: &Room) -> [usize; 2] {
    ["github", "telegram"].map(|name| room.sent_to(name))
}

fn titles(room: &Room) -> String {
    let received = room.news.received("github");
    received
        .last()
        .map(|it| it.body.clone())
        .unwrap_or_default()
}

fn refusal<T: std::fmt::Debug>(done: Result<T, Error>) -> NotNow {
    match done {
        Err(Error::NotNow(not_now)) => not_now,
        other => unreachable!("not refused: {other:?}"),
    }
}

fn drop_story(story: &str) -> Correction {
    Correction::Drop {
        story: story.to_owned(),
    }
}

async fn ed_42_nothing_leaves_before_a_person_approves(store: Arc<dyn Store>) {
    let room = approving(store, Approval::default());
    room.tick_times(20).await;
    let account = room.account().await;
    assert_eq!(account.edition.state, State::Aggregating);
    assert!(account.edition.waiting().is_some());
    assert_eq!(sent(&room), [0, 0]);
    // More than two hours old, and late by a person's leave.
    assert_eq!(room.open_alerts().await, ["approval"]);
    let notified = Call::Report("approval".to_owned(), "opened");
    assert_eq!(count_calls(&room.news.calls(), |call| *call == notified), 1);
    let editions = room.editions();
    let forced = editions.force_publish(today(), "ada").await.unwrap();
    let ran = editions.run(today(), &Unwatched).await.unwrap();
    assert!(matches!(ran.end, End::Waits(_)) && forced.requests == 0);
    assert_eq!(sent(&room), [0, 0], "no other request gets it out");

    let approved = editions.approve(today(), ANY, "ada").await.unwrap();
    assert!(approved.changed);
    room.tick_times(3).await;
    assert!(is_published(&room.account().await));
    assert_eq!(sent(&room), [1, 2]);
    let again = editions.approve(today(), ANY, "eve").await.unwrap();
    room.tick_times(3).await;
    assert!(!again.changed);
    assert_eq!(sent(&room), [1, 2], "an approved edition is sent once");
    let decision = room.account().await.edition.hold.unwrap().decision.unwrap();
    assert_eq!(decision.by, "ada");
    let late = editions.reject(today(), ANY, "eve").await;
    assert_eq!(refusal(late), NotNow::Approved);
}

async fn ed_42_a_rejected_edition_never_leaves_by_itself(store: Arc<dyn Store>) {
    let room = approving(store, within(600, OnSilence::Publish));
    room.tick_times(2).await;
    let editions = room.editions();
    let rejected = editions.reject(today(), ANY, "ada").await.unwrap();
    assert!(rejected.changed);
    assert_eq!(rejected.account.edition.state, State::Archived);
    let again = editions.reject(today(), ANY, "ada").await.unwrap();
    assert!(!again.changed);
    room.clock.advance(SignedDuration::from_hours(11));
    room.tick_times(3).await;
    editions.run(today(), &Unwatched).await.unwrap();
    // Taken up again, it waits again.
    editions.request(today(), "ada").await.unwrap();
    room.tick_times(3).await;
    let account = room.account().await;
    assert!(account.edition.waiting().is_some(), "{account:?}");
    assert_eq!(sent(&room), [0, 0]);
    editions.approve(today(), ANY, "ada").await.unwrap();
    room.tick_times(2).await;
    assert_eq!(sent(&room), [1, 2], "a person may change their mind");
}

async fn ed_42_in_silence_it_goes_out_or_it_does_not(store: Arc<dyn Store>) {
    let mut room = approving(store, within(30, OnSilence::Publish));
    room.tick_times(2).await;
    room.tick_times(2).await;
    assert_eq!(sent(&room), [0, 0]);
    room.tick_times(2).await;
    let account = room.account().await;
    assert!(is_published(&account));
    assert_eq!(sent(&room), [1, 2]);
    let decision = account.edition.hold.unwrap().decision.unwrap();
    assert_eq!(decision.by, SILENCE);

    room.clock.advance(SignedDuration::from_hours(24));
    room.settings.rules.approval = Some(within(30, OnSilence::Drop));
    room.tick_times(8).await;
    let next = EditionId::from(today().date.tomorrow().unwrap());
    let account = room.account_of(next).await;
    assert_eq!(account.edition.state, State::Archived);
    assert_eq!(sent(&room), [1, 2]);
    // That nobody answered is not over when the time is.
    assert_eq!(room.open_alerts_of(next).await, ["approval"]);
    let editions = room.editions();
    editions.approve(next, ANY, "ada").await.unwrap();
    room.tick_times(2).await;
    assert_eq!(sent(&room), [2, 4], "it can still be published");
}

async fn ed_42_a_hold_outlives_its_day(store: Arc<dyn Store>) {
    let room = approving(store, within(120, OnSilence::Publish));
    let midnight = today().date.tomorrow().unwrap();
    let midnight = midnight.to_zoned(TimeZone::UTC).unwrap();
    room.clock.set(midnight.timestamp() - TICK * 3);
    room.tick_times(3).await;
    room.tick_times(4).await;
    let account = room.account().await;
    assert!(account.edition.waiting().is_some(), "{account:?}");
    room.clock.advance(SignedDuration::from_hours(2));
    room.tick().await;
    let account = room.account().await;
    assert_eq!(account.edition.state, State::Aggregating);
    assert!(account.edition.hold.is_some_and(|hold| hold.lets_out()));
    let editions = room.editions();
    for _ in 0..3 {
        let step = editions.step(today(), Requester::Tick, &Unwatched).await;
        step.unwrap();
    }
    assert!(is_published(&room.account().await));
    let first = room.news.received("github");
    let own = first.iter().map(|it| it.key.as_str());
    let own: Vec<&str> = own.filter(|key| key.contains("01-04")).collect();
    assert_eq!(own, ["edition:2026-01-04/1/github/1"]);
}

async fn ed_42_of_two_who_decide_at_once_one_is_heard(store: Arc<dyn Store>) {
    let room = approving(store, Approval::default());
    room.tick_times(2).await;
    let since = room.account().await.edition.hold.map(|hold| hold.since);
    let meant = Meant {
        revision: Some(1),
        since,
    };
    let (ada, eve) = (room.editions(), room.editions());
    let (yes, no) = tokio::join!(
        ada.approve(today(), meant, "ada"),
        eve.reject(today(), meant, "eve")
    );
    assert!(yes.is_ok() != no.is_ok(), "{yes:?} {no:?}");
    let left = if yes.is_ok() { [1, 2] } else { [0, 0] };
    let again = ada.approve(today(), meant, "ada").await;
    assert_eq!(refusal(again), NotNow::Decided, "a link is used once");
    room.tick_times(3).await;
    assert_eq!(sent(&room), left);
}

async fn ed_42_a_correction_voids_what_was_looked_at_before(store: Arc<dyn Store>) {
    let room = approving(store, within(600, OnSilence::Publish));
    room.tick_times(2).await;
    let editions = room.editions();
    let first = room.account().await.edition;
    let looked = Meant {
        revision: Some(first.revision),
        since: first.hold.as_ref().map(|hold| hold.since),
    };
    let account = editions
        .correct(today(), &drop_story("2"), Some(1), "ada")
        .await;
    let edition = account.unwrap().edition;
    assert_eq!(edition.revision, 2);
    let hold = edition.waiting().unwrap();
    assert_eq!(hold.until, first.hold.and_then(|hold| hold.until));
    for meant in [
        looked,
        Meant {
            revision: None,
            ..looked
        },
    ] {
        refusal(editions.approve(today(), meant, "link").await);
        refusal(editions.reject(today(), meant, "link").await);
    }
    let late = editions
        .correct(today(), &drop_story("1"), Some(1), "eve")
        .await;
    assert_eq!(refusal(late), NotNow::Replaced(2));
    room.tick_times(2).await;
    assert_eq!(sent(&room), [0, 0]);
    let second = Meant {
        revision: Some(2),
        since: None,
    };
    editions.approve(today(), second, "ada").await.unwrap();
    room.tick_times(2).await;
    assert_eq!(sent(&room), [1, 2]);
    let document = editions.document(today(), None).await.unwrap();
    let absent = editions.document(today(), Some(9)).await.unwrap_err();
    assert!(
        absent.to_string().ends_with("has no revision 9"),
        "{absent}"
    );
    let kept: Vec<u32> = document.inputs.stories.iter().map(|it| it.rank).collect();
    assert_eq!(kept, [1, 3]);
}

async fn ed_42_a_correction_goes_to_destinations_that_can_take_it(store: Arc<dyn Store>) {
    let room = Room::on(store, EditionHarness::with(3));
    room.tick_times(3).await;
    assert!(is_published(&room.account().await));
    let editions = room.editions();
    let edit = Correction::Edit {
        story: "hn:3".to_owned(),
        title: Some("  Corrected \r\n".to_owned()),
        summary: None,
        comments: None,
    };
    let last = Correction::Move {
        story: "hn:3".to_owned(),
        to: 1,
    };
    editions
        .correct(today(), &edit, None, "ui:ada")
        .await
        .unwrap();
    editions
        .correct(today(), &last, None, "api:eve")
        .await
        .unwrap();
    room.tick_times(2).await;
    let account = room.account().await;
    assert!(is_published(&account));
    assert_eq!(ledger(&account, "github"), [Ledger::Confirmed]);
    assert_eq!(ledger(&account, "telegram"), [Ledger::Skipped; 2]);
    assert_eq!(sent(&room), [2, 2], "the revision between was never sent");
    let document = editions.document(today(), None).await.unwrap();
    let stories = document.inputs.stories.iter();
    let stories: Vec<_> = stories.map(|it| (it.rank, it.key.0.as_str())).collect();
    assert_eq!(stories, [(1, "hn:3"), (2, "hn:1"), (3, "hn:2")]);
    assert_eq!(document.inputs.stories[0].title, "Corrected");
    assert!(
        editions
            .rebuild(today(), None, None)
            .await
            .unwrap()
            .identical
    );
    let history = editions.revisions(today()).await.unwrap();
    let history = history
        .iter()
        .map(|it| (it.revision, it.by.as_deref(), it.summary.as_str()));
    let history: Vec<_> = history.collect();
    assert_eq!((history[0].0, history[2].0), (3, 1), "newest first");
    assert_eq!(history[0].1, Some("api:eve"));
    assert_eq!(history[0].2, "moved “Corrected” from place 3 to 1");
    assert_eq!(history[1].1, Some("ui:ada"));
    assert_eq!(history[2], (1, None, "built from its stories"));
}

async fn ed_42_a_document_that_is_made_again_keeps_the_corrections(store: Arc<dyn Store>) {
    let room = Room::on(store, EditionHarness::with(3));
    room.tick_times(3).await;
    let editions = room.editions();
    editions
        .correct(today(), &drop_story("hn:1"), None, "ada")
        .await
        .unwrap();
    room.tick().await;
    editions.reset(today(), "ada").await.unwrap();
    room.tick_times(3).await;
    assert!(is_published(&room.account().await));
    let document = editions.document(today(), None).await.unwrap();
    assert_eq!(document.inputs.revision, 3);
    let keys = document.inputs.stories.iter();
    let keys: Vec<&str> = keys.map(|it| it.key.0.as_str()).collect();
    assert_eq!(keys, ["hn:2", "hn:3"]);
}

async fn ed_42_a_retracted_edition_is_taken_back_and_restored(store: Arc<dyn Store>) {
    let mut room = Room::on(store, EditionHarness::with(3));
    room.subscriptions = everything();
    room.tick_times(3).await;
    let editions = room.editions();
    let note = Some("Story 2 was *false*.");
    editions.retract(today(), note, "ada").await.unwrap();
    room.tick_times(2).await;
    let account = room.account().await;
    let retraction = account.edition.retraction.as_ref().unwrap();
    assert_eq!((retraction.by.as_str(), retraction.revision), ("ada", 1));
    assert_eq!(sent(&room), [2, 2]);
    let body = titles(&room);
    assert!(
        body.contains("已撤回") && body.contains("\\*false\\*"),
        "{body}"
    );
    assert!(!body.contains("Story 1"), "{body}");
    let chat = account
        .deliveries
        .iter()
        .find(|it| it.destination == "telegram");
    assert_eq!(chat.unwrap().detail.as_deref(), Some(KEEPS_IT));
    assert_eq!(
        published(&*room.store).await.len(),
        2,
        "a note is no edition"
    );
    let again = editions.retract(today(), None, "ada").await;
    assert_eq!(refusal(again), NotNow::Retracted);
    assert_eq!(
        refusal(editions.reset(today(), "ada").await),
        NotNow::Retracted
    );
    assert!(
        editions
            .rebuild(today(), None, None)
            .await
            .unwrap()
            .identical
    );

    editions.restore(today(), "ada").await.unwrap();
    room.tick_times(2).await;
    let account = room.account().await;
    assert!(is_published(&account) && account.edition.retraction.is_none());
    assert_eq!(sent(&room), [3, 2]);
    let document = editions.document(today(), None).await.unwrap();
    assert_eq!(document.inputs.stories.len(), 3);
    let restored = document.revised.map(|it| it.change);
    assert_eq!(restored, Some(Revision::Restored { revision: 1 }));
    let again = editions.restore(today(), "ada").await;
    assert_eq!(refusal(again), NotNow::NotRetracted);
}

async fn ed_42_what_cannot_be_corrected_changes_nothing(store: Arc<dyn Store>) {
    let room = approving(store, Approval::default());
    let editions = room.editions();
    room.tick().await;
    let early = editions
        .correct(today(), &drop_story("1"), None, "ada")
        .await;
    assert_eq!(refusal(early), NotNow::NoDocument);
    assert_eq!(
        refusal(editions.approve(today(), ANY, "ada").await),
        NotNow::NotHeld
    );
    room.tick().await;
    let before = room.account().await;
    let edit = |title: &str| Correction::Edit {
        story: "1".to_owned(),
        title: Some(title.to_owned()),
        summary: None,
        comments: None,
    };
    let to = |to| Correction::Move {
        story: "1".to_owned(),
        to,
    };
    let long = "x".repeat(501);
    let same = before.stories[0].written.title.clone().unwrap();
    for (wanted, refused) in [
        (drop_story("9"), NotNow::NoStory("9".to_owned())),
        (drop_story("hn:9"), NotNow::NoStory("hn:9".to_owned())),
        (to(0), NotNow::NoPlace(3)),
        (to(4), NotNow::NoPlace(3)),
        (to(1), NotNow::NoChange),
        (edit(" "), NotNow::EmptyTitle),
        (edit(&same), NotNow::NoChange),
        (
            edit(&long),
            NotNow::TooLong {
                name: "title",
                most: 500,
            },
        ),
    ] {
        let done = editions.correct(today(), &wanted, None, "ada").await;
        assert_eq!(refusal(done), refused, "{wanted:?}");
    }
    let unsent = editions.retract(today(), None, "ada").await;
    assert_eq!(refusal(unsent), NotNow::NothingSent);
    assert_eq!(room.account().await, before);
}
