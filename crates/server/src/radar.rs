//! The radar: the load of the coming hours, its herds, and what spreads them.

use almanack_core::both;
use almanack_core::radar::{self, AppliedSpread, HERD_DEFAULT, HOURS_DEFAULT, HOURS_MAX};
use almanack_engine::radar::{Mode, Radar, Requested};

use crate::prelude::*;
use crate::tasks::body::parse_instant;

/// Most starts in one second that may pass as none of a herd.
const HERD_MAX: u64 = 1_000_000;

/// How far to look, and what counts as a herd.
#[derive(Debug, Default, Serialize, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct RadarQuery {
    /// Hours to look ahead. Default: 24.
    #[param(minimum = 1, maximum = 48)]
    pub(crate) hours: Option<u32>,
    /// How many starts in one second are a herd. Default: 20.
    #[param(minimum = 2, maximum = 1_000_000)]
    pub(crate) herd: Option<u64>,
}

/// Reads the radar for `query`, through the readers that slow questions use.
pub(crate) async fn read(state: &AppState, query: &RadarQuery) -> Result<radar::Radar> {
    let hours = query.hours.unwrap_or(HOURS_DEFAULT);
    if !(1..=HOURS_MAX).contains(&hours) {
        let detail = both!(
            "hours must be 1 to {HOURS_MAX}, not {hours}",
            "hours 必须为 1 到 {HOURS_MAX}，不能是 {hours}"
        );
        return Err(Problem::in_query(detail));
    }
    let herd = query.herd.unwrap_or(HERD_DEFAULT);
    if !(2..=HERD_MAX).contains(&herd) {
        let detail = both!(
            "herd must be 2 to {HERD_MAX}, not {herd}",
            "herd 必须为 2 到 {HERD_MAX}，不能是 {herd}"
        );
        return Err(Problem::in_query(detail));
    }
    let radar = of(state, &state.store);
    Ok(radar.read(hours, herd).await?)
}

/// Spreads what starts in one second.
pub(crate) async fn spread(state: &AppState, requested: Requested<'_>) -> Result<AppliedSpread> {
    let radar = of(state, &state.changes);
    Ok(radar.spread(requested).await?)
}

fn of(state: &AppState, store: &Arc<dyn almanack_core::store::Store>) -> Radar {
    Radar::new(
        Arc::clone(store),
        Arc::clone(&state.clock),
        Arc::clone(&state.schedules),
        Arc::clone(&state.rescheduler),
    )
}

/// Show the load of the coming hours and its herds.
///
/// Counts waiting tasks and the slots of schedules per minute, for each kind and for each host that
/// is called. A second in which at least `herd` things start is a herd; `spread` is the shortest
/// splay that dissolves it. Overdue tasks are not counted. `missing` says what is left out.
#[utoipa::path(
    get, path = "/api/v1/radar", tag = "radar", params(RadarQuery),
    responses((status = 200, description = "The load and its herds", body = radar::Radar)),
)]
pub(crate) async fn get_radar(
    State(state): App,
    Asked(query): Asked<RadarQuery>,
) -> Result<Json<radar::Radar>> {
    Ok(Json(read(&state, &query).await?))
}

/// What to spread.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SpreadBody {
    /// The second: `at` of a herd.
    #[schema(format = DateTime)]
    at: String,
    /// Over how many seconds. Default: the proposed splay.
    #[schema(minimum = 1, maximum = 86400)]
    splay_s: Option<u32>,
    /// Whether to count what would change, and change nothing.
    #[serde(default)]
    dry_run: bool,
}

/// Spread what starts in one second.
///
/// Schedules of the API get the splay; schedules of files are listed with what to write there.
/// Waiting tasks are moved by up to the splay, each by its own fixed part, in the way of any change
/// of time; Almanack's own tasks stay. If something is left, call it again.
#[utoipa::path(
    post, path = "/api/v1/radar/spread", tag = "radar",
    request_body = SpreadBody,
    responses((status = 200, description = "What was changed", body = AppliedSpread)),
)]
pub(crate) async fn spread_herd(State(state): App, call: Call) -> Result<Json<AppliedSpread>> {
    call.refuse_key_because(both!(
        "a spread does not accept an Idempotency-Key; it changes nothing twice",
        "分散操作不接受 Idempotency-Key；它不会重复更改"
    ))?;
    let body: SpreadBody = call.json()?;
    let mode = if body.dry_run {
        Mode::DryRun
    } else {
        Mode::Apply
    };
    let requested = Requested {
        at: parse_instant(&body.at, "at")?,
        splay_s: body.splay_s,
        mode,
        by: call.requester.name(),
        origin: &call.requester.origin(),
    };
    Ok(Json(spread(&state, requested).await?))
}
