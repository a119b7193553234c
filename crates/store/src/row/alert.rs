//! Rows of alerts.

use almanack_core::{
    alert::{About, Alert, Key, Rule, Severity},
    store::Result,
};

use super::{Row, count, instant, maybe_instant, micros, unreadable};

/// Reads the columns listed in `alert.rs`.
pub(crate) fn alert(row: &impl Row) -> Result<Alert> {
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
        calm_since: maybe_instant(row.big_or_null(5)?)?,
        closed_at: maybe_instant(row.big_or_null(6)?)?,
        returns: count(row.int(7)?)?,
        open_told_at: maybe_instant(row.big_or_null(8)?)?,
        close_told_at: maybe_instant(row.big_or_null(9)?)?,
        tell_at: maybe_instant(row.big_or_null(10)?)?,
        taken_by: serde_json::from_str(&row.text(11)?).map_err(unreadable)?,
        version: row.big(12)?,
    })
}

/// An alert as its columns hold it.
pub(crate) struct AlertColumns {
    pub(crate) rule: &'static str,
    pub(crate) about: String,
    pub(crate) severity: &'static str,
    pub(crate) detail: String,
    pub(crate) opened_at_us: i64,
    pub(crate) calm_since_us: Option<i64>,
    pub(crate) closed_at_us: Option<i64>,
    pub(crate) returns: i32,
    pub(crate) open_told_at_us: Option<i64>,
    pub(crate) close_told_at_us: Option<i64>,
    pub(crate) tell_at_us: Option<i64>,
    pub(crate) taken_by: String,
    /// The version that was seen; 0 for a new row.
    pub(crate) seen: i64,
}

impl From<&Alert> for AlertColumns {
    fn from(alert: &Alert) -> Self {
        Self {
            rule: alert.key.rule.as_str(),
            about: alert.key.about.to_string(),
            severity: alert.severity.as_str(),
            detail: alert.detail.clone(),
            opened_at_us: micros(alert.opened_at),
            calm_since_us: alert.calm_since.map(micros),
            closed_at_us: alert.closed_at.map(micros),
            returns: i32::try_from(alert.returns).unwrap_or(i32::MAX),
            open_told_at_us: alert.open_told_at.map(micros),
            close_told_at_us: alert.close_told_at.map(micros),
            tell_at_us: alert.tell_at.map(micros),
            // Texts can always be written as JSON.
            taken_by: serde_json::to_string(&alert.taken_by).unwrap_or_default(),
            seen: alert.version,
        }
    }
}
