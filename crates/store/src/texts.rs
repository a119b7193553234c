//! Checks on the texts themselves.

use rusqlite::{Connection, Params, StatementStatus};

use crate::{claim, history, migrate, register, schedule, task};

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
        schedule::LIST,
        schedule::LOAD_DUE,
        schedule::LOAD_EDITS,
        schedule::LOAD_SLOTS,
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

/// Steps of SQLite's machine: a measure of work that does not depend on the machine underneath. The
/// tables hold what `fill` makes of the numbers below `count`; the text must answer `rows` rows.
fn steps(text: &str, parameters: impl Params, rows: usize, (fill, count): (&str, u32)) -> i32 {
    let connection = Connection::open_in_memory().unwrap();
    for migration in migrate::ALL {
        connection.execute_batch(migration.sqlite).unwrap();
    }
    for n in 0..count {
        connection.execute(fill, [n]).unwrap();
    }
    let mut statement = connection.prepare(text).unwrap();
    let answered = statement.query_map(parameters, |_| Ok(())).unwrap().count();
    assert_eq!(answered, rows, "{text}");
    statement.get_status(StatementStatus::VmStep)
}

/// That a hundred times as much costs the same.
fn check_costs_no_more(text: &str, parameters: impl Params + Copy, rows: usize, fill: &str) {
    let few = steps(text, parameters, rows, (fill, 60));
    let many = steps(text, parameters, rows, (fill, 6_000));
    assert!(
        many <= few * 11 / 10,
        "{few} steps for 60, {many} for 6,000: {text}"
    );
}

#[test]
fn finding_the_lanes_costs_no_more_when_more_tasks_wait() {
    let waiting = "insert into task (subject, kind, status, is_current, execute_at_us, due_at_us, \
         priority, attempt, max_retry, term, revision, decisions, created_at_us, \
         created_execute_at_us, origin, payload) values \
         (?1, 'K' || (?1 % 3), 'INIT', 1, ?1, ?1, 4 + (?1 % 2), 0, 3, 0, 0, 0, 0, 0, '', '')";
    for text in [claim::LANES, claim::LANES_DUE_SQLITE] {
        // Three kinds, two priorities.
        check_costs_no_more(text, [], 6, waiting);
    }
}

/// Schedules that are looked at one microsecond apart, and as many that rest.
const SCHEDULES: &str = "insert into schedule (name, origin, definition, revision, version, state, \
     look_at_us, created_at_us, changed_at_us) values \
     (?1, 'api', '{}', 1, 1, 'active', case when ?1 % 2 = 0 then ?1 end, 0, 0)";

/// A quiet pass finds nothing, a busy one ten; neither reads those that are not due.
#[test]
fn looking_costs_no_more_when_more_schedules_exist() {
    for (now, limit, rows) in [(-1, 1_000, 1), (18, 1_000, 11), (100_000, 10, 10)] {
        check_costs_no_more(schedule::LOAD_DUE, [now, limit], rows, SCHEDULES);
    }
}

/// A page of names begins where the one before ended.
#[test]
fn listing_costs_no_more_when_more_schedules_exist() {
    let nothing: Option<&str> = None;
    let page = ("1", nothing, nothing, 1, 5);
    let parameters = rusqlite::params![page.0, page.1, page.2, page.3, page.4];
    check_costs_no_more(schedule::LIST, parameters, 5, SCHEDULES);
}

/// Ledger rows of one schedule, one microsecond apart.
const SLOTS: &str = "insert into slot values (1, ?1, ?1, 1, 'fired', null, 1, ?1)";

#[test]
fn the_ledger_costs_no_more_when_it_is_longer() {
    check_costs_no_more(schedule::LOAD_SLOTS, [1, 50, 10], 10, SLOTS);
    check_costs_no_more(schedule::PRUNE_SLOTS_SQLITE, [50, 10], 0, SLOTS);
}
