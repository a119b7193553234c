//! Statements about entries, and which of them may go.
//!
//! Entries are written and deleted only by the writer that got their source's row in the same
//! transaction, so what was read of a source's entries holds as long as its version does.
//!
//! What searches find is in `search.rs`.

use std::collections::BTreeSet;

use almanack_core::{
    source::{
        SourceId,
        entry::{Entry, key_hash},
    },
    store::{EntryFilter, EntryRetention, Page, Result},
};

use crate::{
    category::in_folder,
    row::{self, Row, examined, micros, one_more, readable, values},
    session::Session,
};

/// What [`crate::row::entry`] reads.
macro_rules! columns {
    () => {
        "e.id, e.source_id, e.key, e.seen_at_us, e.link, e.title, e.published_at_us, e.author, \
         e.summary, e.content, e.enclosures, e.categories, e.revision, e.updated_at_us"
    };
}
/// How many those are.
const COLUMNS: usize = 14;

pub(crate) mod search;

macro_rules! written {
    () => {
        "source_id, key, seen_at_us, link, title, published_at_us, author, summary, content, \
         link_hash, enclosures, categories, words"
    };
}

/// An entry that the source has stays as it is.
pub(crate) const INSERT_SQLITE: &str = concat!(
    "insert into entry (",
    written!(),
    ") values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13) \
     on conflict (source_id, key) do nothing"
);
pub(crate) const INSERT_POSTGRES: &str = concat!(
    "insert into entry (",
    written!(),
    ") select * from unnest($1::bigint[], $2::text[], $3::bigint[], $4::text[], $5::text[], \
     $6::bigint[], $7::text[], $8::text[], $9::text[], $10::bigint[], $11::text[], $12::text[], \
     $13::text[]) on conflict (source_id, key) do nothing"
);

/// What [`crate::row::known_entry`] reads.
macro_rules! known {
    () => {
        "id, key, link_hash, title, published_at_us, revision, updated_at_us"
    };
}
pub(crate) const KNOWN_BY_KEY_SQLITE: &str = concat!(
    "select ",
    known!(),
    " from entry where source_id = ?1 and key = ?2"
);
pub(crate) const KNOWN_BY_LINK_SQLITE: &str = concat!(
    "select ",
    known!(),
    " from entry where source_id = ?1 and link_hash = ?2 order by id desc limit ?3"
);
/// The same in one statement; an entry that has both comes twice. The `limit` keeps the planner from
/// reading all of the source's entries.
pub(crate) const KNOWN_POSTGRES: &str = concat!(
    "select ",
    known!(),
    " from unnest($2::text[]) u(named) cross join lateral (select * from entry e \
     where e.source_id = $1 and e.key = u.named limit 1) keyed union all select ",
    known!(),
    " from unnest($3::bigint[]) u(linked) cross join lateral (select * from entry e \
     where e.source_id = $1 and e.link_hash = u.linked order by e.id desc limit $4) linked"
);

/// Gives an entry another key, unless one of the source's has it: a key is never doubled.
pub(crate) const RENEW_SQLITE: &str = "update or ignore entry set key = ?3 \
     where id = ?1 and source_id = ?2";
pub(crate) const RENEW_POSTGRES: &str = "update entry e set key = u.key \
     from unnest($1::bigint[], $2::bigint[], $3::text[]) u(id, source_id, key) \
     where e.id = u.id and e.source_id = u.source_id and not exists \
     (select 1 from entry x where x.source_id = u.source_id and x.key = u.key)";

/// An edit. When it was published does not change by it, and a text that was there before, fetched
/// or shown in full, is not given up for none. The keeper finds new words for what it is now.
pub(crate) const EDIT_SQLITE: &str = "update entry set words = null, updated_at_us = ?3, link = ?4, title = ?5, \
     published_at_us = coalesce(published_at_us, ?6), author = ?7, summary = ?8, \
     content = coalesce(?9, content), link_hash = ?10, enclosures = ?11, categories = ?12, \
     revision = revision + 1 where id = ?1 and source_id = ?2";
pub(crate) const EDIT_POSTGRES: &str = "update entry e set words = null, updated_at_us = u.updated_at_us, \
     link = u.link, title = u.title, \
     published_at_us = coalesce(e.published_at_us, u.published_at_us), author = u.author, \
     summary = u.summary, content = coalesce(u.content, e.content), link_hash = u.link_hash, \
     enclosures = u.enclosures, categories = u.categories, revision = e.revision + 1 \
     from unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::text[], $5::text[], $6::bigint[], \
     $7::text[], $8::text[], $9::text[], $10::bigint[], $11::text[], $12::text[]) \
     u(id, source_id, updated_at_us, link, title, published_at_us, author, summary, content, \
     link_hash, enclosures, categories) where e.id = u.id and e.source_id = u.source_id";

/// The last row that a page below `$1` examines, with `$2` rows before it.
pub(crate) const EXAMINED_TO: &str =
    "select id from entry where id < $1 order by id desc limit 1 offset $2";
/// The same among one source's.
pub(crate) const EXAMINED_TO_OF: &str = "select id from entry where source_id = $1 and id < $2 \
     order by id desc limit 1 offset $3";
/// The lowest number since a time. Numbers and times rise together but for moments, so it is among
/// the first that were seen since then, and a page need not walk through everything older.
pub(crate) const FIRST_SINCE: &str = "select min(id) from (select id from entry \
     where seen_at_us >= $1 order by seen_at_us, id limit $2) first";
/// A page of everything, down to a number. The sum leaves one way: along the numbers.
pub(crate) const LIST: &str = concat!(
    "select ",
    columns!(),
    " from entry e where id < $1 and id >= $2 and seen_at_us + 0 >= $3 order by id desc limit $4"
);
/// The same of the sources in a folder.
pub(crate) const LIST_IN: &str = concat!(
    "select ",
    columns!(),
    " from entry e where id < $1 and id >= $2 and seen_at_us + 0 >= $3 \
     and exists (select 1 from source s where s.source_id = e.source_id and ",
    in_folder!("s.category", "cast($4 as text)"),
    ") order by id desc limit $5"
);
/// A page of one source's.
pub(crate) const LIST_OF: &str = concat!(
    "select ",
    columns!(),
    " from entry e where source_id = $1 and id < $2 and id >= $3 and seen_at_us + 0 >= $4 \
     order by id desc limit $5"
);
/// Whether a source is in a folder.
pub(crate) const IS_IN: &str = concat!(
    "select 1 from source s where s.source_id = $1 and ",
    in_folder!("s.category", "cast($2 as text)")
);

pub(crate) const REMOVE_ALL: &str = "delete from entry where source_id = $1";
pub(crate) const REMOVE_SQLITE: &str = "delete from entry where id = ?1";
pub(crate) const REMOVE_POSTGRES: &str = "delete from entry where id = any ($1::bigint[])";

/// What [`doomed`] goes by. Newest first, by the times that publishers give: a document often shows
/// its newest entry first, which then has the lowest number.
macro_rules! kept {
    ($which:literal) => {
        concat!(
            "select id, key, seen_at_us, published_at_us, source_id from entry where ",
            $which,
            " order by source_id, coalesce(published_at_us, seen_at_us) desc, id desc"
        )
    };
}
pub(crate) const KEPT_SQLITE: &str = kept!("source_id = ?1");
pub(crate) const KEPT_POSTGRES: &str = kept!("source_id = any ($1::bigint[])");

pub(crate) async fn page(session: &dyn Session, filter: &EntryFilter) -> Result<Page<Entry, i64>> {
    if let Some(query) = &filter.search {
        return search::found(session, filter, query).await;
    }
    if is_elsewhere(session, filter).await? {
        return Ok(Page::empty());
    }
    let Some((from, stops)) = reach(session, filter).await? else {
        return Ok(Page::empty());
    };
    let mut values = values![before(filter), from, seen_from(filter)];
    let text = match (filter.source, &filter.category) {
        (Some(SourceId(id)), _) => {
            values.insert(0, id.into());
            LIST_OF
        }
        (None, Some(folder)) => {
            values.push(folder.into());
            LIST_IN
        }
        (None, None) => LIST,
    };
    values.push(one_more(filter.limit).into());
    let found = session.rows(text, &values, |found| {
        Ok((found.get(0)?, readable("entry", row::entry(found))))
    });
    let page = Page::cut(found.await?, filter.limit, stops, |(id, _)| *id);
    Ok(page.filter_map(|(_, entry)| entry))
}

/// Whether the source asked for is not in the folder asked for.
async fn is_elsewhere(session: &dyn Session, filter: &EntryFilter) -> Result<bool> {
    let (Some(SourceId(id)), Some(folder)) = (filter.source, &filter.category) else {
        return Ok(false);
    };
    let is_in = session.number(IS_IN, &[id.into(), folder.into()]).await?;
    Ok(is_in.is_none())
}

/// How far down a page goes, and whether it stops there before its time; `None` where nothing was
/// seen since.
async fn reach(session: &dyn Session, filter: &EntryFilter) -> Result<Option<(i64, Option<i64>)>> {
    // Then every row examined is one of the page.
    if filter.seen_from.is_none() && (filter.category.is_none() || filter.source.is_some()) {
        return Ok(Some((0, None)));
    }
    let (before, among) = (before(filter), examined(filter.among));
    if let Some(SourceId(id)) = filter.source {
        let of_source = values![id, before, among];
        let stops = session.number(EXAMINED_TO_OF, &of_source).await?;
        return Ok(Some(bounds(None, stops)));
    }
    let Some(first) = first_since(session, filter).await? else {
        return Ok(None);
    };
    let among = values![before, among];
    let stops = session.number(EXAMINED_TO, &among).await?;
    Ok(Some(bounds(Some(first), stops)))
}

/// The lowest number since the time asked for; `None` where nothing was seen since.
async fn first_since(session: &dyn Session, filter: &EntryFilter) -> Result<Option<i64>> {
    if filter.seen_from.is_none() {
        return Ok(Some(0));
    }
    let among = examined(filter.among).saturating_add(1);
    let since = values![seen_from(filter), among];
    session.number(FIRST_SINCE, &since).await
}

/// Where a page ends.
fn before(filter: &EntryFilter) -> i64 {
    filter.before.unwrap_or(i64::MAX)
}

/// How far a page goes down: to the first entry since the time asked for, unless it stops before.
/// And where it stops.
fn bounds(since: Option<i64>, examined_to: Option<i64>) -> (i64, Option<i64>) {
    let first = since.unwrap_or(0);
    let stops = examined_to.filter(|stop| *stop > first);
    (stops.unwrap_or(first), stops)
}

/// Where a page begins in time.
fn seen_from(filter: &EntryFilter) -> i64 {
    filter.seen_from.map_or(i64::MIN, micros)
}

/// An entry, as far as retention asks.
pub(crate) struct Kept {
    id: i64,
    key: String,
    seen_at_us: i64,
    published_at_us: Option<i64>,
}

impl Kept {
    /// Reads what [`KEPT_SQLITE`] lists, with whose it is.
    pub(crate) fn read(row: &Row<'_>) -> Result<(SourceId, Self)> {
        let kept = Self {
            id: row.get(0)?,
            key: row.get(1)?,
            seen_at_us: row.get(2)?,
            published_at_us: row.get(3)?,
        };
        Ok((row.get(4)?, kept))
    }
}

/// What is to be deleted of one source.
pub(crate) struct Doomed {
    pub(crate) ids: Vec<i64>,
    /// Everything deleted was published before this.
    pub(crate) pruned_before_us: Option<i64>,
}

/// What may go of a source's entries, given newest first: what was seen before the bound, and what
/// is beyond the number that stay; but nothing that the source still shows, because the next look
/// would find it again and call it new. A document that shows nothing says nothing about what the
/// next one shows: sites do that when they break, so nothing goes until something is shown again.
pub(crate) fn doomed(newest: &[Kept], shown: &[u64], retention: EntryRetention) -> Doomed {
    let seen_before = retention.seen_before.map_or(i64::MIN, micros);
    let shown: BTreeSet<u64> = shown.iter().copied().collect();
    let may_go = |(place, kept): &(usize, &Kept)| {
        let goes = *place >= retention.per_source || kept.seen_at_us < seen_before;
        goes && !shown.is_empty() && !shown.contains(&key_hash(&kept.key))
    };
    let gone: Vec<&Kept> = newest
        .iter()
        .enumerate()
        .filter(may_go)
        .map(|(_, kept)| kept)
        .collect();
    let published = gone.iter().filter_map(|kept| kept.published_at_us);
    Doomed {
        pruned_before_us: published.max().map(|last| last.saturating_add(1)),
        ids: gone.iter().map(|kept| kept.id).collect(),
    }
}

#[cfg(test)]
mod tests;
