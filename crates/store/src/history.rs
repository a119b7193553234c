//! Statements about decisions, attempts and idempotency keys; and how a part of a history is
//! gathered.

use almanack_core::{
    history::{Attempt, Decision},
    store::{HistoryPage, Records, Result},
    task::{Identity, Task},
};

use crate::{
    row::{self, listing, most, small, values},
    session::Session,
    task,
};

/// What [`crate::row::decision`] reads.
macro_rules! decision_columns {
    () => {
        "task_id, number, decided_at_us, origin, rule, old_execute_at_us, execute_at_us, revision, \
         new_task_id, requested, requested_execute_at_us, requested_revision, times, last_at_us"
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
    " from decision where task_id = $1 and number > $2 order by number limit $3"
);
/// The newest decisions on a row, below a number.
pub(crate) const LOAD_DECISIONS_BEFORE: &str = concat!(
    "select ",
    decision_columns!(),
    " from decision where task_id = $1 and number < $2 order by number desc limit $3"
);
/// The newest attempts of a row, below a term.
pub(crate) const LOAD_ATTEMPTS_BEFORE: &str = concat!(
    "select ",
    attempt_columns!(),
    " from attempt where task_id = $1 and term < $2 order by term desc limit $3"
);

pub(crate) const NOTE_DECISION_SQLITE: &str = concat!(
    "insert into decision (",
    decision_columns!(),
    ") values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, 1, null)"
);

/// The newest of a row's last decisions that is the same as one that is about to be written: both
/// changed nothing.
macro_rules! same {
    ($task:literal, $above:literal, $rule:literal, $origin:literal, $at:literal, $revision:literal,
        $requested:literal, $requested_at:literal, $requested_revision:literal) => {
        concat!(
            "(select max(e.number) from decision e where e.task_id = ",
            $task,
            " and e.number > ",
            $above,
            " and e.rule = ",
            $rule,
            " and e.origin = ",
            $origin,
            " and e.execute_at_us = ",
            $at,
            " and e.revision = ",
            $revision,
            " and e.requested = ",
            $requested,
            " and e.requested_execute_at_us is not distinct from ",
            $requested_at,
            " and e.requested_revision is not distinct from ",
            $requested_revision,
            ")"
        )
    };
}
/// Counts a decision that was made before, if its row is still as seen.
pub(crate) const REPEAT_SQLITE: &str = concat!(
    "update decision set times = times + 1, last_at_us = ?10 where task_id = ?1 and number = ",
    same!("?1", "?2", "?3", "?4", "?5", "?6", "?7", "?8", "?9"),
    " and exists (select 1 from task t where t.id = ?1 and t.status = ?11 and t.term = ?12 \
     and t.decisions = ?13) returning number"
);
/// The same for many, each of another row or another request.
pub(crate) const REPEAT_POSTGRES: &str = concat!(
    "update decision d set times = d.times + u.times, last_at_us = u.decided_at_us \
     from (select x.position, x.task_id, x.decided_at_us, x.times, ",
    same!(
        "x.task_id",
        "x.above",
        "x.rule",
        "x.origin",
        "x.execute_at_us",
        "x.revision",
        "x.requested",
        "x.requested_execute_at_us",
        "x.requested_revision"
    ),
    " as number from unnest($1::bigint[], $2::integer[], $3::text[], $4::text[], $5::bigint[], \
     $6::bigint[], $7::text[], $8::bigint[], $9::bigint[], $10::bigint[], $11::text[], \
     $12::bigint[], $13::integer[], $14::integer[]) with ordinality \
     x(task_id, above, rule, origin, execute_at_us, revision, requested, \
     requested_execute_at_us, requested_revision, decided_at_us, seen_status, seen_term, \
     seen_decisions, times, position) \
     join task t on t.id = any (array[x.task_id]) and t.status = x.seen_status \
     and t.term = x.seen_term and t.decisions = x.seen_decisions) u \
     where d.task_id = any (array[u.task_id]) and d.number = u.number \
     returning u.position, d.number"
);

/// What may be forgotten of a row that stays: not what took it away, which explains its history.
macro_rules! passing {
    () => {
        " and rule in ('updated', 'unchanged', 'ignored_done', 'ignored_stale')"
    };
}
/// Keeps the number of a row's decisions within its bound.
pub(crate) const BOUND_SQLITE: &str = concat!(
    "delete from decision where task_id = ?1 and number <= ?2",
    passing!()
);
pub(crate) const BOUND_POSTGRES: &str = concat!(
    "delete from decision d using unnest($1::bigint[], $2::integer[]) u(task_id, number) \
     where d.task_id = any (array[u.task_id]) and d.number <= u.number",
    passing!()
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

/// The old part of the history of rows that stay.
pub(crate) const FORGET_SQLITE: [&str; 2] = [
    concat!(
        "delete from decision where task_id = ?1 and coalesce(last_at_us, decided_at_us) < ?2",
        passing!()
    ),
    "delete from attempt where task_id = ?1 and finished_at_us < ?2",
];
pub(crate) const FORGET_POSTGRES: [&str; 2] = [
    concat!(
        "delete from decision where task_id = any ($1) \
         and coalesce(last_at_us, decided_at_us) < $2",
        passing!()
    ),
    "delete from attempt where task_id = any ($1) and finished_at_us < $2",
];

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

/// How much of a history is still to be loaded: one more than the page holds, which says that there
/// is more.
struct Wanted {
    page: HistoryPage,
    left: usize,
}

/// What is wanted of one row: decisions and attempts below these.
struct Bounds {
    number: i32,
    term: i64,
}

/// One row and what belongs to it, newest first.
struct Life {
    task: Task,
    decisions: Vec<Decision>,
    attempts: Vec<Attempt>,
}

impl Wanted {
    fn of(page: HistoryPage) -> Self {
        let left = page.limit.saturating_add(1);
        Self { page, left }
    }

    /// The newest row that is looked at.
    fn from(&self) -> i64 {
        self.page.before.map_or(i64::MAX, |cursor| cursor.task_id.0)
    }

    /// How many rows of any sort are read at most. One more than is left, for a first row that has
    /// nothing left itself.
    fn rows(&self) -> i64 {
        most(self.left.saturating_add(1))
    }

    fn bounds(&self, task: &Task) -> Bounds {
        let cursor = self.page.before.filter(|cursor| cursor.task_id == task.id);
        cursor.map_or(
            Bounds {
                number: i32::MAX,
                term: i64::MAX,
            },
            |cursor| Bounds {
                number: small(cursor.number),
                term: cursor.term.0,
            },
        )
    }

    fn is_full(&self) -> bool {
        self.left == 0
    }

    /// Each row is at least its own creation, unless an earlier page has shown it.
    fn take(&mut self, life: &Life) {
        let created = usize::from(self.bounds(&life.task).number > 0);
        let found = life.decisions.len() + life.attempts.len() + created;
        self.left = self.left.saturating_sub(found);
    }
}

/// What was gathered newest first, oldest first.
fn records(lives: Vec<Life>) -> Records {
    let mut records = Records::default();
    for life in lives.into_iter().rev() {
        records.tasks.push(life.task);
        records.decisions.extend(life.decisions.into_iter().rev());
        records.attempts.extend(life.attempts.into_iter().rev());
    }
    records
}

pub(crate) async fn load(
    session: &dyn Session,
    (identity, page): &(Identity, HistoryPage),
) -> Result<Records> {
    let mut wanted = Wanted::of(*page);
    let values = values![
        identity.subject.as_str(),
        identity.kind.as_str(),
        wanted.from(),
        wanted.rows(),
    ];
    let tasks = session.listed(task::LOAD_LIVES, &values, row::TASKS);
    let mut lives = Vec::new();
    for task in tasks.await? {
        if wanted.is_full() {
            break;
        }
        let life = load_life(session, task, &wanted).await?;
        wanted.take(&life);
        lives.push(life);
    }
    Ok(records(lives))
}

async fn load_life(session: &dyn Session, task: Task, wanted: &Wanted) -> Result<Life> {
    let (id, bounds, rows) = (task.id.0, wanted.bounds(&task), wanted.rows());
    let (mut decisions, mut attempts) = (Vec::new(), Vec::new());
    // What a row has none of is not asked for: most have neither.
    if task.decisions > 0 {
        let values = values![id, bounds.number, rows];
        let listed = listing("decision", row::decision);
        let found = session.listed(LOAD_DECISIONS_BEFORE, &values, listed);
        decisions = found.await?;
    }
    if task.term.0 > 0 {
        let values = values![id, bounds.term, rows];
        let listed = listing("attempt", row::attempt);
        let found = session.listed(LOAD_ATTEMPTS_BEFORE, &values, listed);
        attempts = found.await?;
    }
    Ok(Life {
        task,
        decisions,
        attempts,
    })
}
