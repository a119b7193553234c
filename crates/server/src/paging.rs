//! Pages: how many rows one holds, and where the next one begins.
//!
//! A cursor is the key of a row in base64; clients treat it as opaque.

use almanack_core::both;
use std::fmt::Display;

use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD};

use crate::prelude::*;

/// Page size. Default if no `limit` is given.
pub(crate) const PAGE_DEFAULT: usize = 50;
/// Largest page size.
pub(crate) const PAGE_MAX: usize = 500;

pub(crate) fn size(limit: Option<usize>, default: usize, max: usize) -> Result<usize> {
    let size = limit.unwrap_or(default);
    if (1..=max).contains(&size) {
        return Ok(size);
    }
    let detail = both!(
        "limit must be 1 to {max}, not {size}",
        "limit 必须为 1 到 {max}，不能是 {size}"
    );
    Err(Problem::in_query(detail))
}

/// Cuts rows (one more than a page was read) to the page; returns whether another page follows.
pub(crate) fn cut<T>(rows: &mut Vec<T>, page: usize) -> bool {
    let more = rows.len() > page;
    rows.truncate(page);
    more
}

/// The cursor that continues after a key.
pub(crate) fn cursor(key: impl Display) -> String {
    BASE64_URL_SAFE_NO_PAD.encode(key.to_string())
}

pub(crate) fn read<T>(cursor: &str, key: impl FnOnce(&str) -> Option<T>) -> Result<T> {
    let bytes = BASE64_URL_SAFE_NO_PAD.decode(cursor).ok();
    let key = bytes.and_then(|bytes| key(std::str::from_utf8(&bytes).ok()?));
    key.ok_or_else(|| {
        Problem::in_query(both!(
            "cursor must be the next_cursor of an earlier page",
            "cursor 必须是前一页的 next_cursor"
        ))
    })
}
