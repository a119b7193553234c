//! Statements about claims: taking tasks, ending attempts, and what is left of dead nodes.

use almanack_core::{
    store::{ClaimId, Error, ExpiredClaim, Result},
    task::ClaimedTask,
};
use jiff::Timestamp;

use crate::{
    row::{Row, claimed_task, reason, values},
    session::Session,
};

/// A task that a claim has and that cannot be read.
pub(crate) struct Unreadable {
    pub(crate) task_id: i64,
    pub(crate) claim_id: ClaimId,
    pub(crate) why: String,
}

impl Unreadable {
    fn of(row: &Row<'_>, claim_id: ClaimId, why: &Error) -> Result<Self> {
        let (task_id, why) = (row.get(0)?, reason(why));
        tracing::error!(
            task.id = task_id,
            why,
            "an unreadable task is marked failed"
        );
        Ok(Self {
            task_id,
            claim_id,
            why,
        })
    }
}

/// Reads a task of a claim; one that cannot be read is added to `aside`.
pub(crate) fn read(
    row: &Row<'_>,
    claim_id: ClaimId,
    aside: &mut Vec<Unreadable>,
) -> Result<Option<ClaimedTask>> {
    match claimed_task(row) {
        Ok(task) => Ok(Some(task)),
        Err(why) => {
            aside.push(Unreadable::of(row, claim_id, &why)?);
            Ok(None)
        }
    }
}

/// What [`crate::row::claimed_task`] reads.
macro_rules! claimed_columns {
    () => {
        "t.id, t.subject, t.kind, t.term, t.attempt, t.max_retry, t.execute_at_us, \
         t.started_at_us, t.payload, t.callback_url, t.revision, t.expiries"
    };
}

/// The lanes that have anything waiting, by jumping from one `(kind, priority)` to the next in the
/// index: the cost grows with the number of lanes, not with the number of tasks. Two jumps, to the
/// kind's next priority or else to the next kind: SQLite would answer the one comparison
/// `(kind, priority) > (…)` by reading all tasks of the kind.
macro_rules! lanes {
    () => {
        "with recursive lane(kind, priority) as ( \
         select * from (select kind, priority from task where due_at_us is not null \
             order by kind, priority limit 1) first_lane \
         union all \
         select coalesce( \
                 (select t.kind from task t where t.due_at_us is not null \
                     and t.kind = lane.kind and t.priority > lane.priority \
                     order by t.priority limit 1), \
                 (select t.kind from task t where t.due_at_us is not null \
                     and t.kind > lane.kind order by t.kind, t.priority limit 1)), \
             coalesce( \
                 (select t.priority from task t where t.due_at_us is not null \
                     and t.kind = lane.kind and t.priority > lane.priority \
                     order by t.priority limit 1), \
                 (select t.priority from task t where t.due_at_us is not null \
                     and t.kind > lane.kind order by t.kind, t.priority limit 1)) \
         from lane where lane.kind is not null) "
    };
}
pub(crate) const LANES: &str = concat!(
    lanes!(),
    "select kind, priority from lane where kind is not null"
);

/// The kinds that wait, by the same jumps; at most `$1`.
pub(crate) const KINDS: &str = "with recursive waiting(kind, place) as ( \
     select * from (select kind, cast(1 as bigint) from task where due_at_us is not null \
         order by kind limit 1) first_kind \
     union all \
     select (select t.kind from task t where t.due_at_us is not null and t.kind > waiting.kind \
         order by t.kind limit 1), place + 1 \
     from waiting where waiting.kind is not null and place < $1) \
     select kind from waiting where kind is not null";

/// SQLite: the waiting lanes and when each is next due. The claim then takes from one at a time.
pub(crate) const LANES_DUE_SQLITE: &str = concat!(
    lanes!(),
    "select kind, priority, (select min(due_at_us) from task t \
     where t.kind = lane.kind and t.priority = lane.priority and t.due_at_us is not null) \
     from lane where kind is not null"
);
/// SQLite: takes the earliest due tasks of one lane.
pub(crate) const TAKE_SQLITE: &str = concat!(
    "update task as t set status = 'RUNNING', due_at_us = null, term = term + 1, \
     attempt = attempt + 1, claim_id = ?1, node = ?2, started_at_us = ?3, finished_at_us = null, \
     detail = null where id in (select id from task where kind = ?4 and priority = ?5 \
     and due_at_us <= ?3 order by due_at_us limit ?6) returning ",
    // `returning` of SQLite knows the table by its name only.
    "id, subject, kind, term, attempt, max_retry, execute_at_us, started_at_us, payload, \
     callback_url, revision, expiries"
);
pub(crate) const NOTE_CLAIM_SQLITE: &str =
    "insert into claim (id, session, node, lease_until_us, task_ids) values (?1, ?2, ?3, ?4, ?5)";

/// PostgreSQL: the waiting lanes and when each is next due, by the same jumps. What was claimed
/// leaves dead entries at the front of its lane until no transaction can see them any more, and
/// with many nodes there are many: so the front is passed once, and what is found there, the
/// earliest due, is kept.
macro_rules! lanes_due {
    () => {
        "with recursive lane(kind, priority, due_at_us) as ( \
         (select kind, priority, due_at_us from task where due_at_us is not null \
             order by kind, priority, due_at_us limit 1) \
         union all \
         select n.* from lane, lateral ( \
             (select t.kind, t.priority, t.due_at_us from task t where t.due_at_us is not null \
                 and t.kind = lane.kind and t.priority > lane.priority \
                 order by t.priority, t.due_at_us limit 1) \
             union all \
             (select t.kind, t.priority, t.due_at_us from task t where t.due_at_us is not null \
                 and t.kind > lane.kind order by t.kind, t.priority, t.due_at_us limit 1) \
             order by kind, priority limit 1) n) "
    };
}
/// PostgreSQL: all of the above in one statement. `skip locked` lets nodes claim different rows at
/// once instead of queueing behind each other. The lanes of one priority share the slots evenly, so
/// one kind's backlog cannot starve another; `limits` bounds single kinds (see [`crate::lanes`]).
/// A lane is read from its earliest due on: before it, this statement sees nothing alive.
pub(crate) const CLAIM_POSTGRES: &str = concat!(
    lanes_due!(),
    ", ready as materialized ( \
         select l.kind, l.priority, l.due_at_us, coalesce(k.room, $5) as room, \
             k.room is not null as limited, \
             row_number() over (partition by l.kind order by l.priority desc) as lane_number \
         from lane l left join unnest($6::text[], $7::bigint[]) k(kind, room) on k.kind = l.kind \
         where coalesce(k.room, $5) > 0 and l.due_at_us <= $3), \
     share as materialized ( \
         select kind, priority, due_at_us, \
             least(room, greatest($5 / count(*) over (partition by priority), 1)) as room \
         from ready where lane_number = 1 or not limited order by priority desc), \
     picked as materialized ( \
         select p.id from share s, lateral ( \
             select t.id from task t where t.kind = s.kind and t.priority = s.priority \
             and t.due_at_us between s.due_at_us and $3 \
             order by t.due_at_us limit s.room for update skip locked) p \
         limit $5), \
     taken as ( \
         update task t set status = 'RUNNING', due_at_us = null, term = t.term + 1, \
             attempt = t.attempt + 1, claim_id = $1, node = $2, started_at_us = $3, \
             finished_at_us = null, detail = null \
         where t.id = any (array (select id from picked)) returning ",
    claimed_columns!(),
    ", t.priority), \
     noted as ( \
         insert into claim (id, session, node, lease_until_us, task_ids) \
         select $1, $8, $2, $4, array_agg(id) from taken having count(*) > 0) \
     select * from taken"
);
/// PostgreSQL: when the next task of a kind with room is due.
pub(crate) const NEXT_DUE_POSTGRES: &str = concat!(
    lanes_due!(),
    "select min(due_at_us) from lane where kind <> all ($1::text[])"
);

/// Ends an attempt for good: no indexed column changes, so no index is touched.
pub(crate) const FINISH_END_SQLITE: &str = "update task set status = ?3, attempt = ?4, \
     detail = ?5, finished_at_us = ?6 where id = ?1 and term = ?2 and status = 'RUNNING'";
/// Ends an attempt after which the task waits again.
pub(crate) const FINISH_WAIT_SQLITE: &str = "update task set status = ?3, attempt = ?4, \
     detail = ?5, finished_at_us = ?6, execute_at_us = ?7, due_at_us = ?7, expiries = ?8 \
     where id = ?1 and term = ?2 and status = 'RUNNING'";
/// Both in one. PostgreSQL compares values, not column lists, to decide whether an index is
/// touched.
pub(crate) const FINISH_POSTGRES: &str = "update task t set status = u.status, \
     attempt = u.attempt, detail = u.detail, finished_at_us = u.finished_at_us, \
     execute_at_us = u.execute_at_us, due_at_us = u.due_at_us, expiries = u.expiries \
     from unnest($1::bigint[], $2::bigint[], $3::text[], $4::integer[], $5::text[], $6::bigint[], \
     $7::bigint[], $8::bigint[], $9::integer[]) with ordinality u(id, term, status, attempt, detail, \
     finished_at_us, execute_at_us, due_at_us, expiries, position) \
     where t.id = any (array[u.id]) and t.term = u.term and t.status = 'RUNNING' \
     returning u.position";

/// Ends a task that cannot be read, by what needs no reading. It would be claimed again and again
/// otherwise.
pub(crate) const SET_ASIDE: &str = "update task set status = 'FAIL', detail = $1, \
     finished_at_us = $2 where id = $3 and claim_id = $4 and status = 'RUNNING'";

/// A claim whose lease has passed is not revived: another node may be returning its tasks right
/// now.
pub(crate) const EXTEND_SQLITE: &str =
    "update claim set lease_until_us = ?3 where id = ?1 and lease_until_us > ?2";
pub(crate) const EXTEND_POSTGRES: &str = "update claim set lease_until_us = $3 where id = any ($1::bigint[]) and lease_until_us > $2 \
     returning id";

pub(crate) const EXPIRED: &str = "select id, node from claim where lease_until_us <= $1 \
     order by lease_until_us limit $2";
/// SQLite: the list of ids of a claim; empty if it cannot be read, because `json_each` would fail
/// the whole statement.
macro_rules! listed_ids {
    () => {
        "json_each(case when json_valid(c.task_ids) then c.task_ids else '[]' end) j"
    };
}
pub(crate) use listed_ids;
/// What still runs under a claim. The list of ids saves an index on `claim_id`. Where the list
/// cannot be read all tasks are walked over, once: the claim is forgotten then, and what is not
/// found under it would run for ever.
pub(crate) const LEFT_BEHIND_SQLITE: &str = concat!(
    "select ",
    claimed_columns!(),
    " from claim c, ",
    listed_ids!(),
    " join task t on t.id = j.value \
     where c.id = ?1 and t.claim_id = c.id and t.status = 'RUNNING' \
     union all select ",
    claimed_columns!(),
    " from claim c cross join task t \
     where c.id = ?1 and not json_valid(c.task_ids) and t.claim_id = c.id and t.status = 'RUNNING'"
);
pub(crate) const LEFT_BEHIND_POSTGRES: &str = concat!(
    "select ",
    claimed_columns!(),
    " from claim c, unnest(c.task_ids) j(id) join task t on t.id = any (array[j.id]) \
     where c.id = $1 and t.claim_id = c.id and t.status = 'RUNNING'"
);
/// A claim that is forgotten leaves behind which tasks it had (see
/// [`crate::overview::PAST_CLAIMS`]).
pub(crate) const RELEASE_SQLITE: [&str; 2] = [
    "insert into past_claim (claim_id, lease_until_us, task_ids) \
     select id, lease_until_us, task_ids from claim where id = ?1 \
     on conflict (claim_id) do nothing",
    "delete from claim where id = ?1",
];
pub(crate) const RELEASE_POSTGRES: &str = "with gone as ( \
     delete from claim where id = any ($1::bigint[]) returning id, lease_until_us, task_ids) \
     insert into past_claim (claim_id, lease_until_us, task_ids) select * from gone \
     on conflict (claim_id) do nothing";
/// For two days: pages look back one.
pub(crate) const FORGET_PAST: &str = "delete from past_claim where lease_until_us < \
     (select max(lease_until_us) from past_claim) - 172800000000";

/// Claims whose lease has passed, and those of their tasks that cannot be read.
pub(crate) async fn expired(
    session: &dyn Session,
    (now, limit): &(Timestamp, i64),
) -> Result<(Vec<ExpiredClaim>, Vec<Unreadable>)> {
    let passed = values![*now, *limit];
    let claims = session.rows(EXPIRED, &passed, |row| {
        // The name is only for people: one that cannot be read keeps no task.
        Ok((row.get(0)?, row.text(1).unwrap_or_default()))
    });
    let text = session.text(LEFT_BEHIND_SQLITE, LEFT_BEHIND_POSTGRES);
    let (mut expired, mut aside) = (Vec::new(), Vec::new());
    for (claim_id, node) in claims.await? {
        let mut tasks = Vec::new();
        let mut each = |row: &Row<'_>| {
            tasks.extend(read(row, claim_id, &mut aside)?);
            Ok(())
        };
        session.each(text, &[claim_id.0.into()], &mut each).await?;
        expired.push(ExpiredClaim {
            claim_id,
            node,
            tasks,
        });
    }
    Ok((expired, aside))
}

/// Ends rows that cannot be read.
pub(crate) async fn set_aside(
    session: &dyn Session,
    (aside, now): &(Vec<Unreadable>, Timestamp),
) -> Result<()> {
    for task in aside {
        let values = values![&task.why, *now, task.task_id, task.claim_id.0];
        session.execute(SET_ASIDE, &values).await?;
    }
    Ok(())
}
