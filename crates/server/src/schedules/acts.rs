//! Actions on a schedule besides changing it: pause, resume, fire, backfill. Allowed for schedules
//! of any origin: none of these changes the definition.

use almanack_core::both;
use almanack_core::task::{Identity, Status};
use almanack_engine::schedules::{Backfill, Overlapping, SlotOfBackfill};

use super::{Named, view::ScheduleView, written};
use crate::prelude::*;
use crate::{receipts::location, tasks::body::parse_instant};

/// Default pause between two firings of a backfill.
pub(crate) const PACE_DEFAULT: SignedDuration = SignedDuration::from_secs(1);
/// Longest pause between firings: a day.
const PACE_MAX: SignedDuration = SignedDuration::from_hours(24);

/// How long to pause, and why.
#[derive(Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PauseBody {
    /// End of the pause. Default: until it is resumed.
    #[schema(format = DateTime)]
    until: Option<String>,
    /// The reason, for the history.
    #[schema(max_length = 500)]
    note: Option<String>,
}

/// Pause a schedule until it is resumed or until a time.
///
/// Slots during the pause are recorded as skipped, with the requester and the reason.
#[utoipa::path(
    post, path = "/api/v1/schedules/{name}/pause", tag = "schedules",
    request_body = PauseBody,
    responses((status = 200, description = "The schedule after the change", body = ScheduleView)),
)]
pub(crate) async fn pause(State(state): App, Named(name): Named, call: Call) -> Answer {
    call.refuse_key()?;
    let body: PauseBody = call.json_or_default()?;
    let until = body.until.as_deref();
    let until = until.map(|at| parse_instant(at, "until")).transpose()?;
    check_until(until, state.clock.now())?;
    let by = call.requester.name();
    let changed = state.schedules.pause(&name, until, body.note, by).await?;
    Ok(written(&state, StatusCode::OK, changed.schedule))
}

/// Refuses a pause that ends in the past.
pub(crate) fn check_until(until: Option<Timestamp>, now: Timestamp) -> Result<()> {
    let fits = until.is_none_or(|until| until > now);
    Problem::unless(fits, "until", || {
        both!("until must be in the future", "until 必须是将来的时间")
    })
}

/// Resume a paused schedule.
#[utoipa::path(
    post, path = "/api/v1/schedules/{name}/resume", tag = "schedules",
    responses((status = 200, description = "The schedule after the change", body = ScheduleView)),
)]
pub(crate) async fn resume(State(state): App, Named(name): Named, call: Call) -> Answer {
    call.refuse_key()?;
    let changed = state.schedules.resume(&name, call.requester.name()).await?;
    Ok(written(&state, StatusCode::OK, changed.schedule))
}

#[derive(Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct FireBody {
    /// Fire even if the latest firing has not ended.
    #[serde(default)]
    force: bool,
}

/// A manual firing.
#[derive(Serialize, ToSchema)]
pub(crate) struct FiredView {
    #[serde(flatten)]
    identity: Identity,
    /// Its instant.
    nominal_at: Timestamp,
}

/// Fire a schedule now, in addition to its slots. Paused schedules fire, too.
#[utoipa::path(
    post, path = "/api/v1/schedules/{name}/fire", tag = "schedules",
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
    // The task's history records the requester in its own form.
    let by = call.requester.origin();
    let fired = state.schedules.fire(&name, overlapping, &by).await?;
    let location = location(&fired.identity);
    let view = FiredView {
        identity: fired.identity,
        nominal_at: fired.nominal_at,
    };
    Ok((StatusCode::CREATED, location, Json(view)).into_response())
}

/// Which past slots to fire, and how fast.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct BackfillBody {
    /// Start of the range, inclusive.
    #[schema(format = DateTime)]
    from: String,
    /// End of the range, exclusive; not later than now.
    #[schema(format = DateTime)]
    to: String,
    /// Pause between two firings. Default: 1s.
    #[schema(value_type = Option<String>, example = "10s")]
    #[serde(
        default,
        deserialize_with = "almanack_core::duration::optional::deserialize"
    )]
    pace: Option<SignedDuration>,
    /// Only report what would be done.
    #[serde(default)]
    dry_run: bool,
}

/// Result or preview of a backfill.
#[derive(Serialize, ToSchema)]
pub(crate) struct BackfilledView {
    /// Whether this is only a preview.
    dry_run: bool,
    /// How many slots fire.
    fires: usize,
    /// Every slot of the range, oldest first.
    slots: Vec<BackfilledSlotView>,
}

/// One slot of a backfill.
#[derive(Serialize, ToSchema)]
pub(crate) struct BackfilledSlotView {
    /// The slot.
    slot_at: Timestamp,
    /// Subject of its firing, a task of kind DISPATCH.
    firing: String,
    /// When it fires; absent if it is left unchanged.
    #[serde(skip_serializing_if = "Option::is_none")]
    execute_at: Option<Timestamp>,
    /// Status of its existing firing, which is why it is left unchanged.
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

/// Fire past slots that did not fire.
///
/// Slots that fired are left unchanged, so repeating the call is safe. `dry_run` only reports what
/// would be done. A range is refused if it contains a slot that may have fired but whose record was
/// deleted.
#[utoipa::path(
    post, path = "/api/v1/schedules/{name}/backfill", tag = "schedules",
    request_body = BackfillBody,
    responses((status = 200, description = "The result or preview", body = BackfilledView)),
)]
pub(crate) async fn backfill(
    State(state): App,
    Named(name): Named,
    call: Call,
) -> Result<Json<BackfilledView>> {
    call.refuse_key()?;
    let body: BackfillBody = call.json()?;
    let (request, dry_run) = (body.request()?, body.dry_run);
    let done = if dry_run {
        state.schedules.plan_backfill(&name, request).await?
    } else {
        let by = call.requester.origin();
        state.schedules.backfill(&name, request, &by).await?
    };
    Ok(Json(BackfilledView {
        dry_run,
        fires: done.fires(),
        slots: done.slots.into_iter().map(Into::into).collect(),
    }))
}

pub(crate) fn check_pace(pace: SignedDuration) -> Result<SignedDuration> {
    let fits = (SignedDuration::ZERO..=PACE_MAX).contains(&pace);
    Problem::unless(fits, "pace", || {
        both!(
            "pace must be between 0s and 24h",
            "pace 必须在 0s 到 24h 之间"
        )
    })
    .map(|()| pace)
}

impl BackfillBody {
    pub(crate) fn request(&self) -> Result<Backfill> {
        let pace = check_pace(self.pace.unwrap_or(PACE_DEFAULT))?;
        Ok(Backfill {
            from: parse_instant(&self.from, "from")?,
            to: parse_instant(&self.to, "to")?,
            pace,
        })
    }
}
