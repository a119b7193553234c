//! Statements about decisions, attempts and idempotency keys.

/// What [`crate::row::decision`] reads.
macro_rules! decision_columns {
    () => {
        "task_id, number, decided_at_us, origin, rule, old_execute_at_us, execute_at_us, revision, \
         new_task_id"
    };
}
/// What [`crate::row::attempt`] reads.
macro_rules! attempt_columns {
    () => {
        "task_id, term, attempt, due_at_us, started_at_us, finished_at_us, outcome, late_outcome, \
         detail, node"
    };
}
/// A list of ended attempts, each beside its task.
macro_rules! ended {
    () => {
        " from unnest($1::bigint[], $2::bigint[], $3::integer[], $4::bigint[], $5::bigint[], \
         $6::bigint[], $7::text[], $8::text[]) \
         u(id, term, attempt, due_at_us, started_at_us, finished_at_us, outcome, detail) \
         join task t on t.id = any (array[u.id])"
    };
}

pub(crate) const LOAD_DECISIONS: &str = concat!(
    "select ",
    decision_columns!(),
    " from decision where task_id = $1 order by number"
);
pub(crate) const LOAD_ATTEMPTS: &str = concat!(
    "select ",
    attempt_columns!(),
    " from attempt where task_id = $1 order by term"
);

pub(crate) const NOTE_DECISION_SQLITE: &str = concat!(
    "insert into decision (",
    decision_columns!(),
    ") values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)"
);

/// An attempt whose row is about to describe the next one.
pub(crate) const NOTE_ATTEMPT_SQLITE: &str = concat!(
    "insert into attempt (",
    attempt_columns!(),
    ") select id, ?2, ?3, ?4, ?5, ?6, ?7, null, ?8, node from task where id = ?1 \
     on conflict (task_id, term) do nothing"
);
pub(crate) const NOTE_ATTEMPT_POSTGRES: &str = concat!(
    "insert into attempt (",
    attempt_columns!(),
    ") select t.id, u.term, u.attempt, u.due_at_us, u.started_at_us, u.finished_at_us, u.outcome, \
     null, u.detail, t.node",
    ended!(),
    " on conflict (task_id, term) do nothing"
);

/// An attempt that ended after its task had been taken from it. What it came to is kept beside what
/// was written for it then; an ending that merely repeats itself after a lost reply adds nothing.
macro_rules! late {
    () => {
        " on conflict (task_id, term) do update set late_outcome = excluded.late_outcome \
         where attempt.outcome <> excluded.late_outcome"
    };
}
pub(crate) const NOTE_LATE_SQLITE: &str = concat!(
    "insert into attempt (",
    attempt_columns!(),
    ") select id, ?2, ?3, ?4, ?5, ?6, 'taken_away', ?7, ?8, node from task t where id = ?1 \
     and (t.status = 'CANCELLED' or t.term > ?2 \
     or exists (select 1 from attempt a where a.task_id = ?1 and a.term = ?2))",
    late!()
);
pub(crate) const NOTE_LATE_POSTGRES: &str = concat!(
    "insert into attempt (",
    attempt_columns!(),
    ") select t.id, u.term, u.attempt, u.due_at_us, u.started_at_us, u.finished_at_us, \
     'taken_away', u.outcome, u.detail, t.node",
    ended!(),
    " where t.status = 'CANCELLED' or t.term > u.term \
     or exists (select 1 from attempt a where a.task_id = u.id and a.term = u.term)",
    late!()
);

pub(crate) const LOAD_ONCE: &str = "select digest, receipts from once where key = $1";
pub(crate) const NOTE_ONCE: &str = "insert into once (key, digest, receipts, used_at_us) \
     values ($1, $2, $3, $4) on conflict (key) do nothing";

/// What goes with a pruned row.
pub(crate) const PRUNE_SQLITE: [&str; 2] = [
    "delete from decision where task_id = ?1",
    "delete from attempt where task_id = ?1",
];
pub(crate) const PRUNE_POSTGRES: [&str; 2] = [
    "delete from decision where task_id = any ($1)",
    "delete from attempt where task_id = any ($1)",
];
pub(crate) const PRUNE_ONCE: &str = "delete from once where key in \
     (select key from once where used_at_us < $1 order by used_at_us limit $2)";
