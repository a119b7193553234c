//! Alerts: what needs attention, and whether people were notified.

use almanack_core::alert::{Alert, port::Answer as ChannelAnswer};
use almanack_core::both;
use almanack_core::lang::{Lang, Say};
use almanack_core::store::AlertFilter;
use axum::extract::Query;

use crate::language;
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

impl AlertView {
    fn of(alert: Alert, lang: Lang) -> Self {
        Self {
            sentence: alert.say(lang),
            open: alert.is_open(),
            alert: Alert {
                detail: alert.detail.turned(lang),
                ..alert
            },
        }
    }
}

/// List open alerts.
#[utoipa::path(
    get, path = "/api/v1/alerts", tag = "alerts",
    params(AlertsQuery, ("Accept-Language" = Option<String>, Header, description = "`zh` for Chinese texts")),
    responses(
        (status = 200, description = "The alerts, the most recently opened first", body = AlertsView),
    ),
)]
pub(crate) async fn list_alerts(
    State(state): App,
    Query(query): Query<AlertsQuery>,
    Reader(lang): Reader,
) -> Answer {
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
    let alerts = alerts.map(|alert| AlertView::of(alert, lang)).collect();
    Ok(language::answer(lang, AlertsView { alerts }))
}

/// Which channels to test.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AlertTestBody {
    /// Name of the channel in the configuration. Default: all channels.
    #[schema(example = "ntfy")]
    channel: Option<String>,
}

/// Answers of the channels.
#[derive(Serialize, ToSchema)]
pub(crate) struct AlertTestView {
    answers: Vec<ChannelAnswer>,
}

/// Send a test message through one alert channel, or through all.
#[utoipa::path(
    post, path = "/api/v1/alerts/test", tag = "alerts",
    request_body = AlertTestBody,
    responses((status = 200, description = "The answers of the channels", body = AlertTestView)),
)]
pub(crate) async fn test_alerts(State(state): App, call: Call) -> Result<Json<AlertTestView>> {
    call.refuse_key_because(both!(
        "test messages do not accept an Idempotency-Key; each call sends one",
        "测试消息不接受 Idempotency-Key；每次调用都会发送一条"
    ))?;
    let AlertTestBody { channel } = call.json()?;
    let answers = match &state.watching {
        Some(watching) => watching.get().notifier.test(channel.as_deref()).await,
        None => Vec::new(),
    };
    Problem::unless(!answers.is_empty(), "channel", || match channel {
        Some(_) => both!(
            "no channel of this name is configured",
            "没有配置此名称的渠道"
        ),
        None => both!("no channel is configured", "没有配置任何渠道"),
    })?;
    Ok(Json(AlertTestView { answers }))
}
