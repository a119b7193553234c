//! Every transition as a row, and the law that whatever happens, an edition comes to an end.

use jiff::SignedDuration;

use super::*;
use crate::edition::{
    batch::Batch,
    delivery,
    fixture::{NOW, account, fetched, key},
    turn,
};

const MINUTE: SignedDuration = SignedDuration::from_mins(1);

fn planned(account: &Account) -> Action {
    plan(account, Requester::Tick, &Rules::default(), NOW)
}

fn in_state(state: State, statuses: &[Status]) -> Account {
    let mut account = account(statuses);
    account.edition.state = state;
    account
}

fn keys_of(range: std::ops::RangeInclusive<u32>) -> Vec<StoryKey> {
    range.map(key).collect()
}

fn running(account: Account, seconds_ago: i64) -> Account {
    let began = NOW - SignedDuration::from_secs(seconds_ago);
    let (change, _) =
        turn::start_batch(&account, &[key(1)], "node", &Rules::default(), began).unwrap();
    change.apply(account)
}

#[test]
fn ed_01_every_state_has_its_action() {
    use Status::{Completed, Failed, Pending};
    for (why, account, expected) in [
        ("a new day", account(&[]), Action::Fetch),
        (
            "its document is made, and it goes nowhere but to the server itself",
            in_state(State::Aggregating, &[Completed]),
            Action::Publish,
        ),
        (
            "empty",
            in_state(State::Empty, &[Failed]),
            Action::Rest(State::Empty),
        ),
        (
            "archived",
            in_state(State::Archived, &[Pending]),
            Action::Rest(State::Archived),
        ),
    ] {
        assert_eq!(planned(&account), expected, "{why}");
    }
}

#[test]
fn ed_05_a_fetched_list_begins_with_its_first_batch() {
    let account = fetched(8);
    let first = keys_of(1..=6);
    assert_eq!(planned(&account), Action::Process(first.clone()));
    let (change, batch) =
        turn::start_batch(&account, &first, "node", &Rules::default(), NOW).unwrap();
    assert_eq!((batch.index, change.edition.state), (1, State::Processing));
}

#[test]
fn ed_06_batches_follow_by_rank_until_nothing_is_pending_or_in_progress() {
    use Status::{Completed, Failed, Pending};
    let next = in_state(State::Processing, &[Completed, Pending, Failed, Pending]);
    assert_eq!(planned(&next), Action::Process(vec![key(2), key(4)]));
    let in_progress = running(fetched(1), 0);
    assert!(matches!(planned(&in_progress), Action::Wait(_)));
    let done = in_state(State::Processing, &[Completed, Completed]);
    assert_eq!(planned(&done), Action::Aggregate);
}

#[test]
fn ed_13_a_published_edition_rests_for_ticks_and_people() {
    let published = in_state(State::Published, &[Status::Completed, Status::Pending]);
    for requester in [Requester::Tick, Requester::Person] {
        let action = plan(&published, requester, &Rules::default(), NOW);
        assert_eq!(action, Action::Rest(State::Published));
    }
}

#[test]
fn ed_14_one_fetches_the_list_and_the_others_wait() {
    let account = account(&[]);
    let account = turn::start_fetch(&account, &Rules::default(), NOW).apply(account);
    let until = account.edition.fetching_until.unwrap();
    assert_eq!(planned(&account), Action::Wait(Waiting::Fetching(until)));
    let later = plan(&account, Requester::Tick, &Rules::default(), until);
    assert_eq!(later, Action::Fetch, "the node that fetched it is gone");
}

#[test]
fn ed_15_a_live_batch_is_waited_for_and_a_dead_one_is_given_up() {
    let live = running(fetched(2), 59);
    let until = live.batches[0].lease_until;
    let waits = Action::Wait(Waiting::Batch { index: 1, until });
    assert_eq!(planned(&live), waits);
    let dead = running(fetched(2), 60);
    assert_eq!(planned(&dead), Action::Recover);
    let recovered = turn::recover(&dead, &Rules::default(), NOW).apply(dead);
    assert_eq!(
        planned(&recovered),
        Action::Process(vec![key(1)]),
        "a smaller one"
    );
}

#[test]
fn a_story_left_behind_by_no_batch_is_given_back_too() {
    let account = in_state(State::Processing, &[Status::Processing]);
    assert_eq!(planned(&account), Action::Recover);
    let account = turn::recover(&account, &Rules::default(), NOW).apply(account);
    assert_eq!(planned(&account), Action::Process(vec![key(1)]));
}

#[test]
fn failed_stories_are_put_back_once_after_they_have_waited() {
    let mut account = in_state(State::Processing, &[Status::Completed, Status::Failed]);
    let soon = NOW + MINUTE;
    account.stories[1].retry_at = Some(soon);
    assert_eq!(planned(&account), Action::Wait(Waiting::Retry(soon)));
    account.stories[1].retry_at = Some(NOW);
    assert_eq!(planned(&account), Action::PutBack(vec![key(2)]));
    account.stories[1].retry_count = 1;
    assert_eq!(
        planned(&account),
        Action::Aggregate,
        "its one retry is used up"
    );
}

#[test]
fn people_decide_how_often_failed_stories_are_put_back() {
    let account = in_state(State::Processing, &[Status::Failed]);
    for (by_itself, most, expected) in [
        (0, 3, Action::GiveUp),
        (1, 0, Action::GiveUp),
        (1, 1, Action::PutBack(vec![key(1)])),
    ] {
        let rules = Rules {
            retries_by_itself: by_itself,
            retries_max: most,
            ..Rules::default()
        };
        assert_eq!(plan(&account, Requester::Tick, &rules, NOW), expected);
    }
}

#[test]
fn ed_08_a_batch_takes_no_more_stories_than_its_budget_pays_for() {
    let rules = Rules {
        budget: 20,
        ..Rules::default()
    };
    let action = plan(&fetched(8), Requester::Tick, &rules, NOW);
    assert_eq!(action, Action::Process(keys_of(1..=4)));
}

#[test]
fn ed_08_a_batch_that_could_not_pay_is_followed_by_a_smaller_one() {
    let mut account = fetched(8);
    let mut sizes = Vec::new();
    for second in 1..=3 {
        let began = NOW + SignedDuration::from_secs(second);
        let Action::Process(keys) = planned(&account) else {
            panic!("{:?}", planned(&account));
        };
        sizes.push(keys.len());
        let (change, batch) =
            turn::start_batch(&account, &keys, "n", &Rules::default(), began).unwrap();
        account = change.apply(account);
        let spend = crate::budget::Spend::default();
        let change = turn::end_batch(&account, batch.index, &[], spend, &Rules::default(), NOW);
        account = change.unwrap().apply(account);
    }
    assert_eq!(sizes, [6, 3, 1]);
    let first = &account.stories[0];
    assert_eq!(
        first.status,
        Status::Failed,
        "one alone must end one way or the other"
    );
    assert_eq!(
        planned(&account),
        Action::Process(keys_of(2..=7)),
        "and the next is whole again"
    );
}

#[test]
fn a_person_does_not_wait_for_failed_stories() {
    let mut account = in_state(State::Processing, &[Status::Failed]);
    account.stories[0].retry_at = Some(NOW + MINUTE);
    let action = plan(&account, Requester::Person, &Rules::default(), NOW);
    assert_eq!(action, Action::PutBack(vec![key(1)]));
}

#[test]
fn ed_20_only_a_person_takes_up_an_edition_whose_day_is_over() {
    let account = fetched(1);
    let account = turn::archive(&account, NOW).unwrap().apply(account);
    assert_eq!(planned(&account), Action::Rest(State::Archived));
    let asked = plan(&account, Requester::Person, &Rules::default(), NOW);
    assert_eq!(asked, Action::Reopen);
    let mut pruned = account.clone();
    pruned.stories.clear();
    let asked = plan(&pruned, Requester::Person, &Rules::default(), NOW);
    assert_eq!(
        asked,
        Action::Rest(State::Archived),
        "nothing to go on with"
    );
    let account = turn::reopen(&account, NOW).unwrap().apply(account);
    assert_eq!(account.edition.state, State::ListFetched);
    let mut published = in_state(State::Published, &[Status::Completed]);
    published.edition = turn::archive(&published, NOW).unwrap().edition;
    let asked = plan(&published, Requester::Person, &Rules::default(), NOW);
    assert_eq!(asked, Action::Rest(State::Archived));
}

fn delivery(destination: &str, part: u32, state: delivery::State) -> Delivery {
    Delivery {
        state,
        ..Delivery::new(1, destination, part, None, NOW)
    }
}

/// One that has waited long enough.
fn tried(delivery: Delivery) -> Delivery {
    Delivery {
        retry_at: Some(NOW),
        ..delivery
    }
}

fn due(destination: &str, part: u32, step: Step) -> Due {
    Due {
        destination: destination.to_owned(),
        part,
        step,
    }
}

fn check_deliveries(rows: Vec<(&str, Vec<Delivery>, Action)>) {
    for (why, deliveries, expected) in rows {
        let mut account = in_state(State::Aggregating, &[Status::Completed]);
        account.deliveries = deliveries;
        assert_eq!(planned(&account), expected, "{why}");
    }
}

#[test]
fn ed_12_parts_are_sent_in_order_and_settled_before_the_next() {
    use delivery::State::{Confirmed, Intended, Sent, Skipped, Unknown};
    let both = vec![due("github", 1, Step::Send), due("telegram", 1, Step::Send)];
    check_deliveries(vec![
        (
            "both begin, with their first part",
            vec![
                delivery("github", 1, Intended),
                delivery("telegram", 1, Intended),
                delivery("telegram", 2, Intended),
            ],
            Action::Deliver(both),
        ),
        (
            "the next part follows what is settled",
            vec![
                delivery("telegram", 1, Confirmed),
                delivery("telegram", 2, Skipped),
                delivery("telegram", 3, Intended),
            ],
            Action::Deliver(vec![due("telegram", 3, Step::Send)]),
        ),
        (
            "a node was sending, and is gone",
            vec![delivery("github", 1, Sent)],
            Action::Deliver(vec![due("github", 1, Step::Settle)]),
        ),
        (
            "unknown",
            vec![
                tried(delivery("telegram", 1, Unknown)),
                delivery("telegram", 2, Intended),
            ],
            Action::Deliver(vec![due("telegram", 1, Step::Settle)]),
        ),
        (
            "all is settled",
            vec![
                delivery("github", 1, Confirmed),
                delivery("telegram", 1, Skipped),
            ],
            Action::Publish,
        ),
    ]);
}

#[test]
fn ed_12_destinations_go_on_without_each_other() {
    use delivery::State::{Confirmed, Failed, Intended, Sent};
    let soon = NOW + MINUTE;
    let waiting = |state| Delivery {
        retry_at: Some(soon),
        lease_until: Some(soon),
        ..delivery("github", 1, state)
    };
    check_deliveries(vec![
        (
            "only the one that failed is tried again",
            vec![
                tried(delivery("github", 1, Failed)),
                delivery("telegram", 1, Confirmed),
            ],
            Action::Deliver(vec![due("github", 1, Step::Send)]),
        ),
        (
            "one that waits holds up no other",
            vec![waiting(Failed), delivery("telegram", 1, Intended)],
            Action::Deliver(vec![due("telegram", 1, Step::Send)]),
        ),
        (
            "and alone is waited for",
            vec![waiting(Failed), delivery("telegram", 1, Confirmed)],
            Action::Wait(Waiting::Delivery(soon)),
        ),
        (
            "a node is sending",
            vec![waiting(Sent)],
            Action::Wait(Waiting::Sending(soon)),
        ),
    ]);
}

#[test]
fn ed_41_what_is_held_waits_for_a_person_and_holds_up_no_other() {
    use delivery::State::{Confirmed, Failed, Intended, Unknown};
    let soon = NOW + MINUTE;
    let waiting = Delivery {
        retry_at: Some(soon),
        ..delivery("github", 1, Failed)
    };
    let held = |state| {
        vec![
            delivery("telegram", 1, state),
            delivery("telegram", 2, Intended),
        ]
    };
    let beside = |other: Delivery| [vec![other], held(Failed)].concat();
    check_deliveries(vec![
        (
            "it had its last try",
            held(Failed),
            Action::Rest(State::Aggregating),
        ),
        (
            "unknown, and must not be guessed",
            held(Unknown),
            Action::Rest(State::Aggregating),
        ),
        (
            "others go on",
            beside(delivery("github", 1, Intended)),
            Action::Deliver(vec![due("github", 1, Step::Send)]),
        ),
        (
            "or wait for themselves",
            beside(waiting),
            Action::Wait(Waiting::Delivery(soon)),
        ),
        (
            "or have it",
            beside(delivery("github", 1, Confirmed)),
            Action::Rest(State::Aggregating),
        ),
    ]);
}

#[test]
fn a_new_document_waits_for_the_node_that_still_sends_the_old_one() {
    let soon = NOW + MINUTE;
    let mut account = in_state(State::Processing, &[Status::Completed]);
    account.deliveries = vec![Delivery {
        lease_until: Some(soon),
        ..delivery("github", 1, delivery::State::Sent)
    }];
    assert_eq!(planned(&account), Action::Wait(Waiting::Sending(soon)));
    let later = plan(&account, Requester::Tick, &Rules::default(), soon);
    assert_eq!(later, Action::Aggregate);
}

#[test]
fn a_dead_batch_of_another_edition_state_does_not_hold_up_the_document() {
    let mut account = in_state(State::Aggregating, &[Status::Completed]);
    account.batches.push(Batch {
        status: batch::Status::Running,
        ..running(fetched(1), 0).batches[0].clone()
    });
    assert_eq!(planned(&account), Action::Publish);
}

fn chained() -> Rules {
    Rules {
        chain: true,
        ..Rules::default()
    }
}

#[test]
fn ed_17_in_a_chain_the_batches_of_an_edition_are_one_wave() {
    let sizes = |count: u32| match plan(&fetched(count), Requester::Tick, &chained(), NOW) {
        Action::Wave(wave) => wave.iter().map(Vec::len).collect(),
        Action::Process(keys) => vec![keys.len()],
        other => panic!("{other:?}"),
    };
    assert_eq!(sizes(30), [6; 5]);
    assert_eq!(sizes(8), [6, 2]);
    assert_eq!(sizes(5), [5], "one batch is no wave");
    assert_eq!(sizes(100), [6; WAVE_BATCHES_MAX], "the rest comes after it");
}

#[test]
fn ed_15_a_wave_is_waited_for_whole_and_given_up_whole() {
    let (rules, account) = (chained(), fetched(8));
    let wave = [keys_of(1..=6), keys_of(7..=8)];
    let (change, batches) = turn::start_wave(&account, &wave, "dies", &rules, NOW).unwrap();
    let account = change.apply(account);
    let later = NOW + rules.beat();
    let (change, until) = turn::extend_batch(&account, 2, &rules, later).unwrap();
    let account = change.apply(account);
    let planned = plan(&account, Requester::Tick, &rules, batches[0].lease_until);
    assert_eq!(planned, Action::Wait(Waiting::Batch { index: 2, until }));
    let planned = plan(&account, Requester::Tick, &rules, until);
    assert_eq!(planned, Action::Recover);
    let account = turn::recover(&account, &rules, until).apply(account);
    let next = plan(&account, Requester::Tick, &rules, until);
    assert_eq!(
        next,
        Action::Process(keys_of(1..=1)),
        "one by one, and smaller"
    );
    let taken_twice = [keys_of(1..=2), keys_of(2..=3)];
    let fresh = fetched(8);
    let change = turn::start_wave(&fresh, &taken_twice, "n", &rules, NOW);
    assert!(change.is_none(), "no story is in two batches");
}

/// Batches of one story that died together say nothing about each other.
#[test]
fn ed_15_a_wave_of_single_stories_that_dies_fails_none_of_them() {
    let rules = chained();
    let account = fetched(3);
    let wave = [keys_of(1..=1), keys_of(2..=2), keys_of(3..=3)];
    let (change, _) = turn::start_wave(&account, &wave, "dies", &rules, NOW).unwrap();
    let account = change.apply(account);
    let (change, until) = turn::extend_batch(&account, 2, &rules, NOW + rules.beat()).unwrap();
    let account = change.apply(account);
    let account = turn::recover(&account, &rules, NOW + rules.lease()).apply(account);
    let account = turn::recover(&account, &rules, until).apply(account);
    assert_eq!(account.counts().pending, 3);
}
