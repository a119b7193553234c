//! The visitors of a limit, as text: `{"session": [permits, lease until, granted last]}`.

use std::collections::BTreeMap;

use almanack_core::{
    host_pace::shared::{SharedLimit, Stay},
    store::{PermitRequest, Result, Visitor},
};

use super::{Row, instant, micros, unreadable};

/// Reads the columns of [`crate::permit::LOAD_SQLITE`].
pub(crate) fn limit(row: &Row<'_>) -> Result<SharedLimit> {
    Ok(SharedLimit {
        free_at: row.get(0)?,
        held_until: row.get(1)?,
        asked_at: row.get(2)?,
        visitors: stays(&row.text(3)?)?,
    })
}

/// Who is inside, by what [`visitors`] wrote.
pub(crate) fn stays(text: &str) -> Result<BTreeMap<String, Stay>> {
    let visitors: BTreeMap<String, (usize, i64, i64)> =
        serde_json::from_str(text).map_err(unreadable)?;
    let stay = |(name, (permits, until, _)): (String, (usize, i64, i64))| {
        let lease_until = instant(until)?;
        let stay = Stay {
            permits,
            lease_until,
        };
        Ok((name, stay))
    };
    visitors.into_iter().map(stay).collect()
}

/// A limit that cannot be read: its holders are unknown, so no node gets a permit before every
/// possible holder has had to prove it again.
pub(crate) fn unknown(visitor: &Visitor) -> SharedLimit {
    SharedLimit {
        held_until: visitor.lease_until,
        ..SharedLimit::default()
    }
}

/// What is written for the visitors of a limit. What was granted last matters to PostgreSQL's
/// statement alone.
pub(crate) fn visitors(limit: &SharedLimit) -> String {
    let written = limit.visitors.iter().map(|(name, stay)| {
        let stay = serde_json::json!([stay.permits, micros(stay.lease_until), 0]);
        (name.clone(), stay)
    });
    serde_json::Value::Object(written.collect()).to_string()
}

/// The gap of an ask; finer than the store counts is none.
pub(crate) fn gap_us(ask: &PermitRequest) -> i64 {
    i64::try_from(ask.gap.as_micros()).unwrap_or(i64::MAX)
}
