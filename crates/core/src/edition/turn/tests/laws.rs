//! Whatever happens in whatever order, an edition keeps its books.

use proptest::prelude::*;

use super::*;

/// Something that happens to an edition.
#[derive(Debug, Clone)]
enum Event {
    Work(Vec<u8>),
    Die,
    Late,
    Retry,
    Reset,
    Wait(i64),
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        4 => prop::collection::vec(0_u8..3, 6).prop_map(Event::Work),
        1 => Just(Event::Die),
        1 => Just(Event::Late),
        1 => Just(Event::Retry),
        1 => Just(Event::Reset),
        2 => (1_i64..10).prop_map(Event::Wait),
    ]
}

fn ending(choice: u8) -> Ending {
    match choice {
        0 => written(),
        1 => Ending::Failed("failed".to_owned()),
        _ => Ending::NotTried,
    }
}

/// Does what is planned; how stories end is chosen.
fn act(account: Account, choices: &[u8], now: Timestamp) -> Account {
    let change = match plan(&account, Requester::Tick, &rules(), now) {
        Action::Process(keys) => {
            let (change, batch) = start_batch(&account, &keys, "node", &rules(), now).unwrap();
            let account = change.apply(account);
            let endings: Vec<_> = keys
                .into_iter()
                .zip(choices.iter().copied().map(ending))
                .collect();
            let change = end_batch(&account, batch.index, &endings, spend(25), &rules(), now);
            return change.unwrap().apply(account);
        }
        Action::Recover => recover(&account, &rules(), now),
        Action::PutBack(keys) => put_back(&account, &keys, now),
        Action::Aggregate => aggregate(&account, fixture::document(&account), Vec::new(), now),
        Action::GiveUp => give_up(&account, now),
        Action::Publish => publish(&account, now),
        _ => return account,
    };
    change.apply(account)
}

fn happen(account: Account, event: &Event, now: &mut Timestamp) -> Account {
    match event {
        Event::Work(choices) => act(account, choices, *now),
        Event::Die => match plan(&account, Requester::Tick, &rules(), *now) {
            Action::Process(keys) => {
                let (change, _) = start_batch(&account, &keys, "dies", &rules(), *now).unwrap();
                change.apply(account)
            }
            _ => account,
        },
        Event::Late => {
            let endings = [(key(1), written())];
            let first = end_batch(&account, 1, &endings, spend(25), &rules(), *now);
            first
                .map(|change| change.apply(account.clone()))
                .unwrap_or(account)
        }
        Event::Retry => match retry(&account, 3, Day::Present, *now) {
            Ok((Some(change), _)) => change.apply(account),
            _ => account,
        },
        Event::Reset => reset(&account, Day::Present, *now).unwrap().apply(account),
        Event::Wait(minutes) => {
            *now += MINUTE * i32::try_from(*minutes).unwrap();
            account
        }
    }
}

fn check_books(account: &Account) {
    let counts = account.counts();
    let sum = counts.pending + counts.processing + counts.completed + counts.failed;
    assert_eq!(sum, counts.total);
    assert_eq!(counts.total, 13);
    let mut indices: Vec<u32> = account.batches.iter().map(|batch| batch.index).collect();
    indices.dedup();
    assert_eq!(
        indices.len(),
        account.batches.len(),
        "an index was used twice"
    );
    let running = account
        .batches
        .iter()
        .filter(|batch| batch.status == batch::Status::Running);
    assert!(running.count() <= 1, "two batches at once");
    assert!(account.stories.iter().all(|story| story.retry_count <= 3));
}

proptest! {
    #[test]
    fn ed_30_books_are_kept_whatever_happens(events in prop::collection::vec(event(), 0..60)) {
        let (mut account, mut now) = (fetched(13), NOW);
        for event in &events {
            account = happen(account, event, &mut now);
            check_books(&account);
        }
    }

    /// Nothing that happened keeps an edition from its end once things work again (ED-15, ED-32).
    #[test]
    fn no_edition_gets_stuck(events in prop::collection::vec(event(), 0..40)) {
        let (mut account, mut now) = (fetched(13), NOW);
        for event in &events {
            account = happen(account, event, &mut now);
        }
        for _ in 0..40 {
            now += rules().lease();
            account = act(account, &[0; 6], now);
        }
        let ended = matches!(account.edition.state, State::Published | State::Empty);
        prop_assert!(ended, "stuck in {}", account.edition.state);
    }
}
