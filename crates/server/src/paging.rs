//! Pages: how many rows one holds, and where the next one begins.
//!
//! A cursor is the key of a row, in base64: whoever was given one hands it back and reads nothing into it.

use std::fmt::Display;

use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD};

use crate::prelude::*;

/// Rows on a page; default where no `limit` is given.
pub(crate) const PAGE_DEFAULT: usize = 50;
/// Most rows on a page.
pub(crate) const PAGE_MAX: usize = 500;

/// How many rows a page holds.
pub(crate) fn size(limit: Option<usize>, default: usize, max: usize) -> Result<usize> {
    let size = limit.unwrap_or(default);
    if (1..=max).contains(&size) {
        return Ok(size);
    }
    let detail = format!("limit must be 1 to {max}, not {size}");
    Err(Problem::new(Code::InvalidQuery, detail))
}

/// Cuts rows, of which one more than a page was read, to the page; says whether another follows.
pub(crate) fn cut<T>(rows: &mut Vec<T>, page: usize) -> bool {
    let more = rows.len() > page;
    rows.truncate(page);
    more
}

/// The cursor that goes on from a key.
pub(crate) fn cursor(key: impl Display) -> String {
    BASE64_URL_SAFE_NO_PAD.encode(key.to_string())
}

/// Reads a cursor by what reads its key.
pub(crate) fn read<T>(cursor: &str, key: impl FnOnce(&str) -> Option<T>) -> Result<T> {
    let bytes = BASE64_URL_SAFE_NO_PAD.decode(cursor).ok();
    let key = bytes.and_then(|bytes| key(std::str::from_utf8(&bytes).ok()?));
    key.ok_or_else(|| {
        let detail = "cursor must be the next_cursor of an earlier page";
        Problem::new(Code::InvalidQuery, detail)
    })
}
