//! Pages of a walk.
//!
//! A list that no index answers is a walk along a key: rows are examined one by one, and those that
//! fit are kept. What bounds it is not how many fit but how many are examined; a caller that wants
//! the rest continues where the walk stopped. So no list costs what its table holds, whatever is
//! looked for.

/// How many rows a page examines at most.
pub const EXAMINED_MAX: usize = 10_000;

/// What a walk found, and where it continues.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page<T, C> {
    pub rows: Vec<T>,
    /// Where the next page begins; `None` at the end. A page may be short, or even empty, and not
    /// be the last: then as many rows were examined as one page may.
    pub next: Option<C>,
}

impl<T, C> Page<T, C> {
    /// Nothing, and nothing after it.
    pub fn empty() -> Self {
        Self {
            rows: Vec::new(),
            next: None,
        }
    }

    /// The page of `limit` rows out of `found`, which was read with one row more: that row says
    /// whether the walk could continue. Otherwise it stopped at `examined_to`, if it did not reach
    /// the end.
    pub fn cut(
        mut found: Vec<T>,
        limit: usize,
        examined_to: Option<C>,
        cursor: impl Fn(&T) -> C,
    ) -> Self {
        let next = if found.len() > limit {
            found.truncate(limit);
            found.last().map(cursor)
        } else {
            examined_to
        };
        Self { rows: found, next }
    }

    /// The same page with what each row is turned into, without those that are turned into nothing.
    pub fn filter_map<U>(self, each: impl FnMut(T) -> Option<U>) -> Page<U, C> {
        Page {
            rows: self.rows.into_iter().filter_map(each).collect(),
            next: self.next,
        }
    }
}
