//! Statements about claims: taking tasks, and what is left of dead nodes.

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
         t.started_at_us, t.payload, t.callback_url, t.revision, t.expiries, \
         t.expires_at_us, t.expires_after_s, t.call_options"
    };
}

pub(crate) mod postgres;

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
/// SQLite: takes what a search finds.
macro_rules! take_sqlite {
    ($found:literal) => {
        concat!(
            "update task as t set status = 'RUNNING', due_at_us = null, term = term + 1, \
             attempt = attempt + 1, claim_id = ?1, node = ?2, started_at_us = ?3, \
             finished_at_us = null, detail = null where id in (",
            $found,
            // `returning` of SQLite knows the table by its name only.
            ") returning id, subject, kind, term, attempt, max_retry, execute_at_us, \
             started_at_us, payload, callback_url, revision, expiries, expires_at_us, \
             expires_after_s, call_options"
        )
    };
}
/// SQLite: takes the earliest due tasks of one lane.
pub(crate) const TAKE_SQLITE: &str = take_sqlite!(
    "select id from task where kind = ?4 and priority = ?5 and due_at_us <= ?3 \
     order by due_at_us limit ?6"
);
/// SQLite: the same of one key of a lane.
pub(crate) const TAKE_KEY_SQLITE: &str = take_sqlite!(
    "select id from task indexed by task_share where kind = ?4 and priority = ?5 \
     and share_key = ?7 and due_at_us <= ?3 order by due_at_us limit ?6"
);
/// SQLite: the next key of a lane from one on, and when its first task is due.
pub(crate) const KEY_FROM_SQLITE: &str = "select share_key, due_at_us \
     from task indexed by task_share where kind = ?1 and priority = ?2 and share_key >= ?3 \
     and due_at_us is not null order by share_key, due_at_us limit 1";
/// SQLite: the same, behind one.
pub(crate) const KEY_AFTER_SQLITE: &str = "select share_key, due_at_us \
     from task indexed by task_share where kind = ?1 and priority = ?2 and share_key > ?3 \
     and due_at_us is not null order by share_key, due_at_us limit 1";
/// SQLite: the key of a task.
pub(crate) const KEY_OF_SQLITE: &str = "select share_key from task where id = ?1";
/// SQLite: takes waiting tasks that have expired, of whatever kind.
pub(crate) const TAKE_EXPIRED_SQLITE: &str = take_sqlite!(
    "select id from task where expires_at_us <= ?3 and expires_at_us is not null \
     and due_at_us is not null order by expires_at_us limit ?4"
);
/// SQLite: the same lanes of some kinds only, found by their names instead of by jumping: the others
/// cost nothing. A kind has at most ten lanes.
pub(crate) const LANES_OF_KINDS_SQLITE: &str = "select kind, priority, due_at_us from ( \
     select k.value as kind, p.column1 as priority, (select min(t.due_at_us) from task t \
         where t.kind = k.value and t.priority = p.column1 and t.due_at_us is not null) as due_at_us \
     from json_each(?1) k cross join (values (0), (1), (2), (3), (4), (5), (6), (7), (8), (9)) p) \
     where due_at_us is not null";
pub(crate) const NOTE_CLAIM_SQLITE: &str =
    "insert into claim (id, session, node, lease_until_us, task_ids) values (?1, ?2, ?3, ?4, ?5)";

/// Ends a task that cannot be read, by what needs no reading. It would be claimed again and again
/// otherwise.
pub(crate) const SET_ASIDE: &str = "update task set status = 'FAIL', detail = $1, \
     finished_at_us = $2 where id = $3 and claim_id = $4 and status = 'RUNNING'";

/// A claim whose lease has passed is not revived: another node may be returning its tasks right
/// now.
pub(crate) const EXTEND_SQLITE: &str = "update claim set lease_until_us = max(lease_until_us, ?3) \
     where id = ?1 and lease_until_us > ?2";
pub(crate) const EXTEND_POSTGRES: &str = "update claim \
     set lease_until_us = greatest(lease_until_us, $3) \
     where id = any ($1::bigint[]) and lease_until_us > $2 returning id";

/// A task that a worker names: what [`crate::row::taken_task`] reads. Nothing needs the payload.
macro_rules! taken {
    ($ids:literal, $session:literal) => {
        concat!(
            "select t.id, t.subject, t.kind, t.term, t.attempt, t.max_retry, t.execute_at_us, \
             coalesce(t.started_at_us, t.created_at_us), 'null', t.callback_url, t.revision, \
             t.expiries, t.expires_at_us, t.expires_after_s, t.call_options, t.status, c.id \
             from task t left join claim c on c.id = t.claim_id \
             and t.status = 'RUNNING' and c.session = ",
            $session,
            " where t.id ",
            $ids
        )
    };
}
pub(crate) const TAKEN_SQLITE: &str = taken!("= ?1", "?2");
pub(crate) const TAKEN_POSTGRES: &str = taken!("= any ($1::bigint[])", "$2");

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
/// The same for a claim under which nothing runs. Nothing will ever again: a claim gets its tasks as
/// it is made.
pub(crate) const RUNS_UNDER_SQLITE: &str = concat!(
    "select 1 from claim c, ",
    listed_ids!(),
    " join task t on t.id = j.value \
     where c.id = ?1 and t.claim_id = c.id and t.status = 'RUNNING' limit 1"
);
pub(crate) const RELEASE_ENDED_POSTGRES: &str = "with gone as ( \
     delete from claim c where id = any ($1::bigint[]) and not exists ( \
         select 1 from unnest(c.task_ids) j(id) join task t on t.id = any (array[j.id]) \
         where t.claim_id = c.id and t.status = 'RUNNING') \
     returning id, lease_until_us, task_ids) \
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
