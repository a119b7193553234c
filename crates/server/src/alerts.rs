//! Alerts: what a person should hear about, and whether they were told.

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
    #[serde(flatten)]
    alert: Alert,
    /// What is wrong, in half a sentence.
    sentence: String,
    /// Whether it lasts.
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

/// What is wrong now.
#[utoipa::path(
    get, path = "/api/v1/alerts", tag = "alerts",
    params(AlertsQuery),
    responses(
        (status = 200, description = "The alerts, the one that opened last first", body = AlertsView),
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
