//! Statements that end attempts. Each is fenced by the term of its claim.

/// Ends an attempt for good: no indexed column changes, so no index is touched.
pub(crate) const FINISH_END_SQLITE: &str = "update task set status = ?3, attempt = ?4, \
     detail = ?5, finished_at_us = ?6 where id = ?1 and term = ?2 and status = 'RUNNING'";
/// Ends an attempt after which the task waits again.
pub(crate) const FINISH_WAIT_SQLITE: &str = "update task set status = ?3, attempt = ?4, \
     detail = ?5, finished_at_us = ?6, execute_at_us = ?7, due_at_us = ?7, expiries = ?8, \
     expires_at_us = ?9 \
     where id = ?1 and term = ?2 and status = 'RUNNING'";
/// Ends a task for good that was taken and not tried: it has no last attempt.
pub(crate) const FINISH_UNTRIED_SQLITE: &str = "update task set status = ?3, attempt = ?4, \
     detail = ?5, finished_at_us = ?6, started_at_us = null \
     where id = ?1 and term = ?2 and status = 'RUNNING'";
/// Most attempts succeed, and then nothing changes but this. A list costs PostgreSQL about as much as
/// anything else that it does for a row here, so these carry no more than they need.
pub(crate) const SUCCEED_POSTGRES: &str = "update task t set status = 'SUCCESS', \
     detail = u.detail, finished_at_us = u.finished_at_us \
     from unnest($1::bigint[], $2::bigint[], $3::text[], $4::bigint[]) with ordinality \
     u(id, term, detail, finished_at_us, position) where t.id = any (array[u.id]) \
     and t.term = u.term and t.status = 'RUNNING' returning u.position";
/// Any endings. PostgreSQL compares values, not column lists, to decide whether an index is touched.
macro_rules! finish_postgres {
    ($sets:literal, $lists:literal, $named:literal) => {
        concat!(
            "update task t set status = u.status, \
             attempt = u.attempt, detail = u.detail, finished_at_us = u.finished_at_us, \
             execute_at_us = u.execute_at_us, due_at_us = u.due_at_us, expiries = u.expiries",
            $sets,
            " from unnest($1::bigint[], $2::bigint[], $3::text[], $4::integer[], $5::text[], \
             $6::bigint[], $7::bigint[], $8::bigint[], $9::integer[]",
            $lists,
            ") with ordinality u(id, term, status, attempt, detail, finished_at_us, \
             execute_at_us, due_at_us, expiries, ",
            $named,
            "position) where t.id = any (array[u.id]) and t.term = u.term \
             and t.status = 'RUNNING' returning u.position"
        )
    };
}
pub(crate) const FINISH_POSTGRES: &str = finish_postgres!("", "", "");
/// The same where some of the tasks expire: the others need not carry the lists.
pub(crate) const FINISH_EXPIRING_POSTGRES: &str = finish_postgres!(
    ", expires_at_us = u.expires_at_us, \
     started_at_us = case when u.tried then t.started_at_us end",
    ", $10::bigint[], $11::boolean[]",
    "expires_at_us, tried, "
);
