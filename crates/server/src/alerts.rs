//! Alerts: what needs attention, and whether people were notified.

use almanack_core::alert::{Alert, words};
use almanack_core::store::AlertFilter;
use axum::extract::Query;

use crate::prelude::*;

/// Most alerts in one answer; no more are ever open.
const ALERTS_MAX: usize = 1_000;

/// Which alerts.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub(crate) struct AlertsQuery {
    /// Also closed alerts; they are kept for thirty days.
    #[serde(default)]
    all: bool,
}

/// Alerts, the most recently opened first.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct AlertsView {
    alerts: Vec<AlertView>,
}

/// Something that is or was wrong.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct AlertView {
    #[serde(flatten)]
    alert: Alert,
    /// The problem in a few words.
    sentence: String,
    /// Whether the alert is still open.
    open: bool,
}

impl From<Alert> for AlertView {
    fn from(alert: Alert) -> Self {
        Self {
            sentence: words::english(&alert),
            open: alert.is_open(),
            alert,
        }
    }
}

/// List open alerts.
#[utoipa::path(
    get, path = "/api/v1/alerts", tag = "alerts",
    params(AlertsQuery),
    responses(
        (status = 200, description = "The alerts, the most recently opened first", body = AlertsView),
    ),
)]
pub(crate) async fn list_alerts(
    State(state): App,
    Query(query): Query<AlertsQuery>,
) -> Result<Json<AlertsView>> {
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
