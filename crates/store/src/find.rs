//! Tasks found by a filter: listed, and counted.
//!
//! A filter without tags walks the table's key from the newest row down; one with tags walks the
//! index of its first tag. What bounds either walk is how many rows it examines.
//!
//! Parameters are those of `task.rs`: in ascending order of their first use.

use almanack_core::{
    store::{
        COUNTED_MAX, CountBy, GROUPS_MAX, Page, Reading, Result, TaskCount, TaskCounts, TaskFilter,
        TaskLine,
    },
    task::{Kind, Status, Task, TaskId},
};

use crate::{
    overview::{internal, line_columns, part},
    row::{self, Listing, Value, listing, most, one_more, values},
    session::Session,
    task::columns,
};

pub(crate) const TAG: &str = "insert into task_tag (tag, task_id) values ($1, $2)";
pub(crate) const UNTAG: &str = "delete from task_tag where tag = $1 and task_id = $2";
/// The same for many.
pub(crate) const TAG_POSTGRES: &str =
    "insert into task_tag (tag, task_id) select * from unnest($1::text[], $2::bigint[])";
pub(crate) const UNTAG_POSTGRES: &str = "delete from task_tag g \
     using unnest($1::text[], $2::bigint[]) u(tag, task_id) \
     where g.tag = u.tag and g.task_id = any (array[u.task_id])";

/// The last row that a page below `$1` examines, with `$2` rows before it. Numbers have gaps, so it
/// is counted, not computed.
pub(crate) const EXAMINED_TO: &str =
    "select id from task where id < $1 order by id desc limit 1 offset $2";
/// The same of the rows that have a tag.
pub(crate) const TAGGED_TO: &str = "select task_id from task_tag where tag = $1 and task_id < $2 \
     order by task_id desc limit 1 offset $3";

/// Whether a text that may be null contains a part that may be unset. Both are lowered.
macro_rules! contains {
    ($text:literal, $part:literal) => {
        concat!(
            "(cast(",
            $part,
            " as text) is null or replace(",
            $text,
            ", ",
            $part,
            ", '') <> ",
            $text,
            ")"
        )
    };
}
/// What a filter says of a row whose number is `$id`. What is not set is null.
macro_rules! fits {
    ($id:literal, $prefix:literal, $detail:literal, $tags:literal) => {
        concat!(
            " where ",
            $id,
            " < $1 and ",
            $id,
            " >= $2 and (cast($3 as text) is null or t.kind = $3) \
             and (cast($4 as text) is null or t.status = $4) \
             and (cast($5 as text) is null or ",
            $prefix,
            ") and (cast($6 as bigint) is null or $6 = case when t.status = 'RUNNING' \
             or t.due_at_us is not null then 1 else 0 end) \
             and (cast($7 as bigint) is null or t.execute_at_us >= $7) \
             and (cast($8 as bigint) is null or t.execute_at_us < $8) and ",
            contains!($detail, "$9"),
            " and (cast($10 as text) is null or ",
            $tags,
            ") and ",
            contains!("lower(t.subject)", "$11"),
            " and (cast($12 as text) is null or replace($12, ' ' || t.id || ' ', '') <> $12) \
             and (cast($13 as bigint) is null \
             or $13 = case when replace($14, ' ' || t.kind || ' ', '') = $14 then 0 else 1 end)"
        )
    };
}
/// SQLite counts a prefix in characters, PostgreSQL knows `starts_with`; `like` would need escapes.
/// All tags of a filter come as one text, as a row has them.
macro_rules! fits_sqlite {
    ($id:literal) => {
        fits!(
            $id,
            "substr(t.subject, 1, length($5)) = $5",
            "lower(t.detail)",
            "not exists (select 1 from json_each('[\"' || replace($10, ' ', '\",\"') || '\"]') j \
             where instr(' ' || coalesce(t.tags, '') || ' ', ' ' || j.value || ' ') = 0)"
        )
    };
}
macro_rules! fits_postgres {
    ($id:literal) => {
        fits!(
            $id,
            "starts_with(t.subject, $5)",
            "lower(t.detail collate \"C\")",
            "string_to_array(coalesce(t.tags, ''), ' ') @> string_to_array($10, ' ')"
        )
    };
}
/// A statement over all rows, and over those of the tag `$15`, for either database: `what` is
/// selected, `join` follows the task, and `end` the conditions. SQLite keeps the order of a `cross
/// join`.
macro_rules! texts {
    ($what:expr, sqlite $sqlite:literal, postgres $postgres:literal, $end:literal, tagged $tagged:literal) => {
        Texts {
            all: [
                concat!(
                    "select ",
                    $what,
                    " from task t",
                    $sqlite,
                    fits_sqlite!("t.id"),
                    $end
                ),
                concat!(
                    "select ",
                    $what,
                    " from task t",
                    $postgres,
                    fits_postgres!("t.id"),
                    $end
                ),
            ],
            tagged: [
                concat!(
                    "select ",
                    $what,
                    " from task_tag g cross join task t on t.id = g.task_id",
                    $sqlite,
                    fits_sqlite!("g.task_id"),
                    " and g.tag = $15",
                    $tagged
                ),
                concat!(
                    "select ",
                    $what,
                    " from task_tag g join task t on t.id = g.task_id",
                    $postgres,
                    fits_postgres!("g.task_id"),
                    " and g.tag = $15",
                    $tagged
                ),
            ],
        }
    };
}
macro_rules! list {
    ($columns:expr) => {
        texts!(
            $columns,
            sqlite " left join claim c on c.id = t.claim_id",
            postgres " left join claim c on c.id = t.claim_id",
            " order by t.id desc limit $15",
            tagged " order by g.task_id desc limit $16"
        )
    };
}
macro_rules! groups {
    ($name:literal, sqlite $sqlite:literal, postgres $postgres:literal) => {
        texts!(
            concat!($name, ", count(*)"),
            sqlite $sqlite,
            postgres $postgres,
            " group by 1 order by 2 desc, 1 limit $15",
            tagged " group by 1 order by 2 desc, 1 limit $16"
        )
    };
}

/// What is decided about is read strictly.
const READABLE: Listing<Task> = listing("task", row::task);

pub(crate) struct Texts {
    pub(crate) all: [&'static str; 2],
    pub(crate) tagged: [&'static str; 2],
}

pub(crate) const LIST: Texts = list!(columns!());
pub(crate) const LIST_BARE: Texts = list!(columns!("cast('null' as text)"));
/// One line per identity.
pub(crate) const LINES: Texts = texts!(
    line_columns!(),
    sqlite "",
    postgres "",
    " and t.is_current order by t.id desc limit $15",
    tagged " and t.is_current order by g.task_id desc limit $16"
);
pub(crate) const COUNT: Texts = texts!("count(*)", sqlite "", postgres "", "", tagged "");
pub(crate) const COUNT_LINES: Texts = texts!(
    "count(*)",
    sqlite "",
    postgres "",
    " and t.is_current",
    tagged " and t.is_current"
);
pub(crate) const BY_KIND: Texts = groups!("t.kind", sqlite "", postgres "");
pub(crate) const BY_STATUS: Texts = groups!("t.status", sqlite "", postgres "");
/// The tags of a row, one by one.
pub(crate) const BY_TAG: Texts = groups!(
    "h.value",
    sqlite " join json_each('[\"' || replace(nullif(t.tags, ''), ' ', '\",\"') || '\"]') h",
    postgres " cross join unnest(string_to_array(t.tags, ' ')) h(value)"
);

impl Texts {
    fn of(&self, session: &dyn Session, filter: &TaskFilter) -> &'static str {
        let [sqlite, postgres] = if filter.tags.is_empty() {
            self.all
        } else {
            self.tagged
        };
        session.text(sqlite, postgres)
    }
}

/// The last row that is examined of `among`; `None` if the walk reaches the end.
async fn examined_to(
    session: &dyn Session,
    filter: &TaskFilter,
    among: usize,
) -> Result<Option<i64>> {
    // One row at least, so that every page gets further.
    let (before, skipped) = (before(filter), most(among.saturating_sub(1)));
    if let Some(tag) = filter.tags.iter().next() {
        let values = values![tag, before, skipped];
        return session.number(TAGGED_TO, &values).await;
    }
    let values = values![before, skipped];
    let to = session.number(EXAMINED_TO, &values).await?;
    Ok(to.filter(|to: &i64| *to > lowest(filter)))
}

/// Nothing from here on is examined: the end of the page before, or what is above the rows asked for.
fn before(filter: &TaskFilter) -> i64 {
    let before = filter.before.map_or(i64::MAX, |id| id.0);
    let highest = filter.ids.iter().max();
    before.min(highest.map_or(i64::MAX, |id| id.0.saturating_add(1)))
}

/// The last row that can fit.
fn lowest(filter: &TaskFilter) -> i64 {
    filter.ids.iter().min().map_or(0, |id| id.0)
}

/// What a filter looks for from `to` on, in the order of its statements.
fn wanted(filter: &TaskFilter, to: Option<i64>) -> Vec<Value<'_>> {
    let tags = (!filter.tags.is_empty()).then(|| filter.tags.as_text());
    let ids = filter.ids.iter().map(|id| format!(" {id} "));
    let mut values = values![
        before(filter),
        to.unwrap_or_else(|| lowest(filter)),
        filter.kind.as_ref().map(Kind::as_str),
        filter.status.map(Status::as_str),
        &filter.subject_prefix,
        filter.live.map(i64::from),
        filter.from,
        filter.to,
        part(filter.error.as_deref()),
        tags,
        part(filter.subject_contains.as_deref()),
        (!filter.ids.is_empty()).then(|| ids.collect::<String>()),
        filter.internal.map(i64::from),
        internal(),
    ];
    values.extend(filter.tags.iter().next().map(Value::from));
    values
}

/// A page, newest first.
pub(crate) async fn page(session: &dyn Session, filter: &TaskFilter) -> Result<Page<Task, TaskId>> {
    let to = if filter.is_empty() {
        None
    } else {
        examined_to(session, filter, filter.examines()).await?
    };
    let mut values = wanted(filter, to);
    values.push(one_more(filter.limit).into());
    let (texts, listed) = match filter.reading {
        Reading::Shown => (LIST, row::TASKS),
        Reading::Changed => (LIST, READABLE),
        Reading::Counted => (LIST_BARE, READABLE),
    };
    let found = session.rows(texts.of(session, filter), &values, |found| {
        Ok((found.get(0)?, listed.read(found)))
    });
    let page = Page::cut(found.await?, filter.limit, to.map(TaskId), |(id, _)| *id);
    Ok(page.filter_map(|(_, task)| task))
}

/// A page of lines, newest first.
pub(crate) async fn lines(session: &dyn Session, filter: &TaskFilter) -> Result<Vec<TaskLine>> {
    let mut values = wanted(filter, searched_to(session, filter).await?);
    values.push(most(filter.limit).into());
    let text = LINES.of(session, filter);
    session.listed(text, &values, row::LINES).await
}

/// How many lines fit, on all pages.
pub(crate) async fn count_lines(session: &dyn Session, filter: &TaskFilter) -> Result<u64> {
    let filter = TaskFilter {
        before: None,
        ..filter.clone()
    };
    let values = wanted(&filter, searched_to(session, &filter).await?);
    let found = session.number(COUNT_LINES.of(session, &filter), &values);
    Ok(u64::try_from(found.await?.unwrap_or(0)).unwrap_or(0))
}

/// The last row that is searched for lines, from whichever page.
async fn searched_to(session: &dyn Session, filter: &TaskFilter) -> Result<Option<i64>> {
    let first = TaskFilter {
        before: None,
        ..filter.clone()
    };
    examined_to(session, &first, filter.examines()).await
}

/// How many fit, in all and by group.
pub(crate) async fn count(
    session: &dyn Session,
    (filter, by): &(TaskFilter, Option<CountBy>),
) -> Result<TaskCounts> {
    let to = examined_to(session, filter, COUNTED_MAX).await?;
    let mut values = wanted(filter, to);
    let tasks = session.number(COUNT.of(session, filter), &values).await?;
    let by = match by {
        None => None,
        Some(CountBy::Kind) => Some(BY_KIND),
        Some(CountBy::Status) => Some(BY_STATUS),
        Some(CountBy::Tag) => Some(BY_TAG),
    };
    values.push(most(GROUPS_MAX).into());
    let groups = match by {
        Some(texts) => {
            let text = texts.of(session, filter);
            session.rows(text, &values, counted).await?
        }
        None => Vec::new(),
    };
    let exact = match to {
        None => true,
        Some(to) => !is_more(session, filter, to).await?,
    };
    Ok(TaskCounts {
        tasks: u64::try_from(tasks.unwrap_or(0)).unwrap_or(0),
        exact,
        groups,
    })
}

/// Whether a row follows the last one that was examined.
async fn is_more(session: &dyn Session, filter: &TaskFilter, to: i64) -> Result<bool> {
    let rest = TaskFilter {
        before: Some(TaskId(to)),
        ..filter.clone()
    };
    Ok(examined_to(session, &rest, 1).await?.is_some())
}

fn counted(row: &row::Row<'_>) -> Result<TaskCount> {
    Ok(TaskCount {
        name: row.get(0)?,
        tasks: row.get(1)?,
    })
}
