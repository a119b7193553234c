//! Checks on the texts themselves.

mod edition;
mod overview;

use rusqlite::{Connection, Params, StatementStatus, ToSql, params_from_iter, types::Value};

use crate::{
    alert, claim,
    entry::{self, search},
    find, history, migrate, permit, register, schedule,
    source::{self, numbers},
    task,
};

/// Statements that both databases read from one text.
const SHARED: &[&str] = &[
    alert::CHANGE,
    alert::LOAD,
    alert::OPEN,
    alert::PRUNE,
    claim::EXPIRED,
    claim::KINDS,
    claim::LANES,
    entry::EXAMINED_TO,
    entry::EXAMINED_TO_OF,
    entry::FIRST_SINCE,
    entry::IS_IN,
    entry::LIST,
    entry::LIST_IN,
    entry::LIST_OF,
    entry::REMOVE_ALL,
    search::LOAD,
    search::NOTE_READ,
    search::SAVE_TEXT,
    search::SAVE_WORDS,
    search::SEARCH_SQLITE,
    search::UNREAD,
    search::WORDLESS,
    history::LOAD_ATTEMPTS_BEFORE,
    history::LOAD_DECISIONS,
    history::LOAD_DECISIONS_BEFORE,
    history::LOAD_ONCE,
    history::NOTE_ONCE,
    history::PRUNE_ONCE,
    permit::PRUNE,
    migrate::MARK_APPLIED,
    migrate::NOTE_APPLIED,
    register::FORGET_NODE,
    register::LOAD_TOKEN,
    register::REVOKE_TOKEN,
    register::SAVE_NODE,
    register::SAVE_TOKEN,
    schedule::EXAMINED_TO,
    schedule::LIST,
    schedule::LOAD_DUE,
    schedule::LOAD_EDITS,
    schedule::LOAD_SLOTS,
    numbers::COUNT,
    source::list::ALL_TO,
    source::AT,
    source::list::ATTENTION_TO,
    source::COUNT_CHECKS,
    source::FIRST_PRICE,
    source::list::LIST,
    source::list::LIST_ATTENTION,
    source::list::LIST_RESTING,
    source::LOAD_AT,
    source::LOAD_DUE,
    source::LOAD_DUE_OF,
    source::LOAD_OF_FILE,
    source::LOAD_STRAYS,
    source::NEXT_PRICE,
    source::NEXT_ROWS,
    source::REMOVE,
    source::list::RESTING_TO,
    task::DEPTH,
    find::BY_KIND.all[0],
    find::BY_KIND.tagged[0],
    find::BY_TAG.all[0],
    find::EXAMINED_TO,
    find::LIST.all[0],
    find::LIST.tagged[0],
    find::LINES.all[0],
    find::COUNT_LINES.tagged[0],
    find::TAGGED_TO,
    task::LOAD,
    task::LOAD_LIVES,
    task::NEXT_ROWS,
];

/// SQLite numbers `$n` by first appearance, PostgreSQL by its digit: only ascending texts mean the
/// same to both.
#[test]
fn shared_texts_use_their_parameters_in_ascending_order() {
    let shared = SHARED.iter().copied().chain(edition::SHARED);
    for text in shared.chain(overview::SHARED) {
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
    let connection = migrated();
    for n in 0..count {
        connection.execute(fill, [n]).unwrap();
    }
    let mut statement = connection.prepare(text).unwrap();
    let answered = statement.query_map(parameters, |_| Ok(())).unwrap().count();
    assert_eq!(answered, rows, "{text}");
    statement.get_status(StatementStatus::VmStep)
}

fn migrated() -> Connection {
    let connection = Connection::open_in_memory().unwrap();
    for migration in migrate::ALL {
        connection.execute_batch(migration.sqlite).unwrap();
    }
    connection
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

/// Neither more tasks nor more kinds than are asked for.
#[test]
fn finding_the_waiting_kinds_costs_no_more_than_their_bound() {
    let waiting = |kind: &str| {
        format!(
            "insert into task (subject, kind, status, is_current, execute_at_us, due_at_us, \
             priority, attempt, max_retry, term, revision, decisions, created_at_us, \
             created_execute_at_us, origin, payload) values \
             (?1, {kind}, 'INIT', 1, ?1, ?1, ?1 % 10, 0, 3, 0, 0, 0, 0, 0, '', '')"
        )
    };
    check_costs_no_more(claim::KINDS, [10], 3, &waiting("'K' || (?1 % 3)"));
    check_costs_no_more(claim::KINDS, [10], 10, &waiting("'K' || ?1"));
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
    let page = rusqlite::params!["1", schedule::END, nothing, nothing, 1, nothing, nothing, 5];
    check_costs_no_more(schedule::LIST, page, 5, SCHEDULES);
}

/// What nothing fits is examined so far and no further, whatever the table holds.
#[test]
fn sf_01_a_list_that_finds_nothing_costs_what_it_examines() {
    let nothing: Option<&str> = None;
    let none = Some("nowhere");
    let tasks = "insert into task (id, subject, kind, status, is_current, execute_at_us, priority, \
         attempt, max_retry, term, revision, decisions, created_at_us, created_execute_at_us, \
         origin, payload) values (?1 + 1, ?1, 'K', 'INIT', 1, ?1, 5, 0, 3, 0, 0, 0, 0, 0, '', '')";
    check_costs_no_more(find::EXAMINED_TO, [51, 39], 1, tasks);
    for (kind, status, subject) in [
        (none, nothing, nothing),
        (nothing, none, nothing),
        (nothing, nothing, none),
        (none, none, none),
    ] {
        let [few, many] = [60, 6_000].map(|count: u32| {
            // The newest forty.
            let to = i64::from(count) - 39;
            let page = rusqlite::params![
                i64::MAX,
                to,
                kind,
                status,
                subject,
                nothing,
                nothing,
                nothing,
                nothing,
                nothing,
                nothing,
                nothing,
                nothing,
                nothing,
                20
            ];
            let listed = steps(find::LIST.all[0], page, 0, (tasks, count));
            listed + steps(find::LINES.all[0], page, 0, (tasks, count))
        });
        assert!(many <= few * 11 / 10, "{few} for 60, {many} for 6,000");
    }
    check_costs_no_more(schedule::EXAMINED_TO, ("1", 9), 1, SCHEDULES);
    let page = rusqlite::params!["5", "50", none, nothing, 1, nothing, nothing, 5];
    check_costs_no_more(schedule::LIST, page, 0, SCHEDULES);
    check_costs_no_more(source::list::ALL_TO, [0, 39], 1, SOURCES);
    check_costs_no_more(source::list::ATTENTION_TO, [0, 4], 1, SOURCES);
    check_costs_no_more(source::list::RESTING_TO, [0, 4], 1, SOURCES);
    let (class, text) = (Some("dns"), none);
    for (class, text) in [(class, nothing), (nothing, text)] {
        let page = rusqlite::params![
            nothing, nothing, nothing, nothing, class, text, text, 0, 40, 20
        ];
        check_costs_no_more(source::list::LIST, page, 0, SOURCES);
    }
}

/// Ledger rows of one schedule, one microsecond apart.
const SLOTS: &str = "insert into slot values (1, ?1, ?1, 1, 'fired', null, 1, ?1)";

#[test]
fn the_ledger_costs_no_more_when_it_is_longer() {
    check_costs_no_more(schedule::LOAD_SLOTS, [1, 50, 10], 10, SLOTS);
    check_costs_no_more(schedule::PRUNE_SLOTS_SQLITE, [50, 10], 0, SLOTS);
}

/// Sources that are due one microsecond apart. Among the first sixty, every sixth is odd in all
/// ways.
const SOURCES: &str = "insert into source (source_id, version, source_type, state, cadence, \
     attention, due_at_us, check_count, hit_count, fail_count, created_at_us, updated_at_us, \
     address, name, category, reading, moving_times, shown, recent, learned) \
     select ?1 + 1, 1, case when odd then 'custom' else 'rss' end, \
     case when odd then 'paused' else 'active' end, case when odd then 'P6' else 'P0' end, \
     case when odd then 'silent' end, ?1, 0, 0, 0, 0, 0, ?1, 'n', '', '', 0, '', '', '' \
     from (select ?1 % 6 = 5 and ?1 < 60 as odd)";

/// A quiet minute finds nothing, a busy one ten; neither reads those that are not due.
#[test]
fn ss_08_the_due_list_costs_no_more_when_more_sources_exist() {
    for (now, limit, rows) in [(-1, 100, 0), (9, 100, 10), (100_000, 10, 10)] {
        check_costs_no_more(source::LOAD_DUE, [now, limit], rows, SOURCES);
    }
    let none: (&str, i64, i64) = ("custom", 4, 100);
    check_costs_no_more(source::LOAD_DUE_OF, none, 0, SOURCES);
    check_costs_no_more(source::LOAD_STRAYS, [9, 100], 9, SOURCES);
    check_costs_no_more(source::LOAD_DUE_OF, ("custom", 100_000, 100), 10, SOURCES);
}

/// Few of many are found without reading the others.
#[test]
fn a_page_of_sources_costs_no_more_when_more_exist() {
    let nothing: Option<&str> = None;
    let (odd, some) = (Some("custom"), Some("P6"));
    let (paused, silent) = (Some("paused"), Some("silent"));
    for (text, a, b, c, d, rows) in [
        (source::list::LIST, nothing, nothing, nothing, nothing, 20),
        (source::list::LIST, odd, nothing, nothing, nothing, 10),
        (source::list::LIST, nothing, nothing, some, nothing, 10),
        (
            source::list::LIST_RESTING,
            nothing,
            paused,
            nothing,
            nothing,
            10,
        ),
        (
            source::list::LIST_ATTENTION,
            nothing,
            nothing,
            nothing,
            nothing,
            10,
        ),
        (source::list::LIST_ATTENTION, odd, paused, some, silent, 10),
    ] {
        let parameters = rusqlite::params![a, b, c, d, nothing, nothing, nothing, 0, 60, 20];
        check_costs_no_more(text, parameters, rows, SOURCES);
    }
}

/// Every statement that a look makes: the source is found, and written by its number.
#[test]
fn a_look_costs_no_more_when_more_sources_exist() {
    check_costs_no_more(source::LOAD_SQLITE, [7], 1, SOURCES);
    check_costs_no_more(source::AT, ["7"], 1, SOURCES);
    check_costs_no_more(source::NEXT_ROWS, [7, 10], 10, SOURCES);
    for text in [source::UPDATE_QUIETLY_SQLITE, source::UPDATE_SQLITE] {
        let quiet = quiet_values();
        let quiet: Vec<&dyn ToSql> = quiet.iter().map(|value| value as _).collect();
        check_costs_no_more(text, quiet.as_slice(), 0, SOURCES);
    }
}

/// What a look at the seventh source writes, with all its search columns unchanged.
fn quiet_values() -> Vec<Value> {
    let text = |text: &str| Value::Text(text.to_owned());
    let mut values: Vec<Value> = (0..32).map(Value::Integer).collect();
    values.extend([text("6"), text("rss"), text("active"), text("P0")]);
    values.extend([
        Value::Null,
        text("{}"),
        Value::Integer(7),
        Value::Integer(1),
    ]);
    values
}

/// Tables and indexes that a statement writes to.
fn writes_to(text: &str) -> Vec<String> {
    let connection = migrated();
    let mut program = connection.prepare(&format!("explain {text}")).unwrap();
    let opened = program.query_map(params_from_iter(quiet_values()), |row| {
        Ok((row.get(1)?, row.get(3)?))
    });
    let opened: Vec<(String, i64)> = opened.unwrap().map(Result::unwrap).collect();
    let name = |(_, page): &(String, i64)| {
        let named = "select name from sqlite_schema where rootpage = ?1";
        connection.query_row(named, [page], |row| row.get(0))
    };
    let written = opened.iter().filter(|(opcode, _)| opcode == "OpenWrite");
    let mut names: Vec<String> = written.map(|open| name(open).unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_quiet_look_writes_its_row_and_the_indexes_of_its_time() {
    let quiet = writes_to(source::UPDATE_QUIETLY_SQLITE);
    assert_eq!(quiet, ["source", "source_due", "source_type_due"]);
    assert!(writes_to(source::UPDATE_SQLITE).len() > 3);
}

/// Entries of three sources, seen one microsecond apart.
const ENTRIES: &str = "insert into entry (source_id, seen_at_us, key, title, link_hash) \
     values (case when ?1 < 30 then ?1 % 3 else 9 end, ?1, ?1, '', ?1)";

#[test]
fn entries_cost_no_more_when_more_exist() {
    let end = i64::MAX;
    check_costs_no_more(entry::LIST, [end, 0, 0, 10], 10, ENTRIES);
    check_costs_no_more(entry::LIST, [20, 0, 0, 10], 10, ENTRIES);
    check_costs_no_more(entry::LIST_OF, [1, end, 0, 0, 5], 5, ENTRIES);
    check_costs_no_more(entry::LIST_OF, [1, end, 0, 99_999, 5], 0, ENTRIES);
    check_costs_no_more(search::UNREAD, [1, 5, 0, 9], 0, ENTRIES);
    check_costs_no_more(search::WORDLESS, [10], 10, ENTRIES);
    check_costs_no_more(entry::EXAMINED_TO, [end, 40], 1, ENTRIES);
    check_costs_no_more(entry::EXAMINED_TO_OF, [1, end, 5], 1, ENTRIES);
    check_costs_no_more(entry::FIRST_SINCE, [0, 40], 1, ENTRIES);
    check_costs_no_more(entry::FIRST_SINCE, [99_999, 40], 1, ENTRIES);
    check_costs_no_more(entry::KEPT_SQLITE, [1], 10, ENTRIES);
    check_costs_no_more(entry::KNOWN_BY_KEY_SQLITE, (1, "1"), 1, ENTRIES);
    check_costs_no_more(entry::KNOWN_BY_LINK_SQLITE, [1, 1, 8], 1, ENTRIES);
    check_costs_no_more(entry::RENEW_SQLITE, (2, 2, "x"), 0, ENTRIES);
    check_costs_no_more(entry::REMOVE_ALL, [1], 0, ENTRIES);
}

/// What is older than the page examines is not looked at, however much of it there is.
#[test]
fn sf_01_a_page_of_entries_costs_what_it_examines() {
    let [few, many] = [60, 6_000].map(|count: u32| {
        let page = [i64::MAX, i64::from(count) - 39, 99_999, 10];
        steps(entry::LIST, page, 0, (ENTRIES, count))
    });
    assert!(many <= few * 11 / 10, "{few} for 60, {many} for 6,000");
}
