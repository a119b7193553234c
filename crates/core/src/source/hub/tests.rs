use super::*;
use crate::source::check::{FailureClass, Unchanged};

const NOW: Timestamp = Timestamp::constant(1_767_600_000, 0);
const HOUR: SignedDuration = SignedDuration::from_hours(1);
const DAY: SignedDuration = SignedDuration::from_hours(24);

fn named(hub: &str) -> NamedHub {
    NamedHub {
        hub: hub.to_owned(),
        topic: "https://blog.example/feed".to_owned(),
    }
}

fn document(hub: Option<NamedHub>) -> Look {
    Look::Document(Box::new(Document {
        hub,
        ..Document::default()
    }))
}

fn unchanged() -> Look {
    Look::Unchanged(Unchanged::default())
}

fn tended(hub: &mut Option<Hub>, look: &Look, now: Timestamp) -> bool {
    let made = Tending {
        look,
        reach: Reach::Open,
        home: "home",
        token: "new",
        next_at: Some(now + HOUR),
        now,
    };
    tend(hub, &made)
}

/// A hub that confirmed a subscription at `NOW`.
fn subscribed(lease: SignedDuration) -> Hub {
    let mut hub = None;
    assert!(tended(
        &mut hub,
        &document(Some(named("https://hub.example/"))),
        NOW
    ));
    let mut hub = hub.unwrap();
    hub.confirm(Some(lease), NOW);
    hub
}

fn found(published_at: Option<Timestamp>) -> (String, FoundEntry) {
    let entry = FoundEntry {
        published_at,
        ..FoundEntry::default()
    };
    ("id:1".to_owned(), entry)
}

#[test]
fn ss_23_a_subscription_is_requested_once_and_renewed_before_it_ends() {
    let hub = Some(subscribed(DAY * 10));
    for (after, asks, why) in [
        (HOUR, false, "the lease holds for days"),
        (
            DAY * 10 - HOUR * 3,
            false,
            "the next check but one is within it",
        ),
        (
            DAY * 10 - HOUR * 2,
            true,
            "the next check but one is at its end",
        ),
        (DAY * 10 + HOUR, true, "it is over"),
    ] {
        for look in [unchanged(), document(Some(named("https://hub.example/")))] {
            let mut hub = hub.clone();
            assert_eq!(tended(&mut hub, &look, NOW + after), asks, "{why}");
            assert_eq!(hub.unwrap().requests, u32::from(asks), "{why}");
        }
    }
}

#[test]
fn ss_23_a_request_that_came_to_nothing_is_made_again_ever_more_rarely() {
    let mut hub = None;
    let (mut now, mut asked_at) = (NOW, Vec::new());
    for _ in 0..400 {
        if tended(
            &mut hub,
            &document(Some(named("https://hub.example/"))),
            now,
        ) {
            asked_at.push(now.duration_since(NOW).as_mins());
        }
        now += SignedDuration::from_mins(15);
    }
    // The first again at the next check: a node may have died before the hub could verify it.
    assert_eq!(asked_at[..5], [0, 15, 30, 60, 105]);
    let last = asked_at[asked_at.len() - 2..].to_vec();
    assert_eq!(last[1] - last[0], 24 * 60, "once a day in the end");
}

#[test]
fn ss_23_a_refusal_is_kept_and_asked_about_once_a_day() {
    let mut hub = subscribed(DAY * 10);
    hub.refuse(" not \u{0} yours\n");
    assert_eq!(hub.refused.as_deref(), Some("not \u{fffd} yours"));
    assert_eq!(hub.state(NOW), HubState::Refused);
    let mut hub = Some(hub);
    assert!(!tended(&mut hub, &unchanged(), NOW + HOUR * 23));
    assert!(tended(&mut hub, &unchanged(), NOW + DAY));
    let mut hub = hub.unwrap();
    hub.confirm(None, NOW + DAY);
    assert_eq!(hub.state(NOW + DAY * 10), HubState::Subscribed);
    assert_eq!(hub.refused, None);
}

#[test]
fn ss_23_another_hub_begins_anew_and_none_ends_it() {
    let mut moved = Some(subscribed(DAY * 10));
    moved.as_mut().unwrap().home = "elsewhere".to_owned();
    assert!(
        tended(&mut moved, &unchanged(), NOW),
        "it pushes to where nobody is"
    );
    assert_eq!(moved.unwrap().leased_until, None);
    let mut hub = Some(subscribed(DAY * 10));
    assert!(tended(
        &mut hub,
        &document(Some(named("https://other.example/"))),
        NOW
    ));
    let other = hub.clone().unwrap();
    assert_eq!((other.leased_until, other.token.as_str()), (None, "new"));
    assert!(!tended(&mut hub, &document(None), NOW));
    assert_eq!(hub, None);
}

#[test]
fn ss_23_nothing_is_requested_after_a_failure_or_without_a_way_back() {
    let failed = Look::Failed(Failure::new(FailureClass::Server, "no"));
    for (look, reach) in [
        (failed, Reach::Open),
        (
            document(Some(named("https://hub.example/"))),
            Reach::NoAddress,
        ),
        (document(Some(named("https://hub.example/"))), Reach::Off),
    ] {
        let mut hub = None;
        let made = Tending {
            look: &look,
            reach,
            home: "home",
            token: "new",
            next_at: None,
            now: NOW,
        };
        assert!(!tend(&mut hub, &made), "{reach}");
        assert!(hub.is_none_or(|hub| hub.state(NOW) == HubState::Named));
    }
}

#[test]
fn ss_23_a_hub_is_relied_on_while_it_pushes_and_misses_nothing() {
    let later = NOW + HOUR;
    let mut hub = subscribed(DAY * 40);
    assert!(!hub.is_relied_on(later), "it has not pushed yet");
    hub.note_pushed(1, NOW);
    assert!(hub.is_relied_on(later));
    assert!(!hub.is_relied_on(NOW + DAY * 31), "not lately");
    assert!(!hub.is_relied_on(NOW + DAY * 41), "no lease");
    let minute = SignedDuration::from_mins(1);
    for (published_at, last_check_at, missed, why) in [
        (Some(NOW - minute), None, false, "before the subscription"),
        (Some(later - minute), None, false, "may be on its way"),
        (Some(NOW + minute), None, true, "had time to come"),
        (None, Some(NOW - minute), false, "perhaps before it"),
        (None, Some(NOW + minute), true, "since the last check"),
    ] {
        let mut hub = hub.clone();
        hub.note_found(&[found(published_at)], last_check_at, later);
        assert_eq!(!hub.is_relied_on(later), missed, "{why}");
    }
    hub.note_found(&[found(Some(NOW + minute))], None, later);
    for entries in [1, 0, 1] {
        hub.note_pushed(entries, later);
        assert!(!hub.is_relied_on(later), "one push does not mend it");
    }
    hub.note_pushed(5, later);
    assert!(hub.is_relied_on(later), "three pushes do");
}

#[test]
fn ss_23_the_safety_check_is_late_but_within_the_ceiling_and_the_lease() {
    let ceiling = DAY;
    for (lease, wait, expected, why) in [
        (DAY * 10, HOUR, Some(HOUR * 12), "twelve times as long"),
        (DAY * 10, HOUR * 6, Some(DAY), "the ceiling"),
        (HOUR * 3, HOUR, Some(HOUR * 3), "the end of the lease"),
        (DAY * 10, DAY, None, "as ever"),
        (HOUR * 3, HOUR * 4, None, "never sooner than without a hub"),
    ] {
        let mut hub = subscribed(lease);
        hub.note_pushed(1, NOW);
        let at = hub.safety_check(NOW, NOW + wait, ceiling);
        assert_eq!(at, expected.map(|wait| NOW + wait), "{why}");
    }
    let silent = subscribed(DAY * 10);
    assert_eq!(silent.safety_check(NOW, NOW + HOUR, ceiling), None);
}

#[test]
fn only_what_was_requested_can_be_confirmed() {
    let hub = subscribed(DAY);
    assert!(hub.expects("https://blog.example/feed"));
    assert!(!hub.expects("https://blog.example/other"));
    let mut hub = Hub::default();
    assert!(!hub.expects(""), "nobody asked");
    hub.requested_at = Some(NOW);
    hub.confirm(Some(DAY * 10_000), NOW);
    assert_eq!(hub.leased_until, Some(NOW + LEASE_MAX));
    hub.lose_reach();
    assert_eq!(hub.state(NOW), HubState::Named);
}

#[test]
fn every_state_has_a_sentence() {
    let mut relied = subscribed(DAY);
    relied.note_pushed(1, NOW);
    let mut missing = relied.clone();
    missing.pushes_wanted = 1;
    let mut refused = relied.clone();
    refused.refuse("not yours");
    let said = |hub: &Hub, reach| sentence(Some(hub), reach, NOW, Lang::English).unwrap();
    for (hub, reach, part) in [
        (&relied, Reach::Off, "`sources.push`"),
        (&relied, Reach::NoAddress, "`server.public_url`"),
        (&relied, Reach::Open, "only for safety"),
        (&missing, Reach::Open, "missed entries"),
        (&refused, Reach::Open, "refuses to push: not yours."),
        (&subscribed(DAY), Reach::Open, "has not pushed yet"),
        (&Hub::default(), Reach::Open, "at the next check"),
    ] {
        let sentence = said(hub, reach);
        assert!(sentence.contains(part), "{sentence}");
    }
    assert_eq!(sentence(None, Reach::Open, NOW, Lang::English), None);
}
