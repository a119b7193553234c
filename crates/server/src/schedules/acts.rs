//! What people do with a schedule besides writing it: pause, resume, fire, backfill. Allowed whoever the
//! schedule belongs to: none of these changes its definition.

use almanack_core::plan::ScheduleName;
use almanack_core::task::{Identity, Status};
use almanack_engine::schedules::{Backfill, Changed, Fired, Overlapping, SlotOfBackfill};

use super::{Named, view::ScheduleView, written};
use crate::prelude::*;
use crate::{percent, tasks::body::parse_instant};

/// Between two firings of a backfill when nobody says otherwise.
pub(crate) const PACE_DEFAULT: SignedDuration = SignedDuration::from_secs(1);
/// Longest pace: one firing a day.
const PACE_MAX: SignedDuration = SignedDuration::from_hours(24);

/// How long to pause, and why.
#[derive(Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PauseBody {
    /// Until when; until it is resumed when nobody says otherwise.
    #[schema(format = DateTime)]
    until: Option<String>,
    /// Why, for the history.
    #[schema(max_length = 500)]
    note: Option<String>,
}

/// Stop a schedule from firing, until it is resumed or until a time.
///
/// Slots that fall into the pause are recorded as skipped, with who paused and why.
#[utoipa::path(
    post, path = "/api/v1/schedules/{name}/pause", tag = "schedules",
    params(Named),
    request_body = PauseBody,
    responses((status = 200, description = "The schedule afterwards", body = ScheduleView)),
)]
pub(crate) async fn pause(State(state): App, Named(name): Named, call: Call) -> Answer {
    call.refuse_key()?;
    let body: PauseBody = call.json_or_default()?;
    let until = body.until.as_deref();
    let until = until.map(|at| parse_instant(at, "until")).transpose()?;
    check_until(until, state.clock.now())?;
    let by = call.requester.name();
    let changed = state.schedules.pause(&name, until, body.note, by).await?;
    Ok(changed_answer(&state, changed))
}

/// Refuses a pause that has ended before it began.
pub(crate) fn check_until(until: Option<Timestamp>, now: Timestamp) -> Result<()> {
    if until.is_none_or(|until| until > now) {
        return Ok(());
    }
    let detail = "until must be in the future";
    Err(Problem::new(Code::InvalidValue, detail).at("until"))
}

/// Let a paused schedule fire again.
#[utoipa::path(
    post, path = "/api/v1/schedules/{name}/resume", tag = "schedules",
    params(Named),
    responses((status = 200, description = "The schedule afterwards", body = ScheduleView)),
)]
pub(crate) async fn resume(State(state): App, Named(name): Named, call: Call) -> Answer {
    call.refuse_key()?;
    let changed = state.schedules.resume(&name, call.requester.name()).await?;
    Ok(changed_answer(&state, changed))
}

fn changed_answer(state: &AppState, changed: Changed) -> Response {
    written(state, StatusCode::OK, changed.schedule)
}

/// How to fire.
#[derive(Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct FireBody {
    /// Fire even if the newest firing has not ended.
    #[serde(default)]
    force: bool,
}

/// A firing by hand.
#[derive(Serialize, ToSchema)]
pub(crate) struct FiredView {
    #[serde(flatten)]
    identity: Identity,
    /// For which instant.
    nominal_at: Timestamp,
}

/// Fire a schedule now, beside its slots. Paused ones fire too.
#[utoipa::path(
    post, path = "/api/v1/schedules/{name}/fire", tag = "schedules",
    params(Named),
    request_body = FireBody,
    responses((status = 201, description = "The firing", body = FiredView)),
)]
pub(crate) async fn fire(State(state): App, Named(name): Named, call: Call) -> Answer {
    call.refuse_key()?;
    let body: FireBody = call.json_or_default()?;
    let overlapping = if body.force {
        Overlapping::Forced
    } else {
        Overlapping::AsPlanned
    };
    // The task's own history tells who asked, in the words of tasks.
    let by = call.requester.origin();
    let fired = state.schedules.fire(&name, overlapping, &by).await?;
    Ok(fired_answer(&fired))
}

fn fired_answer(fired: &Fired) -> Response {
    let Identity { subject, kind } = &fired.identity;
    let view = FiredView {
        identity: fired.identity.clone(),
        nominal_at: fired.nominal_at,
    };
    let mut response = (StatusCode::CREATED, Json(view)).into_response();
    let subject = percent::encode(subject.as_str());
    // Kinds and encoded subjects are ASCII, so this is always a header value.
    if let Ok(location) = HeaderValue::try_from(format!("/api/v1/tasks/{kind}/{subject}")) {
        response.headers_mut().insert(header::LOCATION, location);
    }
    response
}

/// Which slots of the past to fire, and how fast.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct BackfillBody {
    /// The first slot is at or after this.
    #[schema(format = DateTime)]
    from: String,
    /// The last slot is before this; not later than now.
    #[schema(format = DateTime)]
    to: String,
    /// Between two firings; a second when nobody says otherwise.
    #[schema(value_type = Option<String>, example = "10s")]
    pace: Option<SignedDuration>,
    /// Only tell what would be done.
    #[serde(default)]
    dry_run: bool,
}

/// What a backfill does, or would do.
#[derive(Serialize, ToSchema)]
pub(crate) struct BackfilledView {
    /// Whether nothing was done yet.
    dry_run: bool,
    /// How many slots fire.
    fires: usize,
    /// Every slot of the range, oldest first.
    slots: Vec<BackfilledSlotView>,
}

/// One slot of a backfill.
#[derive(Serialize, ToSchema)]
pub(crate) struct BackfilledSlotView {
    /// Which.
    slot_at: Timestamp,
    /// Subject of its firing, a task of kind DISPATCH.
    firing: String,
    /// When it fires; absent if it is left alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    execute_at: Option<Timestamp>,
    /// What its firing already is, which is why it is left alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    found: Option<Status>,
}

impl From<SlotOfBackfill> for BackfilledSlotView {
    fn from(slot: SlotOfBackfill) -> Self {
        Self {
            slot_at: slot.slot,
            firing: slot.identity.subject.to_string(),
            execute_at: slot.execute_at,
            found: slot.found,
        }
    }
}

/// Fire slots of the past that did not fire.
///
/// A slot that fired is left alone, so asking twice fires once. `dry_run` only tells what would be done.
/// A range is refused if it has a slot that may have fired but of which nothing is kept any more.
#[utoipa::path(
    post, path = "/api/v1/schedules/{name}/backfill", tag = "schedules",
    params(Named),
    request_body = BackfillBody,
    responses((status = 200, description = "What is done, or would be", body = BackfilledView)),
)]
pub(crate) async fn backfill(
    State(state): App,
    Named(name): Named,
    call: Call,
) -> Result<Json<BackfilledView>> {
    call.refuse_key()?;
    let body: BackfillBody = call.json()?;
    let request = body.request()?;
    let done = carry_out(&state, &name, request, &body, &call.requester.origin()).await?;
    Ok(Json(done))
}

async fn carry_out(
    state: &AppState,
    name: &ScheduleName,
    request: Backfill,
    body: &BackfillBody,
    by: &str,
) -> Result<BackfilledView> {
    let done = if body.dry_run {
        state.schedules.plan_backfill(name, request).await?
    } else {
        state.schedules.backfill(name, request, by).await?
    };
    Ok(BackfilledView {
        dry_run: body.dry_run,
        fires: done.fires(),
        slots: done.slots.into_iter().map(Into::into).collect(),
    })
}

/// Refuses a pace that nobody can mean.
pub(crate) fn check_pace(pace: SignedDuration) -> Result<SignedDuration> {
    if (SignedDuration::ZERO..=PACE_MAX).contains(&pace) {
        return Ok(pace);
    }
    let detail = "pace must be between 0s and 24h";
    Err(Problem::new(Code::InvalidValue, detail).at("pace"))
}

impl BackfillBody {
    fn request(&self) -> Result<Backfill> {
        let pace = check_pace(self.pace.unwrap_or(PACE_DEFAULT))?;
        Ok(Backfill {
            from: parse_instant(&self.from, "from")?,
            to: parse_instant(&self.to, "to")?,
            pace,
        })
    }
}
