//! Checks on the texts themselves.

use rusqlite::{Connection, StatementStatus};

use crate::{claim, history, migrate, register, task};

/// SQLite numbers `$n` by first appearance, PostgreSQL by its digit: only ascending texts mean the
/// same to both.
#[test]
fn shared_texts_use_their_parameters_in_ascending_order() {
    let shared = [
        claim::EXPIRED,
        claim::LANES,
        history::LOAD_ATTEMPTS,
        history::LOAD_DECISIONS,
        history::LOAD_ONCE,
        history::NOTE_ONCE,
        history::PRUNE_ONCE,
        migrate::NOTE_APPLIED,
        register::FORGET_NODE,
        register::LOAD_TOKEN,
        register::REVOKE_TOKEN,
        register::SAVE_NODE,
        register::SAVE_TOKEN,
        task::DEPTH,
        task::LIST_SQLITE,
        task::LOAD,
        task::LOAD_ALL,
        task::NEXT_ROWS,
    ];
    for text in shared {
        let mut seen = 0;
        for digits in text.split('$').skip(1) {
            let end = digits
                .find(|c: char| !c.is_ascii_digit())
                .unwrap_or(digits.len());
            let number: usize = digits[..end].parse().unwrap();
            assert!(
                number <= seen + 1,
                "${number} before ${} in: {text}",
                seen + 1
            );
            seen = seen.max(number);
        }
    }
}

/// Steps of SQLite's machine: a measure of work that does not depend on the machine underneath.
fn steps(text: &str, waiting: u32) -> i32 {
    let connection = Connection::open_in_memory().unwrap();
    connection.execute_batch(migrate::ALL[0].sqlite).unwrap();
    let insert = "insert into task (subject, kind, status, is_current, execute_at_us, due_at_us, \
         priority, attempt, max_retry, term, revision, decisions, created_at_us, \
         created_execute_at_us, origin, payload) values \
         (?1, 'K' || (?1 % 3), 'INIT', 1, ?1, ?1, 4 + (?1 % 2), 0, 3, 0, 0, 0, 0, 0, '', '')";
    for n in 0..waiting {
        connection.execute(insert, [n]).unwrap();
    }
    let mut statement = connection.prepare(text).unwrap();
    assert_eq!(
        statement.query_map([], |_| Ok(())).unwrap().count(),
        6,
        "three kinds, two priorities"
    );
    statement.get_status(StatementStatus::VmStep)
}

#[test]
fn finding_the_lanes_costs_no_more_when_more_tasks_wait() {
    for text in [claim::LANES, claim::LANES_DUE_SQLITE] {
        let (few, many) = (steps(text, 60), steps(text, 6_000));
        assert!(
            many <= few * 11 / 10,
            "{few} steps for 60 tasks, {many} for 6,000"
        );
    }
}
