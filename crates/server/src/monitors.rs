//! Monitors: jobs that others run, watched by their pings (DP-23).
//!
//! A monitor is a schedule with a ping target: it is written, paused, resumed and removed as one,
//! at `/api/v1/schedules/{name}`. Here is what only a monitor has: its status, its pings and its
//! keys. The key of a ping address is a secret; the store keeps its hash, so it is shown once.

use almanack_core::both;
use almanack_core::plan::{Monitor, MonitorStatus, Ping, Schedule, ScheduleId};
use almanack_core::store::{MonitorKey, MonitorKeys};
use almanack_engine::schedules::{Error, Watched, new_key};

use crate::prelude::*;
use crate::schedules::{Named, find};
use crate::token::hash;

pub(crate) mod public;

/// Pings in one answer, at most: as many as are kept.
const PINGS_MAX: usize = 100;
/// Pings in one answer, by default.
const PINGS_DEFAULT: usize = 20;

/// A monitor: its schedule, and what was heard of its job.
#[derive(Serialize, ToSchema)]
pub(crate) struct MonitorView {
    #[serde(flatten)]
    schedule: Schedule,
    /// `new`, `up`, `started`, `late`, `down` or `paused`.
    status: MonitorStatus,
    /// What was heard of its job.
    heard: Monitor,
    /// When a ping is expected next; null before the first one and while it is paused.
    expected_at: Option<Timestamp>,
    /// When that ping counts as missing.
    missing_at: Option<Timestamp>,
    /// Whether it has a ping address.
    has_ping_key: bool,
    /// Path of its badge without its ending (`.svg`, `.json`), if it is shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = "/badge/5f0e6b1c-9a3d-4c55-8f0e-2b7f3a9c1d44")]
    badge_path: Option<String>,
}

/// A page of monitors.
#[derive(Serialize, ToSchema)]
pub(crate) struct MonitorsView {
    monitors: Vec<MonitorView>,
    /// Pass it as `cursor` to get the next page; null on the last page.
    next_cursor: Option<String>,
}

/// The newest pings of a monitor, newest first.
#[derive(Serialize, ToSchema)]
pub(crate) struct PingsView {
    pings: Vec<Ping>,
}

/// A new ping address. It is shown only once.
#[derive(Serialize, ToSchema)]
pub(crate) struct PingKeyView {
    /// The secret.
    #[schema(example = "5f0e6b1c-9a3d-4c55-8f0e-2b7f3a9c1d44")]
    key: String,
    /// What jobs call, behind this node's own address.
    #[schema(example = "/ping/5f0e6b1c-9a3d-4c55-8f0e-2b7f3a9c1d44")]
    path: String,
    /// The whole address, if `server.public_url` is set.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = "https://almanack.example.org/ping/5f0e6b1c-9a3d-4c55-8f0e-2b7f3a9c1d44")]
    url: Option<String>,
}

/// Which monitors.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct MonitorsQuery {
    /// Page size, 1 to 500. Default: 50.
    limit: Option<usize>,
    /// The `next_cursor` of the previous page.
    cursor: Option<String>,
}

/// Which pings.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct PingsQuery {
    /// How many, 1 to 100. Default: 20.
    limit: Option<usize>,
    /// Only pings numbered below this.
    before: Option<u64>,
}

/// Which key to use.
#[derive(Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PingKeyBody {
    /// A UUID that jobs use already, such as that of a check at Healthchecks. Default: a new one.
    key: Option<String>,
}

/// List monitors, oldest first.
#[utoipa::path(
    get, path = "/api/v1/monitors", tag = "monitors",
    params(MonitorsQuery),
    responses((status = 200, description = "The page", body = MonitorsView)),
)]
pub(crate) async fn list_monitors(
    State(state): App,
    Asked(query): Asked<MonitorsQuery>,
) -> Result<Json<MonitorsView>> {
    let limit = paging::size(query.limit, PAGE_DEFAULT, PAGE_MAX)?;
    let number = |text: &str| paging::read(text, |id| id.parse().ok());
    let after = query.cursor.as_deref().map(number).transpose()?;
    let page = load(&state, ScheduleId(after.unwrap_or(0)), limit).await?;
    Ok(Json(MonitorsView {
        monitors: page.0,
        next_cursor: page.1.map(|id| paging::cursor(id.0)),
    }))
}

/// A page of monitors, and where the next one begins.
pub(crate) async fn load(
    state: &AppState,
    after: ScheduleId,
    limit: usize,
) -> Result<(Vec<MonitorView>, Option<ScheduleId>)> {
    let page = state.store.list_monitors(after, limit).await?;
    let mut monitors = Vec::with_capacity(page.rows.len());
    for schedule in page.rows {
        // What was a monitor once may be another schedule by now.
        if let Some(watched) = state.schedules.watched(schedule).await? {
            monitors.push(shown(state, watched).await?);
        }
    }
    Ok((monitors, page.next))
}

/// Show a monitor.
#[utoipa::path(
    get, path = "/api/v1/monitors/{name}", tag = "monitors",
    responses((status = 200, description = "The monitor", body = MonitorView)),
)]
pub(crate) async fn get_monitor(
    State(state): App,
    Named(name): Named,
) -> Result<Json<MonitorView>> {
    let watched = watched(&state, find(&state, &name).await?).await?;
    Ok(Json(shown(&state, watched).await?))
}

/// List the newest pings of a monitor with their bodies, newest first.
#[utoipa::path(
    get, path = "/api/v1/monitors/{name}/pings", tag = "monitors",
    params(PingsQuery),
    responses((status = 200, description = "The pings", body = PingsView)),
)]
pub(crate) async fn list_pings(
    State(state): App,
    Named(name): Named,
    Asked(query): Asked<PingsQuery>,
) -> Result<Json<PingsView>> {
    let limit = paging::size(query.limit, PINGS_DEFAULT, PINGS_MAX)?;
    let id = watched(&state, find(&state, &name).await?)
        .await?
        .schedule
        .id;
    let before = query.before.unwrap_or(u64::MAX);
    let pings = state.store.load_pings(id, before, limit).await?;
    Ok(Json(PingsView { pings }))
}

/// Give a monitor a new ping address, shown only once. The one it had stops working.
#[utoipa::path(
    post, path = "/api/v1/monitors/{name}/ping-key", tag = "monitors",
    request_body = PingKeyBody,
    responses((status = 201, description = "The address", body = PingKeyView)),
)]
pub(crate) async fn new_ping_key(State(state): App, Named(name): Named, call: Call) -> Answer {
    call.refuse_key()?;
    let body: PingKeyBody = call.json_or_default()?;
    let given = body.key.map(|key| {
        let usable = public::is_key(&key);
        let wrong = || {
            Problem::new(
                Code::InvalidValue,
                both!("key must be a UUID in lower case", "key 必须是小写的 UUID"),
            )
        };
        usable.then_some(key).ok_or_else(wrong)
    });
    let drawn = || new_key(state.entropy.as_ref());
    let key = given.transpose()?.unwrap_or_else(drawn);
    let watched = watched(&state, find(&state, &name).await?).await?;
    let keys = MonitorKeys {
        ping_hash: Some(hash(&key)),
        ..state.changes.load_monitor_keys(watched.schedule.id).await?
    };
    save(&state, &watched, &keys).await?;
    let path = format!("/ping/{key}");
    let url = state
        .public_url
        .as_ref()
        .map(|base| format!("{base}{path}"));
    let view = PingKeyView { key, path, url };
    Ok((StatusCode::CREATED, Json(view)).into_response())
}

/// Show a badge of a monitor to everybody who knows its address.
#[utoipa::path(
    put, path = "/api/v1/monitors/{name}/badge", tag = "monitors",
    responses((status = 200, description = "The monitor after the change", body = MonitorView)),
)]
pub(crate) async fn show_badge(State(state): App, Named(name): Named, call: Call) -> Answer {
    call.refuse_key()?;
    change_badge(&state, &name, true).await
}

/// Stop showing the badge of a monitor. A later one has another address.
#[utoipa::path(
    delete, path = "/api/v1/monitors/{name}/badge", tag = "monitors",
    responses((status = 200, description = "The monitor after the change", body = MonitorView)),
)]
pub(crate) async fn hide_badge(State(state): App, Named(name): Named, call: Call) -> Answer {
    call.refuse_key()?;
    change_badge(&state, &name, false).await
}

async fn change_badge(
    state: &AppState,
    name: &almanack_core::plan::ScheduleName,
    on: bool,
) -> Answer {
    let watched = watched(state, find(state, name).await?).await?;
    let mut keys = state.changes.load_monitor_keys(watched.schedule.id).await?;
    if keys.badge.is_some() != on {
        keys.badge = on.then(|| new_key(state.entropy.as_ref()));
        save(state, &watched, &keys).await?;
    }
    Ok(Json(shown(state, watched).await?).into_response())
}

async fn save(state: &AppState, watched: &Watched, keys: &MonitorKeys) -> Result<()> {
    if state.schedules.save_keys(&watched.schedule, keys).await? {
        return Ok(());
    }
    let detail = both!(
        "another monitor has this key; each needs its own",
        "另一个监控已使用此 key；每个监控需要各自的 key"
    );
    Err(Problem::new(Code::AddressTaken, detail))
}

/// The monitor that a schedule is.
pub(crate) async fn watched(state: &AppState, schedule: Schedule) -> Result<Watched> {
    let name = schedule.name.clone();
    let watched = state.schedules.watched(schedule).await?;
    watched.ok_or_else(|| {
        let detail = both!(
            "`{name}` is no monitor: its target is not a ping",
            "`{name}` 不是监控：其目标不是 ping"
        );
        Problem::new(Code::NoSuchMonitor, detail)
    })
}

async fn shown(state: &AppState, watched: Watched) -> Result<MonitorView> {
    let keys = state.changes.load_monitor_keys(watched.schedule.id).await?;
    Ok(MonitorView {
        has_ping_key: keys.ping_hash.is_some(),
        badge_path: keys.badge.map(|key| format!("/badge/{key}")),
        schedule: watched.schedule,
        status: watched.status,
        heard: watched.monitor,
        expected_at: watched.expected_at,
        missing_at: watched.missing_at,
    })
}

/// The monitor that a badge belongs to.
async fn badged(state: &AppState, key: &str) -> Result<Option<Watched>> {
    let key = MonitorKey::Badge(key.to_owned());
    let Some(name) = state.changes.find_monitor(&key).await? else {
        return Ok(None);
    };
    let Ok(schedule) = find(state, &name).await else {
        return Ok(None);
    };
    let watched = state.schedules.watched(schedule).await;
    watched.map_err(|error: Error| error.into())
}
