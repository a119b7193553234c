//! Statements about what was decided lately: creations and changes of tasks, and edits of
//! schedules.
//!
//! The newest of each are searched, by number or by time, and what a filter leaves of them is
//! sorted; the three lists are then merged (see [`crate::overview::newest`]), so their orders must
//! agree with its order. `$2` is the instant at which the page before ended; what was reported of
//! it already is left out after merging.

use almanack_core::{
    history::creation,
    store::{Activity, ActivityFilter, Result},
    task::Kind,
};

use crate::{
    overview::{left_out, not_of, part, reach},
    row::{self, Value, listing, micros, most, values},
    session::Session,
};

/// Who: `$3` is a part of the name that may be unset; `$4` is 1 where the deeds of schedules are
/// left out.
macro_rules! by {
    ($origin:literal, $lower:literal) => {
        concat!(
            "(cast($3 as text) is null or replace(",
            $lower,
            ", $3, '') <> ",
            $lower,
            ") and (cast($4 as bigint) = 0 or substr(",
            $origin,
            ", 1, 9) <> 'schedule ')"
        )
    };
}
/// About which task: part of its subject, its kind, kinds it is none of.
macro_rules! about_task {
    () => {
        concat!(
            "(cast($5 as text) is null or replace(lower(t.subject), $5, '') <> lower(t.subject)) \
             and (cast($6 as text) is null or t.kind = $6) and ",
            not_of!("$7")
        )
    };
}

/// What [`crate::row::task`] reads, without payloads: a row is the decision that wrote it.
macro_rules! creations {
    ($lower:literal) => {
        concat!(
            "select t.id, t.subject, t.kind, t.status, t.is_current, t.execute_at_us, t.due_at_us, \
             t.priority, t.attempt, t.max_retry, t.term, t.revision, t.decisions, \
             t.replaces_task_id, t.created_at_us, t.created_execute_at_us, t.started_at_us, \
             t.finished_at_us, t.origin, t.node, t.callback_url, t.detail, 'null', \
             cast(null as bigint), t.expires_at_us, t.expires_after_s, t.call_options from task t where t.id > coalesce( \
             (select n.id from task n order by n.id desc limit 1 offset $1), 0) \
             and t.created_at_us <= $2 and ",
            by!("t.origin", $lower),
            " and ",
            about_task!(),
            " order by t.created_at_us desc, t.id desc limit $8"
        )
    };
}
pub(crate) const CREATIONS_SQLITE: &str = creations!("lower(t.origin)");
pub(crate) const CREATIONS_POSTGRES: &str = creations!("lower(t.origin collate \"C\")");

/// What [`crate::row::decision`] reads; the identity comes last.
macro_rules! changes {
    ($lower:literal) => {
        concat!(
            "select d.task_id, d.number, d.decided_at_us, d.origin, d.rule, d.old_execute_at_us, \
             d.execute_at_us, d.revision, d.new_task_id, d.requested, d.requested_execute_at_us, \
             d.requested_revision, d.times, d.last_at_us, t.subject, t.kind from \
             (select * from decision order by decided_at_us desc limit $1) d \
             join task t on t.id = d.task_id where d.decided_at_us <= $2 and ",
            by!("d.origin", $lower),
            " and ",
            about_task!(),
            " order by d.decided_at_us desc, d.task_id desc, d.number desc limit $8"
        )
    };
}
pub(crate) const CHANGES_SQLITE: &str = changes!("lower(d.origin)");
pub(crate) const CHANGES_POSTGRES: &str = changes!("lower(d.origin collate \"C\")");

/// What [`crate::row::edit`] reads; the schedule's name comes last.
macro_rules! edits {
    ($lower:literal) => {
        concat!(
            "select e.revision, e.edited, e.by_whom, e.note, e.definition, e.at_us, s.name from \
             (select * from schedule_edit order by at_us desc limit $1) e \
             join schedule s on s.schedule_id = e.schedule_id where e.at_us <= $2 and ",
            by!("e.by_whom", $lower),
            " and (cast($5 as text) is null or replace(lower(s.name), $5, '') <> lower(s.name)) \
             order by e.at_us desc, e.schedule_id desc, e.version desc limit $6"
        )
    };
}
pub(crate) const EDITS_SQLITE: &str = edits!("lower(e.by_whom)");
pub(crate) const EDITS_POSTGRES: &str = edits!("lower(e.by_whom collate \"C\")");

/// What happened to tasks and, where no kind is asked for, to schedules; in no order.
pub(crate) async fn load(session: &dyn Session, filter: &ActivityFilter) -> Result<Vec<Activity>> {
    let mut found = of_tasks(session, filter).await?;
    if filter.kind.is_none() {
        found.extend(of_schedules(session, filter).await?);
    }
    Ok(found)
}

/// What all statements are asked with first.
fn wanted(filter: &ActivityFilter) -> Vec<Value<'_>> {
    values![
        most(filter.among),
        filter.after.map_or(i64::MAX, |cursor| micros(cursor.at)),
        part(filter.by.as_deref()),
        filter.by_people,
        part(filter.containing.as_deref()),
    ]
}

/// Creations and changes of tasks.
async fn of_tasks(session: &dyn Session, filter: &ActivityFilter) -> Result<Vec<Activity>> {
    let mut values = wanted(filter);
    let kind = filter.kind.as_ref().map(Kind::as_str);
    values.extend(values![kind, left_out(filter.kinds), most(reach(filter))]);
    let text = session.text(CHANGES_SQLITE, CHANGES_POSTGRES);
    let changes = session.listed(text, &values, listing("decision", row::change));
    let mut found = changes.await?;
    let text = session.text(CREATIONS_SQLITE, CREATIONS_POSTGRES);
    let created = session.listed(text, &values, row::TASKS).await?;
    found.extend(created.into_iter().map(|task| Activity::Task {
        decision: creation(&task),
        identity: task.identity,
    }));
    Ok(found)
}

/// What people did to schedules.
async fn of_schedules(session: &dyn Session, filter: &ActivityFilter) -> Result<Vec<Activity>> {
    let mut values = wanted(filter);
    values.extend(values![most(reach(filter))]);
    let text = session.text(EDITS_SQLITE, EDITS_POSTGRES);
    let edits = session.listed(text, &values, listing("schedule_edit", row::schedule_edit));
    edits.await
}
