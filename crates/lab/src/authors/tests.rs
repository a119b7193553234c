use super::*;

const START: i64 = 1_767_225_600;

/// Runs the actions with a service that accepts everything, one action per second.
fn actions_of(seed: u64, count: i64) -> Vec<(Timestamp, Action)> {
    let mut manuscripts = Manuscripts::new(seed, Habits::default());
    let mut next_id = 1;
    let mut actions = Vec::new();
    for second in 0..count {
        let now = Timestamp::from_second(START + second).unwrap();
        let action = next_action(&mut manuscripts, now);
        if let Action::Write { publish_at, .. } = &action {
            manuscripts.wrote(next_id, *publish_at);
            next_id += 1;
        }
        actions.push((now, action));
    }
    actions
}

#[test]
fn the_same_seed_gives_the_same_actions() {
    assert_eq!(actions_of(3, 300), actions_of(3, 300));
    assert_ne!(actions_of(3, 300), actions_of(4, 300));
}

#[test]
fn authors_begin_by_writing_and_then_do_everything_there_is_to_do() {
    let actions = actions_of(3, 500);
    assert!(matches!(actions[0].1, Action::Write { .. }));
    let count = |wanted: fn(&Action) -> bool| actions.iter().filter(|(_, a)| wanted(a)).count();
    assert!(count(|action| matches!(action, Action::Write { .. })) > 100);
    assert!(count(|action| matches!(action, Action::Move(it) if it.publish_at > it.from)) > 30);
    assert!(count(|action| matches!(action, Action::Move(it) if it.publish_at < it.from)) > 30);
    assert!(count(|action| matches!(action, Action::Withdraw { .. })) > 20);
    assert!(count(|a| matches!(a, Action::Write { body, .. } if body.contains(FORBIDDEN))) > 2);
}

#[test]
fn times_are_ahead_and_moves_change_them() {
    for (now, action) in actions_of(9, 2000) {
        match action {
            Action::Write { publish_at, .. } => assert!(publish_at > now),
            Action::Move(moved) => {
                assert!(now < moved.publish_at && moved.publish_at != moved.from);
            }
            Action::Withdraw { article_id } => assert!(article_id > 0),
        }
    }
}

#[test]
fn no_author_changes_an_article_after_its_time_or_its_withdrawal() {
    let mut due = std::collections::BTreeMap::new();
    let mut next_id = 1;
    for (now, action) in actions_of(5, 2000) {
        match action {
            Action::Write { publish_at, .. } => {
                due.insert(next_id, publish_at);
                next_id += 1;
            }
            Action::Move(moved) => {
                assert_eq!(
                    due.insert(moved.article_id, moved.publish_at),
                    Some(moved.from)
                );
                assert!(moved.from > now);
            }
            Action::Withdraw { article_id } => assert!(due.remove(&article_id).unwrap() > now),
        }
    }
}

#[test]
fn authors_with_enough_open_articles_stop_writing() {
    let now = Timestamp::from_second(START).unwrap();
    let mut manuscripts = Manuscripts::new(1, Habits::default());
    for id in 0..i64::try_from(OPEN_MAX).unwrap() {
        manuscripts.wrote(id, later(now, Duration::from_hours(1)));
    }
    for _ in 0..200 {
        let full = manuscripts.open.len() == OPEN_MAX;
        let action = next_action(&mut manuscripts, now);
        assert!(!full || !matches!(action, Action::Write { .. }));
        if let Action::Write { publish_at, .. } = action {
            manuscripts.wrote(1000, publish_at);
        }
        assert!(manuscripts.open.len() <= OPEN_MAX);
    }
}
