//! Statements for pages: lists across tasks, claims, ledgers and histories. None reads payloads.
//!
//! Where no index leads to the answer, the newest rows by number are searched and no others: a walk
//! down the primary key from the end, whose cost is bounded by `among`, not by the table. Numbers
//! have gaps (rows are pruned, inserts lose), so where the walk ends is counted, not computed.
//!
//! Parts of a text are found as in `source.rs`, with `replace`, which knows no wildcards. What
//! PostgreSQL keeps in the database's own collation is lowered as ASCII there by saying so; SQLite
//! does nothing else, and knows no "C".

use std::{cmp::Reverse, collections::BTreeMap};

use almanack_core::{
    reserved::internal_kinds,
    store::{
        Activity, ActivityFilter, ClaimLine, Coming, EXAMINED_MAX, Kinds, OverviewStore, Result,
        SlotLine, StatusCount, TaskFilter, TaskLine,
    },
    task::TaskId,
};
use async_trait::async_trait;
use jiff::Timestamp;

use crate::{
    activity, claim, coming,
    database::{
        Access::{Moment, Read},
        Database, SqlStore,
    },
    find,
    row::{self, listing, most, values},
    session::{Session, asked},
};

/// What [`crate::row::task_line`] reads.
macro_rules! line_columns {
    () => {
        "t.id, t.subject, t.kind, t.status, t.execute_at_us, t.due_at_us, t.attempt, t.max_retry, \
         t.origin, t.node, t.detail, t.created_at_us, t.started_at_us, t.finished_at_us"
    };
}
/// Whether a task's kind is none of a list in one text, each between spaces; null for no list.
macro_rules! not_of {
    ($kinds:literal) => {
        concat!(
            "(cast(",
            $kinds,
            " as text) is null or replace(",
            $kinds,
            ", ' ' || t.kind || ' ', '') = ",
            $kinds,
            ")"
        )
    };
}
pub(crate) use {line_columns, not_of};

/// The current rows among the newest `$1`.
macro_rules! newest_current {
    () => {
        " from task t where t.id > coalesce( \
         (select n.id from task n order by n.id desc limit 1 offset $1), 0) and t.is_current"
    };
}
pub(crate) const COUNT_STATUSES: &str = concat!(
    "select t.status, count(*)",
    newest_current!(),
    " and ",
    not_of!("$2"),
    " group by t.status"
);

/// Current rows by subject, from `$1` to before `$2`. What is left out is left out by what the index
/// holds, before a row is read.
pub(crate) const SUBJECTS: &str = concat!(
    "select ",
    line_columns!(),
    " from (select e.id from (select n.id, n.subject, n.kind from task n \
     where n.is_current and n.subject >= $1 and n.subject < $2 \
     order by n.subject, n.kind limit $3) e \
     where replace(cast($4 as text), ' ' || e.kind || ' ', '') = $4 \
     order by e.subject, e.kind limit $5) w join task t on t.id = w.id \
     order by t.subject, t.kind"
);

/// What one lane has to do next.
pub(crate) const UPCOMING: &str = concat!(
    "select ",
    line_columns!(),
    " from task t where t.kind = $1 and t.priority = $2 and t.due_at_us >= $3 \
     and t.due_at_us < $4 order by t.due_at_us limit $5"
);
/// The lanes of [`UPCOMING`].
pub(crate) const LANES: &str = claim::LANES;

/// The tasks of claims, which are few. `cross join` keeps SQLite from walking the tasks and asking
/// for their claims.
macro_rules! under_sqlite {
    ($claims:literal) => {
        concat!(
            "select ",
            line_columns!(),
            " from ",
            $claims,
            " cross join ",
            claim::listed_ids!(),
            " cross join task t on t.id = j.value where t.claim_id = c.claim_id"
        )
    };
}
macro_rules! under_postgres {
    ($claims:literal) => {
        concat!(
            "select ",
            line_columns!(),
            " from ",
            $claims,
            " cross join unnest(c.task_ids) j(id) join task t on t.id = any (array[j.id]) \
             where t.claim_id = c.claim_id"
        )
    };
}
macro_rules! running {
    () => {
        " and t.status = 'RUNNING' order by t.started_at_us, t.id limit $1"
    };
}
pub(crate) const RUNNING_SQLITE: &str = concat!(
    under_sqlite!("(select id as claim_id, task_ids from claim) c"),
    running!()
);
pub(crate) const RUNNING_POSTGRES: &str = concat!(
    under_postgres!("(select id as claim_id, task_ids from claim) c"),
    running!()
);

/// What ended under claims that are not over, or not yet forgotten.
pub(crate) const ENDED_SQLITE: &str = concat!(
    under_sqlite!("(select id as claim_id, task_ids from claim) c"),
    " and t.finished_at_us >= ?1 and t.finished_at_us < ?2"
);
pub(crate) const ENDED_POSTGRES: &str = concat!(
    under_postgres!("(select id as claim_id, task_ids from claim) c"),
    " and t.finished_at_us >= $1 and t.finished_at_us < $2"
);
/// The claims that are over and may have had tasks that ended since, latest first; [`Latest`] says
/// how far to go.
pub(crate) const PAST_CLAIMS: &str = "select claim_id, lease_until_us from past_claim \
     where lease_until_us >= $1 order by lease_until_us desc limit $2";
/// At most so many are looked at: under most of them may have run what was claimed again since.
pub(crate) const PAST_CLAIMS_MAX: i64 = 20_000;
/// What ended under one of them, or under some.
pub(crate) const ENDED_PAST_SQLITE: &str = concat!(
    under_sqlite!("past_claim c"),
    " and c.claim_id = ?3 and t.finished_at_us >= ?1 and t.finished_at_us < ?2"
);
pub(crate) const ENDED_PAST_POSTGRES: &str = concat!(
    under_postgres!("past_claim c"),
    " and c.claim_id = any ($3::bigint[]) and t.finished_at_us >= $1 and t.finished_at_us < $2"
);
/// What [`crate::row::claim_line`] reads.
macro_rules! claims {
    ($tasks:literal) => {
        concat!(
            "select id, node, session, lease_until_us, ",
            $tasks,
            " from claim order by lease_until_us, id limit $1"
        )
    };
}
/// A list that cannot be read has no length, which leaves its claim out and no other.
pub(crate) const CLAIMS_SQLITE: &str =
    claims!("case when json_valid(task_ids) then json_array_length(task_ids) end");
pub(crate) const CLAIMS_POSTGRES: &str = claims!("cast(cardinality(task_ids) as bigint)");

/// What [`crate::row::slot`] reads, and the schedule's number behind it.
macro_rules! slot_columns {
    () => {
        "slot_at_us, last_at_us, slots, verdict, detail, revision, decided_at_us, schedule_id"
    };
}
/// Slots that end in the window, and those of several that reach beyond it; the schedule's name
/// comes last.
pub(crate) const SLOTS_BETWEEN: &str = concat!(
    "select w.slot_at_us, w.last_at_us, w.slots, w.verdict, w.detail, w.revision, \
     w.decided_at_us, s.name from (select * from (select ",
    slot_columns!(),
    " from slot where last_at_us >= $1 and last_at_us < $2 \
     order by last_at_us desc limit $3) within union all select * from (select ",
    slot_columns!(),
    " from slot where last_at_us >= $2 and slots > 1 and slot_at_us < $2 \
     order by last_at_us desc limit $3) beyond) w \
     join schedule s on s.schedule_id = w.schedule_id \
     order by w.last_at_us desc, w.slot_at_us desc, w.schedule_id limit $3"
);

/// The latest ends, collected claim by claim. A claim's tasks end before its lease does, so that
/// claims in the order of their leases need not be looked at beyond the one that cannot matter any
/// more.
pub(crate) struct Latest {
    limit: usize,
    /// By their ends, latest first. A claim that is forgotten meanwhile is met twice; its tasks are
    /// not.
    lines: BTreeMap<Reverse<(Option<Timestamp>, TaskId)>, TaskLine>,
}

impl Latest {
    pub(crate) fn new(limit: usize) -> Self {
        let lines = BTreeMap::new();
        Self { limit, lines }
    }

    pub(crate) fn add(&mut self, lines: Vec<TaskLine>) {
        for line in lines {
            self.lines
                .insert(Reverse((line.finished_at, line.id)), line);
            if self.lines.len() > self.limit {
                self.lines.pop_last();
            }
        }
    }

    /// Whether something that ended before `lease_until` could still be among them.
    pub(crate) fn has_room(&self, lease_until: Timestamp) -> bool {
        let earliest = self.lines.last_key_value();
        let earliest = earliest.and_then(|(Reverse((finished_at, _)), _)| *finished_at);
        self.lines.len() < self.limit || earliest.is_some_and(|earliest| earliest < lease_until)
    }

    pub(crate) fn into_lines(self) -> Vec<TaskLine> {
        self.lines.into_values().collect()
    }
}

/// The first of what the lanes answered: no more than `limit` of each kind, soonest first.
pub(crate) fn soonest(mut lines: Vec<TaskLine>, limit: usize) -> Vec<TaskLine> {
    let by_kind = |line: &TaskLine| (line.identity.kind.clone(), line.due_at, line.id);
    lines.sort_by_cached_key(by_kind);
    let of_kinds = lines.chunk_by(|a, b| a.identity.kind == b.identity.kind);
    let first = of_kinds.flat_map(|of_kind| of_kind.iter().take(limit).cloned());
    let mut first: Vec<TaskLine> = first.collect();
    first.sort_by_key(|line| (line.due_at, line.id));
    first
}

/// How many of each list are read for a page: at the instant where the page before ended, all that
/// was shown sorts before what was not.
pub(crate) fn reach(filter: &ActivityFilter) -> usize {
    let shown = filter.after.map_or(0, |cursor| cursor.listed);
    filter.limit.saturating_add(shown)
}

/// The page that `filter` asks for of what was found. Edits of one instant stay as they were found:
/// nothing in them distinguishes them for certain.
pub(crate) fn newest(mut found: Vec<Activity>, filter: &ActivityFilter) -> Vec<Activity> {
    found.sort_by_key(|activity| {
        let about = match activity {
            Activity::Task { decision, .. } => Some((decision.id.task_id.0, decision.id.number)),
            Activity::Schedule { .. } => None,
        };
        Reverse((activity.at(), about))
    });
    let shown = filter.after.map_or(0, |cursor| {
        let shown = found.iter().take(cursor.listed);
        shown.take_while(|line| line.at() == cursor.at).count()
    });
    found.into_iter().skip(shown).take(filter.limit).collect()
}

/// A part of a text as the statements compare it; an empty one is in every text.
pub(crate) fn part(part: Option<&str>) -> Option<String> {
    let part = part?.to_ascii_lowercase();
    (!part.is_empty()).then_some(part)
}

#[cfg(test)]
mod tests;

#[async_trait]
impl<D: Database> OverviewStore for SqlStore<D> {
    async fn search_tasks(&self, filter: &TaskFilter) -> Result<Vec<TaskLine>> {
        self.ask(Read, "search tasks", filter.clone(), asked!(find::lines))
            .await
    }

    async fn find_subjects(&self, prefix: &str, limit: usize) -> Result<Vec<TaskLine>> {
        // Behind everything that begins so: no character is greater.
        let end = format!("{prefix}{}", char::MAX);
        let internal = left_out(Kinds::Business);
        let values = values![prefix, end, most(EXAMINED_MAX), internal, most(limit)];
        let found = self.listed("find subjects", SUBJECTS, values, row::LINES);
        found.await
    }

    async fn count_found(&self, filter: &TaskFilter) -> Result<u64> {
        let args = filter.clone();
        self.ask(Read, "count tasks found", args, asked!(find::count_lines))
            .await
    }

    async fn count_statuses(&self, among: usize, kinds: Kinds) -> Result<Vec<StatusCount>> {
        let values = values![most(among), left_out(kinds)];
        let listed = listing("task", row::status_count);
        let counts = self.listed("count statuses", COUNT_STATUSES, values, listed);
        let mut counts = counts.await?;
        counts.sort_by_key(|count| count.status);
        Ok(counts)
    }

    async fn load_finished(
        &self,
        from: Timestamp,
        until: Timestamp,
        limit: usize,
    ) -> Result<Vec<TaskLine>> {
        self.0.load_finished(from, until, limit).await
    }

    async fn load_upcoming(
        &self,
        from: Timestamp,
        until: Timestamp,
        limit: usize,
    ) -> Result<Vec<TaskLine>> {
        let args = (from, until, limit);
        self.ask(Read, "load upcoming tasks", args, asked!(upcoming))
            .await
    }

    async fn load_coming(&self, from: Timestamp, until: Timestamp, limit: usize) -> Result<Coming> {
        let args = (from, until, limit);
        self.ask(Read, "count coming tasks", args, asked!(coming::load))
            .await
    }

    async fn load_running(&self, limit: usize) -> Result<Vec<TaskLine>> {
        let text = D::text(RUNNING_SQLITE, RUNNING_POSTGRES);
        let values = values![most(limit)];
        self.listed("load running tasks", text, values, row::LINES)
            .await
    }

    async fn load_claims(&self, limit: usize) -> Result<Vec<ClaimLine>> {
        let text = D::text(CLAIMS_SQLITE, CLAIMS_POSTGRES);
        let listed = listing("claim", row::claim_line);
        self.listed("load claims", text, values![most(limit)], listed)
            .await
    }

    async fn load_slots_between(
        &self,
        from: Timestamp,
        until: Timestamp,
        limit: usize,
    ) -> Result<Vec<SlotLine>> {
        let values = values![from, until, most(limit)];
        let listed = listing("slot", row::slot_line);
        self.listed("load slots", SLOTS_BETWEEN, values, listed)
            .await
    }

    async fn load_activity(&self, filter: &ActivityFilter) -> Result<Vec<Activity>> {
        let found = self.ask(
            Moment,
            "load activity",
            filter.clone(),
            asked!(activity::load),
        );
        Ok(newest(found.await?, filter))
    }
}

/// The kinds that a list leaves out, as [`not_of`] reads them.
pub(crate) fn left_out(kinds: Kinds) -> Option<String> {
    (kinds == Kinds::Business).then(internal)
}

/// The internal kinds in one text, each between spaces.
pub(crate) fn internal() -> String {
    internal_kinds().flat_map(|kind| [" ", kind, " "]).collect()
}

async fn upcoming(
    session: &dyn Session,
    (from, until, limit): &(Timestamp, Timestamp, usize),
) -> Result<Vec<TaskLine>> {
    let lanes = session.rows(LANES, &[], |row| Ok((row.text(0)?, row.get::<i32>(1)?)));
    let mut found = Vec::new();
    for (kind, priority) in lanes.await? {
        let values = values![kind, priority, *from, *until, most(*limit)];
        let waiting = session.listed(UPCOMING, &values, row::LINES);
        found.extend(waiting.await?);
    }
    Ok(soonest(found, *limit))
}
