//! The visitors of a lane, as text: `{"session": [places, lease until, granted last]}`.

use std::collections::BTreeMap;

use almanack_core::{
    lane::shared::{SharedLane, Stay},
    store::{LaneAsk, Result, Visitor},
};

use super::{Row, instant, micros, unreadable};

/// Reads the columns of [`crate::lane::LOAD_SQLITE`].
pub(crate) fn lane(row: &Row<'_>) -> Result<SharedLane> {
    Ok(SharedLane {
        free_at: instant(row.big(0)?)?,
        held_until: instant(row.big(1)?)?,
        asked_at: instant(row.big(2)?)?,
        visitors: stays(&row.text(3)?)?,
    })
}

/// Who is inside, by what [`visitors`] wrote.
pub(crate) fn stays(text: &str) -> Result<BTreeMap<String, Stay>> {
    let visitors: BTreeMap<String, (usize, i64, i64)> =
        serde_json::from_str(text).map_err(unreadable)?;
    let stay = |(name, (places, until, _)): (String, (usize, i64, i64))| {
        let lease_until = instant(until)?;
        let stay = Stay {
            places,
            lease_until,
        };
        Ok((name, stay))
    };
    visitors.into_iter().map(stay).collect()
}

/// What becomes of a lane that cannot be read: nobody knows who is inside, so nobody enters before everybody who may be
/// has had to prove it again.
pub(crate) fn unknown(visitor: &Visitor) -> SharedLane {
    SharedLane {
        held_until: visitor.lease_until,
        ..SharedLane::default()
    }
}

/// What is written for the visitors of a lane. What was granted last matters to PostgreSQL's statement alone.
pub(crate) fn visitors(lane: &SharedLane) -> String {
    let written = lane.visitors.iter().map(|(name, stay)| {
        let stay = serde_json::json!([stay.places, micros(stay.lease_until), 0]);
        (name.clone(), stay)
    });
    serde_json::Value::Object(written.collect()).to_string()
}

/// The gap of an ask; finer than the store counts is none.
pub(crate) fn gap_us(ask: &LaneAsk) -> i64 {
    i64::try_from(ask.gap.as_micros()).unwrap_or(i64::MAX)
}
