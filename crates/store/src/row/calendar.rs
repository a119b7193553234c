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
    Ok(CalendarRecord {
        name: row.get(0)?,
        origin: row.get(1)?,
        definition: serde_json::from_str(&row.text(2)?).map_err(unreadable)?,
        copy: copy.map_err(unreadable)?,
        reading: reading(row, 4, 9)?,
        version: row.get(5)?,
        applied: row.get(6)?,
        created_at: row.get(7)?,
        changed_at: row.get(8)?,
    })
}

/// Reads name, version, the version applied and how reading goes.
pub(crate) fn calendar_version(row: &Row<'_>) -> Result<CalendarVersion> {
    Ok(CalendarVersion {
        name: row.get(0)?,
        version: row.get(1)?,
        applied: row.get(2)?,
        reading: reading(row, 3, 4)?,
    })
}

/// How reading its address goes; when it was last asked has a column, because nodes compete for it.
fn reading(row: &Row<'_>, reading: usize, checked_at: usize) -> Result<Reading> {
    let read: Reading = serde_json::from_str(&row.text(reading)?).map_err(unreadable)?;
    Ok(Reading {
        checked_at: row.get(checked_at)?,
        ..read
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
