//! Hubs that push, publishers that ping, and hosts that ask for a wait.

use almanack_core::lang::Lang;
use almanack_core::source::{
    hub::{Hub, HubAnswer, HubState, NamedHub, Pushed, Reach},
    why::{next_look, next_look_at},
};
use almanack_engine::sources::push::{Push, Received};
use almanack_testkit::hubs::SIGNED;

use super::*;

on_both!(
    ss_23_a_named_hub_is_asked_and_confirmed_once,
    ss_23_a_request_that_was_lost_is_made_again_at_the_next_check,
    ss_23_a_lease_is_renewed_before_it_ends,
    ss_23_a_refusal_is_written_down_and_checking_goes_on,
    ss_23_a_pushed_entry_is_kept_once_and_leaves_the_rest_alone,
    ss_23_only_the_hub_can_push,
    ss_23_a_push_without_entries_is_a_check_now,
    ss_23_a_paused_source_takes_no_push,
    ss_23_a_hub_that_pushes_makes_checks_rare_and_a_missed_entry_ends_that,
    ss_23_a_denial_brings_the_check_forward,
    ss_23_without_reach_no_hub_is_asked_and_a_lease_is_worth_nothing,
    ss_23_pings_bring_about_one_check_a_minute,
    ss_08_a_source_whose_host_asked_for_a_wait_is_not_due,
);

const HOUR: SignedDuration = SignedDuration::from_hours(1);
const TOPIC: &str = "https://example.com/feed";

fn naming_hub(titles: &[&str]) -> Look {
    let Look::Document(mut read) = document(titles) else {
        unreachable!("a document");
    };
    read.hub = Some(NamedHub {
        hub: "https://hub.example/".to_owned(),
        topic: TOPIC.to_owned(),
    });
    Look::Document(read)
}

impl SourceHarness {
    fn push(&self) -> Push {
        Push {
            sources: self.sources.clone(),
            handler: self.handler(),
            body_bytes: 1_000_000,
        }
    }

    /// A source under the adaptive policy whose hub was asked to push.
    async fn with_hub(&self) -> SourceId {
        let mut wanted = definition(TOPIC);
        wanted.policy = None;
        let added = self.sources.add(vec![wanted], "ada").await.unwrap();
        let id = only_new(&added).unwrap();
        self.hubs.set_reach(Reach::Open);
        self.world.will_answer([naming_hub(&["old"])]);
        self.run_due().await;
        id
    }

    async fn hub(&self, id: SourceId) -> Hub {
        self.source(id).await.memory.publisher.hub.unwrap()
    }

    async fn admitted(&self, id: SourceId) -> Source {
        let token = format!("at-{}", self.hub(id).await.token);
        self.push().admit(id, &token).await.unwrap().unwrap()
    }

    async fn confirm(&self, id: SourceId, lease: SignedDuration) {
        let source = self.admitted(id).await;
        let confirmed = self.push().confirm(&source, TOPIC, Some(lease)).await;
        assert!(confirmed.unwrap());
    }

    async fn receive(&self, id: SourceId, signature: &str, body: &str) -> Received {
        let source = self.admitted(id).await;
        let pushed = Pushed {
            body: body.as_bytes().to_vec(),
            content_type: None,
        };
        let received = self.push().receive(source, signature, pushed).await;
        received.unwrap()
    }

    /// Runs the source's next check, whenever that is.
    async fn run_next(&self, id: SourceId) {
        self.clock.set(self.task(id).await.unwrap().due_at.unwrap());
        self.run_due().await;
    }

    fn wait_of(&self, source: &Source) -> SignedDuration {
        let due_at = source.stats.next_due_at.unwrap();
        due_at.duration_since(self.clock.now())
    }
}

async fn ss_23_a_named_hub_is_asked_and_confirmed_once(fixture: Fixture) {
    let room = SourceHarness::at(fixture);
    let id = room.with_hub().await;
    let asked = room.hubs.asked();
    assert_eq!(asked.len(), 1);
    assert_eq!((asked[0].0, asked[0].1.topic.as_str()), (id, TOPIC));
    let hub = room.hub(id).await;
    assert_eq!(hub.state(room.clock.now()), HubState::Requested);
    assert_eq!(
        hub.token, asked[0].1.token,
        "the row knows what the hub knows"
    );
    let source = room.admitted(id).await;
    let push = room.push();
    let wrong = push.confirm(&source, "https://other.example/", None);
    assert!(!wrong.await.unwrap(), "another topic");
    assert_eq!(room.hub(id).await.leased_until, None);
    room.confirm(id, HOUR * 240).await;
    let hub = room.hub(id).await;
    assert_eq!(hub.leased_until, Some(room.clock.now() + HOUR * 240));
    room.run_next(id).await;
    assert_eq!(room.hubs.asked().len(), 1, "nothing to ask for");
}

async fn ss_23_a_request_that_was_lost_is_made_again_at_the_next_check(fixture: Fixture) {
    let room = SourceHarness::at(fixture);
    let id = room.with_hub().await;
    // The node died before the hub could verify, or before it was asked at all.
    room.run_next(id).await;
    let asked = room.hubs.asked();
    assert_eq!(asked.len(), 2);
    assert_eq!(asked[0].1.token, asked[1].1.token, "one callback, not two");
    room.confirm(id, HOUR * 240).await;
    assert_eq!(
        room.hub(id).await.state(room.clock.now()),
        HubState::Subscribed
    );
}

async fn ss_23_a_lease_is_renewed_before_it_ends(fixture: Fixture) {
    let room = SourceHarness::at(fixture);
    let id = room.with_hub().await;
    room.confirm(id, HOUR * 240).await;
    let until = room.hub(id).await.leased_until.unwrap();
    let mut asked_at = None;
    for _ in 0..2_000 {
        room.run_next(id).await;
        if room.hubs.asked().len() == 2 {
            asked_at = Some(room.clock.now());
            break;
        }
    }
    assert!(
        asked_at.is_some_and(|at| at < until),
        "{asked_at:?} {until}"
    );
    room.confirm(id, HOUR * 240).await;
    assert!(room.hub(id).await.leased_until.unwrap() > until);
}

async fn ss_23_a_refusal_is_written_down_and_checking_goes_on(fixture: Fixture) {
    let room = SourceHarness::at(fixture);
    let no = HubAnswer::Refused("not yours (HTTP 422)".to_owned());
    room.hubs.will_answer(no);
    let id = room.with_hub().await;
    let source = room.source(id).await;
    let hub = source.memory.publisher.hub.clone().unwrap();
    assert_eq!(hub.refused.as_deref(), Some("not yours (HTTP 422)"));
    assert_eq!((source.stats.fail_count, source.attention), (0, None));
    room.run_next(id).await;
    assert_eq!(room.hubs.asked().len(), 1, "not again today");
    assert_eq!(room.source(id).await.stats.check_count, 2);
}

async fn ss_23_a_pushed_entry_is_kept_once_and_leaves_the_rest_alone(fixture: Fixture) {
    let room = SourceHarness::at(fixture);
    let id = room.with_hub().await;
    room.confirm(id, HOUR * 240).await;
    let before = room.source(id).await;
    room.clock
        .set(room.clock.now() + SignedDuration::from_secs(5));
    assert_eq!(
        room.receive(id, SIGNED, "news\nold").await,
        Received::Kept(1)
    );
    assert_eq!(room.receive(id, SIGNED, "news").await, Received::Kept(0));
    assert_eq!(room.titles().await, ["news", "old"]);
    let after = room.source(id).await;
    assert_eq!(after.memory.shown, before.memory.shown);
    assert_eq!(after.memory.validators, before.memory.validators);
    assert_eq!(after.stats.check_count, before.stats.check_count);
    assert_eq!(after.stats.next_due_at, before.stats.next_due_at);
    assert_eq!(after.stats.last_article_at, Some(room.clock.now()));
    assert_ne!(after.learned, before.learned, "it is learned from");
    room.world.will_answer([naming_hub(&["news", "old"])]);
    room.run_next(id).await;
    assert_eq!(room.titles().await.len(), 2, "a check finds it known");
    assert_eq!(
        room.hub(id).await.pushes_wanted,
        0,
        "and the hub did its work"
    );
}

async fn ss_23_only_the_hub_can_push(fixture: Fixture) {
    let room = SourceHarness::at(fixture);
    let id = room.with_hub().await;
    let push = room.push();
    for (id, token) in [(id, "at-guess"), (id, ""), (SourceId(999), "at-token-0")] {
        assert_eq!(push.admit(id, token).await.unwrap(), None, "{token}");
    }
    for signature in ["", "sha256=wrong"] {
        let received = room.receive(id, signature, "forged").await;
        assert_eq!(received, Received::Unsigned);
    }
    assert_eq!(room.titles().await, ["old"]);
    assert_eq!(room.hub(id).await.pushed_at, None);
}

async fn ss_23_a_push_without_entries_is_a_check_now(fixture: Fixture) {
    let room = SourceHarness::at(fixture);
    let id = room.with_hub().await;
    room.confirm(id, HOUR * 240).await;
    let minutes = SignedDuration::from_mins(5);
    room.clock.set(room.clock.now() + minutes);
    assert_eq!(room.receive(id, SIGNED, " \n").await, Received::Checked);
    room.world.will_answer([naming_hub(&["news", "old"])]);
    assert_eq!(room.run_due().await.len(), 1);
    assert_eq!(room.titles().await, ["news", "old"]);
}

async fn ss_23_a_paused_source_takes_no_push(fixture: Fixture) {
    let room = SourceHarness::at(fixture);
    let id = room.with_hub().await;
    room.sources.pause(id, None, "ada").await.unwrap();
    assert_eq!(room.receive(id, SIGNED, "news").await, Received::Resting);
    assert_eq!(room.receive(id, SIGNED, "").await, Received::Resting);
    let source = room.admitted(id).await;
    assert!(!room.push().confirm(&source, TOPIC, None).await.unwrap());
    assert_eq!(room.sources.ping(id, "ada").await.unwrap(), None);
    assert_eq!(room.titles().await, ["old"]);
    assert!(matches!(room.source(id).await.state, State::Paused { .. }));
}

/// Checks a source and says how long it then waits.
async fn wait_after(room: &SourceHarness, id: SourceId, look: Look) -> SignedDuration {
    room.world.will_answer([look]);
    room.run_next(id).await;
    room.wait_of(&room.source(id).await)
}

async fn ss_23_a_hub_that_pushes_makes_checks_rare_and_a_missed_entry_ends_that(fixture: Fixture) {
    let room = SourceHarness::at(fixture);
    let id = room.with_hub().await;
    room.confirm(id, HOUR * 24 * 30).await;
    let silent = wait_after(&room, id, naming_hub(&["old"])).await;
    assert_eq!(room.receive(id, SIGNED, "a").await, Received::Kept(1));
    let pushed = wait_after(&room, id, naming_hub(&["a", "old"])).await;
    assert!(
        pushed >= silent * 2 && pushed <= HOUR * 24,
        "{silent} {pushed}"
    );
    let source = room.source(id).await;
    assert!(
        source
            .reason
            .unwrap()
            .to_string()
            .contains("only for safety")
    );
    // An hour ago, and the hub has not said a word about it.
    room.clock.set(room.task(id).await.unwrap().due_at.unwrap());
    let Look::Document(mut missed) = naming_hub(&["b", "a", "old"]) else {
        unreachable!("a document");
    };
    missed.entries[0].published_at = Some(room.clock.now() - HOUR);
    let missed = wait_after(&room, id, Look::Document(missed)).await;
    assert!(missed < pushed, "{missed} {pushed}");
    assert!(!room.hub(id).await.is_relied_on(room.clock.now()));
}

async fn ss_23_a_denial_brings_the_check_forward(fixture: Fixture) {
    let room = SourceHarness::at(fixture);
    let id = room.with_hub().await;
    room.confirm(id, HOUR * 24 * 30).await;
    room.receive(id, SIGNED, "a").await;
    let pushed = wait_after(&room, id, naming_hub(&["a", "old"])).await;
    let source = room.admitted(id).await;
    let push = room.push();
    assert!(
        !push
            .deny(&source, "https://other.example/", "")
            .await
            .unwrap()
    );
    assert!(push.deny(&source, TOPIC, "no longer").await.unwrap());
    let after = room.source(id).await;
    assert!(room.wait_of(&after) < pushed, "{pushed}");
    let task = room.task(id).await.unwrap();
    assert_eq!(task.due_at, after.stats.next_due_at, "row and task agree");
    let hub = room.hub(id).await;
    assert_eq!(hub.refused.as_deref(), Some("no longer"));
}

async fn ss_23_without_reach_no_hub_is_asked_and_a_lease_is_worth_nothing(fixture: Fixture) {
    let room = SourceHarness::at(fixture);
    let id = room.with_hub().await;
    room.confirm(id, HOUR * 24 * 30).await;
    room.receive(id, SIGNED, "a").await;
    let token = format!("at-{}", room.hub(id).await.token);
    room.hubs.set_reach(Reach::NoAddress);
    assert_eq!(room.push().admit(id, &token).await.unwrap(), None);
    room.run_next(id).await;
    let hub = room.hub(id).await;
    assert_eq!(hub.state(room.clock.now()), HubState::Named);
    assert_eq!(room.hubs.asked().len(), 1);
    room.hubs.set_reach(Reach::Open);
    room.run_next(id).await;
    assert_eq!(room.hubs.asked().len(), 2, "reachable again");
}

async fn ss_23_pings_bring_about_one_check_a_minute(fixture: Fixture) {
    let room = SourceHarness::at(fixture);
    let id = room.add("https://example.com/feed").await;
    room.run_due().await;
    let checked_at = room.clock.now();
    let next = checked_at + SignedDuration::from_mins(1);
    room.clock.set(checked_at + SignedDuration::from_secs(5));
    for _ in 0..3 {
        assert_eq!(room.sources.ping(id, "ada").await.unwrap(), Some(next));
    }
    assert_eq!(room.run_due().await.len(), 0);
    assert_eq!(room.task(id).await.unwrap().due_at, Some(next));
    room.clock.set(next);
    assert_eq!(room.run_due().await.len(), 1);
    room.world.will_answer([failed(FailureClass::Server)]);
    room.sources.check_now(id, "ada").await.unwrap();
    room.run_due().await;
    let backoff = room.source(id).await.stats.backoff_until;
    assert!(room.sources.ping(id, "ada").await.unwrap() >= backoff);
    let unknown = room.sources.ping(SourceId(999), "ada").await;
    assert!(matches!(unknown, Err(Error::Unknown { .. })));
}

/// Of two sources on one host, one is answered 429: the other waits, and everyone says so.
async fn ss_08_a_source_whose_host_asked_for_a_wait_is_not_due(fixture: Fixture) {
    let room = SourceHarness::at(fixture);
    let id = room.add("https://example.com/feed").await;
    let until = room.clock.now() + HOUR;
    room.world.will_answer([Look::Wait(until)]);
    room.run_due().await;
    assert!(!is_due(&room, id).await);
    let (source, task) = (room.source(id).await, room.task(id).await);
    assert_eq!(source.stats.check_count, 0, "no request was made");
    assert!(source.recent.looks().is_empty());
    assert_eq!(next_look_at(&source, task.as_ref()), Some(until));
    let why = next_look(&source, task.as_ref(), room.clock.now(), Lang::English);
    assert!(why.contains("its host asked for a wait"), "{why}");
    let pinged = room.sources.ping(id, "ada").await.unwrap();
    assert_eq!(pinged, Some(until), "a ping does not hurry a host");
    room.clock.set(until);
    assert!(is_due(&room, id).await);
    room.run_due().await;
    assert_eq!(room.source(id).await.stats.check_count, 1);
}
