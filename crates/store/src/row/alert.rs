//! Rows of alerts.

use almanack_core::{
    alert::{Alert, Key},
    store::Result,
};

use super::{Row, Value, unreadable, values};

/// Reads the columns listed in `alert.rs`.
pub(crate) fn alert(row: &Row<'_>) -> Result<Alert> {
    Ok(Alert {
        key: Key {
            rule: row.get(0)?,
            about: row.get(1)?,
        },
        severity: row.get(2)?,
        detail: row.get(3)?,
        opened_at: row.get(4)?,
        cool_down_since: row.get(5)?,
        closed_at: row.get(6)?,
        returns: row.get(7)?,
        open_notified_at: row.get(8)?,
        close_notified_at: row.get(9)?,
        notify_at: row.get(10)?,
        taken_by: serde_json::from_str(&row.text(11)?).map_err(unreadable)?,
        version: row.get(12)?,
    })
}

/// What an alert is written with: its key, and what changes.
pub(crate) fn alert_values(alert: &Alert) -> (Vec<Value<'_>>, Vec<Value<'_>>) {
    let key = values![alert.key.rule.as_str(), alert.key.about.to_string()];
    let facts = values![
        alert.severity.as_str(),
        alert.detail.to_stored(),
        alert.opened_at,
        alert.cool_down_since,
        alert.closed_at,
        alert.returns,
        alert.open_notified_at,
        alert.close_notified_at,
        alert.notify_at,
        // Texts can always be written as JSON.
        serde_json::to_string(&alert.taken_by).unwrap_or_default(),
    ];
    (key, facts)
}
