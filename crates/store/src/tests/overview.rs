//! What the texts for pages cost when a store grows old.

use rusqlite::{params, types::Null};

use super::{check_costs_no_more, migrated, steps};
use crate::{activity, claim, coming, overview, sign_in, task};

/// Those that both databases share, and those of SQLite alone: these use their parameters in order,
/// too.
pub(super) const SHARED: [&str; 21] = [
    activity::CHANGES_SQLITE,
    activity::CREATIONS_SQLITE,
    activity::EDITS_SQLITE,
    coming::LANE_SQLITE,
    overview::CLAIMS_SQLITE,
    overview::COUNT_STATUSES,
    overview::PAST_CLAIMS,
    overview::SLOTS_BETWEEN,
    overview::SUBJECTS,
    overview::UPCOMING,
    sign_in::CHANGE_USER,
    sign_in::LOAD_SESSION,
    sign_in::LOAD_USER,
    sign_in::LOAD_USERS,
    sign_in::PRUNE_SESSIONS,
    sign_in::REMOVE_SESSION,
    sign_in::REMOVE_USER[0],
    sign_in::REMOVE_USER[1],
    sign_in::SAVE_SESSION,
    sign_in::SAVE_USER,
    overview::LANES,
];

/// Tasks that end one microsecond apart; every other one waits again.
const TASKS: &str = "insert into task (subject, kind, status, is_current, execute_at_us, \
     due_at_us, priority, attempt, max_retry, term, revision, decisions, created_at_us, \
     created_execute_at_us, finished_at_us, origin, payload) values \
     (?1, 'K' || (?1 % 3), 'SUCCESS', 1, ?1, case when ?1 % 2 = 0 then ?1 end, 5, 1, 3, 1, 0, 1, \
     ?1, 0, ?1, 'ada', '')";
/// Decisions on one task, one microsecond apart.
const DECISIONS: &str = "insert into decision (task_id, number, decided_at_us, origin, rule, \
     execute_at_us, revision) values (1, ?1, ?1, 'ada', 'updated', 0, 0)";
/// Claims that are over, of one task each, whose leases end one microsecond apart.
const PAST_CLAIMS: &str = "insert into past_claim values (?1, ?1, '[' || (6000 - ?1) || ']')";
/// Edits of one schedule.
const EDITS: &str = "insert into schedule_edit values (1, ?1, 1, 'changed', 'ada', null, '{}', ?1)";
/// Slots of one schedule, of which the first ten are rows of several that reach beyond the first
/// sixty.
const SLOTS: &str = "insert into slot values (1, ?1, case when ?1 < 10 then 70 else ?1 end, \
     case when ?1 < 10 then 9 else 1 end, 'fired', null, 1, ?1)";
/// Sessions of many, that end one microsecond apart.
const SESSIONS: &str = "insert into session values (?1, 'user', 'u' || ?1, 0, ?1)";
const USERS: &str = "insert into user_account values (?1, '', 'read', 0, 0)";

/// What may be walked: an index in its order up to a limit, what few rows there are, and what a
/// subquery that is itself searched for has answered.
const WALKED: [&str; 16] = [
    "SCAN n", // the newest numbers, downwards
    "SCAN decision USING INDEX decision_decided_at",
    "SCAN schedule_edit USING INDEX schedule_edit_at",
    "SCAN task USING COVERING INDEX task_due",
    "SCAN c",
    "SCAN claim",
    "SCAN j VIRTUAL TABLE INDEX 1:",
    "SCAN user_account",
    "SCAN d",
    "SCAN e",
    "SCAN w",
    "SCAN within",
    "SCAN beyond",
    "SCAN lane",
    "SCAN first_lane",
    "SCAN CONSTANT ROW",
];

#[test]
fn no_text_for_pages_walks_a_table() {
    let connection = migrated();
    let under_claims = [
        overview::ENDED_PAST_SQLITE,
        overview::ENDED_SQLITE,
        overview::RUNNING_SQLITE,
        task::DEPTH,
    ];
    for text in SHARED.into_iter().chain(under_claims) {
        let explain = format!("explain query plan {text}");
        let mut program = connection.prepare(&explain).unwrap();
        let nothing = vec![None::<i64>; program.parameter_count()];
        let steps = program.query_map(rusqlite::params_from_iter(nothing), |row| row.get(3));
        for step in steps.unwrap() {
            let step: String = step.unwrap();
            // `min` of a column that no index is known to have is called a search, too.
            let is_search = !step.starts_with("SEARCH") || step.contains(" USING ");
            let walks = step.starts_with("SCAN") && !WALKED.contains(&step.as_str());
            assert!(is_search, "{step}: {text}");
            assert!(!walks, "{step}: {text}");
        }
    }
}

/// The newest few are counted, however many there are.
#[test]
fn counting_statuses_costs_no_more_when_more_tasks_exist() {
    check_costs_no_more(overview::COUNT_STATUSES, params![50, Null], 1, TASKS);
}

/// Only those are looked at whose subjects begin so, and of these a bounded number.
#[test]
fn finding_a_subject_costs_no_more_when_more_tasks_exist() {
    let few = params!["1", "1\u{10ffff}", 11, " K ", 10];
    check_costs_no_more(overview::SUBJECTS, few, 10, TASKS);
    let left_out = params!["1", "1\u{10ffff}", 11, " K0 K1 K2 ", 10];
    check_costs_no_more(overview::SUBJECTS, left_out, 0, TASKS);
}

#[test]
fn activity_costs_no_more_when_more_was_decided() {
    let page = params![50, i64::MAX, Null, 0, Null, Null, Null, 10];
    check_costs_no_more(activity::CREATIONS_SQLITE, page, 10, TASKS);
    check_costs_no_more(activity::CHANGES_SQLITE, page, 0, DECISIONS);
    let page = params![50, i64::MAX, Null, 0, Null, 10];
    check_costs_no_more(activity::EDITS_SQLITE, page, 0, EDITS);
}

/// What ended is looked for from the latest claim backwards, and under each by its number.
#[test]
fn past_claims_cost_no_more_when_there_were_more() {
    check_costs_no_more(overview::PAST_CLAIMS, [0, 10], 10, PAST_CLAIMS);
    check_costs_no_more(overview::ENDED_PAST_SQLITE, [0, 99, 7], 0, PAST_CLAIMS);
    check_costs_no_more(claim::FORGET_PAST, [], 0, PAST_CLAIMS);
}

/// Whether the window is at the beginning or at the end.
#[test]
fn a_window_costs_what_is_in_it() {
    let lane = params!["K0", 5, 0, 20, 100];
    check_costs_no_more(overview::UPCOMING, lane, 4, TASKS);
    check_costs_no_more(coming::LANE_SQLITE, lane, 1, TASKS);
    check_costs_no_more(overview::SLOTS_BETWEEN, [20, 30, 100], 0, SLOTS);
    let [few, many] = [60, 6_000].map(|count: u32| {
        let last = [i64::from(count) - 10, i64::MAX, 100];
        steps(overview::SLOTS_BETWEEN, last, 0, (SLOTS, count))
    });
    assert!(
        many <= few * 11 / 10,
        "{few} steps for 60, {many} for 6,000"
    );
}

#[test]
fn signing_in_costs_no_more_when_more_people_do() {
    check_costs_no_more(sign_in::LOAD_SESSION, ["7"], 1, SESSIONS);
    check_costs_no_more(sign_in::REMOVE_SESSION, ["7"], 0, SESSIONS);
    check_costs_no_more(sign_in::REMOVE_USER[0], ["u7"], 0, SESSIONS);
    check_costs_no_more(sign_in::PRUNE_SESSIONS, [10], 0, SESSIONS);
    check_costs_no_more(sign_in::LOAD_USER, ["7"], 1, USERS);
    check_costs_no_more(sign_in::REMOVE_USER[1], ["7"], 0, USERS);
}
