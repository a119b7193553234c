//! Rows of alerts.

use almanack_core::{
    alert::{About, Alert, Key, Rule, Severity},
    store::Result,
};

use super::{Row, Value, count, instant, maybe_instant, unreadable, values};

/// Reads the columns listed in `alert.rs`.
pub(crate) fn alert(row: &Row<'_>) -> Result<Alert> {
    let (rule, about, severity) = (row.text(0)?, row.text(1)?, row.text(2)?);
    let unknown = |what: &str, text: &str| unreadable(format!("{what} `{text}` of an alert"));
    Ok(Alert {
        key: Key {
            rule: Rule::parse(&rule).ok_or_else(|| unknown("rule", &rule))?,
            about: About::parse(&about).ok_or_else(|| unknown("subject", &about))?,
        },
        severity: Severity::parse(&severity).ok_or_else(|| unknown("severity", &severity))?,
        detail: row.text(3)?,
        opened_at: instant(row.big(4)?)?,
        cool_down_since: maybe_instant(row.big_or_null(5)?)?,
        closed_at: maybe_instant(row.big_or_null(6)?)?,
        returns: count(row.int(7)?)?,
        open_notified_at: maybe_instant(row.big_or_null(8)?)?,
        close_notified_at: maybe_instant(row.big_or_null(9)?)?,
        notify_at: maybe_instant(row.big_or_null(10)?)?,
        taken_by: serde_json::from_str(&row.text(11)?).map_err(unreadable)?,
        version: row.big(12)?,
    })
}

/// What an alert is written with: its key, and what changes.
pub(crate) fn alert_values(alert: &Alert) -> (Vec<Value<'_>>, Vec<Value<'_>>) {
    let key = values![alert.key.rule.as_str(), alert.key.about.to_string()];
    let facts = values![
        alert.severity.as_str(),
        &alert.detail,
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
