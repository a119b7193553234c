//! A failing destination is paced, bounded and never shredded; a person decides what is left
//! (ED-41).

use super::*;
use crate::edition::{
    delivery::{Delivery, Step, TRIES_MAX},
    plan::Waiting,
};

fn unknown() -> Sent {
    Sent::Unknown(failure(FailureClass::Transient))
}

fn refused() -> Sent {
    Sent::Failed(failure(FailureClass::Transient))
}

/// What a destination answers to every look, and what it prefers.
type Looks = (Presence, OnUnknown);

/// Does what is planned about the chat at once, whenever something is; how often it was sent to,
/// and when each time.
fn hammer(mut account: Account, sent: &Sent, looks: &Looks) -> (Account, Vec<Timestamp>) {
    let (mut now, mut sent_at) = (NOW, Vec::new());
    for _ in 0..1_000 {
        let change = match plan(&account, Requester::Person, &rules(), now) {
            Action::Deliver(due) if due[0].step == Step::Send => {
                let key = part(&account, due[0].part);
                let (change, delivery) = start_delivery(&account, &key, &rules(), now).unwrap();
                account = change.apply(account);
                sent_at.push(now);
                end_delivery(&account, &key, delivery.attempts, sent, 1, now)
            }
            Action::Deliver(due) => {
                let key = part(&account, due[0].part);
                let tried = of_part(&account, due[0].part).attempts;
                settle_delivery(&account, &key, tried, &looks.0, looks.1, 1, now)
            }
            Action::Wait(Waiting::Delivery(until)) => {
                now = until;
                continue;
            }
            _ => return (account, sent_at),
        };
        account = change.unwrap().apply(account);
    }
    panic!("it never ends");
}

fn of_part(account: &Account, part: u32) -> &Delivery {
    let mut deliveries = account.deliveries.iter();
    deliveries.find(|delivery| delivery.part == part).unwrap()
}

fn states(account: &Account) -> Vec<Ledger> {
    let deliveries = account.deliveries.iter();
    deliveries.map(|delivery| delivery.state).collect()
}

/// Whatever a destination that never works answers, and however it is asked, it is sent to with
/// growing pauses and not for ever.
#[test]
fn ed_41_a_failing_destination_is_paced_and_bounded() {
    let down = Presence::Failed(failure(FailureClass::Transient));
    for (sent, looks, ends_as, why) in [
        (
            refused(),
            (down.clone(), OnUnknown::Skip),
            Ledger::Failed,
            "every sending is refused",
        ),
        (
            unknown(),
            (Presence::CannotVerify, OnUnknown::Repeat),
            Ledger::Failed,
            "a webhook at 503",
        ),
        (
            unknown(),
            (Presence::NotThere, OnUnknown::Repeat),
            Ledger::Failed,
            "GitHub at 502 when it writes",
        ),
        (
            unknown(),
            (down, OnUnknown::Repeat),
            Ledger::Unknown,
            "GitHub at 502 whatever it does",
        ),
    ] {
        let (account, sent_at) = hammer(aggregated(OnRevision::Replace), &sent, &looks);
        assert_eq!(states(&account), [ends_as, Ledger::Intended], "{why}");
        let first = of_part(&account, 1);
        assert!(first.is_held(), "{why}: {first:?}");
        assert_eq!(first.attempts, TRIES_MAX, "{why}");
        assert!(sent_at.len() <= TRIES_MAX as usize, "{why}");
        for (number, pair) in sent_at.windows(2).enumerate() {
            let wait = pair[1].duration_since(pair[0]);
            let least = SignedDuration::from_secs(30 << number.min(4)).min(MINUTE * 9);
            assert!(wait >= least, "{why}: try {number} waits {wait} only");
        }
        assert!(wrong(&account, NOW).contains(&Rule::Destination), "{why}");
    }
}

/// A destination that could not be reached when the first document was sent is not sent the second
/// at once.
#[test]
fn ed_41_a_new_document_waits_as_long_as_the_old_one_would_have() {
    let account = aggregated(OnRevision::Replace);
    let first = part(&account, 1);
    let (change, _) = start_delivery(&account, &first, &rules(), NOW).unwrap();
    let account = change.apply(account);
    let change = end_delivery(&account, &first, 1, &refused(), 1, NOW).unwrap();
    let waits = change.deliveries[0].retry_at;
    assert!(waits > Some(NOW));
    let account = deliver(change.apply(account), OnRevision::Replace);
    let again: Vec<_> = account.deliveries.iter().map(|new| new.retry_at).collect();
    assert_eq!(again, [waits, waits]);
}

/// One message in doubt is left out for the sake of the others; an outage that answers nothing
/// costs no second.
#[test]
fn ed_41_an_outage_holds_an_edition_instead_of_shredding_it() {
    let skips = (Presence::CannotVerify, OnUnknown::Skip);
    let (account, sent_at) = hammer(aggregated(OnRevision::Skip), &unknown(), &skips);
    assert_eq!(states(&account), [Ledger::Skipped, Ledger::Unknown]);
    assert!(of_part(&account, 1).is_doubtful() && of_part(&account, 2).is_held());
    assert_eq!(sent_at.len(), 2, "each left once");
    let down = (
        Presence::Failed(failure(FailureClass::Transient)),
        OnUnknown::Skip,
    );
    let (account, sent_at) = hammer(aggregated(OnRevision::Skip), &unknown(), &down);
    assert_eq!(states(&account), [Ledger::Unknown, Ledger::Intended]);
    assert_eq!(sent_at.len(), 1, "no answer: the rest is not tried");
    let mut alone = aggregated(OnRevision::Skip);
    alone.deliveries.truncate(1);
    let (alone, _) = hammer(alone, &unknown(), &skips);
    assert_eq!(
        states(&alone),
        [Ledger::Unknown],
        "nothing would have arrived"
    );
}

/// The account after a person's decision, and which parts it was about.
fn decided(
    account: Account,
    decision: Result<(Option<Change>, Vec<u32>), NotNow>,
) -> (Account, Vec<u32>) {
    let (change, parts) = decision.unwrap();
    let after = match change {
        Some(change) => change.apply(account),
        None => account,
    };
    (after, parts)
}

fn chat(part: Option<u32>) -> Chosen {
    Chosen {
        destination: "chat".to_owned(),
        part,
    }
}

#[test]
fn ed_41_a_person_sends_again_or_skips_what_is_held() {
    let skips = (Presence::CannotVerify, OnUnknown::Skip);
    let (held, _) = hammer(aggregated(OnRevision::Skip), &unknown(), &skips);
    let resent = resend(&held, &chat(None), Day::Present, NOW);
    let (account, parts) = decided(held.clone(), resent);
    assert_eq!(parts, [1, 2], "the doubtful one, too");
    assert_eq!(states(&account), [Ledger::Intended; 2]);
    let twice = resend(&account, &chat(None), Day::Present, NOW);
    assert_eq!(twice, Ok((None, vec![])), "asked twice, sent once");
    let resent = resend(&held, &chat(Some(2)), Day::Present, NOW);
    assert_eq!(decided(held.clone(), resent).1, [2]);
    let skipped = skip(&held, &chat(Some(2)), "ada", NOW);
    let (account, parts) = decided(held, skipped);
    assert_eq!(
        (states(&account), parts),
        (vec![Ledger::Skipped; 2], vec![2])
    );
    let detail = "skipped by ada";
    assert_eq!(of_part(&account, 2).detail.as_deref(), Some(detail));
    let found = wrong(&account, NOW);
    assert_eq!(found, [Rule::Destination], "the first is in doubt");
    let skipped = skip(&account, &chat(None), "ada", NOW);
    let (account, parts) = decided(account, skipped);
    assert_eq!((wrong(&account, NOW), parts), (vec![], vec![1]));
    assert_eq!(skip(&account, &chat(None), "ada", NOW), Ok((None, vec![])));
}

#[test]
fn ed_41_what_is_being_sent_or_has_arrived_is_not_decided_about() {
    let account = aggregated(OnRevision::Skip);
    let asked = |account: &Account, part: Option<u32>, now| {
        let (again, skipped) = (
            resend(account, &chat(part), Day::Present, now),
            skip(account, &chat(part), "ada", now),
        );
        assert_eq!(again.clone().err(), skipped.err(), "both alike");
        again.map(|(_, parts)| parts)
    };
    let no_such = Err(NotNow::NoDelivery(chat(Some(3))));
    assert_eq!(asked(&account, Some(3), NOW), no_such);
    let first = part(&account, 1);
    let (change, sent) = start_delivery(&account, &first, &rules(), NOW).unwrap();
    let account = change.apply(account);
    let until = sent.lease_until.unwrap();
    assert_eq!(asked(&account, Some(1), NOW), Err(NotNow::Sending(until)));
    assert_eq!(
        asked(&account, Some(1), until),
        Ok(vec![1]),
        "its sender is gone"
    );
    let confirmed = Sent::Confirmed { receipt: None };
    let change = end_delivery(&account, &first, 1, &confirmed, 1, NOW).unwrap();
    let mut account = change.apply(account);
    let has_it = Err(NotNow::Delivered(chat(Some(1))));
    assert_eq!(asked(&account, Some(1), NOW), has_it);
    account.edition.state = State::Processing;
    assert_eq!(
        asked(&account, Some(2), NOW),
        Err(NotNow::NoDocument),
        "a new one comes"
    );
}

/// What was published without a message, or was archived since, is published again with it.
#[test]
fn ed_41_a_message_can_be_sent_after_its_edition_was_published_or_archived() {
    let skips = (Presence::CannotVerify, OnUnknown::Skip);
    let (mut account, _) = hammer(aggregated(OnRevision::Skip), &unknown(), &skips);
    for put_away in [State::Published, State::Archived] {
        account.edition.archived_from = (put_away == State::Archived).then_some(State::Aggregating);
        account.edition.state = put_away;
        let resent = resend(&account, &chat(Some(2)), Day::Over, NOW);
        let (account, _) = decided(account.clone(), resent);
        assert_eq!(account.edition.state, State::Aggregating);
        assert!(!is_left_over(&account.edition, NOW + MINUTE));
        let action = plan(&account, Requester::Tick, &rules(), NOW);
        assert!(matches!(action, Action::Deliver(due) if due[0].part == 2));
    }
}

/// Neither a message that gets through nor midnight ends an outage; having everything, or a
/// person's word, does.
#[test]
fn ed_41_an_outage_is_reported_once_until_the_destination_has_the_edition() {
    let skips = (Presence::CannotVerify, OnUnknown::Skip);
    let (account, _) = hammer(aggregated(OnRevision::Skip), &unknown(), &skips);
    let (mut watch, alone) = (Watch::default(), [Rule::Destination]);
    assert_eq!(watch.look(&account, NOW), alone);
    let resent = resend(&account, &chat(None), Day::Present, NOW);
    let (account, _) = decided(account, resent);
    assert_eq!(watch.look(&account, NOW), alone);
    let account = archive(&account, NOW).unwrap().apply(account);
    let found = watch.look(&account, NOW);
    assert!(found.contains(&Rule::Destination), "midnight ends nothing");
    let mut account = reopen(&account, NOW).unwrap().apply(account);
    for number in [1, 2] {
        let found = watch.look(&account, NOW);
        let is_found = found.contains(&Rule::Destination);
        assert!(is_found, "part {number} is missing");
        let key = part(&account, number);
        let (change, sent) = start_delivery(&account, &key, &rules(), NOW).unwrap();
        account = change.apply(account);
        let confirmed = Sent::Confirmed { receipt: None };
        let change = end_delivery(&account, &key, sent.attempts, &confirmed, 1, NOW);
        account = change.unwrap().apply(account);
    }
    assert!(!watch.look(&account, NOW).contains(&Rule::Destination));
}
