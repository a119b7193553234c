//! Alerts: what a person should hear about, and whether they were told.

use std::sync::Arc;

use almanack_core::{
    alert::{Alert, words},
    store::AlertFilter,
};
use axum::{
    Json,
    extract::{Query, State},
};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::{AppState, problem::Problem};

/// Most alerts in one answer; no more are ever open.
const ALERTS_MAX: usize = 1_000;

/// Which alerts.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub(crate) struct AlertsQuery {
    /// Also those that are over, as long as they are kept: thirty days.
    #[serde(default)]
    all: bool,
}

/// Alerts, the one that opened last first.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct AlertsView {
    alerts: Vec<AlertView>,
}

/// Something that is wrong, or was.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct AlertView {
    /// What is wrong: missing, late, stuck, failing, parked, gone, silent, credentials, budget, unknown, clock.
    rule: String,
    /// With what: `schedule:nightly`, `kind:ARTICLE_PUBLISH`, `source:17`, `delivery:2026-01-04/telegram`, `node:news-1`, `fleet`.
    about: String,
    /// How much it matters: warning or critical.
    severity: String,
    /// What is wrong, in half a sentence.
    sentence: String,
    /// The facts when it was found.
    detail: String,
    /// Whether it lasts.
    open: bool,
    /// Since when.
    #[schema(value_type = String, format = DateTime)]
    opened_at: Timestamp,
    /// Since when nothing was found wrong any more; it is over when that has lasted a while.
    #[schema(value_type = Option<String>, format = DateTime)]
    calm_since: Option<Timestamp>,
    /// Until when.
    #[schema(value_type = Option<String>, format = DateTime)]
    closed_at: Option<Timestamp>,
    /// How often it came back while or soon after it calmed down.
    returns: u32,
    /// When people were told that it began.
    #[schema(value_type = Option<String>, format = DateTime)]
    open_told_at: Option<Timestamp>,
    /// When people were told that it is over.
    #[schema(value_type = Option<String>, format = DateTime)]
    close_told_at: Option<Timestamp>,
}

impl From<Alert> for AlertView {
    fn from(alert: Alert) -> Self {
        Self {
            rule: alert.key.rule.to_string(),
            about: alert.key.about.to_string(),
            severity: alert.severity.as_str().to_owned(),
            sentence: words::english(&alert),
            open: alert.is_open(),
            detail: alert.detail,
            opened_at: alert.opened_at,
            calm_since: alert.calm_since,
            closed_at: alert.closed_at,
            returns: alert.returns,
            open_told_at: alert.open_told_at,
            close_told_at: alert.close_told_at,
        }
    }
}

/// What is wrong now.
#[utoipa::path(
    get,
    path = "/api/v1/alerts",
    tag = "alerts",
    params(AlertsQuery),
    responses((status = 200, description = "The alerts, the one that opened last first", body = AlertsView)),
    security(("token" = ["read"])),
)]
pub(crate) async fn list_alerts(
    State(state): State<Arc<AppState>>,
    Query(query): Query<AlertsQuery>,
) -> Result<Json<AlertsView>, Problem> {
    let filter = AlertFilter {
        closed_from: if query.all {
            Timestamp::MIN
        } else {
            Timestamp::MAX
        },
        limit: ALERTS_MAX,
    };
    let alerts = state.store.load_alerts(filter).await?.into_iter();
    let alerts = alerts.filter(|alert| query.all || alert.is_open());
    Ok(Json(AlertsView {
        alerts: alerts.map(AlertView::from).collect(),
    }))
}
