//! Entries found by their words, and the words written for entries that have none.
//!
//! The database looks up which rows have all tokens, each in its own index; whether they stand in
//! the right order is decided by [`Query::finds`] on the row's words, so both find the same. A page
//! walks down from the newest row in windows of numbers, each twice as long as the last: a common
//! word fills the page from the first one, a rare one costs little in any. After so many windows the
//! page ends and says where to go on.

use almanack_core::{
    source::{SourceId, entry::Entry, search::Query, search::words_of},
    store::{EntryFilter, Page, Result, UnreadEntry},
};
use jiff::Timestamp;

use super::{before, first_since, seen_from};
use crate::{
    category::in_folder,
    row::{self, Row, most, one_more, readable, values},
    session::Session,
};

/// Numbers in the first window.
const WINDOW: i64 = 10_000;
/// Most statements of one page.
const STEPS_MAX: usize = 24;
/// Entries of a source that are examined for texts to read.
const UNREAD_AMONG: i64 = 50;

/// What a row is found by besides its words.
macro_rules! narrowed {
    () => {
        concat!(
            " and e.seen_at_us + 0 >= $4 and (cast($5 as bigint) is null or e.source_id = $5) \
             and (cast($6 as text) is null or exists (select 1 from source s \
             where s.source_id = e.source_id and ",
            in_folder!("s.category", "cast($6 as text)"),
            "))"
        )
    };
}
/// Through the table that triggers keep, in the order that it is kept in.
pub(crate) const SEARCH_SQLITE: &str = concat!(
    "select ",
    columns!(),
    ", e.words from entry_search cross join entry e on e.id = entry_search.rowid \
     where entry_search match $1 and entry_search.rowid < $2 and entry_search.rowid >= $3",
    narrowed!(),
    " order by entry_search.rowid desc limit $7"
);
/// Through the index on words, together with that of the numbers.
pub(crate) const SEARCH_POSTGRES: &str = concat!(
    "select ",
    columns!(),
    ", e.words from entry e where to_tsvector('simple', e.words) @@ to_tsquery('simple', $1) \
     and e.id < $2 and e.id >= $3",
    narrowed!(),
    " order by e.id desc limit $7"
);
/// An index of words can only be read as a whole, which no other statement here wants (see
/// `postgres::SESSION_OPTIONS`); walking along the numbers instead would take the words of every row
/// apart. And the plan depends on the words and on how many rows there are, so it is made for each.
/// For one transaction.
pub(crate) const BY_WORDS_POSTGRES: &str = "select set_config('enable_bitmapscan', 'on', true), \
     set_config('enable_indexscan', 'off', true), \
     set_config('plan_cache_mode', 'force_custom_plan', true)";
pub(crate) const NEWEST: &str = "select max(id) from entry";

pub(crate) const LOAD: &str = concat!("select ", columns!(), " from entry e where e.id = $1");
/// Newest first: these are searched for.
pub(crate) const WORDLESS: &str = concat!(
    "select ",
    columns!(),
    " from entry e where e.words is null order by e.id desc limit $1"
);
pub(crate) const SAVE_WORDS: &str = "update entry set words = $1 where id = $2 and words is null";
pub(crate) const UNREAD: &str = "select id, link from (select id, link, seen_at_us, full_text_at_us from entry \
     where source_id = $1 order by id desc limit $2) newest \
     where full_text_at_us is null and link is not null and seen_at_us >= $3 \
     order by id desc limit $4";
pub(crate) const NOTE_READ: &str = "update entry set full_text_at_us = $1 where id = $2";
/// Not if it was edited meanwhile: then it is read again.
pub(crate) const SAVE_TEXT: &str = "update entry set full_text_at_us = $1, content = $2, words = $3 \
     where id = $4 and revision = $5";

/// A page of what a search finds.
pub(super) async fn found(
    session: &dyn Session,
    filter: &EntryFilter,
    query: &Query,
) -> Result<Page<Entry, i64>> {
    let Some(mut walk) = Walk::new(session, filter, query).await? else {
        return Ok(Page::empty());
    };
    let mut found: Vec<Entry> = Vec::new();
    for _ in 0..STEPS_MAX {
        found.extend(walk.step(session, filter, query).await?);
        if found.len() > filter.limit || walk.is_over() {
            return Ok(Page::cut(found, filter.limit, None, |entry| entry.id));
        }
    }
    Ok(Page::cut(found, filter.limit, Some(walk.below), |entry| {
        entry.id
    }))
}

/// A walk down the numbers of rows.
struct Walk {
    /// What the index is asked, as this database writes it.
    asked: String,
    /// Where the next window ends.
    below: i64,
    /// Where the walk ends.
    first: i64,
    window: i64,
}

impl Walk {
    /// `None` if there is nothing to find.
    async fn new(
        session: &dyn Session,
        filter: &EntryFilter,
        query: &Query,
    ) -> Result<Option<Self>> {
        if query.tokens().next().is_none() {
            return Ok(None);
        }
        let newest = session.number(NEWEST, &[]).await?;
        let first = first_since(session, filter).await?;
        let by_words = session.text("", BY_WORDS_POSTGRES);
        if !by_words.is_empty() {
            session.one(by_words, &[], |_| Ok(())).await?;
        }
        Ok(newest.zip(first).map(|(newest, first)| Self {
            asked: asked(session, query),
            below: before(filter).min(newest.saturating_add(1)),
            first,
            window: filter.among.map_or(WINDOW, most).max(1),
        }))
    }

    fn is_over(&self) -> bool {
        self.below <= self.first
    }

    /// What the next statement finds.
    async fn step(
        &mut self,
        session: &dyn Session,
        filter: &EntryFilter,
        query: &Query,
    ) -> Result<Vec<Entry>> {
        let from = self.below.saturating_sub(self.window).max(self.first);
        let values = values![
            &self.asked,
            self.below,
            from,
            seen_from(filter),
            filter.source.map(|id| id.0),
            &filter.category,
            one_more(filter.limit),
        ];
        let text = session.text(SEARCH_SQLITE, SEARCH_POSTGRES);
        let rows = session.rows(text, &values, candidate).await?;
        match rows.last() {
            Some((last, ..)) if most(rows.len()) == one_more(filter.limit) => self.below = *last,
            _ => {
                self.below = from;
                self.window = self.window.saturating_mul(2);
            }
        }
        let found = rows.into_iter().filter(|(_, words, _)| query.finds(words));
        Ok(found.filter_map(|(.., entry)| entry).collect())
    }
}

/// Number, words, and the entry itself if it can be read.
fn candidate(found: &Row<'_>) -> Result<(i64, String, Option<Entry>)> {
    let words = found.get(super::COLUMNS)?;
    Ok((found.get(0)?, words, readable("entry", row::entry(found))))
}

/// Tokens have only letters and digits, so nothing in them is a sign of either language.
fn asked(session: &dyn Session, query: &Query) -> String {
    let [quote, goes_on, and] = match session.text("sqlite", "postgres") {
        "sqlite" => ["\"", " *", " "],
        _ => ["", ":*", " & "],
    };
    let tokens = query.tokens().map(|(token, may_go_on)| {
        let end = if may_go_on { goes_on } else { "" };
        format!("{quote}{token}{quote}{end}")
    });
    tokens.collect::<Vec<_>>().join(and)
}

pub(crate) async fn load(session: &dyn Session, id: i64) -> Result<Option<Entry>> {
    session.one(LOAD, &[id.into()], row::entry).await
}

/// Writes the words of entries that have none. One that cannot be read has none to be found by.
pub(crate) async fn index(session: &dyn Session, limit: usize) -> Result<usize> {
    let most = values![most(limit)];
    let wordless = session.rows(WORDLESS, &most, |found| {
        let entry = readable("entry", row::entry(found));
        let words = entry.map(|entry| words_of(&entry.found));
        Ok((found.get::<i64>(0)?, words.unwrap_or_default()))
    });
    let wordless = wordless.await?;
    let rows = wordless.iter().map(|(id, words)| values![words, *id]);
    let rows: Vec<_> = rows.collect();
    session.execute_each(SAVE_WORDS, &rows).await?;
    Ok(wordless.len())
}

/// Whose entries, since when, and how many.
pub(crate) type Unread = (SourceId, Timestamp, usize);

pub(crate) async fn unread(
    session: &dyn Session,
    (SourceId(id), seen_from, limit): &Unread,
) -> Result<Vec<UnreadEntry>> {
    let values = values![*id, UNREAD_AMONG, *seen_from, most(*limit)];
    let found = session.rows(UNREAD, &values, |found| {
        let (id, link) = (found.get(0)?, found.get(1)?);
        Ok(UnreadEntry { id, link })
    });
    found.await
}

/// Of which entry, its text, and when it was read.
pub(crate) type Text = (i64, Option<String>, Timestamp);

pub(crate) async fn save_text(session: &dyn Session, (id, content, now): &Text) -> Result<()> {
    let Some(content) = content else {
        let noted = session
            .execute(NOTE_READ, &[(*now).into(), (*id).into()])
            .await;
        return noted.map(drop);
    };
    let Some(mut entry) = load(session, *id).await? else {
        return Ok(());
    };
    let revision = i64::from(entry.revision);
    entry.found.content = Some(content.clone());
    let words = words_of(&entry.found);
    let values = values![*now, content, &words, *id, revision];
    session.execute(SAVE_TEXT, &values).await.map(drop)
}
