//! What each turn writes, that a turn that comes too late writes nothing, and laws over any
//! sequence of them.

mod laws;
mod sending;

use std::collections::BTreeSet;

use jiff::SignedDuration;

use super::*;
use crate::alert::{Key, Rule, find::edition};
use crate::edition::{
    delivery::{OnRevision, OnUnknown, State as Ledger},
    fixture::{self, NOW, account, fetched, key, listed, written},
    plan::{Action, Requester, plan},
    port::{Failure, FailureClass, Presence, Publisher, Sent},
    story::Note,
};

const MINUTE: SignedDuration = SignedDuration::from_mins(1);

fn rules() -> Rules {
    Rules::default()
}

fn started(account: Account, numbers: &[u32]) -> (Account, u32) {
    let keys: Vec<StoryKey> = numbers.iter().copied().map(key).collect();
    let (change, batch) = start_batch(&account, &keys, "node", &rules(), NOW).unwrap();
    (change.apply(account), batch.index)
}

fn spend(requests: u32) -> Spend {
    Spend {
        requests,
        ..Spend::default()
    }
}

#[test]
fn ed_03_the_list_is_ranked_from_one_without_doubles() {
    let account = account(&[]);
    let list = vec![listed(7), listed(3), listed(7), listed(5)];
    let change = fetched_from(&account, list);
    let ranks: Vec<(u32, StoryKey)> = change
        .stories
        .iter()
        .map(|story| (story.rank, story.listed.key.clone()))
        .collect();
    assert_eq!(ranks, [(1, key(7)), (2, key(3)), (3, key(5))]);
    assert!(
        change
            .stories
            .iter()
            .all(|story| story.status == Status::Pending)
    );
    assert_eq!(change.edition.state, State::ListFetched);
}

fn fetched_from(account: &Account, list: Vec<Listed>) -> Change {
    super::fetched(account, "test", list, 3, NOW).unwrap()
}

#[test]
fn ed_04_a_second_list_changes_nothing() {
    let account = fetched(3);
    assert_eq!(
        super::fetched(&account, "test", vec![listed(9)], 1, NOW),
        None
    );
    assert_eq!(fetch_failed(&account, "too late", 1, NOW), None);
}

#[test]
fn ed_29_a_failed_list_leaves_the_state_and_says_why() {
    let account = account(&[]);
    let account = start_fetch(&account, &rules(), NOW).apply(account);
    let account = fetch_failed(&account, "no answer\nin time", 2, NOW)
        .unwrap()
        .apply(account);
    let edition = &account.edition;
    assert_eq!((edition.state, edition.fetching_until), (State::Init, None));
    assert_eq!(edition.reason.as_deref(), Some("no answer in time"));
    assert_eq!(account.requests(), 2);
    assert_eq!(
        plan(&account, Requester::Tick, &rules(), NOW),
        Action::Fetch
    );
}

#[test]
fn ed_09_one_story_fails_and_the_others_complete() {
    use Status::{Completed, Failed, Pending};
    let (account, index) = started(fetched(4), &[1, 2, 3]);
    let endings = [
        (key(1), written()),
        (key(2), Ending::Failed("no translation".to_owned())),
        (key(3), Ending::NotTried),
    ];
    let change = end_batch(&account, index, &endings, spend(11), &rules(), NOW).unwrap();
    let account = change.apply(account);
    let statuses: Vec<Status> = account.stories.iter().map(|story| story.status).collect();
    assert_eq!(statuses, [Completed, Failed, Pending, Pending]);
    assert_eq!(
        account.stories[1].error_message.as_deref(),
        Some("no translation")
    );
    assert_eq!(account.stories[2].retry_count, 0, "not tried is not failed");
    let batch = &account.batches[0];
    assert_eq!(
        (batch.status, batch.spend.requests),
        (batch::Status::Partial, 11)
    );
}

#[test]
fn ed_26_a_batch_ends_as_its_stories_do_and_indices_never_repeat() {
    for (endings, expected) in [
        (vec![written(), written()], batch::Status::Success),
        (vec![written(), Ending::NotTried], batch::Status::Partial),
        (
            vec![Ending::Failed(String::new()), Ending::NotTried],
            batch::Status::Failed,
        ),
    ] {
        let (account, index) = started(fetched(2), &[1, 2]);
        let endings: Vec<_> = [key(1), key(2)].into_iter().zip(endings).collect();
        let change = end_batch(&account, index, &endings, spend(1), &rules(), NOW).unwrap();
        assert_eq!(change.batches[0].status, expected);
        let account = change.apply(account);
        let account = reset(&account, Day::Present, NOW).unwrap().apply(account);
        assert_eq!(
            started(account, &[1]).1,
            2,
            "a reset does not begin at 1 again"
        );
    }
}

#[test]
fn ed_15_the_end_of_a_batch_that_was_given_up_changes_nothing() {
    let (account, first) = started(fetched(1), &[1]);
    let later = account.batches[0].lease_until;
    let account = recover(&account, &rules(), later).apply(account);
    assert_eq!(account.stories[0].status, Status::Pending);
    let (change, second) = start_batch(&account, &[key(1)], "other", &rules(), later).unwrap();
    let account = change.apply(account);
    assert_eq!((first, second.index), (1, 2));
    let endings = [(key(1), written())];
    assert_eq!(
        end_batch(&account, first, &endings, spend(1), &rules(), later),
        None
    );
    assert!(end_batch(&account, second.index, &endings, spend(1), &rules(), later).is_some());
}

#[test]
fn ed_16_stories_that_another_batch_took_are_not_taken_again() {
    let (account, _) = started(fetched(2), &[1]);
    for keys in [vec![key(1)], vec![key(1), key(2)], vec![key(9)], Vec::new()] {
        assert_eq!(
            start_batch(&account, &keys, "node", &rules(), NOW),
            None,
            "{keys:?}"
        );
    }
}

#[test]
fn ed_24_retry_puts_back_what_has_tries_left_and_the_edition_to_work() {
    let mut account = fixture::account(&[Status::Completed, Status::Failed, Status::Failed]);
    account.edition.state = State::Published;
    account.edition.published_at = Some(NOW);
    account.stories[2].retry_count = 3;
    let (change, count) = retry(&account, 3, Day::Present, NOW).unwrap();
    let account = change.unwrap().apply(account);
    assert_eq!((count, account.edition.state), (1, State::Processing));
    assert_eq!(
        (account.stories[1].status, account.stories[1].retry_count),
        (Status::Pending, 1)
    );
    assert_eq!(account.stories[2].status, Status::Failed);
    let none = retry(&account, 0, Day::Present, NOW).unwrap();
    assert_eq!(none, (None, 0));
}

#[test]
fn ed_18_a_reset_puts_every_story_back_and_ends_what_runs() {
    let (mut account, index) = started(fetched(2), &[1]);
    account.stories[1].retry_count = 3;
    account.edition.state = State::Empty;
    let account = reset(&account, Day::Present, NOW + MINUTE)
        .unwrap()
        .apply(account);
    assert!(
        account
            .stories
            .iter()
            .all(|story| story.status == Status::Pending && story.retry_count == 0)
    );
    assert_eq!(account.edition.state, State::ListFetched);
    assert_eq!(account.edition.started_at, NOW + MINUTE);
    assert_eq!(
        end_batch(&account, index, &[], spend(0), &rules(), NOW),
        None
    );
}

#[test]
fn requests_that_cannot_be_granted_say_why() {
    let fresh = account(&[]);
    assert_eq!(reset(&fresh, Day::Present, NOW), Err(NotNow::NoStories));
    assert_eq!(force(&fresh), Err(NotNow::NoStories));
    assert_eq!(force(&fetched(2)), Err(NotNow::NothingCompleted));
    let mut published = fixture::work_through(fetched(2), &rules(), NOW);
    assert_eq!(force(&published), Ok(0));
    published.edition.state = State::Published;
    assert_eq!(force(&published), Err(NotNow::Published));
    let change = archive(&published, NOW).unwrap();
    let archived = change.apply(published.clone());
    assert_eq!(force(&archived), Err(NotNow::Published), "a week later too");
    published.stories.clear();
    assert_eq!(retry(&published, 3, Day::Present, NOW), Err(NotNow::Pruned));
}

#[test]
fn ed_20_an_edition_of_an_earlier_day_is_left_over_unless_a_person_took_it_up() {
    let account = fetched(1);
    assert!(is_left_over(&account.edition, NOW));
    let account = archive(&account, NOW).unwrap().apply(account);
    assert!(!is_left_over(&account.edition, NOW));
    let account = reopen(&account, NOW).unwrap().apply(account);
    assert!(!is_left_over(&account.edition, NOW + MINUTE));
    assert!(is_left_over(
        &account.edition,
        NOW + SignedDuration::from_hours(25)
    ));
    let account = reset(&account, Day::Over, NOW).unwrap().apply(account);
    assert!(!is_left_over(&account.edition, NOW + MINUTE));
}

/// A destination of so many messages.
struct Chat {
    parts: usize,
    on_revision: OnRevision,
}

#[async_trait::async_trait]
impl Publisher for Chat {
    fn destination(&self) -> &'static str {
        "chat"
    }
    fn parts(&self, _: &Document) -> Vec<Option<String>> {
        vec![Some("text".to_owned()); self.parts]
    }
    fn on_unknown(&self) -> OnUnknown {
        OnUnknown::Skip
    }
    fn on_revision(&self) -> OnRevision {
        self.on_revision
    }
    fn requests_per_part(&self) -> u32 {
        1
    }
    async fn send(
        &self,
        _: &crate::edition::port::Message<'_>,
        _: &std::sync::Arc<crate::budget::Budget>,
    ) -> Sent {
        Sent::Confirmed { receipt: None }
    }
    async fn look(
        &self,
        _: &crate::edition::port::Message<'_>,
        _: &std::sync::Arc<crate::budget::Budget>,
    ) -> Presence {
        Presence::CannotVerify
    }
}

fn aggregated(on_revision: OnRevision) -> Account {
    let account = fixture::work_through(fetched(1), &rules(), NOW);
    deliver(account, on_revision)
}

fn deliver(account: Account, on_revision: OnRevision) -> Account {
    let document = fixture::document(&account);
    let chat = Chat {
        parts: 2,
        on_revision,
    };
    let deliveries = intend(&account, &document, &chat, NOW);
    aggregate(&account, document, deliveries, NOW).apply(account)
}

fn part(account: &Account, part: u32) -> DeliveryKey {
    DeliveryKey {
        revision: account.edition.revision,
        destination: "chat".to_owned(),
        part,
    }
}

fn failure(class: FailureClass) -> Failure {
    Failure::new(class, "no answer")
}

#[test]
fn ed_12_what_is_sent_is_written_down_before_and_ends_once() {
    let account = aggregated(OnRevision::Skip);
    let first = part(&account, 1);
    for elsewhere in [State::ListFetched, State::Published, State::Archived] {
        let mut account = account.clone();
        account.edition.state = elsewhere;
        assert_eq!(start_delivery(&account, &first, &rules(), NOW), None);
    }
    let (change, sent) = start_delivery(&account, &first, &rules(), NOW).unwrap();
    let account = change.apply(account);
    assert_eq!((sent.state, sent.attempts), (Ledger::Sent, 1));
    assert_eq!(
        start_delivery(&account, &first, &rules(), NOW),
        None,
        "a node is sending it"
    );
    let confirmed = Sent::Confirmed {
        receipt: Some("17".to_owned()),
    };
    assert_eq!(
        end_delivery(&account, &first, 2, &confirmed, 1, NOW),
        None,
        "another attempt"
    );
    let account = end_delivery(&account, &first, 1, &confirmed, 1, NOW)
        .unwrap()
        .apply(account);
    let delivery = &account.deliveries[0];
    assert_eq!(
        (delivery.state, delivery.receipt.as_deref()),
        (Ledger::Confirmed, Some("17"))
    );
    assert_eq!(end_delivery(&account, &first, 1, &confirmed, 1, NOW), None);
}

#[test]
fn ed_12_a_failed_part_is_tried_again_and_an_unknown_one_is_settled_first() {
    let account = aggregated(OnRevision::Skip);
    let first = part(&account, 1);
    let (change, _) = start_delivery(&account, &first, &rules(), NOW).unwrap();
    let sending = change.apply(account);
    for (sent, state, retries) in [
        (
            Sent::Failed(failure(FailureClass::Credentials)),
            Ledger::Failed,
            true,
        ),
        (Sent::Failed(Failure::spent()), Ledger::Intended, false),
        (
            Sent::Unknown(failure(FailureClass::Transient)),
            Ledger::Unknown,
            true,
        ),
    ] {
        let change = end_delivery(&sending, &first, 1, &sent, 0, NOW).unwrap();
        let delivery = &change.deliveries[0];
        assert_eq!(
            (delivery.state, delivery.retry_at.is_some()),
            (state, retries),
            "{sent:?}"
        );
    }
}

#[test]
fn ed_12_an_unknown_outcome_is_settled_by_looking_or_by_preference() {
    let account = aggregated(OnRevision::Skip);
    let first = part(&account, 1);
    let (change, _) = start_delivery(&account, &first, &rules(), NOW).unwrap();
    let sending = change.apply(account);
    let there = Presence::There { receipt: None };
    let settle = |seen: &Presence, preferred, now| {
        let change = settle_delivery(&sending, &first, 1, seen, preferred, 1, now)?;
        Some(change.deliveries[0].state)
    };
    assert_eq!(
        settle(&there, OnUnknown::Skip, NOW),
        None,
        "its lease still holds"
    );
    let later = NOW + rules().lease();
    let stale = settle_delivery(&sending, &first, 0, &there, OnUnknown::Skip, 1, later);
    assert_eq!(stale, None, "it was sent again since it was looked for");
    for (seen, preferred, state) in [
        (there, OnUnknown::Repeat, Ledger::Confirmed),
        (Presence::NotThere, OnUnknown::Skip, Ledger::Intended),
        (Presence::CannotVerify, OnUnknown::Skip, Ledger::Skipped),
        (Presence::CannotVerify, OnUnknown::Repeat, Ledger::Intended),
        (
            Presence::Failed(failure(FailureClass::Transient)),
            OnUnknown::Skip,
            Ledger::Unknown,
        ),
    ] {
        assert_eq!(
            settle(&seen, preferred, later),
            Some(state),
            "{seen:?} {preferred:?}"
        );
    }
}

#[test]
fn a_second_document_goes_only_where_it_is_wanted() {
    for (on_revision, expected) in [
        (OnRevision::Skip, Ledger::Skipped),
        (OnRevision::Replace, Ledger::Intended),
    ] {
        let account = aggregated(on_revision);
        let untouched = deliver(account.clone(), on_revision);
        assert_eq!(
            untouched.deliveries[0].state,
            Ledger::Intended,
            "nothing had left"
        );
        let first = part(&account, 1);
        let (change, _) = start_delivery(&account, &first, &rules(), NOW).unwrap();
        let account = deliver(change.apply(account), on_revision);
        assert_eq!(account.deliveries[0].state, expected);
        let account = deliver(account, on_revision);
        assert_eq!(account.deliveries[0].state, expected, "and a third one too");
    }
}

/// A watch that looks at an edition after every change of it.
#[derive(Default)]
struct Watch(BTreeSet<Key>);

impl Watch {
    fn look(&mut self, account: &Account, now: Timestamp) -> Vec<Rule> {
        let overdue_after = Some(rules().overdue_after);
        let found = edition::find(account, &self.0, overdue_after, now);
        self.0 = found.into_iter().map(|finding| finding.key).collect();
        self.0.iter().map(|key| key.rule).collect()
    }
}

/// What a first look finds.
fn wrong(account: &Account, now: Timestamp) -> Vec<Rule> {
    Watch::default().look(account, now)
}

#[test]
fn ed_18_an_edition_of_two_hours_is_overdue_until_it_is_published() {
    let late = NOW + SignedDuration::from_hours(2) + SignedDuration::from_secs(1);
    let account = fetched(1);
    assert_eq!(wrong(&account, NOW + SignedDuration::from_hours(2)), []);
    assert_eq!(wrong(&account, late), [Rule::Overdue]);
    let found = edition::find(&account, &BTreeSet::new(), None, late);
    assert_eq!(found, [], "unknown where no editions are made");
    let account = publish(&account, late).apply(account);
    assert_eq!(wrong(&account, late), []);
}

#[test]
fn ed_20_an_unfinished_day_is_reported_until_it_is_finished() {
    let mut watch = Watch::default();
    let account = fetched(1);
    let account = archive(&account, NOW).unwrap().apply(account);
    assert_eq!(watch.look(&account, NOW), [Rule::Unfinished]);
    let account = reopen(&account, NOW).unwrap().apply(account);
    let taken_up = watch.look(&account, NOW);
    assert_eq!(taken_up, [Rule::Unfinished], "taken up is not finished");
    let account = publish(&account, NOW).apply(account);
    assert_eq!(watch.look(&account, NOW), []);
}

#[test]
fn ed_32_nothing_to_publish_is_an_alert() {
    let account = fixture::account(&[Status::Failed]);
    let account = give_up(&account, NOW).apply(account);
    let found = edition::find(&account, &BTreeSet::new(), None, NOW);
    assert_eq!((found.len(), found[0].key.rule), (1, Rule::Empty));
    assert_eq!(
        found[0].detail,
        "none of its 1 stories could be completed".to_owned().into()
    );
    let account = archive(&account, NOW).unwrap().apply(account);
    assert_eq!(
        wrong(&account, NOW),
        [Rule::Empty],
        "midnight mends nothing"
    );
}

#[test]
fn a_story_that_kills_its_nodes_is_found_and_left_out() {
    let (mut account, mut now) = (fetched(6), NOW);
    let mut sizes = Vec::new();
    for _ in 0..3 {
        let Action::Process(keys) = plan(&account, Requester::Tick, &rules(), now) else {
            panic!("{:?}", plan(&account, Requester::Tick, &rules(), now));
        };
        sizes.push(keys.len());
        let (change, batch) = start_batch(&account, &keys, "dies", &rules(), now).unwrap();
        account = change.apply(account);
        now = batch.lease_until;
        account = recover(&account, &rules(), now).apply(account);
    }
    assert_eq!(sizes, [6, 3, 1]);
    assert_eq!(account.stories[0].status, Status::Failed);
    assert_eq!(account.counts().pending, 5);
}

#[test]
fn ed_20_an_edition_first_requested_after_its_day_is_left_alone_by_ticks() {
    let account = account(&[]);
    let account = keep_open(&account, NOW).unwrap().apply(account);
    assert!(!is_left_over(&account.edition, NOW + MINUTE));
    assert_eq!(wrong(&account, NOW), [], "it was not left unfinished");
    assert_eq!(keep_open(&account, NOW + MINUTE), None);
}

#[test]
fn ed_27_a_batch_of_more_than_thirty_requests_is_an_alert() {
    for (requests, expected) in [(30, vec![]), (31, vec![Rule::Spendthrift])] {
        let (account, index) = started(fetched(2), &[1]);
        let endings = [(key(1), written())];
        let change = end_batch(&account, index, &endings, spend(requests), &rules(), NOW);
        assert_eq!(wrong(&change.unwrap().apply(account), NOW), expected);
    }
}

#[test]
fn ed_12_a_destination_that_fails_is_an_alert_until_it_has_the_edition() {
    let mut watch = Watch::default();
    let account = aggregated(OnRevision::Skip);
    let send = |account: Account, number: u32, sent: &Sent, now| {
        let key = part(&account, number);
        let (change, delivery) = start_delivery(&account, &key, &rules(), now).unwrap();
        let account = change.apply(account);
        let ended = end_delivery(&account, &key, delivery.attempts, sent, 1, now);
        ended.unwrap().apply(account)
    };
    let refused = Sent::Failed(failure(FailureClass::Credentials));
    let confirmed = Sent::Confirmed { receipt: None };
    let account = send(account, 1, &refused, NOW);
    assert_eq!(watch.look(&account, NOW), [Rule::Destination]);
    let account = send(account, 1, &refused, NOW + MINUTE);
    let found = watch.look(&account, NOW + MINUTE);
    assert_eq!(found, [Rule::Destination], "it is the same trouble");
    let account = send(account, 1, &confirmed, NOW + MINUTE * 10);
    let found = watch.look(&account, NOW + MINUTE * 10);
    assert_eq!(found, [Rule::Destination], "one of its two parts arrived");
    assert_eq!(wrong(&account, NOW), [], "who sees it now sees no trouble");
    let account = send(account, 2, &confirmed, NOW + MINUTE * 10);
    assert_eq!(watch.look(&account, NOW + MINUTE * 10), []);
}

#[test]
fn ed_38_what_is_improved_when_its_day_ends_is_the_published_edition() {
    let mut account = fixture::work_through(fetched(2), &rules(), NOW);
    account.stories[0].written.degraded_by = Some(crate::edition::ladder::Cause::Time);
    let account = publish(&account, NOW).apply(account);
    assert_eq!(account.edition.ready_at, Some(NOW));
    let improved = improve(&account, &[key(1), key(2)], NOW + MINUTE).unwrap();
    assert_eq!(improved.stories.len(), 1, "only what was degraded");
    let account = improved.apply(account);
    let account = archive(&account, NOW + MINUTE * 9).unwrap().apply(account);
    assert_eq!(account.edition.archived_from, Some(State::Published));
    assert!(account.edition.is_published());
    assert_eq!(wrong(&account, NOW + MINUTE * 9), []);
}

#[test]
fn ed_38_an_improvement_never_takes_away_what_readers_have() {
    let degraded = |note, title: Option<&str>| Written {
        title: title.map(str::to_owned),
        note: Some(note),
        degraded_by: Some(crate::edition::ladder::Cause::Model),
        ..Written::default()
    };
    let (account, index) = started(fetched(1), &[1]);
    let first = Ending::Degraded(degraded(Note::Extractive, Some("t")), None);
    let change = end_batch(&account, index, &[(key(1), first)], spend(1), &rules(), NOW);
    let account = change.unwrap().apply(account);
    let wait = account.stories[0].retry_at.unwrap().duration_since(NOW);
    assert_eq!(wait, rules().improve_after);
    let before = account.stories[0].written.clone();
    let account = aggregate(&account, fixture::document(&account), Vec::new(), NOW).apply(account);
    let account = publish(&account, NOW).apply(account);
    let account = improve(&account, &[key(1)], NOW).unwrap().apply(account);
    for ending in [
        Ending::Degraded(degraded(Note::TitleOnly, Some("t")), None),
        Ending::Failed("the model is still out".to_owned()),
    ] {
        let (account, index) = started(account.clone(), &[1]);
        let change = end_batch(
            &account,
            index,
            &[(key(1), ending)],
            spend(1),
            &rules(),
            NOW,
        );
        let account = change.unwrap().apply(account);
        assert_eq!(account.stories[0].written, before);
        assert_eq!(account.stories[0].status, Status::Completed);
        let account = not_improved(&account, NOW).unwrap().apply(account);
        assert_eq!(
            (account.edition.state, account.edition.revision),
            (State::Published, 1)
        );
    }
}
