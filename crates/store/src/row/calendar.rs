//! Rows of calendars.

use almanack_core::{
    calendar::{CalendarRecord, CalendarVersion, Reading},
    store::Result,
};

use super::{Row, Value, unreadable, values};

/// Reads the columns listed in `calendar.rs`.
pub(crate) fn calendar(row: &Row<'_>) -> Result<CalendarRecord> {
    let copy: Option<String> = row.get(3)?;
    let copy = copy.map(|text| serde_json::from_str(&text)).transpose();
    let reading: Reading = serde_json::from_str(&row.text(4)?).map_err(unreadable)?;
    Ok(CalendarRecord {
        name: row.get(0)?,
        origin: row.get(1)?,
        definition: serde_json::from_str(&row.text(2)?).map_err(unreadable)?,
        copy: copy.map_err(unreadable)?,
        reading: Reading {
            checked_at: row.get(9)?,
            ..reading
        },
        version: row.get(5)?,
        applied: row.get(6)?,
        created_at: row.get(7)?,
        changed_at: row.get(8)?,
    })
}

/// Reads name, version and the version applied.
pub(crate) fn calendar_version(row: &Row<'_>) -> Result<CalendarVersion> {
    Ok(CalendarVersion {
        name: row.get(0)?,
        version: row.get(1)?,
        applied: row.get(2)?,
    })
}

/// What a calendar is written with, in the order of `calendar.rs`. Texts can always be JSON.
pub(crate) fn calendar_values(calendar: &CalendarRecord) -> Vec<Value<'_>> {
    let copy = calendar.copy.as_ref();
    values![
        calendar.name.as_str(),
        calendar.origin.as_str(),
        calendar.definition.to_json(),
        copy.map(|copy| serde_json::to_string(copy).unwrap_or_default()),
        serde_json::to_string(&calendar.reading).unwrap_or_default(),
        calendar.version,
        calendar.applied,
        calendar.created_at,
        calendar.changed_at,
    ]
}
