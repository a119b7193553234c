//! The visitors of a lane, as text: `{"session": [places, lease until, granted last]}`.

use std::collections::BTreeMap;

use almanack_core::{
    lane::shared::{SharedLane, Stay},
    store::{LaneAsk, Result},
};

use super::{Row, instant, micros, unreadable};

/// Reads the columns of [`crate::lane::LOAD_SQLITE`].
pub(crate) fn lane(row: &impl Row) -> Result<SharedLane> {
    let visitors: BTreeMap<String, (usize, i64, i64)> =
        serde_json::from_str(&row.text(3)?).map_err(unreadable)?;
    let stay = |(name, (places, until, _)): (String, (usize, i64, i64))| {
        let lease_until = instant(until)?;
        Ok((
            name,
            Stay {
                places,
                lease_until,
            },
        ))
    };
    Ok(SharedLane {
        free_at: instant(row.big(0)?)?,
        held_until: instant(row.big(1)?)?,
        asked_at: instant(row.big(2)?)?,
        visitors: visitors.into_iter().map(stay).collect::<Result<_>>()?,
    })
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
